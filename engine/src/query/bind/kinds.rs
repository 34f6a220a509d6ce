//! Which kinds go together, and what they become.

use super::Binder;
use crate::query::bound::{Expr, Form};
use crate::query::kind::Kind;
use crate::syntax::Finding;

/// The most digits of a decimal.
const MAX_DIGITS: u8 = 38;
/// The most digits of an integer of 64 bits.
const INTEGER_DIGITS: u8 = 20;

impl Binder<'_> {
    /// The kind that holds values of both, if there is one. Entities that meet in it share a layout from then on.
    pub(super) fn unite(&mut self, one: &Kind, other: &Kind) -> Option<Kind> {
        Some(match (one, other) {
            (Kind::Null, kind) | (kind, Kind::Null) => kind.clone(),
            (Kind::Entity(one), Kind::Entity(other)) => Kind::Entity(self.entities.join(*one, *other)?),
            (one, other) if one == other => one.clone(),
            (Kind::List(_) | Kind::Vector(_), Kind::List(_) | Kind::Vector(_)) => {
                let (one, other) = (element_of(one)?, element_of(other)?);
                Kind::List(Box::new(self.unite(&one, &other)?))
            }
            (Kind::Map(one), Kind::Map(other)) => self.unite_maps(one, other)?,
            (one, other) => numbers(one, other)?,
        })
    }

    fn unite_maps(&mut self, one: &[(String, Kind)], other: &[(String, Kind)]) -> Option<Kind> {
        let mut entries = one.to_vec();
        for (name, kind) in other {
            match entries.iter_mut().find(|(known, _)| known == name) {
                Some((_, known)) => *known = self.unite(&known.clone(), kind)?,
                None => entries.push((name.clone(), kind.clone())),
            }
        }
        entries.sort_by(|(one, _), (other, _)| one.cmp(other));
        Some(Kind::Map(entries))
    }

    /// Whether `=` between two values of these kinds may be anything but false.
    pub(super) fn comparable(&self, one: &Kind, other: &Kind) -> bool {
        match (one, other) {
            (Kind::Json, _) | (_, Kind::Json) => false,
            (Kind::Null, _) | (_, Kind::Null) | (Kind::Map(_), Kind::Map(_)) => true,
            (Kind::Entity(one), Kind::Entity(other)) => self.entities.form(*one) == self.entities.form(*other),
            (Kind::List(_) | Kind::Vector(_), Kind::List(_) | Kind::Vector(_)) => {
                matches!((element_of(one), element_of(other)), (Some(one), Some(other)) if self.comparable(&one, &other))
            }
            (one, other) => one == other || numbers(one, other).is_some(),
        }
    }

    /// The kind with its article.
    pub(super) fn says(&self, kind: &Kind) -> String {
        match kind {
            Kind::Entity(id) if self.entities.form(*id) == Form::Node => "a node".to_owned(),
            Kind::Entity(_) => "an edge".to_owned(),
            kind => kind.to_string(),
        }
    }

    /// The finding that `expr` does not give what `what` needs.
    pub(super) fn unfit(&self, what: &str, needs: &str, expr: &Expr) -> Finding {
        Finding::new(expr.span, format!("{what} needs {needs}, and this is {}", self.says(&expr.kind)))
    }

    /// Refuses what is not of a wanted kind; null always is.
    pub(super) fn expect(
        &self,
        expr: &Expr,
        what: &str,
        needs: &str,
        fits: impl Fn(&Kind) -> bool,
    ) -> Result<(), Finding> {
        if expr.kind == Kind::Null || fits(&expr.kind) { Ok(()) } else { Err(self.unfit(what, needs, expr)) }
    }

    pub(super) fn expect_bool(&self, expr: &Expr, what: &str) -> Result<(), Finding> {
        self.expect(expr, what, "a truth value", |kind| *kind == Kind::Bool)
    }

    pub(super) fn expect_integer(&self, expr: &Expr, what: &str) -> Result<(), Finding> {
        self.expect(expr, what, "an integer", is_integer)
    }

    pub(super) fn expect_number(&self, expr: &Expr, what: &str) -> Result<(), Finding> {
        self.expect(expr, what, "a number", Kind::is_number)
    }

    pub(super) fn expect_string(&self, expr: &Expr, what: &str) -> Result<(), Finding> {
        self.expect(expr, what, "a string", |kind| *kind == Kind::String)
    }
}

pub(super) const fn is_integer(kind: &Kind) -> bool {
    matches!(kind, Kind::Integer | Kind::Unsigned)
}

/// The kind of a list's elements; null for null.
pub(super) fn element_of(kind: &Kind) -> Option<Kind> {
    match kind {
        Kind::List(element) => Some((**element).clone()),
        Kind::Vector(_) => Some(Kind::Float),
        Kind::Null => Some(Kind::Null),
        _ => None,
    }
}

/// What a value becomes inside a list and by arithmetic.
pub(super) fn widened(kind: &Kind) -> Kind {
    match kind {
        Kind::Unsigned => Kind::Integer,
        Kind::Vector(_) => Kind::List(Box::new(Kind::Float)),
        kind => kind.clone(),
    }
}

/// The kind of a sum of two numbers.
pub(super) fn numbers(one: &Kind, other: &Kind) -> Option<Kind> {
    Some(match (one, other) {
        (Kind::Float, other) | (other, Kind::Float) if other.is_number() => Kind::Float,
        (Kind::Integer | Kind::Unsigned, Kind::Integer | Kind::Unsigned) => Kind::Integer,
        (one, other) => {
            let ((one_whole, one_scale), (other_whole, other_scale)) = (digits(one)?, digits(other)?);
            let scale = one_scale.max(other_scale);
            Kind::Decimal { precision: (one_whole.max(other_whole) + scale).min(MAX_DIGITS), scale }
        }
    })
}

/// The kind of a product of two numbers that are neither floats nor both integers.
pub(super) fn product(one: &Kind, other: &Kind) -> Option<Kind> {
    let ((_, one), (_, other)) = (digits(one)?, digits(other)?);
    Some(Kind::Decimal { precision: MAX_DIGITS, scale: (one + other).min(MAX_DIGITS) })
}

/// Digits before and after the point.
const fn digits(kind: &Kind) -> Option<(u8, u8)> {
    match kind {
        Kind::Integer | Kind::Unsigned => Some((INTEGER_DIGITS, 0)),
        Kind::Decimal { precision, scale } => Some((precision.saturating_sub(*scale), *scale)),
        _ => None,
    }
}
