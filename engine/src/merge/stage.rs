//! Writing what the result of a merge needs: files of one side are named, not copied; all tables side by side.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::FutureExt as _;
use object_store::path::Path;

use super::cases::Cases;
use super::ends::Tables;
use super::ground::built;
use super::plan::{Plan, Sides};
use super::table::TableMerge;
use crate::error::Error;
use crate::graph::Core;
use crate::ids::{ChangeId, TableId};
use crate::record::MergeCounts;
use crate::table::{StagedVersion, TableError};
use crate::write::shape::{Shapes, TableShape};

/// What becomes of one table.
#[derive(Debug, Clone)]
pub(super) struct StagedTable {
    /// The version that takes the place of the target's; none if the table goes with the source's schema.
    pub(super) version: Option<StagedVersion>,
    /// What was compared, if rows were.
    pub(super) counts: Option<MergeCounts>,
    /// Rows that were written anew.
    pub(super) rewritten: u64,
}

impl StagedTable {
    /// The files that were written for it.
    pub(super) fn files(&self) -> &[Path] {
        self.version.as_ref().map_or(&[], |version| &version.files)
    }
}

/// What becomes of the tables that do not stay as they are.
pub(super) type StagedTables = BTreeMap<TableId, StagedTable>;

/// Stages the result; if one table fails, the files of the others are let go of.
///
/// # Errors
/// When the store fails, or counts do not add up.
pub(super) async fn stage(
    core: &Arc<Core>,
    sides: &Sides,
    plan: &Plan,
    shapes: &Arc<Shapes>,
    tables: &Tables,
    change: ChangeId,
) -> Result<StagedTables, Error> {
    let mut staging = Vec::with_capacity(tables.len());
    for cases in tables.values() {
        if let Some(shape) = shapes.tables.get(cases.index) {
            staging.push(
                async move {
                    Ok::<_, Error>((cases.table, table(core, (sides, plan), shapes, shape, cases, change).await?))
                }
                .boxed(),
            );
        }
    }
    let outcomes = futures::future::join_all(staging).await;
    let staged =
        core.store().staging().all_or_none(outcomes, |(_, table)| table.as_ref().map_or(&[], StagedTable::files))?;
    let mut staged: BTreeMap<TableId, Option<StagedTable>> = staged.into_iter().collect();
    for (id, merge) in &plan.tables {
        if let TableMerge::TakeSource(version) = merge {
            let version = version.clone().map(|version| pointer(*id, version));
            staged.entry(*id).or_insert(Some(StagedTable { version, counts: None, rewritten: 0 }));
        }
    }
    Ok(staged.into_iter().filter_map(|(id, table)| Some((id, table?))).collect())
}

/// A version that stands already.
pub(super) fn pointer(table: TableId, version: crate::table::TableVersion) -> StagedVersion {
    StagedVersion { table, version, files: Vec::new(), adopted: 0 }
}

/// Stages one table whose rows were compared; none if it stays as the target has it.
async fn table(
    core: &Arc<Core>,
    (sides, plan): (&Sides, &Plan),
    shapes: &Arc<Shapes>,
    shape: &TableShape,
    cases: &Cases,
    change: ChangeId,
) -> Result<Option<StagedTable>, Error> {
    let id = cases.table;
    let before = plan.version(&sides.target, id).map_or(0, |version| version.rows);
    let Some((version, rewritten)) = built(core, (sides, plan), shapes, shape, cases, change).await? else {
        return Ok(None);
    };
    let counts = cases.counts(before, version.version.rows);
    let expected = (before + counts.added).checked_sub(counts.removed);
    if expected != Some(version.version.rows) {
        let (found, expected) = (version.version.rows, expected.unwrap_or_default());
        return Err(TableError::WrongRows { table: id, found, expected }.into());
    }
    Ok(Some(StagedTable { version: Some(version), counts: Some(counts), rewritten }))
}
