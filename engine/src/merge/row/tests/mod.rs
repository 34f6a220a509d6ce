//! Rows of one small table, merged.

mod bases;
mod cases;
mod detaching;
mod oracle;
mod policies;
mod settling;

use std::sync::LazyLock;

use super::{Base, Decision, Place, Row, RowConflict, RowRules, Side, merge_row};
use crate::clock::{Clock, Timestamp};
use crate::ids::PropertyId;
use crate::schema::{Catalog, TableDef, parse_ddl};
use crate::value::Value;

const DDL: &str = "CREATE NODE TABLE P (id STRING PRIMARY KEY, a INT64, b INT64, total INT8 MERGE sum, top INT64 MERGE max, \
                   low INT64 MERGE min, tags INT64[] MERGE union, last INT64 MERGE last_writer, \
                   cost DECIMAL(38, 2) MERGE sum, weight FLOAT MERGE sum); \
                   CREATE REL TABLE M (FROM P TO P, MULTI, w INT64); CREATE REL TABLE K (FROM P TO P, w INT64);";

static CATALOG: LazyLock<Catalog> =
    LazyLock::new(|| parse_ddl(DDL, &Clock::manual(Timestamp(1_700_000_000_000_000), 1)).unwrap());

fn table(name: &str) -> &'static TableDef {
    CATALOG.table(name).unwrap()
}

fn rules() -> RowRules<'static> {
    RowRules::new(table("P"))
}

fn property(name: &str) -> PropertyId {
    table("P").property(name).unwrap().id
}

fn place(name: &str) -> Place {
    Place::Property(property(name))
}

fn int(n: i128) -> Value {
    Value::Int(n)
}

fn ints(elements: &[i128]) -> Value {
    Value::List(elements.iter().copied().map(int).collect())
}

/// A row with these values.
fn row(values: &[(&str, Value)]) -> Row {
    Row(values.iter().map(|(name, value)| (place(name), value.clone())).collect())
}

/// A row with these values of `a` and `b`.
#[expect(clippy::unnecessary_wraps, reason = "states of a key are optional")]
fn ab(a: i128, b: i128) -> Option<Row> {
    Some(row(&[("a", int(a)), ("b", int(b))]))
}

fn state(row: Option<Row>) -> Base {
    Base::State(row)
}

/// Merges, with the source as the later side; what cannot be settled is in the list.
fn merge(base: &Base, source: Option<&Row>, target: Option<&Row>) -> (Decision, Vec<RowConflict>) {
    merge_row(&rules(), base, source, target, Side::Source).settle(|_| None)
}

/// The merged row; `Err` are the conflicts.
fn merged(
    base: &Base,
    source: Option<&Row>,
    target: Option<&Row>,
    later: Side,
) -> Result<Option<Row>, Vec<RowConflict>> {
    let (decision, conflicts) = merge_row(&rules(), base, source, target, later).settle(|_| None);
    if !conflicts.is_empty() {
        return Err(conflicts);
    }
    Ok(match decision {
        Decision::Keep => target.cloned(),
        Decision::Take => source.cloned(),
        Decision::Delete => None,
        Decision::Write(row) => Some(row),
    })
}

/// Whether two rows mean the same.
fn same(a: Option<&Row>, b: Option<&Row>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => rules().places.iter().all(|rule| a.get(rule.place).is_same(b.get(rule.place))),
        _ => false,
    }
}

/// What a policy makes of one property of a row that all have.
fn by_policy(name: &str, base: Value, source: Value, target: Value) -> Result<Value, ()> {
    let row_of = |value: Value| row(&[("a", int(1)), (name, value)]);
    over(name, &state(Some(row_of(base))), [row_of(source), row_of(target)])
}

/// What a policy makes of one property of a row that both added.
fn both_added(name: &str, source: Value, target: Value) -> Result<Value, ()> {
    over(name, &state(None), [row(&[(name, source)]), row(&[(name, target)])])
}

fn over(name: &str, base: &Base, [source, target]: [Row; 2]) -> Result<Value, ()> {
    let value = |(source, target): (&Row, &Row), later| {
        merged(base, Some(source), Some(target), later).map(|row| row.unwrap().get(place(name)).clone()).map_err(|_| ())
    };
    let result = value((&source, &target), Side::Source);
    let swapped = value((&target, &source), Side::Target);
    match (&result, &swapped) {
        (Ok(a), Ok(b)) => assert!(a.is_same(b), "{a:?} {b:?}"),
        _ => assert_eq!(result.is_err(), swapped.is_err()),
    }
    result
}
