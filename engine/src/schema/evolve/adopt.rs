//! Gives what a text asks for the identities of what is there, and refuses what cannot be done in place.

use std::collections::{BTreeMap, BTreeSet};

use super::items::same_check;
use super::rename::{Asked, match_names};
use super::widen::{Fit, fit, respell};
use crate::ids::{PropertyId, TableId};
use crate::schema::ddl::{PropertyPlaces, TablePlaces, Wanted};
use crate::schema::{Catalog, CheckDef, PropertyDef, TableDef, TableKind};
use crate::syntax::Finding;

/// The schema that `wanted` makes of `current`, or all that cannot be done.
pub(super) fn adopt(
    current: &Catalog,
    wanted: Wanted,
    rows: &impl Fn(TableId) -> u64,
) -> Result<Catalog, Vec<Finding>> {
    let Wanted { catalog, tables: places } = wanted;
    let mut findings = Vec::new();
    let asked: Vec<Asked<'_>> = (catalog.tables.iter().zip(&places))
        .map(|(table, places)| Asked { name: &table.name, renamed: places.renamed.as_ref() })
        .collect();
    let known: Vec<&str> = current.tables.iter().map(|table| table.name.as_str()).collect();
    let found = match_names(&asked, &known, "table", &mut findings);
    let old: Vec<Option<&TableDef>> =
        found.iter().map(|place| place.and_then(|place| current.tables.get(place))).collect();
    let kept: BTreeMap<TableId, TableId> =
        catalog.tables.iter().zip(&old).filter_map(|(table, old)| Some((table.id, (*old)?.id))).collect();
    let mut tables = Vec::with_capacity(catalog.tables.len());
    for ((mut table, places), old) in catalog.tables.into_iter().zip(&places).zip(&old) {
        if let TableKind::Edge { from, to, .. } = &mut table.kind {
            for end in [from, to] {
                *end = kept.get(end).copied().unwrap_or(*end);
            }
        }
        if let Some(old) = old {
            table = continued(old, table, places, rows(old.id) > 0, &mut findings);
        } else {
            // A property of a table that is not there has no name that it could have had.
            for (from, span) in places.properties.iter().filter_map(|property| property.renamed.as_ref()) {
                findings.push(Finding::new(*span, format!("there is no property `{from}`: the table is new")));
            }
        }
        tables.push(table);
    }
    tables.sort_unstable_by_key(|table| table.id);
    if findings.is_empty() { Ok(Catalog { tables }) } else { Err(findings) }
}

/// `table` as what `old` becomes.
fn continued(
    old: &TableDef,
    mut table: TableDef,
    places: &TablePlaces,
    has_rows: bool,
    findings: &mut Vec<Finding>,
) -> TableDef {
    (table.id, table.also) = (old.id, old.also.clone());
    if !keep_kind(old, &mut table, places, findings) {
        return table;
    }
    let asked: Vec<Asked<'_>> = (table.properties.iter().zip(&places.properties))
        .map(|(property, places)| Asked { name: &property.name, renamed: places.renamed.as_ref() })
        .collect();
    let known: Vec<&str> = old.properties.iter().map(|property| property.name.as_str()).collect();
    let what = format!("property of `{}`", old.name);
    let found = match_names(&asked, &known, &what, findings);
    let mut kept: BTreeMap<PropertyId, PropertyId> = BTreeMap::new();
    for ((property, places), place) in table.properties.iter_mut().zip(&places.properties).zip(&found) {
        match place.and_then(|place| old.properties.get(place)) {
            Some(before) => {
                kept.insert(property.id, before.id);
                keep_property(before, property, old, places, findings);
            }
            None if has_rows && property.default.is_some() => {
                property.fill.clone_from(&property.default);
                property.not_null = true;
            }
            None => {}
        }
    }
    let same = |id: &mut PropertyId| *id = kept.get(id).copied().unwrap_or(*id);
    table.key.iter_mut().for_each(same);
    table.unique.iter_mut().flatten().for_each(same);
    table.checks.iter_mut().flat_map(|check| &mut check.properties).for_each(same);
    if table.key != old.key {
        let word = if table.is_node() { "primary key" } else { "key" };
        findings.push(
            Finding::new(
                places.key,
                format!("the {word} of `{}` cannot be changed: it tells which rows are the same", table.name),
            )
            .with_help("add a table with the new key, move the rows, then drop this one"),
        );
    }
    keep_checks(old, &mut table);
    let there: BTreeSet<PropertyId> = table.properties.iter().map(|property| property.id).collect();
    let gone = old.properties.iter().map(|property| property.id).filter(|id| has_rows && !there.contains(id));
    table.dropped = old.dropped.iter().copied().chain(gone).collect::<BTreeSet<_>>().into_iter().collect();
    table
}

