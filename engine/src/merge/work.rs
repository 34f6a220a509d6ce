//! A merge as the work of a publish: looked up, judged and staged against whatever head the publish finds.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use futures::FutureExt as _;
use object_store::path::Path;

use super::MergeError;
use super::answers::{Answers, check_answers};
use super::ends::Tables;
use super::judge::{Judgement, judge};
use super::laps::Laps;
use super::plan::{Plan, Sides};
use super::report::{MergeOptions, MergeReport, Resolution, Strategy};
use super::schema_answers::SchemaAnswers;
use super::schemas::Schemas;
use super::sides::{Source, look_up, named_bases, sides};
use super::stage::{StagedTable, StagedTables, stage};
use super::told::{Merged, Told, again};
use crate::admission::MergePlace;
use crate::branch::{At, BranchError, BranchName, Catalogs, Reference};
use crate::error::{Conflict, Error};
use crate::graph::{Access, ChangeInfo, ChangeOptions, CommitInfo, Core, Gate, Graph, ParentInfo};
use crate::ids::ChangeId;
use crate::publish::{Absorbed, Beginning, Evaluation, Fingerprint, Fingerprinter, Snapshot, Work};
use crate::record::ChangeKind;
use crate::schema::Catalog;
use crate::write::shape::Shapes;

/// A merge that was asked for.
struct MergeWork {
    core: Arc<Core>,
    from: String,
    into: String,
    reference: Reference,
    source: OnceLock<Source>,
    change: ChangeId,
    strategies: Vec<Strategy>,
    resolutions: Vec<Resolution>,
    squash: bool,
    /// The commit that has to be the head of its branch still.
    unmoved: Option<ParentInfo>,
    laps: Arc<Laps>,
    /// It is one of those that run.
    _place: MergePlace,
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
    /// [`MergeError::Conflicts`], with nothing written. Otherwise when there is no such commit or branch, a strategy or resolution does not
    /// fit, or publishing fails.
    ///
    /// # Cancellation
    /// A call that is dropped while it waits for others to end ([`GraphBuilder::most_merges`](crate::GraphBuilder::most_merges)) does nothing.
    /// Afterwards it is carried on to its end: the target stays as it was or takes the merge whole.
    pub async fn merge(&self, source: &str, into: &str, options: MergeOptions) -> Result<MergeReport, Error> {
        if options.delete_source {
            may_be_deleted(source, into)?;
        }
        self.merge_if(source, into, options, None).await
    }

    /// The same, if a commit is the head of its branch still. Whether the source may be deleted has been asked before.
    pub(super) async fn merge_if(
        &self,
        source: &str,
        into: &str,
        options: MergeOptions,
        unmoved: Option<ParentInfo>,
    ) -> Result<MergeReport, Error> {
        let core = self.core();
        let io = core.store().io().scope();
        let laps = Arc::new(Laps::begin(core.clock()));
        let place = core.admission().merge().await?;
        let MergeOptions { change, strategies, resolutions, squash, delete_source } = options;
        let reference: Reference = source.parse()?;
        let branch = reference.branch.clone();
        let work = MergeWork {
            core: core.clone(),
            from: source.to_owned(),
            into: into.to_owned(),
            reference,
            source: OnceLock::new(),
            change: ChangeId::new(core.clock().ulid()),
            strategies,
            resolutions,
            squash,
            unmoved,
            laps: laps.clone(),
            _place: place,
        };
        let (commit, told) = core.publish(into, work, &change).await?;
        laps.lap(|timings| &mut timings.published);
        let repeated = matches!(told, Told::Before);
        let Merged { outcome, source, bases, tables } = match (told, &commit) {
            (Told::Now(merged), _) => merged,
            (Told::Before, Some(commit)) => again(core, commit).await?,
            (Told::Before, None) => Merged::nothing(None, Vec::new()),
        };
        let source_deleted =
            if delete_source { Some(self.delete_merged(&branch, source, &change).await) } else { None };
        let (io, timings) = (io.finish(), laps.timings());
        Ok(MergeReport { outcome, commit, repeated, bases, tables, source_deleted, io, timings })
    }

