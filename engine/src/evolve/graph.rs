//! Schema changes as a caller asks for them.

use std::sync::Mutex;

use super::report::{PlannedSchema, PlannedStep, SchemaDiff, SchemaDifference, SchemaOptions, SchemaReport};
use super::work::{Planned, SchemaWork, Told, plan_on};
use crate::branch::BranchName;
use crate::error::Error;
use crate::graph::{CommitInfo, Core, Graph, ParentInfo};
use crate::ids::ChangeId;
use crate::schema::{Catalog, SchemaChange, compare_schemas};

impl Graph {
    /// Tells what [`Self::apply_schema`] would do to the commit that `reference` names, step by step, with the rows that each step concerns
    /// or would be refused for. Writes nothing.
    ///
    /// # Errors
    /// When there is no such commit, the text is wrong, or it asks for what cannot be done in place.
    pub async fn plan_schema(&self, reference: &str, ddl: &str) -> Result<PlannedSchema, Error> {
        let core = self.core();
        let io = core.store().io().scope();
        let at = core.snapshot(reference).await?;
        let Planned { steps, schema } = plan_on(core, &at, ddl).await?;
        Ok(PlannedSchema { at: at.named(), steps, schema, io: io.finish() })
    }

    /// Makes the schema of `branch` what `ddl` says, as one commit; publishes nothing if it is that already. Tables and properties are
    /// known by their names; one that has another name is written `RENAMED FROM` the old one.
    ///
    /// Waits for the merges, loads and writes of this process that are under way, then goes ahead. Those that were staged under the former
    /// schema, also in other processes, are evaluated again under the new one.
    ///
    /// ```
    /// # use pleach::{Error, Graph, InitOptions, SchemaOptions};
    /// # #[tokio::main] async fn main() -> Result<(), Error> {
    /// # let ddl = "CREATE NODE TABLE Person (id STRING PRIMARY KEY, name STRING);";
    /// # let graph = Graph::init("memory://schema-example", ddl, InitOptions::default()).await?;
    /// let ddl = "CREATE NODE TABLE Person (id STRING PRIMARY KEY, full_name STRING RENAMED FROM name, age INT64);";
    /// let plan = graph.plan_schema("main", ddl).await?;
    /// let steps: Vec<String> = plan.steps.iter().map(ToString::to_string).collect();
    /// assert_eq!(steps, ["Person: rename property name to full_name", "Person: add property age INT64"]);
    /// let report = graph.apply_schema("main", ddl, SchemaOptions::default()).await?;
    /// assert_eq!(report.commit.map(|commit| commit.reference()).as_deref(), Some("main@1"));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When the text is wrong or asks for what cannot be done in place; [`EvolveError::Broken`](super::EvolveError::Broken) if rows break a
    /// new rule; [`EvolveError::DataLoss`](super::EvolveError::DataLoss) if something would go and the options do not allow it; if publishing
    /// fails.
    ///
    /// # Cancellation
    /// A dropped call may still be carried on to its end: the branch stays as it was or has the new schema.
    pub async fn apply_schema(&self, branch: &str, ddl: &str, options: SchemaOptions) -> Result<SchemaReport, Error> {
        let core = self.core();
        let io = core.store().io().scope();
        let name = BranchName::parse(branch)?;
        // Before the gate, since it may take long; what is found to be wrong is told by the publish, which knows whether the request took
        // effect before.
        let prepared = match core.snapshot(name.as_str()).await {
            Ok(at) => {
                let planned = plan_on(core, &at, ddl).await;
                Some((at, planned))
            }
            Err(error) if error.depends_on_head() => None,
            Err(error) => return Err(error),
        };
        let SchemaOptions { allow_data_loss, change } = options;
        let work = SchemaWork {
            core: core.clone(),
            ddl: ddl.to_owned(),
            allow_data_loss,
            change: ChangeId::new(core.clock().ulid()),
            prepared: Mutex::new(prepared),
        };
        let (commit, told) = core.publish(branch, work, &change).await?;
        let repeated = matches!(told, Told::Before);
        let Planned { steps, schema } = match (told, &commit) {
            (Told::Now(planned), _) => planned,
            (Told::Before, Some(commit)) => retold(core, commit).await?,
            (Told::Before, None) => Planned { steps: Vec::new(), schema: Catalog::default() },
        };
        Ok(SchemaReport { commit, repeated, steps, schema, io: io.finish() })
    }

    /// Tells what makes the schema of the commit `from` to that of `to`. A table or property that was dropped and added again is another one.
    ///
    /// # Errors
    /// When there is no such commit.
    pub async fn diff_schema(&self, from: &str, to: &str) -> Result<SchemaDiff, Error> {
        let core = self.core();
        let (from, to) = futures::try_join!(core.snapshot(from), core.snapshot(to))?;
        let steps = compare_schemas(&from.catalog, &to.catalog).into_iter().map(|step| {
            let holder = match step.change {
                SchemaChange::AddTable => Some(&to),
                SchemaChange::DropTable => Some(&from),
                _ => None,
            };
            let rows = holder.map(|at| at.table_version(step.table).map_or(0, |version| version.rows));
            SchemaDifference { step, rows }
        });
        Ok(SchemaDiff { steps: steps.collect(), from: from.named(), to: to.named() })
    }
}

/// What a change that took effect before did: its commit and the one before it tell.
async fn retold(core: &Core, commit: &CommitInfo) -> Result<Planned, Error> {
    let own = core.snapshot_of_told(&ParentInfo::from(commit)).await?;
    let steps = match commit.parents.first() {
        Some(before) => compare_schemas(&core.snapshot_of_told(before).await?.catalog, &own.catalog),
        None => Vec::new(),
    };
    let steps = steps.into_iter().map(|step| PlannedStep { step, rows: 0, breaks: 0, examples: Vec::new() });
    Ok(Planned { steps: steps.collect(), schema: Catalog::clone(&own.catalog) })
}
