//! `MATCH`: a pattern and what must hold of it.

use super::places::Places;
use super::properties::Entry;
use super::scope::Scope;
use super::{Binder, Place};
use crate::query::bound::{Expr, ExprNode, Pattern, Plan, VarId};
use crate::syntax::{self, BinaryOp, CompareOp, Path};

impl Binder<'_> {
    /// Adds a `MATCH` to what the clauses before it give.
    pub(super) fn match_clause(
        &mut self,
        input: Plan,
        scope: &mut Scope,
        optional: bool,
        paths: &[Path],
        condition: Option<&syntax::Expr>,
    ) -> Plan {
        let mut places = self.places(paths, scope);
        let inline = paths.iter().flat_map(conditions_of);
        for condition in condition.into_iter().chain(inline) {
            self.narrow_by(&mut places, condition);
        }
        let (nodes, edges) = self.settle_places(&places, scope, optional);
        let mut conditions = self.inline_conditions(paths, &places, scope);
        if let Some(condition) = condition {
            conditions.extend(self.condition(condition, Place::of_rows(scope, "WHERE")));
        }
        Plan::Match { input: Box::new(input), pattern: Pattern { nodes, edges, conditions }, optional }
    }

    /// What the brackets of nodes and edges ask for: `{name: value}` and `WHERE`.
    fn inline_conditions(&mut self, paths: &[Path], places: &Places, scope: &Scope) -> Vec<Expr> {
        let place = Place::of_rows(scope, "MATCH");
        let mut vars = places.written.iter().copied();
        let mut conditions = Vec::new();
        for path in paths {
            let node = |node: &'_ syntax::NodePattern| (node.properties.clone(), node.condition.clone());
            let mut written = vec![node(&path.first)];
            for (edge, next) in &path.steps {
                written.push((edge.properties.clone(), edge.condition.clone()));
                written.push(node(next));
            }
            for ((properties, condition), var) in written.into_iter().zip(vars.by_ref()) {
                if let Some(properties) = &properties {
                    conditions.extend(self.inline_properties(var, properties, place));
                }
                if let Some(condition) = &condition {
                    conditions.extend(self.condition(condition, place));
                }
            }
        }
        conditions
    }

    /// `{name: value}` as conditions on a variable.
    fn inline_properties(&mut self, var: VarId, properties: &syntax::Expr, place: Place<'_>) -> Vec<Expr> {
        let entries = self.entries(properties, place);
        entries
            .into_iter()
            .map(|Entry { name, value }| {
                let span = name.span.to(value.span);
                let of = self.column(var, name.span);
                let compared = self
                    .property(of, &name, name.span)
                    .and_then(|property| self.comparison(property, vec![(CompareOp::Equal, value)], span));
                self.or_null(compared, span)
            })
            .collect()
    }

    /// A truth value, split at `AND`.
    pub(super) fn condition(&mut self, condition: &syntax::Expr, place: Place<'_>) -> Vec<Expr> {
        let bound = self.expr(condition, place);
        if let Err(finding) = self.expect_bool(&bound, "`WHERE`") {
            self.findings.push(finding);
        }
        let mut conditions = Vec::new();
        split(bound, &mut conditions);
        conditions
    }
}

fn conditions_of(path: &Path) -> impl Iterator<Item = &syntax::Expr> {
    let steps = path.steps.iter().flat_map(|(edge, node)| [edge.condition.as_ref(), node.condition.as_ref()]);
    path.first.condition.iter().chain(steps.flatten())
}

fn split(condition: Expr, conditions: &mut Vec<Expr>) {
    match condition.node {
        ExprNode::Binary(BinaryOp::And, left, right) => {
            split(*left, conditions);
            split(*right, conditions);
        }
        _ => conditions.push(condition),
    }
}
