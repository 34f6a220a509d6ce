//! The tables of one graph: one Lance session with bounded caches, and a bounded cache of open versions in front of it.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use lance::Dataset;
use lance::dataset::builder::DatasetBuilder;
use lance::session::Session;
use lance_core::deepsize::DeepSizeOf;
use lance_io::object_store::ObjectStoreRegistry;
use moka::future::Cache;
use object_store::ObjectStore;

use super::commit_handler::Recorded;
use super::fold::Ahead;
use super::mapping::Mapping;
use super::{Layout, Table, TableError, TableVersion, provider};
use crate::ids::TableId;
use crate::store::Store;

/// A file of up to a block is read in one request; of a longer one, the last block is read for its footer, and ranges closer
/// than a block are read as one. RFC 0002 has the numbers.
pub(super) const SMALL_TABLE_BLOCK: usize = 1 << 20;
/// Blocks of tables with more rows, where a footer is little of a file and a large block wastes bytes.
const LARGE_TABLE_BLOCK: usize = 64 << 10;
/// Rows up to which a table counts as small.
const SMALL_TABLE_ROWS: u64 = 100_000;

/// How the tables of a graph are read, written and cached.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings {
    /// Bytes of index pages kept in memory.
    pub index_bytes: usize,
    /// Bytes of manifests, file footers and deletion vectors kept in memory.
    pub metadata_bytes: usize,
    /// Bytes of manifests pinned by open versions. Lance does not count these.
    pub handle_bytes: u64,
    /// The block size of all tables; by their rows if none.
    pub block_size: Option<usize>,
    /// Bytes of rows read ahead of writes that were not staged yet, or never will be.
    pub ahead_bytes: u64,
    /// Bytes after which a new data file is begun.
    pub file_bytes: usize,
    /// Rows after which a new data file is begun.
    pub file_rows: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            index_bytes: 32 << 20,
            metadata_bytes: 64 << 20,
            handle_bytes: 32 << 20,
            ahead_bytes: 32 << 20,
            block_size: None,
            // Few files for large tables: 1,000 of them make 256 GB.
            file_bytes: 256 << 20,
            // A row has at least the 16 random bytes of its hash, so that a file of this many is above the size that is ever
            // folded: else a fold could leave as many fragments as it found.
            file_rows: 16 << 20,
        }
    }
}

/// The tables of one graph: one Lance session, bounded caches, bounded handles. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Tables(Arc<Inner>);

struct Inner {
    session: Arc<Session>,
    settings: Settings,
    handles: Cache<(TableId, u64), Arc<Dataset>>,
    ahead: Cache<(TableId, u64), Arc<Ahead>>,
}

impl fmt::Debug for Tables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tables({} open versions)", self.0.handles.entry_count())
    }
}

impl Tables {
    /// The tables in `store`. What Lance writes is staged: it must be made durable by the store's barrier before a record may
    /// name it.
    pub(crate) fn new(store: &Store) -> Self {
        Self::over(store.staging(), Settings::default())
    }

    /// The tables behind any object store.
    pub(super) fn over(objects: Arc<dyn ObjectStore>, settings: Settings) -> Self {
        let registry: Arc<ObjectStoreRegistry> =
            provider::registry(objects, settings.block_size.unwrap_or(SMALL_TABLE_BLOCK));
        let handles = Cache::builder()
            .max_capacity(settings.handle_bytes)
            .weigher(|_, dataset: &Arc<Dataset>| {
                let bytes = size_of::<Dataset>() + dataset.manifest().deep_size_of();
                u32::try_from(bytes).unwrap_or(u32::MAX)
            })
            .build();
        let ahead = Cache::builder()
            .max_capacity(settings.ahead_bytes)
            .weigher(|_, ahead: &Arc<Ahead>| u32::try_from(ahead.bytes()).unwrap_or(u32::MAX))
            .build();
        let session = Arc::new(Session::new(settings.index_bytes, settings.metadata_bytes, registry));
        Self(Arc::new(Inner { session, settings, handles, ahead }))
    }

    /// Opens a version that a record names: no LIST, no HEAD; nothing at all when its manifest is cached, and one GET
    /// otherwise, however many ask at once.
    ///
    /// # Errors
    /// If the store fails, or the manifest is missing or does not fit the record or the layout.
    pub(crate) async fn open(&self, layout: &Arc<Layout>, version: &TableVersion) -> Result<Table, TableError> {
        let table = layout.table.id;
        let key = (table, version.version);
        let by_rows = if version.rows <= SMALL_TABLE_ROWS { SMALL_TABLE_BLOCK } else { LARGE_TABLE_BLOCK };
        let block_size = self.0.settings.block_size.unwrap_or(by_rows);
        let dataset = self
            .0
            .handles
            .try_get_with(key, async {
                let loading = DatasetBuilder::from_uri(provider::address(table))
                    .with_session(self.0.session.clone())
                    .with_block_size(block_size)
                    .with_commit_handler(Arc::new(Recorded::new(version.clone())))
                    .with_version(version.version)
                    .load();
                match AssertUnwindSafe(loading).catch_unwind().await {
                    Ok(loaded) => loaded.map(Arc::new).map_err(|error| TableError::from_lance(table, "opening", error)),
                    Err(panic) => Err(TableError::from_panic(table, &*panic)),
                }
            })
            .await
            .map_err(|shared: Arc<TableError>| TableError::clone(&shared))?;
        Table::new(self.clone(), layout.clone(), version.clone(), dataset)
    }

    /// Keeps a version that was just written, so that opening it costs nothing.
    pub(super) async fn remember(&self, table: TableId, dataset: Arc<Dataset>) {
        self.0.handles.insert((table, dataset.version_id()), dataset).await;
    }

    /// What was read ahead of writes, by the version they are to write upon.
    pub(super) fn ahead(&self) -> &Cache<(TableId, u64), Arc<Ahead>> {
        &self.0.ahead
    }

    /// How to write.
    pub(super) fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// Bytes that open versions pin, once the cache has caught up.
    #[cfg(test)]
    pub(super) async fn pinned_bytes(&self) -> u64 {
        self.0.handles.run_pending_tasks().await;
        self.0.handles.weighted_size()
    }

    /// The session that all versions share.
    pub(super) fn session(&self) -> Arc<Session> {
        self.0.session.clone()
    }
}

impl Table {
    /// Joins an open version with the layout to read it under.
    ///
    /// # Errors
    /// If its schema contradicts the layout, or its row count the record.
    pub(super) fn new(
        tables: Tables,
        layout: Arc<Layout>,
        version: TableVersion,
        dataset: Arc<Dataset>,
    ) -> Result<Self, TableError> {
        let rows = live_rows(layout.table.id, &dataset)?;
        if rows != version.rows {
            return Err(TableError::Damaged {
                table: layout.table.id,
                problem: format!("version {} has {rows} rows, the record says {}", version.version, version.rows),
            });
        }
        let mapping = Arc::new(Mapping::new(&layout, dataset.schema())?);
        Ok(Self { tables, layout, version, dataset, mapping })
    }
}

/// The number of live rows, from the manifest alone.
///
/// # Errors
/// If the manifest does not tell: every version we write does.
pub(super) fn live_rows(table: TableId, dataset: &Dataset) -> Result<u64, TableError> {
    dataset
        .fragments()
        .iter()
        .try_fold(0, |sum, fragment| Ok(sum + super::fold::FragmentSize::of(table, fragment)?.live))
}
