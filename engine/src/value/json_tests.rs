//! Tests of reading and writing values as JSON.

use proptest::prelude::*;

use super::*;
use crate::value::strategies::{identical, typed_value};
use crate::value::write_json;

fn parse(text: &str, ty: &Type) -> Result<Value, ValueProblem> {
    parse_json(serde_json::from_str(text).unwrap(), ty)
}

fn expected(text: &str, ty: &Type) -> String {
    parse(text, ty).unwrap_err().expected
}

fn written(value: &Value, ty: &Type) -> String {
    let mut out = Vec::new();
    write_json(value, ty, &mut out);
    String::from_utf8(out).unwrap()
}

fn list_of(element: Type) -> Type {
    Type::List(Box::new(element))
}

fn status() -> Type {
    Type::Enum(vec!["open".into(), "closed".into()])
}

#[test]
fn every_type_takes_its_documented_kinds_of_json_and_no_others() {
    let integers =
        [Type::Int8, Type::Int16, Type::Int32, Type::Int64, Type::UInt8, Type::UInt16, Type::UInt32, Type::UInt64];
    let mut cases: Vec<(Type, &[&str])> = integers.map(|ty| (ty, &["7", "\"7\""][..])).into();
    cases.extend([
        (Type::String, &["\"7\"", "\"text\"", "\"2024-01-31\"", "\"open\"", "\"\"", "\"true\"", "\"NaN\""][..]),
        (Type::Bool, &["true"][..]),
        (Type::Float, &["7", "7.5", "\"NaN\""][..]),
        (Type::Double, &["7", "7.5", "\"NaN\""][..]),
        (Type::Decimal { precision: 4, scale: 1 }, &["7", "7.5", "\"7\""][..]),
        (Type::Date, &["\"2024-01-31\""][..]),
        (Type::Time, &[][..]),
        (Type::Timestamp, &[][..]),
        (Type::Uuid, &[][..]),
        (Type::Blob, &["\"text\"", "\"open\"", "\"true\"", "\"\""][..]),
        (status(), &["\"open\""][..]),
        (list_of(Type::String), &["[]", "[\"a\"]"][..]),
        (list_of(Type::Int8), &["[]", "[7]"][..]),
        (Type::Vector(1), &["[7]"][..]),
    ]);
    let spellings = [
        "7",
        "7.5",
        "true",
        "\"7\"",
        "\"text\"",
        "\"2024-01-31\"",
        "\"open\"",
        "\"\"",
        "\"true\"",
        "\"NaN\"",
        "[]",
        "[7]",
        "[\"a\"]",
        "{}",
        "{\"a\":1}",
    ];
    for (ty, accepted) in cases {
        for text in spellings {
            assert_eq!(parse(text, &ty).is_ok(), accepted.contains(&text), "{text} for {ty}");
        }
        assert_eq!(parse("null", &ty), Ok(Value::Null), "null for {ty}");
    }
    for text in spellings {
        assert_eq!(parse(text, &Type::Json), Ok(Value::Json(text.into())));
    }
}

#[test]
fn integers_are_numbers_or_decimal_strings_of_any_size() {
    for text in ["9223372036854775807", "\"9223372036854775807\""] {
        assert_eq!(parse(text, &Type::Int64), Ok(Value::Int(i64::MAX.into())));
    }
    assert_eq!(parse("18446744073709551615", &Type::UInt64), Ok(Value::Int(u64::MAX.into())));
    assert_eq!(parse("9007199254740993", &Type::Int64), Ok(Value::Int(9_007_199_254_740_993)));
    assert_eq!(parse("-0", &Type::UInt8), Ok(Value::Int(0)));
    for text in
        ["1.0", "1e3", "\"1.0\"", "\" 1\"", "\"+1\"", "\"0x1\"", "\"\"", "\"1e3\"", "\"٣\"", "true", "-1", "256"]
    {
        assert!(parse(text, &Type::UInt8).is_err(), "{text}");
    }
}

#[test]
fn an_integer_out_of_range_is_told_its_type_and_range() {
    let problem = parse("300", &Type::Int8).unwrap_err();
    assert_eq!(problem, ValueProblem { found: "300".into(), expected: "an INT8 (-128 to 127)".into() });
    assert_eq!(problem.to_string(), "expected an INT8 (-128 to 127), found 300");
    assert_eq!(expected("18446744073709551616", &Type::UInt64), "a UINT64 (0 to 18446744073709551615)");
}

