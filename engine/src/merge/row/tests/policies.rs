//! The policies: both added, null, overflow, unknown bases.

use super::*;

const NULL: Value = Value::Null;

#[test]
fn sum_adds_both_differences_also_where_they_are_equal() {
    assert_eq!(by_policy("total", int(3), int(5), int(6)), Ok(int(8)));
    assert_eq!(by_policy("total", int(3), int(5), int(5)), Ok(int(7)));
    assert_eq!(by_policy("total", int(3), int(1), int(4)), Ok(int(2)));
    assert_eq!(both_added("total", int(3), int(5)), Ok(int(8)));
    assert_eq!(both_added("total", int(3), int(3)), Ok(int(6)));
    let cost = |unscaled| Value::Decimal { unscaled, scale: 2 };
    let sum = by_policy("cost", cost(100), Value::Decimal { unscaled: 15, scale: 1 }, cost(75)).unwrap();
    assert!(sum.is_same(&cost(125)));
    assert_eq!(by_policy("weight", Value::Float(1.0), Value::Float(1.5), Value::Float(0.25)), Ok(Value::Float(0.75)));
}

#[test]
fn a_sum_that_does_not_fit_is_a_conflict() {
    assert_eq!(by_policy("total", int(100), int(120), int(107)), Ok(int(127)));
    assert_eq!(by_policy("total", int(100), int(120), int(108)), Err(()));
    assert_eq!(by_policy("total", int(-100), int(-120), int(-109)), Err(()));
    let cost = |unscaled| Value::Decimal { unscaled, scale: 2 };
    let most = 10_i128.pow(38) - 1;
    assert_eq!(by_policy("cost", cost(0), cost(most), cost(1)), Err(()));
    assert_eq!(by_policy("weight", Value::Float(0.0), Value::Float(f64::from(f32::MAX)), Value::Float(3e38)), Err(()));
    assert_eq!(by_policy("weight", Value::Float(0.0), Value::Float(f64::NAN), Value::Float(1.0)), Err(()));
}

#[test]
fn steps_that_overflow_do_not_spoil_a_sum_that_fits() {
    let cost = |unscaled| Value::Decimal { unscaled, scale: 2 };
    let most = 10_i128.pow(38) - 1;
    // source − base is −2e38, which 128 bits do not hold; the sum they do.
    assert_eq!(by_policy("cost", cost(most), cost(-most), cost(most - 1)), Err(()), "it has 39 digits all the same");
    assert_eq!(by_policy("cost", cost(most), cost(-most + 7), cost(most - 5)), Ok(cost(-most + 2)));
    assert_eq!(by_policy("cost", cost(most), cost(most - 5), cost(-most + 7)), Ok(cost(-most + 2)));
    assert_eq!(by_policy("cost", cost(most), cost(3), cost(most - 1)), Ok(cost(2)));
    assert_eq!(both_added("cost", cost(most), cost(-most)), Ok(cost(0)));
}

#[test]
fn a_number_that_was_cleared_is_not_added_to() {
    assert_eq!(by_policy("total", int(3), NULL, int(5)), Err(()));
    assert_eq!(by_policy("total", int(3), NULL, NULL), Ok(NULL));
    assert_eq!(by_policy("total", int(3), NULL, int(3)), Ok(NULL), "one side changed it");
    assert_eq!(by_policy("total", NULL, int(4), int(5)), Ok(int(9)));
    assert_eq!(both_added("total", NULL, int(5)), Ok(int(5)));
    assert_eq!(both_added("total", NULL, NULL), Ok(NULL));
}

