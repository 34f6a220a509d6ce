//! `SET`, `REMOVE` and `DELETE`; and which updates there are.

use std::collections::BTreeSet;

use super::query::Progress;
use super::scope::Scope;
use super::{Binder, Place, null};
use crate::ids::TableId;
use crate::query::bound::{Assignment, Effect, Expr, ExprNode, Function, VarId};
use crate::query::kind::Kind;
use crate::syntax::{Clause, ClauseKind, ExprKind, Finding, Name, SetItem, SetKind, Span, suggest};
use crate::{schema::TableDef, syntax};

impl Binder<'_> {
    /// Adds an updating clause.
    pub(super) fn update(&mut self, clause: &Clause, progress: &mut Progress) {
        let scope = &mut progress.scope;
        let effect = match &clause.kind {
            ClauseKind::Create(paths) => Effect::Create(self.create(paths, scope)),
            ClauseKind::Merge { path, on_create, on_match } => match self.merge(path, scope) {
                Some(creation) => {
                    let on_create = self.assignments(on_create, scope);
                    let on_match = self.assignments(on_match, scope);
                    Effect::Merge { creation, on_create, on_match }
                }
                None => Effect::Create(Vec::new()),
            },
            ClauseKind::Set(items) => Effect::Set(self.assignments(items, scope)),
            ClauseKind::Delete { operands, detach } => {
                Effect::Delete { operands: self.deleted(operands, scope), detach: *detach }
            }
            ClauseKind::Match { .. } | ClauseKind::Unwind { .. } | ClauseKind::With { .. } | ClauseKind::Return(_) => {
                return;
            }
        };
        // Even one that was refused: what follows is judged as what follows an update.
        progress.effects.push(effect);
    }

    fn deleted(&mut self, operands: &[syntax::Expr], scope: &Scope) -> Vec<Expr> {
        let operands = self.exprs(operands, Place::of_rows(scope, "DELETE"));
        for operand in &operands {
            let is_entity = |kind: &Kind| matches!(kind, Kind::Entity(_));
            if let Err(finding) = self.expect(operand, "`DELETE`", "a node or an edge", is_entity) {
                self.findings.push(finding);
            }
        }
        operands
    }

    fn assignments(&mut self, items: &[SetItem], scope: &Scope) -> Vec<Assignment> {
        items
            .iter()
            .filter_map(|item| {
                let assignment = match &item.kind {
                    SetKind::Property { of, name, value } => {
                        self.set_property(of, name, value.as_ref(), item.span, scope)
                    }
                    SetKind::Properties { of, value, replace } => {
                        self.set_properties(of, value, *replace, item.span, scope)
                    }
                };
                assignment.map_err(|finding| self.findings.push(finding)).ok().flatten()
            })
            .collect()
    }

    /// `SET of.name = value`, and without a value `REMOVE of.name`.
    fn set_property(
        &mut self,
        of: &syntax::Expr,
        name: &Name,
        value: Option<&syntax::Expr>,
        span: Span,
        scope: &Scope,
    ) -> Result<Option<Assignment>, Finding> {
        let place = Place::of_rows(scope, "SET");
        let value = value.map(|value| self.expr(value, place));
        let ExprKind::Name(_) = &of.kind else {
            return Err(Finding::new(of.span, "a property is set of a variable, such as n.name"));
        };
        let Some((var, tables)) = self.target(of, place)? else { return Ok(None) };
        let (choices, _) = self.choices(&tables, name)?;
        let catalog = self.catalog;
        let mut value = value.unwrap_or_else(|| null(span));
        for (table, property) in &choices {
            let Some(table) = catalog.table_by_id(*table) else { continue };
            let Some(property) = table.property_by_id(*property) else { continue };
            if table.key.contains(&property.id) {
                return Err(key_is_fixed(table, name));
            }
            value = self.assigned(property, value)?;
        }
        Ok(Some(Assignment::Property { var, choices, value, span }))
    }

    /// `SET of = value` and `SET of += value`.
    fn set_properties(
        &mut self,
        of: &Name,
        value: &syntax::Expr,
        replace: bool,
        span: Span,
        scope: &Scope,
    ) -> Result<Option<Assignment>, Finding> {
        let place = Place::of_rows(scope, "SET");
        let written = match &value.kind {
            ExprKind::Map(entries) => Some(entries),
            _ => None,
        };
        let mut value = self.expr(value, place);
        let target = syntax::Expr { kind: ExprKind::Name(of.text.clone()), span: of.span };
        let Some((var, tables)) = self.target(&target, place)? else { return Ok(None) };
        if let Kind::Entity(_) = value.kind {
            let span = value.span;
            let kind = self.all_properties(&value)?;
            value =
                Expr { node: ExprNode::Call { function: Function::Properties, arguments: vec![value] }, kind, span };
        }
        let Kind::Map(entries) = value.kind.clone() else {
            self.expect(&value, "`SET`", "a map, such as {name: 'a'}", |_| false)?;
            return if self.findings.is_empty() { Err(self.unfit("`SET`", "a map", &value)) } else { Ok(None) };
        };
        let catalog = self.catalog;
        let tables: Vec<_> = tables.iter().filter_map(|id| catalog.table_by_id(*id)).collect();
        for (key, kind) in &entries {
            let entry = written.and_then(|entries| entries.iter().find(|(name, _)| name.text == *key));
            let name = Name { text: key.clone(), span: entry.map_or(value.span, |(name, _)| name.span) };
            let owners: Vec<_> = tables.iter().filter_map(|table| Some((table, table.property(key)?))).collect();
            if owners.is_empty() {
                self.findings.push(unknown_property(&tables, &name));
            }
            for (table, property) in owners {
                // Of a map from elsewhere, the key may be that of the row itself.
                if entry.is_some() && table.key.contains(&property.id) {
                    self.findings.push(key_is_fixed(table, &name));
                } else if let Err(finding) =
                    self.expect_assignable(property, kind, entry.map_or(value.span, |e| e.1.span))
                {
                    self.findings.push(finding);
                }
            }
        }
        Ok(Some(Assignment::Properties { var, value, replace, span }))
    }

    /// The variable whose properties are set, and the tables it may be of; `None` if it could not be bound, which was noted.
    fn target(&mut self, of: &syntax::Expr, place: Place<'_>) -> Result<Option<(VarId, BTreeSet<TableId>)>, Finding> {
        let target = self.expr(of, place);
        match (&target.node, &target.kind) {
            (ExprNode::Column(var), Kind::Entity(_)) => {
                self.need_all(&target.kind);
                Ok(Some((*var, self.tables_of(&target))))
            }
            (_, Kind::Null) if !self.findings.is_empty() => Ok(None),
            _ => Err(self.unfit("`SET`", "a node or an edge", &target)),
        }
    }
}

/// The finding that none of `tables` has a property.
pub(super) fn unknown_property(tables: &[&TableDef], name: &Name) -> Finding {
    let finding = match tables {
        [table] => Finding::new(name.span, format!("`{}` has no property `{}`", table.name, name.text)),
        _ => Finding::new(name.span, format!("no table that is meant here has a property `{}`", name.text)),
    };
    let known = tables.iter().flat_map(|table| &table.properties).map(|property| property.name.as_str());
    suggest(finding, &name.text, known)
}

fn key_is_fixed(table: &TableDef, name: &Name) -> Finding {
    let what = if table.is_node() { "node" } else { "edge" };
    Finding::new(name.span, format!("`{}` is part of the key of `{}`, which never changes", name.text, table.name))
        .with_help(format!("create another {what}, and delete this one"))
}
