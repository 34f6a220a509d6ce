//! Collecting values of one type into an Arrow array.

use std::sync::Arc;

use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, Date32Builder, Decimal128Builder, FixedSizeBinaryBuilder, Float32Builder,
    Float64Builder, Int8Builder, Int16Builder, Int32Builder, Int64Builder, PrimitiveBuilder, StringBuilder,
    Time64MicrosecondBuilder, TimestampMicrosecondBuilder, UInt8Builder, UInt16Builder, UInt32Builder, UInt64Builder,
};
use arrow_array::types::ArrowPrimitiveType;
use arrow_array::{ArrayRef, FixedSizeListArray, Float32Array, ListArray};
use arrow_buffer::{ArrowNativeType as _, NullBufferBuilder, OffsetBuffer, ScalarBuffer};

use super::Value;
use super::arrow::{TIME_ZONE, UUID_WIDTH, data_type, item_field};
use super::number::{narrow, rescale};
use crate::schema::Type;

/// Collects values of one type into an Arrow array.
pub(crate) struct ColumnBuilder {
    builder: Builder,
    ty: Type,
}

enum Builder {
    Bool(BooleanBuilder),
    Int8(Int8Builder),
    Int16(Int16Builder),
    Int32(Int32Builder),
    Int64(Int64Builder),
    UInt8(UInt8Builder),
    UInt16(UInt16Builder),
    UInt32(UInt32Builder),
    UInt64(UInt64Builder),
    Float(Float32Builder),
    Double(Float64Builder),
    Decimal(Decimal128Builder, u8),
    Date(Date32Builder),
    Time(Time64MicrosecondBuilder),
    Timestamp(TimestampMicrosecondBuilder),
    Uuid(FixedSizeBinaryBuilder),
    Text(StringBuilder),
    Blob(BinaryBuilder),
    List(ListBuilder),
    Vector(VectorBuilder),
}

/// Lists, by the ends of their elements in one column of all elements.
struct ListBuilder {
    items: Box<ColumnBuilder>,
    offsets: Vec<i32>,
    nulls: NullBufferBuilder,
}

/// Vectors, end to end; a null one is zeros, since every row takes the same space.
struct VectorBuilder {
    components: Vec<f32>,
    length: usize,
    nulls: NullBufferBuilder,
}

impl ColumnBuilder {
    /// An empty column with room for `capacity` values.
    pub(crate) fn new(ty: &Type, capacity: usize) -> Self {
        let builder = match ty {
            Type::Bool => Builder::Bool(BooleanBuilder::with_capacity(capacity)),
            Type::Int8 => Builder::Int8(Int8Builder::with_capacity(capacity)),
            Type::Int16 => Builder::Int16(Int16Builder::with_capacity(capacity)),
            Type::Int32 => Builder::Int32(Int32Builder::with_capacity(capacity)),
            Type::Int64 => Builder::Int64(Int64Builder::with_capacity(capacity)),
            Type::UInt8 => Builder::UInt8(UInt8Builder::with_capacity(capacity)),
            Type::UInt16 => Builder::UInt16(UInt16Builder::with_capacity(capacity)),
            Type::UInt32 => Builder::UInt32(UInt32Builder::with_capacity(capacity)),
            Type::UInt64 => Builder::UInt64(UInt64Builder::with_capacity(capacity)),
            Type::Float => Builder::Float(Float32Builder::with_capacity(capacity)),
            Type::Double => Builder::Double(Float64Builder::with_capacity(capacity)),
            Type::Decimal { scale, .. } => {
                let builder = Decimal128Builder::with_capacity(capacity).with_data_type(data_type(ty));
                Builder::Decimal(builder, *scale)
            }
            Type::Date => Builder::Date(Date32Builder::with_capacity(capacity)),
            Type::Time => Builder::Time(Time64MicrosecondBuilder::with_capacity(capacity)),
            Type::Timestamp => {
                let builder = TimestampMicrosecondBuilder::with_capacity(capacity).with_timezone(TIME_ZONE);
                Builder::Timestamp(builder)
            }
            Type::Uuid => Builder::Uuid(FixedSizeBinaryBuilder::with_capacity(capacity, UUID_WIDTH)),
            Type::String | Type::Enum(_) | Type::Json => Builder::Text(StringBuilder::with_capacity(capacity, 0)),
            Type::Blob => Builder::Blob(BinaryBuilder::with_capacity(capacity, 0)),
            Type::List(element) => Builder::List(ListBuilder {
                items: Box::new(Self::new(element, 0)),
                offsets: vec![0],
                nulls: NullBufferBuilder::new(capacity),
            }),
            Type::Vector(length) => Builder::Vector(VectorBuilder {
                components: Vec::new(),
                length: *length as usize,
                nulls: NullBufferBuilder::new(capacity),
            }),
        };
        Self { builder, ty: ty.clone() }
    }

