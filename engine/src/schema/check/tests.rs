//! What conditions give for rows, and what is refused before any row is seen.

use super::*;
use crate::clock::{Clock, Timestamp};
use crate::schema::parse_ddl;

/// One property of each kind, null unless a test sets it.
const TABLE: &str = "CREATE NODE TABLE T (id INT64 PRIMARY KEY, i INT64, j UINT64, f DOUBLE, s STRING, t STRING, b BOOL, \
                     d DATE, at TIMESTAMP, tm TIME, c DECIMAL(38, 2), tags STRING[], ns INT64[], v FLOAT[2], \
                     kind ENUM('a', 'b'), u UUID, doc JSON, raw BLOB)";

fn table() -> TableDef {
    parse_ddl(TABLE, &Clock::manual(Timestamp(0), 1)).unwrap().tables.remove(0)
}

fn scope(table: &TableDef) -> Scope<'_> {
    let properties = table.properties.iter().enumerate();
    let properties = properties.map(|(i, property)| (property.name.as_str(), i, Some(&property.ty))).collect();
    Scope { properties, open: false }
}

fn row(table: &TableDef, values: &[(&str, Value)]) -> Vec<Value> {
    let value = |name: &str| values.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
    table.properties.iter().map(|property| value(&property.name).unwrap_or(Value::Null)).collect()
}

/// The truth value of an expression for a row; `None` is null.
fn evaluate(expression: &str, values: &[(&str, Value)]) -> Result<Option<bool>, eval::Fault> {
    let table = table();
    let expr = parse_expression(expression).unwrap_or_else(|finding| panic!("{expression}: {finding:?}"));
    let scope = scope(&table);
    let node = bind(&expr, &scope).unwrap_or_else(|finding| panic!("{expression}: {finding:?}"));
    match node.evaluate(&row(&table, values))? {
        Value::Null => Ok(None),
        Value::Bool(value) => Ok(Some(value)),
        other => panic!("{expression} gave {other:?}"),
    }
}

fn refusal(expression: &str) -> (usize, String) {
    let table = table();
    let scope = scope(&table);
    let finding = parse_expression(expression).and_then(|expr| bind(&expr, &scope)).unwrap_err();
    (finding.span.start, finding.message)
}

#[test]
fn what_only_a_statement_may_use_is_refused_by_name_where_it_stands() {
    for (text, at, message) in [
        ("1 = $p", 4, "a condition cannot use a parameter"),
        ("s = {b: 1}", 4, "a condition cannot use a map"),
        ("1 = n.a", 4, "a condition cannot use `.`"),
        ("1 = ns[0]", 4, "a condition cannot use an index into a list"),
        ("ns = ns[0..1]", 5, "a condition cannot use a slice of a list"),
        ("s:Person", 0, "a condition cannot use a label"),
        ("1 = count(*)", 4, "a condition cannot use `count(*)`"),
        ("size(DISTINCT ns) = 1", 0, "a condition cannot use DISTINCT"),
    ] {
        assert_eq!(refusal(text), (at, message.to_owned()), "{text}");
    }
}

fn decimal(unscaled: i128) -> Value {
    Value::Decimal { unscaled, scale: 2 }
}

fn strings(items: &[&str]) -> Value {
    Value::List(items.iter().map(|item| Value::String((*item).to_owned())).collect())
}

