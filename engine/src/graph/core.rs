//! What all handles of an open graph share: its store, its tables, and what is known of its branches.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::file::GraphFile;
use super::gates::Gates;
use super::{CommitInfo, GraphError, ParentInfo};
use crate::admission::{Admission, Limits};
use crate::branch::{Authorities, Reference};
use crate::clock::Clock;
use crate::error::Error;
use crate::ids::{Seq, TableId};
use crate::lane::{LaneLimits, Lanes};
use crate::publish::{ChunkCache, Snapshot, changes_path, chunk_cache};
use crate::query::exec::Sessions;
use crate::record::{Change, Record};
use crate::schema::{Catalog, SchemaHash, TableDef};
use crate::store::{Store, StoreError};
use crate::table::{Layout, StagedVersion, Table, TableVersion, Tables};

/// How many layouts stay in memory.
const LAYOUTS: usize = 4096;

/// Settings of an open graph.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// How long a request keeps trying while others publish first.
    pub(crate) publish_within: Duration,
    /// Bytes of branch heads that stay in memory.
    pub(crate) head_cache_bytes: u64,
    /// Bytes of rows that queries hold in memory together.
    pub(crate) query_memory_bytes: usize,
    /// How much goes into one commit of a lane.
    pub(crate) lane: LaneLimits,
    /// How much may go on at once.
    pub(crate) limits: Limits,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            publish_within: Duration::from_secs(30),
            head_cache_bytes: 64 << 20,
            query_memory_bytes: 512 << 20,
            lane: LaneLimits::default(),
            limits: Limits::default(),
        }
    }
}

/// What all handles of an open graph share.
pub(crate) struct Core {
    store: Store,
    tables: Tables,
    clock: Clock,
    file: GraphFile,
    authorities: Authorities,
    chunks: ChunkCache,
    gates: Gates,
    lanes: Lanes,
    admission: Admission,
    settings: Settings,
    sessions: Sessions,
    layouts: Mutex<HashMap<(SchemaHash, TableId), Arc<Layout>>>,
}

impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Core({} at {})", self.file.graph, self.store.uri())
    }
}

impl Core {
    pub(crate) fn new(store: Store, clock: Clock, file: GraphFile, main_hint: Option<Seq>, settings: Settings) -> Self {
        let tables = Tables::new(&store);
        let authorities = Authorities::new(store.clone(), file.first_record(), main_hint, settings.head_cache_bytes);
        let sessions = Sessions::new(settings.query_memory_bytes);
        Self {
            store,
            tables,
            clock,
            file,
            authorities,
            chunks: chunk_cache(),
            gates: Gates::default(),
            lanes: Lanes::default(),
            admission: Admission::new(settings.limits),
            settings,
            sessions,
            layouts: Mutex::default(),
        }
    }

    /// Time and chance.
    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The storage.
    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// What is known of the branches.
    pub(crate) fn authorities(&self) -> &Authorities {
        &self.authorities
    }

    /// What requests of this process wait at.
    pub(crate) fn gates(&self) -> &Gates {
        &self.gates
    }

    /// How much goes on.
    pub(crate) fn admission(&self) -> &Admission {
        &self.admission
    }

    /// The queues in front of branches.
    pub(crate) fn lanes(&self) -> &Lanes {
        &self.lanes
    }

    /// The lineage chunks at hand.
    pub(crate) fn chunks(&self) -> &ChunkCache {
        &self.chunks
    }

    /// What never changes about the graph.
    pub(crate) fn file(&self) -> &GraphFile {
        &self.file
    }

    /// The settings it was opened with.
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Where queries run.
    pub(crate) fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// The commit that `reference` names; a branch's head as the store has it now.
    pub(crate) async fn snapshot(&self, reference: &str) -> Result<Snapshot, Error> {
        let reference: Reference = reference.parse()?;
        self.authorities.snapshot_of(self.authorities.resolve(&reference).await?).await
    }

    /// The commit that another one was told with; what stands at its position must be that.
    pub(crate) async fn snapshot_of_told(&self, commit: &ParentInfo) -> Result<Snapshot, Error> {
        self.authorities.snapshot_of(self.authorities.parent(&commit.try_into()?).await?).await
    }

    /// Opens a table as it is in a commit.
    pub(crate) async fn open_table(&self, at: &Snapshot, table: &TableDef) -> Result<Table, Error> {
        let version = at
            .table_version(table.id)
            .ok_or_else(|| GraphError::TableMissing { place: at.reference(), table: table.name.clone() })?;
        Ok(self.tables.open(&self.layout(at, table), version).await?)
    }

    /// Stages an empty first version of a table that no commit names yet.
    pub(crate) async fn create_table(&self, layout: &Arc<Layout>) -> Result<StagedVersion, Error> {
        Ok(self.tables.create(layout).await?)
    }

    /// Opens a version of a table under a layout.
    pub(crate) async fn open_version(&self, layout: &Arc<Layout>, version: &TableVersion) -> Result<Table, Error> {
        Ok(self.tables.open(layout, version).await?)
    }

    /// The physical columns of a table in the schema of a commit.
    pub(crate) fn layout(&self, at: &Snapshot, table: &TableDef) -> Arc<Layout> {
        self.layout_in((at.record.schema, &at.catalog), table)
    }

    /// The physical columns of a table in a schema.
    pub(crate) fn layout_in(&self, (hash, catalog): (SchemaHash, &Catalog), table: &TableDef) -> Arc<Layout> {
        let key = (hash, table.id);
        // The map is whole between any two statements, so a panic elsewhere leaves nothing to distrust.
        let mut layouts = self.layouts.lock().unwrap_or_else(PoisonError::into_inner);
        if layouts.len() >= LAYOUTS {
            layouts.clear();
        }
        layouts.entry(key).or_insert_with(|| Layout::new(catalog, table)).clone()
    }

    /// The changes of a commit, wherever they are kept.
    pub(crate) async fn changes_of(&self, record: &Record) -> Result<Vec<Change>, Error> {
        let Some(spill) = &record.spill else {
            return Ok(record.changes.clone());
        };
        let path = changes_path(spill.object);
        let Some(bytes) = self.store.read(&path).await? else {
            return Err(StoreError::Missing { place: self.store.uri().to_owned(), path: path.to_string() }.into());
        };
        Ok(Record::decode_spilled(&bytes, path.as_ref())?)
    }

    /// A commit for people.
    pub(crate) async fn commit_info(&self, record: &Record) -> Result<CommitInfo, Error> {
        let (changes, catalog) =
            futures::try_join!(self.changes_of(record), self.authorities.catalogs().read(record.schema))?;
        Ok(CommitInfo::new(record, &changes, &catalog))
    }
}
