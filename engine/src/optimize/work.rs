//! An optimize as the work of a publish: opened, planned and staged against whatever head the publish finds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use futures::{StreamExt as _, stream};
use tokio::sync::Semaphore;

use super::report::{OptimizeOptions, OptimizeReport, OptimizedTable};
use crate::branch::BranchName;
use crate::error::Error;
use crate::graph::{Access, ChangeInfo, CommitInfo, Core, Gate, Graph, ParentInfo};
use crate::ids::{ChangeId, TableId};
use crate::publish::{Evaluation, Fingerprint, Fingerprinter, Snapshot, Work};
use crate::read::ReadError;
use crate::record::ChangeKind;
use crate::schema::{Catalog, TableDef};
use crate::syntax::nearest;
use crate::table::StagedVersion;
use crate::write::violation::shorten;

/// Tables that are looked at side by side.
const SIDE_BY_SIDE: usize = 256;

/// KiB of data files that are being rewritten at once, all tables together: so many small tables go side by side, and few large ones.
const AT_ONCE: u32 = 256 << 10;

/// What a table counts at most: 64 MiB of it are read at once, whatever its size, and its rows are larger in memory.
const MOST_OF_ONE: u32 = AT_ONCE / 2;

/// What was done to each table, by name.
type Tables = BTreeMap<String, OptimizedTable>;

/// What an optimize tells besides its commit.
enum Told {
    /// What it did.
    Now(Tables),
    /// It took effect before; its commit says all.
    Before,
}

/// An optimize that was asked for.
struct OptimizeWork {
    core: Arc<Core>,
    tables: Vec<String>,
    /// The ids of these tables, as they were when the request came.
    gates: Vec<TableId>,
    change: ChangeId,
}

impl Graph {
    /// Rewrites the tables of `branch` that are in many small files, or of which many rows are gone, into few large files, as one commit;
    /// publishes nothing if there is nothing to be gained. What the tables say stays the same, and so does the outcome of every merge.
    ///
    /// ```
    /// # use pleach::{ChangeOptions, Error, Graph, InitOptions, OptimizeOptions, Write};
    /// # #[tokio::main] async fn main() -> Result<(), Error> {
    /// # let ddl = "CREATE NODE TABLE Person (id STRING PRIMARY KEY, name STRING);";
    /// # let graph = Graph::init("memory://optimize-example", ddl, InitOptions::default()).await?;
    /// for row in [r#"{"id":"ada","name":"Ada"}"#, r#"{"id":"al","name":"Al"}"#] {
    ///     let write = Write::new().insert_json(format!(r#"{{"table":"Person","data":{row}}}"#));
    ///     graph.write("main", write, ChangeOptions::default()).await?;
    /// }
    /// let report = graph.optimize("main", OptimizeOptions::default()).await?;
    /// let person = &report.tables["Person"];
    /// assert_eq!((person.fragments_before, person.fragments, person.rows), (2, 1, 2));
    /// assert!(graph.optimize("main", OptimizeOptions::default()).await?.commit.is_none());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When there is no such branch or table, a table cannot be read, or publishing fails.
    ///
    /// # Cancellation
    /// A dropped call is carried on to its end: the branch stays as it was or has the optimized tables, all of them.
    pub async fn optimize(&self, branch: &str, options: OptimizeOptions) -> Result<OptimizeReport, Error> {
        let core = self.core();
        let io = core.store().io().scope();
        let OptimizeOptions { tables, change } = options;
        let gates = known(core, &BranchName::parse(branch)?, &tables).await?;
        let work = OptimizeWork { core: core.clone(), tables, gates, change: ChangeId::new(core.clock().ulid()) };
        let (commit, told) = core.publish(branch, work, &change).await?;
        let repeated = matches!(told, Told::Before);
        let tables = match (told, &commit) {
            (Told::Now(tables), _) => tables,
            (Told::Before, Some(commit)) => retold(core, commit).await?,
            (Told::Before, None) => Tables::new(),
        };
        Ok(OptimizeReport { commit, repeated, tables, io: io.finish() })
    }
}

#[async_trait]
impl Work for OptimizeWork {
    type Report = Told;

    async fn evaluate(&self, at: &Snapshot) -> Result<Evaluation<Told>, Error> {
        if let Some(unknown) = self.tables.iter().find(|name| at.catalog.table(name).is_none()) {
            let like = nearest(unknown, at.catalog.tables.iter().map(|table| table.name.as_str())).map(str::to_owned);
            return Err(ReadError::NoSuchTable { reference: at.reference(), table: shorten(unknown), like }.into());
        }
        let (versions, told) = self.compact_all(at).await?;
        if versions.is_empty() {
            return Ok(Evaluation::Nothing(Told::Now(told)));
        }
        Ok(Evaluation::Staged {
            tables: versions,
            // Rows stay as they are, so no rule ties a table to another.
            reads: BTreeSet::new(),
            kind: ChangeKind::Optimize,
            change: self.change,
            counts: BTreeMap::new(),
            absorbed: None,
            report: Told::Now(told),
        })
    }

