//! Tests of the canonical encoding: its bytes are fixed, since hashes of them are stored.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;
use crate::value::strategies::{two_values, typed_value};

fn encoded(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    encode(value, &mut out);
    out
}

fn hex(value: &Value) -> String {
    encoded(value).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

fn decimal(unscaled: i128, scale: u8) -> Value {
    Value::Decimal { unscaled, scale }
}

fn text(text: &str) -> Value {
    Value::String(text.into())
}

#[test]
fn the_bytes_are_golden() {
    let long = format!("058001{}", "61".repeat(128));
    let longer = format!("0a808001{}", "00".repeat(16_384));
    let golden: Vec<(Value, &str)> = vec![
        (Value::Null, "00"),
        (Value::Bool(false), "0100"),
        (Value::Bool(true), "0101"),
        (Value::Int(0), "020100"),
        (Value::Int(1), "020101"),
        (Value::Int(-1), "0201ff"),
        (Value::Int(127), "02017f"),
        (Value::Int(128), "02020080"),
        (Value::Int(-128), "020180"),
        (Value::Int(-129), "0202ff7f"),
        (Value::Int(65_535), "020300ffff"),
        (Value::Int(i64::MAX.into()), "02087fffffffffffffff"),
        (Value::Int(i64::MIN.into()), "02088000000000000000"),
        (Value::Int(u64::MAX.into()), "020900ffffffffffffffff"),
        (Value::Int(i128::MAX), "02107fffffffffffffffffffffffffffffff"),
        (Value::Int(i128::MIN), "021080000000000000000000000000000000"),
        (Value::Float(0.0), "030000000000000000"),
        (Value::Float(-0.0), "038000000000000000"),
        (Value::Float(1.5), "033ff8000000000000"),
        (Value::Float(f64::from(0.1_f32)), "033fb99999a0000000"),
        (Value::Float(0.1), "033fb999999999999a"),
        (Value::Float(5e-324), "030000000000000001"),
        (Value::Float(f64::INFINITY), "037ff0000000000000"),
        (Value::Float(f64::NEG_INFINITY), "03fff0000000000000"),
        (Value::Float(f64::NAN), "037ff8000000000000"),
        (Value::Float(f64::from_bits(0xfff0_0000_dead_beef)), "037ff8000000000000"),
        (decimal(0, 0), "04000100"),
        (decimal(0, 38), "04000100"),
        (decimal(100, 0), "04000164"),
        (decimal(150, 2), "0401010f"),
        (decimal(-1, 2), "040201ff"),
        (decimal(10_i128.pow(38) - 1, 38), "0426104b3b4ca85a86c47a098a223fffffffff"),
        (text(""), "0500"),
        (text("\0"), "050100"),
        (text("é😀"), "0506c3a9f09f9880"),
        (text(&"a".repeat(128)), &long),
        (Value::Date(0), "0600000000"),
        (Value::Date(-1), "06ffffffff"),
        (Value::Date(2_932_896), "06002cc0a0"),
        (Value::Time(86_399_999_999), "07000000141dd75fff"),
        (Value::Timestamp(-1), "08ffffffffffffffff"),
        (Value::Timestamp(1_706_704_496_123_456), "080006103d1b3a5e40"),
        (Value::Uuid(*b"0123456789abcdef"), "0930313233343536373839616263646566"),
        (Value::Blob(vec![]), "0a00"),
        (Value::Blob(vec![0, 255]), "0a0200ff"),
        (Value::Blob(vec![0; 16_384]), &longer),
        (Value::Json("{ }".into()), "0b037b207d"),
        (Value::List(vec![]), "0c00"),
        (Value::List(vec![Value::Null, Value::Int(1)]), "0c0200020101"),
        (Value::List(vec![text("a"), text("")]), "0c020501610500"),
        (Value::Vector(vec![1.0, -0.0, f32::NAN]), "0d033f800000800000007fc00000"),
    ];
    for (value, bytes) in golden {
        assert_eq!(hex(&value), bytes, "{}", value.shortened());
    }
}

#[test]
fn widening_changes_no_bytes() {
    // INT8 and INT64, FLOAT and DOUBLE, ENUM and STRING have one variant each; a decimal carries the scale of its type.
    assert_eq!(encoded(&decimal(15, 1)), encoded(&decimal(150_000, 5)));
    assert_eq!(encoded(&decimal(-10_i128.pow(20), 0)), encoded(&decimal(-10_i128.pow(30), 10)));
}

#[test]
fn kinds_never_meet() {
    let zeros = [
        Value::Null,
        Value::Bool(false),
        Value::Int(0),
        Value::Float(0.0),
        decimal(0, 0),
        text(""),
        Value::Date(0),
        Value::Time(0),
        Value::Timestamp(0),
        Value::Uuid([0; 16]),
        Value::Blob(vec![]),
        Value::Json(String::new()),
        Value::List(vec![]),
        Value::Vector(vec![]),
    ];
    for (i, a) in zeros.iter().enumerate() {
        for (j, b) in zeros.iter().enumerate() {
            assert_eq!(encoded(a) == encoded(b), i == j, "{a:?} {b:?}");
            assert_eq!(a.is_same(b), i == j, "{a:?} {b:?}");
        }
    }
    assert!(!zeros.iter().any(|value| encoded(value)[0] == END));
}

fn prefix_free(a: &Value, b: &Value) -> Result<(), TestCaseError> {
    let (x, y) = (encoded(a), encoded(b));
    prop_assert_eq!(a.is_same(b), x == y, "{:?} {:?}", a, b);
    if x != y {
        prop_assert!(!x.starts_with(&y) && !y.starts_with(&x), "{:?} {:?}", a, b);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn equal_values_and_no_others_have_equal_bytes((_, a, b) in two_values()) {
        prefix_free(&a, &b)?;
    }

    #[test]
    fn values_of_different_types_have_prefix_free_bytes((_, a) in typed_value(), (_, b) in typed_value()) {
        prefix_free(&a, &b)?;
    }

    #[test]
    fn decimals_are_equal_as_numbers(a in -2_000..2_000_i128, p in 0..4_u8, b in -2_000..2_000_i128, q in 0..4_u8) {
        let equal = a * 10_i128.pow(q.into()) == b * 10_i128.pow(p.into());
        prop_assert_eq!(encoded(&decimal(a, p)) == encoded(&decimal(b, q)), equal);
        prop_assert_eq!(decimal(a, p).is_same(&decimal(b, q)), equal);
    }
}
