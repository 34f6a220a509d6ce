//! Evaluates an expression on one row, as openCypher has it: three truth values, null for what is not known, and a [`Fault`] where there is
//! no value at all.
//!
//! This evaluator is what expressions mean. What DataFusion computes by columns (`compile`) must agree with it on every value.

mod coerce;
mod compare;
mod context;
mod convert;
mod entity;
mod fault;
mod functions;
mod lists;
mod logic;
mod numbers;
mod order;
#[cfg(test)]
mod tests;
mod text;

use std::borrow::Cow;

use super::bound::{Expr, ExprNode, Function, VarId};
use super::fault::Fault;
use super::value::CypherValue;
use crate::syntax::{BinaryOp, UnaryOp};
use crate::value::Value;

pub(crate) use coerce::{coerce, may_not_fit, needs_coercion};
pub(crate) use context::EvalContext;
pub(crate) use fault::{Sort, Unfit, fault};
pub(crate) use numbers::within_bounds;
pub(crate) use order::{float_of_rank, float_rank, identity_key, order_key};

/// The values of one row.
pub(crate) trait Row {
    /// The value of a variable; null if the row lacks it.
    fn value(&self, var: VarId) -> Cow<'_, CypherValue>;
}

/// A row without variables, for expressions of constants.
pub(crate) struct NoRow;

impl Row for NoRow {
    fn value(&self, _: VarId) -> Cow<'_, CypherValue> {
        Cow::Owned(CypherValue::NULL)
    }
}

/// The value of `expr` for `row`.
///
/// # Errors
/// Says where in the text there is no value, and why.
pub(crate) fn evaluate(expr: &Expr, row: &dyn Row, cx: &EvalContext) -> Result<CypherValue, Fault> {
    eval(expr, row, cx).map(Cow::into_owned)
}

/// Borrows what is there already: a large list is not copied for each row.
fn eval<'a>(expr: &'a Expr, row: &'a dyn Row, cx: &'a EvalContext) -> Result<Cow<'a, CypherValue>, Fault> {
    let value = match &expr.node {
        ExprNode::Constant(value) => return Ok(Cow::Borrowed(value)),
        ExprNode::Column(var) => return Ok(row.value(*var)),
        ExprNode::Property { of, choices } => {
            let property = entity::property(eval(of, row, cx)?, choices, cx);
            if !needs_coercion(&property, &expr.kind) {
                return Ok(property);
            }
            property.into_owned()
        }
        ExprNode::Field { of, name } => return Ok(entity::field(eval(of, row, cx)?, name)),
        ExprNode::List(items) => {
            CypherValue::List(items.iter().map(|item| evaluate(item, row, cx)).collect::<Result<_, _>>()?)
        }
        ExprNode::Map(entries) => CypherValue::Map(
            entries
                .iter()
                .map(|(name, value)| Ok((name.clone(), evaluate(value, row, cx)?)))
                .collect::<Result<_, Fault>>()?,
        ),
        ExprNode::Unary(UnaryOp::Plus, operand) | ExprNode::Convert(operand) => {
            let value = eval(operand, row, cx)?;
            if !needs_coercion(&value, &expr.kind) {
                return Ok(value);
            }
            value.into_owned()
        }
        ExprNode::Unary(UnaryOp::Minus, operand) => numbers::negated(&*eval(operand, row, cx)?, expr.span)?,
        ExprNode::Unary(UnaryOp::Not, operand) => {
            logic::truth(logic::truth_of(&*eval(operand, row, cx)?).map(|value| !value))
        }
        ExprNode::Binary(operator, left, right) => binary(*operator, (left, right), expr, row, cx)?,
        ExprNode::Compare(first, rest) => logic::truth(logic::chain(first, rest, row, cx)?),
        ExprNode::IsNull { operand, negated } => {
            CypherValue::from(Value::Bool(eval(operand, row, cx)?.is_null() != *negated))
        }
        ExprNode::IsOf { operand, tables } => {
            let entity = eval(operand, row, cx)?;
            logic::truth(entity::table(&entity, cx).map(|table| tables.contains(&table.id)))
        }
        ExprNode::Index { list, index } => return Ok(lists::index(eval(list, row, cx)?, &*eval(index, row, cx)?)),
        ExprNode::SubList { list, from, to } => {
            let bound = |bound: &'a Option<Box<Expr>>| bound.as_ref().map(|bound| eval(bound, row, cx)).transpose();
            lists::sub_list(&*eval(list, row, cx)?, bound(from)?.as_deref(), bound(to)?.as_deref())
        }
        ExprNode::Case { operand, arms, otherwise } => {
            match logic::chosen(operand.as_deref(), arms, row, cx)?.or(otherwise.as_deref()) {
                Some(result) => evaluate(result, row, cx)?,
                None => CypherValue::NULL,
            }
        }
        ExprNode::Call { function: Function::Coalesce, arguments } => {
            let mut first = CypherValue::NULL;
            for argument in arguments {
                first = evaluate(argument, row, cx)?;
                if !first.is_null() {
                    break;
                }
            }
            first
        }
        ExprNode::Call { function, arguments } => {
            let arguments =
                arguments.iter().map(|argument| evaluate(argument, row, cx)).collect::<Result<Vec<_>, _>>()?;
            functions::call(*function, arguments, expr.span, cx)?
        }
    };
    coerce(value, &expr.kind).map(Cow::Owned).map_err(|unfit| unfit.at(expr.span))
}

fn binary(
    operator: BinaryOp,
    (left, right): (&Expr, &Expr),
    whole: &Expr,
    row: &dyn Row,
    cx: &EvalContext,
) -> Result<CypherValue, Fault> {
    Ok(match operator {
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => logic::truth(logic::connect(operator, left, right, row, cx)?),
        BinaryOp::In => logic::truth(compare::contains(&*eval(left, row, cx)?, &*eval(right, row, cx)?, cx)),
        BinaryOp::StartsWith | BinaryOp::EndsWith | BinaryOp::Contains => {
            logic::truth(text::holds(operator, &*eval(left, row, cx)?, &*eval(right, row, cx)?))
        }
        _ => numbers::arithmetic(operator, evaluate(left, row, cx)?, evaluate(right, row, cx)?, whole.span)?,
    })
}
