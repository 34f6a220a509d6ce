//! Schemas over a base, from the texts that people would write.

use super::{Base, Dropped, Question, Subject, United, unite};
use crate::clock::{Clock, Timestamp};
use crate::merge::row::Side;
use crate::schema::{Catalog, encode_catalog, parse_ddl, plan_schema, print_ddl};

const BASE: &str = "
CREATE NODE TABLE P (id INT64 PRIMARY KEY, a STRING, n INT32, e ENUM('x', 'y'), CHECK (n < 100));
CREATE NODE TABLE Q (id INT64 PRIMARY KEY);
CREATE REL TABLE K (FROM P TO P, w INT64);
";

struct Three {
    base: Catalog,
    source: Catalog,
    target: Catalog,
}

/// The base with some words of it in other words, on each side.
fn three(source: &[(&str, &str)], target: &[(&str, &str)]) -> Three {
    let clock = Clock::manual(Timestamp(1_000_000), 7);
    let base = parse_ddl(BASE, &clock).unwrap();
    let [source, target] = [source, target].map(|words| evolved(&base, BASE, words, &clock));
    Three { base, source, target }
}

fn evolved(from: &Catalog, text: &str, words: &[(&str, &str)], clock: &Clock) -> Catalog {
    let text = words.iter().fold(text.to_owned(), |text, (old, new)| {
        assert!(text.contains(old), "{old}");
        text.replace(old, new)
    });
    plan_schema(from, &text, |_| 3, clock).unwrap().schema
}

impl Three {
    fn united(&self, question: &Question<'_>) -> United {
        unite(&Base::one(&self.base), &self.source, &self.target, question)
    }

    fn merged(&self) -> Catalog {
        let united = self.united(&Question::nobody());
        assert!(united.clashes.is_empty(), "{:?}", united.clashes);
        // What is stored can be read.
        crate::schema::decode_catalog(&encode_catalog(&united.catalog).0).unwrap()
    }

    fn told(&self) -> Vec<String> {
        let united = self.united(&Question::nobody());
        united.clashes.iter().map(|clash| clash.conflict().to_string()).collect()
    }
}

const ALL_CHANGES: [&[(&str, &str)]; 12] = [
    &[("a STRING", "a STRING, q INT64 DEFAULT 4")],
    &[("a STRING, ", "")],
    &[("a STRING", "b STRING RENAMED FROM a")],
    &[("TABLE P", "TABLE R RENAMED FROM P"), ("FROM P TO P", "FROM R TO R")],
    &[("INT32", "INT64")],
    &[("'y'", "'y', 'z'")],
    &[("CREATE REL", "CREATE NODE TABLE New (id INT64 PRIMARY KEY); CREATE REL")],
    &[("CREATE NODE TABLE Q (id INT64 PRIMARY KEY);", "")],
    &[("CHECK (n < 100)", "CHECK (n < 100), UNIQUE (a)")],
    &[(", CHECK (n < 100)", "")],
    &[("n INT32", "n INT32 MERGE max")],
    &[("FROM P TO P, w INT64", "FROM P TO P, w INT64, MANY_ONE, ON MERGE KEEP")],
];

#[test]
fn what_one_side_alone_changed_is_taken_to_the_byte() {
    for change in ALL_CHANGES {
        let changed = three(change, &[]);
        assert_eq!(encode_catalog(&changed.merged()), encode_catalog(&changed.source), "{change:?}");
        let kept = three(&[], change);
        assert_eq!(encode_catalog(&kept.merged()), encode_catalog(&kept.target), "{change:?}");
    }
}

#[test]
fn a_change_that_both_made_alike_is_one_with_the_targets_identities() {
    for change in ALL_CHANGES {
        let both = three(change, change);
        let merged = both.merged();
        assert_eq!(print_ddl(&merged), print_ddl(&both.target), "{change:?}");
        for (table, ours) in merged.tables.iter().zip(&both.target.tables) {
            assert_eq!(table.id, ours.id);
            let ids = |table: &crate::schema::TableDef| {
                table.properties.iter().map(|it| (it.id, it.field)).collect::<Vec<_>>()
            };
            assert_eq!(ids(table), ids(ours));
        }
        // From then on both are known to be one: the source as it was merges into it, and it into the source, without a change.
        for (source, target) in [(&both.source, &merged), (&merged, &both.source)] {
            let again = unite(&Base::one(&both.source), source, target, &Question::nobody());
            assert!(again.clashes.is_empty(), "{change:?}: {:?}", again.clashes);
            assert_eq!(encode_catalog(&again.catalog), encode_catalog(&merged), "{change:?}");
        }
    }
}

#[test]
fn changes_of_different_things_come_together() {
    for (i, source) in ALL_CHANGES.iter().enumerate() {
        for (j, target) in ALL_CHANGES.iter().enumerate() {
            let used_by_both = [(1, 2), (2, 1), (1, 8), (8, 1)].contains(&(i, j));
            if i == j || used_by_both {
                continue;
            }
            let (one, other) = (three(source, target), three(target, source));
            let sorted = |catalog: &Catalog| {
                let mut lines: Vec<String> =
                    print_ddl(catalog).lines().map(|line| line.trim_end_matches(',').to_owned()).collect();
                lines.sort();
                lines
            };
            assert_eq!(sorted(&one.merged()), sorted(&other.merged()), "{source:?} and {target:?}");
        }
    }
}

#[test]
fn an_enum_that_both_extended_has_the_targets_labels_first() {
    let both = three(&[("'y'", "'y', 's', 'both'")], &[("'y'", "'y', 'both', 't'")]);
    let ty = both.merged().tables[0].properties[3].ty.to_string();
    assert_eq!(ty, "ENUM('x', 'y', 'both', 't', 's')");
}

