//! Taking rows of another version over without copying them: their data files are named by the new version too.
//!
//! # Invariants
//! 1. The new version has exactly the rows of this one, without the removed, with the taken and the inserted ones.
//! 2. Of a taken row nothing is written but a bit in a deletion file. A data file occurs once in a version: where both versions have
//!    it, taking a row brings it back to life there.
//! 3. An adopted fragment gets a number that its new version never gave out, and a deletion file under that number: Lance finds
//!    deletion files by it.
//! 4. An address that names no row fails the combination before anything is written.
//! 5. Rows that both versions have alike in different files are taken in the source's, where whole fragments go for it: the two
//!    versions then share files, and the next merge of the same branches does not read them.
//!
//! # Order of effects
//! As in `stage`: deletion files and the data file of inserted rows at once, the manifest when all are known. A version that comes to more fragments
//! than a table should have is folded at once, by a second manifest upon the first.
//!
//! # What a crash leaves behind
//! Files that no record names.

mod plan;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use futures::{StreamExt, TryStreamExt, future, stream};
use lance::Dataset;
use lance_core::utils::deletion::DeletionVector;
use lance_io::object_store::ObjectStore as LanceStore;
use lance_table::format::Fragment;
use lance_table::io::deletion::{deletion_file_path, write_deletion_file};
use object_store::path::Path;
use roaring::{RoaringBitmap, RoaringTreemap};

use super::create::commit;
use super::fold::{FragmentSize, Incoming, plan_fold};
use super::stage::{replace, staged_version};
use super::{BatchStream, StagedVersion, Table, TableError, TableWrite, provider};
use plan::{Outcome, Plan};

/// Deletion files written at once.
const PARALLEL_DELETIONS: usize = 64;

/// What one table version takes from another one of the same table.
pub(crate) struct Combination {
    /// Addresses in the source of the rows to have.
    pub take: RoaringTreemap,
    /// Addresses in the target of rows that are to go; those that taken and inserted rows stand for are among them.
    pub remove: RoaringTreemap,
    /// Addresses in target and source of rows that both have alike: see [`Delta::twins`](super::Delta::twins). Of use only where a version was
    /// folded or compacted; none need be told.
    pub twins: Vec<(u64, u64)>,
    /// Rows that neither has, with `Layout::arrow` as their schema.
    pub insert: BatchStream,
    /// How many these are.
    pub insert_rows: u64,
}

impl Table {
    /// Whether files of `source` can be taken into this version: both were opened under one layout, so that a column is what the layout says in
    /// either, or is not there and reads as null.
    fn shares_columns(&self, source: &Table) -> bool {
        self.layout.table.id == source.layout.table.id && self.layout.columns == source.layout.columns
    }

    /// Writes one new version upon this one, in one round, that takes rows of `source` as they lie, without publishing anything.
    ///
    /// # Errors
    /// [`TableError::ForeignColumns`] if both were not opened under one layout. If an address names no row, `insert` fails or yields other columns or
    /// another number of rows, or the store fails. Files may be left behind that no record names.
    pub(crate) async fn combine(&self, source: &Table, combination: Combination) -> Result<StagedVersion, TableError> {
        let table = self.layout.table.id;
        if !self.shares_columns(source) {
            return Err(TableError::ForeignColumns { table });
        }
        let failed = |error| TableError::from_lance(table, "merging", error);
        let Combination { take, remove, twins, insert, insert_rows } = combination;
        let plan = Box::pin(plan::plan(self, source, (take, remove), &twins)).await?;

        let (base, mut files) = self.aligned("merging").await?;
        let store = base.object_store(None).await.map_err(failed)?;
        let nothing_folded = (RoaringTreemap::new(), Arc::new(AtomicU64::new(0)));
        let rows = self.rows_to_write(&[], nothing_folded, insert, insert_rows).await;
        let writing = Writing { store: &store, folder: provider::folder(table), version: base.version_id() };
        let Plan { fragments, gained, lost } = plan;
        let (decided, inserted) =
            future::try_join(async { writing.all(fragments).await.map_err(failed) }, self.append(&base, rows)).await?;

        let (mut gone, mut updated, mut adopted) = (Vec::new(), Vec::new(), Vec::new());
        for decision in decided {
            files.extend(decision.written.clone());
            match decision.outcome {
                Outcome::Gone(id) => gone.push(id),
                Outcome::Updated(fragment) => updated.push(fragment),
                Outcome::Adopted(fragment) => adopted.push(fragment),
            }
        }
        let data = inserted.iter().flat_map(|fragment| &fragment.files);
        files.extend(data.map(|file| base.data_dir().join(file.path.as_str())));
        let thinned: Vec<u64> = updated.iter().map(|fragment| fragment.id).collect();
        // Numbers go on behind those of the adopted ones. Zero would have Lance give out the same again.
        let first_inserted = next_number(&base) + adopted.len() as u64;
        let inserted = (first_inserted..).zip(inserted).map(|(id, fragment)| Fragment { id, ..fragment });
        let inserted: Vec<Fragment> = inserted.collect();
        let vectors = thinned.into_iter().chain(adopted.iter().map(|fragment| fragment.id)).collect::<Vec<_>>();
        let written: BTreeSet<u64> = inserted.iter().map(|fragment| fragment.id).collect();
        let adopted_files = adopted.len() as u64;
        let new = adopted.into_iter().chain(inserted).collect();
        let dataset = commit(&base, replace(gone, updated, new)).await.map_err(failed)?;
        self.warm(&dataset, &vectors, &written).await;

        let staged = StagedVersion { adopted: adopted_files, ..staged_version(table, &dataset, files)? };
        let expected = (self.version.rows + gained + insert_rows).saturating_sub(lost);
        if staged.version.rows != expected {
            return Err(TableError::WrongRows { table, found: staged.version.rows, expected });
        }
        self.tables.remember(table, dataset.clone()).await;
        Box::pin(self.fold_combined(dataset, staged)).await
    }

