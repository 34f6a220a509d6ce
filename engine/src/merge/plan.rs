//! The plan of a merge: a pure decision over three or more snapshots, before any row is looked at.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::row::Side;
use super::schemas::Schemas;
use super::table::TableMerge;
use crate::ids::TableId;
use crate::publish::Snapshot;
use crate::schema::{Catalog, SchemaHash};
use crate::table::TableVersion;

/// The commits that a merge brings together.
#[derive(Debug, Clone)]
pub(super) struct Sides {
    /// What is merged in.
    pub(super) source: Snapshot,
    /// The head it is merged into.
    pub(super) target: Snapshot,
    /// What both come from, the latest first.
    pub(super) bases: Vec<Snapshot>,
}

impl Sides {
    /// One of them.
    pub(super) fn of(&self, side: Side) -> &Snapshot {
        match side {
            Side::Source => &self.source,
            Side::Target => &self.target,
        }
    }

    /// Whether the source has what every base has, in all tables and the schema: then it brings nothing, and what it contains besides
    /// needs no record either.
    pub(super) fn source_is_unmoved(&self) -> bool {
        let source = &self.source.record;
        let unmoved = |base: &Snapshot| base.record.schema == source.schema && base.record.tables == source.tables;
        !self.bases.is_empty() && self.bases.iter().all(unmoved)
    }

    /// Whether the source contains the target: then the result is the source's snapshot.
    pub(super) fn is_fast_forward(&self) -> bool {
        matches!(self.bases.as_slice(), [base] if base.record.commit == self.target.record.commit)
    }
}

/// What a merge makes of the target.
#[derive(Debug)]
pub(super) struct Plan {
    /// The schema of the result, and how each side's tables are found in it.
    pub(super) schemas: Schemas,
    /// Whether that is not the target's.
    pub(super) new_schema: bool,
    /// What becomes of each table of the result, by its id there, and of the tables that the target loses.
    pub(super) tables: BTreeMap<TableId, TableMerge>,
}

impl Plan {
    /// The result of a fast-forward: everything as the source has it.
    pub(super) fn fast_forward(sides: &Sides) -> Self {
        let source = &sides.source;
        let take = |id: &TableId| (*id, TableMerge::TakeSource(source.table_version(*id).cloned()));
        let all = [source, &sides.target].into_iter().flat_map(|side| side.record.tables.keys());
        Self {
            schemas: Schemas::of_one(sides, source),
            new_schema: source.record.schema != sides.target.record.schema,
            tables: all.map(take).collect(),
        }
    }

    /// Decides on each table, under the merged schema.
    pub(super) fn three_way(sides: &Sides, schemas: Schemas) -> Self {
        let decide = |table| TableMerge::decide(sides, &schemas, table);
        let mut tables: BTreeMap<TableId, TableMerge> =
            schemas.catalog.tables.iter().map(|table| (table.id, decide(table))).collect();
        let gone = sides.target.catalog.tables.iter().map(|table| table.id);
        for id in gone.filter(|id| schemas.ids.table_in(&schemas.catalog, *id).is_none()) {
            tables.insert(id, TableMerge::TakeSource(None));
        }
        let new_schema = schemas.hash != sides.target.record.schema;
        Self { schemas, new_schema, tables }
    }

    /// The schema of the result.
    pub(super) fn catalog(&self) -> &Arc<Catalog> {
        &self.schemas.catalog
    }

    /// The name of that schema.
    pub(super) fn hash(&self) -> SchemaHash {
        self.schemas.hash
    }

    /// What a commit has of a table of the result, or of one that goes.
    pub(super) fn version<'a>(&self, at: &'a Snapshot, table: TableId) -> Option<&'a TableVersion> {
        match self.schemas.state(at, table) {
            Some(state) => Some(state.version),
            None => at.table_version(table),
        }
    }

    /// Whether both sides have the same rows of a table.
    pub(super) fn is_same(&self, sides: &Sides, table: TableId) -> bool {
        match (self.schemas.state(&sides.source, table), self.schemas.state(&sides.target, table)) {
            (Some(source), Some(target)) => source.same_rows(target),
            (None, None) => true,
            _ => false,
        }
    }

    /// The tables that a side changed and the result has.
    pub(super) fn moved(&self) -> BTreeSet<TableId> {
        let moved = self
            .tables
            .iter()
            .filter(|(_, merge)| !matches!(merge, TableMerge::Keep { .. } | TableMerge::TakeSource(None)));
        moved.map(|(id, _)| *id).collect()
    }

    /// The tables of the target whose content the outcome depends on: those that the source changed, be it their definition, and all that a
    /// constraint ties to them.
    pub(super) fn reads(&self, sides: &Sides) -> BTreeSet<TableId> {
        let moved = self.tables.iter().filter(|(_, merge)| !matches!(merge, TableMerge::Keep { unmoved: true }));
        let dropped = self.schemas.dropped.iter().map(|dropped| dropped.subject.table);
        let dropped = dropped.map(|id| self.schemas.ids.table_in(self.catalog(), id).map_or(id, |table| table.id));
        let moved: BTreeSet<TableId> = moved.map(|(id, _)| *id).chain(dropped).collect();
        let mut reads = moved.clone();
        for table in &self.catalog().tables {
            let Some((from, to)) = table.ends() else { continue };
            if moved.contains(&table.id) {
                reads.extend([from, to]);
            }
            if moved.contains(&from) || moved.contains(&to) {
                reads.insert(table.id);
            }
        }
        let own = |id: &TableId| self.schemas.ids.table_in(&sides.target.catalog, *id).map(|table| table.id);
        let known: Vec<TableId> = reads.iter().filter_map(own).collect();
        reads.extend(known);
        reads
    }
}

/// A table's name; its id where the schema has no such table.
pub(super) fn table_name(catalog: &Catalog, id: TableId) -> String {
    catalog.table_by_id(id).map_or_else(|| id.to_string(), |table| table.name.clone())
}
