//! The plan of a merge: a pure decision over three or more snapshots, before any row is looked at.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::choice::{Choice, choose};
use super::table::{TableMerge, state};
use crate::error::{Conflict, ConflictKind};
use crate::ids::TableId;
use crate::publish::Snapshot;
use crate::schema::Catalog;

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
#[derive(Debug, Clone)]
pub(super) struct Plan {
    /// The snapshot whose schema the result has.
    pub(super) schema: Snapshot,
    /// Whether that is not the target's.
    pub(super) new_schema: bool,
    /// What becomes of each table of either side.
    pub(super) tables: BTreeMap<TableId, TableMerge>,
}

impl Plan {
    /// The result of a fast-forward: everything as the source has it.
    pub(super) fn fast_forward(sides: &Sides) -> Self {
        let source = &sides.source;
        let take = |id: &TableId| (*id, TableMerge::TakeSource(source.table_version(*id).cloned()));
        Self {
            schema: source.clone(),
            new_schema: source.record.schema != sides.target.record.schema,
            tables: tables_of(sides).iter().map(take).collect(),
        }
    }

    /// Decides on the schema and on each table.
    ///
    /// # Errors
    /// The conflicts of schemas that both sides changed.
    pub(super) fn three_way(sides: &Sides) -> Result<Self, Vec<Conflict>> {
        let hash = |at: &Snapshot| at.record.schema;
        let bases: Vec<_> = sides.bases.iter().map(hash).collect();
        let new_schema = match choose(&hash(&sides.source), &hash(&sides.target), &bases) {
            Choice::Keep => false,
            Choice::TakeSource => true,
            Choice::BothMoved => return Err(schema_conflicts(&sides.source.catalog, &sides.target.catalog)),
        };
        let decide = |id: TableId| (id, TableMerge::decide(&sides.source, &sides.target, &sides.bases, id));
        Ok(Self {
            schema: if new_schema { sides.source.clone() } else { sides.target.clone() },
            new_schema,
            tables: tables_of(sides).into_iter().map(decide).collect(),
        })
    }

    /// The schema of the result.
    pub(super) fn catalog(&self) -> &Arc<Catalog> {
        &self.schema.catalog
    }

    /// The tables that both sides changed under different definitions, with their names: what their rows mean is not one thing.
    pub(super) fn redefined(&self, sides: &Sides) -> BTreeMap<TableId, String> {
        let both = self.tables.iter().filter(|(_, merge)| matches!(merge, TableMerge::BothMoved));
        let definition = |at: &Snapshot, id: TableId| at.catalog.table_by_id(id).cloned();
        let differ = both.filter(|(id, _)| definition(&sides.source, **id) != definition(&sides.target, **id));
        differ.map(|(id, _)| (*id, table_name(self.catalog(), *id))).collect()
    }

    /// The tables that a side changed and both have.
    pub(super) fn moved(&self) -> BTreeSet<TableId> {
        let moved = self
            .tables
            .iter()
            .filter(|(_, merge)| !matches!(merge, TableMerge::Keep { .. } | TableMerge::TakeSource(None)));
        moved.map(|(id, _)| *id).collect()
    }

    /// The tables whose content the outcome depends on: those that the source changed, and all that a constraint ties to them.
    pub(super) fn reads(&self) -> BTreeSet<TableId> {
        let moved = self.tables.iter().filter(|(_, merge)| !matches!(merge, TableMerge::Keep { unmoved: true }));
        let moved: BTreeSet<TableId> = moved.map(|(id, _)| *id).collect();
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
        reads
    }
}

/// All tables of both sides.
fn tables_of(sides: &Sides) -> BTreeSet<TableId> {
    [&sides.source, &sides.target].into_iter().flat_map(|side| side.record.tables.keys().copied()).collect()
}

/// A table's name; its id where the schema has no such table.
pub(super) fn table_name(catalog: &Catalog, id: TableId) -> String {
    catalog.table_by_id(id).map_or_else(|| id.to_string(), |table| table.name.clone())
}

/// One conflict for each table that the schemas define otherwise.
fn schema_conflicts(source: &Catalog, target: &Catalog) -> Vec<Conflict> {
    let ids: BTreeSet<TableId> = source.tables.iter().chain(&target.tables).map(|table| table.id).collect();
    let differ = ids.into_iter().filter(|id| source.table_by_id(*id) != target.table_by_id(*id));
    let name = |id| target.table_by_id(id).map_or_else(|| table_name(source, id), |table| table.name.clone());
    differ.map(|id| Conflict::of_table(ConflictKind::Schema, name(id))).collect()
}

/// Whether a table is the same on both sides.
pub(super) fn is_same(sides: &Sides, id: TableId) -> bool {
    state(&sides.source, id) == state(&sides.target, id)
}
