//! Every form by columns gives what the evaluator gives, on values of every kind.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::query::bound::{ExprNode, Function};
use crate::query::testing::{
    BEING, KNOWS, PERSON, binary, call, case, catalog, column, compare, constant, expr, int, knows, list, node, null,
    property, text, truth,
};
use crate::schema::Type;
use crate::syntax::{BinaryOp, CompareOp, UnaryOp};
use crate::value::strategies::{any_type, nullable};

const OPERATORS: [CompareOp; 6] = [
    CompareOp::Equal,
    CompareOp::NotEqual,
    CompareOp::Less,
    CompareOp::LessEqual,
    CompareOp::Greater,
    CompareOp::GreaterEqual,
];
const ARITHMETIC: [BinaryOp; 6] =
    [BinaryOp::Add, BinaryOp::Subtract, BinaryOp::Multiply, BinaryOp::Divide, BinaryOp::Remainder, BinaryOp::Power];

type Columns = Vec<(Kind, Vec<CypherValue>)>;

fn values(ty: &Type, rows: usize) -> impl Strategy<Value = Vec<CypherValue>> + use<> {
    vec(nullable(ty).prop_map(CypherValue::from), rows)
}

/// Two columns of one type, and often of equal values.
fn pair() -> impl Strategy<Value = Columns> {
    any_type().prop_flat_map(|ty| {
        let kind = Kind::of(&ty);
        let two = (1..8_usize).prop_flat_map(move |rows| {
            prop_oneof![
                3 => (values(&ty, rows), values(&ty, rows)),
                1 => values(&ty, rows).prop_map(|values| (values.clone(), values)),
            ]
        });
        two.prop_map(move |(a, b)| vec![(kind.clone(), a), (kind.clone(), b)])
    })
}

fn number_type() -> impl Strategy<Value = Type> {
    prop_oneof![
        Just(Type::Int64),
        Just(Type::Int8),
        Just(Type::UInt64),
        Just(Type::Double),
        Just(Type::Float),
        Just(Type::Decimal { precision: 12, scale: 3 }),
        Just(Type::Decimal { precision: 38, scale: 38 }),
    ]
}

/// Two columns of any two types of numbers.
fn numbers() -> impl Strategy<Value = Columns> {
    (number_type(), number_type(), 1..6_usize).prop_flat_map(|(a, b, rows)| {
        let kinds = (Kind::of(&a), Kind::of(&b));
        (values(&a, rows), values(&b, rows)).prop_map(move |(a, b)| vec![(kinds.0.clone(), a), (kinds.1.clone(), b)])
    })
}

fn both(columns: &Columns) -> (Expr, Expr) {
    (column(0, columns[0].0.clone()), column(1, columns[1].0.clone()))
}

/// The kind of arithmetic between two kinds, as a binder would have it.
fn result_kind(operator: BinaryOp, left: &Kind, right: &Kind) -> Kind {
    let float = matches!(left, Kind::Float) || matches!(right, Kind::Float) || operator == BinaryOp::Power;
    let decimal = matches!(left, Kind::Decimal { .. }) || matches!(right, Kind::Decimal { .. });
    match (float, decimal) {
        (true, _) => Kind::Float,
        (_, true) if operator == BinaryOp::Divide => Kind::Float,
        (_, true) => Kind::Decimal { precision: 38, scale: 6 },
        _ => Kind::Integer,
    }
}

