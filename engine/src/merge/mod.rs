//! Merging one commit into a branch: what each side changed since their bases, table by table and row by row, brought together and
//! published.
//!
//! Invariants
//! 1. The source is one commit, looked up once; the target is whatever head the publish finds.
//! 2. Nothing is published on a conflict, and all conflicts are told at once.
//! 3. What a merge brings together is recorded: the commit has both parents and contains all that either contains, so the next merge
//!    begins where this one ended, whatever becomes of the branches.
//! 4. The result keeps the rules of the schema: what one side relies on and the other changed is looked up in the result.
//! 5. What it costs follows what changed, not the size of tables.
//!
//! The way of the data: `sides` (both heads and their bases) · `schemas` (their schemas, by the pure `schema`) · `plan` (tables, by their versions) ·
//! `lens` (how rows are read under the merged schema) · `ties` (which need a look at rows) ·
//! `keys` and `cases` (what differs, by deltas) · `rows` (rows that both changed, by the pure `row`) · `answers` (resolutions and strategies) ·
//! `detached` and `constraints` (rules, on the result) · `describe` (what is left to people) or `stage` · `work` (publishing).
//!
//! Order of effects: look up both heads · their bases · compare and decide · stage all tables side by side · publish.
//!
//! What a crash leaves behind: what a publish does.

mod answers;
mod apply;
mod base;
#[cfg(test)]
mod base_tests;
mod cases;
mod choice;
mod constraints;
mod describe;
mod detached;
mod ends;
mod error;
mod ground;
mod judge;
mod keys;
mod laps;
mod lens;
mod lost;
mod origin;
mod plan;
#[cfg(test)]
mod plan_tests;
mod report;
pub(crate) mod row;
mod rows;
mod schema;
mod schema_answers;
mod schemas;
mod sides;
mod stage;
mod table;
mod ties;
mod told;
mod tuples;
mod work;

pub use error::MergeError;
pub use report::{
    Choice, MergeOptions, MergeOutcome, MergePlan, MergeReport, MergeSide, MergeTimings, MergedTable, Resolution,
    Strategy,
};

use std::sync::Arc;

use crate::error::Error;
use crate::graph::{Graph, ParentInfo};
use crate::record::Record;

impl Graph {
    /// The merge bases of two commits, the latest first: what both contain and no other commit that both contain contains. Where one
    /// commit contains the other, that other is the only one.
    ///
    /// ```
    /// # use pleach::{ChangeOptions, Error, Graph, InitOptions};
    /// # #[tokio::main] async fn main() -> Result<(), Error> {
    /// # let ddl = "CREATE NODE TABLE Person (id STRING PRIMARY KEY, name STRING);";
    /// # let graph = Graph::init("memory://merge-bases-example", ddl, InitOptions::default()).await?;
    /// graph.create_branch("review", "main", ChangeOptions::default()).await?;
    /// let bases = graph.merge_bases("review", "main").await?;
    /// assert_eq!(bases[0].reference(), "main@0");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When there is no such commit, or a log is damaged.
    pub async fn merge_bases(&self, one: &str, other: &str) -> Result<Vec<ParentInfo>, Error> {
        let core = self.core();
        let (one, other) = (one.parse()?, other.parse()?);
        let (one, other) = futures::try_join!(core.authorities().resolve(&one), core.authorities().resolve(&other))?;
        Ok(named(&base::bases(core, &one, &other).await?))
    }
}

/// Commits as people name them.
fn named(records: &[Arc<Record>]) -> Vec<ParentInfo> {
    records.iter().map(|record| ParentInfo::from(&record.as_parent())).collect()
}