    /// Deletes a branch of which `merged` was merged, if that is its head still, whatever it was when it was asked for. The merge has taken effect, so whatever stands in the way is
    /// no failure of it.
    async fn delete_merged(&self, branch: &BranchName, merged: Option<ParentInfo>, change: &ChangeOptions) -> bool {
        let Some(merged) = merged else { return false };
        let options = ChangeOptions { if_head: Some(merged.by_id()), request_id: None, ..change.clone() };
        match self.delete_branch(branch.as_str(), options).await {
            Ok(_) => true,
            Err(error) if error.code() == "branch-deleted" => true,
            Err(error) => {
                tracing::warn!(%branch, %error, "the source of a merge was not deleted");
                false
            }
        }
    }
}

/// Refuses to delete a source that is no branch, is `main`, or is what it is merged into.
///
/// # Errors
/// If so.
pub(super) fn may_be_deleted(source: &str, into: &str) -> Result<(), Error> {
    let reference: Reference = source.parse()?;
    if !names_a_branch(&reference) {
        return Err(MergeError::SourceNotABranch { source_name: source.to_owned() }.into());
    }
    if reference.branch.is_main() {
        return Err(BranchError::MainIsPermanent.into());
    }
    if reference.branch == BranchName::parse(into)? {
        return Err(MergeError::SourceIsTarget { branch: into.to_owned() }.into());
    }
    Ok(())
}

/// Whether a reference means whatever a branch's head is.
pub(super) fn names_a_branch(reference: &Reference) -> bool {
    reference.back == 0 && reference.at == At::Head
}

#[async_trait]
impl Work for MergeWork {
    type Report = Told;

    async fn evaluate(&self, at: &Snapshot) -> Result<Evaluation<Told>, Error> {
        let source = self.source().await?;
        let sides = sides(&self.core, source, at.clone()).boxed();
        let (sides, ()) = futures::try_join!(sides, self.expect_unmoved().boxed())?;
        self.laps.lap(|timings| &mut timings.captured);
        if sides.source_is_unmoved() {
            check_answers(&self.core, at, &self.strategies, &self.resolutions)?;
            let nothing = Merged::nothing(Some(sides.source.named()), named_bases(&sides));
            return Ok(Evaluation::Nothing(Told::Now(nothing)));
        }
        let of_schema = SchemaAnswers::new(&self.strategies, &self.resolutions);
        let plan = if sides.is_fast_forward() {
            of_schema.all_used()?;
            Plan::fast_forward(&sides)
        } else {
            let schemas = Schemas::merge(&self.core, &sides, &of_schema).boxed().await?;
            Plan::three_way(&sides, schemas.map_err(|conflicts| self.refuse(conflicts))?)
        };
        let shapes = Arc::new(plan_shapes(&self.core, &plan)?);
        let both: [&Catalog; 2] = [&sides.source.catalog, &sides.target.catalog];
        let answers = Answers::read(&shapes, &both, &self.strategies, &self.resolutions)?;
        let judged = if sides.is_fast_forward() {
            answers.all_used()?;
            Judgement { tables: Tables::new(), conflicts: Vec::new() }
        } else {
            judge(&self.core, &sides, &plan, &shapes, answers, false).boxed().await?
        };
        if !judged.conflicts.is_empty() {
            return Err(self.refuse(judged.conflicts).into());
        }
        self.laps.lap(|timings| &mut timings.planned);
        let staging = stage(&self.core, &sides, &plan, &shapes, &judged.tables, self.change).boxed();
        let (staged, lineage) = futures::join!(staging, absorb(&self.core, &sides, &plan, self.squash).boxed());
        let (staged, mut absorbed) = match (staged, lineage) {
            (Ok(staged), Ok(absorbed)) => (staged, absorbed),
            (Err(error), lineage) => {
                self.let_go(lineage.iter().flat_map(|absorbed| &absorbed.files));
                return Err(error);
            }
            (Ok(staged), Err(error)) => {
                self.let_go(staged.values().flat_map(StagedTable::files));
                return Err(error);
            }
        };
        self.laps.lap(|timings| &mut timings.staged);
        absorbed.merged = staged.iter().filter_map(|(id, table)| Some((*id, table.counts?))).collect();
        let report = Told::Now(Merged::of(&sides, &plan, &staged));
        let compared = judged.tables.values().map(|cases| cases.table);
        let reads = plan.reads(&sides).into_iter().chain(compared).collect();
        Ok(Evaluation::Staged {
            tables: versions(staged),
            reads,
            kind: ChangeKind::Merge,
            change: self.change,
            counts: BTreeMap::new(),
            absorbed: Some(Box::new(absorbed)),
            report,
        })
    }

