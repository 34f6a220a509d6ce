//! What is known of each staged file: on its way, durable, or failed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use object_store::path::Path;
use tokio::sync::watch;

use super::super::recent::Recent;
use super::small::{SHARE, is_data_file};
use crate::clock::Timestamp;

/// Durable files that are remembered; a publish names far fewer.
const REMEMBERED: usize = 1 << 16;
/// Failed puts that are remembered.
const FAILURES: usize = 1 << 10;

type Outcome = Result<(), Arc<object_store::Error>>;

/// The bytes of a staged file, and when they were staged.
#[derive(Debug, Clone)]
pub(super) struct Copy {
    pub(super) bytes: Bytes,
    pub(super) staged: Timestamp,
}

impl Copy {
    pub(super) fn last_modified(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(self.staged.millis())
    }
}

/// What is known of one file.
#[derive(Debug)]
pub(super) enum Lookup {
    Flying(Waiter),
    Durable,
    Failed(Arc<object_store::Error>),
    Unknown,
}

/// Waits for one put.
#[derive(Debug, Clone)]
pub(super) struct Waiter(watch::Receiver<Option<Outcome>>);

impl Waiter {
    pub(super) async fn landed(mut self) -> Outcome {
        match self.0.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone().unwrap_or_else(|| Err(abandoned())),
            Err(_) => Err(abandoned()),
        }
    }
}

fn abandoned() -> Arc<object_store::Error> {
    Arc::new(object_store::Error::Generic { store: "Staging", source: "the put was given up half-way".into() })
}

#[derive(Debug)]
struct Flight {
    generation: u64,
    copy: Copy,
    waiter: Waiter,
    released: bool,
}

#[derive(Debug)]
struct Files {
    generation: u64,
    flying: HashMap<Path, Flight>,
    durable: Recent<()>,
    failed: Recent<Arc<object_store::Error>>,
    copies: Recent<Copy>,
    /// Of small data files that were released, or read.
    small: Recent<Copy>,
}

impl Files {
    /// Keeps a copy of a small data file.
    fn keep(&mut self, path: &Path, copy: Copy) {
        let weight = copy.bytes.len();
        self.small.insert(path.clone(), copy, weight);
    }
}

#[derive(Debug)]
pub(super) struct State {
    files: Mutex<Files>,
    /// Bytes up to which a data file is small.
    small_up_to: usize,
}

impl State {
    pub(super) fn new(retained_bytes: usize, reread_bytes: usize) -> Self {
        let files = Mutex::new(Files {
            generation: 0,
            flying: HashMap::new(),
            durable: Recent::new(REMEMBERED),
            failed: Recent::new(FAILURES),
            copies: Recent::new(retained_bytes),
            small: Recent::new(reread_bytes),
        });
        Self { files, small_up_to: reread_bytes / SHARE }
    }

    /// Whether a data file of this size is kept after it was read or released.
    pub(super) fn keeps(&self, size: u64) -> bool {
        size <= self.small_up_to as u64
    }

    /// Keeps the copy of a data file that was read.
    pub(super) fn keep(&self, path: &Path, copy: Copy) {
        self.files().keep(path, copy);
    }