#[test]
fn max_and_min_take_a_value_of_a_side() {
    assert_eq!(by_policy("top", int(3), int(5), int(4)), Ok(int(5)));
    assert_eq!(by_policy("low", int(3), int(5), int(4)), Ok(int(4)));
    assert_eq!(by_policy("top", int(3), int(1), int(2)), Ok(int(2)), "the base does not count");
    assert_eq!(by_policy("top", int(3), int(1), int(3)), Ok(int(1)), "one side changed it");
    assert_eq!(both_added("top", int(1), int(2)), Ok(int(2)));
    for policy in ["top", "low"] {
        assert_eq!(by_policy(policy, int(3), NULL, int(4)), Ok(int(4)));
        assert_eq!(by_policy(policy, int(3), NULL, NULL), Ok(NULL));
        assert_eq!(both_added(policy, NULL, int(5)), Ok(int(5)));
    }
}

#[test]
fn union_removes_what_either_removed_and_adds_what_either_added() {
    let base = || ints(&[9, 1, 2]);
    assert_eq!(by_policy("tags", base(), ints(&[9, 1, 2, 7]), ints(&[9, 2, 5])), Ok(ints(&[9, 2, 5, 7])));
    assert_eq!(by_policy("tags", base(), ints(&[1, 2]), ints(&[9, 1])), Ok(ints(&[1])));
    assert_eq!(by_policy("tags", base(), ints(&[9, 1, 2, 7]), ints(&[7, 9, 1, 2])), Ok(ints(&[9, 1, 2, 7])));
    assert_eq!(by_policy("tags", base(), NULL, ints(&[9, 1, 2, 7])), Ok(ints(&[7])));
    assert_eq!(by_policy("tags", base(), NULL, NULL), Ok(NULL));
    assert_eq!(both_added("tags", ints(&[2, 1]), ints(&[3, 2])), Ok(ints(&[1, 2, 3])));
    assert_eq!(both_added("tags", ints(&[2, 1]), ints(&[2, 1])), Ok(ints(&[2, 1])), "equal lists stay as they are");
    assert_eq!(by_policy("tags", ints(&[1, 1]), ints(&[1, 1, 2]), ints(&[1, 1, 1])), Ok(ints(&[1, 2])));
    let with_null = Value::List(vec![NULL, int(1)]);
    assert_eq!(by_policy("tags", ints(&[1]), with_null, ints(&[])), Ok(Value::List(vec![NULL])));
}

#[test]
fn last_writer_takes_the_later_heads_value() {
    let rows = [1, 2, 3].map(|n| row(&[("last", int(n))]));
    let last = |later| {
        merged(&state(Some(rows[0].clone())), Some(&rows[1]), Some(&rows[2]), later)
            .unwrap()
            .unwrap()
            .get(place("last"))
            .clone()
    };
    assert_eq!(last(Side::Source), int(2));
    assert_eq!(last(Side::Target), int(3));
    // What only the earlier one changed is taken from it.
    let earlier = merged(&state(Some(rows[0].clone())), Some(&rows[1]), Some(&rows[0]), Side::Target).unwrap().unwrap();
    assert_eq!(earlier.get(place("last")), &int(2));
    assert_eq!(both_added("last", int(1), NULL), Ok(int(1)));
}

#[test]
fn an_unknown_base_leaves_only_policies_that_need_none() {
    let gone = |name, source, target| over(name, &Base::Gone, [row(&[(name, source)]), row(&[(name, target)])]);
    assert_eq!(gone("top", int(1), int(2)), Ok(int(2)));
    assert_eq!(gone("low", int(1), int(2)), Ok(int(1)));
    assert_eq!(gone("last", int(1), int(2)), Ok(int(1)));
    assert_eq!(gone("total", int(1), int(2)), Err(()));
    assert_eq!(gone("total", int(1), int(1)), Err(()), "both may have added one");
    assert_eq!(gone("tags", ints(&[1]), ints(&[2])), Err(()));
    assert_eq!(gone("tags", ints(&[1]), ints(&[1])), Ok(ints(&[1])));
    assert_eq!(gone("a", int(1), int(2)), Err(()));
    assert_eq!(gone("a", int(1), int(1)), Ok(int(1)));
}
