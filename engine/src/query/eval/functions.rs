//! Calls of functions, by the values of their arguments.

use super::fault::shown;
use super::{EvalContext, Sort, convert, entity, fault, lists, numbers, text, within_bounds};
use crate::query::bound::Function;
use crate::query::fault::Fault;
use crate::query::value::CypherValue;
use crate::syntax::Span;
use crate::value::Value;

/// The value of a call; null if an argument is null. `coalesce`, which is not so, is never called here.
pub(super) fn call(
    function: Function,
    arguments: Vec<CypherValue>,
    span: Span,
    cx: &EvalContext,
) -> Result<CypherValue, Fault> {
    if arguments.iter().any(CypherValue::is_null) {
        return Ok(CypherValue::NULL);
    }
    let mut arguments = arguments.into_iter();
    let Some(first) = arguments.next() else { return Ok(without_arguments(function, cx)) };
    let (second, third) = (arguments.next(), arguments.next());
    let scalar = |value: Value| Ok(CypherValue::Scalar(value));
    let string = |text: String| Ok(CypherValue::Scalar(Value::String(text)));
    match (function, first, second) {
        (Function::Labels, node, _) => Ok(entity::labels(&node)),
        (Function::Type, edge, _) => Ok(entity::type_of(&edge)),
        (Function::Keys, of, _) => Ok(entity::keys(&of)),
        (Function::Properties, of, _) => Ok(entity::as_map(of)),
        (Function::Size, CypherValue::List(items), _) => scalar(length(items.len())),
        (Function::Size, CypherValue::Scalar(Value::String(text)), _) => scalar(length(text.chars().count())),
        (Function::Head, CypherValue::List(items), _) => Ok(items.into_iter().next().unwrap_or(CypherValue::NULL)),
        (Function::Last, CypherValue::List(items), _) => Ok(items.into_iter().next_back().unwrap_or(CypherValue::NULL)),
        (Function::Tail, CypherValue::List(items), _) => Ok(CypherValue::List(items.into_iter().skip(1).collect())),
        (Function::Reverse, CypherValue::List(items), _) => Ok(CypherValue::List(items.into_iter().rev().collect())),
        (Function::Reverse, CypherValue::Scalar(Value::String(text)), _) => string(text.chars().rev().collect()),
        (Function::Range, CypherValue::Scalar(Value::Int(from)), Some(CypherValue::Scalar(Value::Int(to)))) => {
            match third {
                None => lists::range(from, to, 1, span),
                Some(CypherValue::Scalar(Value::Int(step))) => lists::range(from, to, step, span),
                Some(other) => Err(unfit(function, &other, span)),
            }
        }
        (Function::ToLower, CypherValue::Scalar(Value::String(text)), _) => string(text.to_lowercase()),
        (Function::ToUpper, CypherValue::Scalar(Value::String(text)), _) => string(text.to_uppercase()),
        (Function::Trim, CypherValue::Scalar(Value::String(text)), _) => string(text.trim().to_owned()),
        (Function::LTrim, CypherValue::Scalar(Value::String(text)), _) => string(text.trim_start().to_owned()),
        (Function::RTrim, CypherValue::Scalar(Value::String(text)), _) => string(text.trim_end().to_owned()),
        (Function::Split | Function::Replace, CypherValue::Scalar(Value::String(text)), Some(by)) => {
            match (by, third) {
                (CypherValue::Scalar(Value::String(by)), None) => Ok(text::split(&text, &by)),
                (CypherValue::Scalar(Value::String(by)), Some(CypherValue::Scalar(Value::String(new)))) => {
                    let times = text.matches(&by).count();
                    let longer = times.saturating_mul(new.len()).saturating_add(text.len());
                    within_bounds(longer.saturating_sub(times * by.len()), "a text of too many bytes", span)?;
                    string(text.replace(&by, &new))
                }
                (other, _) => Err(unfit(function, &other, span)),
            }
        }
        (
            Function::Substring | Function::Left | Function::Right,
            CypherValue::Scalar(Value::String(text)),
            Some(CypherValue::Scalar(Value::Int(number))),
        ) => {
            let length = match third {
                Some(CypherValue::Scalar(Value::Int(length))) => Some(length),
                _ => None,
            };
            string(match function {
                Function::Left => text::left(&text, number, span)?,
                Function::Right => text::right(&text, number, span)?,
                _ => text::substring(&text, number, length, span)?,
            })
        }
        (Function::Round, CypherValue::Scalar(number), digits) => match digits {
            None => scalar(numbers::round(&number, None, span)?),
            Some(CypherValue::Scalar(Value::Int(digits))) => scalar(numbers::round(&number, Some(digits), span)?),
            Some(other) => Err(unfit(function, &other, span)),
        },
        (Function::ToString, CypherValue::Scalar(value), _) => string(convert::to_string(value)),
        (Function::ToInteger, CypherValue::Scalar(value), _) => scalar(convert::to_integer(&value, span)?),
        (Function::ToFloat, CypherValue::Scalar(value), _) => scalar(convert::to_float(&value)),
        (Function::ToBoolean, CypherValue::Scalar(value), _) => scalar(convert::to_boolean(&value)),
        (Function::Date | Function::Time | Function::DateTime, CypherValue::Scalar(value), _) => {
            scalar(convert::temporal(function, value, span)?)
        }
        (
            Function::Abs
            | Function::Ceil
            | Function::Floor
            | Function::Sign
            | Function::Sqrt
            | Function::Exp
            | Function::Log
            | Function::Log10,
            CypherValue::Scalar(number),
            _,
        ) => scalar(numbers::function(function, &number, span)?),
        (function, first, _) => Err(unfit(function, &first, span)),
    }
}

/// What depends on the request alone.
fn without_arguments(function: Function, cx: &EvalContext) -> CypherValue {
    let now = Value::Timestamp(cx.now().0);
    CypherValue::Scalar(match function {
        Function::RandomUuid => Value::Uuid(cx.uuid()),
        Function::DateTime => now,
        Function::Date | Function::Time => {
            // The time of a request is within the years of the calendar.
            convert::temporal(function, now, Span::new(0, 0)).unwrap_or(Value::Null)
        }
        _ => Value::Null,
    })
}

fn length(length: usize) -> Value {
    Value::Int(i128::try_from(length).unwrap_or(i128::MAX))
}

fn unfit(function: Function, value: &CypherValue, span: Span) -> Fault {
    fault(&Sort::WrongType, span, format!("`{function:?}` has no answer for {}", shown(value)))
}
