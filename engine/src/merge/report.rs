//! What a caller of a merge asks for, and what is told.

use std::collections::BTreeMap;

use crate::graph::{ChangeOptions, CommitInfo, ParentInfo};
use crate::store::IoStats;

/// How a merge is to be done.
#[derive(Debug, Clone, Default)]
pub struct MergeOptions {
    /// Who asks for it and how it is to be recorded; `if_head` is about the target.
    pub change: ChangeOptions,
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
    /// The commits that both sides come from, the latest first.
    pub bases: Vec<ParentInfo>,
    /// The tables that it changed on the target, by name. One that the source dropped is among them.
    pub tables: BTreeMap<String, MergedTable>,
    /// Requests that the graph made from its beginning to its end; those of other calls at the same time are among them.
    pub io: IoStats,
}

/// What a merge made of one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergedTable {
    /// Live rows of the target before; none where it had no such table.
    pub rows_before: Option<u64>,
    /// Live rows afterwards; none where the table is gone.
    pub rows: Option<u64>,
}