#[test]
fn constants_have_the_truth_values_of_open_cypher() {
    for (expression, expected) in [
        ("true AND null", None),
        ("false AND null", Some(false)),
        ("null AND false", Some(false)),
        ("true OR null", Some(true)),
        ("null OR true", Some(true)),
        ("false OR null", None),
        ("true XOR true", Some(false)),
        ("true XOR null", None),
        ("NOT null", None),
        ("NOT false", Some(true)),
        ("null = null", None),
        ("null <> null", None),
        ("null IS NULL", Some(true)),
        ("1 IS NOT NULL", Some(true)),
        ("1 < 2 < 3", Some(true)),
        ("1 < 3 < 2", Some(false)),
        ("1 < null < 2", None),
        ("3 < 2 < null", Some(false)),
        ("(1 < 2) = true", Some(true)),
        ("1 IN [1, 2]", Some(true)),
        ("3 IN [1, 2]", Some(false)),
        ("3 IN [1, null]", None),
        ("1 IN [1, null]", Some(true)),
        ("null IN [1]", None),
        ("null IN []", Some(false)),
        ("1 IN []", Some(false)),
        ("1 IN null", None),
        ("[1, 2] = [1, 2]", Some(true)),
        ("[1, null] = [1, 2]", None),
        ("[1, null] = [2, 2]", Some(false)),
        ("[1] = [1, null]", Some(false)),
        ("[1] + [2] = [1, 2]", Some(true)),
        ("'abc' STARTS WITH 'ab'", Some(true)),
        ("'abc' ENDS WITH 'ab'", Some(false)),
        ("'abc' CONTAINS 'b'", Some(true)),
        ("'abc' CONTAINS null", None),
        ("'a' < 'b'", Some(true)),
        ("'a' + 'b' = 'ab'", Some(true)),
        ("false < true", Some(true)),
        ("7 / 2 = 3", Some(true)),
        ("-7 / 2 = -3", Some(true)),
        ("-7 % 3 = -1", Some(true)),
        ("7 / 2.0 = 3.5", Some(true)),
        ("2 ^ 3 = 8", Some(true)),
        ("2 ^ -1 = 0.5", Some(true)),
        ("1 + 2 * 3 = 7", Some(true)),
        ("-(-3) = +3", Some(true)),
        ("0x10 = 16 AND 0o10 = 8", Some(true)),
        ("NaN = NaN", Some(false)),
        ("NaN <> NaN", Some(true)),
        ("NaN < 1", Some(false)),
        ("1 >= NaN", Some(false)),
        ("NaN IN [NaN]", Some(false)),
        ("Infinity > 1e308", Some(true)),
        ("1 / 0.0 = Infinity", Some(true)),
        ("1 = 1.0", Some(true)),
        ("size('häß🦀') = 4", Some(true)),
        ("size([1, 2]) = 2", Some(true)),
        ("size(null) = 2", None),
        ("abs(-3) = 3 AND abs(-1.5) = 1.5", Some(true)),
        ("toLower('AbC') = 'abc' AND toUpper('ß') = 'SS'", Some(true)),
        ("coalesce(null, 2, 3) = 2", Some(true)),
        ("coalesce(null) IS NULL", Some(true)),
        ("CASE WHEN null THEN false WHEN true THEN true END", Some(true)),
        ("CASE WHEN false THEN true END", None),
        ("CASE 2 WHEN 1, 2 THEN 'x' ELSE 'y' END = 'x'", Some(true)),
        ("CASE null WHEN null THEN false ELSE true END", Some(true)),
        ("date('2024-01-31') < date('2024-02-01')", Some(true)),
        ("datetime('2024-01-31T12:00:00Z') = datetime('2024-01-31T13:00:00+01:00')", Some(true)),
        ("time('09:00:00') <= time('09:00:00')", Some(true)),
    ] {
        assert_eq!(evaluate(expression, &[]), Ok(expected), "{expression}");
    }
}

#[test]
fn what_cannot_be_computed_is_a_fault_and_a_guard_prevents_it() {
    for expression in
        ["1 / 0 = 1", "1 % 0 = 1", "c / 0 > 1", "170141183460469231731687303715884105727 + 1 > 0", "i IN [1 / 0]"]
    {
        let values = [("c", decimal(100)), ("i", Value::Int(1))];
        assert_eq!(evaluate(expression, &values), Err(eval::Fault), "{expression}");
    }
    assert_eq!(evaluate("i <> 0 AND 1 / i > 0", &[("i", Value::Int(0))]), Ok(Some(false)));
    assert_eq!(evaluate("i = 0 OR 1 / i > 0", &[("i", Value::Int(0))]), Ok(Some(true)));
}

