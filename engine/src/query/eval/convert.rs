//! From one type to another.

use super::fault::shown_scalar;
use super::{Sort, fault};
use crate::query::bound::Function;
use crate::query::fault::Fault;
use crate::schema::Type;
use crate::syntax::Span;
use crate::value::{Value, as_float, parse_text, write_json};

const MICROS_PER_DAY: i64 = 86_400_000_000;

/// `toString(value)`: text as it is, all else as JSON spells it.
pub(super) fn to_string(value: Value) -> String {
    match value {
        Value::String(text) | Value::Json(text) => text,
        other => {
            let mut out = Vec::new();
            // Only floats are spelled by their type, and those of a query are doubles.
            write_json(&other, &Type::Double, &mut out);
            String::from_utf8_lossy(&out).trim_matches('"').to_owned()
        }
    }
}

/// `toInteger(value)`: a fraction is dropped; null for a text that is no number.
pub(super) fn to_integer(value: &Value, span: Span) -> Result<Value, Fault> {
    let too_large =
        || fault(&Sort::NumberOverflow, span, format!("{} does not fit an integer of 64 bits", shown_scalar(value)));
    let whole = match value {
        Value::Int(number) => *number,
        Value::Bool(value) => i128::from(*value),
        Value::Float(number) => whole_part(*number).ok_or_else(too_large)?,
        Value::Decimal { unscaled, scale } => unscaled / 10_i128.saturating_pow((*scale).into()),
        Value::String(text) => {
            let text = text.trim();
            let exact = if is_number(text) { text.parse().ok() } else { None };
            match exact.or_else(|| parse_float(text).filter(|number| !number.is_nan()).map(saturated)) {
                Some(number) => number,
                None => return Ok(Value::Null),
            }
        }
        _ => return Ok(Value::Null),
    };
    i64::try_from(whole).map(|number| Value::Int(number.into())).map_err(|_| too_large())
}

/// `toFloat(value)`: null for a text that is no number.
pub(super) fn to_float(value: &Value) -> Value {
    let number = match value {
        Value::String(text) => parse_float(text.trim()),
        number => as_float(number),
    };
    number.map_or(Value::Null, Value::Float)
}

/// `toBoolean(value)`: null for a text that is neither `true` nor `false`.
pub(super) fn to_boolean(value: &Value) -> Value {
    match value {
        Value::Bool(value) => Value::Bool(*value),
        Value::Int(number) => Value::Bool(*number != 0),
        Value::String(text) if text.trim().eq_ignore_ascii_case("true") => Value::Bool(true),
        Value::String(text) if text.trim().eq_ignore_ascii_case("false") => Value::Bool(false),
        _ => Value::Null,
    }
}

/// `date(value)`, `time(value)`, `datetime(value)`: of a text, or the part of a moment.
pub(super) fn temporal(function: Function, value: Value, span: Span) -> Result<Value, Fault> {
    let (ty, name, example) = match function {
        Function::Date => (Type::Date, "date", "2024-01-31"),
        Function::Time => (Type::Time, "time", "12:34:56"),
        _ => (Type::Timestamp, "datetime", "2024-01-31T12:00:00Z"),
    };
    let problem = |found: String| Fault {
        help: Some(format!("write {name}('{example}')")),
        ..fault(&Sort::InvalidArgument, span, format!("{found} is no {name}"))
    };
    match (value, &ty) {
        (Value::String(text), ty) => parse_text(&text, ty).map_err(|_| problem(Value::String(text).shortened())),
        (Value::Timestamp(micros), Type::Date) => {
            let days = i32::try_from(micros.div_euclid(MICROS_PER_DAY));
            days.map(Value::Date).map_err(|_| problem(Value::Timestamp(micros).shortened()))
        }
        (Value::Timestamp(micros), Type::Time) => Ok(Value::Time(micros.rem_euclid(MICROS_PER_DAY))),
        (Value::Date(days), Type::Timestamp) => Ok(Value::Timestamp(i64::from(days) * MICROS_PER_DAY)),
        (value @ Value::Date(_), Type::Date)
        | (value @ Value::Time(_), Type::Time)
        | (value @ Value::Timestamp(_), Type::Timestamp) => Ok(value),
        (other, _) => Err(problem(other.shortened())),
    }
}

/// The whole part of a float that has one of 128 bits.
fn whole_part(number: f64) -> Option<i128> {
    const TWO_POW_127: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;
    #[expect(clippy::cast_possible_truncation, reason = "within 128 bits, and the fraction is to be dropped")]
    (number.abs() < TWO_POW_127).then_some(number as i128)
}

/// The whole part, or a number that no integer can be.
fn saturated(number: f64) -> i128 {
    whole_part(number).unwrap_or(i128::MAX)
}

/// Reads what `toString` writes of a float, and every other usual spelling of a number.
fn parse_float(text: &str) -> Option<f64> {
    match text {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        _ if is_number(text) => text.parse().ok(),
        _ => None,
    }
}

/// Whether a text is made of what numbers are made of: Rust also reads `inf` and `nan`.
fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E'))
}
