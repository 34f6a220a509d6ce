//! A catalog as text.

use std::fmt::Write as _;

use super::literal::from_json;
use crate::ids::PropertyId;
use crate::schema::{Catalog, CheckDef, MergePolicy, Multiplicity, OnMerge, PropertyDef, TableDef, TableKind};
use crate::syntax::{names_in, parse_expression, quote_name};

/// Writes a catalog as DDL that `parse_ddl` reads back to an equal schema, but for ids and fill values: those belong to a
/// graph's history, not to the state that a text asks for. Node tables come first.
#[must_use]
pub fn print_ddl(catalog: &Catalog) -> String {
    let (nodes, edges): (Vec<_>, Vec<_>) = catalog.tables.iter().partition(|table| table.is_node());
    let mut out = String::new();
    for table in nodes.into_iter().chain(edges) {
        if !out.is_empty() {
            out.push('\n');
        }
        print_table(catalog, table, &mut out);
    }
    out
}

fn print_table(catalog: &Catalog, table: &TableDef, out: &mut String) {
    let mut items = Vec::new();
    let mut tail = Vec::new();
    if let TableKind::Edge { from, to, multi, multiplicity, on_merge, .. } = &table.kind {
        let name = |id| catalog.table_by_id(id).map(|table| quote_name(&table.name)).unwrap_or_default();
        items.push(format!("FROM {} TO {}", name(*from), name(*to)));
        tail.extend(multi.then(|| "MULTI".to_owned()));
        tail.extend((*multiplicity != Multiplicity::ManyMany).then(|| multiplicity_word(*multiplicity).to_owned()));
        tail.extend(on_merge.map(|on_merge| match on_merge {
            OnMerge::Cascade => "ON MERGE CASCADE".to_owned(),
            OnMerge::Keep => "ON MERGE KEEP".to_owned(),
        }));
    }
    let single = table.is_node() && table.key.len() == 1;
    items.extend(table.properties.iter().map(|property| print_property(property, table, single)));
    if !table.key.is_empty() && !single {
        let word = if table.is_node() { "PRIMARY KEY" } else { "KEY" };
        items.push(format!("{word} ({})", names(table, &table.key)));
    }
    items.extend(table.unique.iter().map(|unique| format!("UNIQUE ({})", names(table, unique))));
    items.extend(table.checks.iter().map(|check| format!("CHECK ({})", with_current_names(table, check))));
    items.extend(tail);
    let kind = if table.is_node() { "NODE" } else { "REL" };
    let _ = write!(out, "CREATE {kind} TABLE {} (", quote_name(&table.name));
    for (i, item) in items.iter().enumerate() {
        let _ = write!(out, "{}\n  {item}", if i == 0 { "" } else { "," });
    }
    out.push_str("\n);\n");
}

fn print_property(property: &PropertyDef, table: &TableDef, single_key: bool) -> String {
    let mut out = format!("{} {}", quote_name(&property.name), property.ty);
    let in_key = table.key.contains(&property.id);
    if single_key && in_key {
        out.push_str(" PRIMARY KEY");
    }
    if property.not_null && !in_key {
        out.push_str(" NOT NULL");
    }
    if let Some(default) = &property.default {
        let _ = write!(out, " DEFAULT {}", from_json(default.raw(), &property.ty));
    }
    if let Some(policy) = property.merge {
        let _ = write!(out, " MERGE {}", policy_word(policy));
    }
    out
}

/// How a policy is written.
pub(in crate::schema) const fn policy_word(policy: MergePolicy) -> &'static str {
    match policy {
        MergePolicy::Sum => "sum",
        MergePolicy::Max => "max",
        MergePolicy::Min => "min",
        MergePolicy::Union => "union",
        MergePolicy::LastWriter => "last_writer",
    }
}

/// How a multiplicity is written.
pub(in crate::schema) const fn multiplicity_word(multiplicity: Multiplicity) -> &'static str {
    match multiplicity {
        Multiplicity::ManyMany => "MANY_MANY",
        Multiplicity::ManyOne => "MANY_ONE",
        Multiplicity::OneMany => "ONE_MANY",
        Multiplicity::OneOne => "ONE_ONE",
    }
}

fn names(table: &TableDef, ids: &[PropertyId]) -> String {
    let names: Vec<_> =
        ids.iter().filter_map(|id| table.property_by_id(*id)).map(|property| quote_name(&property.name)).collect();
    names.join(", ")
}

/// The condition with the names that its properties have now.
pub(in crate::schema) fn with_current_names(table: &TableDef, check: &CheckDef) -> String {
    let written = parse_expression(&check.expression).map(|expr| names_in(&expr)).unwrap_or_default();
    let mut places: Vec<_> = written
        .iter()
        .zip(&check.properties)
        .filter_map(|((name, spans), id)| Some((name, spans, table.property_by_id(*id)?)))
        .filter(|(name, _, property)| **name != property.name)
        .flat_map(|(_, spans, property)| spans.iter().map(|span| (*span, quote_name(&property.name))))
        .collect();
    places.sort_by_key(|(span, _)| *span);
    let mut expression = check.expression.clone();
    for (span, name) in places.into_iter().rev() {
        expression.replace_range(span.start..span.end, &name);
    }
    // A trailing line comment would swallow the bracket behind it.
    let ends_in_comment = expression.lines().last().is_some_and(|line| line.contains("//"));
    if ends_in_comment { expression + "\n  " } else { expression }
}