proptest! {
    #[test]
    fn comparisons_of_one_kind(columns in pair()) {
        let (a, b) = both(&columns);
        for operator in OPERATORS {
            if a.kind.is_ordered() || matches!(operator, CompareOp::Equal | CompareOp::NotEqual) {
                assert_agrees(&compare(a.clone(), operator, b.clone()), &columns);
            }
        }
        if a.kind.is_ordered() {
            let rest = vec![(CompareOp::LessEqual, b.clone()), (CompareOp::GreaterEqual, a)];
            assert_agrees(&expr(ExprNode::Compare(Box::new(b), rest), Kind::Bool), &columns);
        }
    }

    #[test]
    fn comparisons_and_arithmetic_of_numbers(columns in numbers()) {
        let (a, b) = both(&columns);
        for operator in OPERATORS {
            let compared = compare(a.clone(), operator, b.clone());
            prop_assert!(is_by_columns(&compared));
            assert_agrees(&compared, &columns);
        }
        for operator in ARITHMETIC {
            let kind = result_kind(operator, &a.kind, &b.kind);
            assert_agrees(&binary(a.clone(), operator, b.clone(), kind), &columns);
        }
        assert_agrees(&expr(ExprNode::Convert(Box::new(a.clone())), Kind::Float), &columns);
        let whole = expr(ExprNode::Convert(Box::new(a.clone())), Kind::Decimal { precision: 20, scale: 3 });
        assert_agrees(&whole, &columns);
        let kind = if a.kind == Kind::Unsigned { Kind::Integer } else { a.kind.clone() };
        assert_agrees(&expr(ExprNode::Unary(UnaryOp::Minus, Box::new(a)), kind), &columns);
    }

    #[test]
    fn tests_for_null_and_choices(columns in pair()) {
        let (a, b) = both(&columns);
        let kind = a.kind.clone();
        for negated in [false, true] {
            let is_null = expr(ExprNode::IsNull { operand: Box::new(a.clone()), negated }, Kind::Bool);
            prop_assert!(is_by_columns(&is_null));
            assert_agrees(&is_null, &columns);
        }
        let equal = compare(a.clone(), CompareOp::Equal, b.clone());
        let not = expr(ExprNode::Unary(UnaryOp::Not, Box::new(equal.clone())), Kind::Bool);
        assert_agrees(&not, &columns);
        let present = expr(ExprNode::IsNull { operand: Box::new(b.clone()), negated: true }, Kind::Bool);
        for operator in [BinaryOp::And, BinaryOp::Or, BinaryOp::Xor] {
            assert_agrees(&binary(equal.clone(), operator, present.clone(), Kind::Bool), &columns);
            assert_agrees(&binary(present.clone(), operator, not.clone(), Kind::Bool), &columns);
        }
        assert_agrees(&case(vec![(vec![equal.clone(), not], a.clone())], None, kind.clone()), &columns);
        let chosen = ExprNode::Case {
            operand: Some(Box::new(a.clone())),
            arms: vec![(vec![null(), b.clone()], b.clone())],
            otherwise: Some(Box::new(null())),
        };
        assert_agrees(&expr(chosen, kind.clone()), &columns);
        assert_agrees(&call(Function::Coalesce, vec![null(), a, b], kind), &columns);
    }

    #[test]
    fn looking_up_in_lists(columns in pair()) {
        let (a, b) = both(&columns);
        let element = || Kind::List(Box::new(a.kind.clone()));
        let constants = CypherValue::List(columns[1].1.clone());
        assert_agrees(&binary(a.clone(), BinaryOp::In, constant(constants, element()), Kind::Bool), &columns);
        let written = columns[1].1.iter().map(|value| constant(value.clone(), a.kind.clone())).collect();
        assert_agrees(&binary(a.clone(), BinaryOp::In, list(written, a.kind.clone()), Kind::Bool), &columns);
        let varying = list(vec![b, null()], a.kind.clone());
        assert_agrees(&binary(a.clone(), BinaryOp::In, varying, Kind::Bool), &columns);
        assert_agrees(&binary(a.clone(), BinaryOp::In, list(vec![], a.kind.clone()), Kind::Bool), &columns);
    }

    #[test]
    fn strings(a in values(&Type::String, 5), b in values(&Type::String, 5)) {
        let columns = vec![(Kind::String, a), (Kind::String, b)];
        let (a, b) = both(&columns);
        for operator in [BinaryOp::StartsWith, BinaryOp::EndsWith, BinaryOp::Contains] {
            let held = binary(a.clone(), operator, b.clone(), Kind::Bool);
            prop_assert!(is_by_columns(&held));
            assert_agrees(&held, &columns);
            assert_agrees(&binary(a.clone(), operator, text("%_a"), Kind::Bool), &columns);
        }
        let joined = binary(a.clone(), BinaryOp::Add, b.clone(), Kind::String);
        prop_assert!(is_by_columns(&joined));
        assert_agrees(&joined, &columns);
        let upper = call(Function::ToUpper, vec![a.clone()], Kind::String);
        assert_agrees(&compare(upper, CompareOp::Less, joined), &columns);
        assert_agrees(&call(Function::Left, vec![a, call(Function::Size, vec![b], Kind::Integer)], Kind::String), &columns);
    }

    #[test]
    fn lists_and_maps(columns in pair()) {
        let (a, b) = both(&columns);
        let kind = a.kind.clone();
        let two = list(vec![a.clone(), b.clone()], kind.clone());
        assert_agrees(&two, &columns);
        let at = ExprNode::Index { list: Box::new(two), index: Box::new(int(-1)) };
        assert_agrees(&expr(at, kind.clone()), &columns);
        let entries = vec![("a".to_owned(), a), ("b".to_owned(), b)];
        let map = expr(
            ExprNode::Map(entries),
            Kind::Map(vec![("a".to_owned(), kind.clone()), ("b".to_owned(), kind.clone())]),
        );
        assert_agrees(&map, &columns);
        assert_agrees(&expr(ExprNode::Field { of: Box::new(map), name: "b".to_owned() }, kind), &columns);
    }
}

