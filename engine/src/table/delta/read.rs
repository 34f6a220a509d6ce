//! Reading what a delta needs: deletion vectors, and keys and hashes of some rows.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use futures::{StreamExt, TryStreamExt, future, stream};
use lance_table::format::Fragment;
use roaring::{RoaringBitmap, RoaringTreemap};

use super::join::{Entry, Spot};
use crate::ids::Digest;
use crate::schema::Type;
use crate::table::deletions::{removed_rows, same_deletions};
use crate::table::{Layout, Role, Scan, Table, TableError};
use crate::value::{Value, digest_values, read_value};

/// Deletion vectors read at once, times two.
const PARALLEL_DELETIONS: usize = 32;

/// Rows of one version.
pub(super) struct Wanted {
    /// All rows of these fragments.
    pub fragments: Vec<Fragment>,
    /// The rows at these addresses of others.
    pub rows: RoaringTreemap,
}

impl Wanted {
    /// All rows of a version.
    pub(super) fn all(table: &Table) -> Self {
        Self { fragments: table.dataset.fragments().to_vec(), rows: RoaringTreemap::new() }
    }
}

/// Rows of shared fragments that are alive in one version only.
#[derive(Default)]
pub(super) struct ChangedDeletions {
    /// Addresses in the version before.
    pub died: RoaringTreemap,
    /// Addresses in the version after.
    pub revived: RoaringTreemap,
}

/// Compares the deletions of shared fragments by content, where their files differ.
pub(super) async fn changed_deletions(
    before: &Table,
    after: &Table,
    shared: &[(Fragment, Fragment)],
) -> Result<ChangedDeletions, TableError> {
    let table = before.layout.table.id;
    let differing: Vec<_> = shared.iter().filter(|(a, b)| !same_deletions(a, b)).cloned().collect();
    let mut vectors = stream::iter(differing)
        .map(|(a, b)| async move {
            let removed =
                future::try_join(removed_rows(table, &before.dataset, &a), removed_rows(table, &after.dataset, &b));
            Ok::<_, TableError>((a.id, b.id, removed.await?))
        })
        .buffer_unordered(PARALLEL_DELETIONS);
    let mut changed = ChangedDeletions::default();
    while let Some((before, after, (was, is))) = vectors.try_next().await? {
        add(&mut changed.died, before, &(&is - &was));
        add(&mut changed.revived, after, &(&was - &is));
    }
    Ok(changed)
}

fn add(addresses: &mut RoaringTreemap, fragment: u64, offsets: &RoaringBitmap) {
    addresses.extend(offsets.iter().map(|offset| fragment << 32 | u64::from(offset)));
}

/// Reads key and hash of the wanted rows: nothing else, whatever the rows have besides.
pub(super) async fn read_entries(table: &Table, wanted: Wanted) -> Result<Vec<Entry>, TableError> {
    let columns = Columns::new(&table.layout)?;
    let scan = Scan { columns: columns.indices.clone(), addresses: true, ..Scan::default() };
    let scanned = table.scan_fragments(scan, Some(wanted.fragments));
    let mut batches = stream::select(scanned, table.take(columns.indices.clone(), &wanted.rows));
    let mut entries = Vec::new();
    while let Some(batch) = batches.try_next().await? {
        columns.entries(&batch, &mut entries)?;
    }
    Ok(entries)
}

/// What is read of a row.
struct Columns {
    layout: Arc<Layout>,
    /// `_hash`, then the key's columns in key order.
    indices: Vec<usize>,
}

impl Columns {
    fn new(layout: &Arc<Layout>) -> Result<Self, TableError> {
        let no_hash =
            || TableError::Damaged { table: layout.table.id, problem: "its layout has no hash column".to_owned() };
        let hash = layout.column(Role::Hash).ok_or_else(no_hash)?;
        let indices = std::iter::once(hash).chain(layout.key_columns()).collect();
        Ok(Self { layout: layout.clone(), indices })
    }

    fn entries(&self, batch: &RecordBatch, out: &mut Vec<Entry>) -> Result<(), TableError> {
        let damaged = || TableError::Damaged {
            table: self.layout.table.id,
            problem: "its rows have no hash of 16 bytes, or no address".to_owned(),
        };
        let keys = batch.num_columns().saturating_sub(2);
        // The hidden id of an edge is 16 bytes, like a UUID.
        let types: Vec<&Type> = self.indices[1..]
            .iter()
            .map(|index| self.layout.columns.get(*index).and_then(|column| column.ty.as_ref()).unwrap_or(&Type::Uuid))
            .collect();
        let hashes = batch.column(0).as_fixed_size_binary_opt().ok_or_else(damaged)?;
        let addresses = batch.column(keys + 1).as_primitive_opt::<UInt64Type>().ok_or_else(damaged)?;
        let mut key: Vec<Value> = Vec::with_capacity(keys);
        out.reserve(batch.num_rows());
        for row in 0..batch.num_rows() {
            key.clear();
            key.extend(types.iter().zip(1..).map(|(ty, column)| read_value(batch.column(column).as_ref(), row, ty)));
            let hash = Digest(hashes.value(row).try_into().map_err(|_| damaged())?);
            let spot = Spot { address: addresses.value(row), hash };
            out.push(Entry { key: digest_values(key.iter().zip(types.iter().copied())), spot });
        }
        Ok(())
    }
}
