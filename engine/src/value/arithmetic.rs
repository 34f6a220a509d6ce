//! Arithmetic: whole numbers and decimals exactly, floats as IEEE 754 has it.

use super::Value;
use crate::syntax::BinaryOp;

/// The most digits after the point that a decimal can have.
const MAX_SCALE: u8 = 38;

/// Why two values have no sum, product and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoResult {
    /// A whole number or a decimal is divided by zero.
    DivisionByZero,
    /// The result has more digits than a number can have.
    Overflow,
    /// The operator is not for values of these types.
    Unfit,
}

/// `left operator right`; null if either is null. Integers divide as integers, decimals and floats as floats.
pub(crate) fn arithmetic(operator: BinaryOp, left: Value, right: Value) -> Result<Value, NoResult> {
    match (left, right) {
        (Value::Null, _) | (_, Value::Null) => Ok(Value::Null),
        (Value::String(left), Value::String(right)) => Ok(Value::String(left + &right)),
        (Value::List(mut left), Value::List(right)) => {
            left.extend(right);
            Ok(Value::List(left))
        }
        (left, right) if operator == BinaryOp::Power => Ok(Value::Float(float(&left)?.powf(float(&right)?))),
        (Value::Int(left), Value::Int(right)) => integers(operator, left, right),
        (left, right) => match (exact(&left), exact(&right)) {
            (Some(left), Some(right)) if operator != BinaryOp::Divide => decimals(operator, left, right),
            (Some(_), Some((0, _))) => Err(NoResult::DivisionByZero),
            _ => floats(operator, float(&left)?, float(&right)?),
        },
    }
}

/// `-value`.
pub(crate) fn negate(value: &Value) -> Result<Value, NoResult> {
    Ok(match value {
        Value::Int(value) => Value::Int(value.checked_neg().ok_or(NoResult::Overflow)?),
        Value::Decimal { unscaled, scale } => {
            Value::Decimal { unscaled: unscaled.checked_neg().ok_or(NoResult::Overflow)?, scale: *scale }
        }
        Value::Float(value) => Value::Float(-value),
        _ => Value::Null,
    })
}

/// The nearest float; `None` of what is no number.
pub(crate) fn as_float(value: &Value) -> Option<f64> {
    match value {
        // Through text, since dividing by a power of ten would round twice.
        Value::Decimal { unscaled, scale } => format!("{unscaled}e-{scale}").parse().ok(),
        #[expect(clippy::cast_precision_loss, reason = "the nearest is asked for")]
        Value::Int(value) => Some(*value as f64),
        Value::Float(value) => Some(*value),
        _ => None,
    }
}

fn float(value: &Value) -> Result<f64, NoResult> {
    as_float(value).ok_or(NoResult::Unfit)
}

const fn not_zero(value: i128) -> Result<(), NoResult> {
    if value == 0 { Err(NoResult::DivisionByZero) } else { Ok(()) }
}

const fn exact(value: &Value) -> Option<(i128, u8)> {
    match value {
        Value::Int(value) => Some((*value, 0)),
        Value::Decimal { unscaled, scale } => Some((*unscaled, *scale)),
        _ => None,
    }
}

fn integers(operator: BinaryOp, left: i128, right: i128) -> Result<Value, NoResult> {
    if matches!(operator, BinaryOp::Divide | BinaryOp::Remainder) {
        not_zero(right)?;
    }
    let result = match operator {
        BinaryOp::Add => left.checked_add(right),
        BinaryOp::Subtract => left.checked_sub(right),
        BinaryOp::Multiply => left.checked_mul(right),
        BinaryOp::Divide => left.checked_div(right),
        BinaryOp::Remainder => left.checked_rem(right),
        _ => return Err(NoResult::Unfit),
    };
    result.map(Value::Int).ok_or(NoResult::Overflow)
}

fn decimals(operator: BinaryOp, left: (i128, u8), right: (i128, u8)) -> Result<Value, NoResult> {
    if operator == BinaryOp::Multiply {
        let unscaled = left.0.checked_mul(right.0).ok_or(NoResult::Overflow)?;
        return shortened(unscaled, u16::from(left.1) + u16::from(right.1));
    }
    if operator == BinaryOp::Remainder {
        not_zero(right.0)?;
    }
    let scale = left.1.max(right.1);
    let (left, right) = (rescale(left, scale)?, rescale(right, scale)?);
    let unscaled = match operator {
        BinaryOp::Add => left.checked_add(right),
        BinaryOp::Subtract => left.checked_sub(right),
        BinaryOp::Remainder => left.checked_rem(right),
        _ => return Err(NoResult::Unfit),
    };
    Ok(Value::Decimal { unscaled: unscaled.ok_or(NoResult::Overflow)?, scale })
}

/// Drops zeros at the end until the digits after the point are few enough; never drops another digit.
fn shortened(mut unscaled: i128, mut scale: u16) -> Result<Value, NoResult> {
    while scale > u16::from(MAX_SCALE) && unscaled % 10 == 0 {
        unscaled /= 10;
        scale -= 1;
    }
    match u8::try_from(scale) {
        Ok(scale) if scale <= MAX_SCALE => Ok(Value::Decimal { unscaled, scale }),
        _ => Err(NoResult::Overflow),
    }
}

fn rescale((unscaled, scale): (i128, u8), wanted: u8) -> Result<i128, NoResult> {
    let factor = 10_i128.checked_pow(u32::from(wanted - scale)).ok_or(NoResult::Overflow)?;
    unscaled.checked_mul(factor).ok_or(NoResult::Overflow)
}

fn floats(operator: BinaryOp, left: f64, right: f64) -> Result<Value, NoResult> {
    Ok(Value::Float(match operator {
        BinaryOp::Add => left + right,
        BinaryOp::Subtract => left - right,
        BinaryOp::Multiply => left * right,
        BinaryOp::Divide => left / right,
        BinaryOp::Remainder => left % right,
        _ => return Err(NoResult::Unfit),
    }))
}
