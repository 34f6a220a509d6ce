//! Catalogs by their hash: immutable, read once, shared by all commits that have them.

use std::sync::Arc;

use moka::future::Cache;
use object_store::path::Path;

use super::BranchError;
use crate::error::Error;
use crate::schema::{Catalog, SchemaHash, decode_catalog};
use crate::store::Store;

/// The folder of catalogs.
const SCHEMAS: &str = "schemas";

/// How many catalogs stay in memory.
const CAPACITY: u64 = 256;

/// The catalogs of one graph.
#[derive(Debug, Clone)]
pub(crate) struct Catalogs {
    store: Store,
    cache: Cache<SchemaHash, Arc<Catalog>>,
}

impl Catalogs {
    pub(crate) fn new(store: Store) -> Self {
        Self { store, cache: Cache::new(CAPACITY) }
    }

    /// Where the catalog with this hash is stored.
    pub(crate) fn path(hash: SchemaHash) -> Path {
        Path::from_iter([SCHEMAS.to_owned(), format!("{hash}.json")])
    }

    /// Reads a catalog, once for all who ask at the same time; a failure is not remembered.
    pub(crate) async fn read(&self, hash: SchemaHash) -> Result<Arc<Catalog>, Error> {
        let read = async { self.fetch(hash).await.map(Arc::new) };
        self.cache.try_get_with(hash, read).await.map_err(|error| Error::clone(&error))
    }

    /// Remembers a catalog that this process stored itself.
    pub(crate) async fn remember(&self, hash: SchemaHash, catalog: Arc<Catalog>) {
        self.cache.insert(hash, catalog).await;
    }

    async fn fetch(&self, hash: SchemaHash) -> Result<Catalog, Error> {
        let broken = |what| BranchError::Schema { hash, what };
        let bytes = self.store.read(&Self::path(hash)).await?.ok_or_else(|| broken("missing"))?;
        if SchemaHash::of(&bytes) != hash {
            return Err(broken("damaged").into());
        }
        Ok(decode_catalog(&bytes)?)
    }
}