    /// Lets go of all copies of what was read or released: what is asked for next comes from the store.
    pub(super) fn forget_small(&self) {
        self.files().small.clear();
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a put that is about to begin. Whoever is given the [`Landing`] must finish it; a dropped one is a failure. The
    /// waiter is that of a former put to the same path, which must land first. `None` if `fresh_only` is set and the file is
    /// on its way or durable.
    pub(super) fn launch(
        self: &Arc<Self>,
        path: &Path,
        copy: Copy,
        fresh_only: bool,
    ) -> Option<(Landing, Option<Waiter>)> {
        let (sender, receiver) = watch::channel(None);
        let mut files = self.files();
        if fresh_only && (files.flying.contains_key(path) || files.durable.contains(path)) {
            return None;
        }
        files.generation += 1;
        let generation = files.generation;
        files.durable.remove(path);
        files.failed.remove(path);
        files.copies.remove(path);
        files.small.remove(path);
        let flight = Flight { generation, copy, waiter: Waiter(receiver), released: false };
        let previous = files.flying.insert(path.clone(), flight).map(|flight| flight.waiter);
        let landing = Landing { state: self.clone(), path: path.clone(), generation, sender, finished: false };
        Some((landing, previous))
    }

    pub(super) fn lookup(&self, path: &Path) -> Lookup {
        let mut files = self.files();
        if let Some(flight) = files.flying.get(path) {
            Lookup::Flying(flight.waiter.clone())
        } else if let Some(error) = files.failed.get(path) {
            Lookup::Failed(error.clone())
        } else if files.durable.contains(path) {
            Lookup::Durable
        } else {
            Lookup::Unknown
        }
    }

    pub(super) fn copy(&self, path: &Path) -> Option<Copy> {
        let mut files = self.files();
        if let Some(flight) = files.flying.get(path) {
            return Some(flight.copy.clone());
        }
        let Files { copies, small, .. } = &mut *files;
        copies.get(path).or_else(|| small.get(path)).cloned()
    }

    pub(super) fn flying_below(&self, prefix: Option<&Path>) -> Vec<Waiter> {
        let files = self.files();
        let below = |path: &Path| prefix.is_none_or(|prefix| path.prefix_matches(prefix));
        files.flying.iter().filter(|(path, _)| below(path)).map(|(_, flight)| flight.waiter.clone()).collect()
    }

    pub(super) fn note_durable(&self, path: &Path) {
        self.files().durable.insert(path.clone(), (), 1);
    }

    /// Lets go of the copy of a file, but for that of a small data file.
    pub(super) fn release(&self, path: &Path) {
        let mut files = self.files();
        let copy = files.copies.remove(path);
        files.failed.remove(path);
        if let Some(flight) = files.flying.get_mut(path) {
            flight.released = true;
        } else if let Some(copy) = copy.filter(|copy| is_data_file(path) && self.keeps(copy.bytes.len() as u64)) {
            files.keep(path, copy);
        }
    }

    /// Forgets a file that is not on its way.
    pub(super) fn forget(&self, path: &Path) {
        let mut files = self.files();
        files.durable.remove(path);
        files.failed.remove(path);
        files.copies.remove(path);
        files.small.remove(path);
    }

    pub(super) fn retained_bytes(&self) -> usize {
        self.files().copies.weight()
    }

    fn land(&self, path: &Path, generation: u64, outcome: &Outcome) {
        let mut files = self.files();
        // A later put to the same path speaks for it now.
        if files.flying.get(path).is_none_or(|flight| flight.generation != generation) {
            return;
        }
        let Some(flight) = files.flying.remove(path) else { return };
        match outcome {
            Ok(()) => {
                files.durable.insert(path.clone(), (), 1);
                if !flight.released {
                    let weight = flight.copy.bytes.len();
                    files.copies.insert(path.clone(), flight.copy, weight);
                }
            }
            Err(error) => files.failed.insert(path.clone(), error.clone(), 1),
        }
    }
}

/// One put on its way. Dropped without an outcome (a panic, a runtime that shuts down) it has failed.
#[derive(Debug)]
pub(super) struct Landing {
    state: Arc<State>,
    path: Path,
    generation: u64,
    sender: watch::Sender<Option<Outcome>>,
    finished: bool,
}

impl Landing {
    pub(super) fn finish(mut self, outcome: object_store::Result<()>) {
        self.settle(outcome.map_err(Arc::new));
    }

    fn settle(&mut self, outcome: Outcome) {
        self.finished = true;
        // First what a new reader sees, then those who wait.
        self.state.land(&self.path, self.generation, &outcome);
        self.sender.send_replace(Some(outcome));
    }
}

impl Drop for Landing {
    fn drop(&mut self) {
        if !self.finished {
            self.settle(Err(abandoned()));
        }
    }
}