fn beings() -> Columns {
    let left = vec![
        node("Person", "a", Some(1)),
        node("Robot", "a", None),
        CypherValue::NULL,
        node("Person", "b", None),
        node("Robot", "b", Some(2)),
    ];
    let right = vec![
        node("Person", "a", None),
        node("Person", "a", Some(3)),
        node("Robot", "a", Some(4)),
        node("Person", "a", Some(5)),
        node("Robot", "b", None),
    ];
    vec![(Kind::Entity(BEING), left), (Kind::Entity(BEING), right)]
}

#[test]
fn properties_of_one_table_and_of_several() {
    let columns = beings();
    for (name, kind) in [("age", Kind::Integer), ("age", Kind::Float), ("id", Kind::String)] {
        let property = property(column(0, Kind::Entity(BEING)), name, kind);
        assert!(is_by_columns(&property));
        assert_agrees(&property, &columns);
    }
    let people = vec![(Kind::Entity(PERSON), vec![node("Person", "a", Some(1)), CypherValue::NULL])];
    assert_agrees(&property(column(0, Kind::Entity(PERSON)), "age", Kind::Integer), &people);
    let none =
        expr(ExprNode::Property { of: Box::new(column(0, Kind::Entity(PERSON))), choices: vec![] }, Kind::Integer);
    assert_agrees(&none, &people);
}

#[test]
fn identity_labels_and_tables() {
    let columns = beings();
    let (a, b) = both(&columns);
    for operator in [CompareOp::Equal, CompareOp::NotEqual] {
        let same = compare(a.clone(), operator, b.clone());
        assert!(is_by_columns(&same));
        assert_agrees(&same, &columns);
    }
    let robot = catalog().table("Robot").unwrap().id;
    for operand in [a.clone(), b.clone()] {
        let is_robot = expr(ExprNode::IsOf { operand: Box::new(operand), tables: vec![robot] }, Kind::Bool);
        assert!(is_by_columns(&is_robot));
        assert_agrees(&is_robot, &columns);
    }
    let labels = call(Function::Labels, vec![a.clone()], Kind::List(Box::new(Kind::String)));
    assert!(is_by_columns(&labels));
    assert_agrees(&labels, &columns);
    let whole = Kind::Map(vec![("age".to_owned(), Kind::Integer), ("id".to_owned(), Kind::String)]);
    assert_agrees(&call(Function::Properties, vec![a.clone()], whole), &columns);
    assert_agrees(&call(Function::Keys, vec![a.clone()], Kind::List(Box::new(Kind::String))), &columns);
    let in_list = binary(a, BinaryOp::In, list(vec![b], Kind::Entity(BEING)), Kind::Bool);
    assert_agrees(&in_list, &columns);
}

#[test]
fn identity_across_layouts_and_of_edges() {
    let columns = vec![
        (Kind::Entity(PERSON), vec![node("Person", "a", None), node("Person", "a", None), CypherValue::NULL]),
        (Kind::Entity(BEING), vec![node("Person", "a", None), node("Robot", "a", Some(7)), node("Person", "a", None)]),
        (Kind::Entity(PERSON), vec![node("Person", "a", None), node("Person", "b", None), node("Person", "a", None)]),
        (Kind::Entity(KNOWS), vec![knows("a", "b"), knows("a", "b"), CypherValue::NULL]),
        (Kind::Entity(KNOWS), vec![knows("a", "b"), knows("b", "a"), knows("a", "b")]),
    ];
    for (left, right) in [(0, 1), (0, 2), (3, 4)] {
        let of = |at: usize| column(u32::try_from(at).unwrap(), columns[at].0.clone());
        let same = compare(of(left), CompareOp::Equal, of(right));
        assert!(is_by_columns(&same));
        assert_agrees(&same, &columns);
    }
    let ty = call(Function::Type, vec![column(3, Kind::Entity(KNOWS))], Kind::String);
    assert!(is_by_columns(&ty));
    assert_agrees(&ty, &columns);
}

#[test]
fn constants_without_columns() {
    for whole in [truth(None), int(1), text("a"), list(vec![int(1), null()], Kind::Integer), null()] {
        assert_agrees(&whole, &[]);
    }
    assert_agrees(&call(Function::DateTime, vec![], Kind::Timestamp), &[]);
}
