//! Writing a version: data file, deletion files and manifest side by side, named by nothing until a record names them.
//!
//! # Invariants
//! 1. The version written upon is not touched: every file of the new version has a new name.
//! 2. Nothing here is visible: the manifest is detached, only a record can name it.
//! 3. A row is removed by its address in the version written upon; an address that names no row fails the write before
//!    anything is written.
//! 4. The number of live rows is computed from the new manifest and needs no read; a version that has not exactly the rows that were
//!    asked for is an error.
//!
//! # Order of effects
//! Deletion files and data files are written at once, the manifest when both are known. Behind a store that stages, all of
//! them are PUTs of one round, which the publish awaits.
//!
//! # What a crash leaves behind
//! Files that no record names.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{BooleanArray, RecordBatch};
use arrow_select::filter::filter_record_batch;
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{StreamExt, TryStreamExt, future, stream};
use lance::Dataset;
use lance::dataset::transaction::{Operation, UpdateMode};
use lance::dataset::{InsertBuilder, WriteMode, WriteParams};
use lance_table::format::Fragment;
use lance_table::io::deletion::deletion_file_path;
use object_store::path::Path;
use roaring::{RoaringBitmap, RoaringTreemap};

use super::create::{commit, project};
use super::fold::{FragmentSize, estimate, plan_fold};
use super::mapping::lance_schema;
use super::open::live_rows;
use super::{BatchStream, Table, TableError, TableVersion, provider};
use crate::ids::TableId;

/// Deletion files written at once.
const PARALLEL_DELETIONS: usize = 64;

/// What one write makes of a table version: rows go by address, rows come as batches of the whole layout.
pub(crate) struct TableWrite {
    /// Addresses of rows of the version written upon that are to go. One whose row is gone already changes nothing.
    pub remove: RoaringTreemap,
    /// All rows go: `remove` is not looked at.
    pub remove_all: bool,
    /// Batches with `Layout::arrow` as their schema.
    pub insert: BatchStream,
    /// Rows that `insert` yields; any other number fails the write. Zero: `insert` is not polled.
    pub insert_rows: u64,
}

impl TableWrite {
    /// No row goes and none comes.
    pub(super) fn nothing() -> Self {
        Self { remove: RoaringTreemap::new(), remove_all: false, insert: stream::empty().boxed(), insert_rows: 0 }
    }
}

/// A written version that no record names yet, with the files that must be durable before one may.
#[derive(Debug, Clone)]
pub(crate) struct StagedVersion {
    /// The table.
    pub table: TableId,
    /// The version, as a record will name it.
    pub version: TableVersion,
    /// The files written for it: data, deletions, manifest.
    pub files: Vec<Path>,
    /// Fragments of another version that it names without having copied them.
    pub adopted: u64,
}

/// What becomes of the fragments of the version written upon.
pub(super) struct Removal {
    /// Fragments that vanish, for their rows are all gone or taken into the new file.
    pub gone: Vec<u64>,
    /// Fragments that lose these rows.
    pub thinned: BTreeMap<u64, RoaringBitmap>,
    /// Fragments to read into the new file.
    pub folded: Vec<Fragment>,
}

impl Table {
    /// Writes one new version in one round (folding small fragments where that is due), without publishing anything.
    ///
    /// # Errors
    /// If an address names no row, `insert` fails or yields other columns or another number of rows, or the store fails. Files may be left behind that no
    /// record names.
    pub(crate) async fn stage(&self, write: TableWrite) -> Result<StagedVersion, TableError> {
        let removal = self.plan_removal(&write.remove, write.remove_all, write.insert_rows)?;
        Box::pin(self.carry_out(removal, write)).await
    }

    /// Writes the version, once it is decided what becomes of each fragment.
    pub(super) async fn carry_out(&self, removal: Removal, write: TableWrite) -> Result<StagedVersion, TableError> {
        let table = self.layout.table.id;
        let failed = |error| TableError::from_lance(table, "writing", error);
        let TableWrite { remove, remove_all, insert, insert_rows } = write;
        let (base, mut files) = self.aligned("writing").await?;
        let dropped = Arc::new(AtomicU64::new(0));
        let rows = self.rows_to_write(&removal.folded, (remove, dropped.clone()), insert, insert_rows).await;
        let (thinned, new) = future::try_join(thin(table, &base, removal.thinned), self.append(&base, rows)).await?;
        let mut removed = if remove_all { self.version.rows } else { dropped.load(Ordering::Relaxed) };
        let mut gone = removal.gone;
        let mut updated = Vec::with_capacity(thinned.len());
        for (id, fragment, rows) in thinned {
            removed += rows;
            match fragment {
                Some(fragment) => updated.push(fragment),
                None => gone.push(id),
            }
        }

        let folder = provider::folder(table);
        files.extend(updated.iter().filter_map(|fragment| {
            fragment.deletion_file.as_ref().map(|file| deletion_file_path(&folder, fragment.id, file))
        }));
        files.extend(
            new.iter().flat_map(|fragment| &fragment.files).map(|file| base.data_dir().join(file.path.as_str())),
        );
        let thinned: Vec<u64> = updated.iter().map(|fragment| fragment.id).collect();
        let dataset = commit(&base, replace(gone, updated, new)).await.map_err(failed)?;
        let before: BTreeSet<u64> = base.fragments().iter().map(|fragment| fragment.id).collect();
        let all = dataset.fragments().iter().map(|fragment| fragment.id);
        self.warm(&dataset, &thinned, &all.filter(|id| !before.contains(id)).collect()).await;
        let staged = staged_version(table, &dataset, files)?;
        let (found, expected) = (staged.version.rows, self.version.rows.saturating_sub(removed) + insert_rows);
        if found != expected {
            return Err(TableError::WrongRows { table, found, expected });
        }
        self.tables.remember(table, dataset).await;
        self.forget_ahead().await;
        Ok(staged)
    }

