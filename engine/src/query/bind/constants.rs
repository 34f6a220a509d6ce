//! Constants: literals, and the values of parameters.

use std::collections::BTreeMap;

use super::clash::clash;
use super::{Binder, null};
use crate::query::CypherValue;
use crate::query::bound::{Expr, ExprNode};
use crate::query::kind::Kind;
use crate::schema::Type;
use crate::syntax::{Finding, Span, exact_decimal, suggest};
use crate::value::{Value, parse_text, shorten};

impl Binder<'_> {
    pub(super) fn integer(value: i128, span: Span) -> Result<Expr, Finding> {
        let kind = kind_of_integer(value).ok_or_else(|| {
            Finding::new(span, "the number is too large: an integer has 64 bits")
                .with_help("write it with a decimal point")
        })?;
        Ok(constant(Value::Int(value), kind, span))
    }

    /// A number with a point: the nearest float, unless it meets a decimal later.
    pub(super) fn float(&mut self, value: f64, text: &str, span: Span) -> Expr {
        if let Some(exact) = exact_decimal(text) {
            self.exact.insert(span, exact);
        }
        constant(Value::Float(value), Kind::Float, span)
    }

    /// Takes numbers with a point as they are written, where they meet decimals.
    pub(super) fn prefer_exact(&self, expr: &mut Expr) {
        match &mut expr.node {
            ExprNode::Constant(CypherValue::Scalar(value @ Value::Float(_))) => {
                let Some(&(unscaled, scale)) = self.exact.get(&expr.span) else { return };
                *value = Value::Decimal { unscaled, scale };
                expr.kind = kind_of_decimal(unscaled, scale);
            }
            ExprNode::Unary(_, operand) => {
                self.prefer_exact(operand);
                expr.kind = operand.kind.clone();
            }
            _ => {}
        }
    }

    /// The value of `$name`.
    pub(super) fn parameter(&self, name: &str, span: Span) -> Result<Expr, Finding> {
        let Some(value) = self.params.get(name) else {
            let finding = Finding::new(span, format!("the parameter `${name}` has no value"));
            return Err(suggest(finding, name, self.params.names()));
        };
        let kind = kind_of_value(value).map_err(|reason| Finding::new(span, format!("`${name}` {reason}")))?;
        Ok(match converted(value, &kind) {
            Some(value) => Expr { node: ExprNode::Constant(value), kind, span },
            None => null(span),
        })
    }
}

/// A scalar constant.
pub(super) const fn constant(value: Value, kind: Kind, span: Span) -> Expr {
    Expr { node: ExprNode::Constant(CypherValue::Scalar(value)), kind, span }
}

fn kind_of_integer(value: i128) -> Option<Kind> {
    match value {
        _ if i64::try_from(value).is_ok() => Some(Kind::Integer),
        _ if u64::try_from(value).is_ok() => Some(Kind::Unsigned),
        _ => None,
    }
}

fn kind_of_decimal(unscaled: i128, scale: u8) -> Kind {
    let digits = u8::try_from(unscaled.unsigned_abs().to_string().len()).unwrap_or(u8::MAX);
    Kind::Decimal { precision: digits.max(scale).clamp(1, 38), scale }
}

/// The kind of a parameter's value, or what is wrong with it. Maps in one list have all their keys in common.
fn kind_of_value(value: &CypherValue) -> Result<Kind, String> {
    Ok(match value {
        CypherValue::Scalar(value) => match value {
            Value::Null => Kind::Null,
            Value::Bool(_) => Kind::Bool,
            Value::Int(value) => kind_of_integer(*value).ok_or("is an integer of more than 64 bits")?,
            Value::Float(_) => Kind::Float,
            Value::Decimal { unscaled, scale } => kind_of_decimal(*unscaled, *scale),
            Value::String(_) => Kind::String,
            Value::Date(_) => Kind::Date,
            Value::Time(_) => Kind::Time,
            Value::Timestamp(_) => Kind::Timestamp,
            Value::Uuid(_) => Kind::Uuid,
            Value::Blob(_) => Kind::Blob,
            Value::Json(_) => Kind::Json,
            Value::List(_) | Value::Vector(_) => return kind_of_value(&CypherValue::from(value.clone())),
        },
        CypherValue::List(items) => {
            let mut element = Kind::Null;
            for item in items {
                let kind = super::kinds::widened(&kind_of_value(item)?);
                // Long lists are mostly of one kind.
                if kind == element {
                    continue;
                }
                element = unite_values(&element, &kind).ok_or_else(|| {
                    let differs = clash(&element, &kind, &|_, _| false).and_then(|clash| clash.within(Kind::to_string));
                    let differs = differs.map(|differs| format!(", where {differs}")).unwrap_or_default();
                    format!("is a list that holds {element} and {kind}{differs}; its elements must be alike")
                })?;
            }
            Kind::List(Box::new(element))
        }
        CypherValue::Map(entries) => Kind::Map(
            entries
                .iter()
                .map(|(name, value)| Ok((name.clone(), kind_of_value(value)?)))
                .collect::<Result<_, String>>()?,
        ),
        CypherValue::Node(_) | CypherValue::Edge(_) => {
            return Err("is a node or an edge; pass its key, and MATCH it".to_owned());
        }
    })
}

