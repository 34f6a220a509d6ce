//! Lineage: what a commit contains, without walking history.
//!
//! It maps each incarnation to the highest position of its log that the commit contains. New entries stand in the record
//! itself; older ones lie in at most [`MAX_CHUNKS`] immutable chunks, so that a record stays small and most merges write
//! nothing. Nothing is ever forgotten: a merge that were forgotten would be done again and bring deleted rows back.

mod chunk;
mod fold;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Slot;

use serde::{Deserialize, Serialize};

use super::seq_text;
use crate::branch::BranchName;
use crate::ids::{CommitId, IncarnationId, Seq};

pub use chunk::{Chunk, ChunkHash, ChunkRef, InvalidChunk};
pub use fold::{Folded, MissingChunk};

/// How many chunks a lineage refers to at most.
pub const MAX_CHUNKS: usize = 8;

/// How many entries stand in the record itself at most.
pub const MAX_INLINE: usize = 64;

/// The highest commit of one incarnation that is contained; all below it are as well.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The life of a branch.
    pub incarnation: IncarnationId,
    /// The position in its log.
    #[serde(with = "seq_text")]
    pub seq: Seq,
    /// The commit there.
    pub commit: CommitId,
    /// The branch whose log it is.
    pub log: BranchName,
}

/// Everything that is contained, read out of the chunks.
pub type Contents = BTreeMap<IncarnationId, Entry>;

/// What a commit contains besides its own incarnation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lineage {
    /// Older entries, the largest chunk first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    chunks: Vec<ChunkRef>,
    /// Newer entries in the order of their incarnations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    recent: Vec<Entry>,
}

impl Lineage {
    /// Whether nothing is contained.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty() && self.recent.is_empty()
    }

    /// The chunks that hold the older entries.
    #[must_use]
    pub fn chunks(&self) -> &[ChunkRef] {
        &self.chunks
    }

    /// The entries that stand in the record itself.
    #[must_use]
    pub fn recent(&self) -> &[Entry] {
        &self.recent
    }

    /// The largest one that a record takes.
    pub(super) fn fullest() -> Self {
        let id = |number: usize| IncarnationId::from_bytes((number as u128).to_be_bytes());
        let entry = |number| Entry {
            incarnation: id(number),
            seq: Seq(u64::MAX - 1),
            commit: CommitId::from_bytes([0; 16]),
            log: BranchName::longest(),
        };
        let chunk = ChunkRef { hash: Chunk::of(Vec::new()).encode().0, entries: u64::MAX };
        Self { chunks: vec![chunk; MAX_CHUNKS], recent: (0..MAX_INLINE).map(entry).collect() }
    }

    /// The same with one more commit contained. May leave more inline than a record takes: see [`Self::fold`].
    #[must_use]
    pub fn with(mut self, entry: Entry) -> Self {
        match self.recent.binary_search_by_key(&entry.incarnation, |known| known.incarnation) {
            Ok(at) if self.recent[at].seq < entry.seq => self.recent[at] = entry,
            Ok(_) => {}
            Err(at) => self.recent.insert(at, entry),
        }
        self
    }

    /// The same without what is told of `incarnation` inline: a commit's own incarnation is contained by itself.
    #[must_use]
    pub fn without(mut self, incarnation: IncarnationId) -> Self {
        self.recent.retain(|entry| entry.incarnation != incarnation);
        self
    }

    /// What either contains. May hold more chunks and inline entries than a record takes: see [`Self::fold`].
    #[must_use]
    pub fn union(mut self, other: &Self) -> Self {
        for chunk in &other.chunks {
            if !self.chunks.iter().any(|known| known.hash == chunk.hash) {
                self.chunks.push(chunk.clone());
            }
        }
        chunk::largest_first(&mut self.chunks);
        other.recent.iter().cloned().fold(self, Self::with)
    }

    /// All entries; `read` holds the chunks.
    ///
    /// # Errors
    /// A chunk that `read` does not hold.
    pub fn contents(&self, read: &BTreeMap<ChunkHash, Chunk>) -> Result<Contents, MissingChunk> {
        let mut contents = Contents::new();
        for chunk in &self.chunks {
            let chunk = read.get(&chunk.hash).ok_or(MissingChunk { hash: chunk.hash })?;
            raise_all(&mut contents, chunk.entries());
        }
        raise_all(&mut contents, &self.recent);
        Ok(contents)
    }
}

/// Takes each of `entries` over where it is higher than what is known of its incarnation.
pub(crate) fn raise_all(contents: &mut Contents, entries: &[Entry]) {
    for entry in entries {
        match contents.entry(entry.incarnation) {
            Slot::Vacant(slot) => {
                slot.insert(entry.clone());
            }
            Slot::Occupied(mut slot) if slot.get().seq < entry.seq => {
                slot.insert(entry.clone());
            }
            Slot::Occupied(_) => {}
        }
    }
}

/// What both contain: the point-wise minimum. Its maximal elements are the merge bases.
#[must_use]
pub fn common(one: &Contents, other: &Contents) -> Contents {
    let lower = |(incarnation, entry): (&IncarnationId, &Entry)| {
        let twin = other.get(incarnation)?;
        Some((*incarnation, if twin.seq < entry.seq { twin.clone() } else { entry.clone() }))
    };
    one.iter().filter_map(lower).collect()
}
