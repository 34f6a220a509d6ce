//! Truth values: connecting them, chains of comparisons, and choices.

use super::compare::{compare, equal};
use super::{EvalContext, Row, eval};
use crate::query::bound::Expr;
use crate::query::fault::Fault;
use crate::query::value::CypherValue;
use crate::syntax::{BinaryOp, CompareOp};
use crate::value::Value;

pub(super) fn truth(value: Option<bool>) -> CypherValue {
    CypherValue::Scalar(value.map_or(Value::Null, Value::Bool))
}

pub(super) const fn truth_of(value: &CypherValue) -> Option<bool> {
    match value {
        CypherValue::Scalar(Value::Bool(value)) => Some(*value),
        _ => None,
    }
}

/// `AND`, `OR`, `XOR`. The right side is left alone when the left side decides, so that `b <> 0 AND a / b > 1` can be relied on.
pub(super) fn connect(
    operator: BinaryOp,
    left: &Expr,
    right: &Expr,
    row: &dyn Row,
    cx: &EvalContext,
) -> Result<Option<bool>, Fault> {
    let decisive = match operator {
        BinaryOp::And => Some(false),
        BinaryOp::Or => Some(true),
        _ => None,
    };
    let left = truth_of(&*eval(left, row, cx)?);
    if decisive.is_some() && left == decisive {
        return Ok(decisive);
    }
    let right = truth_of(&*eval(right, row, cx)?);
    if decisive.is_some() && right == decisive {
        return Ok(decisive);
    }
    Ok(match (left, right) {
        // Neither decides, so both are the other value; or it is XOR.
        (Some(left), Some(right)) => Some(if decisive.is_some() { left } else { left != right }),
        _ => None,
    })
}

/// `a < b <= c` is `a < b AND b <= c`, each operand evaluated once, and none after the first comparison that is false.
pub(super) fn chain(
    first: &Expr,
    rest: &[(CompareOp, Expr)],
    row: &dyn Row,
    cx: &EvalContext,
) -> Result<Option<bool>, Fault> {
    let mut left = eval(first, row, cx)?;
    let mut unknown = false;
    for (operator, right) in rest {
        let right = eval(right, row, cx)?;
        match compare(*operator, &left, &right, cx) {
            Some(false) => return Ok(Some(false)),
            Some(true) => {}
            None => unknown = true,
        }
        left = right;
    }
    Ok((!unknown).then_some(true))
}

/// The result of the first arm that applies.
pub(super) fn chosen<'a>(
    operand: Option<&Expr>,
    arms: &'a [(Vec<Expr>, Expr)],
    row: &dyn Row,
    cx: &EvalContext,
) -> Result<Option<&'a Expr>, Fault> {
    let operand = operand.map(|operand| eval(operand, row, cx)).transpose()?;
    for (whens, then) in arms {
        for when in whens {
            let when = eval(when, row, cx)?;
            let applies = match &operand {
                Some(operand) => equal(operand, &when, cx),
                None => truth_of(&when),
            };
            if applies == Some(true) {
                return Ok(Some(then));
            }
        }
    }
    Ok(None)
}
