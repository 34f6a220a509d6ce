//! What a caller of a schema change asks for, and what is told.

use std::fmt;

use crate::graph::{ChangeOptions, CommitInfo, ParentInfo};
use crate::schema::{Catalog, SchemaStep};
use crate::store::IoStats;

/// What a schema change may do, and how it is recorded.
#[derive(Debug, Clone, Default)]
pub struct SchemaOptions {
    /// Whether tables and properties may go, with what they hold.
    pub allow_data_loss: bool,
    /// Who asks for it and how it is to be recorded.
    pub change: ChangeOptions,
}

/// One step of a schema change, and what it means for the rows that are there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedStep {
    /// The step.
    pub step: SchemaStep,
    /// The rows that it concerns: those that are read to be checked, written anew, go, lose a value or get a fill value.
    pub rows: u64,
    /// Those of them that break the rule that it adds: if there are any, the change is refused. For a `UNIQUE` and a multiplicity, the
    /// rows that would have to go.
    pub breaks: u64,
    /// The keys of the first few of these, as JSON.
    pub examples: Vec<String>,
}

/// The step, and the rows that break it.
impl fmt::Display for PlannedStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.step)?;
        if self.breaks == 0 {
            return Ok(());
        }
        let more = self.breaks.saturating_sub(self.examples.len() as u64);
        write!(f, "; broken by {}", self.examples.join(", "))?;
        match (self.examples.is_empty(), more) {
            (_, 0) => Ok(()),
            (true, 1) => f.write_str("1 row"),
            (true, _) => write!(f, "{more} rows"),
            (false, _) => write!(f, " and {more} more"),
        }
    }
}

/// What a schema change would do.
#[derive(Debug, Clone)]
pub struct PlannedSchema {
    /// The commit that it was planned on.
    pub at: ParentInfo,
    /// What it would do, step by step; empty if nothing.
    pub steps: Vec<PlannedStep>,
    /// The schema that would come of it. Ids of what is new are drawn again when it is applied.
    pub schema: Catalog,
    /// Requests that the graph made meanwhile.
    pub io: IoStats,
}

/// What a schema change did.
#[derive(Debug, Clone)]
pub struct SchemaReport {
    /// `None`: the schema is that already, nothing was published.
    pub commit: Option<CommitInfo>,
    /// Whether a request of the same id took effect before: then this is what it did, without the numbers of rows.
    pub repeated: bool,
    /// What it did, step by step.
    pub steps: Vec<PlannedStep>,
    /// The schema of the commit, or of the head where there is none.
    pub schema: Catalog,
    /// Requests that the graph made from its beginning to its end; those of other calls at the same time are among them.
    pub io: IoStats,
}

/// What makes one schema to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaDiff {
    /// The commit of the earlier schema.
    pub from: ParentInfo,
    /// The commit of the later one.
    pub to: ParentInfo,
    /// What differs.
    pub steps: Vec<SchemaDifference>,
}

/// One difference between the schemas of two commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaDifference {
    /// What differs.
    pub step: SchemaStep,
    /// The rows that came or went with a table; `None` for anything else.
    pub rows: Option<u64>,
}
