//! What differs between two schemas, by identity.

use super::change::{PropertyName, SchemaChange, SchemaStep};
use super::items::{same_check, same_set};
use super::widen::{Fit, fit};
use crate::ids::PropertyId;
use crate::schema::ddl::with_current_names;
use crate::schema::{Catalog, CheckDef, PropertyDef, TableDef, TableKind};

/// What makes `old` to `new`: tables of `new` in its order, then tables that go. Empty exactly if the catalogs say the same.
#[must_use]
pub fn compare_schemas(old: &Catalog, new: &Catalog) -> Vec<SchemaStep> {
    let mut steps = Vec::new();
    for table in &new.tables {
        let step = |change| SchemaStep { table: table.id, name: table.name.clone(), change };
        match old.table_by_id(table.id) {
            None => steps.push(step(SchemaChange::AddTable)),
            Some(before) => steps.extend(table_changes(before, table).into_iter().map(step)),
        }
    }
    let gone = old.tables.iter().filter(|table| new.table_by_id(table.id).is_none());
    steps.extend(gone.map(|table| SchemaStep {
        table: table.id,
        name: table.name.clone(),
        change: SchemaChange::DropTable,
    }));
    steps
}

fn table_changes(old: &TableDef, new: &TableDef) -> Vec<SchemaChange> {
    let mut changes = Vec::new();
    if old.name != new.name {
        changes.push(SchemaChange::RenameTable { from: old.name.clone() });
    }
    for property in &new.properties {
        match old.property_by_id(property.id) {
            None => changes.push(added(property)),
            Some(before) => property_changes(before, property, &mut changes),
        }
    }
    let gone = old.properties.iter().filter(|property| new.property_by_id(property.id).is_none());
    changes.extend(gone.map(|property| SchemaChange::DropProperty { property: named(property) }));
    unique_changes(old, new, &mut changes);
    check_changes(old, new, &mut changes);
    kind_changes(old, new, &mut changes);
    if changes.is_empty() && is_reordered(old, new) {
        changes.push(SchemaChange::Reorder);
    }
    changes
}

fn named(property: &PropertyDef) -> PropertyName {
    PropertyName { id: property.id, name: property.name.clone() }
}

fn added(property: &PropertyDef) -> SchemaChange {
    SchemaChange::AddProperty {
        property: named(property),
        ty: property.ty.clone(),
        not_null: property.not_null,
        fill: property.fill.clone(),
    }
}

fn property_changes(old: &PropertyDef, new: &PropertyDef, changes: &mut Vec<SchemaChange>) {
    let property = || named(new);
    if old.name != new.name {
        changes.push(SchemaChange::RenameProperty { property: property(), from: old.name.clone() });
    }
    let (from, to) = (old.ty.clone(), new.ty.clone());
    // A type that was widened and is the old one again has another column.
    if (old.field, old.item_field) != (new.field, new.item_field) {
        changes.push(SchemaChange::ChangeType { property: property(), from, to });
    } else if from != to {
        changes.push(match fit(&from, &to) {
            Fit::Alike => SchemaChange::ExtendType { property: property(), from, to },
            Fit::Wider | Fit::No => SchemaChange::ChangeType { property: property(), from, to },
        });
    }
    match (old.not_null, new.not_null) {
        (false, true) => changes.push(SchemaChange::RequireValue { property: property() }),
        (true, false) => changes.push(SchemaChange::AllowNull { property: property() }),
        _ => {}
    }
    let same_type = old.ty == new.ty;
    // A wider type may spell its default otherwise.
    let same_value = |old_json: &Option<_>, new_json: &Option<_>| {
        old_json == new_json
            || !same_type
                && old_json.as_ref().and_then(|json| super::widen::respell(json, &old.ty, &new.ty)).as_ref()
                    == new_json.as_ref()
    };
    if !same_value(&old.default, &new.default) {
        let (from, to) = (old.default.clone(), new.default.clone());
        changes.push(SchemaChange::ChangeDefault { property: property(), ty: new.ty.clone(), from, to });
    }
    if !same_value(&old.fill, &new.fill) {
        let (from, to) = (old.fill.clone(), new.fill.clone());
        changes.push(SchemaChange::ChangeFill { property: property(), ty: new.ty.clone(), from, to });
    }
    if old.merge != new.merge {
        changes.push(SchemaChange::ChangeMerge { property: property(), from: old.merge, to: new.merge });
    }
}

fn unique_changes(old: &TableDef, new: &TableDef, changes: &mut Vec<SchemaChange>) {
    let lacks = |sets: &[Vec<PropertyId>], set: &[PropertyId]| !sets.iter().any(|other| same_set(other, set));
    let names = |table: &TableDef, set: &[PropertyId]| {
        set.iter().filter_map(|id| table.property_by_id(*id)).map(named).collect()
    };
    let added = new.unique.iter().filter(|set| lacks(&old.unique, set));
    changes.extend(added.map(|set| SchemaChange::AddUnique { properties: names(new, set) }));
    let gone = old.unique.iter().filter(|set| lacks(&new.unique, set));
    changes.extend(gone.map(|set| SchemaChange::DropUnique { properties: names(old, set) }));
}

fn check_changes(old: &TableDef, new: &TableDef, changes: &mut Vec<SchemaChange>) {
    // The same condition may stand there twice.
    let (mut left, mut added): (Vec<&CheckDef>, Vec<&CheckDef>) = (old.checks.iter().collect(), Vec::new());
    for check in &new.checks {
        match left.iter().position(|old| same_check(new, old, check)) {
            Some(at) => drop(left.remove(at)),
            None => added.push(check),
        }
    }
    changes.extend(
        added.into_iter().map(|check| SchemaChange::AddCheck {
            expression: with_current_names(new, check),
            condition: check.clone(),
        }),
    );
    changes.extend(left.iter().map(|check| SchemaChange::DropCheck { expression: with_current_names(old, check) }));
}

fn kind_changes(old: &TableDef, new: &TableDef, changes: &mut Vec<SchemaChange>) {
    let (
        TableKind::Edge { multiplicity: from, on_merge: from_rule, .. },
        TableKind::Edge { multiplicity: to, on_merge: to_rule, .. },
    ) = (&old.kind, &new.kind)
    else {
        return;
    };
    if from != to {
        changes.push(SchemaChange::ChangeMultiplicity { from: *from, to: *to });
    }
    if from_rule != to_rule {
        changes.push(SchemaChange::ChangeOnMerge { from: *from_rule, to: *to_rule });
    }
}

/// Whether two tables that declare the same declare it in another order.
fn is_reordered(old: &TableDef, new: &TableDef) -> bool {
    let order = |table: &TableDef| table.properties.iter().map(|property| property.id).collect::<Vec<_>>();
    order(old) != order(new) || old.unique != new.unique || old.checks.iter().ne(&new.checks)
}
