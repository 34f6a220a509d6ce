//! Writing values as JSON, so that reading them back gives the same values.

use std::io::Write as _;

use super::{Value, calendar, number, text};
use crate::schema::Type;

/// Integers beyond this are written as strings: a reader that keeps numbers in floats would change them.
const LARGEST_NUMBER: u128 = 1 << 53;

/// Writes a value as JSON text that `parse_json` reads back to the same value, floats to the bit (every NaN is one).
///
/// A value of the type `JSON` is written as it was given; `parse_json` lets no line break in.
pub(crate) fn write_json(value: &Value, ty: &Type, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
        Value::Int(value) => {
            let quote = if value.unsigned_abs() > LARGEST_NUMBER { "\"" } else { "" };
            // Writing to memory cannot fail.
            let _ = write!(out, "{quote}{value}{quote}");
        }
        Value::Float(value) => match ty {
            Type::Float => number::write_float(number::narrow(*value), out),
            _ => number::write_double(*value, out),
        },
        Value::Decimal { unscaled, scale } => quoted(out, |out| number::write_decimal(*unscaled, *scale, out)),
        Value::String(text) => {
            // As above: neither memory nor text can refuse.
            let _ = serde_json::to_writer(out, text);
        }
        Value::Date(days) => quoted(out, |out| calendar::write_date(*days, out)),
        Value::Time(micros) => quoted(out, |out| calendar::write_time(*micros, out)),
        Value::Timestamp(micros) => quoted(out, |out| calendar::write_timestamp(*micros, out)),
        Value::Uuid(bytes) => quoted(out, |out| text::write_uuid(*bytes, out)),
        Value::Blob(bytes) => quoted(out, |out| text::write_blob(bytes, out)),
        Value::Json(text) => out.extend_from_slice(text.as_bytes()),
        Value::List(items) => {
            let element = if let Type::List(element) = ty { element } else { ty };
            bracketed(out, items, |item, out| write_json(item, element, out));
        }
        Value::Vector(items) => bracketed(out, items, |item, out| number::write_float(*item, out)),
    }
}

fn quoted(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    out.push(b'"');
    write(out);
    out.push(b'"');
}

fn bracketed<T>(out: &mut Vec<u8>, items: &[T], mut write: impl FnMut(&T, &mut Vec<u8>)) {
    out.push(b'[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(item, out);
    }
    out.push(b']');
}
