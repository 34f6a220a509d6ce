//! Having a new version's small files in Lance's caches while the store still serves them from memory.
//!
//! It only saves the next write upon the version from reading back what this one wrote. So nothing here fails a write: what could
//! not be read is read when it is needed.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::{StreamExt, TryStreamExt, future};
use lance::Dataset;
use lance::dataset::fragment::{FileFragment, FragReadConfig};
use lance_core::datatypes::Schema;
use lance_table::format::{DataFile, Fragment};

use super::open::SMALL_TABLE_BLOCK;
use super::{Layout, Role, Table};

/// Lance reads and keeps the descriptions of columns singly where a read asks for fewer than one in this many, and otherwise those
/// of all columns of the file together.
const SINGLY_BELOW: usize = 4;

impl Table {
    /// Reads the deletion vectors of the fragments that were `thinned`, and what the small files of those that were `written` say of
    /// their pages.
    pub(super) async fn warm(&self, dataset: &Arc<Dataset>, thinned: &[u64], written: &BTreeSet<u64>) {
        let vectors = thinned
            .iter()
            .filter_map(|id| dataset.get_fragment(usize::try_from(*id).ok()?))
            .map(|fragment| async move { fragment.get_deletion_vector().await.map(drop) });
        let looked_at = &looked_at(&self.layout);
        let pages = dataset
            .fragments()
            .iter()
            .filter(|fragment| written.contains(&fragment.id) && is_small(fragment))
            .filter_map(|fragment| dataset.get_fragment(usize::try_from(fragment.id).ok()?))
            .map(|fragment| async move {
                let groups = groups(dataset.schema(), fragment.metadata(), looked_at);
                future::try_join_all(groups.iter().map(|columns| read_pages(&fragment, columns))).await.map(drop)
            });
        // One that fails does not keep the others from being read.
        let (vectors, pages) = future::join(future::join_all(vectors), future::join_all(pages)).await;
        for error in vectors.into_iter().chain(pages).filter_map(Result::err) {
            let table = self.layout.table.id;
            tracing::debug!(%table, %error, "a new version is not in the caches: it will be read when it is needed");
        }
    }
}

/// The field ids of the columns that a lookup reads.
fn looked_at(layout: &Layout) -> Vec<i32> {
    let lookups =
        layout.columns.iter().filter(|column| matches!(column.role, Role::Hash | Role::From(_) | Role::To(_)));
    let keys = layout.key_columns().into_iter().filter_map(|key| layout.columns.get(key));
    lookups.chain(keys).map(|column| column.field.0).collect()
}

/// The columns of a new fragment's file, in the groups that reads ask for: no column is in two.
fn groups(schema: &Schema, fragment: &Fragment, looked_at: &[i32]) -> Vec<Schema> {
    let singly = fragment.files.iter().any(|file| is_read_singly(file, looked_at));
    let (few, others): (Vec<i32>, Vec<i32>) =
        schema.fields.iter().map(|field| field.id).partition(|id| !singly || looked_at.contains(id));
    [few, others].iter().filter(|ids| !ids.is_empty()).map(|ids| schema.project_by_ids(ids, true)).collect()
}

/// Whether these columns are so few of a file that Lance reads their descriptions singly.
fn is_read_singly(file: &DataFile, ids: &[i32]) -> bool {
    let stored = file.fields.iter().zip(file.column_indices.iter()).filter(|(_, index)| **index >= 0);
    let all = stored.clone().count();
    let wanted = stored.filter(|(id, _)| ids.contains(id)).count();
    wanted * SINGLY_BELOW < all
}

/// Reads one row, which is enough: Lance keeps the footer and how the pages begin.
async fn read_pages(fragment: &FileFragment, columns: &Schema) -> lance::Result<()> {
    let reader = fragment.open(columns, FragReadConfig::default()).await?;
    let rows = reader.read_range(0..1, 1).await?;
    rows.buffered(1).try_for_each(|_| future::ready(Ok(()))).await
}

/// Whether a fragment's files are small enough to be staged, rather than sent straight to the store.
fn is_small(fragment: &Fragment) -> bool {
    let bytes = fragment.files.iter().map(|file| file.file_size_bytes.get().map_or(u64::MAX, u64::from));
    bytes.fold(0_u64, u64::saturating_add) <= SMALL_TABLE_BLOCK as u64
}
