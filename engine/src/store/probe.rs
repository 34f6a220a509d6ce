//! Finds out whether a store keeps the promises that a commit point needs, by trying to make it break them.
//!
//! Several S3-compatible servers answer a second put-if-absent correctly when it comes later and let two of them win when
//! they overlap. So the main check is a race: many clients put different bodies at one fresh key, over and over. Everything
//! happens below `_probe/<ulid>/`, which is removed in the end.

mod checks;
mod race;

use object_store::path::Path;
use serde::Serialize;

use super::error::StoreError;
use super::request::RequestKind;
use super::{Store, StoreKind};

/// How hard to try.
#[derive(Debug, Clone, Copy)]
pub struct ProbeOptions {
    /// Clients that race for each key.
    pub clients: usize,
    /// Keys they race for.
    pub keys: usize,
    /// Rounds of the checks that are not races.
    pub rounds: usize,
}

impl Default for ProbeOptions {
    fn default() -> Self {
        Self { clients: 32, keys: 100, rounds: 20 }
    }
}

impl ProbeOptions {
    /// Enough to notice a store that does not know put-if-absent or does not try to be atomic; takes a second or two.
    pub fn short() -> Self {
        Self { clients: 16, keys: 8, rounds: 3 }
    }
}

/// One promise, and whether it was kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProbeCheck {
    /// Stable, kebab-case.
    pub name: &'static str,
    /// What is promised, for people.
    pub promise: &'static str,
    /// Whether it was kept every time; `None` where it is not needed, with the reason among the findings.
    pub kept: Option<bool>,
    /// What was seen otherwise, at most [`ProbeCheck::FINDINGS`] of it.
    pub findings: Vec<String>,
    /// How many findings there were.
    pub found: usize,
}

impl ProbeCheck {
    /// The most findings that a check lists.
    pub const FINDINGS: usize = 20;

    fn of(name: &'static str, promise: &'static str, mut findings: Vec<String>) -> Self {
        let found = findings.len();
        findings.truncate(Self::FINDINGS);
        Self { name, promise, kept: Some(found == 0), findings, found }
    }

    fn not_needed(name: &'static str, promise: &'static str, reason: &str) -> Self {
        Self { name, promise, kept: None, findings: vec![reason.to_owned()], found: 0 }
    }
}

/// Medians in milliseconds, one request at a time.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ProbeLatency {
    /// A put.
    pub put_ms: f64,
    /// A put-if-absent.
    pub create_ms: f64,
    /// A get.
    pub get_ms: f64,
    /// A list of one page.
    pub list_ms: f64,
    /// A delete.
    pub delete_ms: f64,
}

/// What a probe found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProbeReport {
    /// The store.
    pub uri: String,
    /// Clients that raced for each key.
    pub clients: usize,
    /// Keys they raced for.
    pub keys: usize,
    /// Whether every promise was kept: whether commits are safe here.
    pub safe: bool,
    /// All promises.
    pub checks: Vec<ProbeCheck>,
    /// How long single requests took.
    pub latency: ProbeLatency,
    /// Objects of the probe that could not be removed, by their folder.
    pub left_behind: Option<String>,
}

impl ProbeReport {
    /// The promises that were broken.
    pub fn broken(&self) -> impl Iterator<Item = &ProbeCheck> {
        self.checks.iter().filter(|check| check.kept == Some(false))
    }
}

/// Tries the store's promises.
///
/// # Errors
/// When the store does not answer as a store at all. A broken promise is not an error, but a [`ProbeReport`] that says so.
pub async fn probe(store: &Store, options: ProbeOptions) -> Result<ProbeReport, StoreError> {
    let folder = Path::from(format!("_probe/{}", store.clock().ulid()));
    let tried = try_all(store, &folder, options).await;
    let left_behind = match clean_up(store, &folder).await {
        Ok(()) => None,
        Err(_) => Some(folder.to_string()),
    };
    let (checks, latency) = tried?;
    Ok(ProbeReport {
        uri: store.uri().to_owned(),
        clients: options.clients,
        keys: options.keys,
        safe: checks.iter().all(|check| check.kept != Some(false)),
        checks,
        latency,
        left_behind,
    })
}

async fn try_all(
    store: &Store,
    folder: &Path,
    options: ProbeOptions,
) -> Result<(Vec<ProbeCheck>, ProbeLatency), StoreError> {
    // First what must work at all: a missing bucket is an error, not a hundred lost races.
    let mut latency = ProbeLatency::default();
    let mut checks = checks::basics(store, &folder.clone().join("basics"), options.rounds, &mut latency).await?;
    checks.push(checks::list_order(store, &folder.clone().join("order"), options.rounds).await?);
    checks.extend(race::race(store, &folder.clone().join("race"), options).await?);
    Ok((checks, latency))
}

async fn clean_up(store: &Store, folder: &Path) -> Result<(), StoreError> {
    use futures::{StreamExt, TryStreamExt};
    let told = |kind| move |error| StoreError::of(store.uri(), kind, folder, error);
    let objects = store.objects();
    let keys: Vec<_> = objects
        .list(Some(folder))
        .map_ok(|object| object.location)
        .try_collect()
        .await
        .map_err(told(RequestKind::List))?;
    let mut deleted = objects.delete_stream(futures::stream::iter(keys).map(Ok).boxed());
    while let Some(key) = deleted.next().await {
        key.map_err(told(RequestKind::Delete))?;
    }
    if store.kind() == StoreKind::Local {
        // The folder of all probes goes as well, unless another probe is in it.
        store.remove_empty_folder(&Path::from("_probe")).await?;
    }
    Ok(())
}
