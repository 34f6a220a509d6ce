//! Types and values in the words of error messages.

use std::fmt::Write as _;

use arrow_cast::base64::{BASE64_STANDARD, Engine as _};

use super::{Value, write_json};
use crate::schema::Type;

/// The longest text, in characters, that a message quotes of a value.
const SHOWN_CHARS: usize = 60;

/// The most labels of an `ENUM` that a message lists.
const SHOWN_LABELS: usize = 20;

/// What a value of `ty` looks like, for "expected …": "an INT8 (-128 to 127)".
pub(crate) fn describe(ty: &Type) -> String {
    if let Some((least, greatest)) = ty.integer_range() {
        let article = if least < 0 { "an" } else { "a" };
        return format!("{article} {ty} ({least} to {greatest})");
    }
    match ty {
        Type::String => "a STRING (quoted text)".to_owned(),
        Type::Bool => "a BOOL (true or false)".to_owned(),
        Type::Float | Type::Double => {
            let greatest = if matches!(ty, Type::Float) { "3.4028235e38" } else { "1.7976931348623157e308" };
            format!("a {ty} (a number within ±{greatest}, or \"NaN\", \"Infinity\", \"-Infinity\")")
        }
        Type::Decimal { precision, scale } => {
            let whole = precision.saturating_sub(*scale);
            format!("a {ty} (at most {whole} digits before the point and {scale} after it)")
        }
        Type::Date => "a DATE (such as \"2024-01-31\", years -9999 to 9999)".to_owned(),
        Type::Time => "a TIME (such as \"12:34:56.123456\")".to_owned(),
        Type::Timestamp => {
            "a TIMESTAMP (such as \"2024-01-31T12:34:56.123456Z\", with Z or an offset such as +01:00)".to_owned()
        }
        Type::Uuid => "a UUID (such as \"0190163d-8694-739b-aea5-966c26f8ad91\")".to_owned(),
        Type::Blob => "a BLOB (Base64 with padding, in quotes)".to_owned(),
        Type::Json => "a JSON value".to_owned(),
        Type::List(element) => format!("a list ({ty}: an array of {element} or null)"),
        Type::Vector(length) => format!("a vector ({ty}: an array of exactly {length} numbers)"),
        Type::Enum(labels) => describe_labels(labels),
        // The integers are described above.
        _ => ty.to_string(),
    }
}

fn describe_labels(labels: &[String]) -> String {
    let mut out = String::from("one of ");
    for (index, label) in labels.iter().take(SHOWN_LABELS).enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        // Writing to a string cannot fail.
        let _ = write!(out, "{comma}\"{}\"", shorten(label));
    }
    if labels.len() > SHOWN_LABELS {
        let _ = write!(out, " and {} more", labels.len() - SHOWN_LABELS);
    }
    out
}

/// The text, cut to what a message should quote.
pub(crate) fn shorten(text: &str) -> String {
    let mut starts = text.char_indices().map(|(start, _)| start);
    let Some(cut) = starts.nth(SHOWN_CHARS - 1) else { return text.to_owned() };
    match starts.next() {
        Some(_) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}

impl Value {
    /// The value as a message shows it: spelled as in JSON and cut to about 60 characters.
    pub(crate) fn shortened(&self) -> String {
        shorten(&self.prefix_as_json())
    }

    /// JSON of the value, or of as much of its beginning as surely exceeds what is shown.
    fn prefix_as_json(&self) -> String {
        match self {
            Self::String(text) => json_text(&Self::String(prefix(text).to_owned())),
            Self::Json(text) => prefix(text).to_owned(),
            Self::Blob(bytes) => {
                format!("\"{}\"", BASE64_STANDARD.encode(&bytes[..bytes.len().min(SHOWN_CHARS)]))
            }
            Self::List(items) => bracketed(items.iter().map(Self::prefix_as_json)),
            Self::Vector(items) => bracketed(items.iter().map(|item| format!("{item:?}"))),
            scalar => json_text(scalar),
        }
    }
}

fn json_text(value: &Value) -> String {
    let mut out = Vec::new();
    // Only floats are spelled by their type, and without one the wider type is the honest one.
    write_json(value, &Type::Double, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn prefix(text: &str) -> &str {
    text.char_indices().nth(SHOWN_CHARS + 1).map_or(text, |(cut, _)| &text[..cut])
}

fn bracketed(items: impl Iterator<Item = String>) -> String {
    let mut out = String::from("[");
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(&item);
        if out.len() > SHOWN_CHARS * 4 {
            return out;
        }
    }
    out.push(']');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_described_with_their_range() {
        assert_eq!(describe(&Type::Int8), "an INT8 (-128 to 127)");
        assert_eq!(describe(&Type::UInt64), "a UINT64 (0 to 18446744073709551615)");
    }

    #[test]
    fn types_are_described_by_what_they_admit() {
        assert_eq!(
            describe(&Type::Decimal { precision: 10, scale: 2 }),
            "a DECIMAL(10, 2) (at most 8 digits before the point and 2 after it)"
        );
        assert_eq!(describe(&Type::Vector(3)), "a vector (FLOAT[3]: an array of exactly 3 numbers)");
        assert_eq!(describe(&Type::List(Box::new(Type::Date))), "a list (DATE[]: an array of DATE or null)");
        assert_eq!(describe(&Type::Enum(vec!["a".into(), "b".into()])), "one of \"a\", \"b\"");
    }

    #[test]
    fn many_labels_are_counted_instead_of_listed() {
        let labels = (0..30).map(|n| n.to_string()).collect();
        let text = describe(&Type::Enum(labels));
        assert!(text.ends_with("\"18\", \"19\" and 10 more"), "{text}");
    }

    #[test]
    fn text_of_sixty_characters_is_whole_and_longer_text_is_cut_at_a_character() {
        let whole = "é".repeat(60);
        assert_eq!(shorten(&whole), whole);
        assert_eq!(shorten(&"é".repeat(61)), format!("{}…", "é".repeat(59)));
        assert_eq!(shorten(""), "");
    }

    #[test]
    fn values_are_shown_as_json_spells_them() {
        assert_eq!(Value::String("a\"b".into()).shortened(), r#""a\"b""#);
        assert_eq!(Value::Int(-7).shortened(), "-7");
        assert_eq!(Value::Null.shortened(), "null");
        assert_eq!(Value::Date(0).shortened(), "\"1970-01-01\"");
        assert_eq!(Value::Vector(vec![0.1, -0.0]).shortened(), "[0.1,-0.0]");
        assert_eq!(Value::List(vec![Value::Null, Value::Int(1)]).shortened(), "[null,1]");
        assert_eq!(Value::Blob(vec![0]).shortened(), "\"AA==\"");
    }

    #[test]
    fn large_values_are_shown_short() {
        for value in [
            Value::String("x".repeat(10_000)),
            Value::Json(format!("\"{}\"", "x".repeat(10_000))),
            Value::Blob(vec![7; 10_000]),
            Value::List(vec![Value::String("y".repeat(1_000)); 1_000]),
            Value::Vector(vec![1.5; 10_000]),
        ] {
            let shown = value.shortened();
            assert_eq!(shown.chars().count(), SHOWN_CHARS, "{shown}");
            assert!(shown.ends_with('…'));
        }
    }
}
