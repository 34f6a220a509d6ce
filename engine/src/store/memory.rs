//! In-memory stores, known by name to the whole process so that two handles on one name meet.
//!
//! A name lives from its first use to [`forget`] or the end of the process, whether or not a handle is open, as a bucket
//! would. [`register`] puts any backend behind a name, so that a graph can be opened over faults or recorders by its URI.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use object_store::memory::InMemory;
use object_store::path::Path;

use super::backend::{Backend, StoreKind};

static NAMES: LazyLock<Mutex<HashMap<String, Backend>>> = LazyLock::new(Mutex::default);

fn names() -> MutexGuard<'static, HashMap<String, Backend>> {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Puts `backend` behind `memory://name`, in place of whatever was there.
pub fn register(name: &str, backend: Backend) {
    names().insert(name.to_owned(), backend);
}

/// Lets go of `memory://name`; open handles keep its contents alive.
pub fn forget(name: &str) {
    names().remove(name);
}

pub(super) fn open(uri: &str, name: &str, prefix: &Path) -> Backend {
    let backend = names()
        .entry(name.to_owned())
        .or_insert_with(|| Backend::new(StoreKind::Memory, uri, Arc::new(InMemory::new())))
        .clone();
    backend.rooted(uri, prefix)
}
