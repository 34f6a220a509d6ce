//! What expressions mean, by example.

use std::borrow::Cow;

use super::*;
use crate::query::kind::Kind;
use crate::query::testing::{
    PERSON, SPAN, binary, call, case, catalog, column, compare, constant, context, decimal, expr, float, int, knows,
    list, node, null, property, text, truth,
};
use crate::syntax::CompareOp;

struct One(CypherValue);

impl Row for One {
    fn value(&self, _: VarId) -> Cow<'_, CypherValue> {
        Cow::Borrowed(&self.0)
    }
}

fn value(expr: &Expr) -> CypherValue {
    evaluate(expr, &NoRow, &context()).unwrap()
}

fn code(expr: &Expr) -> &'static str {
    let fault = evaluate(expr, &NoRow, &context()).unwrap_err();
    assert_eq!(fault.span, SPAN);
    fault.code
}

fn known(value: &CypherValue) -> Option<bool> {
    match value {
        CypherValue::Scalar(Value::Bool(value)) => Some(*value),
        CypherValue::Scalar(Value::Null) => None,
        other => panic!("{other:?} is no truth value"),
    }
}

fn scalar(value: Value) -> CypherValue {
    CypherValue::Scalar(value)
}

fn words(words: &[&str]) -> CypherValue {
    CypherValue::List(words.iter().map(|word| scalar(Value::String((*word).to_owned()))).collect())
}

fn ints(numbers: &[i128]) -> CypherValue {
    CypherValue::List(numbers.iter().map(|number| scalar(Value::Int(*number))).collect())
}

fn add(left: Expr, right: Expr) -> Expr {
    binary(left, BinaryOp::Add, right, Kind::Integer)
}

fn by_zero() -> Expr {
    compare(binary(int(1), BinaryOp::Divide, int(0), Kind::Integer), CompareOp::Greater, int(1))
}

#[test]
fn truth_has_three_values() {
    let all = [Some(true), Some(false), None];
    for left in all {
        for right in all {
            let of = |operator| known(&value(&binary(truth(left), operator, truth(right), Kind::Bool)));
            let and = if left == Some(false) || right == Some(false) {
                Some(false)
            } else {
                left.zip(right).map(|(left, right)| left && right)
            };
            let or = if left == Some(true) || right == Some(true) {
                Some(true)
            } else {
                left.zip(right).map(|(left, right)| left || right)
            };
            assert_eq!(of(BinaryOp::And), and, "{left:?} AND {right:?}");
            assert_eq!(of(BinaryOp::Or), or, "{left:?} OR {right:?}");
            assert_eq!(of(BinaryOp::Xor), left.zip(right).map(|(left, right)| left != right));
        }
    }
}

#[test]
fn what_is_decided_leaves_the_rest_alone() {
    let is = |left, operator| known(&value(&binary(truth(left), operator, by_zero(), Kind::Bool)));
    assert_eq!(is(Some(false), BinaryOp::And), Some(false));
    assert_eq!(is(Some(true), BinaryOp::Or), Some(true));
    assert_eq!(code(&binary(truth(None), BinaryOp::And, by_zero(), Kind::Bool)), "division-by-zero");
    let chosen = case(vec![(vec![truth(Some(false))], by_zero())], Some(truth(Some(true))), Kind::Bool);
    assert_eq!(known(&value(&chosen)), Some(true));
    let first = call(Function::Coalesce, vec![null(), truth(Some(true)), by_zero()], Kind::Bool);
    assert_eq!(known(&value(&first)), Some(true));
    let chain = ExprNode::Compare(
        Box::new(int(2)),
        vec![(CompareOp::Less, int(1)), (CompareOp::Less, binary(int(1), BinaryOp::Divide, int(0), Kind::Integer))],
    );
    assert_eq!(known(&value(&expr(chain, Kind::Bool))), Some(false));
}

