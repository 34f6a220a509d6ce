//! What each kind of change is told as, and what keeps its identity.

use super::{clock, parse, plan, steps};
use crate::schema::{TableKind, plan_schema, print_ddl};

const P: &str = "CREATE NODE TABLE P (id STRING PRIMARY KEY, a INT32, b STRING, e ENUM('x'), CHECK (a > 0));";

/// `P` with another middle, the check included.
fn p(rest: &str) -> String {
    format!("CREATE NODE TABLE P (id STRING PRIMARY KEY, {rest});")
}

#[test]
fn every_change_of_a_property_is_told_with_what_it_does_to_rows() {
    let cases = [
        ("a INT32, b STRING, e ENUM('x'), c DATE, CHECK (a > 0)", &["P: add property c DATE [untouched]"][..]),
        (
            "a INT32, b STRING, e ENUM('x'), c DATE DEFAULT date('2024-01-31'), CHECK (a > 0)",
            &["P: add property c DATE NOT NULL, date('2024-01-31') in rows that are there [untouched]"],
        ),
        (
            "a INT32, b STRING, e ENUM('x'), c DATE NOT NULL, CHECK (a > 0)",
            &["P: add property c DATE NOT NULL [checked]"],
        ),
        ("a INT32, e ENUM('x'), CHECK (a > 0)", &["P: drop property b [destructive]"]),
        (
            "a INT32, `b c` STRING RENAMED FROM b, e ENUM('x'), CHECK (a > 0)",
            &["P: rename property b to `b c` [untouched]"],
        ),
        ("a INT64, b STRING, e ENUM('x'), CHECK (a > 0)", &["P: change the type of a from INT32 to INT64 [rewritten]"]),
        (
            "a INT32, b STRING, e ENUM('x', 'y'), CHECK (a > 0)",
            &["P: change the type of e from ENUM('x') to ENUM('x', 'y') [untouched]"],
        ),
        (
            "a INT32, b STRING, e STRING, CHECK (a > 0)",
            &["P: change the type of e from ENUM('x') to STRING [untouched]"],
        ),
        ("a INT32, b STRING NOT NULL, e ENUM('x'), CHECK (a > 0)", &["P: b becomes NOT NULL [checked]"]),
        (
            "a INT32, b STRING DEFAULT 'n', e ENUM('x'), CHECK (a > 0)",
            &["P: change the default of b from none to 'n' [untouched]"],
        ),
        (
            "a INT32, b STRING MERGE last_writer, e ENUM('x'), CHECK (a > 0)",
            &["P: change the merge policy of b from none to last_writer [untouched]"],
        ),
        ("a INT32 UNIQUE, b STRING, e ENUM('x'), CHECK (a > 0)", &["P: add UNIQUE (a) [checked]"]),
        ("a INT32, b STRING, e ENUM('x')", &["P: drop CHECK (a > 0) [untouched]"]),
        ("a INT32, b STRING, e ENUM('x'), CHECK (a > 0), CHECK (a < 9)", &["P: add CHECK (a < 9) [checked]"]),
        ("b STRING, a INT32, e ENUM('x'), CHECK (a > 0)", &["P: change the order of what it declares [untouched]"]),
        ("a INT32, b STRING, e ENUM('x'), CHECK ( `a`>0 )", &[]),
    ];
    for (to, told) in cases {
        assert_eq!(steps(P, &p(to)), told, "{to}");
    }
    let back = [
        (p("a INT32 NOT NULL"), p("a INT32"), "P: a may be null [untouched]"),
        (p("a INT32 DEFAULT 1"), p("a INT32"), "P: change the default of a from 1 to none [untouched]"),
        (p("a INT32, UNIQUE (a)"), p("a INT32"), "P: drop UNIQUE (a) [untouched]"),
        (p("a INT32 MERGE sum"), p("a INT32 MERGE max"), "P: change the merge policy of a from sum to max [untouched]"),
    ];
    for (from, to, told) in back {
        assert_eq!(steps(&from, &to), [told], "{to}");
    }
}

#[test]
fn tables_come_go_and_are_renamed_with_their_edges() {
    let from = format!("{P} CREATE REL TABLE K (FROM P TO P, since DATE);");
    let to =
        "CREATE NODE TABLE Human RENAMED FROM P (id STRING PRIMARY KEY, a INT32, b STRING, e ENUM('x'), CHECK (a > 0));
              CREATE NODE TABLE City (name STRING PRIMARY KEY);
              CREATE REL TABLE K (FROM Human TO Human, since DATE, MANY_ONE, ON MERGE KEEP);
              CREATE REL TABLE L (FROM Human TO City);";
    assert_eq!(
        steps(&from, to),
        [
            "Human: rename the table from P [untouched]",
            "K: change the multiplicity from MANY_MANY to MANY_ONE [checked]",
            "K: change ON MERGE from none to KEEP [untouched]",
            "City: add the table [untouched]",
            "L: add the table [untouched]",
        ]
    );
    assert_eq!(steps(&from, P), ["K: drop the table [destructive]"]);
    let (before, after) = (parse(&from), plan(&from, to).schema);
    let [p, k] = &before.tables[..] else { panic!() };
    assert_eq!(after.table("Human").unwrap().id, p.id);
    assert_eq!(after.table("Human").unwrap().properties, p.properties);
    let (TableKind::Edge { from_fields, from, .. }, TableKind::Edge { from_fields: kept, from: same, .. }) =
        (&k.kind, &after.table("K").unwrap().kind)
    else {
        panic!()
    };
    assert_eq!((from_fields, from), (kept, same));
    let relaxed = steps(
        "CREATE NODE TABLE P (id STRING PRIMARY KEY); CREATE REL TABLE K (FROM P TO P, ONE_ONE);",
        "CREATE NODE TABLE P (id STRING PRIMARY KEY); CREATE REL TABLE K (FROM P TO P, MANY_ONE);",
    );
    assert_eq!(relaxed, ["K: change the multiplicity from ONE_ONE to MANY_ONE [untouched]"]);
}

