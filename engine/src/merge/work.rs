//! A merge as the work of a publish: looked up, planned and staged against whatever head the publish finds.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared, poll_immediate, try_join_all};

use super::plan::{Plan, Sides, table_name};
use super::report::{MergeOptions, MergeOutcome, MergeReport, MergedTable};
use super::table::TableMerge;
use super::{MergeError, base, constraints, named};
use crate::branch::{BranchName, Reference};
use crate::error::{Conflict, ConflictKind, Error};
use crate::graph::{Access, ChangeInfo, CommitInfo, Core, Gate, Graph, ParentInfo};
use crate::ids::ChangeId;
use crate::publish::{Absorbed, Beginning, Evaluation, Snapshot, Work};
use crate::record::{ChangeKind, Parent, Record};

/// The source, looked up once; all who wait for it get the same answer.
type Source = Shared<BoxFuture<'static, Result<Snapshot, Error>>>;

/// A merge that was asked for.
struct MergeWork {
    core: Arc<Core>,
    from: String,
    into: String,
    reference: Reference,
    source: OnceLock<Source>,
    change: ChangeId,
}

/// What a merge tells besides its commit.
enum Told {
    /// What it did.
    Now(Merged),
    /// It took effect before; its commit says all.
    Before,
}

/// What a merge did.
struct Merged {
    outcome: MergeOutcome,
    bases: Vec<ParentInfo>,
    tables: BTreeMap<String, MergedTable>,
}

impl Graph {
    /// Merges the commit that `source` names into the branch `into`, as one commit with both as its parents; publishes nothing if the
    /// target has all that the source brings. A source that is a branch is taken as it is when the merge begins.
    ///
    /// ```
    /// # use pleach::{ChangeOptions, Error, Graph, InitOptions, MergeOptions, MergeOutcome, Params};
    /// # #[tokio::main] async fn main() -> Result<(), Error> {
    /// # let ddl = "CREATE NODE TABLE Person (id STRING PRIMARY KEY, name STRING);";
    /// # let graph = Graph::init("memory://merge-example", ddl, InitOptions::default()).await?;
    /// graph.create_branch("review", "main", ChangeOptions::default()).await?;
    /// let create = "CREATE (:Person {id: 'ada', name: 'Ada'})";
    /// graph.run("review", create, Params::new(), ChangeOptions::default()).await?;
    /// let report = graph.merge("review", "main", MergeOptions::default()).await?;
    /// assert_eq!(report.outcome, MergeOutcome::FastForward);
    /// assert_eq!(report.tables["Person"].rows, Some(1));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`MergeError::Conflicts`], with nothing written. Otherwise when there is no such commit or branch, or publishing fails.
    ///
    /// # Cancellation
    /// A dropped call is carried on to its end: the target stays as it was or takes the merge whole.
    pub async fn merge(&self, source: &str, into: &str, options: MergeOptions) -> Result<MergeReport, Error> {
        let core = self.core();
        let io = core.store().io().scope();
        let work = MergeWork {
            core: core.clone(),
            from: source.to_owned(),
            into: into.to_owned(),
            reference: source.parse()?,
            source: OnceLock::new(),
            change: ChangeId::new(core.clock().ulid()),
        };
        let (commit, told) = core.publish(into, work, &options.change).await?;
        let Merged { outcome, bases, tables } = match (told, &commit) {
            (Told::Now(merged), _) => merged,
            (Told::Before, Some(commit)) => retold(core, commit).await?,
            (Told::Before, None) => Merged::nothing(Vec::new()),
        };
        Ok(MergeReport { outcome, commit, bases, tables, io: io.finish() })
    }
}

/// Begins to look the source up, so that it goes beside the search for the target.
fn look_up(core: &Arc<Core>, reference: Reference) -> Source {
    let core = core.clone();
    let found = async move {
        let authorities = core.authorities();
        authorities.snapshot_of(authorities.resolve(&reference).await?).await
    };
    let source = found.boxed().shared();
    tokio::spawn(source.clone());
    source
}

#[async_trait]
impl Work for MergeWork {
    type Report = Told;

    async fn evaluate(&self, at: &Snapshot) -> Result<Evaluation<Told>, Error> {
        let source = self.source().await?;
        let sides = sides(&self.core, source, at.clone()).await?;
        if sides.source_is_unmoved() {
            return Ok(Evaluation::Nothing(Told::Now(Merged::nothing(named_bases(&sides)))));
        }
        let plan = if sides.is_fast_forward() { Plan::fast_forward(&sides) } else { self.planned(&sides).await? };
        let absorbed = absorb(&self.core, &sides, &plan).await?;
        Ok(Evaluation::Staged {
            tables: plan.versions(),
            reads: plan.reads(),
            kind: ChangeKind::Merge,
            change: self.change,
            counts: BTreeMap::new(),
            absorbed: Some(Box::new(absorbed)),
            report: Told::Now(Merged::of(&sides, &plan)),
        })
    }

    /// The source is not to be deleted meanwhile. That it is pinned would be enough for the merge, but not for who deletes it.
    fn gates(&self, _: &BranchName) -> Vec<(Gate, Access)> {
        vec![(Gate::branch(&self.reference.branch), Access::Shared)]
    }