#[test]
fn booleans_are_true_and_false_only() {
    assert_eq!(parse("false", &Type::Bool), Ok(Value::Bool(false)));
    for text in ["0", "1", "\"true\"", "\"\"", "[]"] {
        assert!(parse(text, &Type::Bool).is_err(), "{text}");
    }
}

#[test]
fn floats_are_numbers_and_three_names() {
    let bits = |text, ty: &Type| match parse(text, ty) {
        Ok(Value::Float(value)) => Some(value.to_bits()),
        _ => None,
    };
    assert_eq!(bits("-0.0", &Type::Double), Some((-0.0_f64).to_bits()));
    assert_eq!(bits("0.1", &Type::Double), Some(0.1_f64.to_bits()));
    assert_eq!(bits("0.1", &Type::Float), Some(f64::from(0.1_f32).to_bits()));
    assert_eq!(bits("\"NaN\"", &Type::Float), Some(0x7ff8_0000_0000_0000));
    assert_eq!(bits("\"-Infinity\"", &Type::Double), Some(f64::NEG_INFINITY.to_bits()));
    for text in ["\"nan\"", "\"inf\"", "\"+Infinity\"", "\"1.5\"", "\"\"", "1e400", "-1e400"] {
        assert_eq!(bits(text, &Type::Double), None, "{text}");
    }
    assert_eq!(bits("3.5e38", &Type::Float), None);
    assert!(expected("3.5e38", &Type::Float).starts_with("a FLOAT (a number within ±3.4028235e38"));
}

#[test]
fn decimals_keep_every_digit() {
    let money = Type::Decimal { precision: 20, scale: 2 };
    let cents = |unscaled| Ok(Value::Decimal { unscaled, scale: 2 });
    assert_eq!(parse("\"123456789012345678.91\"", &money), cents(12_345_678_901_234_567_891));
    assert_eq!(parse("123456789012345678.91", &money), cents(12_345_678_901_234_567_891));
    assert_eq!(parse("0.1", &money), cents(10));
    assert_eq!(parse("-0.500", &money), cents(-50));
    assert!(expected("0.005", &money).ends_with("; it has more digits after the point"));
    assert!(expected("1234567890123456789", &money).ends_with("; it has more digits before the point"));
    assert!(expected("1e3", &money).ends_with("; it must be written without an exponent"));
}

