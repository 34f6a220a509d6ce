//! The stack of stores: conformance, outcomes of a commit point, staging, probing.

mod conformance;
mod counting;
mod create;
mod open;
mod probe;
mod staging;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use object_store::ObjectStore;
use object_store::memory::InMemory;
use object_store::path::Path;
use pleach::store::{Backend, Faults, Store, StoreKind, StoreOptions};

/// Patience that a hanging request exhausts at once.
pub(crate) fn impatient() -> StoreOptions {
    StoreOptions {
        commit_timeout: Duration::from_millis(60),
        commit_within: Duration::from_millis(400),
        connect_within: Duration::from_millis(100),
        ..StoreOptions::default()
    }
}

/// A store in memory with faults, and the memory beneath them.
pub(crate) fn faulty() -> (Store, Faults, Arc<dyn ObjectStore>) {
    let memory: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let faults = Faults::new(memory.clone());
    let backend = Backend::new(StoreKind::Memory, "memory://faulty", Arc::new(faults.clone()));
    (Store::from_backend(backend, &impatient()), faults, memory)
}

pub(crate) fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

pub(crate) fn path(text: &str) -> Path {
    Path::parse(text).unwrap()
}
