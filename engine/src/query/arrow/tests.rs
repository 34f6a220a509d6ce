//! Values that go into arrays come out again.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::query::testing::{BEING, KNOWS, PERSON, SPAN, identical, knows, layouts, node};
use crate::query::value::CypherValue;
use crate::value::Value;
use crate::value::strategies::{any_type, nullable};

fn round_trip(values: &[CypherValue], kind: &Kind) -> Vec<CypherValue> {
    let layouts = layouts();
    let array = encode(values, kind, &layouts).unwrap();
    assert_eq!(*array.data_type(), layouts.data_type(kind));
    let reader = Reader::new(array.as_ref(), kind, &layouts).unwrap();
    (0..values.len()).map(|row| reader.value(row)).collect()
}

/// A kind, at most twice a list or a map of others, with values of it.
fn column() -> impl Strategy<Value = (Kind, Vec<CypherValue>)> {
    any_type().prop_flat_map(|ty| {
        let kind = Kind::of(&ty);
        let scalar = nullable(&ty).prop_map(CypherValue::from);
        let list = vec(scalar.clone(), 0..4).prop_map(CypherValue::List);
        let map = scalar.clone().prop_map(|value| CypherValue::Map([("k".to_owned(), value)].into()));
        prop_oneof![
            4 => vec(scalar, 0..12).prop_map({ let kind = kind.clone(); move |values| (kind.clone(), values) }),
            1 => vec(prop_oneof![4 => list, 1 => Just(CypherValue::NULL)], 0..6).prop_map({
                let kind = Kind::List(Box::new(kind.clone()));
                move |values| (kind.clone(), values)
            }),
            1 => vec(prop_oneof![4 => map, 1 => Just(CypherValue::NULL)], 0..6).prop_map({
                let kind = Kind::Map(vec![("k".to_owned(), kind)]);
                move |values| (kind.clone(), values)
            }),
        ]
    })
}

proptest! {
    #[test]
    fn values_survive((kind, values) in column()) {
        let read = round_trip(&values, &kind);
        for (value, read) in values.iter().zip(&read) {
            prop_assert!(identical(value, read), "{value:?} became {read:?}");
        }
    }
}

#[test]
fn nodes_and_edges_survive_with_the_null_beside_them() {
    let beings =
        [node("Person", "a", Some(1)), node("Robot", "a", Some(2)), CypherValue::NULL, node("Person", "b", None)];
    assert_eq!(round_trip(&beings, &Kind::Entity(BEING)), beings);
    let edges = [CypherValue::NULL, knows("a", "b")];
    assert_eq!(round_trip(&edges, &Kind::Entity(KNOWS)), edges);
    let lists = [CypherValue::List(beings.to_vec()), CypherValue::List(vec![]), CypherValue::NULL];
    assert_eq!(round_trip(&lists, &Kind::List(Box::new(Kind::Entity(BEING)))), lists);
}

#[test]
fn numbers_are_brought_to_the_kind_or_refused() {
    let layouts = layouts();
    let int = |value: i128| CypherValue::Scalar(Value::Int(value));
    assert_eq!(round_trip(&[int(2)], &Kind::Float), [CypherValue::Scalar(Value::Float(2.0))]);
    let refused = |value, kind| encode(&[value], &kind, &layouts).unwrap_err().at(SPAN);
    assert_eq!(refused(int(i64::MAX.into()), Kind::Decimal { precision: 5, scale: 0 }).code, "number-overflow");
    let fault = refused(int(i128::from(i64::MAX) + 1), Kind::Integer);
    assert_eq!(fault.code, "number-overflow");
    assert_eq!(fault.message, "9223372036854775808 does not fit an integer of 64 bits");
    assert_eq!(refused(int(-1), Kind::Unsigned).code, "number-overflow");
    assert_eq!(refused(int(1), Kind::String).code, "wrong-type");
    assert_eq!(refused(CypherValue::List(vec![]), Kind::Vector(2)).message, "a list of 0 is not a list of 2 numbers");
    assert_eq!(refused(node("Robot", "a", None), Kind::Entity(PERSON)).code, "wrong-type");
}

#[test]
fn a_map_lacks_no_key() {
    let kind = Kind::Map(vec![("a".to_owned(), Kind::Integer), ("b".to_owned(), Kind::String)]);
    let one = CypherValue::Map([("a".to_owned(), CypherValue::Scalar(Value::Int(1)))].into());
    let CypherValue::Map(read) = round_trip(&[one], &kind).remove(0) else { panic!("no map") };
    assert_eq!(read.get("b"), Some(&CypherValue::NULL));
    assert_eq!(
        round_trip(&[CypherValue::Map([].into()), CypherValue::NULL], &Kind::Map(vec![])),
        [CypherValue::Map([].into()), CypherValue::NULL]
    );
}

#[test]
fn an_array_of_another_kind_is_told() {
    let layouts = layouts();
    let array = encode(&[CypherValue::NULL], &Kind::Integer, &layouts).unwrap();
    for kind in [Kind::String, Kind::List(Box::new(Kind::Integer)), Kind::Map(vec![]), Kind::Entity(PERSON)] {
        assert!(Reader::new(array.as_ref(), &kind, &layouts).is_err(), "{kind:?}");
    }
}
