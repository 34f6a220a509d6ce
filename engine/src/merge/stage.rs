//! Writing what the result of a merge needs: files of the source are named, not copied; all tables side by side.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::RecordBatch;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use object_store::path::Path;

use super::cases::Cases;
use super::ends::Tables;
use super::plan::{Plan, Sides};
use super::row::Side;
use super::table::TableMerge;
use crate::error::Error;
use crate::graph::Core;
use crate::ids::{ChangeId, TableId};
use crate::record::MergeCounts;
use crate::table::{BatchStream, Combination, StagedVersion, Table, TableError, TableWrite};
use crate::write::shape::{Shapes, TableShape};
use crate::write::{WriteError, rows_batch};

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
    shapes: &Shapes,
    tables: &Tables,
    change: ChangeId,
) -> Result<StagedTables, Error> {
    let mut staging = Vec::with_capacity(tables.len());
    for cases in tables.values() {
        if let Some(shape) = shapes.tables.get(cases.index) {
            staging.push(async move { Ok::<_, Error>((cases.table, table(sides, shape, cases, change).await?)) });
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
fn pointer(table: TableId, version: crate::table::TableVersion) -> StagedVersion {
    StagedVersion { table, version, files: Vec::new(), adopted: 0 }
}

/// Stages one table whose rows were compared; none if it stays as the target has it.
async fn table(
    sides: &Sides,
    shape: &TableShape,
    cases: &Cases,
    change: ChangeId,
) -> Result<Option<StagedTable>, Error> {
    let (id, before) = (cases.table, sides.target.table_version(cases.table).map_or(0, |version| version.rows));
    let version = match (cases.side(), sides.source.table_version(id), &cases.versions.target) {
        (Some(Side::Target), _, _) => return Ok(None),
        (Some(Side::Source), Some(version), _) => pointer(id, version.clone()),
        (_, _, Some(target)) => combined(target, shape, cases, change).await?,
        (_, _, None) => {
            let reason = "the side it is merged into does not have it".to_owned();
            return Err(WriteError::Catalog { table: shape.name().to_owned(), reason }.into());
        }
    };
    let counts = cases.counts(before, version.version.rows);
    let expected = (before + counts.added).checked_sub(counts.removed);
    if expected != Some(version.version.rows) {
        let (found, expected) = (version.version.rows, expected.unwrap_or_default());
        return Err(TableError::WrongRows { table: id, found, expected }.into());
    }
    let rewritten = cases.written().count() as u64;
    Ok(Some(StagedTable { version: Some(version), counts: Some(counts), rewritten }))
}

async fn combined(target: &Table, shape: &TableShape, cases: &Cases, change: ChangeId) -> Result<StagedVersion, Error> {
    let (take, remove) = cases.moves();
    let written = rows_batch(shape, cases.written(), change)?;
    let rows = written.num_rows() as u64;
    let written: BatchStream = if rows == 0 {
        stream::empty().boxed()
    } else {
        stream::iter([Ok::<RecordBatch, TableError>(written)]).boxed()
    };
    let Some(source) = &cases.versions.source else {
        return Ok(target.stage(TableWrite { remove, remove_all: false, insert: written, insert_rows: rows }).await?);
    };
    if target.shares_columns(source) {
        let twins = cases.versions.twins();
        let combination = Combination { take, remove, twins, insert: written, insert_rows: rows };
        return Ok(target.combine(source, combination).await?);
    }
    // Files with other columns cannot be named: their rows are written.
    let insert_rows = rows + take.len();
    let id = cases.table;
    let columns: Vec<usize> = shape.layout.all_columns();
    let without_address: Vec<usize> = (0..columns.len()).collect();
    let taken = source.take(columns, &take).map(move |batch| {
        batch?.project(&without_address).map_err(|error| TableError::Damaged { table: id, problem: error.to_string() })
    });
    let insert = taken.try_filter(|batch| futures::future::ready(batch.num_rows() > 0)).chain(written).boxed();
    Ok(target.stage(TableWrite { remove, remove_all: false, insert, insert_rows }).await?)
}
