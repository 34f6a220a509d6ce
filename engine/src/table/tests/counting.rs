//! An object store that records requests and can answer late, so that those which overlap can be told from those which wait
//! for one another; and a small write-behind store, for counting rounds as a publish would see them.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, stream};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    Attributes, CopyOptions, Extensions, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload,
    ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use tokio::task::JoinHandle;

use crate::clock::Clock;

/// One request that reached the store.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub kind: &'static str,
    pub path: String,
    pub bytes: u64,
    begun: Instant,
    ended: Instant,
}

/// What was asked since the last look.
#[derive(Debug, Default)]
pub(crate) struct Cost {
    /// Longest run of requests of which each began after the one before had ended.
    pub rounds: usize,
    pub requests: usize,
    pub bytes: u64,
    pub by_kind: BTreeMap<&'static str, usize>,
    pub bytes_by_kind: BTreeMap<&'static str, u64>,
    pub paths: Vec<String>,
}

impl Cost {
    pub(crate) fn count(&self, kind: &str) -> usize {
        self.by_kind.get(kind).copied().unwrap_or(0)
    }

    pub(crate) fn bytes_of(&self, kind: &str) -> u64 {
        self.bytes_by_kind.get(kind).copied().unwrap_or(0)
    }
}

/// Keeps objects in memory, behind a recorder of requests, optionally behind a write-behind cache.
#[derive(Debug)]
pub(crate) struct Counting {
    inner: InMemory,
    clock: Clock,
    log: Mutex<Vec<Request>>,
    latency_ms: AtomicU64,
    staged: Mutex<Option<HashMap<Path, Bytes>>>,
    puts: Mutex<Vec<JoinHandle<()>>>,
    /// Requests for paths that contain this text fail.
    failing: Mutex<Option<String>>,
}

impl fmt::Display for Counting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Counting")
    }
}

impl Counting {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            inner: InMemory::new(),
            clock: Clock::system(),
            log: Mutex::default(),
            latency_ms: AtomicU64::new(0),
            staged: Mutex::default(),
            puts: Mutex::default(),
            failing: Mutex::default(),
        })
    }

    /// Serves what is put from memory and puts it in the background until [`Self::settle`].
    pub(crate) fn write_behind(&self) {
        *self.staged.lock().unwrap() = Some(HashMap::new());
    }

    /// Waits for background puts and forgets the copies, as a publish does at its end.
    pub(crate) async fn settle(&self) {
        let puts = std::mem::take(&mut *self.puts.lock().unwrap());
        for put in puts {
            put.await.unwrap();
        }
        if let Some(staged) = &mut *self.staged.lock().unwrap() {
            staged.clear();
        }
    }

    pub(crate) fn fail(&self, text: &str) {
        *self.failing.lock().unwrap() = (!text.is_empty()).then(|| text.to_owned());
    }

    /// Runs `work` with every request taking a while, and says what it cost, background puts included. Long enough that requests made
    /// side by side overlap on a busy machine.
    pub(crate) async fn measure<T>(&self, work: impl Future<Output = T>) -> (T, Cost) {
        self.latency_ms.store(60, Ordering::SeqCst);
        self.tally(work).await
    }

    /// The same at once: rounds mean nothing then.
    pub(crate) async fn tally<T>(&self, work: impl Future<Output = T>) -> (T, Cost) {
        self.log.lock().unwrap().clear();
        let out = work.await;
        self.settle().await;
        self.latency_ms.store(0, Ordering::SeqCst);
        let mut log = std::mem::take(&mut *self.log.lock().unwrap());
        log.sort_by_key(|request| request.ended);
        let mut cost = Cost::default();
        let mut last: Option<Instant> = None;
        for request in log {
            if last.is_none_or(|ended| request.begun >= ended) {
                cost.rounds += 1;
                last = Some(request.ended);
            }
            cost.requests += 1;
            cost.bytes += request.bytes;
            *cost.by_kind.entry(request.kind).or_default() += 1;
            *cost.bytes_by_kind.entry(request.kind).or_default() += request.bytes;
            cost.paths.push(format!("{}: {} {}", cost.rounds, request.kind, request.path));
        }
        (out, cost)
    }

    async fn request<T>(
        &self,
        kind: &'static str,
        path: impl fmt::Display,
        work: impl Future<Output = Result<T>>,
        bytes: impl Fn(&T) -> u64,
    ) -> Result<T> {
        let path = path.to_string();
        let failing = self.failing.lock().unwrap().clone();
        if failing.is_some_and(|text| path.contains(&text)) {
            return Err(object_store::Error::Generic { store: "test", source: "down".into() });
        }
        let begun = self.clock.instant();
        let latency = self.latency_ms.load(Ordering::SeqCst);
        if latency > 0 {
            self.clock.sleep(Duration::from_millis(latency)).await;
        }
        let out = work.await;
        let bytes = out.as_ref().map_or(0, bytes);
        let request = Request { kind, path, bytes, begun, ended: self.clock.instant() };
        self.log.lock().unwrap().push(request);
        out
    }
}

