//! Lance's way to storage: a provider in a registry of our own, so that every request of Lance goes through our store.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use lance_io::object_store::{ObjectStore as LanceStore, ObjectStoreParams, ObjectStoreProvider, ObjectStoreRegistry};
use object_store::ObjectStore;
use object_store::path::Path;
use url::Url;

use crate::ids::TableId;

/// The scheme of our addresses in Lance's registry.
const SCHEME: &str = "pleach";

/// Requests in flight for one read.
const PARALLEL_REQUESTS: usize = 64;

/// Times Lance tries to read a body that broke off, on top of the client's own retries.
const BODY_RETRIES: usize = 3;

/// A registry whose only scheme leads to `objects`.
pub(super) fn registry(objects: Arc<dyn ObjectStore>, block_size: usize) -> Arc<ObjectStoreRegistry> {
    let registry = ObjectStoreRegistry::empty();
    registry.insert(SCHEME, Arc::new(Provider { objects, block_size }));
    Arc::new(registry)
}

/// The folder of a table's dataset within the graph.
pub(super) fn folder(table: TableId) -> Path {
    Path::from_iter(["tables".to_owned(), table.to_string()])
}

/// The address by which Lance knows a table's dataset. One session serves one graph, so the graph needs no name in it.
pub(super) fn address(table: TableId) -> String {
    format!("{SCHEME}://graph/{}", folder(table))
}

#[derive(Debug)]
struct Provider {
    objects: Arc<dyn ObjectStore>,
    block_size: usize,
}

#[async_trait]
impl ObjectStoreProvider for Provider {
    async fn new_store(&self, base: Url, _params: &ObjectStoreParams) -> lance::Result<LanceStore> {
        Ok(LanceStore::new(
            self.objects.clone(),
            base,
            Some(self.block_size),
            None,
            true, // parts of one size: R2 refuses others, and our files are far below what the part count then allows
            false,
            PARALLEL_REQUESTS,
            BODY_RETRIES,
            None,
        ))
    }

    fn calculate_object_store_prefix(
        &self,
        url: &Url,
        _options: Option<&HashMap<String, String>>,
    ) -> lance::Result<String> {
        Ok(format!("{}${}", url.scheme(), url.authority()))
    }
}
