//! The version of a table that a merge makes: upon which side's version it is built, and what comes from the other.
//!
//! # Where it is built
//! 1. What one side has as it is to be is taken by its pointer.
//! 2. Upon the target's version, or else the source's, if the rows of that side mean what they mean under their own definition as they lie.
//!    The other side's rows come as they lie, if they do so too, and are written in the merged form if not.
//! 3. Else, as where both sides widened a type of their own, all rows are written in the merged form.

use std::sync::Arc;

use arrow_array::RecordBatch;
use futures::{StreamExt as _, TryStreamExt as _, stream};

use super::cases::{Cases, Written};
use super::keys::Of;
use super::lens::Lens;
use super::plan::{Plan, Sides};
use super::row::Side;
use super::stage::pointer;
use crate::error::Error;
use crate::graph::Core;
use crate::ids::ChangeId;
use crate::table::{BatchStream, Combination, Scan, StagedVersion, Table, TableError, TableWrite};
use crate::write::shape::{Shapes, TableShape};
use crate::write::{WriteError, rows_of_changes};

/// The version, and how many rows were written for it besides those of 3; none if it is the target's.
///
/// # Errors
/// When rows cannot be read or written.
pub(super) async fn built(
    core: &Arc<Core>,
    (sides, plan): (&Sides, &Plan),
    shapes: &Arc<Shapes>,
    shape: &TableShape,
    cases: &Cases,
    change: ChangeId,
) -> Result<Option<(StagedVersion, u64)>, Error> {
    let id = cases.table;
    let lens = |side: Side| cases.versions.lenses.of(side);
    let version = |side: Side| plan.version(sides.of(side), id).filter(|_| lens(side).is_some());
    let stands = |side: &Side| lens(*side).is_some_and(|lens| lens.reading.alike) && version(*side).is_some();
    match cases.sides().find(stands) {
        Some(Side::Target) => return Ok(None),
        Some(Side::Source) => {
            return Ok(version(Side::Source).map(|version| (pointer(id, version.clone()), 0)));
        }
        None => {}
    }
    let Some(upon) = [Side::Target, Side::Source].into_iter().find(stands) else {
        return anew(core, (sides, plan), shapes, shape, cases, change).await.map(Some);
    };
    let Some(table) = cases.versions.table(Of::Side(upon)) else { return Ok(None) };
    let other = upon.other();
    let (take, remove) = cases.moves(upon);
    let as_it_lies = lens(other).is_none_or(|lens| lens.reading.alike);
    let (insert, insert_rows) = written(shape, cases.written((!as_it_lies).then_some(other)), change)?;
    let staged = match cases.versions.table(Of::Side(other)).filter(|_| as_it_lies) {
        Some(source) => {
            let twins = cases.versions.twins(upon);
            table.combine(source, Combination { take, remove, twins, insert, insert_rows }).await?
        }
        None => table.stage(TableWrite { remove, remove_all: false, insert, insert_rows }).await?,
    };
    Ok(Some((staged, insert_rows)))
}

/// Rows that are written, as a stream of at most one batch.
fn written<'a>(
    shape: &TableShape,
    rows: impl Iterator<Item = &'a Written>,
    change: ChangeId,
) -> Result<(BatchStream, u64), WriteError> {
    let batch = rows_of_changes(shape, rows.map(|written| (&written.row, written.change.unwrap_or(change))))?;
    let rows = batch.num_rows() as u64;
    let batches =
        if rows == 0 { stream::empty().boxed() } else { stream::iter([Ok::<RecordBatch, TableError>(batch)]).boxed() };
    Ok((batches, rows))
}

/// Writes all rows in the merged form: those of a side that has all values, but for what becomes something else.
async fn anew(
    core: &Arc<Core>,
    (sides, plan): (&Sides, &Plan),
    shapes: &Arc<Shapes>,
    shape: &TableShape,
    cases: &Cases,
    change: ChangeId,
) -> Result<(StagedVersion, u64), Error> {
    let broken = |reason: &str| WriteError::Catalog { table: shape.name().to_owned(), reason: reason.to_owned() };
    let sides_in_order = [Side::Target, Side::Source];
    let dataset = sides_in_order.into_iter().find_map(|side| {
        let lens = cases.versions.lenses.of(side).filter(|lens| lens.reading.same_table)?;
        sides.of(side).table_version(lens.table)
    });
    let dataset = dataset.ok_or_else(|| broken("neither side has it"))?;
    let onto = core.open_version(&core.layout_in((plan.hash(), plan.catalog()), &shape.layout.table), dataset).await?;
    let whole = |side: &Side| cases.versions.lenses.of(*side).is_some_and(|lens| !lens.reading.inherits);
    let of = sides_in_order.into_iter().find(whole).ok_or_else(|| broken("no side has all of its values"))?;
    let lens = cases.versions.lenses.of(of).ok_or_else(|| broken("neither side has it"))?;
    let table = cases.versions.table(Of::Side(of)).ok_or_else(|| broken("neither side has it"))?;

    let (_, remove) = cases.moves(of);
    let (insert, insert_rows) = written(shape, cases.written(Some(of.other())), change)?;
    let staying = table.rows().saturating_sub(remove.len());
    let rows = translated(table, lens, shapes, cases.index, shape, remove);
    let write = TableWrite {
        remove: roaring::RoaringTreemap::new(),
        remove_all: true,
        insert: rows.chain(insert).boxed(),
        insert_rows: staying + insert_rows,
    };
    Ok((onto.stage(write).await?, insert_rows))
}

/// All rows of a version in the merged form, without those that go.
fn translated(
    table: &Table,
    lens: &Arc<Lens>,
    shapes: &Arc<Shapes>,
    index: usize,
    shape: &TableShape,
    remove: roaring::RoaringTreemap,
) -> BatchStream {
    let asked = lens.asked(shape, &shape.layout.all_columns());
    let scan = Scan { columns: asked.own.clone(), addresses: true, ..Scan::default() };
    let (lens, shapes, id) = (lens.clone(), shapes.clone(), shape.table_id());
    let batches = table.scan(scan).map(move |batch| {
        let batch = batch?;
        let damaged = |problem: String| TableError::Damaged { table: id, problem };
        let shape = shapes.tables.get(index).ok_or_else(|| damaged("the schema lacks it".to_owned()))?;
        let mut rows = lens.rows(shape, &asked, &batch);
        rows.retain(|(address, _, _)| !remove.contains(*address));
        let rows = rows.iter().map(|(_, row, change)| (row, change.unwrap_or(ChangeId::from_bytes([0; 16]))));
        rows_of_changes(shape, rows).map_err(|error| damaged(error.to_string()))
    });
    batches.try_filter(|batch| futures::future::ready(batch.num_rows() > 0)).boxed()
}