#[test]
fn numbers_of_different_types_compare_exactly() {
    let big = i128::from(u64::MAX);
    for (expression, values, expected) in [
        // 2^53 + 1 is no float: rounding would make it equal to 2^53.
        ("i = f", vec![("i", Value::Int((1 << 53) + 1)), ("f", Value::Float(9_007_199_254_740_992.0))], false),
        ("i > f", vec![("i", Value::Int((1 << 53) + 1)), ("f", Value::Float(9_007_199_254_740_992.0))], true),
        ("j > i", vec![("j", Value::Int(big)), ("i", Value::Int(-1))], true),
        ("j < f", vec![("j", Value::Int(big)), ("f", Value::Float(18_446_744_073_709_551_616.0))], true),
        // The float nearest to 0.1 is larger than a tenth.
        ("c < f", vec![("c", decimal(10)), ("f", Value::Float(0.1))], true),
        ("c = f", vec![("c", decimal(25)), ("f", Value::Float(0.25))], true),
        ("c > f", vec![("c", decimal(-10)), ("f", Value::Float(-0.1))], true),
        ("c > f", vec![("c", decimal(0)), ("f", Value::Float(-5e-324))], true),
        ("c < f", vec![("c", decimal(i128::MAX)), ("f", Value::Float(f64::INFINITY))], true),
        ("c > f", vec![("c", decimal(i128::MIN)), ("f", Value::Float(f64::NEG_INFINITY))], true),
        ("c = i", vec![("c", decimal(300)), ("i", Value::Int(3))], true),
        ("c > i", vec![("c", decimal(i128::MAX)), ("i", Value::Int(i128::MAX / 100))], true),
        ("f = 0", vec![("f", Value::Float(-0.0))], true),
    ] {
        assert_eq!(evaluate(expression, &values), Ok(Some(expected)), "{expression} {values:?}");
    }
}

#[test]
fn decimals_are_computed_as_they_are_written() {
    for (expression, expected) in [
        ("c >= 0.1", true),
        ("c = 0.10", true),
        ("c IN [0.1, 5]", true),
        ("c < 0.10000000000000000000000001", true),
        ("c + 0.2 = 0.3", true),
        ("c * 3 = 0.3", true),
        ("-c = -0.1", true),
        ("c % 0.03 = 0.01", true),
        ("c - 0.1 = 0", true),
        ("abs(c - 1) = 0.9", true),
        ("c / 2 = 0.05", true),
        ("coalesce(c, 0.5) = 0.1", true),
        ("CASE c WHEN 0.1 THEN true ELSE false END", true),
    ] {
        assert_eq!(evaluate(expression, &[("c", decimal(10))]), Ok(Some(expected)), "{expression}");
    }
}

#[test]
fn properties_of_every_kind_take_part() {
    let values = [
        ("s", Value::String("x".to_owned())),
        ("t", Value::String("y".to_owned())),
        ("kind", Value::String("a".to_owned())),
        ("d", Value::Date(19_753)),
        ("tm", Value::Time(0)),
        ("at", Value::Timestamp(0)),
        ("tags", strings(&["x", "z"])),
        ("ns", Value::List(vec![Value::Int(1), Value::Null])),
        ("v", Value::Vector(vec![0.5, 1.5])),
        ("u", Value::Uuid([1; 16])),
        ("raw", Value::Blob(vec![1])),
        ("doc", Value::Json("{}".to_owned())),
    ];
    for (expression, expected) in [
        ("s IN tags", Some(true)),
        ("t IN tags", Some(false)),
        ("2 IN ns", None),
        ("kind = 'a' AND kind <> s", Some(true)),
        ("d = date('2024-01-31')", Some(true)),
        ("tm < time('00:00:01')", Some(true)),
        ("at >= datetime('1970-01-01T00:00:00Z')", Some(true)),
        ("size(v) = 2 AND 1.5 IN v", Some(true)),
        ("v = [0.5, 1.5]", Some(true)),
        ("u = u AND raw = raw", Some(true)),
        ("doc IS NOT NULL", Some(true)),
        ("i > 0", None),
        ("b", None),
        ("b OR s = 'x'", Some(true)),
    ] {
        assert_eq!(evaluate(expression, &values), Ok(expected), "{expression}");
    }
}

#[test]
fn a_row_breaks_a_check_that_is_false_or_cannot_be_computed_but_not_one_that_is_null() {
    let ddl = "CREATE NODE TABLE T (id INT64 PRIMARY KEY, a INT64, CHECK (10 / a >= 2))";
    let table = parse_ddl(ddl, &Clock::manual(Timestamp(0), 1)).unwrap().tables.remove(0);
    let check = Check::compile(&table, &table.checks[0]).unwrap();
    assert_eq!(check.expression(), "10 / a >= 2");
    for (a, broken) in [(Value::Int(5), false), (Value::Int(6), true), (Value::Int(0), true), (Value::Null, false)] {
        assert_eq!(check.is_broken_by(&[Value::Int(1), a.clone()]), broken, "{a:?}");
    }
    assert!(!check.is_broken_by(&[]));
}

