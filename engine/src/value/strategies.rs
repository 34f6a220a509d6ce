//! Random types and values for property tests: nasty ones often, and close to each other.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::Value;
use crate::schema::Type;

/// Any type that is no list and no vector.
pub(crate) fn scalar_type() -> impl Strategy<Value = Type> {
    prop_oneof![
        8 => select(vec![
            Type::Int8, Type::Int16, Type::Int32, Type::Int64, Type::UInt8, Type::UInt16, Type::UInt32, Type::UInt64,
        ]),
        10 => select(vec![
            Type::String, Type::Bool, Type::Float, Type::Double, Type::Date, Type::Time, Type::Timestamp, Type::Uuid,
            Type::Blob, Type::Json,
        ]),
        2 => (1..=38_u8).prop_flat_map(|precision| {
            (0..=precision).prop_map(move |scale| Type::Decimal { precision, scale })
        }),
        1 => Just(Type::Enum(["a", "b", "\"quoted\" \\ 'label'", "é😀"].map(str::to_owned).into())),
    ]
}

/// Any type.
pub(crate) fn any_type() -> impl Strategy<Value = Type> {
    prop_oneof![
        4 => scalar_type(),
        2 => scalar_type().prop_map(|element| Type::List(Box::new(element))),
        1 => (1..5_u32).prop_map(Type::Vector),
    ]
}

/// A value of the type that is not null.
pub(crate) fn value_of(ty: &Type) -> BoxedStrategy<Value> {
    if let Some((least, greatest)) = ty.integer_range() {
        let near_zero = least.max(-2)..=2;
        let ends = select(vec![least, greatest]);
        return prop_oneof![near_zero, ends, least..=greatest].prop_map(Value::Int).boxed();
    }
    match ty {
        Type::String => text().prop_map(Value::String).boxed(),
        Type::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        Type::Float => float().prop_map(|value| Value::Float(value.into())).boxed(),
        Type::Double => double().prop_map(Value::Float).boxed(),
        Type::Decimal { precision, scale } => decimal(*precision, *scale).boxed(),
        Type::Date => prop_oneof![-1..=1, -4_371_587..=2_932_896].prop_map(Value::Date).boxed(),
        Type::Time => prop_oneof![0..=1_i64, 0..86_400_000_000_i64].prop_map(Value::Time).boxed(),
        Type::Timestamp => prop_oneof![-1..=1_i64, -377_705_116_800_000_000..=253_402_300_799_999_999_i64]
            .prop_map(Value::Timestamp)
            .boxed(),
        Type::Uuid => any::<[u8; 16]>().prop_map(Value::Uuid).boxed(),
        Type::Blob => vec(any::<u8>(), 0..80).prop_map(Value::Blob).boxed(),
        Type::Json => {
            select(vec!["{}", "[]", "{ }", "0", "-0.0", "1e999", "\"null\"", "\"\\ud800\"", "{\"a\":1,\"a\":2}"])
                .prop_map(|text| Value::Json(text.to_owned()))
                .boxed()
        }
        Type::List(element) => vec(nullable(element), 0..4).prop_map(Value::List).boxed(),
        Type::Vector(length) => vec(float(), *length as usize).prop_map(Value::Vector).boxed(),
        Type::Enum(labels) => select(labels.clone()).prop_map(Value::String).boxed(),
        _ => unreachable!("integers are handled above"),
    }
}

/// A value of the type, or null.
pub(crate) fn nullable(ty: &Type) -> BoxedStrategy<Value> {
    prop_oneof![1 => Just(Value::Null), 6 => value_of(ty)].boxed()
}

/// A type with a value of it, or null.
pub(crate) fn typed_value() -> impl Strategy<Value = (Type, Value)> {
    any_type().prop_flat_map(|ty| nullable(&ty).prop_map(move |value| (ty.clone(), value)))
}

/// A type with two values of it, which are often the same.
pub(crate) fn two_values() -> impl Strategy<Value = (Type, Value, Value)> {
    any_type().prop_flat_map(|ty| {
        let pair = prop_oneof![
            4 => (nullable(&ty), nullable(&ty)),
            1 => nullable(&ty).prop_map(|value| (value.clone(), value)),
        ];
        pair.prop_map(move |(a, b)| (ty.clone(), a, b))
    })
}

/// A type with a column of its values.
pub(crate) fn column() -> impl Strategy<Value = (Type, Vec<Value>)> {
    any_type().prop_flat_map(|ty| vec(nullable(&ty), 0..12).prop_map(move |values| (ty.clone(), values)))
}

/// Whether two values are the same to the bit.
pub(crate) fn identical(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
        (Value::List(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| identical(a, b)),
        (Value::Vector(a), Value::Vector(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
        }
        _ => a == b,
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[ab]{0,2}", any::<String>(), Just("\0\n\r\t\"\\/\u{7f}\u{2028}é😀".to_owned()), "[a-z]{120,140}"]
}

fn double() -> impl Strategy<Value = f64> {
    let nasty = vec![0.0, -0.0, 1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, 5e-324, 0.1, 1e16, 1e-7];
    let bits =
        any::<u64>().prop_map(|bits| Some(f64::from_bits(bits)).filter(|value| !value.is_nan()).unwrap_or(f64::NAN));
    prop_oneof![select(nasty), bits]
}

fn float() -> impl Strategy<Value = f32> {
    let nasty = vec![0.0, -0.0, 1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, 1e-45, 0.1, 16_777_216.0];
    let bits =
        any::<u32>().prop_map(|bits| Some(f32::from_bits(bits)).filter(|value| !value.is_nan()).unwrap_or(f32::NAN));
    prop_oneof![select(nasty), bits]
}

fn decimal(precision: u8, scale: u8) -> impl Strategy<Value = Value> {
    let limit = 10_i128.pow(u32::from(precision)) - 1;
    prop_oneof![-1..=1_i128, select(vec![limit, -limit]), -limit..=limit]
        .prop_map(move |unscaled| Value::Decimal { unscaled, scale })
}
