//! Which rows of a fragment are gone, and which file says so.

use std::sync::Arc;

use lance::Dataset;
use lance_table::format::Fragment;
use roaring::RoaringBitmap;

use super::TableError;
use super::layout::HASH_FIELD;
use crate::ids::TableId;

/// The data file by which a fragment is known in every version: the one that bears `_hash`. Whoever changes a value of a row
/// changes its hash, so rewrites that file. Fragment numbers say nothing: versions that fork from one hand out the same ones.
///
/// # Errors
/// If no file bears it: all that we write do.
pub(super) fn identity(table: TableId, fragment: &Fragment) -> Result<&str, TableError> {
    let mut files = fragment.files.iter().filter(|file| file.fields.contains(&HASH_FIELD.0));
    match (files.next(), files.next()) {
        (Some(file), None) if fragment.overlays.is_empty() => Ok(&file.path),
        _ => Err(TableError::Damaged {
            table,
            problem: format!("fragment {} has not exactly one file that bears the hashes of its rows", fragment.id),
        }),
    }
}

/// Whether two versions of a fragment have one deletion file, so that the same rows are gone. Of two files that differ only the content can tell.
pub(super) fn same_deletions(a: &Fragment, b: &Fragment) -> bool {
    a.deletion_file == b.deletion_file && (a.id == b.id || a.deletion_file.is_none())
}

/// The offsets of rows that are gone; no I/O where none are, and otherwise one GET unless it is cached.
///
/// # Errors
/// If the store fails, or the fragment is not in the version.
pub(super) async fn removed_rows(
    table: TableId,
    dataset: &Arc<Dataset>,
    fragment: &Fragment,
) -> Result<RoaringBitmap, TableError> {
    if fragment.deletion_file.is_none() {
        return Ok(RoaringBitmap::new());
    }
    let found = usize::try_from(fragment.id).ok().and_then(|id| dataset.get_fragment(id));
    let found = found.ok_or_else(|| TableError::Damaged {
        table,
        problem: format!("fragment {} is not in the version", fragment.id),
    })?;
    let vector = found.get_deletion_vector().await.map_err(|error| TableError::from_lance(table, "reading", error))?;
    Ok(vector.map(|vector| vector.iter().collect()).unwrap_or_default())
}

/// The number of rows in the fragment's files, removed ones included.
///
/// # Errors
/// If the manifest does not tell, or names more than an address can.
pub(super) fn physical_rows(table: TableId, fragment: &Fragment) -> Result<u32, TableError> {
    let rows = fragment.physical_rows.and_then(|rows| u32::try_from(rows).ok());
    rows.ok_or_else(|| TableError::Damaged { table, problem: format!("fragment {} has no row count", fragment.id) })
}
