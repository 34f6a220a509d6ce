//! Loading: an input of any size becomes one commit.

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;
use std::sync::Arc;

use arrow_array::RecordBatch;
use async_trait::async_trait;

use crate::branch::BranchName;
use crate::error::Error;
use crate::graph::{Access, ChangeInfo, ChangeOptions, CommitInfo, Core, Gate, Graph, TableCounts};
use crate::ids::ChangeId;
use crate::lane::{Answer, Coalesce, Drafted, Undone, Weight};
use crate::publish::{Evaluation, Fingerprint, Fingerprinter, Snapshot, Work};
use crate::record::ChangeKind;
use crate::schema::SchemaHash;
use crate::store::IoStats;
use crate::write::evaluate::evaluate;
use crate::write::facts::What;
use crate::write::footprint::Footprint;
use crate::write::hashed::Hashed;
use crate::write::input::{Input, InputBuilder, read_lines};
use crate::write::jsonl::EdgeIds;
use crate::write::shape::Shapes;
use crate::write::spool::Spooled;
use crate::write::{Counts, Outcome, WriteError};

/// How a load treats rows whose key exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LoadMode {
    /// Refuses them.
    #[default]
    Append,
    /// Replaces them; of several lines with one key the last counts.
    Upsert,
    /// The tables that the input names lose all their former rows first.
    Overwrite,
}

impl LoadMode {
    /// What sets the requests of one mode apart from those of another.
    const fn form(self) -> &'static str {
        match self {
            Self::Append => "load append",
            Self::Upsert => "load upsert",
            Self::Overwrite => "load overwrite",
        }
    }
}

/// What a load did. `read = inserted + updated + unchanged + duplicates` per table.
#[derive(Debug, Clone, Default)]
pub struct LoadReport {
    /// `None`: nothing changed, nothing was published.
    pub commit: Option<CommitInfo>,
    /// Which change of the commit it is, counted from 0: small loads that came at the same time may share a commit.
    pub change: usize,
    /// By table name; tables that nothing was read for and nothing happened to are left out.
    pub tables: BTreeMap<String, TableCounts>,
    /// The request id had taken effect before; commit and tables are those of then.
    pub repeated: bool,
    /// Requests that the graph made from its beginning to its end; those of other calls at the same time are among them.
    pub io: IoStats,
}

/// Progress of a load: called from time to time with the bytes and lines read so far.
pub type Progress<'a> = &'a (dyn Fn(u64, u64) + Send + Sync);

/// A load whose input has been read.
struct LoadWork {
    core: Arc<Core>,
    branch: String,
    schema: SchemaHash,
    input: Arc<Input>,
    asks: Option<Fingerprint>,
}

#[async_trait]
impl Work for LoadWork {
    type Report = Outcome;

    async fn evaluate(&self, at: &Snapshot) -> Result<Evaluation<Outcome>, Error> {
        self.expect_schema(at)?;
        Ok(evaluate(&self.core, at, &self.input, ChangeKind::Load).await?.map(Outcome::now))
    }

    /// Two loads into one table would both write all their rows, and one of them for nothing.
    fn gates(&self, target: &BranchName) -> Vec<(Gate, Access)> {
        let touched = self.input.touched.iter().filter_map(|table| self.input.shapes.tables.get(*table));
        touched.map(|shape| (Gate::table(target, shape.table_id()), Access::Alone)).collect()
    }

    fn kind(&self) -> ChangeKind {
        ChangeKind::Load
    }

    fn asks(&self) -> Option<Fingerprint> {
        self.asks
    }

    fn replay(&self, _: &CommitInfo, change: &ChangeInfo) -> Outcome {
        Outcome::before(change)
    }
}

/// A load that is no more than what shares commits with others.
#[async_trait]
impl Coalesce for LoadWork {
    type Draft = ();
    type Report = Outcome;

    fn weight(&self) -> Weight {
        let batches = self.input.rows.values().filter_map(|rows| match rows {
            Spooled::Memory(batches) => Some(batches),
            Spooled::File { .. } => None,
        });
        let bytes: usize = batches.flatten().map(RecordBatch::get_array_memory_size).sum();
        let rows = self.input.read.values().sum::<u64>() + self.input.violations.untyped;
        Weight { rows, bytes: bytes as u64 }
    }

    async fn draft(&self, at: &Snapshot, _: &Arc<Shapes>) -> Result<Drafted<()>, Undone> {
        self.expect_schema(at).map_err(Undone::by_schema)?;
        let input = self.input.clone();
        Ok(Drafted { input, touched: Footprint::default(), reads: BTreeSet::new(), draft: () })
    }

    fn report(&self, (): (), counts: Counts) -> Outcome {
        Outcome::now(counts)
    }

    fn kind(&self) -> ChangeKind {
        ChangeKind::Load
    }

    fn asks(&self) -> Option<Fingerprint> {
        self.asks
    }

    fn replay(&self, _: &CommitInfo, change: &ChangeInfo) -> Outcome {
        Outcome::before(change)
    }
}