#[test]
fn equality_looks_into_lists_and_maps_and_null_leaves_it_open() {
    let equal = |left, right| known(&value(&compare(left, CompareOp::Equal, right)));
    let of = |items| list(items, Kind::Integer);
    let map = |entries: Vec<(&str, Expr)>| {
        let kind = Kind::Map(entries.iter().map(|(name, value)| ((*name).to_owned(), value.kind.clone())).collect());
        expr(ExprNode::Map(entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()), kind)
    };
    assert_eq!(equal(of(vec![int(1), null()]), of(vec![int(1), null()])), None);
    assert_eq!(equal(of(vec![int(1), null()]), of(vec![int(2), null()])), Some(false));
    assert_eq!(equal(of(vec![int(1)]), of(vec![int(1), null()])), Some(false));
    assert_eq!(equal(of(vec![]), of(vec![])), Some(true));
    assert_eq!(equal(map(vec![("a", int(1))]), map(vec![("a", float(1.0))])), Some(true));
    assert_eq!(equal(map(vec![("a", int(1))]), map(vec![("b", int(1))])), Some(false));
    assert_eq!(equal(map(vec![("a", null())]), map(vec![("a", null())])), None);
    assert_eq!(equal(float(f64::NAN), float(f64::NAN)), Some(false));
    assert_eq!(equal(decimal(10, 3, 1), int(1)), Some(true));
    assert_eq!(equal(text("1"), int(1)), Some(false));
}

#[test]
fn nodes_and_edges_are_equal_if_they_are_the_same_row() {
    let entity = |value: CypherValue| constant(value, Kind::Entity(PERSON));
    let equal = |left, right| known(&value(&compare(entity(left), CompareOp::Equal, entity(right))));
    assert_eq!(equal(node("Person", "a", Some(1)), node("Person", "a", None)), Some(true), "whatever was read of it");
    assert_eq!(equal(node("Person", "a", None), node("Person", "b", None)), Some(false));
    assert_eq!(equal(node("Person", "a", None), node("Robot", "a", None)), Some(false));
    assert_eq!(equal(knows("a", "b"), knows("a", "b")), Some(true));
    assert_eq!(equal(knows("a", "b"), knows("b", "a")), Some(false));
}

#[test]
fn in_is_null_where_an_element_may_be_equal() {
    let is_in = |element, items| known(&value(&binary(element, BinaryOp::In, list(items, Kind::Integer), Kind::Bool)));
    assert_eq!(is_in(int(1), vec![int(2), int(1), null()]), Some(true));
    assert_eq!(is_in(int(1), vec![int(2), null()]), None);
    assert_eq!(is_in(int(1), vec![int(2)]), Some(false));
    assert_eq!(is_in(null(), vec![int(2)]), None);
    assert_eq!(is_in(null(), vec![]), Some(false));
    assert_eq!(known(&value(&binary(int(1), BinaryOp::In, null(), Kind::Bool))), None);
}

#[test]
fn integers_have_64_bits() {
    assert_eq!(value(&add(int(i64::MAX.into()), int(-1))), scalar(Value::Int(i128::from(i64::MAX) - 1)));
    assert_eq!(code(&add(int(i64::MAX.into()), int(1))), "number-overflow");
    let negated = |operand| expr(ExprNode::Unary(UnaryOp::Minus, Box::new(operand)), Kind::Integer);
    assert_eq!(code(&negated(int(i64::MIN.into()))), "number-overflow");
    assert_eq!(code(&call(Function::Abs, vec![int(i64::MIN.into())], Kind::Integer)), "number-overflow");
    for operator in [BinaryOp::Divide, BinaryOp::Remainder] {
        assert_eq!(code(&binary(int(1), operator, int(0), Kind::Integer)), "division-by-zero");
    }
    assert_eq!(value(&binary(int(-7), BinaryOp::Divide, int(2), Kind::Integer)), scalar(Value::Int(-3)));
    assert_eq!(value(&binary(float(1.0), BinaryOp::Divide, int(0), Kind::Float)), scalar(Value::Float(f64::INFINITY)));
    assert_eq!(value(&add(int(1), null())), CypherValue::NULL);
}

#[test]
fn decimals_are_exact_and_kept_in_the_digits_of_their_kind() {
    let kind = Kind::Decimal { precision: 4, scale: 2 };
    let sum = |left, right| binary(left, BinaryOp::Add, right, kind.clone());
    assert_eq!(value(&sum(decimal(1, 3, 1), int(2))), scalar(Value::Decimal { unscaled: 210, scale: 2 }));
    assert_eq!(code(&sum(decimal(9_999, 4, 2), decimal(1, 3, 2))), "number-overflow");
    assert_eq!(code(&sum(decimal(1, 4, 3), int(0))), "number-overflow", "no digit is dropped");
}

