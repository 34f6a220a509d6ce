//! Reading values back from Arrow arrays.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time64MicrosecondType, TimestampMicrosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, BinaryArray, BooleanArray, FixedSizeBinaryArray, ListArray, PrimitiveArray, StringArray};
use arrow_buffer::{ArrowNativeType as _, NullBuffer};
use arrow_schema::DataType;

use super::Value;
use super::arrow::{UUID_WIDTH, data_type};
use crate::error::{Classify, ErrorKind};
use crate::schema::Type;

/// A stored column is not of the Arrow type that its property calls for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a column of type {ty} must be stored as {expected}, but it is {found}")]
pub(crate) struct ColumnMismatch {
    /// The property's type.
    pub(crate) ty: Type,
    /// The Arrow type that stores it.
    pub(crate) expected: DataType,
    /// What the column is.
    pub(crate) found: DataType,
}

impl Classify for ColumnMismatch {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Data
    }

    fn code(&self) -> &'static str {
        "column-mismatch"
    }
}

/// One column of a batch, told its type once and then read row by row.
pub(crate) struct ColumnReader<'a> {
    nulls: Option<&'a NullBuffer>,
    values: Values<'a>,
}

enum Values<'a> {
    Bool(&'a BooleanArray),
    Int8(&'a PrimitiveArray<Int8Type>),
    Int16(&'a PrimitiveArray<Int16Type>),
    Int32(&'a PrimitiveArray<Int32Type>),
    Int64(&'a PrimitiveArray<Int64Type>),
    UInt8(&'a PrimitiveArray<UInt8Type>),
    UInt16(&'a PrimitiveArray<UInt16Type>),
    UInt32(&'a PrimitiveArray<UInt32Type>),
    UInt64(&'a PrimitiveArray<UInt64Type>),
    Float(&'a PrimitiveArray<Float32Type>),
    Double(&'a PrimitiveArray<Float64Type>),
    Decimal(&'a PrimitiveArray<Decimal128Type>, u8),
    Date(&'a PrimitiveArray<Date32Type>),
    Time(&'a PrimitiveArray<Time64MicrosecondType>),
    Timestamp(&'a PrimitiveArray<TimestampMicrosecondType>),
    Uuid(&'a FixedSizeBinaryArray),
    Text(&'a StringArray),
    Json(&'a StringArray),
    Blob(&'a BinaryArray),
    List(&'a ListArray, Box<ColumnReader<'a>>),
    Vector(&'a [f32], usize),
}

impl<'a> ColumnReader<'a> {
    /// Reads `array` as a column of type `ty`.
    pub(crate) fn new(array: &'a dyn Array, ty: &Type) -> Result<Self, ColumnMismatch> {
        let mismatch = || ColumnMismatch { ty: ty.clone(), expected: data_type(ty), found: array.data_type().clone() };
        let values = match ty {
            Type::List(element) => {
                let list = array.as_list_opt::<i32>().ok_or_else(mismatch)?;
                Values::List(list, Box::new(Self::new(list.values(), element)?))
            }
            _ => scalars(array, ty).ok_or_else(mismatch)?,
        };
        Ok(Self { nulls: array.nulls(), values })
    }

    /// Whether the row has no value here.
    pub(crate) fn is_null(&self, row: usize) -> bool {
        self.nulls.is_some_and(|nulls| nulls.is_null(row))
    }

    /// The value of a row.
    ///
    /// # Panics
    /// If the column has no such row.
    pub(crate) fn value(&self, row: usize) -> Value {
        if self.is_null(row) {
            return Value::Null;
        }
        match &self.values {
            Values::Bool(array) => Value::Bool(array.value(row)),
            Values::Int8(array) => Value::Int(array.value(row).into()),
            Values::Int16(array) => Value::Int(array.value(row).into()),
            Values::Int32(array) => Value::Int(array.value(row).into()),
            Values::Int64(array) => Value::Int(array.value(row).into()),
            Values::UInt8(array) => Value::Int(array.value(row).into()),
            Values::UInt16(array) => Value::Int(array.value(row).into()),
            Values::UInt32(array) => Value::Int(array.value(row).into()),
            Values::UInt64(array) => Value::Int(array.value(row).into()),
            Values::Float(array) => Value::Float(array.value(row).into()),
            Values::Double(array) => Value::Float(array.value(row)),
            Values::Decimal(array, scale) => Value::Decimal { unscaled: array.value(row), scale: *scale },
            Values::Date(array) => Value::Date(array.value(row)),
            Values::Time(array) => Value::Time(array.value(row)),
            Values::Timestamp(array) => Value::Timestamp(array.value(row)),
            Values::Uuid(array) => {
                let mut bytes = [0; UUID_WIDTH as usize];
                bytes.copy_from_slice(array.value(row));
                Value::Uuid(bytes)
            }
            Values::Text(array) => Value::String(array.value(row).to_owned()),
            Values::Json(array) => Value::Json(array.value(row).to_owned()),
            Values::Blob(array) => Value::Blob(array.value(row).to_owned()),
            Values::List(array, items) => {
                let offsets = array.value_offsets();
                let elements = offsets[row].as_usize()..offsets[row + 1].as_usize();
                Value::List(elements.map(|element| items.value(element)).collect())
            }
            Values::Vector(components, length) => Value::Vector(components[row * length..(row + 1) * length].to_vec()),
        }
    }
}

/// All types but lists; `None` if the array is of another type.
fn scalars<'a>(array: &'a dyn Array, ty: &Type) -> Option<Values<'a>> {
    match ty {
        Type::Bool => array.as_boolean_opt().map(Values::Bool),
        Type::Int8 => array.as_primitive_opt().map(Values::Int8),
        Type::Int16 => array.as_primitive_opt().map(Values::Int16),
        Type::Int32 => array.as_primitive_opt().map(Values::Int32),
        Type::Int64 => array.as_primitive_opt().map(Values::Int64),
        Type::UInt8 => array.as_primitive_opt().map(Values::UInt8),
        Type::UInt16 => array.as_primitive_opt().map(Values::UInt16),
        Type::UInt32 => array.as_primitive_opt().map(Values::UInt32),
        Type::UInt64 => array.as_primitive_opt().map(Values::UInt64),
        Type::Float => array.as_primitive_opt().map(Values::Float),
        Type::Double => array.as_primitive_opt().map(Values::Double),
        Type::Decimal { scale, .. } => {
            let decimals = array.as_primitive_opt::<Decimal128Type>()?;
            (i8::try_from(*scale) == Ok(decimals.scale())).then_some(Values::Decimal(decimals, *scale))
        }
        Type::Date => array.as_primitive_opt().map(Values::Date),
        Type::Time => array.as_primitive_opt().map(Values::Time),
        Type::Timestamp => array.as_primitive_opt().map(Values::Timestamp),
        Type::Uuid => {
            let binary = array.as_fixed_size_binary_opt()?;
            (binary.value_length() == UUID_WIDTH).then_some(Values::Uuid(binary))
        }
        Type::String | Type::Enum(_) => array.as_string_opt().map(Values::Text),
        Type::Json => array.as_string_opt().map(Values::Json),
        Type::Blob => array.as_binary_opt().map(Values::Blob),
        Type::Vector(length) => {
            let vectors = array.as_fixed_size_list_opt()?;
            let components: &'a PrimitiveArray<Float32Type> = vectors.values().as_primitive_opt()?;
            (u32::try_from(vectors.value_length()) == Ok(*length))
                .then_some(Values::Vector(components.values(), *length as usize))
        }
        Type::List(_) => None,
    }
}

/// Reads one value back; for many of one column make a [`ColumnReader`].
///
/// # Panics
/// If the array is not of the type that `arrow_field` gives, or has no such row.
pub(crate) fn read_value(array: &dyn Array, row: usize, ty: &Type) -> Value {
    match ColumnReader::new(array, ty) {
        Ok(reader) => reader.value(row),
        Err(mismatch) => unreachable!("{mismatch}"),
    }
}
