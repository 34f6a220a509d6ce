//! Writes the rows of a table anew, for a property whose type needs another column: same rows, same values, same hashes.

use std::sync::Arc;

use arrow_array::{RecordBatch, new_null_array};
use futures::{StreamExt as _, future};
use roaring::RoaringTreemap;

use crate::error::Error;
use crate::graph::{Core, GraphError};
use crate::publish::Snapshot;
use crate::schema::TableDef;
use crate::table::{Layout, Role, Scan, StagedVersion, TableError, TableWrite};

/// Stages a version of `table` with all its rows in the columns of `layout`. Rows are streamed, as in any write.
///
/// A hash holds what a row means, and that stays: `_hash` and `_change` go over as they are, and so does a null that stands for a fill value.
pub(super) async fn rewrite(
    core: &Core,
    at: &Snapshot,
    table: &TableDef,
    layout: &Arc<Layout>,
) -> Result<StagedVersion, Error> {
    let version = at
        .table_version(table.id)
        .ok_or_else(|| GraphError::TableMissing { place: at.reference(), table: table.name.clone() })?;
    let (source, target) = future::try_join(core.open_table(at, table), core.open_version(layout, version)).await?;
    let earlier = core.layout(at, table);
    let places: Vec<Option<usize>> = layout.columns.iter().map(|column| place(&earlier, layout, column.role)).collect();
    let later = layout.clone();
    let rows = source.scan(Scan { columns: earlier.all_columns(), ..Scan::default() });
    let insert = rows.map(move |batch| arrange(&later, &places, &batch?)).boxed();
    let write = TableWrite { remove: RoaringTreemap::new(), remove_all: true, insert, insert_rows: version.rows };
    Ok(target.stage(write).await?)
}

/// Where the earlier layout has what a column of the later one bears.
fn place(earlier: &Layout, later: &Layout, role: Role) -> Option<usize> {
    match role {
        Role::Property(place) => earlier.property(later.table.properties.get(place)?.id),
        role => earlier.column(role),
    }
}

fn arrange(layout: &Layout, places: &[Option<usize>], batch: &RecordBatch) -> Result<RecordBatch, TableError> {
    let damaged = |error: arrow_schema::ArrowError| TableError::Damaged {
        table: layout.table.id,
        problem: format!("its rows do not fit the new schema: {error}"),
    };
    let columns = places.iter().zip(layout.arrow.fields()).map(|(place, field)| match place {
        Some(place) if batch.column(*place).data_type() == field.data_type() => Ok(batch.column(*place).clone()),
        Some(place) => {
            // The type is wider: a value that does not fit would be a fault, not a null.
            let options = arrow_cast::CastOptions { safe: false, ..arrow_cast::CastOptions::default() };
            arrow_cast::cast_with_options(batch.column(*place), field.data_type(), &options)
        }
        None => Ok(new_null_array(field.data_type(), batch.num_rows())),
    });
    let columns = columns.collect::<Result<Vec<_>, _>>().map_err(damaged)?;
    RecordBatch::try_new(layout.arrow.clone(), columns).map_err(damaged)
}