#[test]
fn a_message_shows_what_was_computed() {
    let fault = evaluate(&add(int(i64::MAX.into()), int(1)), &NoRow, &context()).unwrap_err();
    assert_eq!(fault.message, "9223372036854775807 + 1 has too many digits");
    assert!(fault.help.unwrap().contains("toFloat"));
}

#[test]
fn lists_are_joined_and_lengthened() {
    let joined = |left, right| value(&binary(left, BinaryOp::Add, right, Kind::List(Box::new(Kind::Integer))));
    let of = |items| list(items, Kind::Integer);
    assert_eq!(joined(of(vec![int(1)]), of(vec![int(2)])), ints(&[1, 2]));
    assert_eq!(joined(of(vec![int(1)]), int(2)), ints(&[1, 2]));
    assert_eq!(joined(int(0), of(vec![int(1)])), ints(&[0, 1]));
    assert_eq!(joined(of(vec![int(1)]), null()), CypherValue::NULL);
}

#[test]
fn a_list_brings_its_elements_to_one_kind() {
    let mixed = list(vec![int(1), float(2.5)], Kind::Float);
    assert_eq!(value(&mixed), CypherValue::List(vec![scalar(Value::Float(1.0)), scalar(Value::Float(2.5))]));
    let large = list(vec![constant(Value::Int(u64::MAX.into()), Kind::Unsigned)], Kind::Integer);
    assert_eq!(code(&large), "number-overflow");
}

#[test]
fn what_is_converted_is_of_the_wanted_kind_or_a_fault() {
    let converted = |operand, kind| expr(ExprNode::Convert(Box::new(operand)), kind);
    assert_eq!(value(&converted(int(1), Kind::Float)), scalar(Value::Float(1.0)));
    assert_eq!(value(&converted(null(), Kind::Uuid)), CypherValue::NULL);
    let id = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6";
    let CypherValue::Scalar(Value::Uuid(bytes)) = value(&converted(text(id), Kind::Uuid)) else { panic!("no UUID") };
    assert_eq!(bytes[..4], [0xf8, 0x1d, 0x4f, 0xae]);
    assert_eq!(code(&converted(text("f81d4fae"), Kind::Uuid)), "wrong-type");
    let kind = Kind::Map(vec![("a".to_owned(), Kind::Float), ("b".to_owned(), Kind::String)]);
    let map = expr(ExprNode::Map(vec![("a".to_owned(), int(1))]), Kind::Map(vec![("a".to_owned(), Kind::Integer)]));
    let whole = [("a".to_owned(), scalar(Value::Float(1.0))), ("b".to_owned(), CypherValue::NULL)];
    assert_eq!(value(&converted(map, kind)), CypherValue::Map(whole.into()));
}

#[test]
fn indexes_count_from_either_end() {
    let of = || list(vec![int(10), int(11), int(12)], Kind::Integer);
    let at = |index| value(&expr(ExprNode::Index { list: Box::new(of()), index: Box::new(int(index)) }, Kind::Integer));
    assert_eq!(at(0), scalar(Value::Int(10)));
    assert_eq!(at(-1), scalar(Value::Int(12)));
    for beyond in [3, -4, i64::MAX.into()] {
        assert_eq!(at(beyond), CypherValue::NULL);
    }
    let part = |from: Option<i128>, to: Option<i128>| {
        let bound = |bound: Option<i128>| bound.map(|bound| Box::new(int(bound)));
        let node = ExprNode::SubList { list: Box::new(of()), from: bound(from), to: bound(to) };
        value(&expr(node, Kind::List(Box::new(Kind::Integer))))
    };
    assert_eq!(part(Some(1), None), ints(&[11, 12]));
    assert_eq!(part(None, Some(-1)), ints(&[10, 11]));
    assert_eq!(part(Some(-9), Some(9)), ints(&[10, 11, 12]));
    assert_eq!(part(Some(2), Some(1)), ints(&[]));
}

