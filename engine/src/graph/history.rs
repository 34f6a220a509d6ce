//! Reading commits: one, or those before it.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::{StreamExt, TryStreamExt};

use super::{CommitInfo, Core, Graph};
use crate::branch::BranchError;
use crate::error::Error;
use crate::ids::Seq;
use crate::record::Record;
use crate::schema::Catalog;

/// How many records are read side by side.
const SIDE_BY_SIDE: usize = 16;

impl Graph {
    /// The commits from `reference` back along first parents, newest first, within the branch's log and on into the log it was
    /// forked from; at most `limit`.
    ///
    /// ```
    /// # use pleach::{ChangeOptions, Error, Graph, InitOptions, Write};
    /// # #[tokio::main] async fn main() -> Result<(), Error> {
    /// # let ddl = "CREATE NODE TABLE Person (id STRING PRIMARY KEY, name STRING);";
    /// # let graph = Graph::init("memory://log-example", ddl, InitOptions::default()).await?;
    /// let ada = r#"{"table":"Person","data":{"id":"ada","name":"Ada"}}"#;
    /// let change = ChangeOptions { message: "Ada".into(), ..ChangeOptions::default() };
    /// graph.write("main", Write::new().insert_json(ada), change).await?;
    /// let commits = graph.log("main", 10).await?;
    /// assert_eq!(commits[0].reference(), "main@1");
    /// assert_eq!(commits[0].changes[0].message, "Ada");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When there is no such commit, or a log is damaged.
    pub async fn log(&self, reference: &str, limit: usize) -> Result<Vec<CommitInfo>, Error> {
        let core = self.core();
        let mut walk = Walk::new(core, core.authorities().resolve(&reference.parse()?).await?);
        let mut commits = Vec::new();
        while commits.len() < limit {
            let Some(record) = walk.next(limit - commits.len()).await? else { break };
            commits.push(core.commit_info(&record).await?);
        }
        Ok(commits)
    }

    /// One commit.
    ///
    /// # Errors
    /// When there is none of that name.
    pub async fn show(&self, reference: &str) -> Result<CommitInfo, Error> {
        let record = self.core().authorities().resolve(&reference.parse()?).await?;
        self.core().commit_info(&record).await
    }

    /// The schema of a commit.
    ///
    /// # Errors
    /// When there is no such commit.
    pub async fn schema(&self, reference: &str) -> Result<Catalog, Error> {
        Ok(Catalog::clone(&*self.core().snapshot(reference).await?.catalog))
    }
}

/// A walk along first parents that reads ahead within a log.
pub(crate) struct Walk<'a> {
    core: &'a Core,
    /// What was told last.
    told: Option<Arc<Record>>,
    /// What is to be told next, in order.
    ahead: VecDeque<Arc<Record>>,
}

impl<'a> Walk<'a> {
    /// Begins with `first`.
    pub(crate) fn new(core: &'a Core, first: Arc<Record>) -> Self {
        Self { core, told: None, ahead: VecDeque::from([first]) }
    }

    /// The next commit; `wanted` tells how many more are of interest, so that not more is read ahead.
    pub(crate) async fn next(&mut self, wanted: usize) -> Result<Option<Arc<Record>>, Error> {
        if self.ahead.is_empty()
            && let Some(told) = self.told.clone()
        {
            self.read_ahead(&told, wanted).await?;
        }
        let next = self.ahead.pop_front();
        if let (Some(child), Some(parent)) = (&self.told, &next)
            && child.branch == parent.branch
            && child.seq == parent.seq.next()
            && !child.follows(parent)
        {
            return Err(BranchError::Replaced { place: format!("{}@{}", parent.branch, parent.seq) }.into());
        }
        self.told.clone_from(&next);
        Ok(next)
    }

    async fn read_ahead(&mut self, told: &Arc<Record>, wanted: usize) -> Result<(), Error> {
        let authorities = self.core.authorities();
        let Some(parent) = told.first_parent() else { return Ok(()) };
        if parent.incarnation != told.incarnation {
            self.ahead.push_back(authorities.parent(parent).await?);
            return Ok(());
        }
        let count = (SIDE_BY_SIDE.min(wanted) as u64).min(told.seq.0).max(1);
        let before: Vec<Arc<Record>> = futures::stream::iter(1..=count)
            .map(|back| authorities.record_at(&told.branch, Seq(told.seq.0 - back)))
            .buffered(SIDE_BY_SIDE)
            .try_collect()
            .await?;
        // Beyond the first commit of this life of the branch, an older one's follow: not its parents.
        self.ahead.extend(before.into_iter().take_while(|record| record.incarnation == told.incarnation));
        Ok(())
    }
}
