//! Which tables and properties of several schemas are one: those of one id, and those that a merge once found to be the same.

use std::collections::BTreeMap;

use crate::ids::{PropertyId, TableId};
use crate::schema::{Catalog, CheckDef, PropertyDef, TableDef, TableKind, check_words};

/// Identities over some schemas: each id stands for the first of all ids that mean the same.
#[derive(Debug, Clone, Default)]
pub(in crate::merge) struct Identities {
    tables: BTreeMap<TableId, TableId>,
    properties: BTreeMap<PropertyId, PropertyId>,
}

impl Identities {
    /// What the schemas themselves say.
    pub(in crate::merge) fn of<'a>(catalogs: impl IntoIterator<Item = &'a Catalog>) -> Self {
        let mut ids = Self::default();
        for table in catalogs.into_iter().flat_map(|catalog| &catalog.tables) {
            table.also.iter().for_each(|other| join(&mut ids.tables, table.id, *other));
            for property in &table.properties {
                property.also.iter().for_each(|other| join(&mut ids.properties, property.id, *other));
            }
        }
        ids
    }

    /// What a table's id stands for.
    pub(in crate::merge) fn table(&self, id: TableId) -> TableId {
        first(&self.tables, id)
    }

    /// What a property's id stands for.
    pub(in crate::merge) fn property(&self, id: PropertyId) -> PropertyId {
        first(&self.properties, id)
    }

    /// The table of a schema that is one with `id`.
    pub(in crate::merge) fn table_in<'a>(&self, catalog: &'a Catalog, id: TableId) -> Option<&'a TableDef> {
        let wanted = self.table(id);
        catalog.tables.iter().find(|table| self.table(table.id) == wanted)
    }

    /// The property of a table that is one with `id`.
    pub(in crate::merge) fn property_in<'a>(&self, table: &'a TableDef, id: PropertyId) -> Option<&'a PropertyDef> {
        let wanted = self.property(id);
        table.properties.iter().find(|property| self.property(property.id) == wanted)
    }

    /// What a condition says about which properties, whatever these are called and however it is spaced.
    pub(in crate::merge) fn meaning(&self, table: &TableDef, check: &CheckDef) -> (Vec<PropertyId>, Vec<String>) {
        let mut named = table.clone();
        for property in &mut named.properties {
            property.name = self.property(property.id).to_string();
        }
        (check.properties.iter().map(|id| self.property(*id)).collect(), check_words(&named, check))
    }

    /// Makes one of what both sides added alike: tables of one name and definition, and properties of one table that are.
    pub(super) fn converge(&mut self, base: &Catalog, source: &Catalog, target: &Catalog) {
        for nodes in [true, false] {
            for ours in target.tables.iter().filter(|table| table.is_node() == nodes) {
                let Some(theirs) = source.table(&ours.name) else { continue };
                let is_new = |table: &TableDef, other: &Catalog| {
                    self.table_in(base, table.id).is_none() && self.table_in(other, table.id).is_none()
                };
                if is_new(ours, source) && is_new(theirs, target) && self.declares_the_same(ours, theirs) {
                    join(&mut self.tables, ours.id, theirs.id);
                    for property in &ours.properties {
                        if let Some(other) = theirs.property(&property.name) {
                            join(&mut self.properties, property.id, other.id);
                        }
                    }
                }
            }
        }
        for ours in &target.tables {
            let Some(theirs) = self.table_in(source, ours.id) else { continue };
            let before = self.table_in(base, ours.id);
            for property in &ours.properties {
                let Some(other) = theirs.property(&property.name) else { continue };
                let is_new = |property: &PropertyDef, table: &TableDef| {
                    let there = |table: &TableDef| self.property_in(table, property.id).is_some();
                    !there(table) && !before.is_some_and(there)
                };
                if is_new(property, theirs) && is_new(other, ours) && same_property(property, other) {
                    join(&mut self.properties, property.id, other.id);
                }
            }
        }
    }

    /// Whether two new tables of one name are declared alike.
    fn declares_the_same(&self, one: &TableDef, other: &TableDef) -> bool {
        let kind = match (&one.kind, &other.kind) {
            (TableKind::Node {}, TableKind::Node {}) => true,
            (
                TableKind::Edge { from, to, multi, multiplicity, on_merge, .. },
                TableKind::Edge { from: from2, to: to2, multi: multi2, multiplicity: m2, on_merge: on_merge2, .. },
            ) => {
                self.table(*from) == self.table(*from2)
                    && self.table(*to) == self.table(*to2)
                    && (multi, multiplicity, on_merge) == (multi2, m2, on_merge2)
            }
            _ => false,
        };
        let same =
            |property: &PropertyDef| other.property(&property.name).is_some_and(|it| same_property(property, it));
        kind && one.properties.len() == other.properties.len()
            && one.properties.iter().all(same)
            && names(one, &one.key) == names(other, &other.key)
            && rules(one) == rules(other)
    }
}

/// Whether two new properties of one name are declared alike. What older rows have of them may differ: it is read under each side's own.
fn same_property(one: &PropertyDef, other: &PropertyDef) -> bool {
    (&one.ty, one.not_null, &one.default, one.merge) == (&other.ty, other.not_null, &other.default, other.merge)
}

fn names<'a>(table: &'a TableDef, ids: &[PropertyId]) -> Names<'a> {
    ids.iter().filter_map(|id| table.property_by_id(*id)).map(|property| property.name.as_str()).collect()
}

/// Names of properties.
type Names<'a> = Vec<&'a str>;

/// What `UNIQUE` and `CHECK` say, by names, in no order that matters.
fn rules(table: &TableDef) -> (Vec<Names<'_>>, Vec<(&str, Names<'_>)>) {
    let mut unique: Vec<Vec<&str>> = table.unique.iter().map(|set| names(table, set)).collect();
    let check = |check: &CheckDef| names(table, &check.properties);
    let mut checks: Vec<(&str, Vec<&str>)> =
        table.checks.iter().map(|it| (it.expression.as_str(), check(it))).collect();
    unique.sort_unstable();
    checks.sort_unstable();
    (unique, checks)
}

fn first<T: Ord + Copy>(ids: &BTreeMap<T, T>, mut id: T) -> T {
    while let Some(before) = ids.get(&id) {
        id = *before;
    }
    id
}

fn join<T: Ord + Copy>(ids: &mut BTreeMap<T, T>, one: T, other: T) {
    let (one, other) = (first(ids, one), first(ids, other));
    if one != other {
        ids.insert(one.max(other), one.min(other));
    }
}