#[test]
fn ranges_include_both_ends_and_are_bounded() {
    let range = |arguments: &[i128]| {
        call(Function::Range, arguments.iter().map(|n| int(*n)).collect(), Kind::List(Box::new(Kind::Integer)))
    };
    assert_eq!(value(&range(&[1, 3])), ints(&[1, 2, 3]));
    assert_eq!(value(&range(&[3, 1, -2])), ints(&[3, 1]));
    assert_eq!(value(&range(&[3, 1])), ints(&[]));
    assert_eq!(value(&range(&[1, 1, -1])), ints(&[1]));
    assert_eq!(value(&range(&[0, 9, 4])), ints(&[0, 4, 8]));
    assert_eq!(code(&range(&[1, 2, 0])), "invalid-argument");
    assert_eq!(code(&range(&[i64::MIN.into(), i64::MAX.into()])), "invalid-argument");
}

#[test]
fn strings_are_made_of_characters() {
    let of = |function, arguments: Vec<Expr>| value(&call(function, arguments, Kind::String));
    let string = |text: &str| scalar(Value::String(text.to_owned()));
    assert_eq!(of(Function::Substring, vec![text("größe"), int(2), int(2)]), string("öß"));
    assert_eq!(of(Function::Substring, vec![text("abc"), int(9)]), string(""));
    assert_eq!(of(Function::Left, vec![text("öäü"), int(2)]), string("öä"));
    assert_eq!(of(Function::Right, vec![text("öäü"), int(2)]), string("äü"));
    assert_eq!(of(Function::Right, vec![text("a"), int(2)]), string("a"));
    assert_eq!(of(Function::Reverse, vec![text("öa")]), string("aö"));
    assert_eq!(of(Function::Replace, vec![text("a-b-c"), text("-"), text("")]), string("abc"));
    assert_eq!(of(Function::ToUpper, vec![text("straße")]), string("STRASSE"));
    assert_eq!(of(Function::Trim, vec![text(" a ")]), string("a"));
    assert_eq!(of(Function::Left, vec![text("a"), null()]), CypherValue::NULL);
    assert_eq!(code(&call(Function::Left, vec![text("a"), int(-1)], Kind::String)), "invalid-argument");
    let split = |by| value(&call(Function::Split, vec![text("a,b"), text(by)], Kind::List(Box::new(Kind::String))));
    assert_eq!(split(","), words(&["a", "b"]));
    assert_eq!(split(""), words(&["a", ",", "b"]));
    assert_eq!(value(&call(Function::Size, vec![text("öäü")], Kind::Integer)), scalar(Value::Int(3)));
}

#[test]
fn texts_become_numbers_or_null() {
    let integer = |text_: &str| value(&call(Function::ToInteger, vec![text(text_)], Kind::Integer));
    assert_eq!(integer(" 42 "), scalar(Value::Int(42)));
    assert_eq!(integer("2.9"), scalar(Value::Int(2)));
    assert_eq!(integer("-1e3"), scalar(Value::Int(-1000)));
    assert_eq!(integer("9223372036854775807"), scalar(Value::Int(i64::MAX.into())));
    for no_number in ["", "foo", "inf", "NaN", "1_0", "0x1"] {
        assert_eq!(integer(no_number), CypherValue::NULL, "{no_number}");
    }
    assert_eq!(code(&call(Function::ToInteger, vec![text("9223372036854775808")], Kind::Integer)), "number-overflow");
    assert_eq!(code(&call(Function::ToInteger, vec![float(1e30)], Kind::Integer)), "number-overflow");
    let float = |text_: &str| value(&call(Function::ToFloat, vec![text(text_)], Kind::Float));
    assert_eq!(float("1.5"), scalar(Value::Float(1.5)));
    assert_eq!(float("-Infinity"), scalar(Value::Float(f64::NEG_INFINITY)));
    assert_eq!(float("infinity"), CypherValue::NULL);
}

#[test]
fn all_scalars_have_a_text() {
    let shown = |expr: Expr| value(&call(Function::ToString, vec![expr], Kind::String));
    for (expr, shown_as) in [
        (float(1.0), "1.0"),
        (float(f64::NAN), "NaN"),
        (int(i64::MIN.into()), "-9223372036854775808"),
        (decimal(150, 5, 2), "1.50"),
        (truth(Some(true)), "true"),
        (constant(Value::Date(0), Kind::Date), "1970-01-01"),
        (constant(Value::Time(1), Kind::Time), "00:00:00.000001"),
        (text("\"quoted\""), "\"quoted\""),
    ] {
        assert_eq!(shown(expr), scalar(Value::String(shown_as.to_owned())));
    }
}

