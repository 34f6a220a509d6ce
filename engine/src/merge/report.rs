//! What a caller of a merge asks for, and what is told.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::error::Conflict;
use crate::graph::{ChangeOptions, CommitInfo, ParentInfo};
use crate::record::MergeCounts;
use crate::store::IoStats;

/// How a merge is to be done.
#[derive(Debug, Clone, Default)]
pub struct MergeOptions {
    /// Who asks for it and how it is to be recorded; `if_head` is about the target.
    pub change: ChangeOptions,
    /// Which side wins where both changed something that no policy of the schema settles. The narrowest counts, of equal ones the last.
    pub strategies: Vec<Strategy>,
    /// What single rows and properties are to come to; they go before strategies.
    pub resolutions: Vec<Resolution>,
    /// Records the result without the source as a parent: a later merge of the same branch begins at the old base again, and adds up once more
    /// what a `sum` has added up.
    pub squash: bool,
    /// Deletes the source afterwards, which has to be a branch. If it has gone on by then, it stays.
    pub delete_source: bool,
}

/// One of the two sides of a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MergeSide {
    /// What is merged.
    Source,
    /// What it is merged into.
    Target,
}

impl MergeSide {
    /// The side as reports and options spell it: `source` or `target`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Target => "target",
        }
    }
}

/// Which side wins: everywhere, in one table, or for one property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strategy {
    /// The table; `None`: all.
    pub table: Option<String>,
    /// The property of that table; `None`: all of it, and whether rows are there.
    pub property: Option<String>,
    /// The side that wins.
    pub side: MergeSide,
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(table) = &self.table {
            f.write_str(table)?;
            if let Some(property) = &self.property {
                write!(f, ".{property}")?;
            }
            f.write_str("=")?;
        }
        f.write_str(self.side.as_str())
    }
}

/// What one row, or one property of it, is to come to; or what the schema is to say of a table, or of one property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// The table.
    pub table: String,
    /// The row's key as JSON, as conflicts spell it; `None`: it is about the schema.
    pub key: Option<String>,
    /// The property; `None`: the row, that is whether it is there and each of its conflicts that has no resolution of its own; or the table.
    pub property: Option<String>,
    /// What it comes to.
    pub choice: Choice,
}

/// What something comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// What a side has.
    Side(MergeSide),
    /// This value of a property, as JSON.
    Value(String),
    /// What one side dropped from the schema stays.
    Keep,
    /// What one side dropped from the schema goes, whatever the other did to it.
    Drop,
}

/// What became of a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeOutcome {
    /// The source brings nothing that the target does not have: nothing was published.
    UpToDate,
    /// The source contained the target: the target is now as the source was.
    FastForward,
    /// Both had gone on since their bases.
    Merged,
}

impl MergeOutcome {
    /// The outcome as reports spell it: `up-to-date`, `fast-forward` or `merged`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UpToDate => "up-to-date",
            Self::FastForward => "fast-forward",
            Self::Merged => "merged",
        }
    }
}

/// What a merge did.
#[derive(Debug, Clone)]
pub struct MergeReport {
    /// What became of it.
    pub outcome: MergeOutcome,
    /// The commit it made; none if the target had everything.
    pub commit: Option<CommitInfo>,
    /// Whether a request of the same id took effect before: then this is what it did.
    pub repeated: bool,
    /// The commits that both sides come from, the latest first.
    pub bases: Vec<ParentInfo>,
    /// The tables that it changed on the target, by name. One that the source dropped is among them.
    pub tables: BTreeMap<String, MergedTable>,
    /// Whether the source was deleted: not if it had gone on, or the store failed. `None`: nobody asked for it.
    pub source_deleted: Option<bool>,
    /// Requests that the graph made from its beginning to its end; those of other calls at the same time are among them.
    pub io: IoStats,
    /// Where the time went.
    pub timings: MergeTimings,
}

/// What a merge made of one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergedTable {
    /// Live rows of the target before; none where it had no such table.
    pub rows_before: Option<u64>,
    /// Live rows afterwards; none where the table is gone.
    pub rows: Option<u64>,
    /// What each side had changed and what became of it, where rows were compared; none where the source's version was taken as it was.
    pub counts: Option<MergeCounts>,
    /// Rows that were written anew, because they took something from both sides, or do not lie as the merged schema has them.
    pub rewritten: u64,
    /// Files of the source with rows in them that the target names now, without copying any.
    pub adopted: u64,
}

/// How long the parts of a merge took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MergeTimings {
    /// Waiting for requests that must not go at the same time.
    pub queued: Duration,
    /// Looking up both heads and their bases.
    pub captured: Duration,
    /// Comparing and deciding.
    pub planned: Duration,
    /// Writing what the result needs.
    pub staged: Duration,
    /// Making that durable and putting the commit.
    pub published: Duration,
}

/// What a merge would do: both heads, what would change, and every conflict. Nothing is written for it.
#[derive(Debug, Clone)]
pub struct MergePlan {
    /// What would become of it.
    pub outcome: MergeOutcome,
    /// The commit that would be merged.
    pub source: ParentInfo,
    /// The head it would be merged into.
    pub target: ParentInfo,
    /// Whether the source was named as a branch, so that it must not go on before the plan is applied.
    pub source_is_branch: bool,
    /// The commits that both come from, the latest first.
    pub bases: Vec<ParentInfo>,
    /// The tables that would change on the target, by name.
    pub tables: BTreeMap<String, MergedTable>,
    /// What is left to decide, in the order of tables and keys.
    pub conflicts: Vec<Conflict>,
    /// Which side is to win where.
    pub strategies: Vec<Strategy>,
    /// What single rows and properties are to come to.
    pub resolutions: Vec<Resolution>,
    /// Requests that were made for it.
    pub io: IoStats,
}