    /// Appends a value; a decimal of another scale is brought to the type's if that is exact.
    ///
    /// # Panics
    /// Never for null or a value that `parse_json` made for the type or a narrower one; other variants are a fault of the caller. A
    /// column of text, bytes or lists panics beyond 2 GiB, where Arrow's offsets end.
    pub(crate) fn push(&mut self, value: &Value) {
        if value.is_null() {
            self.push_null();
            return;
        }
        let fits = match (&mut self.builder, value) {
            (Builder::Bool(builder), Value::Bool(value)) => surely(|| builder.append_value(*value)),
            (Builder::Int8(builder), Value::Int(value)) => append_integer(builder, *value),
            (Builder::Int16(builder), Value::Int(value)) => append_integer(builder, *value),
            (Builder::Int32(builder), Value::Int(value)) => append_integer(builder, *value),
            (Builder::Int64(builder), Value::Int(value)) => append_integer(builder, *value),
            (Builder::UInt8(builder), Value::Int(value)) => append_integer(builder, *value),
            (Builder::UInt16(builder), Value::Int(value)) => append_integer(builder, *value),
            (Builder::UInt32(builder), Value::Int(value)) => append_integer(builder, *value),
            (Builder::UInt64(builder), Value::Int(value)) => append_integer(builder, *value),
            (Builder::Float(builder), Value::Float(value)) => surely(|| builder.append_value(narrow(*value))),
            (Builder::Double(builder), Value::Float(value)) => surely(|| builder.append_value(*value)),
            (Builder::Decimal(builder, to), Value::Decimal { unscaled, scale }) => {
                rescale(*unscaled, *scale, *to).and_then(|unscaled| surely(|| builder.append_value(unscaled)))
            }
            (Builder::Date(builder), Value::Date(days)) => surely(|| builder.append_value(*days)),
            (Builder::Time(builder), Value::Time(micros)) => surely(|| builder.append_value(*micros)),
            (Builder::Timestamp(builder), Value::Timestamp(micros)) => surely(|| builder.append_value(*micros)),
            (Builder::Uuid(builder), Value::Uuid(bytes)) => builder.append_value(bytes).ok(),
            (Builder::Text(builder), Value::String(text) | Value::Json(text)) => surely(|| builder.append_value(text)),
            (Builder::Blob(builder), Value::Blob(bytes)) => surely(|| builder.append_value(bytes)),
            (Builder::List(builder), Value::List(items)) => surely(|| builder.push(items)),
            (Builder::Vector(builder), Value::Vector(components)) => builder.push(components),
            _ => None,
        };
        if fits.is_none() {
            unreachable!("{} is not of type {}", value.shortened(), self.ty);
        }
    }

    fn push_null(&mut self) {
        match &mut self.builder {
            Builder::Bool(builder) => builder.append_null(),
            Builder::Int8(builder) => builder.append_null(),
            Builder::Int16(builder) => builder.append_null(),
            Builder::Int32(builder) => builder.append_null(),
            Builder::Int64(builder) => builder.append_null(),
            Builder::UInt8(builder) => builder.append_null(),
            Builder::UInt16(builder) => builder.append_null(),
            Builder::UInt32(builder) => builder.append_null(),
            Builder::UInt64(builder) => builder.append_null(),
            Builder::Float(builder) => builder.append_null(),
            Builder::Double(builder) => builder.append_null(),
            Builder::Decimal(builder, _) => builder.append_null(),
            Builder::Date(builder) => builder.append_null(),
            Builder::Time(builder) => builder.append_null(),
            Builder::Timestamp(builder) => builder.append_null(),
            Builder::Uuid(builder) => builder.append_null(),
            Builder::Text(builder) => builder.append_null(),
            Builder::Blob(builder) => builder.append_null(),
            Builder::List(builder) => builder.close(false),
            Builder::Vector(builder) => {
                builder.components.resize(builder.components.len() + builder.length, 0.0);
                builder.nulls.append_null();
            }
        }
    }

