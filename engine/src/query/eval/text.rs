//! Strings: searching them, and functions of them. Characters are Unicode scalar values.

use super::{Sort, fault};
use crate::query::fault::Fault;
use crate::query::value::CypherValue;
use crate::syntax::{BinaryOp, Span};
use crate::value::Value;

/// `STARTS WITH`, `ENDS WITH`, `CONTAINS`; `None` unless both are strings.
pub(super) fn holds(operator: BinaryOp, left: &CypherValue, right: &CypherValue) -> Option<bool> {
    let (CypherValue::Scalar(Value::String(left)), CypherValue::Scalar(Value::String(right))) = (left, right) else {
        return None;
    };
    Some(match operator {
        BinaryOp::StartsWith => left.starts_with(right),
        BinaryOp::EndsWith => left.ends_with(right),
        _ => left.contains(right),
    })
}

/// `substring(text, start[, length])`; beyond the end there is nothing.
pub(super) fn substring(text: &str, start: i128, length: Option<i128>, span: Span) -> Result<String, Fault> {
    let start = count(start, "a start", span)?;
    let rest = text.chars().skip(start);
    Ok(match length {
        Some(length) => rest.take(count(length, "a length", span)?).collect(),
        None => rest.collect(),
    })
}

/// `left(text, length)`.
pub(super) fn left(text: &str, length: i128, span: Span) -> Result<String, Fault> {
    Ok(text.chars().take(count(length, "a length", span)?).collect())
}

/// `right(text, length)`.
pub(super) fn right(text: &str, length: i128, span: Span) -> Result<String, Fault> {
    let skipped = text.chars().count().saturating_sub(count(length, "a length", span)?);
    Ok(text.chars().skip(skipped).collect())
}

/// `split(text, separator)`; an empty separator splits into characters.
pub(super) fn split(text: &str, separator: &str) -> CypherValue {
    let part = |part: &str| CypherValue::Scalar(Value::String(part.to_owned()));
    CypherValue::List(if separator.is_empty() {
        text.chars().map(|c| part(c.encode_utf8(&mut [0; 4]))).collect()
    } else {
        text.split(separator).map(part).collect()
    })
}

/// A number of characters; beyond the memory of any machine it is as good as infinite.
fn count(number: i128, what: &str, span: Span) -> Result<usize, Fault> {
    if number < 0 {
        return Err(fault(
            &Sort::InvalidArgument,
            span,
            format!("{what} of a string cannot be negative, and this is {number}"),
        ));
    }
    Ok(usize::try_from(number).unwrap_or(usize::MAX))
}
