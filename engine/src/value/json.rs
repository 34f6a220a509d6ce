//! Reading values from JSON, strictly: every type has its documented spellings and no others.
//!
//! Values are read from the raw text, so that no integer or decimal passes through a float. What each type accepts:
//!
//! | type | JSON |
//! |---|---|
//! | `STRING`, `ENUM` | string; of an `ENUM`, one of its labels |
//! | `BOOL` | `true`, `false` |
//! | integers | number without point or exponent, or the same digits as a string |
//! | `FLOAT`, `DOUBLE` | number, rounded to the nearest; `"NaN"`, `"Infinity"`, `"-Infinity"` |
//! | `DECIMAL` | string or number without exponent; no digit is ever dropped but zeros |
//! | `DATE`, `TIME`, `TIMESTAMP`, `UUID`, `BLOB` | string |
//! | `JSON` | anything, kept as its text, on one line |
//! | list | array of the element's spellings and nulls |
//! | vector | array of exactly as many numbers as `FLOAT` accepts |

use std::borrow::Cow;
use std::fmt;

use serde_json::value::RawValue;

use super::text::{parse_blob, parse_label, parse_uuid, unquote};
use super::{Value, calendar, describe, number, shorten};
use crate::schema::Type;

/// Why a JSON text is not a value of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ValueProblem {
    /// The value as it was written, shortened.
    pub(crate) found: String,
    /// What was expected, in words: "an INT8 (-128 to 127)".
    pub(crate) expected: String,
}

impl fmt::Display for ValueProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, found {}", self.expected, self.found)
    }
}

/// A text that is no value of the type, and what the type's description does not say about it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Refusal(Option<Cow<'static, str>>);

impl Refusal {
    pub(super) const fn new(detail: String) -> Self {
        Self(Some(Cow::Owned(detail)))
    }

    pub(super) fn detail(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl From<&'static str> for Refusal {
    fn from(detail: &'static str) -> Self {
        Self(Some(Cow::Borrowed(detail)))
    }
}

/// Reads the JSON text of one property. `null` gives `Value::Null` whatever the type.
pub(crate) fn parse_json(raw: &RawValue, ty: &Type) -> Result<Value, ValueProblem> {
    let text = raw.get();
    if text == "null" {
        return Ok(Value::Null);
    }
    match ty {
        Type::Json => Ok(Value::Json(on_one_line(text).into_owned())),
        Type::List(element) => parse_list(text, ty, element),
        Type::Vector(length) => parse_vector(text, ty, *length),
        _ => parse_scalar(text, ty).map_err(|refusal| problem(text, ty, &refusal)),
    }
}

/// Reads a text as JSON would read the string of this content.
pub(crate) fn parse_text(text: &str, ty: &Type) -> Result<Value, ValueProblem> {
    of_token(Token::String(Cow::Borrowed(text)), ty).map_err(|refusal| problem(text, ty, &refusal))
}

/// A JSON text without its line breaks, which can only stand between its parts: a row is one line wherever it is written.
pub(crate) fn on_one_line(json: &str) -> Cow<'_, str> {
    let breaks = ['\n', '\r'];
    if json.contains(breaks) { Cow::Owned(json.replace(breaks, " ")) } else { Cow::Borrowed(json) }
}

fn problem(text: &str, ty: &Type, refusal: &Refusal) -> ValueProblem {
    let expected = match refusal.detail() {
        Some(detail) => format!("{}; {detail}", describe(ty)),
        None => describe(ty),
    };
    ValueProblem { found: shorten(text), expected }
}

/// The kinds of JSON values that scalars are made of.
enum Token<'a> {
    Bool(bool),
    Number(&'a str),
    String(Cow<'a, str>),
    Other,
}

fn token(text: &str) -> Result<Token<'_>, Refusal> {
    Ok(match text.as_bytes().first() {
        Some(b'"') => Token::String(unquote(text)?),
        Some(b't') => Token::Bool(true),
        Some(b'f') => Token::Bool(false),
        Some(b'-' | b'0'..=b'9') => Token::Number(text),
        _ => Token::Other,
    })
}

