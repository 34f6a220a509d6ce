//! Where manifests live: answered from what a record said, so that opening a version needs no LIST and no HEAD.

use async_trait::async_trait;
use lance_io::object_store::ObjectStore as LanceStore;
use lance_table::format::{IndexMetadata, Manifest, Transaction, is_detached_version};
use lance_table::io::commit::{CommitError, CommitHandler, ManifestLocation, ManifestNamingScheme, ManifestWriter};
use object_store::path::Path;
use object_store::{ObjectStore, PutMode, PutOptions};

use super::TableVersion;

/// The naming of all our manifests; detached ones have one name in either scheme.
const NAMING: ManifestNamingScheme = ManifestNamingScheme::V2;

/// Knows the one version that is being opened.
///
/// # Invariants
/// 1. A version it knows is resolved without any request: path by name, size and e-tag from the record.
/// 2. It never lists: there is no latest version of our datasets, only versions that records name.
/// 3. A detached manifest is put plainly: its name is a 63-bit random number, nothing can be overwritten. The attached first
///    version of a dataset is put if absent.
/// 4. The e-tag of a version is a digest of its manifest: one constant text per version, which `fsck` can check.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    known: Option<TableVersion>,
}

impl Recorded {
    /// A handler that knows where `version` is.
    pub(super) fn new(version: TableVersion) -> Self {
        Self { known: Some(version) }
    }
}

/// The e-tag that we give a manifest.
pub(super) fn manifest_tag(manifest: &[u8]) -> String {
    blake3::hash(manifest).to_hex()[..32].to_owned()
}

#[async_trait]
impl CommitHandler for Recorded {
    fn is_version_not_found_definitive(&self) -> bool {
        true
    }

    fn propagate_commit_error_after_success(&self) -> bool {
        false
    }

    async fn resolve_latest_location(&self, base: &Path, _store: &LanceStore) -> lance::Result<ManifestLocation> {
        Err(lance::Error::not_found(base.to_string()))
    }

    async fn resolve_version_location(
        &self,
        base: &Path,
        version: u64,
        _store: &dyn ObjectStore,
    ) -> lance::Result<ManifestLocation> {
        let known = self.known.as_ref().filter(|known| known.version == version);
        Ok(ManifestLocation {
            version,
            path: NAMING.manifest_path(base, version),
            size: known.map(|known| known.size),
            naming_scheme: NAMING,
            e_tag: known.map(|known| known.e_tag.clone()),
            identity: None,
        })
    }

    async fn commit(
        &self,
        manifest: &mut Manifest,
        indices: Option<Vec<IndexMetadata>>,
        base: &Path,
        store: &LanceStore,
        write: ManifestWriter,
        naming: ManifestNamingScheme,
        transaction: Option<Transaction>,
    ) -> Result<ManifestLocation, CommitError> {
        // The writer only knows how to write to a store; the bytes are needed for their size and digest.
        let scratch = LanceStore::memory();
        let scratch_path = Path::from("manifest");
        write(&scratch, manifest, indices, &scratch_path, transaction).await?;
        let bytes = scratch.read_one_all(&scratch_path).await?;

        let version = manifest.version;
        let path = naming.manifest_path(base, version);
        let location = ManifestLocation {
            version,
            path: path.clone(),
            size: Some(bytes.len() as u64),
            naming_scheme: naming,
            e_tag: Some(manifest_tag(&bytes)),
            identity: None,
        };
        let mode = if is_detached_version(version) { PutMode::Overwrite } else { PutMode::Create };
        store.inner.put_opts(&path, bytes.into(), PutOptions { mode, ..PutOptions::default() }).await.map_err(
            |error| match error {
                object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. } => {
                    CommitError::CommitConflict
                }
                other => CommitError::OtherError(other.into()),
            },
        )?;
        Ok(location)
    }
}
