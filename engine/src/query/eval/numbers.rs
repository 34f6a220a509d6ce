//! Arithmetic and the functions of numbers.

use super::fault::{shown, shown_scalar};
use super::{Sort, fault};
use crate::query::bound::Function;
use crate::query::fault::Fault;
use crate::query::value::CypherValue;
use crate::syntax::{BinaryOp, Span};
use crate::value::{self, NoResult, Value, as_float, negate};

/// The most digits after the point that rounding can change: no float has more between 0.1 and 1.
const MAX_DIGITS: usize = 17;

/// The longest text and the longest list that are made, in bytes and elements: twice as much is made in one step, and a few steps fill
/// any memory.
const LONGEST: usize = 64 << 20;

/// Refuses to make a text or a list of this length.
pub(crate) fn within_bounds(length: usize, what: &str, span: Span) -> Result<(), Fault> {
    if length <= LONGEST {
        return Ok(());
    }
    Err(fault(&Sort::ValueTooLarge, span, format!("this would be {what}, and {LONGEST} are the most")))
}

/// `left operator right`; null if either is null. `+` also joins strings and lists, and puts an element before or behind a list.
pub(super) fn arithmetic(
    operator: BinaryOp,
    left: CypherValue,
    right: CypherValue,
    span: Span,
) -> Result<CypherValue, Fault> {
    if left.is_null() || right.is_null() {
        return Ok(CypherValue::NULL);
    }
    match (left, right) {
        (CypherValue::List(mut left), right) if operator == BinaryOp::Add => {
            let added = if let CypherValue::List(right) = &right { right.len() } else { 1 };
            within_bounds(left.len() + added, "a list of too many elements", span)?;
            match right {
                CypherValue::List(right) => left.extend(right),
                element => left.push(element),
            }
            Ok(CypherValue::List(left))
        }
        (element, CypherValue::List(mut right)) if operator == BinaryOp::Add => {
            right.insert(0, element);
            Ok(CypherValue::List(right))
        }
        (CypherValue::Scalar(left), CypherValue::Scalar(right)) => {
            if let (Value::String(left), Value::String(right)) = (&left, &right) {
                within_bounds(left.len() + right.len(), "a text of too many bytes", span)?;
            }
            let (shown_left, shown_right) = (shown_scalar(&left), shown_scalar(&right));
            let told = |why| refused(why, &format!("{shown_left} {} {shown_right}", operator.as_str()), span);
            in_bounds(value::arithmetic(operator, left, right)).map(CypherValue::Scalar).map_err(told)
        }
        (left, right) => {
            let text = format!("{} {} {}", shown(&left), operator.as_str(), shown(&right));
            Err(refused(NoResult::Unfit, &text, span))
        }
    }
}

/// `-value`.
pub(super) fn negated(value: &CypherValue, span: Span) -> Result<CypherValue, Fault> {
    match value {
        CypherValue::Scalar(scalar) => {
            let told = |why| refused(why, &format!("-{}", shown_scalar(scalar)), span);
            in_bounds(negate(scalar)).map(CypherValue::Scalar).map_err(told)
        }
        other => Err(refused(NoResult::Unfit, &format!("-{}", shown(other)), span)),
    }
}

/// An integer of a query has 64 bits, whatever the properties are that it is made of.
fn in_bounds(result: Result<Value, NoResult>) -> Result<Value, NoResult> {
    match result {
        Ok(Value::Int(value)) if i64::try_from(value).is_err() => Err(NoResult::Overflow),
        result => result,
    }
}

fn refused(why: NoResult, expression: &str, span: Span) -> Fault {
    match why {
        NoResult::DivisionByZero => Fault {
            help: Some("leave out rows where the divisor is 0, or use CASE".to_owned()),
            ..fault(&Sort::DivisionByZero, span, format!("{expression} divides by zero"))
        },
        NoResult::Overflow => Fault {
            help: Some("use toFloat(…) where the nearest float will do".to_owned()),
            ..fault(&Sort::NumberOverflow, span, format!("{expression} has too many digits"))
        },
        NoResult::Unfit => fault(&Sort::WrongType, span, format!("{expression} cannot be computed")),
    }
}

