//! The one road to storage: every request of a graph goes through the stack that is put together here.
//!
//! ```text
//! Lance ──> Staging ──┐
//! records, reads ─────┼──> Counting ──> memory | local folder | S3
//! commit points ──────┘       (the client that sends once)
//! ```
//!
//! Each layer is a small decorator over `Arc<dyn ObjectStore>`; [`Faults`] and [`Recording`] are layers for tests.

mod backend;
mod counting;
mod create;
mod error;
mod faults;
mod local;
pub mod memory;
mod options;
mod probe;
mod recent;
mod recording;
mod request;
mod s3;
mod staging;
mod url;

use std::sync::Arc;

use bytes::Bytes;
use futures::StreamExt;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};

pub use self::backend::{Backend, FirstKeys, Folders, StoreKind};
pub use self::counting::{Counting, IoCounter, IoScope, IoStats, Ticket};
pub use self::create::Created;
pub use self::error::StoreError;
pub use self::faults::{Fault, Faults, Hold, When};
pub use self::options::StoreOptions;
pub use self::probe::{ProbeCheck, ProbeLatency, ProbeOptions, ProbeReport, probe};
pub use self::recording::{Effect, Phase, Recording};
pub use self::request::RequestKind;
pub use self::staging::Staging;

use self::create::Limits;
use self::url::Place;
use crate::clock::Clock;

/// How the head of a log is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadSearch {
    /// LIST answers in byte order: the first key is the head.
    List,
    /// LIST is unsorted: gallop and bisect with single requests.
    Gallop,
}

/// The storage of one graph, rooted at its URI. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Store(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    backend: Backend,
    objects: Arc<dyn ObjectStore>,
    commit_point: Arc<dyn ObjectStore>,
    staging: Arc<Staging>,
    io: Arc<IoCounter>,
    limits: Limits,
    clock: Clock,
}

impl Store {
    /// Opens `memory://NAME`, a folder (plain path or `file://`), or `s3://BUCKET/PREFIX`. Nothing is sent: whether the
    /// place exists is told by the first request.
    ///
    /// # Errors
    /// When the URI or the settings cannot be used, or a local folder cannot be opened.
    pub async fn open(uri: &str, options: &StoreOptions) -> Result<Self, StoreError> {
        let backend = match url::parse(uri)? {
            Place::Memory { name, prefix } => memory::open(uri, &name, &prefix),
            Place::Local { folder } => local::open(folder, options.create_folder).await?,
            Place::S3 { bucket, prefix } => s3::open(uri, &bucket, &prefix, options)?,
        };
        Ok(Self::from_backend(backend, options))
    }

    /// A store over any object store.
    pub fn from_object_store(kind: StoreKind, objects: Arc<dyn ObjectStore>) -> Self {
        let uri = objects.to_string();
        Self::from_backend(Backend::new(kind, &uri, objects), &StoreOptions::default())
    }

    /// A store over given parts: tests put faults and recorders into them.
    pub fn from_backend(backend: Backend, options: &StoreOptions) -> Self {
        let io = Arc::new(IoCounter::default());
        let objects: Arc<dyn ObjectStore> = Arc::new(Counting::new(backend.objects.clone(), io.clone()));
        let commit_point: Arc<dyn ObjectStore> = Arc::new(Counting::new(backend.commit_point.clone(), io.clone()));
        Self(Arc::new(Parts {
            staging: Arc::new(Staging::new(objects.clone(), options)),
            objects,
            commit_point,
            io,
            limits: Limits::of(options),
            clock: options.clock.clone(),
            backend,
        }))
    }

    /// The kind of place.
    pub fn kind(&self) -> StoreKind {
        self.0.backend.kind
    }

    /// The URI: absolute for a local folder.
    pub fn uri(&self) -> &str {
        &self.0.backend.uri
    }

    /// How heads are found here.
    pub fn head_search(&self) -> HeadSearch {
        match self.kind() {
            StoreKind::Memory | StoreKind::S3 => HeadSearch::List,
            StoreKind::Local => HeadSearch::Gallop,
        }
    }

