//! What follows a projection: `ORDER BY`, `SKIP`, `LIMIT` and the `WHERE` of `WITH`.
//!
//! They see the new columns and, unless rows were grouped or made distinct, what was there before as well. What they read of the latter
//! becomes a hidden column, which is dropped at the end.

use std::collections::BTreeSet;

use super::projection::Projecting;
use super::rewrite::{erased, expanded, foreign, is_repeatable, replaced};
use super::scope::Scope;
use super::{Aggregates, Binder, Place};
use crate::query::CypherValue;
use crate::query::bound::{Expr, ExprNode, Plan, SortKey, VarId};
use crate::syntax::{self, Finding, Projection, names_in};
use crate::value::Value;

impl Binder<'_> {
    pub(super) fn tail(
        &mut self,
        projecting: Projecting,
        before: &Scope,
        projection: &Projection,
        condition: Option<&syntax::Expr>,
    ) -> Plan {
        let scope = projecting.scope.over(before);
        let mut hidden: Vec<(VarId, Expr)> = Vec::new();
        let mut keys = Vec::with_capacity(projection.order.len());
        for sort in &projection.order {
            let key = self.after(&sort.key, &scope, "ORDER BY", &projecting);
            if let Some(expr) = self.over_new(&key, &projecting, &mut hidden) {
                keys.push(SortKey { expr, descending: sort.descending });
            }
        }
        let skip = projection.skip.as_ref().and_then(|skip| self.row_count(skip, "SKIP"));
        let limit = projection.limit.as_ref().and_then(|limit| self.row_count(limit, "LIMIT"));
        let mut conditions = Vec::new();
        if let Some(condition) = condition {
            let place = Place::of_rows(&scope, "WHERE");
            for condition in self.condition(condition, place) {
                conditions.extend(self.over_new(&condition, &projecting, &mut hidden));
            }
        }
        let Projecting { base, items, distinct, .. } = projecting;
        let kept: Vec<(VarId, Expr)> = if hidden.is_empty() {
            Vec::new()
        } else {
            items.iter().map(|(var, expr)| (*var, self.column(*var, expr.span))).collect()
        };
        let items = items.into_iter().chain(hidden).collect();
        let mut plan = Plan::Project { input: Box::new(base), items };
        if distinct {
            plan = Plan::Distinct { input: Box::new(plan) };
        }
        if !keys.is_empty() {
            plan = Plan::Sort { input: Box::new(plan), keys };
        }
        if skip.is_some() || limit.is_some() {
            plan = Plan::Slice { input: Box::new(plan), skip, limit };
        }
        for condition in conditions {
            plan = Plan::Filter { input: Box::new(plan), condition };
        }
        if !kept.is_empty() {
            plan = Plan::Project { input: Box::new(plan), items: kept };
        }
        plan
    }

    /// A key of the order; it may repeat aggregates that are projected, and bring no others.
    fn after(&mut self, key: &syntax::Expr, scope: &Scope, clause: &'static str, projecting: &Projecting) -> Expr {
        let known = self.aggregates.len();
        let aggregates = if projecting.grouped { Aggregates::Allowed } else { Aggregates::Refused(clause) };
        let bound = self.expr(key, Place { scope, aggregates });
        if self.aggregates.len() > known {
            let finding = Finding::new(key.span, "the order asks for an aggregate that is not projected");
            self.findings.push(finding.with_help("project it, under a name, and order by that"));
            self.aggregates.truncate(known);
            return super::null(key.span);
        }
        bound
    }

    /// `expr` over the new columns; `None` if that cannot be, which is noted.
    fn over_new(&mut self, expr: &Expr, projecting: &Projecting, hidden: &mut Vec<(VarId, Expr)>) -> Option<Expr> {
        let expr = replaced(expr, &projecting.keys);
        let meant: Vec<(Expr, VarId)> = projecting
            .items
            .iter()
            .filter(|(_, expr)| !matches!(expr.node, ExprNode::Constant(_)) && is_repeatable(expr))
            .map(|(var, expr)| (erased(expr), *var))
            .collect();
        let expr = replaced(&expr, &meant);
        let new: BTreeSet<VarId> = projecting.items.iter().map(|(var, _)| *var).collect();
        let Some(old) = foreign(&expr, &new).cloned() else { return Some(expr) };
        let known: BTreeSet<VarId> = projecting.base.columns().into_iter().collect();
        let inside = expanded(&expr, &projecting.items);
        let stranger = foreign(&inside, &known);
        if projecting.distinct || stranger.is_some() {
            let place = stranger.unwrap_or(&old).span;
            let text = self.text.get(place.start..place.end).unwrap_or_default();
            let why = if projecting.grouped { "rows were grouped" } else { "rows were made distinct" };
            let finding = Finding::new(place, format!("`{text}` is gone: {why}, and it is not projected"));
            self.findings.push(finding.with_help("project it, or order by what is projected"));
            return None;
        }
        let var = self.derived(&inside, String::new());
        let column = self.column(var, expr.span);
        hidden.push((var, inside));
        Some(column)
    }

    /// How many rows: an integer that no row has a say in.
    fn row_count(&mut self, expr: &syntax::Expr, clause: &'static str) -> Option<Expr> {
        if let Some((name, spans)) = names_in(expr).first() {
            let span = spans.first().copied().unwrap_or(expr.span);
            self.report(span, format!("{clause} cannot use the variable `{name}`: it is the same for all rows"));
            return None;
        }
        let bound = self.expr(expr, Place::of_rows(&Scope::default(), clause));
        if let Err(finding) = self.expect_integer(&bound, clause) {
            self.findings.push(finding);
            return None;
        }
        match &bound.node {
            ExprNode::Constant(CypherValue::Scalar(Value::Int(count))) if *count < 0 => {
                self.report(expr.span, format!("{clause} cannot be negative"));
                None
            }
            ExprNode::Constant(value) if value.is_null() => {
                if self.findings.is_empty() {
                    self.report(expr.span, format!("{clause} needs an integer, and this is null"));
                }
                None
            }
            _ => Some(bound),
        }
    }
}
