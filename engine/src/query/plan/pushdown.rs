//! Conditions as filters of a table: true at least for all rows for which the condition is true, and cheap to evaluate where the rows are.
//!
//! What a filter cannot say exactly it leaves to the condition, which is evaluated above as well. A part that cannot be said is true
//! for all rows: so an `AND` may lose sides, an `OR` may not, and a `NOT` is not looked into.

use datafusion::common::{Column as ColumnName, ScalarValue};
use datafusion::functions::string::expr_fn::{contains, ends_with, starts_with};
use datafusion::logical_expr::{Expr as Filter, lit};

use crate::ids::{PropertyId, TableId};
use crate::query::bound::{Expr, ExprNode, VarId};
use crate::query::value::CypherValue;
use crate::schema::Type;
use crate::syntax::{BinaryOp, CompareOp};
use crate::table::{Layout, Role};
use crate::value::{ColumnBuilder, Value};

/// Integers up to this are the same as floats.
const EXACT_FLOAT: i128 = 1 << 53;

/// What the rows of a scan tell of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resolved {
    /// A column of the layout bears the property.
    Column(usize),
    /// The variable's table has no such property: it is null in all rows.
    Null,
    /// It is not known here.
    Unknown,
}

/// Says what the rows of one table tell of variables: its own, and those of the nodes at an edge's ends.
pub(crate) trait Scope {
    fn layout(&self) -> &Layout;
    /// The table that a variable's row is of, if that is known.
    fn table_of(&self, var: VarId) -> Option<TableId>;
    /// Where the property of a variable is; `choices` as in [`ExprNode::Property`].
    fn resolve(&self, var: VarId, choices: &[(TableId, PropertyId)]) -> Resolved;
}

/// The filter for all of some conditions; none if nothing can be said.
pub(crate) fn filter_for<'a>(conditions: impl IntoIterator<Item = &'a Expr>, scope: &dyn Scope) -> Option<Filter> {
    conditions.into_iter().filter_map(|condition| superset(condition, scope)).reduce(Filter::and)
}

/// What share of rows the conditions on a variable leave, about: for deciding what to read first.
pub(crate) fn share_left<'a>(conditions: impl IntoIterator<Item = &'a Expr>, scope: &dyn Scope) -> f64 {
    let shares =
        conditions.into_iter().filter(|condition| superset(condition, scope).is_some()).map(
            |condition| match &condition.node {
                ExprNode::Compare(_, rest) if rest.iter().any(|(op, _)| *op == CompareOp::Equal) => 0.05,
                ExprNode::Binary(BinaryOp::In, _, list) => match &list.node {
                    ExprNode::Constant(CypherValue::List(items)) => (0.05 * number_of(items)).min(0.9),
                    _ => 0.9,
                },
                ExprNode::Compare(..) | ExprNode::Binary(BinaryOp::StartsWith, ..) => 0.3,
                _ => 0.7,
            },
        );
    shares.product()
}

