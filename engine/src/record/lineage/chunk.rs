//! Chunks: older entries of a lineage as immutable binary objects, named by their hash.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

use super::Entry;
use crate::branch::BranchName;
use crate::ids::{CommitId, IncarnationId, Seq};
use crate::record::hex_bytes;
use crate::record::ring::{put_varint, take_varint};

/// The first byte of every chunk.
const FORMAT: u8 = 1;

/// The sha256 of a chunk's bytes: its name in `lineages/`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChunkHash([u8; 32]);

impl ChunkHash {
    /// The name of a chunk with these bytes.
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for ChunkHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex_bytes::encode(&self.0))
    }
}

impl fmt::Debug for ChunkHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ChunkHash({self})")
    }
}

impl Serialize for ChunkHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        hex_bytes::serialize(&self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for ChunkHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        hex_bytes::deserialize(deserializer).map(Self)
    }
}

/// A chunk as a record names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChunkRef {
    /// Its name.
    pub hash: ChunkHash,
    /// How many entries it holds.
    pub entries: u64,
}

/// Puts chunks into the one order that equal lineages share.
pub(super) fn largest_first(chunks: &mut [ChunkRef]) {
    chunks.sort_by(|one, other| other.entries.cmp(&one.entries).then(one.hash.cmp(&other.hash)));
}

/// The bytes are not a chunk, or not the one that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidChunk {
    /// They are damaged.
    #[error("the lineage chunk {hash} is damaged")]
    Damaged {
        /// Its name.
        hash: ChunkHash,
    },
    /// Another version of Pleach wrote it.
    #[error("the lineage chunk {hash} is in format {found}, and this version reads format {FORMAT}")]
    Format {
        /// Its name.
        hash: ChunkHash,
        /// The format it names.
        found: u8,
    },
}

/// A chunk that was read. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk(Arc<[Entry]>);

impl Chunk {
    /// A chunk of `entries`, which are in the order of their incarnations.
    pub(super) fn of(entries: Vec<Entry>) -> Self {
        Self(entries.into())
    }

    /// Its entries in the order of their incarnations.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.0
    }

    /// Its stored form and its name. Equal chunks have equal bytes: the format, the number of entries, and for each the
    /// incarnation, the position as a variable-length integer, the commit, and the length and text of the branch.
    #[must_use]
    pub fn encode(&self) -> (ChunkHash, Bytes) {
        let mut bytes = vec![FORMAT];
        put_varint(&mut bytes, self.0.len() as u64);
        for entry in self.entries() {
            bytes.extend_from_slice(&entry.incarnation.to_bytes());
            put_varint(&mut bytes, entry.seq.0);
            bytes.extend_from_slice(&entry.commit.to_bytes());
            put_varint(&mut bytes, entry.log.as_str().len() as u64);
            bytes.extend_from_slice(entry.log.as_str().as_bytes());
        }
        (ChunkHash::of(&bytes), bytes.into())
    }

    /// Reads the chunk called `hash`.
    ///
    /// # Errors
    /// Bytes that have another hash or are not a chunk of this format.
    pub fn decode(hash: ChunkHash, bytes: &[u8]) -> Result<Self, InvalidChunk> {
        if ChunkHash::of(bytes) != hash {
            return Err(InvalidChunk::Damaged { hash });
        }
        match bytes.split_first() {
            Some((&FORMAT, entries)) => Self::parse(entries).ok_or(InvalidChunk::Damaged { hash }),
            Some((&found, _)) => Err(InvalidChunk::Format { hash, found }),
            None => Err(InvalidChunk::Damaged { hash }),
        }
    }

    fn parse(mut bytes: &[u8]) -> Option<Self> {
        let count = take_varint(&mut bytes)?;
        let mut entries: Vec<Entry> = Vec::new();
        for _ in 0..count {
            let incarnation = IncarnationId::from_bytes(take(&mut bytes)?);
            let seq = take_varint(&mut bytes).filter(|seq| *seq < u64::MAX).map(Seq)?;
            let commit = CommitId::from_bytes(take(&mut bytes)?);
            let length = usize::try_from(take_varint(&mut bytes)?).ok()?;
            let (name, rest) = bytes.split_at_checked(length)?;
            bytes = rest;
            let log = BranchName::stored(std::str::from_utf8(name).ok()?).ok()?;
            if entries.last().is_some_and(|before| before.incarnation >= incarnation) {
                return None;
            }
            entries.push(Entry { incarnation, seq, commit, log });
        }
        bytes.is_empty().then(|| Self::of(entries))
    }
}

fn take(bytes: &mut &[u8]) -> Option<[u8; 16]> {
    let (taken, rest) = bytes.split_first_chunk::<16>()?;
    *bytes = rest;
    Some(*taken)
}
