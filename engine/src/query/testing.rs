//! Bound expressions and entities for tests, made without a binder.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::bound::{Entity, Expr, ExprNode, Form, Function, VarId};
use super::eval::EvalContext;
use super::kind::{EntityId, Kind};
use super::layout::{EntityLayout, Layouts};
use super::properties::Properties;
use super::value::{CypherValue, EdgeValue, NodeValue};
use crate::clock::Timestamp;
use crate::schema::{Catalog, TableDef};
use crate::syntax::{BinaryOp, CompareOp, Span};
use crate::table::Layout;
use crate::table::tests::sample;
use crate::value::Value;

/// Where all expressions of tests stand.
pub(crate) const SPAN: Span = Span::new(3, 7);

pub(crate) fn expr(node: ExprNode, kind: Kind) -> Expr {
    Expr { node, kind, span: SPAN }
}

pub(crate) fn column(var: u32, kind: Kind) -> Expr {
    expr(ExprNode::Column(VarId(var)), kind)
}

pub(crate) fn constant(value: impl Into<CypherValue>, kind: Kind) -> Expr {
    expr(ExprNode::Constant(value.into()), kind)
}

pub(crate) fn int(value: i128) -> Expr {
    constant(Value::Int(value), Kind::Integer)
}

pub(crate) fn float(value: f64) -> Expr {
    constant(Value::Float(value), Kind::Float)
}

pub(crate) fn text(value: &str) -> Expr {
    constant(Value::String(value.to_owned()), Kind::String)
}

pub(crate) fn truth(value: Option<bool>) -> Expr {
    constant(value.map_or(Value::Null, Value::Bool), Kind::Bool)
}

pub(crate) fn null() -> Expr {
    constant(Value::Null, Kind::Null)
}

pub(crate) fn decimal(unscaled: i128, precision: u8, scale: u8) -> Expr {
    constant(Value::Decimal { unscaled, scale }, Kind::Decimal { precision, scale })
}

pub(crate) fn list(items: Vec<Expr>, element: Kind) -> Expr {
    expr(ExprNode::List(items), Kind::List(Box::new(element)))
}

pub(crate) fn binary(left: Expr, operator: BinaryOp, right: Expr, kind: Kind) -> Expr {
    expr(ExprNode::Binary(operator, Box::new(left), Box::new(right)), kind)
}

pub(crate) fn compare(left: Expr, operator: CompareOp, right: Expr) -> Expr {
    expr(ExprNode::Compare(Box::new(left), vec![(operator, right)]), Kind::Bool)
}

pub(crate) fn call(function: Function, arguments: Vec<Expr>, kind: Kind) -> Expr {
    expr(ExprNode::Call { function, arguments }, kind)
}

pub(crate) fn case(arms: Vec<(Vec<Expr>, Expr)>, otherwise: Option<Expr>, kind: Kind) -> Expr {
    expr(ExprNode::Case { operand: None, arms, otherwise: otherwise.map(Box::new) }, kind)
}

/// The sample's `Person` and `Knows`, and a `Robot` like a person.
pub(crate) fn catalog() -> Catalog {
    let (mut catalog, person, _) = sample::catalog();
    let robot = TableDef { id: crate::ids::TableId::new(ulid::Ulid(3)), name: "Robot".to_owned(), ..person };
    catalog.tables.push(robot);
    catalog
}

pub(crate) fn context() -> EvalContext {
    EvalContext::new(Arc::new(catalog()), Timestamp(1_706_704_496_123_456), 42)
}

/// A person.
pub(crate) const PERSON: EntityId = EntityId(0);
/// A person or a robot.
pub(crate) const BEING: EntityId = EntityId(1);
/// An edge `Knows`.
pub(crate) const KNOWS: EntityId = EntityId(2);

/// The layouts of the entities above, all properties included.
pub(crate) fn layouts() -> Layouts {
    let catalog = catalog();
    let entity = |form, names: &[&str]| {
        let tables: Vec<&TableDef> = names.iter().filter_map(|name| catalog.table(name)).collect();
        let needs: BTreeMap<_, _> = tables
            .iter()
            .map(|table| (table.id, table.properties.iter().map(|property| property.id).collect()))
            .collect();
        let entity = Entity { form, tables: tables.iter().map(|table| table.id).collect(), needs };
        EntityLayout::new(&entity, |id| catalog.table_by_id(id).map(|table| Layout::new(&catalog, table)))
    };
    Layouts {
        entities: vec![
            entity(Form::Node, &["Person"]),
            entity(Form::Node, &["Person", "Robot"]),
            entity(Form::Edge, &["Knows"]),
        ],
    }
}

pub(crate) fn node(label: &str, id: &str, age: Option<i128>) -> CypherValue {
    let id = ("id".to_owned(), CypherValue::Scalar(Value::String(id.to_owned())));
    let age = age.map(|age| ("age".to_owned(), CypherValue::Scalar(Value::Int(age))));
    CypherValue::Node(Box::new(NodeValue {
        label: label.to_owned(),
        properties: [id].into_iter().chain(age).collect(),
    }))
}

pub(crate) fn knows(from: &str, to: &str) -> CypherValue {
    let key = |id: &str| vec![Value::String(id.to_owned())];
    CypherValue::Edge(Box::new(EdgeValue {
        label: "Knows".to_owned(),
        from: key(from),
        to: key(to),
        id: None,
        properties: Properties::default(),
    }))
}

/// `of.name`, wherever it is.
pub(crate) fn property(of: Expr, name: &str, kind: Kind) -> Expr {
    let catalog = catalog();
    let choices = catalog.tables.iter().filter_map(|table| Some((table.id, table.property(name)?.id))).collect();
    expr(ExprNode::Property { of: Box::new(of), choices }, kind)
}

/// Whether two values are the same to the bit, every NaN being one.
pub(crate) fn identical(left: &CypherValue, right: &CypherValue) -> bool {
    match (left, right) {
        (CypherValue::Scalar(Value::Float(left)), CypherValue::Scalar(Value::Float(right))) => {
            left.to_bits() == right.to_bits() || (left.is_nan() && right.is_nan())
        }
        (CypherValue::List(left), CypherValue::List(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| identical(left, right))
        }
        (CypherValue::Map(left), CypherValue::Map(right)) => {
            left.keys().eq(right.keys())
                && left.values().zip(right.values()).all(|(left, right)| identical(left, right))
        }
        _ => left == right,
    }
}
