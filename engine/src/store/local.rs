//! A local folder as a store that has forgotten nothing after a power cut.
//!
//! `LocalFileSystem::with_fsync` syncs a written file, then links it, then syncs the folder that holds it, and the folders
//! it made on the way. Two gaps are left to us:
//!
//! 1. A folder that *another* process made a moment ago may not be durable itself although a file in it is: after a write,
//!    the chain of folders up to the root is synced once per process.
//! 2. What was read may have been linked by a process that has not synced yet: an outcome that relies on a read syncs the
//!    folder first ([`Folders::sync`]).

use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path as FilePath, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures::stream::BoxStream;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMultipartOptions,
    PutOptions, PutPayload, PutResult, RenameOptions, Result, UploadPart,
};
use url::Url;

use super::backend::{Backend, Folders, StoreKind};
use super::error::StoreError;

/// Opens `folder`, which is made if `create` is set.
pub(super) async fn open(folder: PathBuf, create: bool) -> std::result::Result<Backend, StoreError> {
    let told = folder.display().to_string();
    let failed = |action| {
        let folder = told.clone();
        move |source| StoreError::Folder { folder, action, source }
    };
    let root = blocking(move || {
        let folder = std::path::absolute(folder)?;
        if create {
            create_durably(&folder)?;
        }
        // An absolute path for good: the process may change its working directory later.
        std::fs::canonicalize(folder)
    })
    .await
    .map_err(|e| match e.kind() {
        io::ErrorKind::NotFound if !create => StoreError::NoFolder { folder: told.clone() },
        _ => failed(if create { "created" } else { "opened" })(e),
    })?;
    if !root.is_dir() {
        return Err(failed("opened")(io::ErrorKind::NotADirectory.into()));
    }
    let files =
        LocalFileSystem::new_with_prefix(&root).map_err(|e| failed("opened")(io::Error::other(e)))?.with_fsync(true);
    let uri = Url::from_directory_path(&root).map_or(told, |url| url.as_str().trim_end_matches('/').to_owned());
    let folders = Arc::new(LocalFolders { files: files.clone(), root, settled: Mutex::default() });
    let objects: Arc<dyn ObjectStore> = Arc::new(LocalFolder { files, folders: folders.clone() });
    let mut backend = Backend::new(StoreKind::Local, &uri, objects);
    backend.folders = Some(folders);
    Ok(backend)
}

/// Makes `folder` and its parents, each of them synced into the one above.
fn create_durably(folder: &FilePath) -> io::Result<()> {
    let mut made = Vec::new();
    let mut at = folder;
    while !at.exists() {
        made.push(at);
        match at.parent() {
            Some(parent) => at = parent,
            None => break,
        }
    }
    std::fs::create_dir_all(folder)?;
    for folder in made {
        sync_folder(folder)?;
        if let Some(parent) = folder.parent() {
            sync_folder(parent)?;
        }
    }
    Ok(())
}

fn sync_folder(folder: &FilePath) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}

/// Knows which folders this process has seen synced up to the root.
#[derive(Debug)]
struct LocalFolders {
    files: LocalFileSystem,
    root: PathBuf,
    settled: Mutex<HashSet<PathBuf>>,
}

impl LocalFolders {
    fn on_disk(&self, folder: &Path) -> io::Result<PathBuf> {
        if folder.is_root() {
            return Ok(self.root.clone());
        }
        self.files.path_to_filesystem(folder).map_err(io::Error::other)
    }

    fn is_settled(&self, folder: &FilePath) -> bool {
        self.settled.lock().unwrap_or_else(PoisonError::into_inner).contains(folder)
    }

    /// Syncs the folders above `folder`, once per process: entries of folders are never removed by us.
    async fn settle(&self, folder: PathBuf) -> io::Result<()> {
        if self.is_settled(&folder) {
            return Ok(());
        }
        let (root, start) = (self.root.clone(), folder.clone());
        blocking(move || {
            let mut at = start.as_path();
            while at != root {
                let Some(parent) = at.parent() else { break };
                sync_folder(parent)?;
                at = parent;
            }
            Ok(())
        })
        .await?;
        self.settled.lock().unwrap_or_else(PoisonError::into_inner).insert(folder);
        Ok(())
    }

    /// What a write owes beyond `with_fsync`.
    async fn settle_above(&self, location: &Path) -> Result<()> {
        let folder = self.on_disk(&location.parent().unwrap_or_default());
        let settled = match folder {
            Ok(folder) => self.settle(folder).await,
            Err(e) => Err(e),
        };
        settled.map_err(|e| object_store::Error::Generic { store: "LocalFolder", source: Box::new(e) })
    }
}

#[async_trait]
impl Folders for LocalFolders {
    async fn sync(&self, folder: &Path) -> io::Result<()> {
        let on_disk = self.on_disk(folder)?;
        let itself = on_disk.clone();
        let found = blocking(move || match sync_folder(&itself) {
            Ok(()) => Ok(true),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(e) => Err(e),
        })
        .await?;
        if found { self.settle(on_disk).await } else { Ok(()) }
    }

    async fn remove_empty(&self, folder: &Path) -> io::Result<()> {
        let on_disk = self.on_disk(folder)?;
        self.settled.lock().unwrap_or_else(PoisonError::into_inner).retain(|known| !known.starts_with(&on_disk));
        blocking(move || remove_empty(&on_disk)).await
    }
}

fn remove_empty(folder: &FilePath) -> io::Result<()> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(e),
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_empty(&entry.path())?;
        }
    }
    match std::fs::remove_dir(folder) {
        Err(e) if !matches!(e.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotFound) => Err(e),
        _ => Ok(()),
    }
}

/// `LocalFileSystem` whose writes are durable up to the root.
#[derive(Debug)]
struct LocalFolder {
    files: LocalFileSystem,
    folders: Arc<LocalFolders>,
}

impl fmt::Display for LocalFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.files)
    }
}

#[derive(Debug)]
struct LocalUpload {
    inner: Box<dyn MultipartUpload>,
    folders: Arc<LocalFolders>,
    location: Path,
}

#[async_trait]
impl MultipartUpload for LocalUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        self.inner.put_part(data)
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let done = self.inner.complete().await?;
        self.folders.settle_above(&self.location).await?;
        Ok(done)
    }

    async fn abort(&mut self) -> Result<()> {
        self.inner.abort().await
    }
}

#[async_trait]
impl ObjectStore for LocalFolder {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        let done = self.files.put_opts(location, payload, opts).await?;
        self.folders.settle_above(location).await?;
        Ok(done)
    }

    async fn put_multipart_opts(&self, location: &Path, opts: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        let inner = self.files.put_multipart_opts(location, opts).await?;
        Ok(Box::new(LocalUpload { inner, folders: self.folders.clone(), location: location.clone() }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.files.get_opts(location, options).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.files.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.files.list(prefix)
    }

    fn list_with_offset(&self, prefix: Option<&Path>, offset: &Path) -> BoxStream<'static, Result<ObjectMeta>> {
        self.files.list_with_offset(prefix, offset)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.files.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.files.copy_opts(from, to, options).await?;
        self.folders.settle_above(to).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.files.rename_opts(from, to, options).await?;
        self.folders.settle_above(to).await
    }
}
