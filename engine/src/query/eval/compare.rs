//! Equality and order of all values, null where either is not known.

use std::collections::BTreeMap;

use super::{EvalContext, order_key};
use crate::query::value::CypherValue;
use crate::syntax::CompareOp;
use crate::value;

/// The result of a comparison; `None` is null. Only scalars are smaller or larger than one another.
pub(super) fn compare(operator: CompareOp, left: &CypherValue, right: &CypherValue, cx: &EvalContext) -> Option<bool> {
    match (operator, left, right) {
        (CompareOp::Equal, ..) => equal(left, right, cx),
        (CompareOp::NotEqual, ..) => equal(left, right, cx).map(|equal| !equal),
        (_, CypherValue::Scalar(left), CypherValue::Scalar(right)) => value::compare(operator, left, right),
        _ => None,
    }
}

/// Whether two values are equal; `None` if a null leaves it open. NaN equals nothing; nodes and edges are equal if they are the same row;
/// lists and maps if what they hold is.
pub(super) fn equal(left: &CypherValue, right: &CypherValue, cx: &EvalContext) -> Option<bool> {
    match (left, right) {
        _ if left.is_null() || right.is_null() => None,
        (CypherValue::Scalar(left), CypherValue::Scalar(right)) => value::equal(left, right),
        (CypherValue::List(left), CypherValue::List(right)) => {
            if left.len() != right.len() {
                return Some(false);
            }
            all_equal(left.iter().zip(right), cx)
        }
        (CypherValue::Map(left), CypherValue::Map(right)) => {
            if !left.keys().eq(right.keys()) {
                return Some(false);
            }
            all_equal(left.values().zip(right.values()), cx)
        }
        (CypherValue::Node(_), CypherValue::Node(_)) | (CypherValue::Edge(_), CypherValue::Edge(_)) => {
            Some(order_key(left, cx) == order_key(right, cx))
        }
        _ => Some(false),
    }
}

/// `IN`: true if one element is equal, else null if one may be, else false.
pub(super) fn contains(element: &CypherValue, list: &CypherValue, cx: &EvalContext) -> Option<bool> {
    let CypherValue::List(items) = list else { return None };
    let mut unknown = false;
    for item in items {
        match equal(element, item, cx) {
            Some(true) => return Some(true),
            Some(false) => {}
            None => unknown = true,
        }
    }
    (!unknown).then_some(false)
}

fn all_equal<'a>(pairs: impl Iterator<Item = (&'a CypherValue, &'a CypherValue)>, cx: &EvalContext) -> Option<bool> {
    let mut unknown = false;
    for (left, right) in pairs {
        match equal(left, right, cx) {
            Some(false) => return Some(false),
            Some(true) => {}
            None => unknown = true,
        }
    }
    (!unknown).then_some(true)
}

/// The entries of a map that are not null.
pub(super) fn present(map: &BTreeMap<String, CypherValue>) -> impl Iterator<Item = (&String, &CypherValue)> {
    map.iter().filter(|(_, value)| !value.is_null())
}
