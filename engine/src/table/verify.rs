//! Checks of a version for `fsck`: what its manifest names exists and is what it says.

use std::panic::AssertUnwindSafe;

use futures::{FutureExt, StreamExt, stream};
use lance_table::io::deletion::deletion_file_path;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};

use super::commit_handler::manifest_tag;
use super::{Table, TableError, provider};

/// Requests in flight.
const PARALLEL: usize = 32;

impl Table {
    /// The data and deletion files that the version needs, with the size its manifest gives, where it gives one. The manifest
    /// itself is not among them.
    pub(crate) fn files(&self) -> Vec<(Path, Option<u64>)> {
        let folder = provider::folder(self.layout.table.id);
        let fragments = self.dataset.fragments().iter();
        fragments
            .flat_map(|fragment| {
                let data = fragment.files.iter().map(|file| {
                    (self.dataset.data_dir().join(file.path.as_str()), file.file_size_bytes.get().map(u64::from))
                });
                let removed =
                    fragment.deletion_file.iter().map(|file| (deletion_file_path(&folder, fragment.id, file), None));
                data.chain(removed).collect::<Vec<_>>()
            })
            .collect()
    }

    /// Checks of fsck: the manifest is the one the record names, every file it names exists, counts agree. Returns what is
    /// wrong, in words.
    ///
    /// # Errors
    /// If the store fails, so that nothing can be said.
    pub(crate) async fn verify(&self) -> Result<Vec<String>, TableError> {
        let table = self.layout.table.id;
        let failed = |error: lance::Error| TableError::from_lance(table, "checking", error);
        let store = self.dataset.object_store(None).await.map_err(failed)?;
        let mut problems = self.verify_manifest(store.inner.as_ref()).await?;

        let sizes: Vec<(Path, Option<u64>, object_store::Result<u64>)> = stream::iter(self.files())
            .map(|(path, expected)| {
                let objects = store.inner.clone();
                async move {
                    let found = objects.head(&path).await.map(|meta| meta.size);
                    (path, expected, found)
                }
            })
            .buffer_unordered(PARALLEL)
            .collect()
            .await;
        for (path, expected, found) in sizes {
            match found {
                Ok(size) if expected.is_some_and(|expected| expected != size) => {
                    problems
                        .push(format!("{path} has {size} bytes, its manifest says {}", expected.unwrap_or_default()));
                }
                Ok(_) => {}
                Err(object_store::Error::NotFound { .. }) => problems.push(format!("{path} is missing")),
                Err(error) => return Err(failed(error.into())),
            }
        }
        if !problems.is_empty() {
            return Ok(problems);
        }

        // Lance opens every file, compares lengths and deletion vectors with the manifest, and stops at the first fault: first
        // fragment by fragment, to find all of them, then as a whole.
        for fragment in self.dataset.get_fragments() {
            problems.extend(self.fault(fragment.validate()).await?);
        }
        if problems.is_empty() {
            problems.extend(self.fault(self.dataset.validate()).await?);
        }
        Ok(problems)
    }

    /// What a check of Lance found, in words.
    async fn fault(&self, check: impl Future<Output = lance::Result<()>>) -> Result<Option<String>, TableError> {
        let table = self.layout.table.id;
        let error = match AssertUnwindSafe(check).catch_unwind().await {
            Ok(Ok(())) => return Ok(None),
            Ok(Err(error)) => TableError::from_lance(table, "checking", error),
            Err(panic) => TableError::from_panic(table, &*panic),
        };
        if matches!(error, TableError::Unavailable { .. }) { Err(error) } else { Ok(Some(describe(&error))) }
    }

    /// Compares the manifest's bytes with what the record says of them.
    async fn verify_manifest(&self, objects: &dyn ObjectStore) -> Result<Vec<String>, TableError> {
        let path = &self.dataset.manifest_location().path;
        let read = async { objects.get(path).await?.bytes().await };
        let bytes = match read.await {
            Ok(bytes) => bytes,
            Err(object_store::Error::NotFound { .. }) => return Ok(vec![format!("{path} is missing")]),
            Err(error) => return Err(TableError::from_lance(self.layout.table.id, "checking", error.into())),
        };
        let mut problems = Vec::new();
        if bytes.len() as u64 != self.version.size {
            problems.push(format!("{path} has {} bytes, the record says {}", bytes.len(), self.version.size));
        }
        if manifest_tag(&bytes) != self.version.e_tag {
            problems.push(format!("{path} is not the manifest that the record names: its digest differs"));
        }
        Ok(problems)
    }
}

/// An error with its causes, in one line.
fn describe(error: &TableError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
