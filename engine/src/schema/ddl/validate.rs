//! What a well-formed schema may still do wrong; every rule looks at all tables and reports all it finds.

use std::collections::BTreeSet;

use super::ast::{At, Column, LiteralKind, Name, Table};
use super::literal::to_json;
use super::names::{check_distinct, check_name};
use crate::schema::check::{self, Scope};
use crate::schema::{MergePolicy, Type};
use crate::syntax::suggest;
use crate::syntax::{Finding, Span, parse_expression};

/// Appends all that is wrong with `tables`.
pub(super) fn validate(tables: &[Table], findings: &mut Vec<Finding>) {
    check_distinct(tables.iter().map(|table| &table.name), "tables", findings);
    for table in tables {
        findings.extend(check_name(&table.name, "table"));
        check_distinct(table.columns.iter().map(|column| &column.name), "properties", findings);
        for column in &table.columns {
            findings.extend(check_name(&column.name, "property"));
            check_default(column, findings);
            check_merge(column, table, findings);
        }
        check_key(table, findings);
        check_unique(table, findings);
        if table.is_node {
            check_node(table, findings);
        } else {
            check_edge(table, tables, findings);
        }
        let known = table.columns.iter().enumerate();
        let known = known.map(|(i, column)| (column.name.value.as_str(), i, column.ty.as_ref().map(|ty| &ty.value)));
        // What an unreadable property is called is not known, so a name that nothing else has may be its.
        let scope = Scope { properties: known.collect(), open: table.incomplete };
        for condition in &table.checks {
            let checked = parse_expression(&condition.value).and_then(|expr| check::bind(&expr, &scope));
            findings.extend(checked.err().map(|finding| finding.shifted(condition.span.start)));
        }
    }
}

fn column<'a>(table: &'a Table, name: &str) -> Option<&'a Column> {
    table.columns.iter().find(|column| column.name.value == name)
}

/// The columns that `names` mean; what cannot be found is reported.
fn resolve<'a>(table: &'a Table, names: &[Name], findings: &mut Vec<Finding>) -> Vec<&'a Column> {
    let mut columns: Vec<&Column> = Vec::new();
    for name in names {
        match column(table, &name.value) {
            Some(found) if columns.iter().any(|column| column.name.value == found.name.value) => {
                findings.push(Finding::new(name.span, format!("`{}` is named twice", name.value)));
            }
            Some(found) => columns.push(found),
            None if table.incomplete => {}
            None => {
                let message = format!("table `{}` has no property `{}`", table.name.value, name.value);
                let known = table.columns.iter().map(|column| column.name.value.as_str());
                findings.push(suggest(Finding::new(name.span, message), &name.value, known));
            }
        }
    }
    columns
}

/// A key compares by bytes, so each of its values needs one spelling.
fn check_comparable(names: &[Name], columns: &[&Column], what: &str, findings: &mut Vec<Finding>) {
    for column in columns {
        let Some(ty) = column.ty.as_ref().filter(|ty| !ty.value.may_be_key()) else { continue };
        let span = names.iter().find(|name| name.value == column.name.value).map_or(column.name.span, |name| name.span);
        let message = format!("`{}` is of type {}, which cannot be {what}", column.name.value, ty.value);
        findings.push(
            Finding::new(span, message)
                .with_help("keys are text, integers, decimals, dates, times, UUIDs, bytes or labels"),
        );
    }
}

fn check_key(table: &Table, findings: &mut Vec<Finding>) {
    for again in table.keys.iter().skip(1) {
        let help = "name all its properties in one list, such as PRIMARY KEY (a, b)";
        findings.push(Finding::new(again.span, "the table has a second key").with_help(help));
    }
    for key in table.keys.iter().take(1) {
        let columns = resolve(table, &key.value, findings);
        check_comparable(&key.value, &columns, "part of a key", findings);
    }
}

fn check_unique(table: &Table, findings: &mut Vec<Finding>) {
    let mut seen = BTreeSet::new();
    for unique in &table.unique {
        let columns = resolve(table, &unique.value, findings);
        check_comparable(&unique.value, &columns, "unique", findings);
        let set: BTreeSet<&str> = columns.iter().map(|column| column.name.value.as_str()).collect();
        if !set.is_empty() && !seen.insert(set) {
            findings.push(Finding::new(unique.span, "the same properties are declared unique twice"));
        }
    }
}

