//! Tests of storing values in Arrow arrays and reading them back.

use arrow_array::{Array, ArrayRef, Int64Array, StringArray};
use lance_core::datatypes::Schema as LanceSchema;
use proptest::prelude::*;

use super::*;
use crate::error::{Classify as _, ErrorKind};
use crate::value::column_reader::{ColumnMismatch, ColumnReader};
use crate::value::strategies::{any_type, column, identical};
use crate::value::{ColumnBuilder, Value, read_value};

fn build(ty: &Type, values: &[Value]) -> ArrayRef {
    let mut builder = ColumnBuilder::new(ty, values.len());
    for value in values {
        builder.push(value);
    }
    builder.finish()
}

fn list(element: Type) -> Type {
    Type::List(Box::new(element))
}

#[test]
fn physical_types_are_as_documented() {
    let utc = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    for (ty, stored) in [
        (Type::String, DataType::Utf8),
        (Type::Enum(vec!["a".into()]), DataType::Utf8),
        (Type::Json, DataType::Utf8),
        (Type::UInt64, DataType::UInt64),
        (Type::Decimal { precision: 38, scale: 38 }, DataType::Decimal128(38, 38)),
        (Type::Time, DataType::Time64(TimeUnit::Microsecond)),
        (Type::Timestamp, utc),
        (Type::Uuid, DataType::FixedSizeBinary(16)),
        (list(Type::Int8), DataType::List(Arc::new(Field::new("item", DataType::Int8, true)))),
        (Type::Vector(3), DataType::FixedSizeList(Arc::new(Field::new("item", DataType::Float32, true)), 3)),
    ] {
        assert_eq!(arrow_field("p", &ty), Field::new("p", stored, true));
    }
}

#[test]
fn nulls_empty_lists_and_lists_of_nulls_stay_apart() {
    let values = [
        Value::Null,
        Value::List(vec![]),
        Value::List(vec![Value::Null]),
        Value::List(vec![Value::Int(1), Value::Null, Value::Int(2)]),
        Value::Null,
    ];
    let ty = list(Type::Int16);
    let array = build(&ty, &values);
    for (row, value) in values.iter().enumerate() {
        assert_eq!(&read_value(&array, row, &ty), value);
    }
    let empty = [Value::Null, Value::String(String::new())];
    let array = build(&Type::String, &empty);
    assert_eq!([0, 1].map(|row| read_value(&array, row, &Type::String)), empty);
}

#[test]
fn null_vectors_take_space_and_stay_null() {
    let ty = Type::Vector(2);
    let values = [Value::Null, Value::Vector(vec![1.0, -0.0]), Value::Null];
    let array = build(&ty, &values);
    assert_eq!(array.len(), 3);
    assert_eq!(array.null_count(), 2);
    for (row, value) in values.iter().enumerate() {
        assert!(identical(&read_value(&array, row, &ty), value));
    }
}

#[test]
fn a_builder_starts_anew_after_finishing() {
    for ty in [Type::String, list(Type::String), Type::Vector(1)] {
        let mut builder = ColumnBuilder::new(&ty, 0);
        builder.push(&Value::Null);
        assert_eq!(builder.finish().len(), 1);
        let empty = builder.finish();
        assert_eq!((empty.len(), empty.data_type()), (0, &data_type(&ty)));
    }
}

#[test]
fn a_narrower_decimal_is_stored_at_the_scale_of_the_column() {
    let ty = Type::Decimal { precision: 10, scale: 3 };
    let array = build(&ty, &[Value::Decimal { unscaled: -15, scale: 1 }]);
    assert_eq!(read_value(&array, 0, &ty), Value::Decimal { unscaled: -1500, scale: 3 });
}

#[test]
#[should_panic(expected = "300 is not of type INT8")]
fn a_value_that_does_not_fit_is_a_fault_and_never_stored_as_something_else() {
    build(&Type::Int8, &[Value::Int(300)]);
}

#[test]
#[should_panic(expected = "is not of type FLOAT[2]")]
fn a_vector_of_another_length_is_a_fault() {
    build(&Type::Vector(2), &[Value::Vector(vec![1.0])]);
}

#[test]
fn a_column_of_another_type_is_refused() {
    let numbers = Int64Array::from(vec![1]);
    let mismatch = ColumnReader::new(&numbers, &Type::Int32).err();
    let expected = ColumnMismatch { ty: Type::Int32, expected: DataType::Int32, found: DataType::Int64 };
    assert_eq!(mismatch, Some(expected));
    assert_eq!(mismatch.map(|mismatch| mismatch.kind()), Some(ErrorKind::Data));
    let texts = StringArray::from(vec!["a"]);
    let short = build(&Type::Vector(2), &[Value::Null]);
    let scaled = build(&Type::Decimal { precision: 5, scale: 2 }, &[Value::Null]);
    assert!(ColumnReader::new(&texts, &list(Type::String)).is_err());
    assert!(ColumnReader::new(&texts, &Type::Uuid).is_err());
    assert!(ColumnReader::new(&short, &Type::Vector(3)).is_err());
    assert!(ColumnReader::new(&scaled, &Type::Decimal { precision: 5, scale: 1 }).is_err());
}

proptest! {
    #[test]
    fn every_value_is_read_back_to_the_bit((ty, values) in column(), skip in 0..4_usize) {
        let array = build(&ty, &values);
        prop_assert_eq!(array.data_type(), &data_type(&ty));
        let reader = ColumnReader::new(&array, &ty).unwrap();
        for (row, value) in values.iter().enumerate() {
            prop_assert!(identical(&reader.value(row), value), "{:?} was read as {:?}", value, reader.value(row));
            prop_assert_eq!(reader.is_null(row), value.is_null());
        }
        let skip = skip.min(values.len());
        let sliced = array.slice(skip, values.len() - skip);
        let reader = ColumnReader::new(&sliced, &ty).unwrap();
        for (row, value) in values[skip..].iter().enumerate() {
            prop_assert!(identical(&reader.value(row), value));
        }
    }

    #[test]
    fn lance_keeps_the_arrow_type(ty in any_type()) {
        let schema = arrow_schema::Schema::new(vec![arrow_field("p", &ty)]);
        let lance = LanceSchema::try_from(&schema).unwrap();
        prop_assert_eq!(arrow_schema::Schema::from(&lance), schema);
    }
}
