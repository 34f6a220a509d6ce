//! Default values: whether a literal fits a type, and its spelling in JSON.

use serde_json::value::RawValue;

use super::ast::{Literal, LiteralKind};
use crate::schema::{JsonText, Type};
use crate::syntax::suggest;
use crate::syntax::{Finding, quote_string};
use crate::value::{on_one_line, parse_json, parse_text, write_json};

/// Integers beyond this are strings in JSON, since many readers take numbers for floats.
const MAX_PLAIN_INTEGER: i128 = 1 << 53;

/// `literal` as a value of `ty`, in the spelling that loads use; `null` for null. Whatever it returns, a load can read: a default
/// that none can read would make its table useless.
pub(super) fn to_json(literal: &Literal, ty: &Type) -> Result<JsonText, Finding> {
    let json = as_json(&json_of(literal, ty)?, literal)?;
    match parse_json(json.raw(), ty) {
        Ok(_) => Ok(json),
        Err(problem) => {
            let message = format!("the default is {}; expected {}", problem.found, problem.expected);
            Err(Finding::new(literal.span, message))
        }
    }
}

fn as_json(text: &str, literal: &Literal) -> Result<JsonText, Finding> {
    JsonText::new(text).map_err(|e| Finding::new(literal.span, format!("the default is not JSON: {e}")))
}

fn json_of(literal: &Literal, ty: &Type) -> Result<String, Finding> {
    use LiteralKind as L;
    let wrong = || {
        let found = describe(&literal.value);
        Err(Finding::new(literal.span, format!("{found} is no default for {ty}"))
            .with_help(format!("write {}", example(ty))))
    };
    let fits = |text: Option<String>| text.map_or_else(|| Err(out_of_range(literal, ty)), Ok);
    match (ty, &literal.value) {
        (_, L::Null) => Ok("null".to_owned()),
        (Type::Bool, L::Bool(value)) => Ok(value.to_string()),
        (Type::String, L::String(text)) => Ok(string(text)),
        (Type::Enum(labels), L::String(text)) => {
            if labels.contains(text) {
                return Ok(string(text));
            }
            let finding = Finding::new(literal.span, format!("'{text}' is no label of {ty}"));
            Err(suggest(finding, text, labels.iter().map(String::as_str)))
        }
        (Type::Float | Type::Double, L::Integer(value)) => fits(float(&value.to_string(), ty)),
        (Type::Float | Type::Double, L::Float(text)) => fits(float(text, ty)),
        (Type::Decimal { precision, scale }, L::Integer(value)) => {
            fits(decimal(&value.to_string(), *precision, *scale))
        }
        (Type::Decimal { precision, scale }, L::Float(text)) => fits(decimal(text, *precision, *scale)),
        (Type::Date | Type::Time | Type::Timestamp | Type::Uuid | Type::Blob, L::String(text)) => {
            as_loaded(text, ty).map_or_else(wrong, Ok)
        }
        (Type::Date | Type::Time | Type::Timestamp, L::Call(name, text)) if names_type(&name.value, ty) => {
            json_of(&Literal { value: L::String(text.clone()), span: literal.span }, ty)
        }
        (Type::Json, L::String(text)) => as_json(text, literal).map(|json| on_one_line(json.get()).into_owned()),
        (Type::List(element), L::List(items)) => list_of(items, element),
        (Type::Vector(length), L::List(items)) => vector(items, *length, literal),
        (_, L::Integer(value)) => match ty.integer_range() {
            Some((low, high)) => fits((low..=high).contains(value).then(|| integer(*value))),
            None => wrong(),
        },
        _ => wrong(),
    }
}

fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A text as the value that a load reads from it, in that value's one spelling.
fn as_loaded(text: &str, ty: &Type) -> Option<String> {
    let value = parse_text(text, ty).ok()?;
    let mut out = Vec::new();
    write_json(&value, ty, &mut out);
    String::from_utf8(out).ok()
}

fn list_of(items: &[Literal], element: &Type) -> Result<String, Finding> {
    let items = items.iter().map(|item| json_of(item, element)).collect::<Result<Vec<_>, _>>()?;
    Ok(format!("[{}]", items.join(",")))
}

fn integer(value: i128) -> String {
    if value.abs() <= MAX_PLAIN_INTEGER { value.to_string() } else { format!("\"{value}\"") }
}

fn out_of_range(literal: &Literal, ty: &Type) -> Finding {
    let finding = Finding::new(literal.span, format!("{} does not fit {ty}", describe(&literal.value)));
    match ty.integer_range() {
        Some((low, high)) => finding.with_help(format!("{ty} is {low} to {high}")),
        None => finding,
    }
}

/// The shortest spelling of the nearest float of the type's width; `None` if that is infinite.
fn float(text: &str, ty: &Type) -> Option<String> {
    if text.trim_start_matches('-').starts_with(|first: char| first.is_ascii_alphabetic()) {
        return Some(string(text));
    }
    match ty {
        Type::Float => text.parse::<f32>().ok().filter(|value| value.is_finite()).map(|value| format!("{value:?}")),
        _ => text.parse::<f64>().ok().filter(|value| value.is_finite()).map(|value| format!("{value:?}")),
    }
}