fn check_node(table: &Table, findings: &mut Vec<Finding>) {
    if table.keys.is_empty() && !table.incomplete {
        let message = format!("node table `{}` has no primary key", table.name.value);
        let help = "add PRIMARY KEY to a property, or PRIMARY KEY (a, b) to the table";
        findings.push(Finding::new(table.name.span, message).with_help(help));
    }
    let foreign = table.multi.iter().map(|span| (*span, "MULTI"));
    let foreign = foreign.chain(table.multiplicity.iter().map(|at| (at.span, "a multiplicity")));
    let foreign = foreign.chain(table.on_merge.iter().map(|at| (at.span, "ON MERGE")));
    for (span, what) in foreign.chain(table.ends.iter().map(|at| (at.span, "FROM … TO …"))) {
        findings.push(
            Finding::new(span, format!("a node table cannot have {what}"))
                .with_help("write CREATE REL TABLE for edges"),
        );
    }
}

fn check_edge(table: &Table, tables: &[Table], findings: &mut Vec<Finding>) {
    if table.ends.is_empty() && !table.incomplete {
        let message = format!("edge table `{}` does not say which nodes it joins", table.name.value);
        findings.push(Finding::new(table.name.span, message).with_help("add FROM … TO …"));
    }
    for again in table.ends.iter().skip(1) {
        let help = "declare one table for each pair";
        findings.push(Finding::new(again.span, "an edge table joins one pair of node tables").with_help(help));
    }
    for end in table.ends.iter().flat_map(|ends| [&ends.value.0, &ends.value.1]) {
        check_end(end, tables, findings);
    }
    let twice = |spans: Vec<Span>, what: &str, findings: &mut Vec<Finding>| {
        findings.extend(spans.into_iter().skip(1).map(|span| Finding::new(span, format!("{what} is given twice"))));
    };
    twice(table.multi.clone(), "MULTI", findings);
    twice(table.multiplicity.iter().map(|at| at.span).collect(), "the multiplicity", findings);
    twice(table.on_merge.iter().map(|at| at.span).collect(), "ON MERGE", findings);
    if let (Some(multi), Some(_)) = (table.multi.first(), table.keys.first()) {
        findings.push(
            Finding::new(*multi, "a MULTI edge table cannot have a key")
                .with_help("with a key, edges are told apart by it; with MULTI, by a hidden id"),
        );
    }
}

fn check_end(end: &Name, tables: &[Table], findings: &mut Vec<Finding>) {
    match tables.iter().find(|table| table.name.value == end.value) {
        Some(table) if table.is_node => {}
        Some(_) => {
            let message = format!("`{}` is an edge table; edges join nodes", end.value);
            findings.push(Finding::new(end.span, message));
        }
        None => {
            let nodes = tables.iter().filter(|table| table.is_node).map(|table| table.name.value.as_str());
            let finding = Finding::new(end.span, format!("there is no node table `{}`", end.value));
            findings.push(suggest(finding, &end.value, nodes));
        }
    }
}

fn check_default(column: &Column, findings: &mut Vec<Finding>) {
    let (Some(At { value: ty, .. }), Some(literal)) = (&column.ty, &column.default) else { return };
    match to_json(literal, ty) {
        Err(finding) => findings.push(finding),
        Ok(_) if matches!(literal.value, LiteralKind::Null) && column.not_null.is_some() => {
            let message = format!("the default of `{}` is NULL, but it is NOT NULL", column.name.value);
            findings.push(Finding::new(literal.span, message));
        }
        Ok(_) => {}
    }
}

fn check_merge(column: &Column, table: &Table, findings: &mut Vec<Finding>) {
    let (Some(At { value: ty, .. }), Some(policy)) = (&column.ty, &column.merge) else { return };
    let number = ty.integer_range().is_some() || matches!(ty, Type::Float | Type::Double | Type::Decimal { .. });
    let (fits, name, needs) = match policy.value {
        MergePolicy::Sum => (number, "sum", "a number"),
        MergePolicy::Max | MergePolicy::Min => {
            let name = if policy.value == MergePolicy::Max { "max" } else { "min" };
            (number || matches!(ty, Type::Date | Type::Time | Type::Timestamp), name, "a number, date or time")
        }
        MergePolicy::Union => (matches!(ty, Type::List(_)), "union", "a list"),
        MergePolicy::LastWriter => (true, "last_writer", ""),
    };
    if !fits {
        let message = format!("MERGE {name} needs {needs}; `{}` is of type {ty}", column.name.value);
        findings.push(Finding::new(policy.span, message));
    }
    if table.keys.iter().flat_map(|key| &key.value).any(|name| name.value == column.name.value) {
        let message = format!("`{}` is part of the key, which no merge changes", column.name.value);
        findings.push(Finding::new(policy.span, message));
    }
}
