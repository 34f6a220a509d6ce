//! Random rows against a small oracle, and laws that hold whatever the rows.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::error::ConflictKind;

/// `a` and `b` of a row, without policies; `None` is null.
type Pair = [Option<i8>; 2];

/// What the oracle expects: the row, or the kinds of conflict with the property's index.
type Expected = Result<Option<Pair>, Vec<(ConflictKind, Option<usize>)>>;

/// Written as a table of who changed what, not as the code is.
fn oracle(base: Option<Pair>, source: Option<Pair>, target: Option<Pair>) -> Expected {
    let (source_moved, target_moved) = (source != base, target != base);
    match (source_moved, target_moved) {
        (false, _) => return Ok(target),
        (true, false) => return Ok(source),
        (true, true) if source == target => return Ok(source),
        (true, true) => {}
    }
    let (Some(source), Some(target)) = (source, target) else {
        return Err(vec![(ConflictKind::ChangedAndDeleted, None)]);
    };
    let mut row = target;
    let mut conflicts = Vec::new();
    for i in 0..2 {
        let values: BTreeSet<Option<i8>> = [source[i], target[i]].into();
        let was = base.map(|base| base[i]);
        match was {
            _ if values.len() == 1 => {}
            None => conflicts.push((ConflictKind::BothAdded, Some(i))),
            Some(was) if values.contains(&was) => {
                row[i] = if target[i] == was { source[i] } else { target[i] };
            }
            Some(_) => conflicts.push((ConflictKind::BothChanged, Some(i))),
        }
    }
    if conflicts.is_empty() { Ok(Some(row)) } else { Err(conflicts) }
}

fn plain(pair: Option<Pair>) -> Option<Row> {
    let value = |value: Option<i8>| value.map_or(Value::Null, |value| int(value.into()));
    pair.map(|[a, b]| row(&[("a", value(a)), ("b", value(b))]))
}

fn pair() -> impl Strategy<Value = Option<Pair>> {
    let value = || prop_oneof![1 => Just(None), 3 => (0..3_i8).prop_map(Some)];
    prop_oneof![1 => Just(None), 4 => (value(), value()).prop_map(|(a, b)| Some([a, b]))]
}

/// Any row of the whole table, or none.
fn any_row() -> impl Strategy<Value = Option<Row>> {
    prop_oneof![1 => Just(None), 5 => some_row().prop_map(Some)]
}

fn some_row() -> impl Strategy<Value = Row> {
    let number = || prop_oneof![1 => Just(Value::Null), 5 => (-2..3_i128).prop_map(int)];
    let tags = prop_oneof![
        1 => Just(Value::Null),
        5 => proptest::collection::vec(0..4_i128, 0..4).prop_map(|elements| ints(&elements)),
    ];
    let total = prop_oneof![5 => number(), 1 => select(vec![int(126), int(-127)])];
    let cost = number().prop_map(|n| match n {
        Value::Int(unscaled) => Value::Decimal { unscaled, scale: 2 },
        other => other,
    });
    let weight = prop_oneof![Just(Value::Null), select(vec![0.0, 0.5, -1.0, 2.0, f64::NAN]).prop_map(Value::Float)];
    (number(), number(), total, number(), number(), tags, number(), cost, weight).prop_map(
        |(a, b, total, top, low, tags, last, cost, weight)| {
            let names = ["a", "b", "total", "top", "low", "tags", "last", "cost", "weight"];
            let values = [a, b, total, top, low, tags, last, cost, weight];
            Row(names.iter().map(|name| place(name)).zip(values).collect())
        },
    )
}

/// Rows that share many values with a base.
fn three_rows() -> impl Strategy<Value = [Option<Row>; 3]> {
    (any_row(), any_row(), any_row(), any::<u32>()).prop_map(|(base, mut source, mut target, mask)| {
        for (side, shift) in [(&mut source, 0), (&mut target, 16)] {
            let (Some(side), Some(base)) = (side, &base) else { continue };
            for (i, (place, value)) in side.0.iter_mut().enumerate() {
                if mask >> (shift + i) & 1 == 1 {
                    value.clone_from(base.get(*place));
                }
            }
        }
        [base, source, target]
    })
}

fn bases() -> impl Strategy<Value = Base> {
    let leaf = prop_oneof![8 => any_row().prop_map(Base::State), 1 => Just(Base::Gone)];
    leaf.prop_recursive(2, 6, 3, |inner| {
        (inner.clone(), inner.clone(), inner, any::<bool>()).prop_map(|(first, second, over, second_is_later)| {
            Base::Merged { first: Box::new(first), second: Box::new(second), over: Box::new(over), second_is_later }
        })
    })
}

