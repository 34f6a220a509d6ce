use std::sync::Arc;

use super::*;
use crate::clock::{Clock, Timestamp};
use crate::query::kind::Kind;
use crate::schema::parse_ddl;
use crate::syntax::Span;

const N: VarId = VarId(0);

/// The rows of one table, as variable 0.
struct Rows(Arc<Layout>);

impl Rows {
    fn new() -> Self {
        let ddl = "CREATE NODE TABLE T (id INT8 PRIMARY KEY, name STRING, size DOUBLE, price DECIMAL(5, 2), big UINT64, ok BOOL);";
        let catalog = parse_ddl(ddl, &Clock::manual(Timestamp(0), 1)).unwrap();
        Self(Layout::new(&catalog, &catalog.tables[0]))
    }

    fn property(&self, name: &str) -> Expr {
        let property = self.0.table.property(name).unwrap();
        let node = ExprNode::Column(N);
        let of = Box::new(expr(node, Kind::Null));
        expr(ExprNode::Property { of, choices: vec![(self.0.table.id, property.id)] }, Kind::of(&property.ty))
    }

    fn filter(&self, condition: &Expr) -> Option<String> {
        filter_for([condition], self).map(|filter| filter.to_string())
    }

    fn compared(&self, name: &str, op: CompareOp, value: Value) -> Option<String> {
        self.filter(&compare(self.property(name), op, constant(value)))
    }
}

impl Scope for Rows {
    fn layout(&self) -> &Layout {
        &self.0
    }

    fn table_of(&self, var: VarId) -> Option<TableId> {
        (var == N).then_some(self.0.table.id)
    }

    fn resolve(&self, var: VarId, choices: &[(TableId, PropertyId)]) -> Resolved {
        match choices {
            _ if var != N => Resolved::Unknown,
            [(_, property)] => self.0.property(*property).map_or(Resolved::Unknown, Resolved::Column),
            _ => Resolved::Null,
        }
    }
}

fn expr(node: ExprNode, kind: Kind) -> Expr {
    Expr { node, kind, span: Span::new(0, 0) }
}

fn constant(value: Value) -> Expr {
    expr(ExprNode::Constant(CypherValue::Scalar(value)), Kind::Null)
}

fn compare(left: Expr, op: CompareOp, right: Expr) -> Expr {
    expr(ExprNode::Compare(Box::new(left), vec![(op, right)]), Kind::Bool)
}

fn binary(left: Expr, op: BinaryOp, right: Expr) -> Expr {
    expr(ExprNode::Binary(op, Box::new(left), Box::new(right)), Kind::Bool)
}

/// A property that the table does not have.
fn foreign() -> Expr {
    let of = Box::new(expr(ExprNode::Column(N), Kind::Null));
    expr(ExprNode::Property { of, choices: Vec::new() }, Kind::Integer)
}

#[expect(clippy::unnecessary_wraps, reason = "what is compared with it may be none")]
fn is(filter: &str) -> Option<String> {
    Some(filter.to_owned())
}

