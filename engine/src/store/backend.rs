//! The bare storage under a [`Store`](super::Store), before it is counted and staged.

use std::fmt::Debug;
use std::io;
use std::sync::Arc;

use async_trait::async_trait;
use object_store::ObjectStore;
use object_store::path::Path;
use object_store::prefix::PrefixStore;

/// What kind of place a graph lives in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreKind {
    /// This process.
    Memory,
    /// A folder of a local file system.
    Local,
    /// A bucket of an S3-compatible server.
    S3,
}

/// Finds the first keys under a prefix with one request: the page size that [`ObjectStore`] does not offer.
#[async_trait]
pub trait FirstKeys: Debug + Send + Sync {
    /// The first keys below `prefix` in LIST order, at most `limit`.
    async fn first_keys(&self, prefix: &Path, limit: usize) -> object_store::Result<Vec<Path>>;
}

/// The folders behind a store that has real ones.
#[async_trait]
pub trait Folders: Debug + Send + Sync {
    /// Makes the entries of `folder`, and the folder itself, durable. A folder that does not exist has nothing to sync.
    async fn sync(&self, folder: &Path) -> io::Result<()>;
    /// Removes `folder` and the empty folders in it; what is not empty stays.
    async fn remove_empty(&self, folder: &Path) -> io::Result<()>;
}

/// The parts that a store is made of; tests put faults and recorders into them.
#[derive(Debug, Clone)]
pub struct Backend {
    /// The kind of place.
    pub kind: StoreKind,
    /// The URI, for people.
    pub uri: String,
    /// For reads and plain puts; may repeat failed requests itself.
    pub objects: Arc<dyn ObjectStore>,
    /// For the PUT that is a commit point; must send every request at most once.
    pub commit_point: Arc<dyn ObjectStore>,
    /// The paged LIST, where the place has one.
    pub first_keys: Option<Arc<dyn FirstKeys>>,
    /// The folders, where the place has real ones.
    pub folders: Option<Arc<dyn Folders>>,
}

impl Backend {
    /// A backend that does everything through one object store.
    pub fn new(kind: StoreKind, uri: &str, objects: Arc<dyn ObjectStore>) -> Self {
        Self { kind, uri: uri.to_owned(), commit_point: objects.clone(), objects, first_keys: None, folders: None }
    }

    /// The same storage, rooted at `prefix`. Only for backends without a paged LIST and without folders.
    pub(super) fn rooted(mut self, uri: &str, prefix: &Path) -> Self {
        uri.clone_into(&mut self.uri);
        if !prefix.is_root() {
            self.objects = Arc::new(PrefixStore::new(self.objects, prefix.clone()));
            self.commit_point = Arc::new(PrefixStore::new(self.commit_point, prefix.clone()));
        }
        self
    }
}