/// How many rows the conditions leave at most because they name the whole key; none if they do not.
pub(crate) fn keys_named(conditions: &[Expr], scope: &dyn Scope) -> Option<f64> {
    let names = |column: usize| {
        conditions.iter().find_map(|condition| match &condition.node {
            ExprNode::Compare(first, rest) => match rest.as_slice() {
                [(CompareOp::Equal, second)] => {
                    let is_key = |a: &Expr, b: &Expr| {
                        place_of(a, scope) == Some(Resolved::Column(column)) && matches!(b.node, ExprNode::Constant(_))
                    };
                    (is_key(first, second) || is_key(second, first)).then_some(1.0)
                }
                _ => None,
            },
            ExprNode::Binary(BinaryOp::In, operand, list) => match &list.node {
                ExprNode::Constant(CypherValue::List(items))
                    if place_of(operand, scope) == Some(Resolved::Column(column)) =>
                {
                    Some(number_of(items))
                }
                _ => None,
            },
            _ => None,
        })
    };
    let keys = scope.layout().key_columns();
    keys.into_iter().map(names).try_fold(1.0, |rows, named| named.map(|named| rows * named))
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn number_of(items: &[CypherValue]) -> f64 {
    items.len() as f64
}

/// A filter that is true wherever `expr` is.
fn superset(expr: &Expr, scope: &dyn Scope) -> Option<Filter> {
    match &expr.node {
        ExprNode::Constant(CypherValue::Scalar(Value::Bool(false) | Value::Null)) => Some(lit(false)),
        ExprNode::Binary(BinaryOp::And, left, right) => match (superset(left, scope), superset(right, scope)) {
            (Some(left), Some(right)) => Some(left.and(right)),
            (one, other) => one.or(other),
        },
        ExprNode::Binary(BinaryOp::Or, left, right) => Some(superset(left, scope)?.or(superset(right, scope)?)),
        ExprNode::Binary(BinaryOp::In, operand, list) => {
            let ExprNode::Constant(CypherValue::List(items)) = &list.node else { return None };
            is_in(operand, items, scope)
        }
        ExprNode::Binary(op @ (BinaryOp::StartsWith | BinaryOp::EndsWith | BinaryOp::Contains), operand, pattern) => {
            let ExprNode::Constant(CypherValue::Scalar(Value::String(pattern))) = &pattern.node else { return None };
            text_filter(*op, operand, pattern, scope)
        }
        ExprNode::Compare(first, rest) => {
            let mut left = &**first;
            let mut filters = Vec::new();
            for (op, right) in rest {
                filters.extend(comparison(left, *op, right, scope));
                left = right;
            }
            filters.into_iter().reduce(Filter::and)
        }
        ExprNode::IsNull { operand, negated } => match (place_of(operand, scope)?, negated) {
            (Resolved::Column(column), _) if fill(scope.layout(), column) => {
                negated.then(|| lit(true)).or(Some(lit(false)))
            }
            (Resolved::Column(column), false) => Some(column_of(scope.layout(), column).is_null()),
            (Resolved::Column(column), true) => Some(column_of(scope.layout(), column).is_not_null()),
            (Resolved::Null, true) => Some(lit(false)),
            (Resolved::Null, false) | (Resolved::Unknown, _) => None,
        },
        ExprNode::IsOf { operand, tables } => {
            let ExprNode::Column(var) = operand.node else { return None };
            let table = scope.table_of(var)?;
            (!tables.contains(&table)).then(|| lit(false))
        }
        ExprNode::Property { .. } => match place_of(expr, scope)? {
            Resolved::Column(column) => {
                let is_bool = matches!(scope.layout().columns.get(column)?.ty, Some(Type::Bool));
                is_bool.then(|| or_filled(column_of(scope.layout(), column), scope.layout(), column))
            }
            Resolved::Null => Some(lit(false)),
            Resolved::Unknown => None,
        },
        _ => None,
    }
}

/// Where a property is; none for an expression that is not a variable's property.
fn place_of(expr: &Expr, scope: &dyn Scope) -> Option<Resolved> {
    let ExprNode::Property { of, choices } = &expr.node else { return None };
    let ExprNode::Column(var) = of.node else { return None };
    Some(scope.resolve(var, choices))
}

fn column_of(layout: &Layout, column: usize) -> Filter {
    let name = layout.columns.get(column).map_or("", |column| column.name.as_str());
    Filter::Column(ColumnName::new_unqualified(name))
}

/// Whether a physical null in the column means something.
fn fill(layout: &Layout, column: usize) -> bool {
    match layout.columns.get(column).map(|column| column.role) {
        Some(Role::Property(index)) => layout.table.properties.get(index).is_some_and(|p| p.fill.is_some()),
        _ => false,
    }
}

/// A filter that lets rows pass whose null means a value.
fn or_filled(filter: Filter, layout: &Layout, column: usize) -> Filter {
    if fill(layout, column) { filter.or(column_of(layout, column).is_null()) } else { filter }
}

fn comparison(left: &Expr, op: CompareOp, right: &Expr, scope: &dyn Scope) -> Option<Filter> {
    let (operand, op, value) = match (&left.node, &right.node) {
        (_, ExprNode::Constant(value)) => (left, op, value),
        (ExprNode::Constant(value), _) => (right, mirrored(op), value),
        _ => return None,
    };
    let column = match place_of(operand, scope)? {
        Resolved::Column(column) => column,
        // A comparison with null is never true.
        Resolved::Null => return Some(lit(false)),
        Resolved::Unknown => return None,
    };
    if value.is_null() {
        return Some(lit(false));
    }
    let layout = scope.layout();
    let literal = match literal(value, layout.columns.get(column)?.ty.as_ref()?) {
        Literal::Value(literal) => literal,
        Literal::Never if op == CompareOp::Equal => return Some(lit(false)),
        Literal::Never | Literal::Unknown => return None,
    };
    let name = column_of(layout, column);
    let filter = match op {
        CompareOp::Equal => name.eq(literal),
        CompareOp::NotEqual => name.not_eq(literal),
        CompareOp::Less => name.lt(literal),
        CompareOp::LessEqual => name.lt_eq(literal),
        CompareOp::Greater => name.gt(literal),
        CompareOp::GreaterEqual => name.gt_eq(literal),
    };
    Some(or_filled(filter, layout, column))
}

const fn mirrored(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Less => CompareOp::Greater,
        CompareOp::LessEqual => CompareOp::GreaterEqual,
        CompareOp::Greater => CompareOp::Less,
        CompareOp::GreaterEqual => CompareOp::LessEqual,
        same => same,
    }
}

