//! `RETURN` and `WITH`: what goes on, by which groups, and under which names.

use super::rewrite::{erased, foreign, is_repeatable, replaced};
use super::scope::Scope;
use super::{Aggregates, Binder, Place};
use crate::query::bound::{Expr, Plan, VarId};
use crate::syntax::{self, ExprKind, Finding, Name, Projection, Span};

/// A projection while it is being bound.
pub(super) struct Projecting {
    /// What is projected from: the rows before, or their groups.
    pub base: Plan,
    /// The new columns, over the columns of `base`.
    pub items: Vec<(VarId, Expr)>,
    /// The new names.
    pub scope: Scope,
    /// Whether the rows of `base` are groups.
    pub grouped: bool,
    pub distinct: bool,
    /// The expressions of the rows before that groups are made by, erased, and the columns of `base` that bear them.
    pub keys: Vec<(Expr, VarId)>,
}

/// What is projected, before groups are made.
struct Item {
    name: String,
    expr: Expr,
}

impl Binder<'_> {
    /// Adds a `WITH` (and its `WHERE`) or a `RETURN` to what the clauses before it give. `scope` becomes that after it.
    pub(super) fn projection(
        &mut self,
        input: Plan,
        scope: &mut Scope,
        projection: &Projection,
        condition: Option<&syntax::Expr>,
        clause: Clause,
    ) -> Plan {
        // Aggregates of this projection only; they are never nested.
        self.aggregates.clear();
        let items = self.items(scope, projection, clause);
        let before = std::mem::take(scope);
        let projecting = self.grouped(input, items, projection.distinct);
        *scope = projecting.scope.clone();
        self.tail(projecting, &before, projection, condition)
    }

    fn items(&mut self, scope: &Scope, projection: &Projection, clause: Clause) -> Vec<Item> {
        let mut items = Vec::new();
        if let Some(span) = projection.all {
            if scope.vars().is_empty() && clause == Clause::Return {
                self.report(span, "`*` stands for all variables, and there are none");
            }
            let all = scope.iter().map(|(name, var)| Item { name: name.to_owned(), expr: self.column(var, span) });
            items.extend(all);
        }
        let mut seen: Vec<String> = items.iter().map(|item| item.name.clone()).collect();
        for (expr, alias) in &projection.items {
            let bound = self.expr(expr, Place { scope, aggregates: Aggregates::Allowed });
            let (name, span) = self.item_name(expr, alias.as_ref(), clause);
            if seen.contains(&name) {
                let finding = Finding::new(span, format!("two columns are called `{name}`"));
                self.findings.push(finding.with_help("give one of them another name with AS"));
                continue;
            }
            seen.push(name.clone());
            items.push(Item { name, expr: bound });
        }
        items
    }

    /// What a column is called: as the user says, or as it is written.
    fn item_name(&mut self, expr: &syntax::Expr, alias: Option<&Name>, clause: Clause) -> (String, Span) {
        match (&expr.kind, alias) {
            (_, Some(alias)) => (alias.text.clone(), alias.span),
            (ExprKind::Name(name), None) => (name.clone(), expr.span),
            (_, None) => {
                let text = self.text.get(expr.span.start..expr.span.end).unwrap_or_default().to_owned();
                if clause == Clause::With {
                    let finding = Finding::new(expr.span, "an expression in WITH needs a name");
                    self.findings.push(finding.with_help(format!("write {text} AS x")));
                }
                (text, expr.span)
            }
        }
    }

    /// Makes groups if there are aggregates: by all that is projected without one.
    fn grouped(&mut self, input: Plan, mut items: Vec<Item>, distinct: bool) -> Projecting {
        let aggregates = self.aggregates.clone();
        let grouped = !aggregates.is_empty();
        let is_aggregate =
            |expr: &Expr| expr.columns().iter().any(|var| aggregates.iter().any(|(known, _)| known == var));
        let mut key_columns = Vec::new();
        let mut keys: Vec<(Expr, VarId)> = Vec::new();
        for item in items.iter_mut().filter(|item| grouped && !is_aggregate(&item.expr)) {
            let bare = erased(&item.expr);
            let known = keys.iter().find(|(known, _)| *known == bare).map(|(_, var)| *var);
            let var = known.unwrap_or_else(|| self.derived(&item.expr, String::new()));
            let column = self.column(var, item.expr.span);
            let expr = std::mem::replace(&mut item.expr, column);
            if known.is_none() {
                if is_repeatable(&expr) {
                    keys.push((bare, var));
                }
                key_columns.push((var, expr));
            }
        }
        let base =
            if grouped { Plan::Aggregate { input: Box::new(input), keys: key_columns, aggregates } } else { input };
        let columns = base.columns().into_iter().collect();
        let mut scope = Scope::default();
        let mut projected = Vec::with_capacity(items.len());
        for item in items {
            let expr = if grouped { replaced(&item.expr, &keys) } else { item.expr };
            if grouped && let Some(part) = foreign(&expr, &columns) {
                let text = self.text.get(part.span.start..part.span.end).unwrap_or_default();
                let finding = Finding::new(
                    part.span,
                    format!("`{text}` stands beside an aggregate, but is no key of the groups"),
                );
                self.findings.push(finding.with_help("project what it is part of by itself, in a column of its own"));
            }
            let var = self.derived(&expr, item.name.clone());
            scope.set(&item.name, var);
            projected.push((var, expr));
        }
        Projecting { base, items: projected, scope, grouped, distinct, keys }
    }

    /// A variable for the values of `expr`.
    pub(super) fn derived(&mut self, expr: &Expr, name: String) -> VarId {
        let var = self.var(name, expr.kind.clone());
        let tables = self.tables_of(expr);
        if !tables.is_empty() {
            self.tables.insert(var, tables);
        }
        var
    }
}

/// Which clause projects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clause {
    With,
    Return,
}
