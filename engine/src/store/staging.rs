//! Puts that run in the background and are served back from memory, with a barrier for each publish.
//!
//! What is staged has a name of its own that no record names yet, so it may land in any order, and nobody but this process
//! can ask for it before it has. The barrier makes that true of the records as well.
//!
//! Invariants
//! 1. A file passes [`Staging::barrier`] only after the store has said that it is durable. Nobody else's failure fails it,
//!    and nobody else's success hides its own failure.
//! 2. A put is answered at once, unless more than `staged_bytes` are on their way: then it waits for room. So bytes in
//!    flight are bounded, and so are the copies: durable ones are kept up to `retained_bytes`, those used last, and what is
//!    released goes at once, but for small data files, of which `reread_bytes` are kept. Work that was given up and released nothing costs no more than these bounds.
//! 3. Two puts to one path land in the order they were made in.
//!
//! Large files come as multipart uploads. They go straight to the store, are durable when completed, and are read back from
//! the store. `_transactions/*.txn` files are not written at all: the manifest holds a copy, up to a size.
//!
//! What a crash leaves behind: whole files that nothing names, which is garbage.

mod small;
mod state;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::{BoxStream, FuturesUnordered, StreamExt};
use object_store::path::Path;
use object_store::{
    Attributes, CopyOptions, Extensions, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload,
    ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
    UploadPart,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use self::state::{Copy, Lookup, State};
use super::error::StoreError;
use super::options::StoreOptions;
use crate::clock::Clock;

/// Up to this size Lance keeps a transaction inside the manifest; above it the file is the only copy.
const INLINE_TRANSACTION: usize = 20 << 20;

/// Bytes that one permit of the budget stands for: the semaphore counts in 32 bits.
const PERMIT: usize = 1 << 10;

/// Background puts with a barrier per publish. Implements [`ObjectStore`] for Lance. See the module's invariants.
#[derive(Debug)]
pub struct Staging {
    inner: Arc<dyn ObjectStore>,
    state: Arc<State>,
    budget: Arc<Semaphore>,
    permits: u32,
    clock: Clock,
}

impl Staging {
    /// Stages to `inner`, within the bounds of `options`.
    pub fn new(inner: Arc<dyn ObjectStore>, options: &StoreOptions) -> Self {
        let permits = u32::try_from(options.staged_bytes / PERMIT).unwrap_or(u32::MAX >> 4).clamp(1, u32::MAX >> 4);
        Self {
            inner,
            state: Arc::new(State::new(options.retained_bytes, options.reread_bytes)),
            budget: Arc::new(Semaphore::new(permits as usize)),
            permits,
            clock: options.clock.clone(),
        }
    }

    /// Waits until exactly `files` are durable. Files that were durable already, such as completed multipart uploads, pass
    /// at once.
    ///
    /// # Errors
    /// [`StoreError::Staging`] for the first of them whose put failed; [`StoreError::NotStaged`] for a file that this
    /// process never staged.
    ///
    /// # Cancellation
    /// Dropping the wait has no effect on the puts.
    pub async fn barrier(&self, files: &[Path]) -> std::result::Result<(), StoreError> {
        let mut waiting = FuturesUnordered::new();
        for file in files {
            match self.state.lookup(file) {
                Lookup::Durable => {}
                Lookup::Flying(waiter) => waiting.push(async move { (file, waiter.landed().await) }),
                Lookup::Failed(source) => return Err(StoreError::Staging { path: file.to_string(), source }),
                Lookup::Unknown => return Err(StoreError::NotStaged { path: file.to_string() }),
            }
        }
        while let Some((file, landed)) = waiting.next().await {
            landed.map_err(|source| StoreError::Staging { path: file.to_string(), source })?;
        }
        Ok(())
    }

    /// What was staged side by side, if all of it was; else lets go of what was, and tells the last error. `files`: those of one part.
    ///
    /// # Errors
    /// The last of `outcomes`.
    pub fn all_or_none<T, E>(
        &self,
        outcomes: impl IntoIterator<Item = Result<T, E>>,
        files: impl Fn(&T) -> &[Path],
    ) -> Result<Vec<T>, E> {
        let (mut staged, mut failed) = (Vec::new(), None);
        for outcome in outcomes {
            match outcome {
                Ok(part) => staged.push(part),
                Err(error) => failed = Some(error),
            }
        }
        let Some(error) = failed else { return Ok(staged) };
        for part in &staged {
            self.release(files(part));
        }
        Err(error)
    }

    /// Lets go of the memory copies of `files` (a publish is over, or was given up), but for those of small data files, which are soon
    /// read again. Puts under way go on; that a file is durable is not forgotten.
    pub fn release(&self, files: &[Path]) {
        for file in files {
            self.state.release(file);
        }
    }

    /// Stages one object of our own (a lineage chunk, an overflow object). It never waits for room: such objects are small
    /// and few, and the background put itself waits. Must be called within a runtime.
    pub fn put(&self, path: &Path, bytes: Bytes) {
        // A plain put is never turned away.
        let _ = self.launch(path, bytes, PutOptions::default(), None);
    }

    /// Lets go of all copies that are kept only to save reading them again: what is asked for next comes from the store.
    pub fn forget_small(&self) {
        self.state.forget_small();
    }

    /// Bytes of durable copies kept in memory.
    pub fn retained_bytes(&self) -> usize {
        self.state.retained_bytes()
    }

    /// The permits that a put of `length` bytes takes: never more than there are, so that every put can go.
    fn cost(&self, length: usize) -> u32 {
        u32::try_from(length.div_ceil(PERMIT)).unwrap_or(u32::MAX).min(self.permits)
    }

    /// Begins a background put. `false`: a create was turned away, since the path was staged before.
    fn launch(&self, path: &Path, bytes: Bytes, options: PutOptions, permit: Option<OwnedSemaphorePermit>) -> bool {
        let copy = Copy { bytes: bytes.clone(), staged: self.clock.now() };
        let fresh_only = options.mode == PutMode::Create;
        let Some((landing, previous)) = self.state.launch(path, copy, fresh_only) else { return false };
        let (inner, path, budget) = (self.inner.clone(), path.clone(), self.budget.clone());
        let cost = self.cost(bytes.len());
        tokio::spawn(async move {
            // Held to the end of the task. A closed budget does not happen; the put would go without one.
            let _permit = match permit {
                Some(permit) => Some(permit),
                None => budget.acquire_many_owned(cost).await.ok(),
            };
            if let Some(previous) = previous {
                let _ = previous.landed().await;
            }
            landing.finish(write(&*inner, &path, bytes, options).await);
        });
        true
    }

    /// Waits until nothing is on its way to `path`.
    async fn settle(&self, path: &Path) {
        if let Lookup::Flying(waiter) = self.state.lookup(path) {
            let _ = waiter.landed().await;
        }
    }

    /// Waits until nothing is on its way to anything below `prefix`.
    async fn settle_below(state: &State, prefix: Option<&Path>) {
        for waiter in state.flying_below(prefix) {
            let _ = waiter.landed().await;
        }
    }
}

/// Puts a staged file. A create that finds its own bytes has landed before, and only the answer was lost.
async fn write(inner: &dyn ObjectStore, path: &Path, bytes: Bytes, options: PutOptions) -> Result<()> {
    let create = options.mode == PutMode::Create;
    match inner.put_opts(path, bytes.clone().into(), options).await {
        Err(e @ object_store::Error::AlreadyExists { .. }) if create => {
            let found = inner.get(path).await?.bytes().await?;
            if found == bytes { Ok(()) } else { Err(e) }
        }
        done => done.map(drop),
    }
}

fn is_transaction_file(path: &Path, length: usize) -> bool {
    let folder = path.parent().is_some_and(|folder| folder.filename() == Some("_transactions"));
    folder && path.extension() == Some("txn") && length <= INLINE_TRANSACTION
}

/// Whether a get asks for nothing but bytes, so that a copy in memory can answer it.
fn is_plain(options: &GetOptions) -> bool {
    options.if_match.is_none()
        && options.if_none_match.is_none()
        && options.if_modified_since.is_none()
        && options.if_unmodified_since.is_none()
        && options.version.is_none()
}

/// Answers a get as a store would.
fn serve(location: &Path, copy: &Copy, options: &GetOptions) -> Result<GetResult> {
    let size = copy.bytes.len() as u64;
    let range = match &options.range {
        None => 0..size,
        Some(range) => {
            range.as_range(size).map_err(|e| object_store::Error::Generic { store: "Staging", source: Box::new(e) })?
        }
    };
    // Both ends lie within the object, whose length is a `usize`.
    let at = |end: u64| usize::try_from(end).unwrap_or(copy.bytes.len());
    let body = copy.bytes.slice(at(range.start)..at(range.end));
    let meta = ObjectMeta {
        location: location.clone(),
        last_modified: copy.last_modified().into(),
        size,
        e_tag: None,
        version: None,
    };
    let payload = GetResultPayload::Stream(futures::stream::once(async move { Ok(body) }).boxed());
    Ok(GetResult { payload, meta, range, attributes: Attributes::default(), extensions: Extensions::default() })
}

#[derive(Debug)]
struct StagedUpload {
    inner: Box<dyn MultipartUpload>,
    state: Arc<State>,
    path: Path,
}

#[async_trait]
impl MultipartUpload for StagedUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        self.inner.put_part(data)
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let done = self.inner.complete().await?;
        self.state.note_durable(&self.path);
        Ok(done)
    }

    async fn abort(&mut self) -> Result<()> {
        self.inner.abort().await
    }
}

