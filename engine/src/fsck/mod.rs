//! Proves that a graph is whole: logs chain, everything they name exists, and rows keep what writes promise. Changes nothing.

mod contents;
mod history;
mod named;
mod problems;
mod rows;
#[cfg(test)]
mod tests;

pub use problems::{FsckProblem, FsckReport};

use crate::branch::BranchName;
use crate::error::Error;
use crate::fsck::contents::Contents;
use crate::fsck::history::History;
use crate::fsck::problems::Problems;
use crate::graph::{Core, Graph};

impl Graph {
    /// Checks all branches, or the given ones: all records of their logs, and the rows of their heads.
    ///
    /// ```
    /// # use pleach::{Error, Graph, InitOptions};
    /// # #[tokio::main] async fn main() -> Result<(), Error> {
    /// # let ddl = "CREATE NODE TABLE Person (id STRING PRIMARY KEY, name STRING);";
    /// # let graph = Graph::init("memory://fsck-example", ddl, InitOptions::default()).await?;
    /// let report = graph.fsck(&[]).await?;
    /// assert!(report.problems.is_empty());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If a branch was never made, or the store fails, so that nothing can be said. What is wrong with the graph is in the report.
    pub async fn fsck(&self, branches: &[String]) -> Result<FsckReport, Error> {
        self.check(branches, false).await
    }

    /// As [`Self::fsck`], with the rows of every commit that is not given up. A table version is read once, however many commits
    /// have it.
    ///
    /// # Errors
    /// As [`Self::fsck`].
    pub async fn fsck_deep(&self, branches: &[String]) -> Result<FsckReport, Error> {
        self.check(branches, true).await
    }

    async fn check(&self, branches: &[String], deep: bool) -> Result<FsckReport, Error> {
        let core = self.core();
        // It is about what the store has.
        core.store().staging().forget_small();
        let mut problems = Problems::default();
        let names = names(core, branches, &mut problems).await?;
        let mut history = History::new(core);
        let mut contents = Contents::new(core);
        let mut living = 0;
        for name in &names {
            let lives = Box::pin(history.walk(name, deep, &mut contents, &mut problems)).await?;
            living += u64::from(lives);
        }
        history.check_parents(&mut problems).await?;
        Ok(FsckReport {
            branches: living,
            commits: history.commits,
            table_versions: contents.table_versions,
            rows: contents.rows,
            problems: problems.finish(),
        })
    }
}

/// The branches to check: those that were `asked` for, each of which must have been made, or all.
async fn names(core: &Core, asked: &[String], problems: &mut Problems) -> Result<Vec<BranchName>, Error> {
    let known = core.authorities().names().await?;
    if asked.is_empty() {
        if !known.iter().any(BranchName::is_main) {
            problems.add("missing-record", BranchName::MAIN, "the log is empty".into());
        }
        return Ok(known);
    }
    let mut names: Vec<BranchName> = Vec::with_capacity(asked.len());
    for name in asked {
        let name = BranchName::parse(name)?;
        // Every graph has a `main`: if its log is empty, that is damage.
        if !name.is_main() && !known.iter().any(|known| known.folder() == name.folder()) {
            return Err(core.authorities().unknown(&name).await);
        }
        if !names.iter().any(|earlier| earlier.folder() == name.folder()) {
            names.push(name);
        }
    }
    Ok(names)
}
