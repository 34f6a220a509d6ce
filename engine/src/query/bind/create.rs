//! `CREATE` and `MERGE`: which rows come into being.

use std::collections::BTreeSet;

use super::properties::Entry;
use super::scope::Scope;
use super::update::unknown_property;
use super::{Binder, Place};
use crate::ids::{PropertyId, TableId};
use crate::query::CypherValue;
use crate::query::bound::{Creation, Expr, ExprNode, Form, VarId};
use crate::query::kind::Kind;
use crate::schema::{TableDef, TableKind};
use crate::syntax::{self, EdgePattern, Finding, LabelsKind, Name, NodePattern, Path, Span, Towards};

/// Which clause makes rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Making {
    Create,
    /// By key, and by nothing else.
    Merge,
}

impl<'a> Binder<'a> {
    pub(super) fn create(&mut self, paths: &[Path], scope: &mut Scope) -> Vec<Creation> {
        let mut creations = Vec::new();
        for path in paths {
            let alone = path.steps.is_empty();
            let mut left = self.created_node(&path.first, alone, scope, &mut creations);
            for (edge, node) in &path.steps {
                let right = self.created_node(node, false, scope, &mut creations);
                let made = self.made_edge(edge, (left, right), scope, Making::Create);
                creations.extend(made.map_err(|finding| self.findings.push(finding)).ok().flatten());
                left = right;
            }
        }
        creations
    }

    /// The node of a path of `CREATE`: one that is there, or a new one.
    fn created_node(
        &mut self,
        pattern: &NodePattern,
        alone: bool,
        scope: &mut Scope,
        creations: &mut Vec<Creation>,
    ) -> Option<VarId> {
        let known = pattern.name.as_ref().and_then(|name| Some((name, scope.get(&name.text)?)));
        let Some((name, var)) = known else {
            let made = self.made_node(pattern, scope, Making::Create);
            let creation = made.map_err(|finding| self.findings.push(finding)).ok()?;
            let var = creation.var;
            creations.push(creation);
            return Some(var);
        };
        if alone || pattern.labels.is_some() || pattern.properties.is_some() {
            let finding =
                Finding::new(name.span, format!("`{}` is there already, and CREATE makes new nodes", name.text));
            self.findings.push(finding.with_help("use a new variable; or SET its properties"));
        }
        self.expect_node(name, var)
    }

    pub(super) fn merge(&mut self, path: &Path, scope: &mut Scope) -> Option<Creation> {
        let made = match path.steps.as_slice() {
            [] => {
                let known = path.first.name.as_ref().filter(|name| scope.get(&name.text).is_some());
                match known {
                    Some(name) => Err(Finding::new(name.span, format!("`{}` is there already", name.text))
                        .with_help("MERGE finds or makes a node, for a new variable")),
                    None => self.made_node(&path.first, scope, Making::Merge).map(Some),
                }
            }
            [(edge, node)] => {
                let ends = (self.merged_end(&path.first, scope), self.merged_end(node, scope));
                self.made_edge(edge, ends, scope, Making::Merge)
            }
            [_, (edge, _), ..] => Err(Finding::new(edge.span, "MERGE of more than one edge is not supported yet")
                .with_help("write one MERGE for each edge")),
        };
        made.map_err(|finding| self.findings.push(finding)).ok().flatten()
    }

    /// A node that `MERGE` joins, which must be there.
    fn merged_end(&mut self, pattern: &NodePattern, scope: &Scope) -> Option<VarId> {
        let known = pattern.name.as_ref().and_then(|name| Some((name, scope.get(&name.text)?)));
        let bare = pattern.labels.is_none() && pattern.properties.is_none() && pattern.condition.is_none();
        match known {
            Some((name, var)) if bare => self.expect_node(name, var),
            _ => {
                let finding = Finding::new(pattern.span, "MERGE of an edge needs both its nodes before");
                self.findings
                    .push(finding.with_help("MATCH or MERGE each node first, and write its variable alone here"));
                None
            }
        }
    }

    fn expect_node(&mut self, name: &Name, var: VarId) -> Option<VarId> {
        let column = self.column(var, name.span);
        match &column.kind {
            Kind::Entity(id) if self.entities.form(*id) == Form::Node => Some(var),
            // It could not be bound, which was said.
            Kind::Null if !self.findings.is_empty() => None,
            _ => {
                self.report(
                    name.span,
                    format!("`{}` is {}, and a node is meant here", name.text, self.says(&column.kind)),
                );
                None
            }
        }
    }

    fn made_node(&mut self, pattern: &NodePattern, scope: &mut Scope, making: Making) -> Result<Creation, Finding> {
        self.refuse_condition(pattern.condition.as_ref());
        let entries = pattern.properties.as_ref().map(|map| self.made_entries(map, scope, making)).unwrap_or_default();
        let table = self.one_table(pattern.labels.as_ref(), Form::Node, pattern.span);
        let table = table.inspect_err(|_| {
            // Known from here on as something that could not be bound.
            if let Some(name) = &pattern.name {
                let var = self.var(name.text.clone(), Kind::Null);
                scope.set(&name.text, var);
            }
        })?;
        let properties = self.made_properties(table, entries, making, pattern.span);
        let var = self.made_var(pattern.name.as_ref(), table, scope);
        Ok(Creation { var, table: table.id, ends: None, properties, span: pattern.span })
    }

