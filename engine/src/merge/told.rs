//! What a merge did, for those who asked: told when it is done, or again from its commit.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use super::plan::{Plan, Sides, table_name};
use super::report::{MergeOutcome, MergedTable};
use super::sides::{named_bases, sides};
use super::stage::{StagedTable, StagedTables};
use crate::error::Error;
use crate::graph::{CommitInfo, Core, ParentInfo};
use crate::ids::TableId;
use crate::publish::Snapshot;
use crate::record::MergeCounts;

/// What a merge tells besides its commit.
pub(super) enum Told {
    /// What it did.
    Now(Merged),
    /// It took effect before; its commit says all.
    Before,
}

/// What a merge did.
#[derive(Debug)]
pub(super) struct Merged {
    pub(super) outcome: MergeOutcome,
    /// The commit that was merged; not told again of a squashed one.
    pub(super) source: Option<ParentInfo>,
    pub(super) bases: Vec<ParentInfo>,
    pub(super) tables: BTreeMap<String, MergedTable>,
}

impl Merged {
    /// Nothing was to be done.
    pub(super) fn nothing(source: Option<ParentInfo>, bases: Vec<ParentInfo>) -> Self {
        Self { outcome: MergeOutcome::UpToDate, source, bases, tables: BTreeMap::new() }
    }

    /// What `staged` makes of the target.
    pub(super) fn of(sides: &Sides, plan: &Plan, staged: &StagedTables) -> Self {
        let changed = staged.iter().filter_map(|(id, table)| {
            let StagedTable { version, counts, rewritten } = table;
            let before = plan.version(&sides.target, *id);
            let after = version.as_ref().map(|staged| &staged.version);
            let catalog = if after.is_some() { plan.catalog() } else { &sides.target.catalog };
            let merged = MergedTable {
                rows_before: before.map(|version| version.rows),
                rows: after.map(|version| version.rows),
                counts: *counts,
                rewritten: *rewritten,
                adopted: version.as_ref().map_or(0, |staged| staged.adopted),
            };
            (before != after).then(|| (table_name(catalog, *id), merged))
        });
        let tables = by_name(changed);
        Self { outcome: outcome_of(sides), source: Some(sides.source.named()), bases: named_bases(sides), tables }
    }
}

/// What comes of two sides of which the source moved.
pub(super) fn outcome_of(sides: &Sides) -> MergeOutcome {
    if sides.is_fast_forward() { MergeOutcome::FastForward } else { MergeOutcome::Merged }
}

/// What a merge that took effect before did: its commit and both parents tell, whatever became of their branches. How many rows it wrote anew
/// and how many files it took over is not recorded.
///
/// # Errors
/// When records cannot be read.
pub(super) async fn again(core: &Arc<Core>, commit: &CommitInfo) -> Result<Merged, Error> {
    let Some((target, others)) = commit.parents.split_first() else { return Ok(Merged::nothing(None, Vec::new())) };
    let own = ParentInfo::from(commit);
    let (target, own) = futures::try_join!(core.snapshot_of_told(target), core.snapshot_of_told(&own))?;
    let changes = core.changes_of(&own.record).await?;
    let counts = changes.first().map(|change| change.merged.clone()).unwrap_or_default();
    let tables = changed_tables(&target, &own, &counts);
    let Some(source) = others.first() else {
        // A squashed one does not name its source.
        return Ok(Merged { outcome: MergeOutcome::Merged, source: None, bases: Vec::new(), tables });
    };
    let sides = sides(core, core.snapshot_of_told(source).await?, target).await?;
    Ok(Merged { outcome: outcome_of(&sides), source: Some(source.clone()), bases: named_bases(&sides), tables })
}

fn changed_tables(
    before: &Snapshot,
    after: &Snapshot,
    counts: &BTreeMap<TableId, MergeCounts>,
) -> BTreeMap<String, MergedTable> {
    let ids = before.record.tables.keys().chain(after.record.tables.keys());
    let changed = ids.filter(|id| before.table_version(**id) != after.table_version(**id)).map(|id| {
        let catalog = if after.table_version(*id).is_some() { &after.catalog } else { &before.catalog };
        let rows = |at: &Snapshot| at.table_version(*id).map(|version| version.rows);
        let merged = MergedTable {
            rows_before: rows(before),
            rows: rows(after),
            counts: counts.get(id).copied(),
            rewritten: 0,
            adopted: 0,
        };
        (table_name(catalog, *id), merged)
    });
    by_name(changed)
}

/// Tables by name: one that was dropped and created again is told as one, with the rows of the first before and of the second afterwards.
fn by_name(tables: impl Iterator<Item = (String, MergedTable)>) -> BTreeMap<String, MergedTable> {
    let mut named: BTreeMap<String, MergedTable> = BTreeMap::new();
    for (name, table) in tables {
        match named.entry(name) {
            Entry::Vacant(slot) => drop(slot.insert(table)),
            Entry::Occupied(mut first) => {
                let first = first.get_mut();
                *first = MergedTable {
                    rows_before: first.rows_before.or(table.rows_before),
                    rows: first.rows.or(table.rows),
                    counts: first.counts.or(table.counts),
                    rewritten: first.rewritten + table.rewritten,
                    adopted: first.adopted + table.adopted,
                };
            }
        }
    }
    named
}