#[test]
fn rounding_goes_by_the_written_digits_and_away_from_zero() {
    let round =
        |number: f64, digits: i128| value(&call(Function::Round, vec![float(number), int(digits)], Kind::Float));
    for (number, digits, rounded) in [
        (2.5, 0, 3.0),
        (-2.5, 0, -3.0),
        (0.49, 0, 0.0),
        (2.675, 2, 2.68),
        (-1.005, 2, -1.01),
        (9.99, 1, 10.0),
        (1e300, 3, 1e300),
        (0.1, 30, 0.1),
        (5e-324, 2, 0.0),
    ] {
        assert_eq!(round(number, digits), scalar(Value::Float(rounded)), "{number}");
    }
    assert_eq!(code(&call(Function::Round, vec![float(1.0), int(-1)], Kind::Float)), "invalid-argument");
    let exact = |unscaled, digits| {
        let kind = Kind::Decimal { precision: 38, scale: 1 };
        value(&call(Function::Round, vec![decimal(unscaled, 5, 3), int(digits)], kind))
    };
    assert_eq!(exact(2_450, 1), scalar(Value::Decimal { unscaled: 25, scale: 1 }));
    assert_eq!(exact(-2_449, 1), scalar(Value::Decimal { unscaled: -24, scale: 1 }));
    assert_eq!(exact(2_500, 0), scalar(Value::Decimal { unscaled: 30, scale: 1 }));
}

#[test]
fn numbers_have_signs_floors_and_roots() {
    let of = |function, argument: Expr, kind| value(&call(function, vec![argument], kind));
    assert_eq!(of(Function::Sign, float(-0.5), Kind::Integer), scalar(Value::Int(-1)));
    assert_eq!(of(Function::Sign, decimal(3, 2, 1), Kind::Integer), scalar(Value::Int(1)));
    assert_eq!(of(Function::Ceil, float(1.2), Kind::Float), scalar(Value::Float(2.0)));
    assert_eq!(of(Function::Floor, int(3), Kind::Float), scalar(Value::Float(3.0)), "of the kind that is promised");
    let whole = Kind::Decimal { precision: 10, scale: 0 };
    assert_eq!(
        of(Function::Floor, decimal(-12, 3, 1), whole.clone()),
        scalar(Value::Decimal { unscaled: -2, scale: 0 })
    );
    assert_eq!(of(Function::Ceil, decimal(-12, 3, 1), whole), scalar(Value::Decimal { unscaled: -1, scale: 0 }));
    assert_eq!(of(Function::Sqrt, int(9), Kind::Float), scalar(Value::Float(3.0)));
}

#[test]
fn times_come_of_texts_and_of_the_request() {
    let of = |function, arguments, kind| value(&call(function, arguments, kind));
    let now = || call(Function::DateTime, vec![], Kind::Timestamp);
    assert_eq!(of(Function::Date, vec![text("2024-01-31")], Kind::Date), scalar(Value::Date(19_753)));
    assert_eq!(value(&now()), scalar(Value::Timestamp(1_706_704_496_123_456)));
    assert_eq!(of(Function::Date, vec![], Kind::Date), scalar(Value::Date(19_753)));
    assert_eq!(of(Function::Date, vec![now()], Kind::Date), scalar(Value::Date(19_753)));
    assert_eq!(of(Function::Time, vec![now()], Kind::Time), of(Function::Time, vec![], Kind::Time));
    let fault = evaluate(&call(Function::Date, vec![text("today")], Kind::Date), &NoRow, &context()).unwrap_err();
    assert_eq!((fault.code, fault.help.as_deref()), ("invalid-argument", Some("write date('2024-01-31')")));
}

#[test]
fn each_draw_is_another_uuid_and_a_request_repeats_its_own() {
    let draw = call(Function::RandomUuid, vec![], Kind::Uuid);
    let (first, again) = (context(), context());
    let two = |cx: &EvalContext| [evaluate(&draw, &NoRow, cx).unwrap(), evaluate(&draw, &NoRow, cx).unwrap()];
    let [a, b] = two(&first);
    assert_ne!(a, b);
    assert_eq!([a.clone(), b], two(&again));
    let other = EvalContext::new(catalog().into(), crate::clock::Timestamp(0), 43);
    assert_ne!(evaluate(&draw, &NoRow, &other).unwrap(), a);
    let CypherValue::Scalar(Value::Uuid(bytes)) = a else { panic!("{a:?}") };
    assert_eq!(bytes[6] >> 4, 4);
}

