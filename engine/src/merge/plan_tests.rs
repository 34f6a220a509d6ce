//! Plans over made-up snapshots: which side each table and the schema is taken from.

use std::sync::Arc;

use super::plan::{Plan, Sides};
use super::schemas::Schemas;
use super::table::TableMerge;
use crate::clock::{Clock, Timestamp};
use crate::error::ConflictKind;
use crate::ids::TableId;
use crate::publish::Snapshot;
use crate::schema::{Catalog, encode_catalog, parse_ddl, plan_schema};
use crate::testing::{record, version};

const DDL: &str = "
CREATE NODE TABLE Person (id INT64 PRIMARY KEY);
CREATE NODE TABLE City (id INT64 PRIMARY KEY);
CREATE REL TABLE Lives (FROM Person TO City);
CREATE NODE TABLE Tag (id INT64 PRIMARY KEY);
";

fn catalog() -> Catalog {
    parse_ddl(DDL, &Clock::manual(Timestamp(1_000_000), 7)).unwrap()
}

/// A commit in which the tables of `catalog` have these versions, in order.
fn snapshot(catalog: &Catalog, versions: &[u64]) -> Snapshot {
    let mut record = record(1);
    record.schema = encode_catalog(catalog).1;
    assert_eq!(catalog.tables.len(), versions.len());
    record.tables = catalog.tables.iter().map(|table| table.id).zip(versions.iter().map(|n| version(*n))).collect();
    Snapshot { record: Arc::new(record), catalog: Arc::new(catalog.clone()) }
}

fn sides(source: Snapshot, target: Snapshot, base: Snapshot) -> Sides {
    Sides { source, target, bases: vec![base] }
}

fn plan(sides: &Sides) -> Plan {
    Plan::three_way(sides, Schemas::of_catalogs(sides).unwrap())
}

fn id(catalog: &Catalog, name: &str) -> TableId {
    catalog.table(name).unwrap().id
}

#[test]
fn a_merge_depends_on_what_the_source_changed_and_what_edges_tie_to_it() {
    let catalog = catalog();
    let at = |versions: &[u64]| snapshot(&catalog, versions);
    let reads = |source: &[u64], target: &[u64]| -> Vec<String> {
        let sides = sides(at(source), at(target), at(&[1, 1, 1, 1]));
        plan(&sides).reads(&sides).into_iter().map(|id| catalog.table_by_id(id).unwrap().name.clone()).collect()
    };
    assert_eq!(reads(&[2, 1, 1, 1], &[1, 1, 1, 2]), ["Person", "Lives"]);
    assert_eq!(reads(&[1, 1, 2, 1], &[2, 1, 1, 1]), ["Person", "City", "Lives"]);
    assert_eq!(reads(&[1, 1, 1, 2], &[2, 2, 2, 1]), ["Tag"]);
    assert_eq!(reads(&[1, 1, 1, 2], &[1, 1, 1, 2]), ["Tag"], "the same on both sides, as long as it is");
}

#[test]
fn a_schema_that_only_the_source_changed_is_taken_with_its_tables() {
    let old = catalog();
    let mut new = old.clone();
    let dropped = new.tables.pop().unwrap();
    new.tables.push(
        parse_ddl("CREATE NODE TABLE New (id INT64 PRIMARY KEY);", &Clock::manual(Timestamp(9_000_000), 8))
            .unwrap()
            .tables
            .remove(0),
    );
    let sides = sides(snapshot(&new, &[1, 1, 1, 5]), snapshot(&old, &[2, 1, 1, 1]), snapshot(&old, &[1, 1, 1, 1]));
    let plan = plan(&sides);
    assert!(plan.new_schema && plan.schemas.new.is_none());
    assert_eq!(plan.tables[&id(&old, "Person")], TableMerge::Keep { unmoved: true });
    assert_eq!(plan.tables[&id(&new, "New")], TableMerge::TakeSource(Some(version(5))));
    assert_eq!(plan.tables[&dropped.id], TableMerge::TakeSource(None));
    let taken = plan.tables.values().filter(|merge| matches!(merge, TableMerge::TakeSource(Some(_)))).count();
    assert_eq!(taken, 1);
    assert!(!plan.tables.values().any(|merge| matches!(merge, TableMerge::BothMoved)));
}

#[test]
fn rows_that_one_side_wrote_are_not_taken_under_rules_that_the_other_added() {
    let old = catalog();
    let mut new = old.clone();
    new.tables[0].unique = vec![new.tables[0].key.clone()];
    for (source, target) in [
        (snapshot(&new, &[1, 1, 1, 1]), snapshot(&old, &[2, 1, 1, 1])),
        (snapshot(&old, &[2, 1, 1, 1]), snapshot(&new, &[1, 1, 1, 1])),
    ] {
        let plan = plan(&sides(source, target, snapshot(&old, &[1, 1, 1, 1])));
        assert_eq!(plan.tables[&id(&old, "Person")], TableMerge::BothMoved);
    }
}

#[test]
fn rows_are_taken_as_they_lie_where_the_other_side_only_added_or_dropped() {
    let old = catalog();
    let clock = Clock::manual(Timestamp(9_000_000), 8);
    let more = DDL.replace("Tag (id INT64 PRIMARY KEY)", "Tag (id INT64 PRIMARY KEY, note STRING)");
    let more = plan_schema(&old, &more, |_| 1, &clock).unwrap().schema;
    for (before, after) in [(&old, &more), (&more, &old)] {
        let base = snapshot(before, &[1, 1, 1, 1]);
        let plan_of = |source: Snapshot, target: Snapshot| plan(&sides(source, target, base.clone()));
        let kept = plan_of(snapshot(after, &[1, 1, 1, 1]), snapshot(before, &[1, 1, 1, 2]));
        assert_eq!(
            kept.tables[&id(&old, "Tag")],
            TableMerge::Keep { unmoved: false },
            "it depends on the target's rows"
        );
        let taken = plan_of(snapshot(before, &[1, 1, 1, 2]), snapshot(after, &[1, 1, 1, 1]));
        assert_eq!(taken.tables[&id(&old, "Tag")], TableMerge::TakeSource(Some(version(2))));
    }
}

#[test]
fn schemas_that_both_sides_changed_conflict_where_they_contradict_each_other() {
    let old = catalog();
    let (mut ours, mut theirs) = (old.clone(), old.clone());
    ours.tables[0].name = "Human".to_owned();
    theirs.tables[3].name = "Label".to_owned();
    let at = |catalog: &Catalog| snapshot(catalog, &[1, 1, 1, 1]);
    let both = plan(&sides(at(&theirs), at(&ours), at(&old)));
    let names: Vec<&str> = both.catalog().tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["Human", "City", "Lives", "Label"]);
    assert!(both.new_schema && both.schemas.new.is_some());
    theirs.tables[0].name = "Folk".to_owned();
    let conflicts = Schemas::of_catalogs(&sides(at(&theirs), at(&ours), at(&old))).unwrap_err();
    let told: Vec<_> = conflicts.iter().map(|conflict| (conflict.kind, conflict.table.as_str())).collect();
    assert_eq!(told, [(ConflictKind::Schema, "Human")]);
    // The same change on both sides is none.
    assert!(!plan(&sides(at(&ours), at(&ours), at(&old))).new_schema);
}