#[test]
fn strings_with_half_a_surrogate_pair_are_refused_with_the_reason() {
    assert_eq!(parse(r#""\ud83d\ude00\u0000""#, &Type::String), Ok(Value::String("😀\0".into())));
    let problem = parse(r#""a\ud800b""#, &Type::String).unwrap_err();
    assert_eq!(problem.found, r#""a\ud800b""#);
    assert_eq!(problem.expected, "a STRING (quoted text); its escapes hold half of a surrogate pair");
}

#[test]
fn labels_are_listed_and_the_near_one_suggested() {
    assert_eq!(parse("\"open\"", &status()), Ok(Value::String("open".into())));
    assert_eq!(expected("\"opne\"", &status()), "one of \"open\", \"closed\"; did you mean \"open\"?");
    assert_eq!(expected("\"unrelated\"", &status()), "one of \"open\", \"closed\"");
    assert_eq!(expected("1", &status()), "one of \"open\", \"closed\"");
}

#[test]
fn calendar_refusals_say_why() {
    assert!(expected("\"2024-02-30\"", &Type::Date).ends_with("; there is no such day"));
    assert!(expected("\"2016-12-31T23:59:60Z\"", &Type::Timestamp).contains("leap seconds"));
    assert!(expected("\"24:00:00\"", &Type::Time).ends_with("; hours go from 00 to 23"));
    assert!(expected("\"2024-01-31T12:00:00.0000001Z\"", &Type::Timestamp).ends_with("; it has more than 6 decimals"));
    assert!(expected("20240131", &Type::Date).starts_with("a DATE"));
}

#[test]
fn json_has_no_line_breaks_but_those_that_are_escaped() {
    let text = "{\r\n\t\"a\\nb\\r\": [1,\r2,\n\n3]\n}";
    let line = "{  \t\"a\\nb\\r\": [1, 2,  3] }";
    assert_eq!(parse(text, &Type::Json), Ok(Value::Json(line.into())));
    assert_eq!(parse(line, &Type::Json), Ok(Value::Json(line.into())));
}

#[test]
fn json_is_kept_byte_by_byte() {
    for text in [r#"{ "b": 1.0, "a" :1.00, "a": 2 }"#, "1e999", "\"\\ud800\"", "12345678901234567890123"] {
        assert_eq!(parse(text, &Type::Json), Ok(Value::Json(text.into())));
        assert_eq!(written(&Value::Json(text.into()), &Type::Json), text);
    }
}

#[test]
fn list_problems_name_the_index() {
    let bytes = list_of(Type::Int8);
    assert_eq!(parse("[1, null, \"3\"]", &bytes), Ok(Value::List(vec![Value::Int(1), Value::Null, Value::Int(3)])));
    assert_eq!(parse(" [ ] ", &bytes), Ok(Value::List(vec![])));
    let problem = parse("[1, null, 300]", &bytes).unwrap_err();
    assert_eq!(problem.found, "300");
    assert_eq!(problem.expected, "an INT8 (-128 to 127) at index 2 of INT8[]");
    assert!(parse("{\"0\":1}", &bytes).is_err());
    assert!(parse("1", &bytes).is_err());
}

#[test]
fn vectors_have_their_length_and_no_nulls() {
    let vector = Type::Vector(3);
    match parse("[1, -0.0, \"Infinity\"]", &vector) {
        Ok(Value::Vector(found)) => {
            assert_eq!(found.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), [0x3f80_0000, 0x8000_0000, 0x7f80_0000]);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(expected("[1, 2]", &vector), "a vector (FLOAT[3]: an array of exactly 3 numbers); this one has 2");
    assert!(expected("[1, null, 3]", &vector).ends_with("; a vector has no nulls at index 1 of FLOAT[3]"));
    assert!(expected("[1, 2, 1e39]", &vector).ends_with(" at index 2 of FLOAT[3]"));
    assert!(expected("[true, 2, 3]", &vector).ends_with(" at index 0 of FLOAT[3]"));
}

#[test]
fn what_was_found_is_shortened() {
    let text = format!("\"{}\"", "x".repeat(1_000));
    assert_eq!(parse(&text, &Type::Date).unwrap_err().found.chars().count(), 60);
}

#[test]
fn integers_beyond_the_exact_range_of_floats_are_written_as_strings() {
    let edge = 1_i128 << 53;
    assert_eq!(written(&Value::Int(edge), &Type::Int64), "9007199254740992");
    assert_eq!(written(&Value::Int(edge + 1), &Type::Int64), "\"9007199254740993\"");
    assert_eq!(written(&Value::Int(-edge), &Type::Int64), "-9007199254740992");
    assert_eq!(written(&Value::Int(-edge - 1), &Type::Int64), "\"-9007199254740993\"");
}

#[test]
fn floats_are_written_short_and_by_their_width() {
    assert_eq!(written(&Value::Float(f64::from(0.1_f32)), &Type::Float), "0.1");
    assert_eq!(written(&Value::Float(f64::from(0.1_f32)), &Type::Double), "0.10000000149011612");
    assert_eq!(written(&Value::Float(-0.0), &Type::Double), "-0.0");
    assert_eq!(written(&Value::Float(f64::NAN), &Type::Double), "\"NaN\"");
    assert_eq!(written(&Value::Float(f64::NEG_INFINITY), &Type::Float), "\"-Infinity\"");
    assert_eq!(
        written(&Value::List(vec![Value::Float(f64::from(0.1_f32)), Value::Null]), &list_of(Type::Float)),
        "[0.1,null]"
    );
    assert_eq!(written(&Value::Vector(vec![0.1, f32::NAN]), &Type::Vector(2)), "[0.1,\"NaN\"]");
}

proptest! {
    #[test]
    fn what_is_written_reads_back_identical((ty, value) in typed_value()) {
        let text = written(&value, &ty);
        prop_assert!(serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok(), "{}", text);
        let back = parse(&text, &ty).map_err(|problem| TestCaseError::fail(format!("{text}: {problem}")))?;
        prop_assert!(identical(&back, &value), "{:?} was written as {} and read as {:?}", value, text, back);
    }

    #[test]
    fn any_json_is_taken_or_refused_without_a_fault((ty, _) in typed_value(), text in r#"("[^"\\\x00-\x1f]{0,30}"|-?[1-9][0-9]{0,45}(\.[0-9]{1,45})?(e-?[0-9]{1,4})?|[0-9])"#) {
        let _ = parse(&text, &ty);
    }
}