/// Keeps the columns of edges' ends. False if the table cannot become what is wanted.
fn keep_kind(old: &TableDef, table: &mut TableDef, places: &TablePlaces, findings: &mut Vec<Finding>) -> bool {
    let name = &table.name;
    let mut refuse = |span, message: String, help: &str| {
        findings.push(Finding::new(span, message).with_help(help));
    };
    match (&old.kind, &mut table.kind) {
        (TableKind::Node {}, TableKind::Node {}) => {}
        (
            TableKind::Edge { from, to, from_fields, to_fields, multi, .. },
            TableKind::Edge {
                from: new_from,
                to: new_to,
                from_fields: new_start,
                to_fields: new_end,
                multi: new_multi,
                ..
            },
        ) => {
            if (from, to) != (new_from, new_to) {
                let help = "add a table between the other nodes, and drop this one";
                refuse(places.ends, format!("`{name}` joins other node tables: its edges would end nowhere"), help);
                return false;
            }
            if multi != new_multi {
                let (is, help) = if *multi {
                    ("is MULTI", "add a table without MULTI, write the edges there, then drop this one")
                } else {
                    ("is not MULTI", "add a MULTI table, write the edges there, then drop this one")
                };
                refuse(places.name, format!("`{name}` {is}, which tells its edges apart and cannot be changed"), help);
                return false;
            }
            new_start.clone_from(from_fields);
            new_end.clone_from(to_fields);
        }
        (TableKind::Node {} | TableKind::Edge { .. }, _) => {
            let (is, other) = if old.is_node() { ("a node", "an edge") } else { ("an edge", "a node") };
            let help = "drop it in one change, and add it in the next";
            refuse(places.name, format!("`{}` is {is} table and cannot become {other} table", old.name), help);
            return false;
        }
    }
    true
}

/// Gives a property the identity of `before`, and its column if its values can stay there.
fn keep_property(
    before: &PropertyDef,
    property: &mut PropertyDef,
    table: &TableDef,
    places: &PropertyPlaces,
    findings: &mut Vec<Finding>,
) {
    (property.id, property.also) = (before.id, before.also.clone());
    property.fill.clone_from(&before.fill);
    // A stored null means the fill value: nothing could stand for a null.
    property.not_null |= before.fill.is_some();
    let mut refuse = |message: String, help: &str| findings.push(Finding::new(places.ty, message).with_help(help));
    let name = &property.name;
    match fit(&before.ty, &property.ty) {
        Fit::Alike => (property.field, property.item_field) = (before.field, before.item_field),
        Fit::Wider if table.key.contains(&before.id) => refuse(
            format!("the type of `{name}` cannot be changed: it is part of the key"),
            "add a table with the wider key, move the rows, then drop this one",
        ),
        Fit::Wider => property.fill = before.fill.as_ref().and_then(|fill| respell(fill, &before.ty, &property.ty)),
        Fit::No if is_enum(&before.ty) && is_enum(&property.ty) => refuse(
            format!("labels of `{name}` can only be added behind those that are there: it is {}", before.ty),
            "to give labels up, make it STRING with a CHECK",
        ),
        Fit::No => refuse(
            format!("`{name}` is of type {}, whose values are not all of type {}", before.ty, property.ty),
            "add a property of another name, set it from this one, then drop this one",
        ),
    }
}

fn is_enum(ty: &crate::schema::Type) -> bool {
    use crate::schema::Type;
    match ty {
        Type::Enum(_) => true,
        Type::List(element) => is_enum(element),
        _ => false,
    }
}

/// A condition that only is written otherwise is the one that is there.
fn keep_checks(old: &TableDef, table: &mut TableDef) {
    let mut left: Vec<&CheckDef> = old.checks.iter().collect();
    let mut checks = std::mem::take(&mut table.checks);
    for check in &mut checks {
        if let Some(at) = left.iter().position(|old| same_check(table, old, check)) {
            check.clone_from(left.remove(at));
        }
    }
    table.checks = checks;
}