    /// The array of all values pushed; the builder is empty afterwards.
    pub(crate) fn finish(&mut self) -> ArrayRef {
        match &mut self.builder {
            Builder::Bool(builder) => Arc::new(builder.finish()),
            Builder::Int8(builder) => Arc::new(builder.finish()),
            Builder::Int16(builder) => Arc::new(builder.finish()),
            Builder::Int32(builder) => Arc::new(builder.finish()),
            Builder::Int64(builder) => Arc::new(builder.finish()),
            Builder::UInt8(builder) => Arc::new(builder.finish()),
            Builder::UInt16(builder) => Arc::new(builder.finish()),
            Builder::UInt32(builder) => Arc::new(builder.finish()),
            Builder::UInt64(builder) => Arc::new(builder.finish()),
            Builder::Float(builder) => Arc::new(builder.finish()),
            Builder::Double(builder) => Arc::new(builder.finish()),
            Builder::Decimal(builder, _) => Arc::new(builder.finish()),
            Builder::Date(builder) => Arc::new(builder.finish()),
            Builder::Time(builder) => Arc::new(builder.finish()),
            Builder::Timestamp(builder) => Arc::new(builder.finish()),
            Builder::Uuid(builder) => Arc::new(builder.finish()),
            Builder::Text(builder) => Arc::new(builder.finish()),
            Builder::Blob(builder) => Arc::new(builder.finish()),
            Builder::List(builder) => Arc::new(builder.finish()),
            Builder::Vector(builder) => Arc::new(builder.finish()),
        }
    }
}

/// Runs an `append` that refuses nothing.
#[expect(clippy::unnecessary_wraps, reason = "one of several ways to append, of which some may refuse")]
fn surely(append: impl FnOnce()) -> Option<()> {
    append();
    Some(())
}

/// `None` for a number that the column cannot hold.
fn append_integer<T>(builder: &mut PrimitiveBuilder<T>, value: i128) -> Option<()>
where
    T: ArrowPrimitiveType,
    T::Native: TryFrom<i128>,
{
    builder.append_value(T::Native::try_from(value).ok()?);
    Some(())
}

impl ListBuilder {
    fn push(&mut self, items: &[Value]) {
        for item in items {
            self.items.push(item);
        }
        let end = self.offsets.last().map_or(0, |end| end.as_usize()) + items.len();
        self.offsets.push(i32::try_from(end).expect("a column is finished before it has 2^31 elements"));
        self.nulls.append_non_null();
    }

    /// Ends a row that has no elements.
    fn close(&mut self, valid: bool) {
        self.offsets.push(self.offsets.last().copied().unwrap_or_default());
        self.nulls.append(valid);
    }

    fn finish(&mut self) -> ListArray {
        let offsets = OffsetBuffer::new(ScalarBuffer::from(std::mem::replace(&mut self.offsets, vec![0])));
        let field = item_field(&self.items.ty);
        ListArray::new(field, offsets, self.items.finish(), self.nulls.finish())
    }
}

impl VectorBuilder {
    /// `None` for a vector of another length.
    fn push(&mut self, components: &[f32]) -> Option<()> {
        if components.len() != self.length {
            return None;
        }
        self.components.extend_from_slice(components);
        self.nulls.append_non_null();
        Some(())
    }

    fn finish(&mut self) -> FixedSizeListArray {
        let components = Arc::new(Float32Array::from(std::mem::take(&mut self.components)));
        let length = i32::try_from(self.length).unwrap_or(i32::MAX);
        FixedSizeListArray::new(item_field(&Type::Float), length, components, self.nulls.finish())
    }
}
