//! Folding: how a lineage that outgrew its record moves entries into chunks of geometric size.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::chunk::largest_first;
use super::{Chunk, ChunkHash, ChunkRef, Contents, Lineage, MAX_CHUNKS, MAX_INLINE, raise_all};

/// A chunk is needed that was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the lineage chunk {hash} was not read")]
pub struct MissingChunk {
    /// Its name.
    pub hash: ChunkHash,
}

/// What folding came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folded {
    /// The same contents within the bounds of a record.
    pub lineage: Lineage,
    /// The chunk to stage with the record, if one was made.
    pub chunk: Option<(ChunkHash, Bytes)>,
}

impl Lineage {
    /// The chunks that [`Self::fold`] unites, the smallest first; `None` when nothing outgrew its bounds.
    ///
    /// A chunk less than twice as large as what is united so far is taken in as well: every entry then moves into a chunk at
    /// least half as large again whenever it moves, so a merge writes an amortised logarithm of the lineage.
    #[must_use]
    pub fn to_unite(&self) -> Option<Vec<ChunkHash>> {
        let too_many_inline = self.recent.len() > MAX_INLINE;
        if !too_many_inline && self.chunks.len() <= MAX_CHUNKS {
            return None;
        }
        let mut united = self.recent.len() as u64;
        let mut left = self.chunks.len();
        let mut taken = Vec::new();
        for chunk in self.chunks.iter().rev() {
            if left < MAX_CHUNKS && chunk.entries >= united.saturating_mul(2) {
                break;
            }
            united = united.saturating_add(chunk.entries);
            left -= 1;
            taken.push(chunk.hash);
        }
        Some(taken)
    }

    /// Brings the lineage within the bounds of a record. `read` holds the chunks that [`Self::to_unite`] names.
    ///
    /// # Errors
    /// A chunk that `read` does not hold.
    pub fn fold(&self, read: &BTreeMap<ChunkHash, Chunk>) -> Result<Folded, MissingChunk> {
        let Some(taken) = self.to_unite() else {
            return Ok(Folded { lineage: self.clone(), chunk: None });
        };
        let mut contents = Contents::new();
        for hash in &taken {
            raise_all(&mut contents, read.get(hash).ok_or(MissingChunk { hash: *hash })?.entries());
        }
        raise_all(&mut contents, &self.recent);
        let entries = contents.len() as u64;
        let (hash, bytes) = Chunk::of(contents.into_values().collect()).encode();
        let mut chunks: Vec<_> = self.chunks.iter().filter(|chunk| !taken.contains(&chunk.hash)).cloned().collect();
        if !chunks.iter().any(|chunk| chunk.hash == hash) {
            chunks.push(ChunkRef { hash, entries });
        }
        largest_first(&mut chunks);
        Ok(Folded { lineage: Self { chunks, recent: Vec::new() }, chunk: Some((hash, bytes)) })
    }
}
