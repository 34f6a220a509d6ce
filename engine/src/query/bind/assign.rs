//! Which values a property takes.

use super::Binder;
use super::kinds::{element_of, is_integer};
use crate::query::CypherValue;
use crate::query::bound::{Expr, ExprNode};
use crate::query::kind::Kind;
use crate::schema::{PropertyDef, Type};
use crate::syntax::{Finding, Span};
use crate::value::{Value, describe, parse_text, shorten};

impl Binder<'_> {
    /// `value`, to be stored in a property. What depends on the value of a row is checked when it is known.
    pub(super) fn assigned(&self, property: &PropertyDef, mut value: Expr) -> Result<Expr, Finding> {
        if matches!(property.ty, Type::Decimal { .. }) {
            self.prefer_exact(&mut value);
        }
        self.expect_assignable(property, &value.kind, value.span)?;
        if property.ty == Type::Uuid && value.kind == Kind::String {
            return self.coerced(value, &Kind::Uuid);
        }
        if let ExprNode::Constant(CypherValue::Scalar(constant)) = &value.node {
            expect_fitting(property, constant, value.span)?;
        }
        Ok(value)
    }

    pub(super) fn expect_assignable(&self, property: &PropertyDef, kind: &Kind, span: Span) -> Result<(), Finding> {
        if assignable(kind, &property.ty) {
            return Ok(());
        }
        let message = format!("`{}` is of type {}, and this is {}", property.name, property.ty, self.says(kind));
        let finding = Finding::new(span, message);
        Err(match (&property.ty, kind) {
            (Type::Date, Kind::String) => finding.with_help("write date(…) around it"),
            (Type::Time, Kind::String) => finding.with_help("write time(…) around it"),
            (Type::Timestamp, Kind::String) => finding.with_help("write datetime(…) around it"),
            (Type::String, kind) if !matches!(kind, Kind::List(_) | Kind::Map(_) | Kind::Entity(_)) => {
                finding.with_help("write toString(…) around it")
            }
            _ => finding,
        })
    }
}

/// Whether some value of this kind may be stored as this type.
fn assignable(kind: &Kind, ty: &Type) -> bool {
    if *kind == Kind::Null {
        return true;
    }
    match ty {
        Type::String | Type::Enum(_) => *kind == Kind::String,
        Type::Bool => *kind == Kind::Bool,
        Type::Float | Type::Double | Type::Decimal { .. } => kind.is_number(),
        Type::Date => *kind == Kind::Date,
        Type::Time => *kind == Kind::Time,
        Type::Timestamp => *kind == Kind::Timestamp,
        Type::Uuid => matches!(kind, Kind::Uuid | Kind::String),
        Type::Blob => matches!(kind, Kind::Blob | Kind::String),
        Type::Json => matches!(kind, Kind::Json | Kind::String),
        Type::List(ty) => element_of(kind).is_some_and(|element| assignable(&element, ty)),
        Type::Vector(length) => match kind {
            Kind::Vector(found) => found == length,
            kind => element_of(kind).is_some_and(|element| element.is_number()),
        },
        Type::Int8
        | Type::Int16
        | Type::Int32
        | Type::Int64
        | Type::UInt8
        | Type::UInt16
        | Type::UInt32
        | Type::UInt64 => is_integer(kind),
    }
}

/// Refuses a constant that no row could have.
fn expect_fitting(property: &PropertyDef, value: &Value, span: Span) -> Result<(), Finding> {
    let fits = match (&property.ty, value) {
        (Type::Enum(_) | Type::Blob, Value::String(text)) => parse_text(text, &property.ty).is_ok(),
        (Type::Json, Value::String(text)) => serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok(),
        (ty, Value::Int(value)) => ty.integer_range().is_none_or(|(low, high)| (low..=high).contains(value)),
        _ => true,
    };
    if fits {
        return Ok(());
    }
    let found = match value {
        Value::String(text) => format!("'{}'", shorten(text)),
        Value::Int(value) => value.to_string(),
        _ => "this".to_owned(),
    };
    Err(Finding::new(span, format!("`{}` is {}, and {found} is none", property.name, describe(&property.ty))))
}
