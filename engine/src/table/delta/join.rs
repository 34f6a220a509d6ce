//! Rows of two versions, matched by key: what came, what went, what changed, and what only moved.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use roaring::RoaringTreemap;

use crate::ids::{Digest, TableId};
use crate::table::TableError;

/// Where a row is in a version, and what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spot {
    /// Its address.
    pub address: u64,
    /// Its `_hash`.
    pub hash: Digest,
}

/// A row of one version.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub key: Digest,
    pub spot: Spot,
}

/// A key whose row is another one after than before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeyChange {
    /// The digest of the key's values.
    pub key: Digest,
    /// The row in the version before.
    pub before: Option<Spot>,
    /// The row in the version after. At least one of both is there, and they differ.
    pub after: Option<Spot>,
}

/// What became of a row.
#[cfg(test)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeltaKind {
    /// There was none.
    Added,
    /// There is none any more.
    Removed,
    /// It has another hash.
    Changed,
}

#[cfg(test)]
impl KeyChange {
    /// What became of the row.
    pub(crate) const fn kind(&self) -> DeltaKind {
        match (self.before, self.after) {
            (None, _) => DeltaKind::Added,
            (Some(_), None) => DeltaKind::Removed,
            (Some(_), Some(_)) => DeltaKind::Changed,
        }
    }
}

/// What changed from one version of a table to another.
#[derive(Debug, Clone, Default)]
pub(crate) struct Delta {
    /// In the order of keys, each once.
    pub changes: Vec<KeyChange>,
    /// Addresses before and after of rows that are the same in another file, in the order of the former.
    moved: Vec<(u64, u64)>,
    /// Numbers before and after of the fragments that both versions have.
    shared: BTreeMap<u64, u64>,
    /// Addresses before of rows that were removed or changed.
    replaced: RoaringTreemap,
}

impl Delta {
    /// That of a version to itself.
    pub(super) fn unchanged(shared: BTreeMap<u64, u64>) -> Self {
        Self { shared, ..Self::default() }
    }

    /// The change of a key.
    pub(crate) fn of(&self, key: Digest) -> Option<&KeyChange> {
        let at = self.changes.binary_search_by_key(&key, |change| change.key).ok()?;
        self.changes.get(at)
    }

    /// Where a row at an address before is after; `None` if it was removed or changed.
    pub(crate) fn locate(&self, address: u64) -> Option<u64> {
        if self.replaced.contains(address) {
            return None;
        }
        if let Ok(at) = self.moved.binary_search_by_key(&address, |(before, _)| *before) {
            return self.moved.get(at).map(|(_, after)| *after);
        }
        let fragment = self.shared.get(&(address >> 32))?;
        Some(fragment << 32 | (address & u64::from(u32::MAX)))
    }

    /// Rows that two versions have alike at different places: addresses in the version that this delta leads to and in the one that
    /// `other` leads to, both from one base. In the order of the former.
    pub(crate) fn twins(&self, other: &Self) -> Vec<(u64, u64)> {
        let here = self.moved.iter().filter_map(|(base, here)| Some((*here, other.locate(*base)?)));
        let there = other.moved.iter().filter_map(|(base, there)| Some((self.locate(*base)?, *there)));
        let mut twins: Vec<(u64, u64)> = here.chain(there).collect();
        twins.sort_unstable();
        twins.dedup();
        twins
    }
}

/// Matches rows by key.
///
/// # Errors
/// If a version has a key twice.
pub(super) fn join(
    table: TableId,
    mut before: Vec<Entry>,
    mut after: Vec<Entry>,
    shared: BTreeMap<u64, u64>,
) -> Result<Delta, TableError> {
    for entries in [&mut before, &mut after] {
        entries.sort_unstable_by_key(|entry| entry.key);
        if entries.windows(2).any(|pair| pair[0].key == pair[1].key) {
            return Err(TableError::Damaged { table, problem: "a version has two rows of one key".to_owned() });
        }
    }
    let mut delta = Delta { shared, ..Delta::default() };
    let (mut before, mut after) = (before.into_iter().peekable(), after.into_iter().peekable());
    loop {
        let order = match (before.peek(), after.peek()) {
            (None, None) => break,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(before), Some(after)) => before.key.cmp(&after.key),
        };
        let was = if order.is_le() { before.next() } else { None };
        let is = if order.is_ge() { after.next() } else { None };
        delta.note(was, is);
    }
    delta.moved.sort_unstable();
    Ok(delta)
}

impl Delta {
    fn note(&mut self, was: Option<Entry>, is: Option<Entry>) {
        let (Some(key), before, after) = (was.or(is).map(|entry| entry.key), was.map(|e| e.spot), is.map(|e| e.spot))
        else {
            return;
        };
        match (before, after) {
            (Some(was), Some(is)) if was.hash == is.hash => self.moved.push((was.address, is.address)),
            (before, after) => {
                self.replaced.extend(before.map(|spot| spot.address));
                self.changes.push(KeyChange { key, before, after });
            }
        }
    }
}
