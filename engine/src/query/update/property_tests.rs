//! What fits a property, and what is said of what does not.

use super::*;

fn int(value: i128) -> CypherValue {
    CypherValue::Scalar(Value::Int(value))
}

fn float(value: f64) -> CypherValue {
    CypherValue::Scalar(Value::Float(value))
}

fn text(value: &str) -> CypherValue {
    CypherValue::Scalar(Value::String(value.to_owned()))
}

fn decimal(unscaled: i128, scale: u8) -> CypherValue {
    CypherValue::Scalar(Value::Decimal { unscaled, scale })
}

const PRICE: Type = Type::Decimal { precision: 5, scale: 2 };

#[test]
fn numbers_keep_what_they_are() {
    assert_eq!(to_property(&int(127), &Type::Int8), Ok(Value::Int(127)));
    assert_eq!(to_property(&int(u64::MAX.into()), &Type::UInt64), Ok(Value::Int(u64::MAX.into())));
    assert_eq!(to_property(&int(3), &Type::Double), Ok(Value::Float(3.0)));
    assert_eq!(to_property(&int(-3), &PRICE), Ok(Value::Decimal { unscaled: -300, scale: 2 }));
    assert_eq!(to_property(&decimal(15, 1), &PRICE), Ok(Value::Decimal { unscaled: 150, scale: 2 }));
    assert_eq!(to_property(&decimal(1500, 3), &PRICE), Ok(Value::Decimal { unscaled: 150, scale: 2 }));
    assert_eq!(to_property(&float(1.1), &PRICE), Ok(Value::Decimal { unscaled: 110, scale: 2 }));
    assert_eq!(to_property(&decimal(25, 1), &Type::Double), Ok(Value::Float(2.5)));
    assert_eq!(to_property(&float(0.1), &Type::Float), Ok(Value::Float(f64::from(0.1_f32))));
    assert_eq!(to_property(&float(f64::INFINITY), &Type::Float), Ok(Value::Float(f64::INFINITY)));
    assert!(matches!(to_property(&float(f64::NAN), &Type::Float), Ok(Value::Float(nan)) if nan.is_nan()));
}

#[test]
fn numbers_that_would_change_are_refused() {
    for (value, ty) in [
        (int(128), Type::Int8),
        (int(-1), Type::UInt64),
        (float(1.0), Type::Int64),
        (float(1e39), Type::Float),
        (float(1.001), PRICE),
        (float(1e20), PRICE),
        (float(f64::NAN), PRICE),
        (decimal(1001, 3), PRICE),
        (int(1000), PRICE),
        (int(1), Type::String),
        (text("1"), Type::Int64),
        (text("1.5"), Type::Double),
        (text("1.5"), PRICE),
        (CypherValue::Scalar(Value::Bool(true)), Type::Int64),
    ] {
        assert!(to_property(&value, &ty).is_err(), "{value:?} as {ty}");
    }
    let problem = to_property(&int(300), &Type::Int8).unwrap_err();
    assert_eq!(problem.to_string(), "expected an INT8 (-128 to 127), found 300");
}

#[test]
fn texts_are_read_where_json_spells_values_as_texts() {
    assert_eq!(to_property(&text("a"), &Type::Enum(vec!["a".into()])), Ok(Value::String("a".into())));
    let problem = to_property(&text("opne"), &Type::Enum(vec!["open".into()])).unwrap_err();
    assert!(problem.expected.contains("did you mean \"open\"?"), "{problem}");
    assert_eq!(to_property(&text("AAE="), &Type::Blob), Ok(Value::Blob(vec![0, 1])));
    let uuid = "0190163d-8694-739b-aea5-966c26f8ad91";
    assert!(matches!(to_property(&text(uuid), &Type::Uuid), Ok(Value::Uuid(_))));
    assert!(to_property(&text("1970-01-02"), &Type::Date).is_err(), "date('1970-01-02') is one");
}

#[test]
fn a_document_is_its_text() {
    let document = |text: &str| to_property(&CypherValue::Scalar(Value::String(text.into())), &Type::Json);
    let json = |text: &str| Ok(Value::Json(text.to_owned()));
    assert_eq!(document(" {\"a\": 1.0} "), json("{\"a\": 1.0}"));
    assert_eq!(document("[1,\n2]"), json("[1, 2]"));
    assert_eq!(to_property(&CypherValue::Scalar(Value::Json("{}".into())), &Type::Json), json("{}"));
    assert!(document("not json").is_err());
    assert!(document("null").is_err(), "it would be no document");
}

#[test]
fn lists_and_vectors_are_read_item_by_item() {
    let list = CypherValue::List(vec![int(1), CypherValue::NULL]);
    let of_bytes = Type::List(Box::new(Type::Int8));
    assert_eq!(to_property(&list, &of_bytes), Ok(Value::List(vec![Value::Int(1), Value::Null])));
    assert!(to_property(&CypherValue::List(vec![int(1000)]), &of_bytes).is_err());
    let numbers = CypherValue::List(vec![int(1), float(0.5)]);
    assert_eq!(to_property(&numbers, &Type::Vector(2)), Ok(Value::Vector(vec![1.0, 0.5])));
    assert!(to_property(&numbers, &Type::Vector(3)).is_err());
    assert!(to_property(&list, &Type::Vector(2)).is_err(), "a vector has no nulls");
    assert_eq!(to_property(&CypherValue::NULL, &Type::Vector(3)), Ok(Value::Null));
}
