//! The record: what one position of a branch log says, a whole snapshot in at most [`MAX_BYTES`] of JSON.
//!
//! Invariants
//! 1. A record is complete in itself: no reader needs an older one to know what a commit holds.
//! 2. The order of its fields is fixed, so that equal records have equal bytes.
//! 3. `previous` names the commit at the position before, whatever its incarnation: two adjacent records that disagree prove
//!    that the store replaced an entry it had promised to keep.
//! 4. Unknown fields are refused everywhere, since who carries a snapshot on, or marks a record as given up, would lose them. What
//!    is new is a feature, which must be understood, or an extension, which is handed on unread.

mod change;
mod codec;
mod extensions;
pub mod lineage;
mod ring;
mod room;
#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::branch::BranchName;
use crate::clock::Timestamp;
use crate::ids::{CommitId, GraphId, IncarnationId, Seq, TableId};
use crate::schema::SchemaHash;
use crate::table::TableVersion;

pub use change::{Change, ChangeKind, EncodedKey, MergeCounts, SideCounts, Spill, TableCounts};
pub use codec::{FORMAT, MAX_BYTES, RecordError};
pub(crate) use codec::{Fitted, decode_json};
pub use extensions::Extensions;
pub use lineage::Lineage;
pub use ring::{RequestHash, RequestRing};
pub(crate) use room::check_room;
pub(crate) use text::{base64, hex_bytes, seq_text, time_text, u64_string};

/// One commit as the branch log holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Always [`FORMAT`]; checked before anything else is read.
    pub format: u32,
    /// What a reader must understand beyond the format; this version understands nothing of the kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<String>,
    /// The graph it belongs to: a process that still has a former graph of this address open must not write into this one.
    pub graph: GraphId,
    /// The branch in the spelling it was created with.
    pub branch: BranchName,
    /// The life of the name that this commit belongs to.
    pub incarnation: IncarnationId,
    /// The position in the log.
    #[serde(with = "seq_text")]
    pub seq: Seq,
    /// Drawn anew for every position that was tried, so that it tells our record from everybody else's.
    pub commit: CommitId,
    /// Strictly later than the time of the record before.
    #[serde(with = "time_text")]
    pub time: Timestamp,
    /// The commit at the position before; `None` at the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<CommitId>,
    /// The first is what this commit was made upon; the others were merged into it.
    pub parents: Vec<Parent>,
    /// The catalog in `schemas/`.
    pub schema: SchemaHash,
    /// Every table of the catalog. Empty in a record that deletes its branch.
    pub tables: BTreeMap<TableId, TableVersion>,
    /// What the commit contains besides the commits of its own incarnation.
    #[serde(default, skip_serializing_if = "Lineage::is_empty")]
    pub lineage: Lineage,
    /// The requests whose effect is in the log.
    #[serde(default, skip_serializing_if = "RequestRing::is_empty")]
    pub requests: RequestRing,
    /// What the commit carries; empty when `spill` says where it is.
    pub changes: Vec<Change>,
    /// Where the changes are when they would burst the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spill: Option<Spill>,
    /// Whether this record ends the life of its branch.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// Set when nothing reachable needs this commit any more: its tables may be gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tombstone: Option<Tombstone>,
    /// What other versions tell of the snapshot, which may be ignored; whoever makes the next snapshot from it hands it on.
    #[serde(default, skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
}

/// A commit that a record was made upon, or that it took in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parent {
    /// The branch whose log holds the parent.
    pub log: BranchName,
    /// The life of that name.
    pub incarnation: IncarnationId,
    /// The position in that log.
    #[serde(with = "seq_text")]
    pub seq: Seq,
    /// What must stand there.
    pub commit: CommitId,
}

/// The mark of a record whose tables are given up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tombstone {
    /// When the mark was set, by the store's clock.
    #[serde(with = "time_text")]
    pub time: Timestamp,
    /// The commit that was the branch's head then.
    pub commit: CommitId,
}

impl Record {
    /// This commit as a parent of another.
    #[must_use]
    pub fn as_parent(&self) -> Parent {
        Parent { log: self.branch.clone(), incarnation: self.incarnation, seq: self.seq, commit: self.commit }
    }

    /// The commit this one was made upon.
    #[must_use]
    pub fn first_parent(&self) -> Option<&Parent> {
        self.parents.first()
    }

    /// The changes it carries, wherever they are kept.
    #[must_use]
    pub fn change_count(&self) -> usize {
        self.spill.as_ref().map_or(self.changes.len(), |spill| spill.changes as usize)
    }

    /// The lineage of whoever contains this commit: its own, and itself.
    #[must_use]
    pub fn contained(&self) -> Lineage {
        self.lineage.clone().with(lineage::Entry {
            incarnation: self.incarnation,
            seq: self.seq,
            commit: self.commit,
            log: self.branch.clone(),
        })
    }

    /// About how many bytes it takes in memory.
    pub(crate) fn weight(&self) -> usize {
        let changes: usize = self.changes.iter().map(Change::weight).sum();
        512 + self.extensions.len()
            + 160 * self.tables.len()
            + 96 * self.lineage.recent().len()
            + 32 * self.requests.len()
            + changes
    }

    /// Whether `self`, at the position after `before`, was made by somebody who saw `before` there.
    #[must_use]
    pub fn follows(&self, before: &Self) -> bool {
        self.seq == before.seq.next() && self.previous == Some(before.commit) && self.time > before.time
    }
}
