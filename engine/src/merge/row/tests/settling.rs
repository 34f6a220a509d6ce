//! Strategies and resolutions.

use std::collections::BTreeMap;

use super::*;
use crate::merge::row::three_way::Proposal;
use crate::merge::row::{Resolution, ResolutionProblem, Resolutions, Strategies};

/// Merges `a` and `b` of both sides changed, or, without a target, the row changed here and deleted there.
fn settled(
    strategies: &Strategies,
    resolutions: &mut Resolutions<u32>,
    source: Option<&Row>,
    target: Option<&Row>,
) -> (Decision, usize) {
    let rules = rules();
    let base = state(ab(1, 1));
    let proposal: Proposal<'_> = merge_row(&rules, &base, source, target, Side::Source);
    let (decision, open) = proposal.settle(|conflict| resolutions.settlement(strategies, table("P").id, &7, conflict));
    (decision, open.len())
}

#[test]
fn a_strategy_for_all_settles_everything() {
    let (source, target) = (ab(2, 2), ab(3, 3));
    let mut none = Resolutions::default();
    let all = |side| Strategies { all: Some(side), ..Strategies::default() };
    let (source, target) = (source.as_ref(), target.as_ref());
    assert_eq!(settled(&all(Side::Source), &mut none, source, target), (Decision::Take, 0));
    assert_eq!(settled(&all(Side::Target), &mut none, source, target), (Decision::Keep, 0));
    assert_eq!(settled(&all(Side::Source), &mut none, source, None), (Decision::Take, 0));
    assert_eq!(settled(&all(Side::Target), &mut none, source, None), (Decision::Keep, 0));
    assert_eq!(settled(&all(Side::Source), &mut none, None, target), (Decision::Delete, 0));
    assert_eq!(settled(&Strategies::default(), &mut none, source, target).1, 2);
}

#[test]
fn what_did_not_conflict_is_merged_whatever_the_strategy() {
    let all = Strategies { all: Some(Side::Source), ..Strategies::default() };
    let (decision, open) = settled(&all, &mut Resolutions::default(), ab(2, 1).as_ref(), ab(3, 9).as_ref());
    assert_eq!((decision, open), (Decision::Write(full(2, 9)), 0));
}

fn full(a: i128, b: i128) -> Row {
    let mut row = Row::default();
    for rule in &rules().places {
        row.0.insert(rule.place, Value::Null);
    }
    row.0.extend(ab(a, b).unwrap().0);
    row
}

#[test]
fn the_narrowest_strategy_counts() {
    let table_id = table("P").id;
    let strategies = Strategies {
        all: Some(Side::Source),
        tables: BTreeMap::from([(table_id, Side::Target)]),
        properties: BTreeMap::from([((table_id, property("a")), Side::Source)]),
    };
    let (decision, open) = settled(&strategies, &mut Resolutions::default(), ab(2, 2).as_ref(), ab(3, 3).as_ref());
    assert_eq!((decision, open), (Decision::Write(full(2, 3)), 0));
    // Of the row itself the table's strategy decides.
    assert_eq!(settled(&strategies, &mut Resolutions::default(), ab(2, 2).as_ref(), None), (Decision::Keep, 0));
}

#[test]
fn resolutions_come_before_strategies_and_may_be_values() {
    let id = table("P").id;
    let mut resolutions = Resolutions::default();
    resolutions.add(id, 7, Some(property("a")), Resolution::Value(int(42))).unwrap();
    let all = Strategies { all: Some(Side::Target), ..Strategies::default() };
    let (source, target) = (ab(2, 2), ab(3, 3));
    let result = settled(&all, &mut resolutions, source.as_ref(), target.as_ref());
    assert_eq!(result, (Decision::Write(full(42, 3)), 0));
    // Alone it leaves the other conflict open.
    assert_eq!(settled(&Strategies::default(), &mut resolutions, source.as_ref(), target.as_ref()).1, 1);
    // One for the row stands for what has none of its own.
    resolutions.add(id, 7, None, Resolution::Choose(Side::Source)).unwrap();
    let result = settled(&Strategies::default(), &mut resolutions, source.as_ref(), target.as_ref());
    assert_eq!(result, (Decision::Write(full(42, 2)), 0));
    assert_eq!(settled(&Strategies::default(), &mut resolutions, None, target.as_ref()), (Decision::Delete, 0));
    assert_eq!(resolutions.unused().count(), 0);
}

#[test]
fn resolutions_that_settle_nothing_are_told() {
    let id = table("P").id;
    let mut resolutions = Resolutions::default();
    resolutions.add(id, 7, Some(property("a")), Resolution::Choose(Side::Source)).unwrap();
    resolutions.add(id, 8, None, Resolution::Choose(Side::Source)).unwrap();
    resolutions.add(id, 7, Some(property("top")), Resolution::Value(int(1))).unwrap();
    settled(&Strategies::default(), &mut resolutions, ab(2, 1).as_ref(), ab(3, 1).as_ref());
    let unused: Vec<_> = resolutions.unused().map(|(target, _)| *target).collect();
    assert_eq!(unused, [(id, 7, Some(property("top"))), (id, 8, None)]);
}

#[test]
fn contradictory_resolutions_are_refused() {
    let id = table("P").id;
    let mut resolutions = Resolutions::default();
    resolutions.add(id, 7, None, Resolution::Choose(Side::Source)).unwrap();
    let twice = resolutions.add(id, 7, None, Resolution::Choose(Side::Target));
    assert_eq!(twice, Err(ResolutionProblem::Twice));
    assert_eq!(resolutions.add(id, 8, None, Resolution::Value(int(1))), Err(ResolutionProblem::ValueOfRow));
}

#[test]
fn a_value_does_not_say_whether_there_is_a_row() {
    let id = table("P").id;
    let mut resolutions = Resolutions::default();
    resolutions.add(id, 7, Some(property("a")), Resolution::Value(int(5))).unwrap();
    assert_eq!(settled(&Strategies::default(), &mut resolutions, ab(2, 1).as_ref(), None).1, 1);
    assert_eq!(resolutions.unused().count(), 1);
}
