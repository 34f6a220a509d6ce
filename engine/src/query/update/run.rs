//! Running a statement that may change a branch.

use std::collections::BTreeMap;

use crate::branch::BranchName;
use crate::error::Error;
use crate::graph::{ChangeOptions, CommitInfo, Graph, TableCounts};
use crate::ids::ChangeId;
use crate::lane::Answer;
use crate::query::{CypherValue, Params, QueryError};
use crate::store::IoStats;
use crate::syntax::{ClauseKind, Problem, Statement, parse_statement};
use crate::write::EdgeIds;

use super::work::{Returned, UpdateWork};

/// What a statement did.
#[derive(Debug, Clone, Default)]
pub struct RunReport {
    /// `None`: nothing changed, nothing was published.
    pub commit: Option<CommitInfo>,
    /// Which change of the commit it is, counted from 0: statements that came at the same time may share a commit.
    pub change: usize,
    /// What happened to each table, by its name; tables that nothing happened to are left out.
    pub tables: BTreeMap<String, TableCounts>,
    /// The names of what the statement returns; none without `RETURN`.
    pub columns: Vec<String>,
    /// What the statement returns: one value for each column.
    pub rows: Vec<Vec<CypherValue>>,
    /// The request id had taken effect before. Commit and tables are those of then; rows are not kept, and so there are none.
    pub repeated: bool,
    /// What the statement asks although nothing can come of it; see [`QueryRows::warnings`](crate::QueryRows::warnings).
    pub warnings: Vec<Problem>,
    /// Requests that the graph made from its beginning to its end; those of other calls at the same time are among them.
    pub io: IoStats,
}

impl Graph {
    /// Does one statement as one change of `branch`; a statement that changes nothing publishes nothing, and one that only reads is
    /// a query of the branch's head.
    ///
    /// All of it sees the head as it was before: first everything is read, then the updating clauses take effect one after another, each
    /// for all rows in their order. What it does is judged by all rules of the schema as a whole. If somebody else publishes a change to
    /// what it depends on, it is done anew on the new head. Its rows are held in memory.
    ///
    /// ```
    /// # use pleach::{ChangeOptions, Error, Graph, InitOptions, Params};
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), Error> {
    /// # let ddl = "CREATE NODE TABLE Person (id STRING PRIMARY KEY, visits INT64 DEFAULT 0);";
    /// # let graph = Graph::init("memory://run-example", ddl, InitOptions::default()).await?;
    /// let visit = "MERGE (p:Person {id: $id}) SET p.visits = p.visits + 1 RETURN p.visits AS visits";
    /// let report = graph.run("main", visit, Params::new().with("id", "ada"), ChangeOptions::default()).await?;
    /// assert_eq!(report.rows, [[1.into()]]);
    /// assert_eq!(report.tables["Person"].inserted, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`QueryError::Refused`] if the statement is wrong, with all that was found in it; [`QueryError::Failed`] if an expression has no value
    /// for some row; [`UpdateError::Refused`](crate::UpdateError::Refused) if the result would break rules, with all violations. Otherwise
    /// if publishing fails. In each case nothing was written.
    ///
    /// # Cancellation
    /// A call that is dropped before its turn comes does nothing. Afterwards it is carried on to its end.
    pub async fn run(
        &self,
        branch: &str,
        statement: &str,
        params: Params,
        options: ChangeOptions,
    ) -> Result<RunReport, Error> {
        let core = self.core();
        let io = core.store().io().scope();
        let parsed = parse_statement(statement).map_err(|findings| QueryError::refused(statement, findings))?;
        let mut report = if updates(&parsed) && !parsed.explain {
            let place = core.admission().write(statement.len() as u64)?;
            let work = UpdateWork {
                core: core.clone(),
                text: statement.to_owned(),
                parsed,
                params,
                now: core.clock().now(),
                seed: core.clock().random_u128(),
                change: ChangeId::new(core.clock().ulid()),
                edge_ids: EdgeIds::new(core.clock().ulid()),
            };
            let Answer { commit, change, report: done } = core.coalesce(branch, work, &options, place).await?;
            let repeated = done.returned.is_none();
            let Returned { columns, rows } = done.returned.unwrap_or_default();
            let (tables, warnings) = (done.tables, done.warnings);
            RunReport { commit, change, tables, columns, rows, repeated, warnings, io: IoStats::default() }
        } else {
            self.read(branch, statement, params, &options).await?
        };
        report.io = io.finish();
        Ok(report)
    }

    /// Runs a statement that only reads.
    async fn read(
        &self,
        branch: &str,
        statement: &str,
        params: Params,
        options: &ChangeOptions,
    ) -> Result<RunReport, Error> {
        // A branch, as for all other statements, and not any reference.
        let name = BranchName::parse(branch)?;
        let reference = if options.if_head.is_some() {
            let head = self.core().snapshot(name.as_str()).await?;
            self.core().expect_head(&head.record, options).await?;
            head.reference()
        } else {
            name.as_str().to_owned()
        };
        let found = self.query(&reference, statement, params).await?;
        let columns = found.columns().iter().map(|column| column.name.clone()).collect();
        let warnings = found.warnings().to_vec();
        Ok(RunReport { columns, warnings, rows: found.collect_rows().await?, ..RunReport::default() })
    }
}

/// Whether a statement has clauses that change something.
fn updates(statement: &Statement) -> bool {
    let queries = std::iter::once(&statement.head).chain(statement.unions.iter().map(|union| &union.query));
    queries.flat_map(|query| &query.clauses).any(|clause| match clause.kind {
        ClauseKind::Create(_) | ClauseKind::Merge { .. } | ClauseKind::Set(_) | ClauseKind::Delete { .. } => true,
        ClauseKind::Match { .. } | ClauseKind::Unwind { .. } | ClauseKind::With { .. } | ClauseKind::Return(_) => false,
    })
}
