//! The types of properties.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The type of a property, as the catalog stores it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Type {
    /// UTF-8 text.
    String,
    /// True or false.
    Bool,
    /// Signed, 8 bits.
    Int8,
    /// Signed, 16 bits.
    Int16,
    /// Signed, 32 bits.
    Int32,
    /// Signed, 64 bits.
    Int64,
    /// Unsigned, 8 bits.
    #[serde(rename = "uint8")]
    UInt8,
    /// Unsigned, 16 bits.
    #[serde(rename = "uint16")]
    UInt16,
    /// Unsigned, 32 bits.
    #[serde(rename = "uint32")]
    UInt32,
    /// Unsigned, 64 bits.
    #[serde(rename = "uint64")]
    UInt64,
    /// IEEE 754, 32 bits.
    Float,
    /// IEEE 754, 64 bits.
    Double,
    /// A decimal number of `precision` digits (1 to 38), `scale` of them after the point.
    Decimal {
        /// All digits.
        precision: u8,
        /// Digits after the point, at most `precision`.
        scale: u8,
    },
    /// A day of the proleptic Gregorian calendar.
    Date,
    /// A time of day, in microseconds.
    Time,
    /// A moment in UTC, in microseconds.
    Timestamp,
    /// 128 bits, written as RFC 9562 does.
    Uuid,
    /// Bytes; Base64 (RFC 4648, with padding) in JSON.
    Blob,
    /// A JSON document, kept as its text.
    Json,
    /// A list of any length; its elements are scalar and may be null.
    List(Box<Type>),
    /// A vector of 32-bit floats of a fixed length, none of them null.
    Vector(u32),
    /// One of the given labels, in the order of declaration.
    Enum(Vec<String>),
}

impl Type {
    /// Whether a key may be of this type: it must have one spelling per value, so floats, JSON, lists and vectors may not.
    #[must_use]
    pub const fn may_be_key(&self) -> bool {
        !matches!(self, Self::Float | Self::Double | Self::Json | Self::List(_) | Self::Vector(_))
    }

    /// The smallest and largest value of an integer type; `None` for other types.
    #[must_use]
    pub fn integer_range(&self) -> Option<(i128, i128)> {
        Some(match self {
            Self::Int8 => (i8::MIN.into(), i8::MAX.into()),
            Self::Int16 => (i16::MIN.into(), i16::MAX.into()),
            Self::Int32 => (i32::MIN.into(), i32::MAX.into()),
            Self::Int64 => (i64::MIN.into(), i64::MAX.into()),
            Self::UInt8 => (0, u8::MAX.into()),
            Self::UInt16 => (0, u16::MAX.into()),
            Self::UInt32 => (0, u32::MAX.into()),
            Self::UInt64 => (0, u64::MAX.into()),
            _ => return None,
        })
    }
}

/// The spelling of the schema language.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::String => f.write_str("STRING"),
            Self::Bool => f.write_str("BOOL"),
            Self::Int8 => f.write_str("INT8"),
            Self::Int16 => f.write_str("INT16"),
            Self::Int32 => f.write_str("INT32"),
            Self::Int64 => f.write_str("INT64"),
            Self::UInt8 => f.write_str("UINT8"),
            Self::UInt16 => f.write_str("UINT16"),
            Self::UInt32 => f.write_str("UINT32"),
            Self::UInt64 => f.write_str("UINT64"),
            Self::Float => f.write_str("FLOAT"),
            Self::Double => f.write_str("DOUBLE"),
            Self::Decimal { precision, scale } => write!(f, "DECIMAL({precision}, {scale})"),
            Self::Date => f.write_str("DATE"),
            Self::Time => f.write_str("TIME"),
            Self::Timestamp => f.write_str("TIMESTAMP"),
            Self::Uuid => f.write_str("UUID"),
            Self::Blob => f.write_str("BLOB"),
            Self::Json => f.write_str("JSON"),
            Self::List(element) => write!(f, "{element}[]"),
            Self::Vector(length) => write!(f, "FLOAT[{length}]"),
            Self::Enum(labels) => {
                f.write_str("ENUM(")?;
                for (i, label) in labels.iter().enumerate() {
                    let comma = if i == 0 { "" } else { ", " };
                    write!(f, "{comma}'{}'", label.replace('\\', "\\\\").replace('\'', "\\'"))?;
                }
                f.write_str(")")
            }
        }
    }
}
