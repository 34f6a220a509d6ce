//! What changed between two versions of a table: by fragments first, then by keys and hashes, never by payload.
//!
//! # How it is found
//! 1. Fragments are matched by the data file that bears `_hash`. Of those that both versions have with one deletion file nothing is
//!    read.
//! 2. Of those that both have with different deletion files, the deletion vectors are read and compared; a row that is alive in one
//!    version only is read there.
//! 3. Of those that only one version has, key and hash of every row are read.
//! 4. Rows of one key on both sides with equal hashes only moved; what is left are the changes.
//!
//! # Invariants
//! 1. The result is that of comparing all rows of both versions, whoever folded or compacted in between.
//! 2. Its cost follows what was rewritten: not the size of the table, nor the width of its rows.
//! 3. It is held in memory: 40 bytes for each row that is read, then 80 for each that changed and 16 for each that moved.

mod fragments;
mod join;
mod read;

use std::collections::BTreeMap;

pub(crate) use join::{Delta, Spot};
#[cfg(test)]
pub(crate) use join::{DeltaKind, KeyChange};

use super::{Table, TableError};
use fragments::compare;
use read::{Wanted, read_entries};

impl Table {
    /// What changed between two versions of a table, where one of them may not be there: such a one has no rows.
    ///
    /// # Errors
    /// As [`Self::delta_to`].
    pub(crate) async fn delta(before: Option<&Self>, after: Option<&Self>) -> Result<Delta, TableError> {
        match (before, after) {
            (None, None) => Ok(Delta::default()),
            (Some(before), Some(after)) => before.delta_to(after).await,
            (Some(before), None) => join::join(
                before.layout.table.id,
                read_entries(before, Wanted::all(before)).await?,
                Vec::new(),
                BTreeMap::new(),
            ),
            (None, Some(after)) => join::join(
                after.layout.table.id,
                Vec::new(),
                read_entries(after, Wanted::all(after)).await?,
                BTreeMap::new(),
            ),
        }
    }

    /// What changed from this version to `after`, another one of the same table. Either is read under its own schema.
    ///
    /// # Errors
    /// If the store fails, or a version has a key twice.
    pub(crate) async fn delta_to(&self, after: &Table) -> Result<Delta, TableError> {
        if self.version.version == after.version.version {
            let same = self.dataset.fragments().iter().map(|fragment| (fragment.id, fragment.id));
            return Ok(Delta::unchanged(same.collect()));
        }
        let table = self.layout.table.id;
        let compared = compare(table, self.dataset.fragments(), after.dataset.fragments())?;
        let shared: BTreeMap<u64, u64> = compared.shared.iter().map(|(before, after)| (before.id, after.id)).collect();
        let changed = read::changed_deletions(self, after, &compared.shared).await?;
        let gone = Wanted { fragments: compared.gone, rows: changed.died };
        let come = Wanted { fragments: compared.come, rows: changed.revived };
        let (before, after) = futures::future::try_join(read_entries(self, gone), read_entries(after, come)).await?;
        join::join(table, before, after, shared)
    }
}