fn parse_scalar(text: &str, ty: &Type) -> Result<Value, Refusal> {
    of_token(token(text)?, ty)
}

fn of_token(token: Token<'_>, ty: &Type) -> Result<Value, Refusal> {
    if let Some(range) = ty.integer_range() {
        return match token {
            Token::Number(digits) => number::parse_integer(digits, range).map(Value::Int),
            Token::String(digits) => number::parse_integer(&digits, range).map(Value::Int),
            Token::Bool(_) | Token::Other => Err(Refusal::default()),
        };
    }
    match (ty, token) {
        (Type::Bool, Token::Bool(value)) => Ok(Value::Bool(value)),
        (Type::Double, Token::Number(digits)) => number::parse_double(digits).map(Value::Float),
        (Type::Float, Token::Number(digits)) => number::parse_float(digits).map(|value| Value::Float(value.into())),
        (Type::Float | Type::Double, Token::String(name)) => number::parse_non_finite(&name).map(Value::Float),
        (Type::Decimal { precision, scale }, Token::Number(digits)) => decimal(digits, *precision, *scale),
        (Type::Decimal { precision, scale }, Token::String(digits)) => decimal(&digits, *precision, *scale),
        (Type::String, Token::String(text)) => Ok(Value::String(text.into_owned())),
        (Type::Enum(labels), Token::String(text)) => parse_label(&text, labels).map(Value::String),
        (Type::Date, Token::String(text)) => calendar::parse_date(&text).map(Value::Date),
        (Type::Time, Token::String(text)) => calendar::parse_time(&text).map(Value::Time),
        (Type::Timestamp, Token::String(text)) => calendar::parse_timestamp(&text).map(Value::Timestamp),
        (Type::Uuid, Token::String(text)) => parse_uuid(&text).map(Value::Uuid),
        (Type::Blob, Token::String(text)) => parse_blob(&text).map(Value::Blob),
        _ => Err(Refusal::default()),
    }
}

fn decimal(digits: &str, precision: u8, scale: u8) -> Result<Value, Refusal> {
    number::parse_decimal(digits, precision, scale).map(|unscaled| Value::Decimal { unscaled, scale })
}

/// The raw elements of an array.
fn elements<'a>(text: &'a str, ty: &Type) -> Result<Vec<&'a RawValue>, ValueProblem> {
    serde_json::from_str(text).map_err(|_| problem(text, ty, &Refusal::default()))
}

fn parse_list(text: &str, ty: &Type, element: &Type) -> Result<Value, ValueProblem> {
    let items = elements(text, ty)?.into_iter().enumerate();
    items
        .map(|(index, item)| parse_json(item, element).map_err(|problem| at_index(problem, index, ty)))
        .collect::<Result<_, _>>()
        .map(Value::List)
}

fn parse_vector(text: &str, ty: &Type, length: u32) -> Result<Value, ValueProblem> {
    let items = elements(text, ty)?;
    if u32::try_from(items.len()) != Ok(length) {
        return Err(problem(text, ty, &Refusal::new(format!("this one has {}", items.len()))));
    }
    items
        .into_iter()
        .enumerate()
        .map(|(index, item)| {
            parse_component(item.get())
                .map_err(|refusal| at_index(problem(item.get(), &Type::Float, &refusal), index, ty))
        })
        .collect::<Result<_, _>>()
        .map(Value::Vector)
}

fn parse_component(text: &str) -> Result<f32, Refusal> {
    match token(text)? {
        Token::Number(digits) => number::parse_float(digits),
        Token::String(name) => number::parse_non_finite(&name).map(number::narrow),
        Token::Other if text == "null" => Err("a vector has no nulls".into()),
        Token::Bool(_) | Token::Other => Err(Refusal::default()),
    }
}

fn at_index(problem: ValueProblem, index: usize, ty: &Type) -> ValueProblem {
    ValueProblem { expected: format!("{} at index {index} of {ty}", problem.expected), ..problem }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
