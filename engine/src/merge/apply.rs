//! Plans: what a merge would do, looked at before anything is written, and done later if both heads are still there.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::MergeError;
use super::answers::{Answers, check_answers};
use super::judge::{Judgement, judge};
use super::plan::{Plan, Sides};
use super::report::{MergeOptions, MergeOutcome, MergePlan, MergeReport, MergedTable};
use super::schema_answers::SchemaAnswers;
use super::schemas::Schemas;
use super::sides::{look_up, named_bases, sides};
use super::told::outcome_of;
use super::work::{may_be_deleted, names_a_branch, plan_shapes};
use crate::branch::Reference;
use crate::error::Error;
use crate::graph::{ChangeOptions, Graph};
use crate::record::MergeCounts;
use crate::schema::Catalog;
use crate::write::shape::Shapes;

impl Graph {
    /// Tells what [`Self::merge`] would do now, with every conflict; nothing is written. Rows are compared in all tables that moved, so this
    /// may read more than the merge itself.
    ///
    /// ```
    /// # use pleach::{ChangeOptions, Error, Graph, InitOptions, MergeOptions, Params};
    /// # #[tokio::main] async fn main() -> Result<(), Error> {
    /// # let ddl = "CREATE NODE TABLE Person (id STRING PRIMARY KEY, name STRING);";
    /// # let graph = Graph::init("memory://plan-example", ddl, InitOptions::default()).await?;
    /// graph.create_branch("review", "main", ChangeOptions::default()).await?;
    /// let create = |name| format!("CREATE (:Person {{id: 'ada', name: '{name}'}})");
    /// graph.run("review", &create("Ada"), Params::new(), ChangeOptions::default()).await?;
    /// graph.run("main", &create("Ada L."), Params::new(), ChangeOptions::default()).await?;
    /// let plan = graph.plan_merge("review", "main", MergeOptions::default()).await?;
    /// assert_eq!(plan.conflicts[0].property.as_deref(), Some("name"));
    /// assert_eq!(plan.conflicts[0].source.as_deref(), Some("\"Ada\""));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When there is no such commit or branch, or a strategy or resolution does not fit.
    pub async fn plan_merge(&self, source: &str, into: &str, options: MergeOptions) -> Result<MergePlan, Error> {
        let core = self.core();
        let io = core.store().io().scope();
        let reference: Reference = source.parse()?;
        let source_is_branch = names_a_branch(&reference);
        let target: Reference = into.parse()?;
        if !names_a_branch(&target) {
            return Err(MergeError::TargetNotABranch { target: into.to_owned() }.into());
        }
        let found = futures::future::try_join(look_up(core, reference), look_up(core, target)).await?;
        let sides = sides(core, found.0, found.1).await?;
        let MergeOptions { strategies, resolutions, .. } = options;
        let mut told = MergePlan {
            outcome: MergeOutcome::UpToDate,
            source: sides.source.named(),
            target: sides.target.named(),
            source_is_branch,
            bases: named_bases(&sides),
            tables: BTreeMap::new(),
            conflicts: Vec::new(),
            strategies,
            resolutions,
            io: crate::store::IoStats::default(),
        };
        if sides.source_is_unmoved() {
            check_answers(core, &sides.target, &told.strategies, &told.resolutions)?;
        } else {
            told.outcome = outcome_of(&sides);
            let answers = SchemaAnswers::new(&told.strategies, &told.resolutions);
            let schemas = if sides.is_fast_forward() {
                answers.all_used()?;
                Ok(Schemas::of_one(&sides, &sides.source))
            } else {
                Schemas::merge(core, &sides, &answers).await?
            };
            match schemas {
                Err(conflicts) => told.conflicts = conflicts,
                Ok(schemas) => {
                    let plan = Plan::three_way(&sides, schemas);
                    let shapes = Arc::new(plan_shapes(core, &plan)?);
                    let both: [&Catalog; 2] = [&sides.source.catalog, &sides.target.catalog];
                    let answers = Answers::read(&shapes, &both, &told.strategies, &told.resolutions)?;
                    if sides.is_fast_forward() {
                        answers.all_used()?;
                    }
                    let judged = judge(core, &sides, &plan, &shapes, answers, true).await?;
                    told.tables = tables(&sides, &plan, &shapes, &judged);
                    told.conflicts = judged.conflicts;
                }
            }
        }
        told.io = io.finish();
        Ok(told)
    }

    /// Does what a plan says, with its strategies and resolutions, if neither side has gone on since it was made.
    ///
    /// # Errors
    /// [`MergeError::SourceMoved`], or `head-moved` where the target has; otherwise as [`Self::merge`].
    ///
    /// # Cancellation
    /// As [`Self::merge`].
    pub async fn apply_merge(&self, plan: &MergePlan, options: MergeOptions) -> Result<MergeReport, Error> {
        if options.delete_source {
            let named = if plan.source_is_branch { plan.source.branch.clone() } else { plan.source.reference() };
            may_be_deleted(&named, &plan.target.branch)?;
        }
        let options = MergeOptions {
            change: ChangeOptions { if_head: Some(plan.target.by_id()), ..options.change },
            strategies: plan.strategies.clone(),
            resolutions: plan.resolutions.clone(),
            ..options
        };
        let unmoved = plan.source_is_branch.then(|| plan.source.clone());
        self.merge_if(&plan.source.by_id(), &plan.target.branch, options, unmoved).await
    }
}

/// What would become of the tables, by name.
fn tables(sides: &Sides, plan: &Plan, shapes: &Shapes, judged: &Judgement) -> BTreeMap<String, MergedTable> {
    let changed = judged.tables.values().filter_map(|cases| {
        let name = shapes.tables.get(cases.index)?.name().to_owned();
        let before = plan.version(&sides.target, cases.table).map_or(0, |version| version.rows);
        let counts = cases.counts(before, 0);
        let rows = (before + counts.added).saturating_sub(counts.removed);
        let merged = MergedTable {
            rows_before: Some(before),
            rows: Some(rows),
            counts: Some(MergeCounts { result: rows, ..counts }),
            rewritten: cases.written(None).count() as u64,
            adopted: 0,
        };
        Some((name, merged))
    });
    changed.collect()
}