    /// What is written upon, and the files that this took: a version older than the schema first gets the schema, by a manifest of its own
    /// that touches no data. `doing` is what an error says went on.
    pub(super) async fn aligned(&self, doing: &'static str) -> Result<(Arc<Dataset>, Vec<Path>), TableError> {
        if self.mapping.is_aligned() {
            return Ok((self.dataset.clone(), Vec::new()));
        }
        let projected = project(&self.dataset, lance_schema(&self.layout)?).await;
        let base = projected.map_err(|error| TableError::from_lance(self.layout.table.id, doing, error))?;
        let manifest = base.manifest_location().path.clone();
        Ok((base, vec![manifest]))
    }

    /// Decides, without I/O, what becomes of each fragment.
    fn plan_removal(&self, remove: &RoaringTreemap, all: bool, insert_rows: u64) -> Result<Removal, TableError> {
        let table = self.layout.table.id;
        let fragments = self.dataset.fragments();
        if all {
            let gone = fragments.iter().map(|fragment| fragment.id).collect();
            return Ok(Removal { gone, thinned: BTreeMap::new(), folded: Vec::new() });
        }
        let mut sizes: BTreeMap<u64, FragmentSize> = BTreeMap::new();
        for fragment in fragments.iter() {
            sizes.insert(fragment.id, FragmentSize::of(table, fragment)?);
        }
        let mut thinned = BTreeMap::new();
        for (high, offsets) in remove.bitmaps() {
            let id = u64::from(high);
            let highest = u64::from(offsets.max().unwrap_or_default());
            match sizes.get_mut(&id) {
                // Some of the rows may be gone already: then this is a little low, which only folds sooner.
                Some(size) if highest < size.rows => size.live = size.live.saturating_sub(offsets.len()),
                _ => {
                    let version = self.version.version;
                    return Err(TableError::NoSuchRow { table, version, address: id << 32 | highest });
                }
            }
            thinned.insert(id, offsets.clone());
        }
        let sizes: Vec<FragmentSize> = sizes.into_values().collect();
        let gone = plan_fold(&sizes, estimate(&sizes, insert_rows));
        thinned.retain(|id, _| !gone.contains(id));
        let folded = fragments.iter().filter(|fragment| gone.contains(&fragment.id)).cloned().collect();
        Ok(Removal { gone, thinned, folded })
    }

    /// The rows of the new file: those of the folded fragments that stay, then the inserted ones. The others of those fragments are
    /// counted as they are dropped.
    pub(super) async fn rows_to_write(
        &self,
        folded: &[Fragment],
        (remove, dropped): (RoaringTreemap, Arc<AtomicU64>),
        insert: BatchStream,
        insert_rows: u64,
    ) -> Option<BatchStream> {
        if folded.is_empty() && insert_rows == 0 {
            return None;
        }
        let table = self.layout.table.id;
        let arrow = self.layout.arrow.clone();
        let kept = if folded.is_empty() {
            stream::empty().boxed()
        } else {
            let ids: BTreeSet<u64> = folded.iter().map(|fragment| fragment.id).collect();
            self.rows_to_fold(folded)
                .await
                .map(move |batch| {
                    let (kept, removed) = kept_rows(table, &batch?, &ids, &remove)?;
                    dropped.fetch_add(removed, Ordering::Relaxed);
                    Ok(kept)
                })
                .try_filter(|batch| future::ready(batch.num_rows() > 0))
                .boxed()
        };
        let inserted = if insert_rows == 0 { stream::empty().boxed() } else { insert };
        let checked = inserted.map(move |batch| {
            let batch = batch?;
            if batch.schema_ref().fields() == arrow.fields() {
                return Ok(batch);
            }
            let problem = format!("expected {}, found {}", arrow, batch.schema_ref());
            Err(TableError::OtherColumns { table, problem })
        });
        Some(kept.chain(checked).boxed())
    }

