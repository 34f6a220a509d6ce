//! The promises that need no race: what was written is read, listed in order, overwritten and deleted.

use std::time::Instant;

use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{Error, ObjectStoreExt, PutMode, PutOptions};

use super::{ProbeCheck, ProbeLatency};
use crate::store::error::StoreError;
use crate::store::request::RequestKind;
use crate::store::{HeadSearch, Store};

/// Runs requests, takes their time and tells their errors.
struct Bench<'a> {
    store: &'a Store,
    samples: [Vec<f64>; 5],
}

impl Bench<'_> {
    fn sample(&mut self, kind: RequestKind, begun: Instant) {
        let slot = match kind {
            RequestKind::Put => 0,
            RequestKind::Create => 1,
            RequestKind::Get => 2,
            RequestKind::List => 3,
            _ => 4,
        };
        self.samples[slot].push(begun.elapsed().as_secs_f64() * 1e3);
    }

    fn told(&self, kind: RequestKind, path: &Path, error: Error) -> StoreError {
        StoreError::of(self.store.uri(), kind, path, error)
    }

    async fn put(&mut self, path: &Path, body: &str) -> Result<(), StoreError> {
        let begun = self.store.clock().instant();
        self.store.overwrite(path, body.to_owned().into()).await?;
        self.sample(RequestKind::Put, begun);
        Ok(())
    }

    /// Whether the put-if-absent was accepted.
    async fn create(&mut self, path: &Path, body: &str) -> Result<bool, StoreError> {
        let begun = self.store.clock().instant();
        let put = self.store.commit_point();
        let answer = put.put_opts(path, body.to_owned().into(), PutOptions::from(PutMode::Create)).await;
        self.sample(RequestKind::Create, begun);
        match answer {
            Ok(_) => Ok(true),
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => Ok(false),
            Err(error) => Err(self.told(RequestKind::Create, path, error)),
        }
    }

    async fn read(&mut self, path: &Path) -> Result<Option<String>, StoreError> {
        let begun = self.store.clock().instant();
        let found = self.store.read(path).await?;
        self.sample(RequestKind::Get, begun);
        Ok(found.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    async fn list(&mut self, folder: &Path) -> Result<Vec<Path>, StoreError> {
        let begun = self.store.clock().instant();
        let objects = self.store.objects();
        let keys = objects.list(Some(folder)).map_ok(|object| object.location).try_collect().await;
        let keys = keys.map_err(|error| self.told(RequestKind::List, folder, error))?;
        self.sample(RequestKind::List, begun);
        Ok(keys)
    }

    async fn delete(&mut self, path: &Path) -> Result<(), StoreError> {
        let begun = self.store.clock().instant();
        let answer = self.store.objects().delete(path).await;
        answer.map_err(|error| self.told(RequestKind::Delete, path, error))?;
        self.sample(RequestKind::Delete, begun);
        Ok(())
    }

    fn latency(mut self) -> ProbeLatency {
        let [put_ms, create_ms, get_ms, list_ms, delete_ms] = self.samples.each_mut().map(|samples| {
            samples.sort_by(f64::total_cmp);
            samples.get(samples.len() / 2).copied().unwrap_or_default()
        });
        ProbeLatency { put_ms, create_ms, get_ms, list_ms, delete_ms }
    }
}

/// Checks one key after another. Each is created, created again, overwritten and deleted, and looked at in between.
pub(super) async fn basics(
    store: &Store,
    folder: &Path,
    rounds: usize,
    latency: &mut ProbeLatency,
) -> Result<Vec<ProbeCheck>, StoreError> {
    let mut bench = Bench { store, samples: Default::default() };
    let (mut absent, mut second, mut read, mut listed, mut overwritten, mut deleted) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds.max(1) {
        let key = folder.clone().join(format!("{round:06}"));
        let (one, two, three) = (format!("{round} one"), format!("{round} two"), format!("{round} three"));
        if !bench.create(&key, &one).await? {
            absent.push(format!("{key}: refused although nothing was there"));
        }
        match bench.read(&key).await? {
            Some(body) if body == one => {}
            other => read.push(format!("{key}: {}", seen(other.as_deref()))),
        }
        if !bench.list(folder).await?.contains(&key) {
            listed.push(format!("{key}: not listed after it was written"));
        }
        let accepted = bench.create(&key, &two).await?;
        let after = bench.read(&key).await?;
        if accepted || after.as_ref() != Some(&one) {
            let verdict = if accepted { "accepted" } else { "refused" };
            second.push(format!("{key}: the second was {verdict}; afterwards {}", seen(after.as_deref())));
        }
        bench.put(&key, &three).await?;
        match bench.read(&key).await? {
            Some(body) if body == three => {}
            other => overwritten.push(format!("{key}: {}", seen(other.as_deref()))),
        }
        bench.delete(&key).await?;
        if let Some(body) = bench.read(&key).await? {
            deleted.push(format!("{key}: {}", seen(Some(&body))));
        }
        if bench.list(folder).await?.contains(&key) {
            deleted.push(format!("{key}: still listed"));
        }
    }
    *latency = bench.latency();
    Ok(vec![
        ProbeCheck::of("put-if-absent", "a put-if-absent at a fresh key succeeds", absent),
        ProbeCheck::of("second-put-refused", "a put-if-absent at a taken key is refused and changes nothing", second),
        ProbeCheck::of("read-after-write", "what was written is read at once", read),
        ProbeCheck::of("list-after-write", "what was written is listed at once", listed),
        ProbeCheck::of("overwrite-visible", "what was overwritten is read anew at once", overwritten),
        ProbeCheck::of("delete-visible", "what was deleted is gone at once", deleted),
    ])
}

fn seen(body: Option<&str>) -> String {
    match body {
        Some(body) => format!("the body was `{body}`"),
        None => "nothing was there".to_owned(),
    }
}

/// Checks that names of one length come in byte order, which is how the head of a log is found.
pub(super) async fn list_order(store: &Store, folder: &Path, rounds: usize) -> Result<ProbeCheck, StoreError> {
    const NAME: &str = "list-order";
    const PROMISE: &str = "names of one length are listed in byte order, and a page of one has the first";
    if store.head_search() == HeadSearch::Gallop {
        return Ok(ProbeCheck::not_needed(NAME, PROMISE, "heads are found here without a listing"));
    }
    let mut bench = Bench { store, samples: Default::default() };
    let mut findings = Vec::new();
    let mut written = Vec::new();
    for round in 0..rounds.max(1) as u64 {
        // Spread over the whole range, in no order.
        let name = round.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(17);
        let key = folder.clone().join(format!("{name:016x}.json"));
        bench.put(&key, "").await?;
        written.push(key);
        written.sort();
        let first = store.first_keys(folder, 1).await?;
        if first.first() != written.first() {
            findings.push(format!("the first of {} keys was {first:?}, expected {:?}", written.len(), written.first()));
        }
    }
    let listed = bench.list(folder).await?;
    if listed != written {
        let at = listed.iter().zip(&written).take_while(|(a, b)| a == b).count();
        findings.push(format!(
            "of {} keys, {} were listed; they differ from position {at} on",
            written.len(),
            listed.len()
        ));
    }
    Ok(ProbeCheck::of(NAME, PROMISE, findings))
}

/// Reads one key, for the race.
pub(super) async fn body(store: &Store, key: &Path) -> Result<Option<String>, StoreError> {
    let found = store.read(key).await?;
    Ok(found.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// Keys below `folder`, for the race.
pub(super) async fn keys(store: &Store, folder: &Path) -> Result<Vec<Path>, StoreError> {
    let objects = store.objects();
    let mut listing = objects.list(Some(folder));
    let mut keys = Vec::new();
    while let Some(object) = listing.next().await {
        keys.push(object.map_err(|error| StoreError::of(store.uri(), RequestKind::List, folder, error))?.location);
    }
    Ok(keys)
}
