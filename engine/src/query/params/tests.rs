use super::*;
use crate::value::Value;

fn reason(text: &str) -> String {
    match Params::from_json(text) {
        Err(QueryError::Parameters { reason }) => reason,
        other => panic!("{text} gave {other:?}"),
    }
}

#[test]
fn json_gives_the_values_it_spells() {
    let params = Params::from_json(
        r#" {"i": 9007199254740993, "u": 18446744073709551615, "f": 1.0, "e": 1e3, "s": "a\u00e9", "b": true,
             "n": null, "l": [1, [2.5], {}], "m": {"x": -1}} "#,
    )
    .unwrap();
    let expected = Params::new()
        .with("i", 9_007_199_254_740_993_i64)
        .with("u", u64::MAX)
        .with("f", 1.0)
        .with("e", 1000.0)
        .with("s", "aé")
        .with("b", true)
        .with("n", None::<bool>)
        .with("l", vec![CypherValue::from(1), vec![2.5].into(), BTreeMap::new().into()])
        .with("m", BTreeMap::from([("x".to_owned(), CypherValue::from(-1))]));
    assert_eq!(params, expected);
    assert_eq!(CypherValue::from_json("[\"a\"]").unwrap(), CypherValue::from(vec!["a"]));
    assert_eq!(params.names().collect::<String>(), "befilmnsu");
}

#[test]
fn what_would_be_lost_is_refused() {
    for (text, expected) in [
        ("[1]", "[1] is no JSON object"),
        ("", " is no JSON object"),
        (r#"{"a": 1, "a": 2}"#, "`a` is there twice"),
        (r#"{"a": {"b": 1, "b": 1}}"#, "`a`: `b` is there twice"),
        (
            r#"{"a": 18446744073709551616}"#,
            "`a`: 18446744073709551616 does not fit into 64 bits; give it as a string, or with a decimal point as a float",
        ),
        (
            r#"{"a": -9223372036854775809}"#,
            "`a`: -9223372036854775809 does not fit into 64 bits; give it as a string, or with a decimal point as a float",
        ),
    ] {
        assert_eq!(reason(text), expected, "{text}");
    }
    assert!(reason(r#"{"a": 1"#).contains("EOF"));
    assert!(reason(r#"{"a": 1e999}"#).contains("number out of range"));
    assert!(reason(r#"{"a": "\ud800"}"#).starts_with("`a`: "));
    assert!(CypherValue::from_json("tru").is_err());
    let deep = |levels: usize| format!("{{\"a\": {}{}}}", "[".repeat(levels), "]".repeat(levels));
    assert!(Params::from_json(&deep(60)).is_ok());
    assert_eq!(reason(&deep(100)), "`a`: lists and maps nest deeper than 64 levels");
    assert!(Params::from_json(&deep(100_000)).is_err());
}

#[test]
fn a_later_value_takes_the_place_of_an_earlier_one() {
    let params = Params::new().with("a", 1).with("a", "x");
    assert_eq!(params.get("a"), Some(&CypherValue::Scalar(Value::String("x".to_owned()))));
    assert_eq!(params.get("b"), None);
}
