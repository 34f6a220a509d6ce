//! Several merge bases.

use super::*;
use crate::error::ConflictKind;
use crate::merge::row::Seen;

fn both(first: Base, second: Base, over: Base) -> Base {
    Base::Merged { first: Box::new(first), second: Box::new(second), over: Box::new(over), second_is_later: true }
}

#[test]
fn a_deletion_survives_a_criss_cross() {
    // One base has the row still, the other has it deleted; both sides merged both. The source then set it back.
    let base = both(state(ab(1, 1)), state(None), state(ab(1, 1)));
    assert_eq!(merge(&base, None, ab(1, 1).as_ref()), (Decision::Keep, vec![]), "the target alone put it again");
    assert_eq!(merge(&base, ab(1, 1).as_ref(), None), (Decision::Take, vec![]));
    assert_eq!(merge(&base, None, None), (Decision::Keep, vec![]));
}

#[test]
fn the_base_of_a_criss_cross_has_what_both_bases_changed() {
    let base = both(state(ab(2, 1)), state(ab(1, 3)), state(ab(1, 1)));
    assert_eq!(merge(&base, ab(2, 3).as_ref(), ab(9, 3).as_ref()), (Decision::Keep, vec![]));
    assert_eq!(merge(&base, ab(9, 3).as_ref(), ab(2, 3).as_ref()), (Decision::Take, vec![]));
    // Set back to what one of the bases has: a change, although it equals that base.
    assert_eq!(merge(&base, ab(2, 1).as_ref(), ab(2, 3).as_ref()), (Decision::Take, vec![]));
}

#[test]
fn where_bases_contradict_each_other_both_sides_count_as_changed() {
    let base = both(state(ab(2, 1)), state(ab(3, 5)), state(ab(1, 1)));
    // `a` is contested, `b` is 5.
    let (_, conflicts) = merge(&base, ab(2, 5).as_ref(), ab(3, 5).as_ref());
    let [conflict] = conflicts.as_slice() else { panic!("{conflicts:?}") };
    assert_eq!((conflict.kind, conflict.place), (ConflictKind::BothChanged, Some(place("a"))));
    assert_eq!(conflict.base, Seen::Unknown);
    assert_eq!(merge(&base, ab(2, 5).as_ref(), ab(2, 7).as_ref()), (Decision::Keep, vec![]), "agreed, and one change");
    // Whether there is a row is contested.
    let base = both(state(ab(2, 1)), state(None), state(ab(1, 1)));
    let (_, conflicts) = merge(&base, ab(2, 1).as_ref(), None);
    assert_eq!((conflicts.len(), conflicts[0].kind), (1, ConflictKind::ChangedAndDeleted));
    assert_eq!(conflicts[0].base, Seen::Unknown);
    assert_eq!(merge(&base, ab(2, 1).as_ref(), ab(2, 1).as_ref()), (Decision::Keep, vec![]));
    let (_, conflicts) = merge(&Base::Gone, ab(2, 1).as_ref(), ab(2, 2).as_ref());
    assert_eq!((conflicts.len(), conflicts[0].kind), (1, ConflictKind::BothChanged));
}

#[test]
fn the_base_of_bases_may_be_a_merge_itself() {
    let root = || state(ab(1, 1));
    let over = both(state(ab(2, 1)), state(ab(1, 2)), root());
    // Over (2, 2): one base set `a` back to 1, the other left both.
    let base = both(state(ab(1, 2)), state(ab(2, 2)), over);
    assert_eq!(merge(&base, ab(1, 2).as_ref(), ab(1, 9).as_ref()), (Decision::Keep, vec![]));
    assert_eq!(merge(&base, ab(2, 2).as_ref(), ab(1, 2).as_ref()), (Decision::Take, vec![]));
}

#[test]
fn contested_bases_stay_contested_further_up() {
    let contested = both(state(ab(2, 1)), state(ab(3, 1)), state(ab(1, 1)));
    let base = both(contested, state(ab(1, 1)), state(ab(1, 1)));
    let (_, conflicts) = merge(&base, ab(2, 1).as_ref(), ab(3, 1).as_ref());
    assert_eq!((conflicts.len(), &conflicts[0].base), (1, &Seen::Unknown));
    let (_, conflicts) = merge(&base, ab(2, 1).as_ref(), None);
    assert_eq!(conflicts[0].kind, ConflictKind::ChangedAndDeleted);
    assert!(matches!(&conflicts[0].base, Seen::Row(row) if row.0.get(&place("b")) == Some(&int(1))));
}

#[test]
fn sums_count_each_difference_once_over_several_bases() {
    let total = |n| Some(row(&[("total", int(n))]));
    // Base 0; one base +1, the other +10; both sides have both and more.
    let base = both(state(total(1)), state(total(10)), state(total(0)));
    let result = merged(&base, total(12).as_ref(), total(15).as_ref(), Side::Source).unwrap();
    assert!(same(result.as_ref(), total(16).as_ref()), "11 + 1 + 4: {result:?}");
}

#[test]
fn last_writer_among_bases_is_the_later_base() {
    let last = |n| Some(row(&[("last", int(n))]));
    let base = both(state(last(1)), state(last(2)), state(last(0)));
    // The source has the later base's value, as any merge of both would: it did not change it.
    let result = merged(&base, last(2).as_ref(), last(1).as_ref(), Side::Source).unwrap();
    assert!(same(result.as_ref(), last(1).as_ref()));
}
