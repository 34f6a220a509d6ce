//! Arithmetic: whole numbers and decimals exactly, floats as IEEE 754 has it.

use super::eval::Fault;
use crate::schema::syntax::BinaryOp;
use crate::value::Value;

/// The most digits after the point that a decimal can have.
const MAX_SCALE: u8 = 38;

/// `left operator right`; null if either is null. Integers divide as integers, decimals and floats as floats.
pub(super) fn arithmetic(operator: BinaryOp, left: Value, right: Value) -> Result<Value, Fault> {
    match (left, right) {
        (Value::Null, _) | (_, Value::Null) => Ok(Value::Null),
        (Value::String(left), Value::String(right)) => Ok(Value::String(left + &right)),
        (Value::List(mut left), Value::List(right)) => {
            left.extend(right);
            Ok(Value::List(left))
        }
        (left, right) if operator == BinaryOp::Power => {
            Ok(Value::Float(as_float(&left).ok_or(Fault)?.powf(as_float(&right).ok_or(Fault)?)))
        }
        (Value::Int(left), Value::Int(right)) => integers(operator, left, right),
        (left, right) => match (exact(&left), exact(&right)) {
            (Some(left), Some(right)) if operator != BinaryOp::Divide => decimals(operator, left, right),
            (Some(_), Some((0, _))) => Err(Fault),
            _ => floats(operator, as_float(&left).ok_or(Fault)?, as_float(&right).ok_or(Fault)?),
        },
    }
}

/// `-value`.
pub(super) fn negate(value: &Value) -> Result<Value, Fault> {
    Ok(match value {
        Value::Int(value) => Value::Int(value.checked_neg().ok_or(Fault)?),
        Value::Decimal { unscaled, scale } => {
            Value::Decimal { unscaled: unscaled.checked_neg().ok_or(Fault)?, scale: *scale }
        }
        Value::Float(value) => Value::Float(-value),
        _ => Value::Null,
    })
}

/// The nearest float.
fn as_float(value: &Value) -> Option<f64> {
    match value {
        // Through text, since dividing by a power of ten would round twice.
        Value::Decimal { unscaled, scale } => format!("{unscaled}e-{scale}").parse().ok(),
        Value::Int(value) => value.to_string().parse().ok(),
        Value::Float(value) => Some(*value),
        _ => None,
    }
}

const fn exact(value: &Value) -> Option<(i128, u8)> {
    match value {
        Value::Int(value) => Some((*value, 0)),
        Value::Decimal { unscaled, scale } => Some((*unscaled, *scale)),
        _ => None,
    }
}

fn integers(operator: BinaryOp, left: i128, right: i128) -> Result<Value, Fault> {
    let result = match operator {
        BinaryOp::Add => left.checked_add(right),
        BinaryOp::Subtract => left.checked_sub(right),
        BinaryOp::Multiply => left.checked_mul(right),
        BinaryOp::Divide => left.checked_div(right),
        BinaryOp::Remainder => left.checked_rem(right),
        _ => None,
    };
    result.map(Value::Int).ok_or(Fault)
}

fn decimals(operator: BinaryOp, left: (i128, u8), right: (i128, u8)) -> Result<Value, Fault> {
    if operator == BinaryOp::Multiply {
        let unscaled = left.0.checked_mul(right.0).ok_or(Fault)?;
        return shortened(unscaled, u16::from(left.1) + u16::from(right.1));
    }
    let scale = left.1.max(right.1);
    let (left, right) = (rescale(left, scale)?, rescale(right, scale)?);
    let unscaled = match operator {
        BinaryOp::Add => left.checked_add(right),
        BinaryOp::Subtract => left.checked_sub(right),
        BinaryOp::Remainder => left.checked_rem(right),
        _ => None,
    };
    Ok(Value::Decimal { unscaled: unscaled.ok_or(Fault)?, scale })
}

/// Drops zeros at the end until the digits after the point are few enough; never drops another digit.
fn shortened(mut unscaled: i128, mut scale: u16) -> Result<Value, Fault> {
    while scale > u16::from(MAX_SCALE) && unscaled % 10 == 0 {
        unscaled /= 10;
        scale -= 1;
    }
    match u8::try_from(scale) {
        Ok(scale) if scale <= MAX_SCALE => Ok(Value::Decimal { unscaled, scale }),
        _ => Err(Fault),
    }
}

fn rescale((unscaled, scale): (i128, u8), wanted: u8) -> Result<i128, Fault> {
    let factor = 10_i128.checked_pow(u32::from(wanted - scale)).ok_or(Fault)?;
    unscaled.checked_mul(factor).ok_or(Fault)
}

fn floats(operator: BinaryOp, left: f64, right: f64) -> Result<Value, Fault> {
    Ok(Value::Float(match operator {
        BinaryOp::Add => left + right,
        BinaryOp::Subtract => left - right,
        BinaryOp::Multiply => left * right,
        BinaryOp::Divide => left / right,
        BinaryOp::Remainder => left % right,
        _ => return Err(Fault),
    }))
}