/// A function of one number.
pub(super) fn function(function: Function, number: &Value, span: Span) -> Result<Value, Fault> {
    let float = as_float(number).ok_or_else(|| wrong_type(function, number, span))?;
    Ok(match (function, number) {
        (Function::Abs, Value::Int(value)) => {
            Value::Int(i64::try_from(value.abs()).map_err(|_| too_large("abs", number, span))?.into())
        }
        (Function::Abs, Value::Decimal { unscaled, scale }) => {
            Value::Decimal { unscaled: unscaled.abs(), scale: *scale }
        }
        (Function::Abs, _) => Value::Float(float.abs()),
        (Function::Sign, Value::Int(value) | Value::Decimal { unscaled: value, .. }) => Value::Int(value.signum()),
        (Function::Sign, _) if float > 0.0 => Value::Int(1),
        (Function::Sign, _) if float < 0.0 => Value::Int(-1),
        (Function::Sign, _) => Value::Int(0),
        (Function::Ceil | Function::Floor, Value::Int(_)) => number.clone(),
        (Function::Ceil | Function::Floor, Value::Decimal { unscaled, scale }) => {
            let one = 10_i128.saturating_pow((*scale).into());
            let up = function == Function::Ceil && unscaled.rem_euclid(one) != 0;
            Value::Decimal { unscaled: unscaled.div_euclid(one) + i128::from(up), scale: 0 }
        }
        (Function::Ceil, _) => Value::Float(float.ceil()),
        (Function::Floor, _) => Value::Float(float.floor()),
        (Function::Sqrt, _) => Value::Float(float.sqrt()),
        (Function::Exp, _) => Value::Float(float.exp()),
        (Function::Log, _) => Value::Float(float.ln()),
        (Function::Log10, _) => Value::Float(float.log10()),
        _ => return Err(wrong_type(function, number, span)),
    })
}

/// `round(number[, digits])`: half away from zero, by the digits that the number is written with.
pub(super) fn round(number: &Value, digits: Option<i128>, span: Span) -> Result<Value, Fault> {
    let digits = usize::try_from(digits.unwrap_or(0)).map_err(|_| {
        fault(
            &Sort::InvalidArgument,
            span,
            "`round` keeps a number of digits after the point, which cannot be negative",
        )
    })?;
    match number {
        Value::Int(_) => Ok(number.clone()),
        Value::Float(value) => Ok(Value::Float(round_float(*value, digits))),
        Value::Decimal { unscaled, scale } => {
            let dropped = usize::from(*scale).saturating_sub(digits);
            let kept = u8::try_from(usize::from(*scale) - dropped).unwrap_or(*scale);
            let unit = u32::try_from(dropped).ok().and_then(|dropped| 10_i128.checked_pow(dropped));
            let unscaled = unit.map_or(0, |unit| round_at(*unscaled, unit));
            Ok(Value::Decimal { unscaled, scale: kept })
        }
        other => Err(wrong_type(Function::Round, other, span)),
    }
}

/// `value / unit`, half away from zero.
const fn round_at(value: i128, unit: i128) -> i128 {
    let (whole, rest) = (value / unit, value % unit);
    // Compared without doubling, which might not fit.
    if rest.unsigned_abs() >= unit.unsigned_abs() - rest.unsigned_abs() && rest != 0 {
        whole + rest.signum()
    } else {
        whole
    }
}

/// Rounds what the shortest spelling says: 2.675 is written so and becomes 2.68, although the float is a little less.
fn round_float(value: f64, digits: usize) -> f64 {
    let text = format!("{value}");
    let Some((whole, fraction)) = text.split_once('.') else { return value };
    if fraction.len() <= digits || digits > MAX_DIGITS * 2 {
        return value;
    }
    if digits == 0 {
        return if fraction.as_bytes().first().is_some_and(|digit| *digit >= b'5') {
            value.trunc() + value.signum()
        } else {
            value.trunc()
        };
    }
    let kept = format!("{whole}{}", &fraction[..digits]);
    let Ok(unscaled) = kept.trim_start_matches('-').parse::<u128>() else { return value };
    let up = fraction.as_bytes().get(digits).is_some_and(|digit| *digit >= b'5');
    let rounded: f64 = format!("{}e-{digits}", unscaled + u128::from(up)).parse().unwrap_or(value.abs());
    rounded.copysign(value)
}

fn wrong_type(function: Function, value: &Value, span: Span) -> Fault {
    fault(&Sort::WrongType, span, format!("{function:?} needs a number, and this is {}", shown_scalar(value)))
}

fn too_large(function: &str, value: &Value, span: Span) -> Fault {
    fault(
        &Sort::NumberOverflow,
        span,
        format!("{function}({}) does not fit an integer of 64 bits", shown_scalar(value)),
    )
}