    /// The source is not to be deleted meanwhile. That it is pinned would be enough for the merge, but not for who deletes it.
    fn gates(&self, _: &BranchName) -> Vec<(Gate, Access)> {
        vec![(Gate::branch(&self.reference.branch), Access::Shared)]
    }

    /// The search for the source is at least as long as that for the target.
    fn begin(&self) -> Beginning {
        self.laps.lap(|timings| &mut timings.queued);
        drop(self.source());
        Beginning::Fresh
    }

    fn kind(&self) -> ChangeKind {
        ChangeKind::Merge
    }

    /// The source as it was named: another commit of the same branch is the same request, made again.
    fn asks(&self) -> Option<Fingerprint> {
        let text = format!("{:?} {:?} {}", self.strategies, self.resolutions, self.squash);
        Some(Fingerprinter::new("merge").with(self.from.as_bytes()).with(text.as_bytes()).finish())
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

    /// Refuses a source that has gone on.
    async fn expect_unmoved(&self) -> Result<(), Error> {
        let Some(planned) = &self.unmoved else { return Ok(()) };
        let branch = BranchName::stored(&planned.branch)?;
        let authorities = self.core.authorities();
        let head = authorities.living(&branch, authorities.fresh(&branch).await?).await?;
        if head.commit == planned.id {
            return Ok(());
        }
        let (planned, head) = (planned.reference(), format!("{branch}@{}", head.seq));
        Err(MergeError::SourceMoved { branch: branch.to_string(), planned, head }.into())
    }

    /// Lets go of files that will not be published.
    fn let_go<'a>(&self, files: impl Iterator<Item = &'a Path>) {
        self.core.store().staging().release(&files.cloned().collect::<Vec<_>>());
    }

    fn refuse(&self, conflicts: Vec<Conflict>) -> MergeError {
        MergeError::Conflicts { from: self.from.clone(), into: self.into.clone(), conflicts }
    }
}

/// The tables of a plan's schema.
///
/// # Errors
/// If the schema cannot be understood.
pub(super) fn plan_shapes(core: &Core, plan: &Plan) -> Result<Shapes, Error> {
    Ok(Shapes::new(plan.catalog(), |table| core.layout_in((plan.hash(), plan.catalog()), table))?)
}

fn versions(staged: StagedTables) -> Vec<crate::table::StagedVersion> {
    staged.into_values().filter_map(|table| table.version).collect()
}

/// What the commit takes over from the source besides table versions. May stage a chunk of the lineage, and the schema.
async fn absorb(core: &Core, sides: &Sides, plan: &Plan, squash: bool) -> Result<Absorbed, Error> {
    let (source, target) = (&sides.source.record, &sides.target.record);
    let (parents, lineage, chunk) = if squash {
        (Vec::new(), target.lineage.clone(), None)
    } else {
        let united = target.lineage.clone().union(&source.contained()).without(target.incarnation);
        let (lineage, chunk) = core.fold_lineage(united).await?;
        (vec![source.as_parent()], lineage, chunk)
    };
    let new_schema = plan.schemas.new.as_ref().map(|bytes| {
        let path = Catalogs::path(plan.hash());
        core.store().staging().put(&path, bytes.clone().into());
        path
    });
    if new_schema.is_some() {
        core.authorities().catalogs().remember(plan.hash(), plan.catalog().clone()).await;
    }
    Ok(Absorbed {
        parents,
        merged: BTreeMap::new(),
        after: source.time,
        lineage,
        files: chunk.into_iter().chain(new_schema).collect(),
        schema: plan.new_schema.then(|| (plan.hash(), plan.catalog().clone())),
        extensions: sides.is_fast_forward().then(|| source.extensions.clone()),
    })
}