#[test]
fn constants_are_of_the_stored_type_or_are_not_pushed() {
    let rows = Rows::new();
    let eq = CompareOp::Equal;
    assert_eq!(rows.compared("id", eq, Value::Int(7)), is("id = Int8(7)"));
    assert_eq!(rows.compared("id", eq, Value::Int(300)), is("Boolean(false)"), "no stored value is equal to it");
    assert_eq!(rows.compared("id", CompareOp::Less, Value::Int(300)), None);
    assert_eq!(rows.compared("id", eq, Value::Float(7.0)), None, "compared by Cypher alone");
    assert_eq!(rows.compared("name", CompareOp::GreaterEqual, Value::String("x".into())), is(r#"name >= Utf8("x")"#));
    let price = |unscaled, scale| rows.compared("price", eq, Value::Decimal { unscaled, scale });
    assert_eq!(price(15, 1), is("price = Decimal128(Some(150),5,2)"));
    assert_eq!(price(1505, 3), None, "more digits than are stored");
    assert_eq!(rows.compared("price", eq, Value::Int(99_999)), None);
    assert_eq!(rows.compared("name", eq, Value::Null), is("Boolean(false)"));
}

#[test]
fn floats_are_pushed_where_a_filter_compares_them_as_cypher_does() {
    let rows = Rows::new();
    assert_eq!(rows.compared("size", CompareOp::Less, Value::Float(1.5)), is("size < Float64(1.5)"));
    assert_eq!(rows.compared("size", CompareOp::Less, Value::Int(2)), is("size < Float64(2)"));
    for unlike in [Value::Float(0.0), Value::Float(-0.0), Value::Float(f64::NAN), Value::Int(0), Value::Int(1 << 54)] {
        assert_eq!(rows.compared("size", CompareOp::Equal, unlike.clone()), None, "{unlike:?}");
    }
}

#[test]
fn what_cannot_be_said_is_left_out_of_an_and_and_spoils_an_or() {
    let rows = Rows::new();
    let said = || compare(constant(Value::Int(3)), CompareOp::Less, rows.property("id"));
    let unsaid = || compare(expr(ExprNode::Column(VarId(9)), Kind::Integer), CompareOp::Less, constant(Value::Int(1)));
    assert_eq!(rows.filter(&said()), is("id > Int8(3)"));
    assert_eq!(rows.filter(&binary(said(), BinaryOp::And, unsaid())), is("id > Int8(3)"));
    assert_eq!(rows.filter(&binary(said(), BinaryOp::Or, unsaid())), None);
    let not = expr(ExprNode::Unary(crate::syntax::UnaryOp::Not, Box::new(said())), Kind::Bool);
    assert_eq!(rows.filter(&not), None);
}

#[test]
fn lists_texts_and_nulls() {
    let rows = Rows::new();
    let list = |items: Vec<Value>| {
        let items = items.into_iter().map(CypherValue::Scalar).collect();
        expr(ExprNode::Constant(CypherValue::List(items)), Kind::Null)
    };
    let within = |items| rows.filter(&binary(rows.property("id"), BinaryOp::In, list(items)));
    assert_eq!(within(vec![Value::Int(1), Value::Null, Value::Int(300)]), is("id IN ([Int8(1)])"));
    assert_eq!(within(vec![]), is("Boolean(false)"));
    assert_eq!(within(vec![Value::Int(1), Value::Float(2.0)]), None);
    let starts = binary(rows.property("name"), BinaryOp::StartsWith, constant(Value::String("a".into())));
    assert_eq!(rows.filter(&starts), is(r#"starts_with(name, Utf8("a"))"#));
    let null = |operand: Expr, negated| {
        rows.filter(&expr(ExprNode::IsNull { operand: Box::new(operand), negated }, Kind::Bool))
    };
    assert_eq!(null(rows.property("name"), true), is("name IS NOT NULL"));
    assert_eq!(null(foreign(), false), None, "true for all rows");
    assert_eq!(null(foreign(), true), is("Boolean(false)"));
    assert_eq!(rows.filter(&compare(foreign(), CompareOp::NotEqual, constant(Value::Int(1)))), is("Boolean(false)"));
    assert_eq!(rows.filter(&rows.property("ok")), is("ok"));
}

#[test]
fn a_null_that_means_a_value_passes() {
    let mut rows = Rows::new();
    let ddl = "CREATE NODE TABLE T (id INT8 PRIMARY KEY, name STRING DEFAULT 'x');";
    let mut catalog = parse_ddl(ddl, &Clock::manual(Timestamp(0), 1)).unwrap();
    let filled = catalog.tables[0].properties[1].default.clone();
    catalog.tables[0].properties[1].fill = filled;
    rows.0 = Layout::new(&catalog, &catalog.tables[0]);
    let equal = rows.compared("name", CompareOp::Equal, Value::String("y".into()));
    assert_eq!(equal, is(r#"name = Utf8("y") OR name IS NULL"#));
    let missing = expr(ExprNode::IsNull { operand: Box::new(rows.property("name")), negated: false }, Kind::Bool);
    assert_eq!(rows.filter(&missing), is("Boolean(false)"));
}

#[test]
fn a_whole_key_by_constants_is_known_to_leave_few_rows() {
    let rows = Rows::new();
    let by_key = compare(rows.property("id"), CompareOp::Equal, constant(Value::Int(7)));
    let other = compare(rows.property("name"), CompareOp::Equal, constant(Value::String("x".into())));
    assert_eq!(keys_named(&[by_key], &rows), Some(1.0));
    assert_eq!(keys_named(std::slice::from_ref(&other), &rows), None);
    assert!(share_left([&other], &rows) < 0.5);
}
