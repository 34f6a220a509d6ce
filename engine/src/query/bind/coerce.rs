//! Turning expressions into others of a wanted kind.

use super::Binder;
use super::clash::clash;
use super::constants::{converted, misfit};
use crate::query::bound::{Expr, ExprNode};
use crate::query::kind::Kind;
use crate::syntax::Finding;

impl Binder<'_> {
    /// `expr` as a value of `kind`, which must be one that unites its own with others, or UUIDs for texts.
    pub(super) fn coerced(&self, expr: Expr, kind: &Kind) -> Result<Expr, Finding> {
        if self.canonical(&expr.kind) == self.canonical(kind) {
            return Ok(Expr { kind: kind.clone(), ..expr });
        }
        let Expr { node, kind: found, span } = expr;
        let node = match (node, kind) {
            (ExprNode::Constant(value), kind) => match converted(&value, kind) {
                Some(value) => ExprNode::Constant(value),
                None => return Err(Finding::new(span, misfit(&value, kind))),
            },
            (ExprNode::List(items), Kind::List(element)) => {
                ExprNode::List(items.into_iter().map(|item| self.coerced(item, element)).collect::<Result<_, _>>()?)
            }
            (node, _) => ExprNode::Convert(Box::new(Expr { node, kind: found, span })),
        };
        Ok(Expr { node, kind: kind.clone(), span })
    }

    /// The kind that all of `exprs` have in common, each turned into it. Numbers with a point are meant as they are written when decimals
    /// stand beside them.
    pub(super) fn united(&mut self, exprs: &mut [Expr], what: &str) -> Result<Kind, Finding> {
        self.settle_exact(exprs.iter_mut());
        let mut kind = Kind::Null;
        for expr in exprs.iter() {
            kind = match self.unite(&kind, &expr.kind) {
                Some(kind) => kind,
                None => return Err(self.incomparable(&kind, expr, what)),
            };
        }
        for expr in exprs {
            let taken = std::mem::replace(expr, super::null(expr.span));
            *expr = self.coerced(taken, &kind)?;
        }
        Ok(kind)
    }

    /// Takes numbers with a point as they are written, if one of the expressions is a decimal.
    pub(super) fn settle_exact<'e>(&self, exprs: impl Iterator<Item = &'e mut Expr>) {
        let mut exprs: Vec<_> = exprs.collect();
        if exprs.iter().any(|expr| holds_decimals(&expr.kind)) {
            for expr in &mut exprs {
                self.prefer_exact_within(expr);
            }
        }
    }

    fn prefer_exact_within(&self, expr: &mut Expr) {
        if let ExprNode::List(items) = &mut expr.node {
            // Its elements are floats all: they were made one kind when the list was bound.
            for item in items.iter_mut() {
                self.prefer_exact_within(item);
            }
            let decimals = items.iter().all(|item| matches!(item.kind, Kind::Decimal { .. } | Kind::Null));
            let united = items.iter().try_fold(Kind::Null, |kind, item| match (&kind, &item.kind) {
                (Kind::Null, kind) | (kind, Kind::Null) => Some(kind.clone()),
                (kind, other) => super::kinds::numbers(kind, other),
            });
            if let (true, Some(kind)) = (decimals, united) {
                for item in items.iter_mut() {
                    let taken = std::mem::replace(item, super::null(item.span));
                    if let Ok(coerced) = self.coerced(taken, &kind) {
                        *item = coerced;
                    }
                }
                expr.kind = Kind::List(Box::new(kind));
            }
        } else {
            self.prefer_exact(expr);
        }
    }

    /// Turns texts into UUIDs where one of the expressions is a UUID, since a UUID has no literal of its own.
    pub(super) fn settle_uuids(&self, exprs: &mut [Expr]) -> Result<(), Finding> {
        if exprs.iter().any(|expr| expr.kind == Kind::Uuid) {
            for expr in exprs.iter_mut().filter(|expr| expr.kind == Kind::String) {
                let taken = std::mem::replace(expr, super::null(expr.span));
                *expr = self.coerced(taken, &Kind::Uuid)?;
            }
        }
        Ok(())
    }

    /// The finding that `other` never meets values of `kind`.
    pub(super) fn incomparable(&self, kind: &Kind, other: &Expr, what: &str) -> Finding {
        let found = self.says(&other.kind);
        let alike = |one, other| self.entities.form(one) == self.entities.form(other);
        let differs = clash(kind, &other.kind, &alike).and_then(|clash| clash.within(|kind| self.says(kind)));
        let differs = differs.unwrap_or_else(|| "they are never comparable".to_owned());
        let message = format!("{what} {} with {found}: {differs}", self.says(kind));
        let finding = Finding::new(other.span, message);
        let help = match (kind, &other.kind) {
            (Kind::Date, Kind::String) | (Kind::String, Kind::Date) => "a date is written date('2024-01-31')",
            (Kind::Time, Kind::String) | (Kind::String, Kind::Time) => "a time is written time('12:34:56')",
            (Kind::Timestamp, Kind::String) | (Kind::String, Kind::Timestamp) => {
                "a timestamp is written datetime('2024-01-31T12:00:00Z')"
            }
            (Kind::String, _) | (_, Kind::String) => "toString(…) makes a string of a value",
            _ => return finding,
        };
        finding.with_help(help)
    }

    /// The kind with each entity as the one that stands for its set.
    pub(super) fn canonical(&self, kind: &Kind) -> Kind {
        match kind {
            Kind::Entity(id) => Kind::Entity(self.entities.root(*id)),
            Kind::List(element) => Kind::List(Box::new(self.canonical(element))),
            Kind::Map(entries) => {
                Kind::Map(entries.iter().map(|(name, kind)| (name.clone(), self.canonical(kind))).collect())
            }
            kind => kind.clone(),
        }
    }
}

fn holds_decimals(kind: &Kind) -> bool {
    match kind {
        Kind::Decimal { .. } => true,
        Kind::List(element) => holds_decimals(element),
        _ => false,
    }
}