#[test]
fn a_check_follows_its_properties_when_they_are_renamed_or_moved() {
    let mut table = table();
    let ids = ["i", "j"].map(|name| table.property(name).unwrap().id);
    let check = CheckDef { expression: "i < j".to_owned(), properties: ids.to_vec() };
    table.properties.reverse();
    for property in &mut table.properties {
        property.name = match property.name.as_str() {
            "i" => "j".to_owned(),
            "j" => "i".to_owned(),
            _ => continue,
        };
    }
    let check = Check::compile(&table, &check).unwrap();
    assert!(!check.is_broken_by(&row(&table, &[("j", Value::Int(1)), ("i", Value::Int(2))])));
    assert!(check.is_broken_by(&row(&table, &[("j", Value::Int(3)), ("i", Value::Int(2))])));
}

#[test]
fn a_stored_check_whose_property_is_gone_is_refused() {
    let mut table = table();
    let check = CheckDef { expression: "i < 1".to_owned(), properties: vec![table.property("i").unwrap().id] };
    table.properties.retain(|property| property.name != "i");
    let error = Check::compile(&table, &check).unwrap_err();
    assert!(error.to_string().contains("the property behind `i` is gone"), "{error}");
}

#[test]
fn what_could_never_be_right_is_refused_where_it_stands() {
    for (expression, at, message) in [
        ("i", 0, "a CHECK needs a truth value, and this is an integer"),
        ("i + 1", 0, "a CHECK needs a truth value, and this is an integer"),
        ("agee > 1", 0, "there is no property `agee`"),
        ("i = 's'", 4, "`=` compares an integer with a string: they are never comparable"),
        ("d > '2024-01-31'", 4, "`>` compares a date with a string: they are never comparable"),
        ("i < 1 < 's'", 8, "`<` compares an integer with a string: they are never comparable"),
        ("i AND b", 0, "`AND` needs a truth value, and this is an integer"),
        ("NOT s", 4, "`NOT` needs a truth value, and this is a string"),
        ("s * 2 = 1", 0, "`*` needs a number, and this is a string"),
        ("s + 1 = 's'", 4, "`+` joins a string with an integer: they are never comparable"),
        ("-s = 1", 1, "`-` needs a number, and this is a string"),
        ("i IN 1", 5, "`IN` needs a list, and this is an integer"),
        ("i IN ['a']", 0, "`IN` compares a string with an integer: they are never comparable"),
        ("[1, 'a'] = []", 4, "a list cannot hold an integer with a string: they are never comparable"),
        ("i STARTS WITH 's'", 0, "`STARTS WITH` needs a string, and this is an integer"),
        ("tags < tags", 0, "`<` needs an order, and a list has none"),
        ("u < u", 0, "`<` needs an order, and a UUID has none"),
        ("doc = doc", 0, "JSON documents are not compared"),
        ("doc IN [doc]", 0, "JSON documents are not compared"),
        ("size(i) = 1", 5, "`size` needs a string or a list, and this is an integer"),
        ("abs(s) = 1", 4, "`abs` needs a number, and this is a string"),
        ("toLower(i) = 's'", 8, "`toLower` needs a string, and this is an integer"),
        ("abs(1, 2) = 1", 0, "`abs` takes one argument"),
        ("coalesce() = 1", 0, "`coalesce` needs an argument"),
        ("rand() > 1", 0, "a condition cannot use the function `rand`"),
        ("d = date(s)", 9, "`date` takes a text between quotes"),
        ("d = date('2024-02-30')", 9, "'2024-02-30' is not a date"),
        ("CASE i WHEN 's' THEN true END", 12, "`CASE` compares an integer with a string: they are never comparable"),
        ("CASE WHEN i THEN true END", 10, "`WHEN` needs a truth value, and this is an integer"),
        ("CASE WHEN b THEN 1 ELSE 's' END = 1", 24, "`CASE` gives an integer with a string: they are never comparable"),
    ] {
        assert_eq!(refusal(expression), (at, message.to_owned()), "{expression}");
    }
}
