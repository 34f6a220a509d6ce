//! Small facts about rows, kept in bounded memory: all rules between rows are decided on what they say of one digest.
//!
//! The bound is that of the pool, whatever the number of collections in it.

use std::io;
use std::sync::Arc;

use crate::ids::Digest;
use crate::write::pool::{BufferId, Pool};

/// Facts are grouped one partition at a time.
pub(crate) const PARTITIONS: usize = 64;
/// Bytes of one fact.
pub(crate) const SIZE: usize = 44;

/// What a fact says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// A stored row has this tuple; `at` is its address.
    Stored,
    /// A row of the input is to be new; `at` is its line.
    Insert,
    /// A row of the input is to be new or to replace; `at` is its line.
    Upsert,
    /// The input deletes the row of this key; `at` is its line.
    Delete,
    /// The same, and all its edges.
    DeleteDetach,
    /// A row of the input needs a node of this key; `at` is its line, `table` and `side` say which row.
    InputNeeds,
    /// A stored edge needs a node of this key; `at` is its address.
    StoredNeeds,
}

impl What {
    /// Facts of one digest stand in this order: what is stored, what the input does (by line).
    pub(crate) fn rank(self) -> u8 {
        u8::from(self != Self::Stored)
    }

    /// Whether it says that a row needs another, and nothing of the row with the digest itself.
    pub(crate) fn is_need(self) -> bool {
        matches!(self, Self::InputNeeds | Self::StoredNeeds)
    }

    /// Whether it is a row of the input.
    pub(crate) fn is_input_row(self) -> bool {
        matches!(self, Self::Insert | Self::Upsert)
    }

    /// Whether the input deletes the row.
    pub(crate) fn is_delete(self) -> bool {
        matches!(self, Self::Delete | Self::DeleteDetach)
    }
}

/// One fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fact {
    /// Of the tuple that the fact is about.
    pub digest: Digest,
    /// The kind of fact.
    pub what: What,
    /// Which end of an edge: 0 its start, 1 its end.
    pub side: u8,
    /// The index of the table whose row it is.
    pub table: u16,
    /// Line or address.
    pub at: u64,
    /// `_hash` of the row, where it matters.
    pub hash: Digest,
}

impl Fact {
    /// A fact without side or hash.
    pub(crate) fn new(digest: Digest, what: What, table: usize, at: u64) -> Self {
        let table = u16::try_from(table).unwrap_or(u16::MAX);
        Self { digest, what, side: 0, table, at, hash: Digest([0; 16]) }
    }

    /// Its stored form, which [`Self::read`] reads.
    pub(crate) fn bytes(&self) -> [u8; SIZE] {
        let mut bytes = [0; SIZE];
        let parts = [
            self.digest.0.as_slice(),
            &self.hash.0,
            &self.at.to_le_bytes(),
            &self.table.to_le_bytes(),
            &[self.what as u8, self.side],
        ];
        parts.into_iter().flatten().zip(&mut bytes).for_each(|(byte, place)| *place = *byte);
        bytes
    }

    pub(crate) fn read(bytes: &[u8; SIZE]) -> Self {
        let part = |from: usize| -> [u8; 16] { std::array::from_fn(|i| bytes[from + i]) };
        let what = match bytes[42] {
            0 => What::Stored,
            1 => What::Insert,
            2 => What::Upsert,
            3 => What::Delete,
            4 => What::DeleteDetach,
            5 => What::InputNeeds,
            _ => What::StoredNeeds,
        };
        Self {
            digest: Digest(part(0)),
            hash: Digest(part(16)),
            at: u64::from_le_bytes(std::array::from_fn(|i| bytes[32 + i])),
            table: u16::from_le_bytes([bytes[40], bytes[41]]),
            what,
            side: bytes[43],
        }
    }
}

/// A collection of facts.
#[derive(Debug)]
pub(crate) struct Facts {
    pool: Arc<Pool>,
    partitions: Vec<Partition>,
    len: u64,
}

/// Facts whose digests begin alike. Needs are apart: there may be any number of one digest, and none has to be compared with another.
#[derive(Debug, Clone, Copy)]
struct Partition {
    rows: BufferId,
    needs: BufferId,
}

impl Facts {
    /// An empty collection in `pool`.
    pub(crate) fn new(pool: &Arc<Pool>) -> Self {
        Self { pool: pool.clone(), partitions: Vec::new(), len: 0 }
    }

    /// Takes a fact in.
    pub(crate) fn push(&mut self, fact: &Fact) -> io::Result<()> {
        if self.partitions.is_empty() {
            let partition = || Partition { rows: self.pool.create(), needs: self.pool.create() };
            self.partitions = std::iter::repeat_with(partition).take(PARTITIONS).collect();
        }
        self.len += 1;
        let place = usize::from(fact.digest.0[0]) % PARTITIONS;
        let Some(partition) = self.partitions.get(place) else { return Ok(()) };
        let buffer = if fact.what.is_need() { partition.needs } else { partition.rows };
        self.pool.append(buffer, &fact.bytes())
    }

    /// Where it is kept.
    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    /// Whether a partition has needs.
    pub(crate) fn has_needs(&self, partition: usize) -> bool {
        self.partitions.get(partition).is_some_and(|partition| !self.pool.is_empty(partition.needs))
    }