/// As [`Binder::unite`], of kinds without entities.
fn unite_values(one: &Kind, other: &Kind) -> Option<Kind> {
    Some(match (one, other) {
        (Kind::Null, kind) | (kind, Kind::Null) => kind.clone(),
        (one, other) if one == other => one.clone(),
        (Kind::List(one), Kind::List(other)) => Kind::List(Box::new(unite_values(one, other)?)),
        (Kind::Map(one), Kind::Map(other)) => {
            let mut entries: BTreeMap<String, Kind> = one.iter().cloned().collect();
            for (name, kind) in other {
                let known = entries.remove(name).unwrap_or(Kind::Null);
                entries.insert(name.clone(), unite_values(&known, kind)?);
            }
            Kind::Map(entries.into_iter().collect())
        }
        (one, other) => super::kinds::numbers(one, other)?,
    })
}

/// A constant as a value of another kind; `None` if it is none.
pub(super) fn converted(value: &CypherValue, kind: &Kind) -> Option<CypherValue> {
    Some(match (value, kind) {
        (value, _) if value.is_null() => CypherValue::NULL,
        (CypherValue::Scalar(value), kind) => CypherValue::Scalar(scalar(value, kind)?),
        (CypherValue::List(items), Kind::List(element)) => {
            CypherValue::List(items.iter().map(|item| converted(item, element)).collect::<Option<_>>()?)
        }
        (CypherValue::Map(entries), Kind::Map(kinds)) => {
            let entry = |(name, kind): &(String, Kind)| {
                let value = entries.get(name).map_or(Some(CypherValue::NULL), |value| converted(value, kind))?;
                Some((name.clone(), value))
            };
            CypherValue::Map(kinds.iter().map(entry).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

fn scalar(value: &Value, kind: &Kind) -> Option<Value> {
    Some(match (value, kind) {
        (Value::List(_) | Value::Vector(_), _) => return None,
        (Value::Int(value), Kind::Float) => Value::Float(value.to_string().parse().ok()?),
        (Value::Decimal { unscaled, scale }, Kind::Float) => Value::Float(format!("{unscaled}e-{scale}").parse().ok()?),
        (Value::Int(value), Kind::Decimal { scale, .. }) => decimal(*value, 0, *scale)?,
        (Value::Decimal { unscaled, scale: has }, Kind::Decimal { scale, .. }) => decimal(*unscaled, *has, *scale)?,
        (Value::Int(value), Kind::Integer) => Value::Int(i64::try_from(*value).ok()?.into()),
        (Value::String(text), Kind::Uuid) => parse_text(text, &Type::Uuid).ok()?,
        (value, _) => value.clone(),
    })
}

/// The same number with at least as many digits after the point.
fn decimal(unscaled: i128, has: u8, scale: u8) -> Option<Value> {
    let factor = 10_i128.checked_pow(u32::from(scale.checked_sub(has)?))?;
    Some(Value::Decimal { unscaled: unscaled.checked_mul(factor)?, scale })
}

/// Why a constant is no value of another kind.
pub(super) fn misfit(value: &CypherValue, kind: &Kind) -> String {
    match value {
        CypherValue::Scalar(Value::String(text)) => format!("'{}' is not {kind}", shorten(text)),
        _ => format!("a number of this list does not fit {kind}"),
    }
}