impl fmt::Display for Staging {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Staging({})", self.inner)
    }
}

fn answered() -> PutResult {
    PutResult { e_tag: None, version: None, extensions: Extensions::default() }
}

#[async_trait]
impl ObjectStore for Staging {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        if matches!(opts.mode, PutMode::Update(_)) {
            self.settle(location).await;
            return self.inner.put_opts(location, payload, opts).await;
        }
        let bytes = Bytes::from(payload);
        if is_transaction_file(location, bytes.len()) {
            return Ok(answered());
        }
        let permit = self.budget.clone().acquire_many_owned(self.cost(bytes.len())).await.ok();
        if self.launch(location, bytes, opts, permit) {
            Ok(answered())
        } else {
            let source = "it was staged before".into();
            Err(object_store::Error::AlreadyExists { path: location.to_string(), source })
        }
    }

    async fn put_multipart_opts(&self, location: &Path, opts: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        self.settle(location).await;
        self.state.forget(location);
        let inner = self.inner.put_multipart_opts(location, opts).await?;
        Ok(Box::new(StagedUpload { inner, state: self.state.clone(), path: location.clone() }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        if is_plain(&options) {
            if let Some(copy) = self.state.copy(location) {
                return serve(location, &copy, &options);
            }
            if small::is_whole(&options) && small::is_data_file(location) {
                let answer = self.inner.get_opts(location, options).await?;
                return Ok(small::kept(self.state.clone(), location, answer, self.clock.now()));
            }
        } else {
            self.settle(location).await;
        }
        self.inner.get_opts(location, options).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let state = self.state.clone();
        let settled = locations.then(move |location| {
            let state = state.clone();
            async move {
                if let Ok(path) = &location {
                    if let Lookup::Flying(waiter) = state.lookup(path) {
                        let _ = waiter.landed().await;
                    }
                    state.forget(path);
                }
                location
            }
        });
        self.inner.delete_stream(settled.boxed())
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let (inner, state, prefix) = (self.inner.clone(), self.state.clone(), prefix.cloned());
        let listing = async move {
            Self::settle_below(&state, prefix.as_ref()).await;
            inner.list(prefix.as_ref())
        };
        futures::stream::once(listing).flatten().boxed()
    }

    fn list_with_offset(&self, prefix: Option<&Path>, offset: &Path) -> BoxStream<'static, Result<ObjectMeta>> {
        let (inner, state, prefix, offset) = (self.inner.clone(), self.state.clone(), prefix.cloned(), offset.clone());
        let listing = async move {
            Self::settle_below(&state, prefix.as_ref()).await;
            inner.list_with_offset(prefix.as_ref(), &offset)
        };
        futures::stream::once(listing).flatten().boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        Self::settle_below(&self.state, prefix).await;
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.settle(from).await;
        self.settle(to).await;
        self.inner.copy_opts(from, to, options).await?;
        self.state.forget(to);
        self.state.note_durable(to);
        Ok(())
    }
}