#[test]
fn a_text_can_be_applied_again() {
    let from = format!("{P} CREATE REL TABLE K (FROM P TO P);");
    let to = "CREATE NODE TABLE Human RENAMED FROM P (id STRING PRIMARY KEY, n INT32 RENAMED FROM a, c INT8 DEFAULT 4, CHECK (n > 0));
              CREATE REL TABLE K (FROM Human TO Human);";
    let first = plan(&from, to).schema;
    let again = plan_schema(&first, to, |_| 3, &clock(9)).unwrap();
    assert!(again.steps.is_empty(), "{:?}", again.steps);
    assert_eq!(again.schema, first);
    let printed = print_ddl(&first);
    assert!(!printed.contains("RENAMED") && printed.contains("CHECK (n > 0)"), "{printed}");
    assert!(plan_schema(&first, &printed, |_| 3, &clock(9)).unwrap().steps.is_empty());
}

#[test]
fn an_old_name_may_be_given_to_something_new_in_the_same_text() {
    let to = p("old INT32 RENAMED FROM a, a STRING, e ENUM('x'), CHECK (old > 0)");
    let (before, after) = (parse(P), plan(P, &to).schema);
    let (before, after) = (&before.tables[0], &after.tables[0]);
    assert_eq!(before.property("a").unwrap().id, after.property("old").unwrap().id);
    assert_ne!(before.property("a").unwrap().id, after.property("a").unwrap().id);
    assert_eq!(before.checks, after.checks, "the condition is about the old property, whatever it is called");
    assert_eq!(
        steps(P, &to),
        [
            "P: rename property a to old [untouched]",
            "P: add property a STRING [untouched]",
            "P: drop property b [destructive]"
        ]
    );
    // With both names in the text, what was renamed is known to be.
    let again = plan_schema(&plan(P, &to).schema, &to, |_| 3, &clock(9)).unwrap();
    assert!(again.steps.is_empty(), "{:?}", again.steps);
}

#[test]
fn what_is_dropped_and_added_again_is_another() {
    let without = plan(P, &p("a INT32, e ENUM('x')")).schema;
    let again = plan_schema(&without, P, |_| 3, &clock(11)).unwrap().schema;
    let (before, after) = (&parse(P).tables[0], &again.tables[0]);
    let (old, new) = (before.property("b").unwrap(), after.property("b").unwrap());
    assert!(old.id != new.id && old.field != new.field);
    assert_eq!(after.dropped, [old.id], "rows that were there have it in their hashes");
    let empty = plan_schema(&parse(P), &p("a INT32, e ENUM('x')"), |_| 0, &clock(8)).unwrap().schema;
    assert!(empty.tables[0].dropped.is_empty(), "no row has it");
}

#[test]
fn a_default_fills_rows_only_where_there_are_some() {
    let to = p("a INT32, b STRING, e ENUM('x'), n INT32 DEFAULT 5, CHECK (a > 0)");
    let filled = plan(P, &to).schema;
    let n = |schema: &crate::schema::Catalog| schema.tables[0].property("n").unwrap().clone();
    assert!(n(&filled).not_null && n(&filled).fill.unwrap().get() == "5");
    let empty = plan_schema(&parse(P), &to, |_| 0, &clock(8)).unwrap().schema;
    assert!(!n(&empty).not_null && n(&empty).fill.is_none());
    // The fill outlives the default, and goes with the value into a wider type.
    let other = p("a INT32, b STRING, e ENUM('x'), n INT64 DEFAULT 6, CHECK (a > 0)");
    let later = plan_schema(&filled, &other, |_| 3, &clock(9)).unwrap();
    assert!(n(&later.schema).not_null && n(&later.schema).fill.unwrap().get() == "5");
    assert_ne!(n(&later.schema).field, n(&filled).field);
    let told: Vec<_> = later.steps.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["P: change the type of n from INT32 to INT64", "P: change the default of n from 5 to 6"]);
}

#[test]
fn values_are_spelled_anew_in_a_wider_type() {
    for (from, to, default, fill) in [
        ("FLOAT", "DOUBLE", "0.1", "0.10000000149011612"),
        ("DECIMAL(4, 1)", "DECIMAL(9, 3)", "2.5", "\"2.500\""),
        ("INT8[]", "INT64[]", "[1, NULL]", "[1,null]"),
    ] {
        let filled = plan(P, &p(&format!("n {from} DEFAULT {default}"))).schema;
        let wider = plan_schema(&filled, &p(&format!("n {to} DEFAULT {default}")), |_| 3, &clock(9)).unwrap().schema;
        let n = wider.tables[0].property("n").unwrap();
        assert_eq!(n.fill.as_ref().unwrap().get(), fill, "{from}");
        assert_eq!(n.item_field.is_some(), to.ends_with("[]"));
    }
}