    /// The search for the source is at least as long as that for the target.
    fn begin(&self) -> Beginning {
        drop(self.source());
        Beginning::Fresh
    }

    fn kind(&self) -> ChangeKind {
        ChangeKind::Merge
    }

    fn replay(&self, _: &CommitInfo, _: &ChangeInfo) -> Told {
        Told::Before
    }
}

impl MergeWork {
    /// The source; the first call begins to look it up.
    fn source(&self) -> Source {
        self.source.get_or_init(|| look_up(&self.core, self.reference.clone())).clone()
    }

    /// Plans a merge of two sides that both went on, and checks its result.
    async fn planned(&self, sides: &Sides) -> Result<Plan, Error> {
        let plan = Plan::three_way(sides).map_err(|conflicts| self.refuse(conflicts))?;
        let both = plan.both_moved().into_iter();
        let mut conflicts: Vec<Conflict> =
            both.map(|table| Conflict { kind: ConflictKind::BothChanged, table, key: None }).collect();
        conflicts.extend(constraints::check(&self.core, sides, &plan).await?);
        if conflicts.is_empty() { Ok(plan) } else { Err(self.refuse(conflicts).into()) }
    }

    fn refuse(&self, conflicts: Vec<Conflict>) -> MergeError {
        MergeError::Conflicts { from: self.from.clone(), into: self.into.clone(), conflicts }
    }
}

/// Finds the bases of both sides.
async fn sides(core: &Arc<Core>, source: Snapshot, target: Snapshot) -> Result<Sides, Error> {
    let bases = {
        let mut search = pin!(base::bases(core, &source.record, &target.record));
        // Where nothing has to be read for it, one side contains the other, and no table will be looked at.
        match poll_immediate(&mut search).await {
            Some(bases) => bases?,
            None => futures::join!(search, constraints::open_ahead(core, &source, &target)).0?,
        }
    };
    let bases = try_join_all(bases.into_iter().map(|base| core.authorities().snapshot_of(base))).await?;
    Ok(Sides { source, target, bases })
}

fn named_bases(sides: &Sides) -> Vec<ParentInfo> {
    named(&sides.bases.iter().map(|base| base.record.clone()).collect::<Vec<_>>())
}

/// What the commit takes over from the source besides table versions. May stage a chunk of the lineage.
async fn absorb(core: &Core, sides: &Sides, plan: &Plan) -> Result<Absorbed, Error> {
    let (source, target) = (&sides.source.record, &sides.target.record);
    let united = target.lineage.clone().union(&source.contained()).without(target.incarnation);
    let (lineage, chunk) = core.fold_lineage(united).await?;
    Ok(Absorbed {
        parents: vec![source.as_parent()],
        after: source.time,
        lineage,
        files: chunk.into_iter().collect(),
        schema: plan.new_schema.then(|| (plan.schema.record.schema, plan.schema.catalog.clone())),
        extensions: sides.is_fast_forward().then(|| source.extensions.clone()),
    })
}

/// What a merge that took effect before did: both its parents tell, whatever became of their branches.
async fn retold(core: &Arc<Core>, commit: &CommitInfo) -> Result<Merged, Error> {
    let [target, source] = commit.parents.as_slice() else { return Ok(Merged::nothing(Vec::new())) };
    let read = |parent: &ParentInfo| {
        let parent = Parent::try_from(parent);
        async move {
            let record: Arc<Record> = core.authorities().parent(&parent?).await?;
            core.authorities().snapshot_of(record).await
        }
    };
    let (source, target) = futures::try_join!(read(source), read(target))?;
    let sides = sides(core, source, target).await?;
    let plan = if sides.is_fast_forward() { Ok(Plan::fast_forward(&sides)) } else { Plan::three_way(&sides) };
    Ok(match plan {
        Ok(plan) => Merged::of(&sides, &plan),
        // What another version of Pleach brought together is more than this one could.
        Err(_) => Merged { outcome: MergeOutcome::Merged, bases: named_bases(&sides), tables: BTreeMap::new() },
    })
}

impl Merged {
    fn nothing(bases: Vec<ParentInfo>) -> Self {
        Self { outcome: MergeOutcome::UpToDate, bases, tables: BTreeMap::new() }
    }

    fn of(sides: &Sides, plan: &Plan) -> Self {
        let changed = plan.tables.iter().filter_map(|(id, merge)| {
            let before = sides.target.table_version(*id);
            let TableMerge::TakeSource(version) = merge else { return None };
            let catalog = if version.is_some() { plan.catalog() } else { &sides.target.catalog };
            let rows = (before.map(|before| before.rows), version.as_ref().map(|version| version.rows));
            let table = MergedTable { rows_before: rows.0, rows: rows.1 };
            (before != version.as_ref()).then(|| (table_name(catalog, *id), table))
        });
        Self {
            outcome: if sides.is_fast_forward() { MergeOutcome::FastForward } else { MergeOutcome::Merged },
            bases: named_bases(sides),
            tables: changed.collect(),
        }
    }
}
