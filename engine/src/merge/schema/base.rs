//! The schema that both sides come from: of several merge bases, what they come to when they are merged themselves.

use std::collections::BTreeSet;

use super::{Identities, Question, unite};
use crate::ids::{PropertyId, TableId};
use crate::schema::{Catalog, TableDef};

/// A schema of which parts may be unknown, since merge bases contradict each other there.
#[derive(Debug, Clone, Default)]
pub(in crate::merge) struct Base {
    /// The schema.
    pub(in crate::merge) catalog: Catalog,
    /// Every id of the tables that are unknown.
    pub(super) tables: BTreeSet<TableId>,
    /// Every id of the properties that are unknown.
    pub(super) properties: BTreeSet<PropertyId>,
    /// Nothing is known.
    pub(super) nothing: bool,
}

/// What the base has of something.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Before<T> {
    /// It cannot be known.
    Unknown,
    /// Nothing.
    Absent,
    /// This.
    Is(T),
}

impl<T> Before<T> {
    /// What there is of it.
    pub(super) fn known(self) -> Option<T> {
        match self {
            Self::Is(it) => Some(it),
            Self::Unknown | Self::Absent => None,
        }
    }
}

impl Base {
    /// That of one merge base.
    pub(in crate::merge) fn one(catalog: &Catalog) -> Self {
        Self { catalog: catalog.clone(), ..Self::default() }
    }

    /// One that cannot be known.
    pub(in crate::merge) fn gone() -> Self {
        Self { nothing: true, ..Self::default() }
    }

    /// That of two merge bases over a base of theirs. Where they contradict each other it is unknown.
    pub(in crate::merge) fn merged(first: &Self, second: &Self, over: &Self) -> Self {
        let united = unite(over, &first.catalog, &second.catalog, &Question::nobody());
        let mut base = Self { nothing: first.nothing || second.nothing, ..Self::default() };
        for earlier in [first, second, over] {
            base.tables.extend(&earlier.tables);
            base.properties.extend(&earlier.properties);
        }
        let ids = &united.ids;
        let tables = || [first, second, over].into_iter().flat_map(|base| &base.catalog.tables);
        for clash in &united.clashes {
            let table = clash.subject.table;
            for known in tables().filter(|known| ids.table(known.id) == table) {
                match clash.subject.property {
                    None => drop(base.tables.insert(known.id)),
                    Some(property) => base
                        .properties
                        .extend(known.properties.iter().map(|it| it.id).filter(|id| ids.property(*id) == property)),
                }
            }
        }
        base.catalog = united.catalog;
        base
    }

    pub(super) fn table(&self, ids: &Identities, id: TableId) -> Before<&TableDef> {
        if self.nothing || self.tables.iter().any(|unknown| ids.table(*unknown) == ids.table(id)) {
            return Before::Unknown;
        }
        ids.table_in(&self.catalog, id).map_or(Before::Absent, Before::Is)
    }

    /// Whether it has, or may have, a property in a table.
    pub(in crate::merge) fn had_property(&self, ids: &Identities, table: TableId, property: PropertyId) -> bool {
        match self.table(ids, table) {
            Before::Unknown => true,
            Before::Absent => false,
            Before::Is(table) => ids.property_in(table, property).is_some() || self.is_unknown(ids, property),
        }
    }

    pub(super) fn is_unknown_table(&self, ids: &Identities, id: TableId) -> bool {
        matches!(self.table(ids, id), Before::Unknown)
    }

    pub(super) fn is_unknown(&self, ids: &Identities, property: PropertyId) -> bool {
        self.nothing || self.properties.iter().any(|unknown| ids.property(*unknown) == ids.property(property))
    }
}