    /// Visits the facts of a partition that are no needs, in any order.
    pub(crate) fn rows(&self, partition: usize, visit: impl FnMut(Fact) -> io::Result<()>) -> io::Result<()> {
        self.partitions.get(partition).map_or(Ok(()), |partition| self.visit(partition.rows, visit))
    }

    /// Visits the needs of a partition, in any order.
    pub(crate) fn needs(&self, partition: usize, visit: impl FnMut(Fact) -> io::Result<()>) -> io::Result<()> {
        self.partitions.get(partition).map_or(Ok(()), |partition| self.visit(partition.needs, visit))
    }

    fn visit(&self, buffer: BufferId, mut visit: impl FnMut(Fact) -> io::Result<()>) -> io::Result<()> {
        self.pool.read(buffer, SIZE, |bytes| facts_in(bytes).try_for_each(&mut visit))
    }

    /// Visits all facts, in any order.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(&Fact)) -> io::Result<()> {
        let mut visit = |fact: Fact| {
            visit(&fact);
            Ok(())
        };
        for partition in 0..self.partitions.len() {
            self.rows(partition, &mut visit)?;
            self.needs(partition, &mut visit)?;
        }
        Ok(())
    }

    /// A filter of the digests of those facts that are `wanted`.
    pub(crate) fn bloom(&self, wanted: impl Fn(&Fact) -> bool) -> io::Result<Bloom> {
        let mut bloom = Bloom::new(self.len);
        self.for_each(|fact| {
            if wanted(fact) {
                bloom.insert(fact.digest);
            }
        })?;
        Ok(bloom)
    }
}

impl Drop for Facts {
    fn drop(&mut self) {
        self.partitions
            .iter()
            .flat_map(|partition| [partition.rows, partition.needs])
            .for_each(|id| self.pool.discard(id));
    }
}

fn facts_in(bytes: &[u8]) -> impl Iterator<Item = Fact> {
    bytes.as_chunks::<SIZE>().0.iter().map(Fact::read)
}

/// Tells of most digests that were not inserted that they were not; never so of one that was.
#[derive(Debug, Clone)]
pub(crate) struct Bloom {
    words: Vec<u64>,
}

impl Bloom {
    /// About 16 bits for each digest, at most 64 MiB.
    fn new(digests: u64) -> Self {
        let words = usize::try_from(digests.saturating_mul(16) / 64).unwrap_or(usize::MAX);
        Self { words: vec![0; words.next_power_of_two().clamp(8, 8 * 1024 * 1024)] }
    }

    // A digest is random already: its quarters serve as four hash functions.
    fn places(&self, digest: Digest) -> [(usize, u64); 4] {
        let (quarters, _) = digest.0.as_chunks::<4>();
        std::array::from_fn(|i| {
            let hash = quarters.get(i).map_or(0, |quarter| u32::from_le_bytes(*quarter)) as usize;
            ((hash >> 6) & (self.words.len() - 1), 1 << (hash & 63))
        })
    }

    fn insert(&mut self, digest: Digest) {
        for (word, bit) in self.places(digest) {
            if let Some(word) = self.words.get_mut(word) {
                *word |= bit;
            }
        }
    }

    /// Whether the digest may have been inserted.
    pub(crate) fn may_contain(&self, digest: Digest) -> bool {
        self.places(digest).iter().all(|(word, bit)| self.words.get(*word).is_some_and(|word| word & bit != 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::digest;

    #[test]
    fn a_fact_survives_its_bytes() {
        for what in [
            What::Stored,
            What::Insert,
            What::Upsert,
            What::Delete,
            What::DeleteDetach,
            What::InputNeeds,
            What::StoredNeeds,
        ] {
            let fact = Fact { side: 1, hash: digest(9), ..Fact::new(digest(8), what, 300, u64::MAX - 1) };
            let bytes = fact.bytes();
            assert_eq!(facts_in(&bytes).collect::<Vec<_>>(), [fact]);
        }
    }

    #[test]
    fn the_filter_never_misses_and_seldom_errs() {
        let mut facts = Facts::new(&Pool::new(usize::MAX));
        (0..20_000).for_each(|n| facts.push(&Fact::new(digest(n), What::Insert, 0, n)).unwrap());
        let bloom = facts.bloom(|_| true).unwrap();
        assert!((0..20_000).all(|n| bloom.may_contain(digest(n))));
        let wrong = (20_000..40_000).filter(|n| bloom.may_contain(digest(*n))).count();
        assert!(wrong < 400, "{wrong} of 20,000");
    }

    #[test]
    fn the_collections_of_many_tables_share_one_bound() {
        const TABLES: u64 = 300;
        let pool = Pool::new(4 << 20);
        let mut all: Vec<Facts> = (0..TABLES).map(|_| Facts::new(&pool)).collect();
        for n in 0..1_000 {
            for (table, facts) in all.iter_mut().enumerate() {
                let what = if n % 4 == 0 { What::InputNeeds } else { What::Insert };
                facts.push(&Fact::new(digest(n), what, table, n)).unwrap();
            }
            assert!(pool.held() <= pool.budget(), "{} bytes", pool.held());
        }
        for (table, facts) in all.iter().enumerate() {
            let mut lines = Vec::new();
            facts
                .for_each(|fact| {
                    assert_eq!(usize::from(fact.table), table);
                    lines.push(fact.at);
                })
                .unwrap();
            lines.sort_unstable();
            assert_eq!(lines, (0..1_000).collect::<Vec<_>>());
        }
        drop(all);
        assert_eq!(pool.held(), 0);
    }
}
