//! Tests of row hashes and tuple digests.

use proptest::prelude::*;

use super::*;
use crate::value::strategies::{two_values, typed_value};

type Property = (PropertyId, Value, Type, Option<Value>);

fn property(number: u8) -> PropertyId {
    PropertyId::from_bytes([number; 16])
}

fn row(ends: &[Value], properties: &[Property]) -> Digest {
    hash_row(
        ends.iter().map(|end| (end, &Type::String)),
        properties.iter().map(|(id, value, ty, fill)| (*id, value, ty, fill.as_ref())),
    )
}

fn tuple(values: &[Value]) -> Digest {
    digest_values(values.iter().map(|value| (value, &Type::String)))
}

fn text(text: &str) -> Value {
    Value::String(text.into())
}

fn int(number: u8, value: i128) -> Property {
    (property(number), Value::Int(value), Type::Int64, None)
}

#[test]
fn the_digests_are_golden() {
    assert_eq!(tuple(&[]).to_string(), "8a93da2d59ec41454080391dc3770be9");
    assert_eq!(tuple(&[Value::Int(7)]).to_string(), "2012fd6f6d74bbc762e4cfe7941e35bb");
    assert_eq!(tuple(&[text("a"), Value::Null]).to_string(), "c9866459875ea2b5a382a9689c4245d2");
    assert_eq!(row(&[], &[]).to_string(), "e519d5d470f90aeb3fcaf5d8e0a2d80d");
    assert_eq!(row(&[text("a"), text("b")], &[int(1, 7), int(2, -1)]).to_string(), "c28bfb4cfbfa5c944ec847678e026030");
    let large = Value::Vector((0..3_072_u16).map(f32::from).collect());
    assert_eq!(
        row(&[], &[(property(1), large, Type::Vector(3_072), None)]).to_string(),
        "f9a5e2b77641bad1cfa4c2796da89a48"
    );
}

#[test]
fn a_row_hash_is_no_tuple_digest() {
    assert_ne!(row(&[], &[]), tuple(&[]));
}

#[test]
fn the_end_of_an_edge_has_the_digest_of_the_node_key() {
    let value = Value::Int(7);
    assert_eq!(digest_values([(&value, &Type::Int32)]), digest_values([(&value, &Type::Int64)]));
    let label = text("a");
    let types = Type::Enum(vec!["a".into()]);
    assert_eq!(digest_values([(&label, &types)]), digest_values([(&label, &Type::String)]));
}

#[test]
fn tuples_do_not_run_into_each_other() {
    assert_ne!(tuple(&[text("ab"), text("c")]), tuple(&[text("a"), text("bc")]));
    assert_ne!(tuple(&[text("a")]), tuple(&[text("a"), Value::Null]));
    assert_ne!(tuple(&[text("a"), text("b")]), tuple(&[text("b"), text("a")]));
    assert_ne!(tuple(&[text(" x")]), tuple(&[text("x")]));
}

#[test]
fn ends_always_count() {
    let properties = [int(1, 1)];
    assert_ne!(row(&[text("a"), text("b")], &properties), row(&[text("b"), text("a")], &properties));
    assert_ne!(row(&[text("a"), Value::Null], &properties), row(&[text("a")], &properties));
    assert_ne!(row(&[text("a")], &properties), row(&[], &properties));
}

#[test]
fn nulls_and_fill_values_do_not_count() {
    let plain = row(&[], &[int(1, 1)]);
    let null = (property(2), Value::Null, Type::Int64, None);
    assert_eq!(row(&[], &[int(1, 1), null.clone()]), plain);
    let filled = (property(2), Value::Int(9), Type::Int64, Some(Value::Int(9)));
    assert_eq!(row(&[], &[int(1, 1), filled.clone()]), plain);
    let absent = (property(2), Value::Null, Type::Int64, Some(Value::Int(9)));
    assert_eq!(row(&[], &[absent, int(1, 1)]), plain);
    let changed = (property(2), Value::Int(8), Type::Int64, Some(Value::Int(9)));
    assert_eq!(row(&[], &[int(1, 1), changed]), row(&[], &[int(1, 1), int(2, 8)]));
    let nan = (property(2), Value::Float(f64::NAN), Type::Double, Some(Value::Float(-f64::NAN)));
    assert_eq!(row(&[], &[int(1, 1), nan]), plain);
    let zero = (property(2), Value::Float(-0.0), Type::Double, Some(Value::Float(0.0)));
    assert_ne!(row(&[], &[int(1, 1), zero]), plain);
}

#[test]
fn the_same_value_of_another_property_is_another_row() {
    assert_ne!(row(&[], &[int(1, 1)]), row(&[], &[int(2, 1)]));
    assert_ne!(row(&[], &[int(1, 1), int(2, 2)]), row(&[], &[int(1, 2), int(2, 1)]));
}

#[test]
fn a_digest_within_a_digest_has_its_own_buffers() {
    let value = Value::Int(7);
    let mut inner = None;
    let values = std::iter::once_with(|| {
        inner = Some(tuple(&[text("inner")]));
        (&value, &Type::Int64)
    });
    assert_eq!(digest_values(values), tuple(&[Value::Int(7)]));
    assert_eq!(inner, Some(tuple(&[text("inner")])));
}

#[test]
fn one_instance_serves_many_rows() {
    let mut canonical = Canonical::default();
    let large = Value::Blob(vec![1; 2 * KEPT_BYTES]);
    for value in [&large, &Value::Int(7), &large, &Value::Null] {
        let expected = digest_values([(value, &Type::Blob)]);
        assert_eq!(canonical.digest_values([(value, &Type::Blob)]), expected);
        let expected = hash_row([], [(property(1), value, &Type::Blob, None)]);
        assert_eq!(canonical.hash_row([], [(property(1), value, &Type::Blob, None)]), expected);
    }
}

proptest! {
    #[test]
    fn the_order_of_properties_does_not_matter(
        (values, shuffled) in proptest::collection::vec(typed_value(), 0..6).prop_flat_map(|values| {
            let row: Vec<Property> =
                (0..).zip(values).map(|(number, (ty, value))| (property(number), value, ty, None)).collect();
            (Just(row.clone()), Just(row).prop_shuffle())
        }),
    ) {
        prop_assert_eq!(row(&[text("end")], &values), row(&[text("end")], &shuffled));
    }

    #[test]
    fn equal_values_and_no_others_have_equal_digests((ty, a, b) in two_values()) {
        prop_assert_eq!(a.is_same(&b), digest_values([(&a, &ty)]) == digest_values([(&b, &ty)]));
        let hash = |value| hash_row([], [(property(1), value, &ty, None)]);
        prop_assert_eq!(a.is_same(&b), hash(&a) == hash(&b));
    }
}