    /// Folds a version that was just combined, if it has too many small fragments; else it is left as it is.
    async fn fold_combined(&self, dataset: Arc<Dataset>, first: StagedVersion) -> Result<StagedVersion, TableError> {
        let sizes = dataset.fragments().iter().map(|fragment| FragmentSize::of(self.layout.table.id, fragment));
        if plan_fold(&sizes.collect::<Result<Vec<_>, _>>()?, Incoming::default()).is_empty() {
            return Ok(first);
        }
        let combined = Table::new(self.tables.clone(), self.layout.clone(), first.version, dataset)?;
        let nothing = TableWrite {
            remove: RoaringTreemap::new(),
            remove_all: false,
            insert: stream::empty().boxed(),
            insert_rows: 0,
        };
        let mut folded = combined.stage(nothing).await?;
        folded.files.extend(first.files);
        folded.adopted = first.adopted;
        Ok(folded)
    }
}

/// What is to become of one fragment, once its deletion file is written.
struct Decided {
    outcome: Outcome,
    written: Option<Path>,
}

/// Where deletion files are written.
struct Writing<'a> {
    store: &'a LanceStore,
    folder: Path,
    version: u64,
}

impl Writing<'_> {
    async fn all(&self, fragments: Vec<plan::Change>) -> lance::Result<Vec<Decided>> {
        stream::iter(fragments).map(|change| self.one(change)).buffered(PARALLEL_DELETIONS).try_collect().await
    }

    async fn one(&self, change: plan::Change) -> lance::Result<Decided> {
        let plan::Change { outcome, number, removed } = change;
        let Some(removed) = removed else { return Ok(Decided { outcome, written: None }) };
        let vector = if removed.is_empty() { DeletionVector::NoDeletions } else { DeletionVector::Bitmap(removed) };
        let file = write_deletion_file(&self.folder, number, self.version, &vector, self.store).await?;
        let written = file.as_ref().map(|file| deletion_file_path(&self.folder, number, file));
        let outcome = match outcome {
            Outcome::Gone(id) => Outcome::Gone(id),
            Outcome::Updated(fragment) => Outcome::Updated(Fragment { deletion_file: file, ..fragment }),
            Outcome::Adopted(fragment) => Outcome::Adopted(Fragment { deletion_file: file, ..fragment }),
        };
        Ok(Decided { outcome, written })
    }
}

/// The offsets of a fragment's rows.
fn every_row(rows: u32) -> RoaringBitmap {
    let mut every = RoaringBitmap::new();
    every.insert_range(0..rows);
    every
}

/// The first fragment number that was never given out in a version's past. Not zero, which has Lance choose one.
fn next_number(dataset: &Dataset) -> u64 {
    dataset.manifest().max_fragment_id().map_or(1, |highest| highest + 1)
}
