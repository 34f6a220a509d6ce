//! The one canonical encoding of values: row hashes, key digests and equality all stand on it.
//!
//! # Format
//! An encoding is one tag byte and a body. The tag names the *kind* of value, not its type, so that widening a type changes no
//! bytes. Integers of several bytes are big-endian; a *count* is an unsigned LEB128 number in its shortest form.
//!
//! | tag | kind | body |
//! |---|---|---|
//! | `00` | null: an element of a list, an absent part of a tuple | nothing |
//! | `01` | `BOOL` | `00` or `01` |
//! | `02` | integers of every width and sign | *n* (one byte, 1 to 16), then *n* bytes: the shortest two's complement |
//! | `03` | `FLOAT` and `DOUBLE` | 8 bytes: the bits of the `DOUBLE`; every NaN is `7ff8000000000000`; −0.0 is not 0.0 |
//! | `04` | `DECIMAL` | scale (one byte), then the unscaled number as *n* and *n* bytes; zeros at the end of the fraction are cut first |
//! | `05` | `STRING` and `ENUM` | count of bytes, then UTF-8 |
//! | `06` | `DATE` | 4 bytes: days since 1970-01-01, two's complement |
//! | `07` | `TIME` | 8 bytes: microseconds since midnight |
//! | `08` | `TIMESTAMP` | 8 bytes: microseconds since 1970-01-01T00:00:00Z, two's complement |
//! | `09` | `UUID` | 16 bytes |
//! | `0a` | `BLOB` | count of bytes, then the bytes |
//! | `0b` | `JSON` | count of bytes, then the text, byte by byte as it was given |
//! | `0c` | list | count of elements, then the encoding of each |
//! | `0d` | vector | count of components, then 4 bytes for each: the bits of the `FLOAT`; every NaN is `7fc00000` |
//!
//! A label of an `ENUM` shares the tag of text, so that adding or reordering labels, and turning the `ENUM` into a `STRING`, change no hashes.
//!
//! # Invariants
//! 1. Two values have equal encodings if and only if [`Value::is_same`] holds.
//! 2. No encoding is a prefix of another one, so a sequence of encodings has one reading.
//! 3. The bytes are stored (as hashes) for good: a change of this format is a change of the graph's format.

use super::Value;
use super::number::normalise;
use super::order::{one_nan, one_nan_32};

const NULL: u8 = 0x00;
const BOOL: u8 = 0x01;
const INT: u8 = 0x02;
const FLOAT: u8 = 0x03;
const DECIMAL: u8 = 0x04;
const TEXT: u8 = 0x05;
const DATE: u8 = 0x06;
const TIME: u8 = 0x07;
const TIMESTAMP: u8 = 0x08;
const UUID: u8 = 0x09;
const BLOB: u8 = 0x0a;
const JSON: u8 = 0x0b;
const LIST: u8 = 0x0c;
const VECTOR: u8 = 0x0d;

/// Stands where a tag could, and is none.
pub(super) const END: u8 = 0xff;

/// Appends the canonical encoding of a value.
pub(crate) fn encode(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(NULL),
        Value::Bool(value) => out.extend_from_slice(&[BOOL, u8::from(*value)]),
        Value::Int(value) => {
            out.push(INT);
            push_integer(*value, out);
        }
        Value::Float(value) => tagged(FLOAT, &one_nan(*value).to_bits().to_be_bytes(), out),
        Value::Decimal { unscaled, scale } => {
            let (unscaled, scale) = normalise(*unscaled, *scale);
            out.extend_from_slice(&[DECIMAL, scale]);
            push_integer(unscaled, out);
        }
        Value::String(text) => counted(TEXT, text.as_bytes(), out),
        Value::Date(days) => tagged(DATE, &days.to_be_bytes(), out),
        Value::Time(micros) => tagged(TIME, &micros.to_be_bytes(), out),
        Value::Timestamp(micros) => tagged(TIMESTAMP, &micros.to_be_bytes(), out),
        Value::Uuid(bytes) => tagged(UUID, bytes, out),
        Value::Blob(bytes) => counted(BLOB, bytes, out),
        Value::Json(text) => counted(JSON, text.as_bytes(), out),
        Value::List(items) => {
            out.push(LIST);
            push_count(items.len(), out);
            for item in items {
                encode(item, out);
            }
        }
        Value::Vector(components) => {
            out.push(VECTOR);
            push_count(components.len(), out);
            out.reserve(components.len() * 4);
            out.extend(components.iter().flat_map(|component| one_nan_32(*component).to_bits().to_be_bytes()));
        }
    }
}

fn tagged(tag: u8, body: &[u8], out: &mut Vec<u8>) {
    out.push(tag);
    out.extend_from_slice(body);
}

fn counted(tag: u8, body: &[u8], out: &mut Vec<u8>) {
    out.push(tag);
    push_count(body.len(), out);
    out.extend_from_slice(body);
}

#[expect(clippy::cast_possible_truncation, reason = "seven bits of the count at a time")]
fn push_count(mut count: usize, out: &mut Vec<u8>) {
    while count >= 0x80 {
        out.push((count & 0x7f) as u8 | 0x80);
        count >>= 7;
    }
    out.push(count as u8);
}

#[expect(clippy::cast_possible_truncation, reason = "the length is at most 16")]
fn push_integer(value: i128, out: &mut Vec<u8>) {
    let same_as_sign = if value < 0 { value.leading_ones() } else { value.leading_zeros() };
    // One bit for the sign stays.
    let length = (128 - same_as_sign) / 8 + 1;
    out.push(length as u8);
    out.extend_from_slice(&value.to_be_bytes()[16 - length as usize..]);
}

#[cfg(test)]
#[path = "canonical_tests.rs"]
mod tests;
