//! Property values: what they are, how JSON spells them, how Arrow stores them and which bytes stand for them in digests.

mod arithmetic;
mod arrow;
mod calendar;
mod canonical;
mod column_builder;
mod column_reader;
mod compare;
mod describe;
mod digest;
mod json;
mod json_write;
mod number;
mod order;
#[cfg(test)]
pub(crate) mod strategies;
mod text;

pub(crate) use arithmetic::{NoResult, arithmetic, as_float, negate};
pub(crate) use arrow::arrow_field;
pub(crate) use canonical::encode;
pub(crate) use column_builder::ColumnBuilder;
pub(crate) use column_reader::{ColumnReader, read_value};
pub(crate) use compare::{compare, equal};
pub(crate) use describe::{describe, shorten};
pub(crate) use digest::{digest_values, hash_row};
pub(crate) use json::{ValueProblem, on_one_line, parse_json, parse_text};
pub(crate) use json_write::write_json;
pub(crate) use number::{narrow, rescale};

/// One value of a property, of any type of the schema.
///
/// Integers of every width share one variant, as do `FLOAT` and `DOUBLE`, so that a value keeps its meaning when a type is
/// widened; the [type](crate::schema::Type) of the property says what is stored.
///
/// `==` compares floats as IEEE 754 does (NaN differs from itself, 0.0 equals −0.0) and decimals with their scales. The
/// store has another question, whether two values are *the same value*: to it all NaNs are one, −0.0 is not 0.0, and decimals are numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// No value.
    Null,
    /// `BOOL`.
    Bool(bool),
    /// Any integer type.
    Int(i128),
    /// `FLOAT` (widened) or `DOUBLE`.
    Float(f64),
    /// `DECIMAL(p, s)`: `unscaled · 10^(−scale)`.
    Decimal {
        /// The digits as an integer.
        unscaled: i128,
        /// Digits after the point.
        scale: u8,
    },
    /// `STRING`, or the label of an `ENUM`.
    String(String),
    /// `DATE`: days since 1970-01-01.
    Date(i32),
    /// `TIME`: microseconds since midnight.
    Time(i64),
    /// `TIMESTAMP`: microseconds since 1970-01-01T00:00:00Z.
    Timestamp(i64),
    /// `UUID`.
    Uuid([u8; 16]),
    /// `BLOB`.
    Blob(Vec<u8>),
    /// `JSON`, kept as the text that was given.
    Json(String),
    /// `T[]`.
    List(Vec<Value>),
    /// `FLOAT[n]`.
    Vector(Vec<f32>),
}

impl Value {
    /// Whether there is no value.
    #[must_use]
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }
}
