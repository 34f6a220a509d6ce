//! A graph on a store in memory that can be made to fail, opened as often as one likes, as by so many processes.

use std::sync::Arc;
use std::time::Duration;

use object_store::ObjectStore;
use object_store::memory::InMemory;
use pleach::store::{Backend, Faults, Store, StoreKind, StoreOptions};
use pleach::{Error, Graph};

use crate::graphs::init_options;

/// One object store, with faults in front of it.
#[derive(Debug)]
pub struct World {
    objects: Arc<InMemory>,
    /// The faults that every handle opened from here meets.
    pub faults: Faults,
    options: StoreOptions,
}

impl Default for World {
    fn default() -> Self {
        Self::over(InMemory::new())
    }
}

impl World {
    /// A world with nothing in it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn over(objects: InMemory) -> Self {
        let objects = Arc::new(objects);
        let faults = Faults::new(objects.clone());
        // A doubt that a test never ends must not last.
        let options = StoreOptions { commit_within: Duration::from_secs(1), ..StoreOptions::default() };
        Self { objects, faults, options }
    }

    /// The same with other settings.
    #[must_use]
    pub fn with_options(mut self, options: StoreOptions) -> Self {
        self.options = options;
        self
    }

    /// Another world with the same objects in it as this one has now, and no faults.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self::over(self.objects.fork()).with_options(self.options.clone())
    }

    /// What is stored, without the faults.
    pub fn objects(&self) -> Arc<dyn ObjectStore> {
        self.objects.clone()
    }

    /// A store as a process of its own would have it: nothing is cached, nothing is counted yet.
    pub fn store(&self) -> Store {
        let backend = Backend::new(StoreKind::Memory, "memory://world", Arc::new(self.faults.clone()));
        Store::from_backend(backend, &self.options)
    }

    /// Makes a graph here.
    ///
    /// # Errors
    /// Those of making it.
    pub async fn try_init(&self, ddl: &str) -> Result<Graph, Error> {
        Graph::init_on(self.store(), ddl, init_options()).await
    }

    /// Makes a graph here.
    ///
    /// # Panics
    /// If it cannot be made.
    pub async fn init(&self, ddl: &str) -> Graph {
        self.try_init(ddl).await.expect("a new graph")
    }

    /// Opens the graph as another process would.
    ///
    /// # Panics
    /// If it cannot be opened.
    pub async fn open(&self) -> Graph {
        Graph::open_on(self.store()).await.expect("an open graph")
    }
}
