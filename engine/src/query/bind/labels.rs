//! Labels and types: which tables they name.

use std::collections::BTreeSet;

use super::Binder;
use crate::ids::TableId;
use crate::query::bound::Form;
use crate::schema::TableDef;
use crate::syntax::{Finding, Labels, LabelsKind, Name, suggest};

impl<'a> Binder<'a> {
    /// All tables of this form.
    pub(super) fn all_tables(&self, form: Form) -> BTreeSet<TableId> {
        self.catalog.tables.iter().filter(|table| form_of(table) == form).map(|table| table.id).collect()
    }

    /// The tables of this form that `labels` admit; none if they contradict each other. A name that no table has is refused.
    pub(super) fn labelled(&self, labels: &Labels, form: Form) -> Result<BTreeSet<TableId>, Finding> {
        let mut names = Vec::new();
        names_in(labels, &mut names);
        names.into_iter().try_for_each(|name| self.expect_table(name, form).map(|_| ()))?;
        let tables = self.catalog.tables.iter().filter(|table| form_of(table) == form);
        Ok(tables.filter(|table| admits(labels, &table.name)).map(|table| table.id).collect())
    }

    /// The table called `name`, which must be of this form.
    pub(super) fn expect_table(&self, name: &Name, form: Form) -> Result<&'a TableDef, Finding> {
        let text = &name.text;
        match self.catalog.table(text) {
            Some(table) if form_of(table) == form => Ok(table),
            Some(_) => {
                let (is, meant) = match form {
                    Form::Node => ("an edge table", "a node"),
                    Form::Edge => ("a node table", "an edge"),
                };
                Err(Finding::new(name.span, format!("`{text}` is {is}, and {meant} is meant here")))
            }
            None => {
                let what = if form == Form::Node { "node" } else { "edge" };
                let finding = Finding::new(name.span, format!("there is no {what} table `{text}`"));
                let known = self.catalog.tables.iter().filter(|table| form_of(table) == form);
                Err(suggest(finding, text, known.map(|table| table.name.as_str())))
            }
        }
    }
}

/// Whether a table bears nodes or edges.
pub(super) const fn form_of(table: &TableDef) -> Form {
    if table.is_node() { Form::Node } else { Form::Edge }
}

fn names_in<'l>(labels: &'l Labels, names: &mut Vec<&'l Name>) {
    match &labels.kind {
        LabelsKind::Name(name) => names.push(name),
        LabelsKind::Any => {}
        LabelsKind::Not(inner) => names_in(inner, names),
        LabelsKind::And(inner) | LabelsKind::Or(inner) => inner.iter().for_each(|labels| names_in(labels, names)),
    }
}

/// Whether rows of the table called `table`, which have this one label, are admitted.
fn admits(labels: &Labels, table: &str) -> bool {
    match &labels.kind {
        LabelsKind::Name(name) => name.text == table,
        LabelsKind::Any => true,
        LabelsKind::Not(inner) => !admits(inner, table),
        LabelsKind::And(inner) => inner.iter().all(|labels| admits(labels, table)),
        LabelsKind::Or(inner) => inner.iter().any(|labels| admits(labels, table)),
    }
}
