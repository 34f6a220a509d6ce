//! What happens to whole rows, kind by kind.

use super::*;
use crate::error::ConflictKind;
use crate::merge::row::Seen;

#[test]
fn a_change_of_one_side_is_taken() {
    let base = state(ab(1, 1));
    let (old, new) = (ab(1, 1), ab(2, 1));
    assert_eq!(merge(&base, new.as_ref(), old.as_ref()), (Decision::Take, vec![]));
    assert_eq!(merge(&base, old.as_ref(), new.as_ref()), (Decision::Keep, vec![]));
    assert_eq!(merge(&base, None, old.as_ref()), (Decision::Delete, vec![]));
    assert_eq!(merge(&base, old.as_ref(), None), (Decision::Keep, vec![]));
    assert_eq!(merge(&state(None), new.as_ref(), None), (Decision::Take, vec![]));
    assert_eq!(merge(&state(None), None, new.as_ref()), (Decision::Keep, vec![]));
    // A row that was deleted and put again with other values is a changed one.
    assert_eq!(merge(&base, ab(7, 8).as_ref(), old.as_ref()), (Decision::Take, vec![]));
}

#[test]
fn what_both_did_alike_is_agreed() {
    let base = state(ab(1, 1));
    assert_eq!(merge(&base, None, None), (Decision::Keep, vec![]));
    assert_eq!(merge(&base, ab(2, 3).as_ref(), ab(2, 3).as_ref()), (Decision::Keep, vec![]));
    assert_eq!(merge(&state(None), ab(2, 3).as_ref(), ab(2, 3).as_ref()), (Decision::Keep, vec![]));
}

#[test]
fn different_properties_of_a_row_merge() {
    let (decision, conflicts) = merge(&state(ab(1, 1)), ab(2, 1).as_ref(), ab(1, 3).as_ref());
    assert!(conflicts.is_empty());
    let Decision::Write(written) = decision else { panic!("{decision:?}") };
    assert!(same(Some(&written), ab(2, 3).as_ref()));
}

#[test]
fn one_property_changed_on_both_sides_is_a_conflict_with_all_three_values() {
    let (_, conflicts) = merge(&state(ab(1, 1)), ab(2, 5).as_ref(), ab(3, 6).as_ref());
    let conflict = |name, source, target| RowConflict {
        kind: ConflictKind::BothChanged,
        place: Some(place(name)),
        base: Seen::Value(int(1)),
        source: Seen::Value(int(source)),
        target: Seen::Value(int(target)),
    };
    assert_eq!(conflicts, [conflict("a", 2, 3), conflict("b", 5, 6)], "all of them, in the order of declaration");
}

#[test]
fn a_row_changed_here_and_deleted_there_is_one_conflict() {
    let (old, new) = (ab(1, 1), ab(2, 3));
    let (_, conflicts) = merge(&state(old.clone()), new.as_ref(), None);
    let [conflict] = conflicts.as_slice() else { panic!("{conflicts:?}") };
    assert_eq!((conflict.kind, conflict.place), (ConflictKind::ChangedAndDeleted, None));
    assert_eq!((&conflict.source, &conflict.target), (&Seen::Row(new.clone().unwrap()), &Seen::Absent));
    assert_eq!(conflict.base, Seen::Row(old.clone().unwrap()));
    let (_, conflicts) = merge(&state(old), None, new.as_ref());
    assert_eq!((conflicts.len(), &conflicts[0].source), (1, &Seen::Absent));
}

#[test]
fn rows_added_on_both_sides_conflict_where_they_differ() {
    let (_, conflicts) = merge(&state(None), ab(1, 2).as_ref(), ab(1, 3).as_ref());
    let [conflict] = conflicts.as_slice() else { panic!("{conflicts:?}") };
    assert_eq!(
        (conflict.kind, conflict.place, &conflict.base),
        (ConflictKind::BothAdded, Some(place("b")), &Seen::Absent)
    );
    // A value that one side left out is a difference too: nobody made the row that has both.
    let (_, conflicts) = merge(&state(None), Some(&row(&[("a", int(1))])), Some(&row(&[("b", int(1))])));
    assert_eq!(conflicts.len(), 2);
}

#[test]
fn a_null_is_a_value_like_others() {
    let (set, unset) = (row(&[("a", int(1)), ("b", int(1))]), row(&[("b", int(1))]));
    assert_eq!(merge(&state(Some(set.clone())), Some(&unset), Some(&set)), (Decision::Take, vec![]));
    assert_eq!(merge(&state(Some(unset.clone())), Some(&unset), Some(&set)), (Decision::Keep, vec![]));
    let explicit = row(&[("a", Value::Null), ("b", int(1))]);
    assert_eq!(merge(&state(Some(set)), Some(&explicit), Some(&unset)), (Decision::Keep, vec![]));
}

#[test]
fn sameness_is_that_of_the_store() {
    let cost = |unscaled, scale| row(&[("cost", Value::Decimal { unscaled, scale }), ("a", int(1))]);
    let base = state(Some(cost(10, 1)));
    assert_eq!(merge(&base, Some(&cost(100, 2)), None), (Decision::Keep, vec![]), "1.0 and 1.00 are one number");
    let weight = |weight| row(&[("weight", Value::Float(weight))]);
    assert_eq!(merge(&state(Some(weight(f64::NAN))), Some(&weight(-f64::NAN)), None).1, vec![]);
    assert_eq!(merge(&state(Some(weight(0.0))), Some(&weight(-0.0)), None).1.len(), 1);
}

#[test]
fn the_ends_of_an_edge_are_one_thing() {
    let rules = RowRules::new(table("M"));
    let edge = |from: &str, to: &str| {
        let ends = [from, to].map(|key| Value::String(key.to_owned()));
        Row([(Place::Ends, Value::List(ends.into()))].into())
    };
    let (base, source, target) = (edge("x", "y"), edge("z", "y"), edge("x", "w"));
    let proposal = merge_row(&rules, &state(Some(base)), Some(&source), Some(&target), Side::Source);
    let [conflict] = proposal.conflicts() else { panic!("{:?}", proposal.conflicts()) };
    assert_eq!((conflict.kind, conflict.place), (ConflictKind::BothChanged, Some(Place::Ends)));
    assert_eq!(RowRules::new(table("K")).places.len(), 1, "the ends of other edges are their key");
}

#[test]
fn only_sums_judge_equal_rows() {
    assert!(rules().judges_equal_rows());
    assert!(!RowRules::new(table("K")).judges_equal_rows());
}
