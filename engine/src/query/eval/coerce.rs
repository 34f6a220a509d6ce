//! Bringing a value to the kind that the binder gave its expression: an integer among floats becomes a float, a text beside UUIDs a UUID.

use std::collections::BTreeMap;

use super::Unfit;
use crate::query::kind::Kind;
use crate::query::value::CypherValue;
use crate::schema::Type;
use crate::value::{Value, as_float, parse_text, rescale};

/// The value as one of `kind`; null is of every kind.
pub(crate) fn coerce(value: CypherValue, kind: &Kind) -> Result<CypherValue, Unfit> {
    if !needs_coercion(&value, kind) {
        return Ok(value);
    }
    match (value, kind) {
        (CypherValue::Scalar(scalar), kind) => scalar_of(scalar, kind).map(CypherValue::Scalar),
        (CypherValue::List(items), Kind::List(element)) => {
            items.into_iter().map(|item| coerce(item, element)).collect::<Result<_, _>>().map(CypherValue::List)
        }
        (CypherValue::List(items), Kind::Vector(length)) => {
            let whole = CypherValue::List(items);
            match &whole {
                CypherValue::List(items) if u32::try_from(items.len()) == Ok(*length) => {
                    items.iter().map(component).collect::<Option<_>>().map(CypherValue::List)
                }
                _ => None,
            }
            .ok_or_else(|| Unfit::wrong_type(&whole, kind))
        }
        (CypherValue::Map(mut map), Kind::Map(entries)) => {
            let entry = |(name, kind): &(String, Kind)| {
                Ok((name.clone(), coerce(map.remove(name).unwrap_or(CypherValue::NULL), kind)?))
            };
            entries.iter().map(entry).collect::<Result<BTreeMap<_, _>, _>>().map(CypherValue::Map)
        }
        (value, kind) => Err(Unfit::wrong_type(&value, kind)),
    }
}

/// Whether [`coerce`] has anything to do.
pub(crate) fn needs_coercion(value: &CypherValue, kind: &Kind) -> bool {
    match (value, kind) {
        (CypherValue::Scalar(scalar), kind) => match (scalar, kind) {
            (Value::Int(value), Kind::Integer) => i64::try_from(*value).is_err(),
            (Value::Int(value), Kind::Unsigned) => u64::try_from(*value).is_err(),
            (Value::Decimal { unscaled, scale }, Kind::Decimal { precision, scale: wanted }) => {
                scale != wanted || !has_digits(*unscaled, *precision)
            }
            (Value::Null, _)
            | (Value::Bool(_), Kind::Bool)
            | (Value::Float(_), Kind::Float)
            | (Value::String(_), Kind::String)
            | (Value::Date(_), Kind::Date)
            | (Value::Time(_), Kind::Time)
            | (Value::Timestamp(_), Kind::Timestamp)
            | (Value::Uuid(_), Kind::Uuid)
            | (Value::Blob(_), Kind::Blob)
            | (Value::Json(_), Kind::Json) => false,
            _ => true,
        },
        (CypherValue::List(items), Kind::List(element)) => items.iter().any(|item| needs_coercion(item, element)),
        (CypherValue::List(items), Kind::Vector(length)) => {
            u32::try_from(items.len()) != Ok(*length)
                || items.iter().any(|item| !matches!(item, CypherValue::Scalar(Value::Float(_))))
        }
        (CypherValue::Map(map), Kind::Map(entries)) => {
            map.len() != entries.len()
                || entries.iter().any(|(name, kind)| map.get(name).is_none_or(|value| needs_coercion(value, kind)))
        }
        (CypherValue::Node(_) | CypherValue::Edge(_), Kind::Entity(_)) => false,
        _ => true,
    }
}

/// Whether a value of kind `from` may fail to become one of kind `to`.
pub(crate) fn may_not_fit(from: &Kind, to: &Kind) -> bool {
    match (from, to) {
        (Kind::Null, _) | (Kind::Integer | Kind::Unsigned | Kind::Decimal { .. } | Kind::Float, Kind::Float) => false,
        (Kind::List(from), Kind::List(to)) => may_not_fit(from, to),
        (Kind::Vector(_), Kind::List(to)) => may_not_fit(&Kind::Float, to),
        (Kind::Map(from), Kind::Map(to)) => from
            .iter()
            .any(|(name, from)| to.iter().find(|(known, _)| known == name).is_none_or(|(_, to)| may_not_fit(from, to))),
        (from, to) => from != to,
    }
}

fn scalar_of(value: Value, kind: &Kind) -> Result<Value, Unfit> {
    let fits = match (&value, kind) {
        (Value::Int(_) | Value::Decimal { .. }, Kind::Float) => as_float(&value).map(Value::Float),
        (Value::String(text), Kind::Uuid) => parse_text(text, &Type::Uuid).ok(),
        (Value::Int(number), Kind::Decimal { precision, scale }) => decimal((*number, 0), *precision, *scale),
        (Value::Decimal { unscaled, scale: from }, Kind::Decimal { precision, scale }) => {
            decimal((*unscaled, *from), *precision, *scale)
        }
        _ => None,
    };
    fits.ok_or_else(|| {
        let number = matches!(value, Value::Int(_) | Value::Decimal { .. });
        let value = CypherValue::Scalar(value);
        if number && matches!(kind, Kind::Integer | Kind::Unsigned | Kind::Decimal { .. }) {
            Unfit::overflow(&value, kind)
        } else {
            Unfit::wrong_type(&value, kind)
        }
    })
}

fn decimal((unscaled, from): (i128, u8), precision: u8, scale: u8) -> Option<Value> {
    let unscaled = rescale(unscaled, from, scale)?;
    has_digits(unscaled, precision).then_some(Value::Decimal { unscaled, scale })
}

fn has_digits(unscaled: i128, precision: u8) -> bool {
    10_u128.checked_pow(precision.into()).is_some_and(|limit| unscaled.unsigned_abs() < limit)
}

/// A component of a vector, which is never null.
fn component(value: &CypherValue) -> Option<CypherValue> {
    match value {
        CypherValue::Scalar(number) => as_float(number).map(|number| CypherValue::Scalar(Value::Float(number))),
        _ => None,
    }
}
