//! Lists: elements, parts, ranges.

use std::borrow::Cow;

use super::{Sort, fault};
use crate::query::fault::Fault;
use crate::query::value::CypherValue;
use crate::syntax::Span;
use crate::value::Value;

/// The longest list that `range` gives.
const MAX_RANGE: i128 = 1_000_000;

/// `list[index]`, from the end if negative; null beyond the ends.
pub(super) fn index<'a>(list: Cow<'a, CypherValue>, index: &CypherValue) -> Cow<'a, CypherValue> {
    let null = Cow::Owned(CypherValue::NULL);
    let CypherValue::Scalar(Value::Int(index)) = index else { return null };
    match list {
        Cow::Borrowed(CypherValue::List(items)) => {
            position(*index, items.len()).and_then(|at| items.get(at)).map_or(null, Cow::Borrowed)
        }
        Cow::Owned(CypherValue::List(mut items)) => match position(*index, items.len()) {
            Some(at) if at < items.len() => Cow::Owned(items.swap_remove(at)),
            _ => null,
        },
        _ => null,
    }
}

/// `list[from..to]`: bounds count from the end if negative and are cut to the list; null if a bound is.
pub(super) fn sub_list(list: &CypherValue, from: Option<&CypherValue>, to: Option<&CypherValue>) -> CypherValue {
    let CypherValue::List(items) = list else { return CypherValue::NULL };
    let bound = |bound: Option<&CypherValue>, open: usize| match bound {
        None => Some(open),
        Some(CypherValue::Scalar(Value::Int(bound))) => {
            Some(if *bound < 0 { position(*bound, items.len()).unwrap_or(0) } else { clamp(*bound, items.len()) })
        }
        Some(_) => None,
    };
    match (bound(from, 0), bound(to, items.len())) {
        (Some(from), Some(to)) => CypherValue::List(items.get(from..to).unwrap_or_default().to_vec()),
        _ => CypherValue::NULL,
    }
}

/// `range(from, to[, step])`, both ends included.
pub(super) fn range(from: i128, to: i128, step: i128, span: Span) -> Result<CypherValue, Fault> {
    if step == 0 {
        return Err(fault(&Sort::InvalidArgument, span, "the step of a `range` cannot be 0"));
    }
    let length = if (to < from) == (step < 0) || to == from { (to - from) / step + 1 } else { 0 };
    if length > MAX_RANGE {
        let message = format!("a `range` has at most {MAX_RANGE} elements, and this one would have {length}");
        return Err(fault(&Sort::InvalidArgument, span, message));
    }
    Ok(CypherValue::List((0..length).map(|n| CypherValue::Scalar(Value::Int(from + n * step))).collect()))
}

fn position(index: i128, length: usize) -> Option<usize> {
    let length = i128::try_from(length).ok()?;
    usize::try_from(if index < 0 { index + length } else { index }).ok()
}

fn clamp(bound: i128, length: usize) -> usize {
    usize::try_from(bound).map_or(length, |bound| bound.min(length))
}
