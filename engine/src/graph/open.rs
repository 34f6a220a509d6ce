//! Opening a graph, and how.

use std::sync::Arc;
use std::time::Duration;

use object_store::path::Path;

use super::core::Settings;
use super::file::{GRAPH_FILE, GraphFile};
use super::{Core, Graph, GraphError, InitOptions};
use crate::branch::BranchName;
use crate::clock::Clock;
use crate::error::Error;
use crate::ids::Seq;
use crate::log::Log;
use crate::store::{HeadSearch, Store, StoreError, StoreOptions};

/// How a graph is opened or made.
#[derive(Debug, Clone, Default)]
pub struct GraphBuilder {
    store: StoreOptions,
    settings: Settings,
}

impl GraphBuilder {
    /// Settings of the store. Its clock is the graph's.
    #[must_use]
    pub fn store_options(mut self, options: StoreOptions) -> Self {
        self.store = options;
        self
    }

    /// Where time and chance come from.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.store.clock = clock;
        self
    }

    /// How long a request keeps trying while others publish first; 30 seconds by default.
    #[must_use]
    pub fn publish_within(mut self, limit: Duration) -> Self {
        self.settings.publish_within = limit;
        self
    }

    /// How many bytes of branch heads stay in memory; 64 MiB by default.
    #[must_use]
    pub fn head_cache_bytes(mut self, bytes: u64) -> Self {
        self.settings.head_cache_bytes = bytes;
        self
    }

    /// How many bytes of rows all queries of the graph together hold in memory; 512 MiB by default. What sorts, groups and matches need beyond
    /// that goes to temporary files where it can; where it cannot, a query is refused.
    #[must_use]
    pub fn query_memory_bytes(mut self, bytes: usize) -> Self {
        self.settings.query_memory_bytes = bytes;
        self
    }

    /// How many requests share a commit at most; 256 by default. With 1, each has its own.
    #[must_use]
    pub fn coalesce_requests(mut self, requests: usize) -> Self {
        self.settings.lane.requests = requests.max(1);
        self
    }

    /// How many rows those requests put and delete together at most; 10,000 by default. A write that has more by itself, or more than
    /// [`Self::coalesce_bytes`], shares its commit with none, and a load goes another way.
    #[must_use]
    pub fn coalesce_rows(mut self, rows: u64) -> Self {
        self.settings.lane.rows = rows;
        self
    }

    /// How many bytes those requests were given as together at most; 8 MiB by default.
    #[must_use]
    pub fn coalesce_bytes(mut self, bytes: u64) -> Self {
        self.settings.lane.bytes = bytes;
        self
    }

    /// How many merges run at once, and how many wait for those; 64 and 1,024 by default. One more is refused with
    /// [`ErrorKind::Overloaded`](crate::ErrorKind::Overloaded), at once.
    #[must_use]
    pub fn most_merges(mut self, running: u64, queued: u64) -> Self {
        (self.settings.limits.running_merges, self.settings.limits.queued_merges) = (running.max(1), queued);
        self
    }

    /// How many writes, statements and loads wait or are being published at once, and how many bytes they were given as; 65,536 and 256 MiB
    /// by default. One more is refused with [`ErrorKind::Overloaded`](crate::ErrorKind::Overloaded), at once.
    #[must_use]
    pub fn most_writes(mut self, writes: u64, bytes: u64) -> Self {
        (self.settings.limits.writes, self.settings.limits.write_bytes) = (writes, bytes);
        self
    }

    /// Makes a graph: see [`Graph::init`].
    ///
    /// # Errors
    /// As there.
    pub async fn init(&self, uri: &str, ddl: &str, options: InitOptions) -> Result<Graph, Error> {
        let store = Store::open(uri, &StoreOptions { create_folder: true, ..self.store.clone() }).await?;
        self.init_on(store, ddl, options).await
    }

    /// Opens a graph: see [`Graph::open`].
    ///
    /// # Errors
    /// As there.
    pub async fn open(&self, uri: &str) -> Result<Graph, Error> {
        let options = StoreOptions { create_folder: false, ..self.store.clone() };
        match Store::open(uri, &options).await {
            Ok(store) => self.open_on(store).await,
            Err(StoreError::NoFolder { .. }) => Err(GraphError::NotFound { uri: uri.to_owned() }.into()),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens the graph in a given store.
    ///
    /// # Errors
    /// When there is none, or one that this version cannot read.
    pub async fn open_on(&self, store: Store) -> Result<Graph, Error> {
        let uri = store.uri().to_owned();
        let root = Path::from(GRAPH_FILE);
        let (found, main_hint) = futures::join!(store.read(&root), end_of_main(&store));
        let bytes = found?.ok_or_else(|| GraphError::NotFound { uri: uri.clone() })?;
        let file = GraphFile::decode(&bytes, &uri)?;
        let core = Core::new(store, self.store.clock.clone(), file, main_hint, self.settings.clone());
        Ok(Graph::over(Arc::new(core)))
    }

    pub(super) fn clock(&self) -> &Clock {
        &self.store.clock
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }
}

/// Where the log of `main` ends, where one request tells: beside the read of the root it costs no time, and saves the first
/// request a round. A hint only, so that a failure is left to whoever needs the head.
async fn end_of_main(store: &Store) -> Option<Seq> {
    if store.head_search() != HeadSearch::List {
        return None;
    }
    let log = Log::new(store.clone(), BranchName::main().log_folder());
    let first = store.first_keys(log.folder(), 1).await.ok()?;
    log.seq_of(first.first()?)
}

impl Graph {
    /// Settings for opening or making a graph.
    #[must_use]
    pub fn builder() -> GraphBuilder {
        GraphBuilder::default()
    }

    /// Makes a graph with the tables of `ddl` at `memory://NAME`, a folder, or `s3://BUCKET/PREFIX`.
    ///
    /// ```
    /// # use pleach::{Error, Graph, InitOptions};
    /// # #[tokio::main] async fn main() -> Result<(), Error> {
    /// let ddl = "CREATE NODE TABLE Person (id STRING PRIMARY KEY, name STRING);";
    /// let options = InitOptions { author: "Ada".into(), ..InitOptions::default() };
    /// let graph = Graph::init("memory://people", ddl, options).await?;
    /// assert_eq!(graph.branches().await?[0].name, "main");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When there is a graph or what is left of one, when the schema is wrong, or when the store is unsafe.
    pub async fn init(uri: &str, ddl: &str, options: InitOptions) -> Result<Self, Error> {
        Self::builder().init(uri, ddl, options).await
    }

    /// Opens a graph in one round.
    ///
    /// ```
    /// # use pleach::{Error, Graph, InitOptions};
    /// # #[tokio::main] async fn main() -> Result<(), Error> {
    /// # let ddl = "CREATE NODE TABLE Person (id STRING PRIMARY KEY, name STRING);";
    /// # let graph = Graph::init("memory://open-example", ddl, InitOptions::default()).await?;
    /// let again = Graph::open("memory://open-example").await?;
    /// assert_eq!(again.id(), graph.id());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When there is none, or one that this version cannot read.
    pub async fn open(uri: &str) -> Result<Self, Error> {
        Self::builder().open(uri).await
    }

    /// Makes a graph over a given store.
    ///
    /// # Errors
    /// As [`Self::init`].
    pub async fn init_on(store: Store, ddl: &str, options: InitOptions) -> Result<Self, Error> {
        Self::builder().init_on(store, ddl, options).await
    }

    /// Opens the graph in a given store.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub async fn open_on(store: Store) -> Result<Self, Error> {
        Self::builder().open_on(store).await
    }
}