#[test]
fn types_that_both_widened_come_to_the_wider_with_its_column() {
    let both = three(&[("w INT64", "w INT64"), ("INT32", "INT64")], &[]);
    assert_eq!(both.merged().tables[0].properties[2], both.source.tables[0].properties[2]);
    let both = three(&[("INT32", "INT64")], &[("INT32", "INT64")]);
    assert_eq!(both.merged().tables[0].properties[2].field, both.target.tables[0].properties[2].field);
}

#[test]
fn what_cannot_come_together_is_told_with_its_reason() {
    for (source, target, told) in [
        (
            ("a STRING", "b STRING RENAMED FROM a"),
            ("a STRING", "c STRING RENAMED FROM a"),
            "P.c has another name on each side",
        ),
        (
            ("a STRING", "a STRING DEFAULT 'x'"),
            ("a STRING", "a STRING DEFAULT 'y'"),
            "P.a has another default on each side",
        ),
        (
            ("n INT32", "n INT32 MERGE max"),
            ("n INT32", "n INT32 MERGE min"),
            "P.n has another merge policy on each side",
        ),
        (("a STRING", "a STRING, q INT64"), ("a STRING", "a STRING, q STRING"), "P.q is another thing on each side"),
        (
            ("a STRING", "q STRING RENAMED FROM a"),
            ("a STRING", "a STRING, Q INT64"),
            "P.Q is another thing on each side",
        ),
        (
            ("w INT64", "w INT64, ON MERGE KEEP"),
            ("w INT64", "w INT64, ON MERGE CASCADE"),
            "K has another ON MERGE on each side",
        ),
        (
            ("a STRING, ", ""),
            ("a STRING", "a STRING DEFAULT 'x'"),
            "P.a was dropped by the source, and the target declares it otherwise",
        ),
        (
            ("a STRING", "a STRING, UNIQUE (a)"),
            ("a STRING, ", ""),
            "P.a was dropped by the target, and the source declares it otherwise",
        ),
        (
            ("CREATE NODE TABLE Q (id INT64 PRIMARY KEY);", ""),
            ("CREATE REL", "CREATE REL TABLE L (FROM P TO Q); CREATE REL"),
            "Q was dropped by the source, and the target declares it otherwise",
        ),
    ] {
        assert_eq!(three(&[source], &[target]).told(), [format!("schema: {told}")]);
    }
}

#[test]
fn a_drop_is_taken_unless_rows_were_changed_and_then_it_is_for_people() {
    let dropped = three(&[("a STRING, ", "")], &[]);
    assert_eq!(dropped.united(&Question::nobody()).dropped.len(), 1);
    let rows = |_: Dropped| 2;
    let united = dropped.united(&Question { answer: &|_, _| None, rows: &rows });
    assert_eq!(
        united.clashes[0].conflict().to_string(),
        "schema: P.a was dropped by the source, and the target changed it (2 rows)"
    );
    for (side, stays) in [(Side::Source, false), (Side::Target, true)] {
        let answer = |_: Subject, by: Option<Side>| {
            assert_eq!(by, Some(Side::Source));
            Some(side)
        };
        let united = dropped.united(&Question { answer: &answer, rows: &rows });
        assert!(united.clashes.is_empty());
        assert_eq!(united.catalog.tables[0].property("a").is_some(), stays);
        assert_eq!(united.catalog.tables[0].dropped.is_empty(), stays, "rows have it in their hashes");
    }
}

#[test]
fn an_edge_table_keeps_its_node_table_or_goes_with_it() {
    let both = three(
        &[("CREATE NODE TABLE Q (id INT64 PRIMARY KEY);", "")],
        &[("CREATE REL", "CREATE REL TABLE L (FROM P TO Q); CREATE REL")],
    );
    for (side, tables) in [(Side::Source, 2), (Side::Target, 4)] {
        let united = both.united(&Question { answer: &|_, _| Some(side), rows: &|_| 0 });
        assert!(united.clashes.is_empty());
        assert_eq!(united.catalog.tables.len(), tables);
    }
}

#[test]
fn merge_bases_that_contradict_each_other_leave_the_base_unknown_there() {
    let both = three(&[("a STRING", "b STRING RENAMED FROM a")], &[("a STRING", "c STRING RENAMED FROM a")]);
    let [first, second, over] = [&both.source, &both.target, &both.base].map(Base::one);
    let base = Base::merged(&first, &second, &over);
    let agreed = unite(&base, &both.source, &both.source, &Question::nobody());
    assert!(agreed.clashes.is_empty());
    let again = unite(&base, &both.source, &both.target, &Question::nobody());
    assert_eq!(again.clashes.len(), 1);
    // A drop against what cannot be known is a conflict too.
    let clock = Clock::manual(Timestamp(9_000_000), 9);
    let dropped = evolved(&both.source, BASE, &[("a STRING, ", "")], &clock);
    assert_eq!(unite(&base, &dropped, &both.target, &Question::nobody()).clashes.len(), 1);
    // What the bases agree on is known.
    let wide = three(&[("INT32", "INT64")], &[("a STRING", "a STRING, q INT64")]);
    let [first, second, over] = [&wide.source, &wide.target, &wide.base].map(Base::one);
    let base = Base::merged(&first, &second, &over);
    let merged = unite(&over, &wide.source, &wide.target, &Question::nobody()).catalog;
    let without = evolved(&merged, BASE, &[("INT32", "INT64")], &clock);
    let taken = unite(&base, &without, &merged, &Question::nobody());
    assert!(taken.clashes.is_empty() && taken.catalog.tables[0].property("q").is_none());
}