    /// An edge between two nodes; `None` if one of them could not be bound, which was noted.
    fn made_edge(
        &mut self,
        pattern: &EdgePattern,
        (left, right): (Option<VarId>, Option<VarId>),
        scope: &mut Scope,
        making: Making,
    ) -> Result<Option<Creation>, Finding> {
        self.refuse_condition(pattern.condition.as_ref());
        let entries = pattern.properties.as_ref().map(|map| self.made_entries(map, scope, making)).unwrap_or_default();
        if let Some(name) = pattern.name.as_ref().filter(|name| scope.get(&name.text).is_some()) {
            self.report(name.span, format!("`{}` is there already", name.text));
        }
        let table = self.one_table(pattern.labels.as_ref(), Form::Edge, pattern.span)?;
        let properties = self.made_properties(table, entries, making, pattern.span);
        let TableKind::Edge { from, to, multi, .. } = &table.kind else { return Ok(None) };
        if *multi && making == Making::Merge {
            let finding = Finding::new(
                pattern.span,
                format!("an edge of `{}` has no key to be found by: it is MULTI", table.name),
            );
            return Err(finding.with_help("use CREATE"));
        }
        let ends = match pattern.towards {
            Towards::Right => (left, right),
            Towards::Left => (right, left),
            Towards::Either => {
                let finding = Finding::new(pattern.span, "a new edge needs a direction");
                return Err(finding.with_help("write -[…]-> or <-[…]-"));
            }
        };
        let (Some(start), Some(end)) = ends else { return Ok(None) };
        self.expect_end(start, *from, table, "starts", pattern.span)?;
        self.expect_end(end, *to, table, "ends", pattern.span)?;
        let var = self.made_var(pattern.name.as_ref(), table, scope);
        Ok(Some(Creation { var, table: table.id, ends: Some((start, end)), properties, span: pattern.span }))
    }

    /// Refuses a node that an edge of `table` can never join.
    fn expect_end(&self, var: VarId, wanted: TableId, table: &TableDef, verb: &str, span: Span) -> Result<(), Finding> {
        let tables = self.tables_of(&self.column(var, span));
        if tables.contains(&wanted) {
            return Ok(());
        }
        let name = |id: &TableId| self.catalog.table_by_id(*id).map_or("?", |table| table.name.as_str());
        let found: Vec<_> = tables.iter().map(name).collect();
        let message =
            format!("`{}` {verb} at `{}`, and this node is of `{}`", table.name, name(&wanted), found.join("` or `"));
        Err(Finding::new(span, message))
    }

    fn made_var(&mut self, name: Option<&Name>, table: &TableDef, scope: &mut Scope) -> VarId {
        let tables = BTreeSet::from([table.id]);
        let id = self.entities.add(super::labels::form_of(table), tables.clone());
        // Found or made, it is kept as a whole row.
        self.entities.need_all(id);
        let var = self.var(name.map(|name| name.text.clone()).unwrap_or_default(), Kind::Entity(id));
        self.tables.insert(var, tables);
        if let Some(name) = name {
            scope.set(&name.text, var);
        }
        var
    }

    /// The one table that a new node or edge belongs to.
    fn one_table(&self, labels: Option<&syntax::Labels>, form: Form, span: Span) -> Result<&'a TableDef, Finding> {
        let what = if form == Form::Node { ("node", "label") } else { ("edge", "type") };
        match labels.map(|labels| (&labels.kind, labels.span)) {
            Some((LabelsKind::Name(name), _)) => self.expect_table(name, form),
            Some((_, span)) => Err(Finding::new(span, format!("a new {} has exactly one {}", what.0, what.1))),
            None => Err(Finding::new(span, format!("a new {} needs a {}", what.0, what.1))),
        }
    }

    fn made_entries(&mut self, map: &syntax::Expr, scope: &Scope, making: Making) -> Vec<Entry> {
        let clause = if making == Making::Create { "CREATE" } else { "MERGE" };
        self.entries(map, Place::of_rows(scope, clause))
    }

    fn made_properties(
        &mut self,
        table: &TableDef,
        entries: Vec<Entry>,
        making: Making,
        span: Span,
    ) -> Vec<(PropertyId, Expr)> {
        let mut properties = Vec::with_capacity(entries.len());
        for Entry { name, value } in entries {
            let Some(property) = table.property(&name.text) else {
                self.findings.push(unknown_property(&[table], &name));
                continue;
            };
            let is_key = table.key.contains(&property.id);
            let is_null = matches!(&value.node, ExprNode::Constant(CypherValue::Scalar(value)) if value.is_null());
            if is_key && is_null && self.findings.is_empty() {
                self.report(
                    value.span,
                    format!("`{}` is part of the key of `{}`, which is never null", name.text, table.name),
                );
            }
            if !is_key && making == Making::Merge {
                let finding =
                    Finding::new(name.span, format!("MERGE finds by key, and `{}` is not part of it", name.text));
                self.findings.push(finding.with_help(format!("write SET …, or ON CREATE SET x.{} = …", name.text)));
            }
            match self.assigned(property, value) {
                Ok(value) => properties.push((property.id, value)),
                Err(finding) => self.findings.push(finding),
            }
        }
        for key in table.key_properties() {
            let given = properties.iter().any(|(id, _)| *id == key.id);
            if !given && (making == Making::Merge || key.default.is_none()) && self.findings.is_empty() {
                let message = format!("`{}` needs a value for `{}`, which is part of its key", table.name, key.name);
                self.report(span, message);
            }
        }
        properties
    }

    fn refuse_condition(&mut self, condition: Option<&syntax::Expr>) {
        if let Some(condition) = condition {
            self.report(condition.span, "WHERE can only stand in MATCH");
        }
    }
}
