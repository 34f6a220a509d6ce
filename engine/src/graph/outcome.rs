//! What became of a request whose answer was lost.

use super::{CommitInfo, Graph};
use crate::branch::BranchName;
use crate::error::Error;
use crate::record::RequestHash;

/// A request that took effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestOutcome {
    /// The commit that carries it.
    pub commit: CommitInfo,
    /// Which change of the commit it is, counted from 0.
    pub change: usize,
}

impl Graph {
    /// What became of the request with this id on `branch`; `None` if it did not take effect, or so long ago that it is forgotten.
    ///
    /// A branch remembers its last 4,096 requests with an id, fewer where its graph has hundreds of tables; it goes on remembering them when it is deleted and
    /// created again. A request whose outcome is unknown may still take effect for as long as the store takes to answer: `None` is final only
    /// once the process that sent it has ended, or was told.
    ///
    /// ```
    /// # use pleach::{ChangeOptions, Error, Graph, InitOptions, Write};
    /// # #[tokio::main] async fn main() -> Result<(), Error> {
    /// # let ddl = "CREATE NODE TABLE Person (id STRING PRIMARY KEY, name STRING);";
    /// # let graph = Graph::init("memory://outcome-example", ddl, InitOptions::default()).await?;
    /// let ada = r#"{"table":"Person","data":{"id":"ada","name":"Ada"}}"#;
    /// let change = ChangeOptions { request_id: Some("ada-1".into()), ..ChangeOptions::default() };
    /// graph.write("main", Write::new().insert_json(ada), change).await?;
    /// let outcome = graph.outcome("main", "ada-1").await?.expect("it took effect");
    /// assert_eq!((outcome.commit.reference(), outcome.change), ("main@1".to_owned(), 0));
    /// assert!(graph.outcome("main", "ada-2").await?.is_none());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When the name was never used, the store does not answer, or the log is damaged.
    pub async fn outcome(&self, branch: &str, request_id: &str) -> Result<Option<RequestOutcome>, Error> {
        let (core, name) = (self.core(), BranchName::parse(branch)?);
        let authorities = core.authorities();
        let Some(head) = authorities.fresh(&name).await? else { return Err(authorities.unknown(&name).await) };
        let Some((seq, change)) = core.place_of(RequestHash::of(request_id), &head, None).await? else {
            return Ok(None);
        };
        let record = if seq == head.seq { head } else { authorities.record_at(&name, seq).await? };
        // What is told must outlive this process.
        authorities.log(&name).sync().await?;
        let commit = core.commit_info(&record).await?;
        Ok(Some(RequestOutcome { commit, change: change as usize }))
    }
}
