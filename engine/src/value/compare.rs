//! Equality and order of values: exact between numbers of different types, null where either is unknown.

use std::cmp::Ordering;

use super::Value;
use crate::syntax::CompareOp;

/// The result of a comparison as openCypher has it; `None` is null.
pub(crate) fn compare(operator: CompareOp, left: &Value, right: &Value) -> Option<bool> {
    match operator {
        CompareOp::Equal => equal(left, right),
        CompareOp::NotEqual => equal(left, right).map(|value| !value),
        _ if matches!((left, right), (Value::Null, _) | (_, Value::Null)) => None,
        _ => match order(left, right) {
            // NaN is neither smaller nor larger than any number.
            None if is_number(left) && is_number(right) => Some(false),
            None => None,
            Some(order) => Some(match operator {
                CompareOp::Less => order.is_lt(),
                CompareOp::LessEqual => order.is_le(),
                CompareOp::Greater => order.is_gt(),
                _ => order.is_ge(),
            }),
        },
    }
}

/// Whether two values are equal; `None` if a null leaves it open. NaN equals nothing.
pub(crate) fn equal(left: &Value, right: &Value) -> Option<bool> {
    match (left, right) {
        (Value::Null, _) | (_, Value::Null) => None,
        (Value::List(left), Value::List(right)) => {
            if left.len() != right.len() {
                return Some(false);
            }
            let mut unknown = false;
            for (left, right) in left.iter().zip(right) {
                match equal(left, right) {
                    Some(false) => return Some(false),
                    Some(true) => {}
                    None => unknown = true,
                }
            }
            (!unknown).then_some(true)
        }
        _ if is_number(left) && is_number(right) => Some(order(left, right) == Some(Ordering::Equal)),
        _ => Some(left == right),
    }
}

/// Whether arithmetic can be done with it.
const fn is_number(value: &Value) -> bool {
    matches!(value, Value::Int(_) | Value::Decimal { .. } | Value::Float(_))
}

/// Which of two values comes first; `None` for NaN and for what has no order.
fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        (Value::Date(left), Value::Date(right)) => Some(left.cmp(right)),
        (Value::Time(left), Value::Time(right)) | (Value::Timestamp(left), Value::Timestamp(right)) => {
            Some(left.cmp(right))
        }
        (Value::Float(left), Value::Float(right)) => left.partial_cmp(right),
        (Value::Float(left), right) => exact(right).and_then(|right| order_float(right, *left)).map(Ordering::reverse),
        (left, Value::Float(right)) => exact(left).and_then(|left| order_float(left, *right)),
        (left, right) => Some(order_exact(exact(left)?, exact(right)?)),
    }
}

/// `unscaled · 10^(−scale)`.
type Exact = (i128, u8);

const fn exact(value: &Value) -> Option<Exact> {
    match value {
        Value::Int(value) => Some((*value, 0)),
        Value::Decimal { unscaled, scale } => Some((*unscaled, *scale)),
        _ => None,
    }
}

/// The magnitude as a whole number and a fraction, the latter over the power of ten that comes third. The largest power that
/// fits is 10^38, which is also the largest scale.
fn split((unscaled, scale): Exact) -> (u128, u128, u128) {
    let one = 10_u128.saturating_pow(scale.into());
    (unscaled.unsigned_abs() / one, unscaled.unsigned_abs() % one, one)
}

fn order_exact(left: Exact, right: Exact) -> Ordering {
    let signs = left.0.signum().cmp(&right.0.signum());
    if signs.is_ne() {
        return signs;
    }
    let ((left_whole, left_rest, left_one), (right_whole, right_rest, right_one)) = (split(left), split(right));
    // The smaller power of ten divides the larger one, so neither product exceeds the larger one.
    let one = left_one.max(right_one);
    let rest = (left_rest * (one / left_one)).cmp(&(right_rest * (one / right_one)));
    let magnitude = left_whole.cmp(&right_whole).then(rest);
    if left.0 < 0 { magnitude.reverse() } else { magnitude }
}

/// Compares without rounding: a float is a whole number and a binary fraction of finitely many bits.
fn order_float(left: Exact, right: f64) -> Option<Ordering> {
    if right.is_nan() {
        return None;
    }
    let sign = if right > 0.0 {
        1
    } else if right < 0.0 {
        -1
    } else {
        0
    };
    let signs = left.0.signum().cmp(&sign);
    if signs.is_ne() || sign == 0 {
        return Some(signs);
    }
    let magnitude = order_magnitude(left, right.abs());
    Some(if sign < 0 { magnitude.reverse() } else { magnitude })
}

fn order_magnitude(left: Exact, right: f64) -> Ordering {
    const TWO_POW_128: f64 = 340_282_366_920_938_463_463_374_607_431_768_211_456.0;
    if right >= TWO_POW_128 {
        return Ordering::Less;
    }
    let (whole, mut rest, one) = split(left);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number in 0..2^128")]
    let right_whole = right.trunc() as u128;
    let wholes = whole.cmp(&right_whole);
    if wholes.is_ne() {
        return wholes;
    }
    // Bit by bit; doubling a float and taking off its whole part are exact.
    let mut right_rest = right.fract();
    while right_rest > 0.0 {
        rest *= 2;
        right_rest *= 2.0;
        let bits = (rest >= one).cmp(&(right_rest >= 1.0));
        if bits.is_ne() {
            return bits;
        }
        rest %= one;
        right_rest = right_rest.fract();
    }
    rest.cmp(&0)
}
