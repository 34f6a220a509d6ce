//! The values of expressions as values of properties: what fits a type, and why something does not.

use crate::query::CypherValue;
use crate::schema::Type;
use crate::value::{Value, ValueProblem, describe, on_one_line, parse_text, shorten, write_json};

/// `value` as a value of a property of type `ty`. Nothing is rounded but to the nearest float of the type, and no digit of a
/// decimal is dropped but zeros. Labels, UUIDs and bytes may be texts, as JSON spells them; the text of a `JSON` is the document.
pub(super) fn to_property(value: &CypherValue, ty: &Type) -> Result<Value, ValueProblem> {
    if value.is_null() {
        return Ok(Value::Null);
    }
    let wrong = || ValueProblem { found: describe_value(value), expected: describe(ty) };
    match (ty, value) {
        (Type::Json, CypherValue::Scalar(Value::Json(text) | Value::String(text))) => document(text).ok_or_else(wrong),
        (Type::List(element), CypherValue::List(items)) => {
            items.iter().map(|item| to_property(item, element)).collect::<Result<_, _>>().map(Value::List)
        }
        (Type::Vector(length), CypherValue::List(items)) => {
            let numbers = items.iter().map(|item| match to_property(item, &Type::Float) {
                Ok(Value::Float(number)) => Some(narrow(number)),
                _ => None,
            });
            let numbers: Option<Vec<f32>> = numbers.collect();
            let fits = |numbers: &Vec<f32>| u32::try_from(numbers.len()).is_ok_and(|found| found == *length);
            numbers.filter(fits).map(Value::Vector).ok_or_else(wrong)
        }
        (_, CypherValue::Scalar(scalar)) => of_scalar(scalar, ty).unwrap_or_else(|| Err(wrong())),
        _ => Err(wrong()),
    }
}

/// `None` if values of this sort are never values of the type.
fn of_scalar(value: &Value, ty: &Type) -> Option<Result<Value, ValueProblem>> {
    Some(match (ty, value) {
        (Type::Bool, Value::Bool(_))
        | (Type::Double, Value::Float(_))
        | (Type::Date, Value::Date(_))
        | (Type::Time, Value::Time(_))
        | (Type::Timestamp, Value::Timestamp(_))
        | (Type::Uuid, Value::Uuid(_))
        | (Type::Blob, Value::Blob(_))
        | (Type::String, Value::String(_)) => Ok(value.clone()),
        (Type::Enum(_) | Type::Uuid | Type::Blob, Value::String(text)) => parse_text(text, ty),
        (Type::Float | Type::Double, Value::Int(_) | Value::Decimal { .. }) => {
            let number: f64 = plain(value).parse().ok()?;
            return of_scalar(&Value::Float(number), ty);
        }
        (Type::Float, Value::Float(number)) => {
            let narrowed = narrow(*number);
            if number.is_finite() && !narrowed.is_finite() {
                return None;
            }
            Ok(Value::Float(narrowed.into()))
        }
        (Type::Decimal { .. }, Value::Int(_) | Value::Decimal { .. }) => parse_text(&plain(value), ty),
        // As it would be written: without an exponent, with no more digits than tell it from its neighbours.
        (Type::Decimal { .. }, Value::Float(number)) if number.is_finite() => parse_text(&number.to_string(), ty),
        (_, Value::Int(number)) => {
            let (least, greatest) = ty.integer_range()?;
            if !(least..=greatest).contains(number) {
                return None;
            }
            Ok(value.clone())
        }
        _ => return None,
    })
}

/// A number without the quotes that JSON puts around it.
fn plain(value: &Value) -> String {
    let mut out = Vec::new();
    write_json(value, &Type::Double, &mut out);
    String::from_utf8_lossy(&out).trim_matches('"').to_owned()
}

#[expect(clippy::cast_possible_truncation, reason = "the nearest of 32 bits is what is asked for")]
const fn narrow(number: f64) -> f32 {
    number as f32
}

/// A text as a JSON document. Null is none: it would be one that is not there.
fn document(text: &str) -> Option<Value> {
    let document = serde_json::from_str::<&serde_json::value::RawValue>(text).ok()?.get();
    (document != "null").then(|| Value::Json(on_one_line(document).into_owned()))
}

/// The value for messages: scalars as JSON, shortened.
pub(super) fn describe_value(value: &CypherValue) -> String {
    match value {
        CypherValue::Scalar(scalar) => scalar.shortened(),
        CypherValue::List(items) => {
            shorten(&format!("[{}]", items.iter().take(16).map(describe_value).collect::<Vec<_>>().join(",")))
        }
        CypherValue::Map(_) => "a map".into(),
        CypherValue::Node(node) => format!("a node ({})", node.label),
        CypherValue::Edge(edge) => format!("an edge ({})", edge.label),
    }
}

#[cfg(test)]
#[path = "property_tests.rs"]
mod tests;