fn answered() -> PutResult {
    PutResult { e_tag: None, version: None, extensions: Extensions::default() }
}

/// The handle that Lance gets: background puts need a shared store.
#[derive(Debug, Clone)]
pub(crate) struct Front(pub Arc<Counting>);

impl fmt::Display for Front {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[async_trait]
impl ObjectStore for Front {
    async fn put_opts(&self, location: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        // The staging store does not write these either: the manifest has a copy.
        if location.extension() == Some("txn") {
            return Ok(answered());
        }
        let bytes = payload.content_length() as u64;
        let store = self.0.clone();
        let path = location.clone();
        if let Some(staged) = &mut *self.0.staged.lock().unwrap() {
            staged.insert(location.clone(), Bytes::from(payload.clone()));
            self.0.puts.lock().unwrap().push(tokio::spawn(async move {
                let put = store.inner.put_opts(&path, payload, options);
                store.request("PUT", &path, put, |_| bytes).await.unwrap();
            }));
            return Ok(answered());
        }
        store.request("PUT", &path, store.inner.put_opts(&path, payload, options), |_| bytes).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.0.request("MULTIPART", location, self.0.inner.put_multipart_opts(location, options), |_| 0).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let copy = self.0.staged.lock().unwrap().as_ref().and_then(|staged| staged.get(location).cloned());
        if let Some(copy) = copy {
            let size = copy.len() as u64;
            let range = options.range.as_ref().map_or(0..size, |range| range.as_range(size).unwrap());
            let body = copy.slice(usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap());
            return Ok(GetResult {
                payload: GetResultPayload::Stream(stream::once(async move { Ok(body) }).boxed()),
                meta: ObjectMeta {
                    location: location.clone(),
                    last_modified: std::time::UNIX_EPOCH.into(),
                    size,
                    e_tag: None,
                    version: None,
                },
                range,
                attributes: Attributes::default(),
                extensions: Extensions::default(),
            });
        }
        let kind = if options.head { "HEAD" } else { "GET" };
        let range = options.range.as_ref().map(|range| format!("?{range}")).unwrap_or_default();
        let asked = format!("{location}{range}");
        let read = |result: &GetResult| if kind == "GET" { result.range.end - result.range.start } else { 0 };
        self.0.request(kind, &asked, self.0.inner.get_opts(location, options), read).await
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let mut out = Vec::new();
        for range in ranges {
            let options = GetOptions { range: Some(range.clone().into()), ..GetOptions::default() };
            out.push(self.get_opts(location, options).await?.bytes().await?);
        }
        Ok(out)
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.0.inner.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let now = self.0.clock.instant();
        let path = prefix.map(ToString::to_string).unwrap_or_default();
        self.0.log.lock().unwrap().push(Request { kind: "LIST", path, bytes: 0, begun: now, ended: now });
        self.0.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let root = Path::default();
        let path = prefix.unwrap_or(&root);
        self.0.request("LIST", path, self.0.inner.list_with_delimiter(prefix), |_| 0).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.0.request("COPY", from, self.0.inner.copy_opts(from, to, options), |()| 0).await
    }
}