impl LoadWork {
    fn expect_schema(&self, at: &Snapshot) -> Result<(), WriteError> {
        if at.record.schema == self.schema {
            return Ok(());
        }
        let source_name = self.input.source.to_string();
        Err(WriteError::SchemaChanged { branch: self.branch.clone(), source_name })
    }

    /// Whether it may share a commit: it is small, and takes no rows away that it does not name.
    fn is_small(&self) -> bool {
        let in_memory = self.input.rows.values().all(|rows| matches!(rows, Spooled::Memory(_)));
        in_memory && self.input.overwrite.is_empty() && self.core.settings().lane.admit(Coalesce::weight(self))
    }
}

impl Graph {
    /// Reads JSON Lines to the end and publishes them as one commit; an input that changes nothing publishes nothing. `source` names the
    /// input in errors.
    ///
    /// Memory is bounded whatever the size of the input: rows beyond 16 MiB and what is to be checked about them beyond 96 MiB go
    /// to temporary files.
    ///
    /// ```
    /// # use pleach::{ChangeOptions, Error, Graph, InitOptions, LoadMode};
    /// # #[tokio::main] async fn main() -> Result<(), Error> {
    /// # let ddl = "CREATE NODE TABLE Person (id STRING PRIMARY KEY, name STRING);";
    /// # let graph = Graph::init("memory://load-example", ddl, InitOptions::default()).await?;
    /// let rows = std::io::Cursor::new(r#"{"table":"Person","data":{"id":"ada","name":"Ada"}}"#);
    /// let change = ChangeOptions { message: "first people".into(), ..ChangeOptions::default() };
    /// let report = graph.load("main", "people.jsonl", rows, LoadMode::Append, change, &|_, _| ()).await?;
    /// assert_eq!(report.tables["Person"].inserted, 1);
    /// # Ok(()) }
    /// ```
    ///
    /// An input that is sent again with the request id of a load that took effect is compared with what was loaded then, byte by byte.
    ///
    /// # Errors
    /// [`WriteError::Refused`] if lines are not rows of the schema or the result would break a rule: all violations are counted, the first
    /// are told, nothing is written. Otherwise if the input cannot be read, or publishing fails.
    ///
    /// # Cancellation
    /// Before the whole input is read, dropping the future stops the load. Afterwards it may still be published.
    pub async fn load(
        &self,
        branch: &str,
        source: &str,
        input: impl BufRead + Send + 'static,
        mode: LoadMode,
        options: ChangeOptions,
        progress: Progress<'_>,
    ) -> Result<LoadReport, Error> {
        let core = self.core();
        let io = core.store().io().scope();
        let place = core.admission().write(0)?;
        let at = core.snapshot(branch).await?;
        let shapes = Arc::new(Shapes::new(&at.catalog, |table| core.layout(&at, table))?);
        let change = ChangeId::new(core.clock().ulid());
        let ids = EdgeIds::new(core.clock().ulid());
        let source: Arc<str> = source.into();
        let builder = InputBuilder::new(shapes, source.clone(), change);
        // What would be recorded without a request id is of no use.
        let hashed = Hashed::new(input, options.request_id.is_some().then(|| Fingerprinter::new(mode.form())));
        let (input, asks) = read_aside(builder, hashed, mode, ids, progress).await.map_err(|error| match error {
            Aside::Write(error) => error,
            Aside::Died(reason) => WriteError::BrokenOff { source_name: source.to_string(), reason },
        })?;
        let input = Arc::new(input);
        let work = LoadWork { core: core.clone(), branch: branch.to_owned(), schema: at.record.schema, input, asks };
        let (commit, change, Outcome { tables, repeated }) = if work.is_small() {
            let Answer { commit, change, report } = core.coalesce(branch, work, &options, place).await?;
            (commit, change, report)
        } else {
            let (commit, report) = core.publish(branch, work, &options).await?;
            (commit, 0, report)
        };
        Ok(LoadReport { commit, change, tables, repeated, io: io.finish() })
    }
}

enum Aside {
    Write(WriteError),
    Died(String),
}

/// Reads the input on a thread that may block, and tells of the progress here.
async fn read_aside(
    mut builder: InputBuilder,
    mut input: Hashed<impl BufRead + Send + 'static>,
    mode: LoadMode,
    ids: EdgeIds,
    progress: Progress<'_>,
) -> Result<(Input, Option<Fingerprint>), Aside> {
    let (sender, mut receiver) = tokio::sync::watch::channel((0, 0));
    let what = if mode == LoadMode::Upsert { What::Upsert } else { What::Insert };
    let reading = tokio::task::spawn_blocking(move || {
        // Nobody listens any more when the load was dropped.
        read_lines(&mut builder, &mut input, what, ids, |bytes, lines| sender.send((bytes, lines)).is_ok())?;
        Ok((builder.finish(mode == LoadMode::Overwrite)?, input.finish()))
    });
    while receiver.changed().await.is_ok() {
        let (bytes, lines) = *receiver.borrow_and_update();
        progress(bytes, lines);
    }
    reading.await.map_err(|e| Aside::Died(e.to_string()))?.map_err(Aside::Write)
}
