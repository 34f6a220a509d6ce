//! The Arrow types that store the types of the schema.

use std::sync::Arc;

use arrow_schema::{DataType, Field, TimeUnit};

use crate::schema::Type;

/// The zone of all stored moments.
pub(super) const TIME_ZONE: &str = "UTC";

/// The bytes of a `UUID`.
pub(super) const UUID_WIDTH: i32 = 16;

/// The Arrow type that stores `ty`.
pub(crate) fn data_type(ty: &Type) -> DataType {
    match ty {
        Type::String | Type::Enum(_) | Type::Json => DataType::Utf8,
        Type::Bool => DataType::Boolean,
        Type::Int8 => DataType::Int8,
        Type::Int16 => DataType::Int16,
        Type::Int32 => DataType::Int32,
        Type::Int64 => DataType::Int64,
        Type::UInt8 => DataType::UInt8,
        Type::UInt16 => DataType::UInt16,
        Type::UInt32 => DataType::UInt32,
        Type::UInt64 => DataType::UInt64,
        Type::Float => DataType::Float32,
        Type::Double => DataType::Float64,
        // A scale is at most 38.
        Type::Decimal { precision, scale } => DataType::Decimal128(*precision, scale.cast_signed()),
        Type::Date => DataType::Date32,
        Type::Time => DataType::Time64(TimeUnit::Microsecond),
        Type::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, Some(Arc::from(TIME_ZONE))),
        Type::Uuid => DataType::FixedSizeBinary(UUID_WIDTH),
        Type::Blob => DataType::Binary,
        Type::List(element) => DataType::List(item_field(element)),
        // No schema has a vector that long.
        Type::Vector(length) => {
            DataType::FixedSizeList(item_field(&Type::Float), i32::try_from(*length).unwrap_or(i32::MAX))
        }
    }
}

/// The field of a list's or vector's elements. Lance gives back exactly this one for a vector, whatever it was given: named `item` and
/// nullable, although a vector has no nulls.
pub(super) fn item_field(element: &Type) -> Arc<Field> {
    Arc::new(Field::new("item", data_type(element), true))
}

/// The Arrow field that stores `ty`: always nullable, so that relaxing `NOT NULL` touches no data.
pub(crate) fn arrow_field(name: &str, ty: &Type) -> Field {
    Field::new(name, data_type(ty), true)
}

#[cfg(test)]
#[path = "arrow_tests.rs"]
mod tests;