#[test]
fn entities_tell_their_properties_and_labels() {
    let cx = context();
    let person = Kind::Entity(PERSON);
    let row = One(node("Person", "a", Some(30)));
    let of = |expr: &Expr, row: &One| evaluate(expr, row, &cx).unwrap();
    let age = property(column(0, person.clone()), "age", Kind::Integer);
    assert_eq!(of(&age, &row), scalar(Value::Int(30)));
    assert_eq!(of(&age, &One(node("Robot", "a", None))), CypherValue::NULL);
    assert_eq!(of(&age, &One(CypherValue::NULL)), CypherValue::NULL);
    let as_float = property(column(0, person.clone()), "age", Kind::Float);
    assert_eq!(of(&as_float, &row), scalar(Value::Float(30.0)));
    let labels = call(Function::Labels, vec![column(0, person.clone())], Kind::List(Box::new(Kind::String)));
    assert_eq!(of(&labels, &row), words(&["Person"]));
    let ty = call(Function::Type, vec![column(0, person.clone())], Kind::String);
    assert_eq!(of(&ty, &One(knows("a", "b"))), scalar(Value::String("Knows".to_owned())));
    let keys = call(Function::Keys, vec![column(0, person.clone())], Kind::List(Box::new(Kind::String)));
    assert_eq!(of(&keys, &row), words(&["id", "age"]));
    let robot = catalog().table("Robot").unwrap().id;
    let is_robot = ExprNode::IsOf { operand: Box::new(column(0, person)), tables: vec![robot] };
    assert_eq!(known(&of(&expr(is_robot.clone(), Kind::Bool), &row)), Some(false));
    assert_eq!(known(&of(&expr(is_robot, Kind::Bool), &One(CypherValue::NULL))), None);
}

mod order {
    use proptest::prelude::*;

    use super::*;
    use crate::query::eval::order::{float_of_rank, float_rank};
    use crate::value::strategies::two_values;

    fn key(value: Value) -> Vec<u8> {
        order_key(&CypherValue::from(value), &context())
    }

    #[test]
    fn floats_are_ordered_with_one_zero_and_nan_at_the_end() {
        let ordered = [f64::NEG_INFINITY, -1.5, -5e-324, 0.0, 5e-324, 1.5, f64::INFINITY, f64::NAN];
        for (i, a) in ordered.iter().enumerate() {
            for (j, b) in ordered.iter().enumerate() {
                assert_eq!(float_rank(*a).cmp(&float_rank(*b)), i.cmp(&j), "{a} {b}");
                assert_eq!(key(Value::Float(*a)).cmp(&key(Value::Float(*b))), i.cmp(&j), "{a} {b}");
            }
            assert_eq!(float_of_rank(float_rank(*a)).to_bits(), a.to_bits());
        }
        assert_eq!(float_rank(-0.0), float_rank(0.0));
        assert_eq!(float_rank(-f64::NAN), float_rank(f64::NAN));
    }

    #[test]
    fn null_comes_after_all_values_and_a_beginning_before_the_whole() {
        let list = |items: Vec<Value>| key(Value::List(items));
        assert!(list(vec![]) < list(vec![Value::Int(i64::MIN.into())]));
        assert!(list(vec![Value::Int(1)]) < list(vec![Value::Int(1), Value::Null]));
        assert!(list(vec![Value::Int(i64::MAX.into())]) < list(vec![Value::Null]));
        let string = |text: &str| key(Value::String(text.to_owned()));
        assert!(
            string("a") < string("a\0") && string("a\0") < string("a\0\0") && string("a\0\u{ff}") < string("a\u{1}")
        );
    }

    proptest! {
        /// The store's order is the same but for −0.0, which it tells apart, and for nulls, which it puts first.
        #[test]
        fn keys_are_ordered_as_values_are((_, a, b) in two_values()) {
            fn strange(value: &Value) -> bool {
                match value {
                    Value::Null => true,
                    Value::Float(value) => *value == 0.0,
                    Value::Vector(values) => values.contains(&0.0),
                    Value::List(values) => values.iter().any(strange),
                    _ => false,
                }
            }
            prop_assume!(!strange(&a) && !strange(&b));
            prop_assert_eq!(key(a.clone()).cmp(&key(b.clone())), a.cmp_same_type(&b));
        }
    }
}