    /// Writes rows into data files that no manifest names yet.
    pub(super) async fn append(
        &self,
        base: &Arc<Dataset>,
        rows: Option<BatchStream>,
    ) -> Result<Vec<Fragment>, TableError> {
        let table = self.layout.table.id;
        let Some(mut rows) = rows else { return Ok(Vec::new()) };
        // Lance would write an empty file for no rows.
        let first = loop {
            match rows.try_next().await? {
                Some(batch) if batch.num_rows() == 0 => {}
                Some(batch) => break batch,
                None => return Ok(Vec::new()),
            }
        };
        // Lance turns the errors of its input into its own, partly as text: the first is kept here as it was.
        let cause: Arc<Mutex<Option<TableError>>> = Arc::default();
        let input = {
            let cause = cause.clone();
            stream::once(future::ready(Ok(first))).chain(rows).map_err(move |error| {
                *cause.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.clone());
                DataFusionError::External(Box::new(error))
            })
        };
        let input: SendableRecordBatchStream =
            Box::pin(RecordBatchStreamAdapter::new(self.layout.arrow.clone(), input));
        let params = WriteParams {
            mode: WriteMode::Append,
            max_rows_per_file: self.tables.settings().file_rows,
            max_bytes_per_file: self.tables.settings().file_bytes,
            auto_cleanup: None,
            skip_auto_cleanup: true,
            ..WriteParams::default()
        };
        let written = InsertBuilder::new(base.clone()).with_params(&params).execute_uncommitted_stream(input).await;
        match written {
            Ok(transaction) => match transaction.operation {
                Operation::Append { fragments } => Ok(fragments),
                other => Err(TableError::Damaged { table, problem: format!("Lance answered an append by {other}") }),
            },
            Err(error) => {
                let cause = cause.lock().unwrap_or_else(PoisonError::into_inner).take();
                Err(cause.unwrap_or_else(|| TableError::from_lance(table, "writing", error)))
            }
        }
    }
}

/// Takes rows out of fragments and counts those that were there; a fragment that loses its last row is `None`.
async fn thin(
    table: TableId,
    base: &Arc<Dataset>,
    removed: BTreeMap<u64, RoaringBitmap>,
) -> Result<Vec<(u64, Option<Fragment>, u64)>, TableError> {
    stream::iter(removed)
        .map(|(id, offsets)| async move {
            let fragment = usize::try_from(id).ok().and_then(|id| base.get_fragment(id)).ok_or_else(|| {
                TableError::Damaged { table, problem: format!("fragment {id} is not in the version") }
            })?;
            let failed = |error| TableError::from_lance(table, "writing", error);
            // Cached, and needed for the deletion anyway.
            let gone = fragment.get_deletion_vector().await.map_err(failed)?.unwrap_or_default();
            let removed = offsets.iter().filter(|offset| !gone.contains(*offset)).count() as u64;
            let thinned = fragment.extend_deletions(offsets).await.map_err(failed)?;
            Ok((id, thinned.map(|fragment| fragment.metadata().clone()), removed))
        })
        .buffer_unordered(PARALLEL_DELETIONS)
        .try_collect()
        .await
}

/// The rows of `batch`, whose last column is the row address, that are in `fragments` and not in `remove`, without the address
/// column; and how many of `fragments` are in `remove`.
fn kept_rows(
    table: TableId,
    batch: &RecordBatch,
    fragments: &BTreeSet<u64>,
    remove: &RoaringTreemap,
) -> Result<(RecordBatch, u64), TableError> {
    let damaged = |error: arrow_schema::ArrowError| TableError::Damaged { table, problem: error.to_string() };
    let last = batch.num_columns().saturating_sub(1);
    let columns: Vec<usize> = (0..last).collect();
    let rows = batch.project(&columns).map_err(damaged)?;
    let addresses = batch.column(last).as_primitive::<UInt64Type>();
    let mut removed = 0;
    let stays = |address: u64| {
        let (folded, goes) = (fragments.contains(&(address >> 32)), remove.contains(address));
        removed += u64::from(folded && goes);
        folded && !goes
    };
    let keep: BooleanArray = addresses.values().iter().copied().map(stays).map(Some).collect();
    let kept = filter_record_batch(&rows, &keep).map_err(damaged)?;
    Ok((kept, removed))
}

/// The change from one version to the next: some fragments go, some lose rows, some come.
pub(super) fn replace(gone: Vec<u64>, thinned: Vec<Fragment>, new: Vec<Fragment>) -> Operation {
    Operation::Update {
        removed_fragment_ids: gone,
        updated_fragments: thinned,
        new_fragments: new,
        fields_modified: Vec::new(),
        compacted_sstables: Vec::new(),
        fields_for_preserving_frag_bitmap: Vec::new(),
        update_mode: Some(UpdateMode::RewriteRows),
        inserted_rows_filter: None,
        updated_fragment_offsets: None,
    }
}

/// Describes a version that was just written; `files` gets its manifest as well.
///
/// # Errors
/// If Lance does not tell the manifest's size: our commit handler does.
pub(super) fn staged_version(
    table: TableId,
    dataset: &Dataset,
    mut files: Vec<Path>,
) -> Result<StagedVersion, TableError> {
    let location = dataset.manifest_location();
    let (Some(size), Some(e_tag)) = (location.size, location.e_tag.clone()) else {
        return Err(TableError::Damaged { table, problem: "the new manifest has no size or e-tag".to_owned() });
    };
    files.push(location.path.clone());
    let version = TableVersion { version: location.version, size, e_tag, rows: live_rows(table, dataset)? };
    Ok(StagedVersion { table, version, files, adopted: 0 })
}
