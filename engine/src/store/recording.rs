//! Records the effects that reach a store, in order: what a crash test cannot show, a list of effects can.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use futures::stream::{BoxStream, StreamExt};
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMultipartOptions,
    PutOptions, PutPayload, PutResult, Result, UploadPart,
};

use super::backend::Folders;
use super::request::RequestKind;

/// Where in its life a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// It was sent.
    Begun,
    /// It succeeded; a put is durable.
    Done,
    /// It failed.
    Failed,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// What was asked for.
    pub kind: RequestKind,
    /// The object, prefix or folder.
    pub path: Path,
    /// Where in its life it was.
    pub phase: Phase,
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phase = match self.phase {
            Phase::Begun => "begun",
            Phase::Done => "done",
            Phase::Failed => "failed",
        };
        write!(f, "{} {} {phase}", self.kind, self.path)
    }
}

type Effects = Arc<Mutex<Vec<Effect>>>;

fn note(effects: &Effects, kind: RequestKind, path: &Path, phase: Phase) {
    lock(effects).push(Effect { kind, path: path.clone(), phase });
}

fn lock(effects: &Effects) -> MutexGuard<'_, Vec<Effect>> {
    effects.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ended<T, E>(
    effects: &Effects,
    kind: RequestKind,
    path: &Path,
    answer: std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    let phase = if answer.is_ok() { Phase::Done } else { Phase::Failed };
    note(effects, kind, path, phase);
    answer
}

/// An object store, and the folders behind it, that records what happens. Clones share the record.
#[derive(Debug, Clone)]
pub struct Recording {
    inner: Arc<dyn ObjectStore>,
    folders: Option<Arc<dyn Folders>>,
    effects: Effects,
}

impl Recording {
    /// Records what goes to `inner`. As [`Folders`] it only records.
    pub fn new(inner: Arc<dyn ObjectStore>) -> Self {
        Self { inner, folders: None, effects: Effects::default() }
    }

    /// Records what goes to `folders` as well, and passes it on.
    #[must_use]
    pub fn with_folders(mut self, folders: Arc<dyn Folders>) -> Self {
        self.folders = Some(folders);
        self
    }

    /// What happened so far, in order; recording starts anew.
    pub fn take(&self) -> Vec<Effect> {
        std::mem::take(&mut *lock(&self.effects))
    }

    fn begun(&self, kind: RequestKind, path: &Path) {
        note(&self.effects, kind, path, Phase::Begun);
    }

    fn ended<T>(&self, kind: RequestKind, path: &Path, answer: Result<T>) -> Result<T> {
        ended(&self.effects, kind, path, answer)
    }
}

impl fmt::Display for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Recording({})", self.inner)
    }
}

#[async_trait]
impl Folders for Recording {
    async fn sync(&self, folder: &Path) -> io::Result<()> {
        self.begun(RequestKind::Sync, folder);
        let answer = match &self.folders {
            Some(folders) => folders.sync(folder).await,
            None => Ok(()),
        };
        ended(&self.effects, RequestKind::Sync, folder, answer)
    }

    async fn remove_empty(&self, folder: &Path) -> io::Result<()> {
        match &self.folders {
            Some(folders) => folders.remove_empty(folder).await,
            None => Ok(()),
        }
    }
}

#[derive(Debug)]
struct RecordedUpload {
    inner: Box<dyn MultipartUpload>,
    effects: Effects,
    path: Path,
}

#[async_trait]
impl MultipartUpload for RecordedUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        self.inner.put_part(data)
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let answer = self.inner.complete().await;
        ended(&self.effects, RequestKind::Part, &self.path, answer)
    }

    async fn abort(&mut self) -> Result<()> {
        self.inner.abort().await
    }
}

#[async_trait]
impl ObjectStore for Recording {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        let kind = RequestKind::of_put(&opts);
        self.begun(kind, location);
        let answer = self.inner.put_opts(location, payload, opts).await;
        self.ended(kind, location, answer)
    }

    async fn put_multipart_opts(&self, location: &Path, opts: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        self.begun(RequestKind::Part, location);
        let inner = self.inner.put_multipart_opts(location, opts).await?;
        Ok(Box::new(RecordedUpload { inner, effects: self.effects.clone(), path: location.clone() }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let kind = RequestKind::of_get(&options);
        self.begun(kind, location);
        let answer = self.inner.get_opts(location, options).await;
        self.ended(kind, location, answer)
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let effects = self.effects.clone();
        let recorded = self.inner.delete_stream(locations).inspect(move |location| {
            if let Ok(location) = location {
                note(&effects, RequestKind::Delete, location, Phase::Done);
            }
        });
        recorded.boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.begun(RequestKind::List, prefix.unwrap_or(&Path::ROOT));
        self.inner.list(prefix)
    }

    fn list_with_offset(&self, prefix: Option<&Path>, offset: &Path) -> BoxStream<'static, Result<ObjectMeta>> {
        self.begun(RequestKind::List, prefix.unwrap_or(&Path::ROOT));
        self.inner.list_with_offset(prefix, offset)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.begun(RequestKind::List, prefix.unwrap_or(&Path::ROOT));
        let answer = self.inner.list_with_delimiter(prefix).await;
        self.ended(RequestKind::List, prefix.unwrap_or(&Path::ROOT), answer)
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.begun(RequestKind::Copy, to);
        let answer = self.inner.copy_opts(from, to, options).await;
        self.ended(RequestKind::Copy, to, answer)
    }
}