/// A result without the order and repetition of lists, and floats rounded: what is promised whatever the order of merges.
fn unordered(row: Option<Row>) -> Option<Row> {
    row.map(|mut row| {
        // A null list has no elements either, and which of the two is left may depend on who came first.
        row.0.entry(place("tags")).and_modify(|tags| {
            if tags.is_null() {
                *tags = Value::List(Vec::new());
            }
        });
        for value in row.0.values_mut() {
            if let Value::List(elements) = value {
                elements.sort_by(Value::cmp_same_type);
                elements.dedup_by(|a, b| a.is_same(b));
            }
        }
        row
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn rows_without_policies_merge_as_the_oracle_says(base in pair(), source in pair(), target in pair()) {
        let result = merged(&state(plain(base)), plain(source).as_ref(), plain(target).as_ref(), Side::Source);
        match (oracle(base, source, target), result) {
            (Ok(want), Ok(found)) => prop_assert!(same(plain(want).as_ref(), found.as_ref()), "{want:?} {found:?}"),
            (Err(want), Err(found)) => {
                let index = |found: Place| ["a", "b"].iter().position(|name| place(name) == found).unwrap();
                let found: Vec<_> = found.iter().map(|found| (found.kind, found.place.map(index))).collect();
                prop_assert_eq!(want, found);
            }
            (want, found) => prop_assert!(false, "{want:?} {found:?}"),
        }
    }

    #[test]
    fn swapping_the_sides_swaps_the_roles(base in bases(), [_, source, target] in three_rows(), source_is_later: bool) {
        let later = if source_is_later { Side::Source } else { Side::Target };
        let there = merged(&base, source.as_ref(), target.as_ref(), later);
        let back = merged(&base, target.as_ref(), source.as_ref(), later.other());
        match (there, back) {
            (Ok(there), Ok(back)) => prop_assert!(same(there.as_ref(), back.as_ref()), "{there:?} {back:?}"),
            (Err(there), Err(back)) => {
                // As text: a NaN is not equal to itself.
                let swapped: Vec<_> = back
                    .into_iter()
                    .map(|c| RowConflict { source: c.target, target: c.source, ..c })
                    .collect();
                prop_assert_eq!(format!("{there:?}"), format!("{swapped:?}"));
            }
            (there, back) => prop_assert!(false, "{there:?} {back:?}"),
        }
    }

    #[test]
    fn a_change_of_one_side_is_always_taken([base, side, _] in three_rows()) {
        let known = state(base.clone());
        let taken = merged(&known, side.as_ref(), base.as_ref(), Side::Target);
        prop_assert!(same(taken.unwrap().as_ref(), side.as_ref()));
        let kept = merge(&known, base.as_ref(), side.as_ref());
        prop_assert_eq!(kept, (Decision::Keep, vec![]));
    }

    #[test]
    fn merging_again_changes_nothing([base, source, target] in three_rows()) {
        if let Ok(result) = merged(&state(base), source.as_ref(), target.as_ref(), Side::Source) {
            let again = merge(&state(source.clone()), source.as_ref(), result.as_ref());
            prop_assert_eq!(again, (Decision::Keep, vec![]));
            // And the target may take the result back.
            let back = merged(&state(target.clone()), result.as_ref(), target.as_ref(), Side::Source).unwrap();
            prop_assert!(same(back.as_ref(), result.as_ref()));
        }
    }

    #[test]
    fn the_decision_names_the_side_that_has_the_row_already(base in bases(), [_, source, target] in three_rows()) {
        let (decision, open) = merge(&base, source.as_ref(), target.as_ref());
        if open.is_empty() && let Decision::Write(row) = decision {
            prop_assert!(!same(Some(&row), source.as_ref()) && !same(Some(&row), target.as_ref()));
        }
    }

    #[test]
    fn merge_bases_that_are_alike_are_one([base, source, target] in three_rows(), over in bases()) {
        // `sum` adds also what is alike: over the same base nothing was added.
        let one = state(base.clone());
        let fork = |first: Base, second: Base, over: Base| {
            Base::Merged { first: Box::new(first), second: Box::new(second), over: Box::new(over), second_is_later: true }
        };
        let same_over = fork(one.clone(), one.clone(), one.clone());
        let single = merge(&one, source.as_ref(), target.as_ref());
        prop_assert_eq!(format!("{single:?}"), format!("{:?}", merge(&same_over, source.as_ref(), target.as_ref())));
        // A base that did not move adds nothing.
        let unmoved = match &over {
            Base::State(_) => fork(one.clone(), over.clone(), over),
            _ => fork(one.clone(), one.clone(), one.clone()),
        };
        prop_assert_eq!(format!("{single:?}"), format!("{:?}", merge(&unmoved, source.as_ref(), target.as_ref())));
    }

    #[test]
    fn a_strategy_settles_all([_, source, target] in three_rows(), base in bases(), take_source: bool) {
        let side = if take_source { Side::Source } else { Side::Target };
        let rules = rules();
        let proposal = merge_row(&rules, &base, source.as_ref(), target.as_ref(), Side::Source);
        let all = proposal.conflicts().to_vec();
        let choose = |_: &RowConflict| Some(crate::merge::row::Resolution::Choose(side));
        let (decision, open) = proposal.settle(choose);
        prop_assert!(open.is_empty());
        for conflict in all {
            let chosen = if take_source { source.as_ref() } else { target.as_ref() };
            let result = match &decision {
                Decision::Keep => target.as_ref(),
                Decision::Take => source.as_ref(),
                Decision::Delete => None,
                Decision::Write(row) => Some(row),
            };
            match conflict.place {
                None => prop_assert!(same(result, chosen)),
                Some(place) => prop_assert!(result.unwrap().get(place).is_same(chosen.unwrap().get(place))),
            }
        }
    }

    /// Three branches merged one after another, in any order: policies (but the last writer) come to the same.
    #[test]
    fn policies_do_not_depend_on_the_order_of_merges(
        base in some_row(),
        sides in proptest::array::uniform3(some_row()),
    ) {
        let only = |mut row: Row| {
            row.0.retain(|at, _| ["total", "top", "low", "tags", "cost"].iter().any(|name| place(name) == *at));
            row
        };
        let (base, sides) = (only(base), sides.map(only));
        let mut results = Vec::new();
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let mut target = Ok(Some(base.clone()));
            for side in order {
                target = target.and_then(|target| {
                    merged(&state(Some(base.clone())), Some(&sides[side]), target.as_ref(), Side::Source)
                });
            }
            results.extend(target.ok());
        }
        for result in &results {
            prop_assert!(
                same(unordered(result.clone()).as_ref(), unordered(results[0].clone()).as_ref()),
                "{results:?}"
            );
        }
    }
}