    /// Counted; the client's own retries on. For reads and plain puts.
    pub fn objects(&self) -> Arc<dyn ObjectStore> {
        self.0.objects.clone()
    }

    /// Counted; the client's own retries off. For the one PUT that is a commit point.
    pub fn commit_point(&self) -> Arc<dyn ObjectStore> {
        self.0.commit_point.clone()
    }

    /// What Lance writes through: puts run in the background and are served back from memory.
    pub fn staging(&self) -> Arc<Staging> {
        self.0.staging.clone()
    }

    /// Requests, bytes and serial depth of this store, whichever way they went.
    pub fn io(&self) -> &Arc<IoCounter> {
        &self.0.io
    }

    /// Where waiting and chance come from.
    pub fn clock(&self) -> &Clock {
        &self.0.clock
    }

    /// How long a commit point is waited for.
    fn limits(&self) -> Limits {
        self.0.limits
    }

    /// The object at `path`; `None` where nothing is. A missing bucket is an error, never an absence.
    pub async fn read(&self, path: &Path) -> Result<Option<Bytes>, StoreError> {
        let told = |error| StoreError::of(self.uri(), RequestKind::Get, path, error);
        match self.0.objects.get(path).await {
            Ok(found) => found.bytes().await.map(Some).map_err(told),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(told(error)),
        }
    }

    /// Whether anything is at `path`.
    pub async fn exists(&self, path: &Path) -> Result<bool, StoreError> {
        create::exists(self, path).await
    }

    /// Puts `bytes` at `path`, whatever was there.
    pub async fn overwrite(&self, path: &Path, bytes: Bytes) -> Result<(), StoreError> {
        let put = self.0.objects.put(path, bytes.into()).await;
        put.map(drop).map_err(|error| StoreError::of(self.uri(), RequestKind::Put, path, error))
    }

    /// Puts `bytes` at `path` if nothing is there, and finds out what became of it. `bytes` must be unique to this attempt:
    /// two callers with equal bytes would both be told that theirs are there.
    ///
    /// # Errors
    /// An error means that nothing was written and nothing will be; a doubt is [`Created::Unknown`].
    pub async fn create(&self, path: &Path, bytes: &Bytes) -> Result<Created, StoreError> {
        create::create(self, path, bytes).await
    }

    /// First `limit` keys under `prefix` in LIST order, with one request on stores that page. A local folder has no order.
    pub async fn first_keys(&self, prefix: &Path, limit: usize) -> Result<Vec<Path>, StoreError> {
        let told = |error| StoreError::of(self.uri(), RequestKind::List, prefix, error);
        if let Some(pages) = &self.0.backend.first_keys {
            let _ticket = self.0.io.begin(RequestKind::List);
            return pages.first_keys(prefix, limit).await.map_err(told);
        }
        let mut listing = self.0.objects.list(Some(prefix));
        let mut keys = Vec::new();
        while keys.len() < limit {
            match listing.next().await {
                Some(object) => keys.push(object.map_err(told)?.location),
                None => break,
            }
        }
        Ok(keys)
    }

    /// Makes what was read from a local folder durable (nothing to do elsewhere): before an outcome that relies on it is
    /// told, since whoever wrote it may not have synced it yet.
    pub async fn sync_folder(&self, folder: &Path) -> Result<(), StoreError> {
        let Some(folders) = &self.0.backend.folders else { return Ok(()) };
        let failed =
            |source| StoreError::Folder { folder: format!("{}/{folder}", self.uri()), action: "synced", source };
        folders.sync(folder).await.map_err(failed)
    }

    /// Removes a local folder and the empty folders in it (nothing to do elsewhere).
    pub(crate) async fn remove_empty_folder(&self, folder: &Path) -> Result<(), StoreError> {
        let Some(folders) = &self.0.backend.folders else { return Ok(()) };
        let failed =
            |source| StoreError::Folder { folder: format!("{}/{folder}", self.uri()), action: "removed", source };
        folders.remove_empty(folder).await.map_err(failed)
    }
}
