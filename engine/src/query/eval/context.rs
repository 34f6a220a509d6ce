//! What expressions know besides their row.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::clock::Timestamp;
use crate::schema::{Catalog, TableDef};

/// One request's view of catalog, time and chance. A request that is evaluated again takes a new context with the same `now` and `seed`, and
/// so draws the same UUIDs.
#[derive(Debug)]
pub(crate) struct EvalContext {
    catalog: Arc<Catalog>,
    /// Name → index into the catalog's tables.
    by_name: BTreeMap<String, usize>,
    now: Timestamp,
    seed: u128,
    drawn: AtomicU64,
}

impl EvalContext {
    /// `now` is the time of all of the request; `seed` must be random, for UUIDs are made of it.
    pub(crate) fn new(catalog: Arc<Catalog>, now: Timestamp, seed: u128) -> Self {
        let by_name = catalog.tables.iter().enumerate().map(|(index, table)| (table.name.clone(), index)).collect();
        Self { catalog, by_name, now, seed, drawn: AtomicU64::new(0) }
    }

    /// The time of the request.
    pub(crate) const fn now(&self) -> Timestamp {
        self.now
    }

    /// The table of this name.
    pub(crate) fn table(&self, name: &str) -> Option<&TableDef> {
        self.catalog.tables.get(*self.by_name.get(name)?)
    }

    /// The request's next UUID, of version 4.
    pub(crate) fn uuid(&self) -> [u8; 16] {
        let n = self.drawn.fetch_add(1, Ordering::Relaxed);
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.seed.to_be_bytes()).update(&n.to_be_bytes());
        let mut bytes = [0; 16];
        hasher.finalize_xof().fill(&mut bytes);
        uuid::Builder::from_random_bytes(bytes).into_uuid().into_bytes()
    }
}
