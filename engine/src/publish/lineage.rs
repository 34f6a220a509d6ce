//! Lineage in the store: reading chunks, and staging the one that a fold makes.

use std::collections::BTreeMap;

use futures::future::try_join_all;
use moka::future::Cache;
use object_store::path::Path;

use crate::branch::BranchError;
use crate::error::Error;
use crate::graph::Core;
use crate::record::Lineage;
use crate::record::lineage::{Chunk, ChunkHash};

/// Bytes of chunks that stay in memory, about.
const CACHE_BYTES: u64 = 16 << 20;

/// About how many bytes an entry takes in memory.
const ENTRY_BYTES: usize = 128;

/// The chunks that this process read or made. They never change.
pub(crate) type ChunkCache = Cache<ChunkHash, Chunk>;

/// A cache with nothing in it.
pub(crate) fn chunk_cache() -> ChunkCache {
    let weigh = |_: &ChunkHash, chunk: &Chunk| {
        u32::try_from(size_of::<Chunk>() + ENTRY_BYTES * chunk.entries().len()).unwrap_or(u32::MAX)
    };
    Cache::builder().max_capacity(CACHE_BYTES).weigher(weigh).build()
}

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
        let Some((hash, bytes)) = folded.chunk else { return Ok((folded.lineage, None)) };
        let chunk = Chunk::decode(hash, &bytes).map_err(BranchError::from)?;
        self.chunks().insert(hash, chunk).await;
        let path = chunk_path(hash);
        self.store().staging().put(&path, bytes);
        Ok((folded.lineage, Some(path)))
    }

    /// Reads chunks side by side, those that are not at hand.
    pub(crate) async fn read_chunks(&self, hashes: Vec<ChunkHash>) -> Result<BTreeMap<ChunkHash, Chunk>, Error> {
        let reads = hashes.into_iter().map(|hash| async move {
            let read = async {
                let bytes = self.store().read(&chunk_path(hash)).await?.ok_or(BranchError::ChunkMissing { hash })?;
                Ok::<_, Error>(Chunk::decode(hash, &bytes).map_err(BranchError::from)?)
            };
            let chunk = self.chunks().try_get_with(hash, read).await.map_err(|error| Error::clone(&error))?;
            Ok::<_, Error>((hash, chunk))
        });
        Ok(try_join_all(reads).await?.into_iter().collect())
    }
}
