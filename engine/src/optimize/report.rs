//! What a caller of an optimize asks for, and what is told.

use std::collections::BTreeMap;

use crate::graph::{ChangeOptions, CommitInfo};
use crate::store::IoStats;
use crate::table::Compaction;

/// What is to be optimized, and how it is recorded.
#[derive(Debug, Clone, Default)]
pub struct OptimizeOptions {
    /// The names of the tables; none means all.
    pub tables: Vec<String>,
    /// Who asks for it and how it is to be recorded.
    pub change: ChangeOptions,
}

/// What an optimize did.
#[derive(Debug, Clone, Default)]
pub struct OptimizeReport {
    /// `None`: there was nothing to be gained, nothing was published.
    pub commit: Option<CommitInfo>,
    /// Whether a request of the same id took effect before: then this is what it did.
    pub repeated: bool,
    /// The tables that were rewritten, by name.
    pub tables: BTreeMap<String, OptimizedTable>,
    /// Requests that the graph made from its beginning to its end; those of other calls at the same time are among them.
    pub io: IoStats,
}

/// What an optimize made of one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptimizedTable {
    /// Fragments that the table was in before; each is a data file, and a deletion file if rows of it are gone.
    pub fragments_before: u64,
    /// Fragments afterwards.
    pub fragments: u64,
    /// Rows, before as afterwards.
    pub rows: u64,
    /// Bytes of the data files that were rewritten.
    pub rewritten_bytes: u64,
    /// Bytes of the data files that stand for them.
    pub written_bytes: u64,
}

impl From<Compaction> for OptimizedTable {
    fn from(made: Compaction) -> Self {
        let Compaction { fragments_before, fragments, rows, rewritten_bytes, written_bytes } = made;
        Self { fragments_before, fragments, rows, rewritten_bytes, written_bytes }
    }
}
