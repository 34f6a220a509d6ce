//! An append-only log of objects with put-if-absent as its only commit point; it knows nothing of graphs.
//!
//! An entry's key is its *reversed* sequence number, so that the newest entry has the smallest key and one LIST of one key
//! finds the head, however long the log is.
//!
//! Invariants
//! 1. Entries are written in order: whoever appends at *n* has read *n* − 1. So a log has no gaps.
//! 2. A key once written is never deleted; an old entry may be overwritten by a tombstone. So a key that is absent was never
//!    written, and "nothing at *n* + 1" proves that *n* is the head. Something there proves only that *n* is not.
//! 3. At most one writer's bytes ever stand at the head's key: the store decides, and [`Log::append_next`] finds out.

mod search;

#[cfg(test)]
mod tests;

use bytes::Bytes;
use object_store::path::Path;

use crate::ids::Seq;
use crate::store::{Created, HeadSearch, Store, StoreError};

/// What a PUT of the next entry came to.
pub type Appended = Created;

const DIGITS: usize = 16;
const SUFFIX: &str = ".json";

/// One log: a folder of objects named by their reversed sequence number.
#[derive(Debug, Clone)]
pub struct Log {
    store: Store,
    folder: Path,
}

impl Log {
    /// The log in `folder`; there may be nothing in it yet.
    pub fn new(store: Store, folder: Path) -> Self {
        Self { store, folder }
    }

    /// Where its entries are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The key of the entry at `seq`.
    pub fn key(&self, seq: Seq) -> Path {
        self.folder.clone().join(format!("{:0DIGITS$x}{SUFFIX}", u64::MAX - seq.0).as_str())
    }

    /// The position that `key` names, if it is a key of this log. The very last position is none: nothing could follow it.
    pub fn seq_of(&self, key: &Path) -> Option<Seq> {
        let mut below = key.prefix_match(&self.folder)?;
        let name = below.next()?;
        let digits = name.as_ref().strip_suffix(SUFFIX)?;
        let canonical = digits.len() == DIGITS && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        let reversed = u64::from_str_radix(digits, 16).ok()?;
        (canonical && reversed != 0 && below.next().is_none()).then_some(Seq(u64::MAX - reversed))
    }

    /// The last entry; `None` for an empty log. It was the head at some moment of the call: see [`Self::next_after`].
    pub async fn head(&self) -> Result<Option<(Seq, Bytes)>, StoreError> {
        let seq = match self.store.head_search() {
            HeadSearch::List => self.listed_head().await?,
            HeadSearch::Gallop => self.gallop(None).await?,
        };
        self.read_found(seq).await
    }

    /// The last entry if it is no longer `known`; `None` while it is, for one request.
    pub async fn head_after(&self, known: Seq) -> Result<Option<(Seq, Bytes)>, StoreError> {
        // A GET, although its body may be for nothing: a HEAD of S3 cannot tell a missing bucket from a missing entry.
        if self.next_after(known).await?.is_none() {
            return Ok(None);
        }
        let seq = match self.store.head_search() {
            HeadSearch::List => self.listed_head().await?,
            HeadSearch::Gallop => self.gallop(Some(known.next())).await?,
        };
        self.read_found(seq).await
    }

    /// The entry after `seq`. `None` proves that `seq`, if it was written, is the head. `Some` proves only that it is not:
    /// more may have followed, and the entry may be a tombstone; read the head anew.
    pub async fn next_after(&self, seq: Seq) -> Result<Option<Bytes>, StoreError> {
        self.read(seq.next()).await
    }

    /// The entry at `seq`; `None` where nothing was written.
    pub async fn read(&self, seq: Seq) -> Result<Option<Bytes>, StoreError> {
        self.store.read(&self.key(seq)).await
    }

    /// Whether exactly `entry` stands at `seq`. Tells a store that let a second put-if-absent win, after the fact.
    pub async fn holds(&self, seq: Seq, entry: &Bytes) -> Result<bool, StoreError> {
        Ok(self.read(seq).await?.as_ref() == Some(entry))
    }

    /// Puts `entry` at `seq` if nothing is there, and finds out what became of it. The caller has read the entry before
    /// `seq`, or `seq` is the first. `entry` must be unique to this attempt, since it is recognised by its bytes.
    ///
    /// An entry of ours that was lost sight of for so long that it is a tombstone by now comes back as somebody else's; the
    /// tombstone carries it.
    ///
    /// # Errors
    /// An error means that nothing was written and nothing will be; a doubt is [`Appended::Unknown`].
    ///
    /// # Cancellation
    /// A dropped call is an unknown outcome.
    pub async fn append_next(&self, seq: Seq, entry: Bytes) -> Result<Appended, StoreError> {
        self.store.create(&self.key(seq), &entry).await
    }

    /// Overwrites an old entry (a tombstone).
    ///
    /// # Errors
    /// [`StoreError::NotBelowHead`] unless both `seq` and the entry after it are written: the head is never overwritten.
    pub async fn overwrite(&self, seq: Seq, entry: Bytes) -> Result<(), StoreError> {
        let (written, followed) = futures::try_join!(self.exists(seq), self.exists(seq.next()))?;
        if !(written && followed) {
            return Err(StoreError::NotBelowHead { log: self.folder.to_string(), seq });
        }
        self.store.overwrite(&self.key(seq), entry).await
    }

    /// Makes what was read from this log durable, before an outcome that relies on it is told. Does nothing where reads
    /// are durable anyway.
    pub async fn sync(&self) -> Result<(), StoreError> {
        self.store.sync_folder(&self.folder).await
    }

    async fn exists(&self, seq: Seq) -> Result<bool, StoreError> {
        self.store.exists(&self.key(seq)).await
    }

    async fn read_found(&self, seq: Option<Seq>) -> Result<Option<(Seq, Bytes)>, StoreError> {
        let Some(seq) = seq else { return Ok(None) };
        if let Some(entry) = self.read(seq).await? {
            return Ok(Some((seq, entry)));
        }
        let (place, path) = (self.store.uri().to_owned(), self.key(seq).to_string());
        Err(StoreError::Missing { place, path })
    }
}