/// The digits of a decimal number with exactly `scale` of them after the point; `None` if that would lose any.
fn decimal(text: &str, precision: u8, scale: u8) -> Option<String> {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (digits, exponent) = match digits.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
        None => (digits, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    // As an integer with `places` digits after the point.
    let mut all = format!("{whole}{fraction}");
    if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) || exponent.abs() > 100 {
        return None;
    }
    let wanted = i32::from(scale);
    let places = i32::try_from(fraction.len()).ok()? - exponent;
    for _ in wanted..places {
        if all.pop().is_some_and(|digit| digit != '0') {
            return None;
        }
    }
    all.extend((places..wanted).map(|_| '0'));
    let all = all.trim_start_matches('0');
    if all.len() > usize::from(precision) {
        return None;
    }
    let scale = usize::from(scale);
    let padded = format!("{all:0>width$}", width = scale + 1);
    let (whole, fraction) = padded.split_at(padded.len() - scale);
    let sign = if all.is_empty() { "" } else { sign };
    let point = if scale == 0 { "" } else { "." };
    Some(format!("\"{sign}{whole}{point}{fraction}\""))
}

fn vector(items: &[Literal], length: u32, literal: &Literal) -> Result<String, Finding> {
    if u32::try_from(items.len()) != Ok(length) {
        let message = format!("a vector of {length} elements is needed, this one has {}", items.len());
        return Err(Finding::new(literal.span, message));
    }
    if let Some(null) = items.iter().find(|item| matches!(item.value, LiteralKind::Null)) {
        return Err(Finding::new(null.span, "a vector has no nulls"));
    }
    list_of(items, &Type::Float)
}

/// Whether a function of this name makes values of `ty`.
fn names_type(function: &str, ty: &Type) -> bool {
    let makes = match ty {
        Type::Date => ["date", "date"],
        Type::Time => ["time", "localtime"],
        _ => ["datetime", "timestamp"],
    };
    makes.iter().any(|name| name.eq_ignore_ascii_case(function))
}

fn describe(literal: &LiteralKind) -> String {
    match literal {
        LiteralKind::Null => "NULL".to_owned(),
        LiteralKind::Bool(value) => value.to_string(),
        LiteralKind::Integer(value) => value.to_string(),
        LiteralKind::Float(text) => text.clone(),
        LiteralKind::String(text) => quote_string(text),
        LiteralKind::Call(name, _) => format!("{}(…)", name.value),
        LiteralKind::List(_) => "a list".to_owned(),
    }
}

fn example(ty: &Type) -> &'static str {
    match ty {
        Type::String => "a string, such as 'text'",
        Type::Bool => "true or false",
        Type::Float | Type::Double | Type::Decimal { .. } => "a number, such as 1.5",
        Type::Date => "a date, such as date('2024-01-31')",
        Type::Time => "a time, such as time('12:34:56')",
        Type::Timestamp => "a time with its offset, such as datetime('2024-01-31T12:00:00Z')",
        Type::Uuid => "a UUID, such as '123e4567-e89b-12d3-a456-426614174000'",
        Type::Blob => "Base64 with padding, such as 'AAE='",
        Type::Json => "JSON as a string, such as '{\"a\":1}'",
        Type::List(_) => "a list, such as []",
        Type::Vector(_) => "a list of numbers",
        Type::Enum(_) => "one of its labels",
        _ => "an integer, such as 1",
    }
}

/// Writes a default as the literal that [`to_json`] reads back.
pub(in crate::schema) fn from_json(json: &RawValue, ty: &Type) -> String {
    let json = json.get();
    let quoted = || serde_json::from_str::<String>(json).ok();
    let items = |element: &Type| {
        let items: Vec<Box<RawValue>> = serde_json::from_str(json).unwrap_or_default();
        let items: Vec<_> = items.iter().map(|item| from_json(item, element)).collect();
        format!("[{}]", items.join(", "))
    };
    match (ty, quoted()) {
        _ if json == "null" => "NULL".to_owned(),
        (Type::Json, _) => quote_string(json),
        (Type::List(element), _) => items(element),
        (Type::Vector(_), _) => items(&Type::Float),
        (Type::Date, Some(text)) => format!("date({})", quote_string(&text)),
        (Type::Time, Some(text)) => format!("time({})", quote_string(&text)),
        (Type::Timestamp, Some(text)) => format!("datetime({})", quote_string(&text)),
        (Type::String | Type::Enum(_) | Type::Uuid | Type::Blob, Some(text)) => quote_string(&text),
        // Digits of a large integer or of a decimal, or the name of a float.
        (_, Some(text)) => text,
        (_, None) => json.to_owned(),
    }
}
