//! From a valid schema text to a catalog with ids of its own.

use std::collections::HashSet;

use super::ast::{Name, Table};
use super::literal::to_json;
use crate::clock::Clock;
use crate::ids::{FieldId, PropertyId, TableId};
use crate::schema::{Catalog, CheckDef, PropertyDef, TableDef, TableKind, Type};
use crate::syntax::{names_in, parse_expression};

/// Smaller numbers are kept for hidden columns.
const FIRST_FIELD: i32 = 1000;

/// Draws numbers of physical columns, none twice.
struct Fields<'a> {
    clock: &'a Clock,
    drawn: HashSet<FieldId>,
}

impl Fields<'_> {
    fn draw(&mut self) -> FieldId {
        let span = u64::from(i32::MAX.abs_diff(FIRST_FIELD));
        loop {
            let offset = i32::try_from(self.clock.random_u64() % span).unwrap_or(0);
            let field = FieldId(FIRST_FIELD + offset);
            if self.drawn.insert(field) {
                return field;
            }
        }
    }
}

/// The catalog of tables in which nothing is wrong. No physical column gets a number of `taken`.
pub(super) fn build(tables: &[Table], taken: HashSet<FieldId>, clock: &Clock) -> Catalog {
    let mut ids: Vec<TableId> = tables.iter().map(|_| TableId::new(clock.ulid())).collect();
    // Ids drawn in one millisecond come in any order; sorted, they keep the order of declaration.
    ids.sort_unstable();
    let mut fields = Fields { clock, drawn: taken };
    let defs = tables.iter().zip(&ids).map(|(table, id)| {
        let properties = properties(table, &mut fields);
        let ids_of = |names: &[Name]| -> Vec<PropertyId> {
            names
                .iter()
                .filter_map(|name| properties.iter().find(|property| property.name == name.value))
                .map(|p| p.id)
                .collect()
        };
        TableDef {
            id: *id,
            also: Vec::new(),
            name: table.name.value.clone(),
            kind: kind(table, tables, &ids, &mut fields),
            key: table.keys.first().map(|key| ids_of(&key.value)).unwrap_or_default(),
            unique: table.unique.iter().map(|unique| ids_of(&unique.value)).collect(),
            checks: table.checks.iter().map(|check| condition(&check.value, &properties)).collect(),
            dropped: Vec::new(),
            properties,
        }
    });
    Catalog { tables: defs.collect() }
}

fn properties(table: &Table, fields: &mut Fields<'_>) -> Vec<PropertyDef> {
    let key: Vec<&str> = table.keys.iter().flat_map(|key| &key.value).map(|name| name.value.as_str()).collect();
    let columns = table.columns.iter().filter_map(|column| Some((column, &column.ty.as_ref()?.value)));
    columns
        .map(|(column, ty)| PropertyDef {
            id: PropertyId::new(fields.clock.ulid()),
            also: Vec::new(),
            field: fields.draw(),
            item_field: matches!(ty, Type::List(_)).then(|| fields.draw()),
            name: column.name.value.clone(),
            ty: ty.clone(),
            not_null: column.not_null.is_some() || key.contains(&column.name.value.as_str()),
            default: column
                .default
                .as_ref()
                .and_then(|literal| to_json(literal, ty).ok())
                .filter(|json| json.get() != "null"),
            fill: None,
            merge: column.merge.as_ref().map(|policy| policy.value),
        })
        .collect()
}

fn kind(table: &Table, tables: &[Table], ids: &[TableId], fields: &mut Fields<'_>) -> TableKind {
    let Some(ends) = table.ends.first().filter(|_| !table.is_node) else { return TableKind::Node {} };
    let find = |name: &Name| tables.iter().zip(ids).find(|(table, _)| table.name.value == name.value);
    let (Some((start, from)), Some((end, to))) = (find(&ends.value.0), find(&ends.value.1)) else {
        return TableKind::Node {};
    };
    let parts = |node: &Table| node.keys.first().map_or(0, |key| key.value.len());
    TableKind::Edge {
        from: *from,
        to: *to,
        from_fields: (0..parts(start)).map(|_| fields.draw()).collect(),
        to_fields: (0..parts(end)).map(|_| fields.draw()).collect(),
        multi: !table.multi.is_empty(),
        multiplicity: table.multiplicity.first().map(|at| at.value).unwrap_or_default(),
        on_merge: table.on_merge.first().map(|at| at.value),
    }
}

fn condition(expression: &str, properties: &[PropertyDef]) -> CheckDef {
    let names = parse_expression(expression).map(|expr| names_in(&expr)).unwrap_or_default();
    let ids =
        names.iter().filter_map(|(name, _)| properties.iter().find(|property| property.name == *name)).map(|p| p.id);
    CheckDef { expression: expression.to_owned(), properties: ids.collect() }
}