    /// What is written to a table beside it makes it begin anew, and it has much to write.
    fn gates(&self, target: &BranchName) -> Vec<(Gate, Access)> {
        self.gates.iter().map(|table| (Gate::table(target, *table), Access::Alone)).collect()
    }

    fn kind(&self) -> ChangeKind {
        ChangeKind::Optimize
    }

    fn asks(&self) -> Option<Fingerprint> {
        let print = Fingerprinter::new("optimize");
        Some(self.tables.iter().fold(print, |print, table| print.with(table.as_bytes())).finish())
    }

    fn replay(&self, _: &CommitInfo, _: &ChangeInfo) -> Told {
        Told::Before
    }
}

impl OptimizeWork {
    /// Stages all tables that gain by it, side by side; if one fails, the others' files are let go of.
    async fn compact_all(&self, at: &Snapshot) -> Result<(Vec<StagedVersion>, Tables), Error> {
        let memory = Arc::new(Semaphore::new(AT_ONCE as usize));
        let tables: Vec<TableDef> = wanted(&at.catalog, &self.tables).cloned().collect();
        let compacting = tables.into_iter().map(|table| {
            let (core, at, memory) = (self.core.clone(), at.clone(), memory.clone());
            async move { compact(&core, &at, table, &memory).await }
        });
        let outcomes: Vec<_> = stream::iter(compacting).buffer_unordered(SIDE_BY_SIDE).collect().await;
        let outcomes = outcomes.into_iter().filter_map(Result::transpose);
        let staged = self.core.store().staging().all_or_none(outcomes, |(_, staged, _)| &staged.files)?;
        Ok(staged.into_iter().map(|(name, staged, made)| (staged, (name, made))).unzip())
    }
}

/// Stages a compacted version of one table; none if it has nothing to gain.
async fn compact(
    core: &Core,
    at: &Snapshot,
    table: TableDef,
    memory: &Semaphore,
) -> Result<Option<(String, StagedVersion, OptimizedTable)>, Error> {
    if at.table_version(table.id).is_some_and(|version| version.rows == 0) {
        return Ok(None);
    }
    let open = core.open_table(at, &table).await?;
    let Some(plan) = open.plan_compaction()? else { return Ok(None) };
    let share = u32::try_from(plan.bytes >> 10).unwrap_or(MOST_OF_ONE).clamp(1, MOST_OF_ONE);
    // A closed semaphore does not happen; the table would go without its share.
    let _share = memory.acquire_many(share).await.ok();
    let staged = open.compact(&plan).await?;
    // Just written, so it is at hand.
    let made = open.compaction_to(&core.open_version(&core.layout(at, &table), &staged.version).await?);
    Ok(Some((table.name, staged, made.into())))
}

/// The tables of these names, or all.
fn wanted<'a>(catalog: &'a Catalog, names: &'a [String]) -> impl Iterator<Item = &'a TableDef> {
    catalog.tables.iter().filter(move |table| names.is_empty() || names.contains(&table.name))
}

/// The tables of these names as far as they are known without asking the store more than needs be: good enough for gates, which only
/// save work. What is not there is refused later, by the head that the request meets.
async fn known(core: &Core, branch: &BranchName, names: &[String]) -> Result<Vec<TableId>, Error> {
    let head = core.authorities().capture(branch).await?.head;
    let Some(head) = head.filter(|head| !head.deleted) else { return Ok(Vec::new()) };
    let at = core.authorities().snapshot_of(head).await?;
    Ok(wanted(&at.catalog, names).map(|table| table.id).collect())
}

/// What an optimize that took effect before did: its commit and the one before it tell.
async fn retold(core: &Core, commit: &CommitInfo) -> Result<Tables, Error> {
    let Some(before) = commit.parents.first() else { return Ok(Tables::new()) };
    let own = ParentInfo::from(commit);
    let (before, after) = futures::try_join!(core.snapshot_of_told(before), core.snapshot_of_told(&own))?;
    let changed = |table: &&TableDef| before.table_version(table.id) != after.table_version(table.id);
    let telling = after.catalog.tables.iter().filter(changed).map(|table| {
        let (before, after) = (&before, &after);
        async move {
            let (was, is) = futures::try_join!(core.open_table(before, table), core.open_table(after, table))?;
            Ok::<_, Error>((table.name.clone(), was.compaction_to(&is).into()))
        }
    });
    Ok(futures::future::try_join_all(telling).await?.into_iter().collect())
}
