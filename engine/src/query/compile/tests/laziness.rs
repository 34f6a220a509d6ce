//! What openCypher does not evaluate raises no fault, and what may raise one stays where it is.

use super::*;
use crate::query::bound::{ExprNode, Function};
use crate::query::testing::{binary, call, case, column, compare, int, truth};
use crate::syntax::{BinaryOp, CompareOp};

fn numbers() -> Vec<(Kind, Vec<CypherValue>)> {
    vec![(Kind::Integer, [4, 0, 1].map(|n| CypherValue::Scalar(Value::Int(n))).to_vec())]
}

fn n() -> Expr {
    column(0, Kind::Integer)
}

/// `1 / n > 0`, which has no value for 0.
fn fragile() -> Expr {
    compare(binary(int(1), BinaryOp::Divide, n(), Kind::Integer), CompareOp::Greater, int(0))
}

fn guard() -> Expr {
    compare(n(), CompareOp::NotEqual, int(0))
}

#[test]
fn a_guard_keeps_faults_away_wherever_it_stands() {
    let guarded = binary(guard(), BinaryOp::And, fragile(), Kind::Bool);
    assert_agrees(&guarded, &numbers());
    let unless = binary(compare(n(), CompareOp::Equal, int(0)), BinaryOp::Or, fragile(), Kind::Bool);
    assert_agrees(&unless, &numbers());
    let chosen = case(vec![(vec![guard()], fragile())], Some(truth(Some(false))), Kind::Bool);
    assert_agrees(&chosen, &numbers());
    let first = call(Function::Coalesce, vec![truth(Some(true)), fragile()], Kind::Bool);
    assert_agrees(&first, &numbers());
    let chain = ExprNode::Compare(
        Box::new(int(0)),
        vec![(CompareOp::Less, n()), (CompareOp::GreaterEqual, binary(int(1), BinaryOp::Divide, n(), Kind::Integer))],
    );
    assert_agrees(&crate::query::testing::expr(chain, Kind::Bool), &numbers());
}

#[test]
fn without_a_guard_the_fault_is_told_with_its_place() {
    let df = compiler().expr(&fragile()).unwrap();
    let error = by_columns(df, &Kind::Bool, &numbers()).unwrap_err();
    let fault = fault_of(error).expect("a fault");
    assert_eq!((fault.code, fault.span), ("division-by-zero", crate::query::testing::SPAN));
}

#[test]
fn conditions_that_may_fail_are_kept_behind_those_before_them() {
    let small = compare(n(), CompareOp::Less, int(9));
    let filters = compiler().conditions(&[guard(), fragile(), small.clone()]).unwrap();
    let [first, second, guarded] = filters.as_slice() else { panic!("{filters:?}") };
    for plain in [first, second] {
        assert!(!plain.is_volatile(), "{plain} may be pushed down");
    }
    assert!(guarded.is_volatile(), "{guarded} must stay");
    by_columns(guarded.clone(), &Kind::Bool, &numbers()).expect("the guard goes along");
    assert_eq!(compiler().conditions(&[guard(), small]).unwrap().len(), 2);
    assert!(compiler().conditions(&[]).unwrap().is_empty());
}

#[test]
fn random_numbers_are_drawn_once_a_row() {
    let draw = || call(Function::RandomUuid, vec![], Kind::Uuid);
    let df = compiler().expr(&draw()).unwrap();
    assert!(df.is_volatile());
    let mut drawn = by_columns(df, &Kind::Uuid, &numbers()).unwrap();
    assert_eq!(drawn.len(), 3);
    drawn.dedup();
    assert_eq!(drawn.len(), 3, "{drawn:?}");
    let twice = call(Function::Coalesce, vec![draw(), draw()], Kind::Uuid);
    assert!(compiler().expr(&twice).unwrap().to_string().matches("cypher[").count() == 1, "evaluated as a whole");
}
