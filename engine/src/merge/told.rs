//! What a merge did, for those who asked: told when it is done, or again from its commit.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::plan::{Plan, Sides, table_name};
use super::report::{MergeOutcome, MergedTable};
use super::sides::{named_bases, sides};
use super::stage::{StagedTable, StagedTables};
use crate::error::Error;
use crate::graph::{CommitInfo, Core, ParentInfo};
use crate::ids::TableId;
use crate::publish::Snapshot;
use crate::record::{MergeCounts, Parent};

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
    pub(super) bases: Vec<ParentInfo>,
    pub(super) tables: BTreeMap<String, MergedTable>,
}

impl Merged {
    /// Nothing was to be done.
    pub(super) fn nothing(bases: Vec<ParentInfo>) -> Self {
        Self { outcome: MergeOutcome::UpToDate, bases, tables: BTreeMap::new() }
    }

    /// What `staged` makes of the target.
    pub(super) fn of(sides: &Sides, plan: &Plan, staged: &StagedTables) -> Self {
        let changed = staged.iter().filter_map(|(id, table)| {
            let StagedTable { version, counts, rewritten } = table;
            let before = sides.target.table_version(*id);
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
        let tables = changed.collect();
        Self { outcome: outcome_of(sides), bases: named_bases(sides), tables }
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
    let Some((target, others)) = commit.parents.split_first() else { return Ok(Merged::nothing(Vec::new())) };
    let own =
        ParentInfo { branch: commit.branch.clone(), incarnation: commit.incarnation, seq: commit.seq, id: commit.id };
    let read = |parent: &ParentInfo| {
        let parent = Parent::try_from(parent);
        async move {
            let record = core.authorities().parent(&parent?).await?;
            core.authorities().snapshot_of(record).await
        }
    };
    let (target, own) = futures::try_join!(read(target), read(&own))?;
    let changes = core.changes_of(&own.record).await?;
    let counts = changes.first().map(|change| change.merged.clone()).unwrap_or_default();
    let tables = changed_tables(&target, &own, &counts);
    let Some(source) = others.first() else {
        // A squashed one does not name its source.
        return Ok(Merged { outcome: MergeOutcome::Merged, bases: Vec::new(), tables });
    };
    let sides = sides(core, read(source).await?, target).await?;
    Ok(Merged { outcome: outcome_of(&sides), bases: named_bases(&sides), tables })
}

fn changed_tables(
    before: &Snapshot,
    after: &Snapshot,
    counts: &BTreeMap<TableId, MergeCounts>,
) -> BTreeMap<String, MergedTable> {
    let ids = before.record.tables.keys().chain(after.record.tables.keys());
    ids.filter(|id| before.table_version(**id) != after.table_version(**id))
        .map(|id| {
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
        })
        .collect()
}