fn is_in(operand: &Expr, items: &[CypherValue], scope: &dyn Scope) -> Option<Filter> {
    let column = match place_of(operand, scope)? {
        Resolved::Column(column) => column,
        Resolved::Null => return Some(lit(false)),
        Resolved::Unknown => return None,
    };
    let layout = scope.layout();
    let ty = layout.columns.get(column)?.ty.as_ref()?;
    let mut literals = Vec::with_capacity(items.len());
    for item in items.iter().filter(|item| !item.is_null()) {
        match literal(item, ty) {
            Literal::Value(literal) => literals.push(literal),
            Literal::Never => {}
            Literal::Unknown => return None,
        }
    }
    if literals.is_empty() {
        return Some(lit(false));
    }
    Some(or_filled(column_of(layout, column).in_list(literals, false), layout, column))
}

fn text_filter(op: BinaryOp, operand: &Expr, pattern: &str, scope: &dyn Scope) -> Option<Filter> {
    let column = match place_of(operand, scope)? {
        Resolved::Column(column) => column,
        Resolved::Null => return Some(lit(false)),
        Resolved::Unknown => return None,
    };
    let layout = scope.layout();
    if !matches!(layout.columns.get(column)?.ty, Some(Type::String | Type::Enum(_))) {
        return None;
    }
    let (name, pattern) = (column_of(layout, column), lit(pattern));
    let filter = match op {
        BinaryOp::StartsWith => starts_with(name, pattern),
        BinaryOp::EndsWith => ends_with(name, pattern),
        _ => contains(name, pattern),
    };
    Some(or_filled(filter, layout, column))
}

/// A constant as a column of some type can be held against it.
#[derive(Debug, PartialEq)]
enum Literal {
    /// Compared as Cypher compares.
    Value(Filter),
    /// No value of the type is equal to it.
    Never,
    /// Only Cypher's own comparison will do.
    Unknown,
}

fn literal(value: &CypherValue, ty: &Type) -> Literal {
    let CypherValue::Scalar(value) = value else { return Literal::Unknown };
    let stored = match (value, ty) {
        (Value::String(_), Type::String | Type::Enum(_))
        | (Value::Bool(_), Type::Bool)
        | (Value::Date(_), Type::Date)
        | (Value::Time(_), Type::Time)
        | (Value::Timestamp(_), Type::Timestamp)
        | (Value::Uuid(_), Type::Uuid)
        | (Value::Blob(_), Type::Blob) => value.clone(),
        // Zeros are two to a filter and NaN is equal to itself; and a narrow float is compared as a wide one.
        (Value::Float(float), Type::Float | Type::Double) if *float != 0.0 && !float.is_nan() => {
            return Literal::Value(lit(*float));
        }
        #[expect(clippy::cast_precision_loss, reason = "integers up to here are floats")]
        (Value::Int(n), Type::Float | Type::Double) if *n != 0 && n.abs() <= EXACT_FLOAT => {
            return Literal::Value(lit(*n as f64));
        }
        (Value::Int(n), _) => match ty.integer_range() {
            Some((least, most)) if (least..=most).contains(n) => value.clone(),
            Some(_) => return Literal::Never,
            None => return decimal_literal(*n, 0, ty),
        },
        (Value::Decimal { unscaled, scale }, Type::Decimal { .. }) => return decimal_literal(*unscaled, *scale, ty),
        _ => return Literal::Unknown,
    };
    stored_literal(&stored, ty)
}

/// A decimal number in the scale of the column, if it has one there.
fn decimal_literal(unscaled: i128, scale: u8, ty: &Type) -> Literal {
    let Type::Decimal { precision, scale: stored } = ty else { return Literal::Unknown };
    let Some(up) = stored.checked_sub(scale) else { return Literal::Unknown };
    let scaled = 10_i128.checked_pow(up.into()).and_then(|factor| unscaled.checked_mul(factor));
    match (scaled, 10_i128.checked_pow((*precision).into())) {
        (Some(scaled), Some(bound)) if scaled.abs() < bound => {
            stored_literal(&Value::Decimal { unscaled: scaled, scale: *stored }, ty)
        }
        _ => Literal::Unknown,
    }
}

fn stored_literal(value: &Value, ty: &Type) -> Literal {
    let mut builder = ColumnBuilder::new(ty, 1);
    builder.push(value);
    ScalarValue::try_from_array(&builder.finish(), 0).map_or(Literal::Unknown, |scalar| Literal::Value(lit(scalar)))
}

#[cfg(test)]
#[path = "pushdown_tests.rs"]
mod tests;
