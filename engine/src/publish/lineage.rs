//! Lineage in the store: reading chunks, and staging the one that a fold makes.

use std::collections::BTreeMap;

use futures::future::try_join_all;
use object_store::path::Path;

use crate::branch::BranchError;
use crate::error::Error;
use crate::graph::Core;
use crate::record::Lineage;
use crate::record::lineage::{Chunk, ChunkHash};

/// Where a chunk is stored.
pub(crate) fn chunk_path(hash: ChunkHash) -> Path {
    Path::from_iter(["lineages".to_owned(), hash.to_string()])
}

impl Core {
    /// Brings a lineage within the bounds of a record. The chunk that this may make is staged; its path must be in the barrier.
    pub(crate) async fn fold_lineage(&self, lineage: Lineage) -> Result<(Lineage, Option<Path>), Error> {
        let Some(wanted) = lineage.to_unite() else {
            return Ok((lineage, None));
        };
        let read = self.read_chunks(wanted).await?;
        let folded = lineage.fold(&read).map_err(BranchError::from)?;
        let staged = folded.chunk.map(|(hash, bytes)| {
            let path = chunk_path(hash);
            self.store().staging().put(&path, bytes);
            path
        });
        Ok((folded.lineage, staged))
    }

    /// Reads chunks side by side.
    pub(crate) async fn read_chunks(&self, hashes: Vec<ChunkHash>) -> Result<BTreeMap<ChunkHash, Chunk>, Error> {
        let reads = hashes.into_iter().map(|hash| async move {
            let bytes = self.store().read(&chunk_path(hash)).await?.ok_or(BranchError::ChunkMissing { hash })?;
            Ok::<_, Error>((hash, Chunk::decode(hash, &bytes).map_err(BranchError::from)?))
        });
        Ok(try_join_all(reads).await?.into_iter().collect())
    }
}
