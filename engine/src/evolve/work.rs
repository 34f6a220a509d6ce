//! A schema change as the work of a publish.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures::FutureExt as _;
use futures::future::{BoxFuture, join_all};

use super::error::EvolveError;
use super::report::PlannedStep;
use super::rewrite::rewrite;
use super::survey::survey;
use crate::branch::{BranchName, Catalogs};
use crate::error::Error;
use crate::graph::{Access, ChangeInfo, CommitInfo, Core, Gate};
use crate::ids::{ChangeId, TableId};
use crate::publish::{Absorbed, Evaluation, Fingerprint, Fingerprinter, Snapshot, Work};
use crate::record::{ChangeKind, check_room};
use crate::schema::{Catalog, SchemaChange, StepClass, encode_catalog, plan_schema};
use crate::table::{Layout, StagedVersion};

/// What a change comes to on one commit.
#[derive(Debug, Clone)]
pub(super) struct Planned {
    pub(super) steps: Vec<PlannedStep>,
    pub(super) schema: Catalog,
}

/// What a change tells besides its commit.
pub(super) enum Told {
    /// What it did.
    Now(Planned),
    /// It took effect before; its commit and the one before it say all.
    Before,
}

/// A change that was asked for.
pub(super) struct SchemaWork {
    pub(super) core: Arc<Core>,
    pub(super) ddl: String,
    pub(super) allow_data_loss: bool,
    pub(super) change: ChangeId,
    /// What was found out before the gate, and on which commit. Used once: a table is created under its id but once.
    pub(super) prepared: Mutex<Option<(Snapshot, Result<Planned, Error>)>>,
}

/// Plans on `at`, and reads what has to be read for that.
pub(super) async fn plan_on(core: &Arc<Core>, at: &Snapshot, ddl: &str) -> Result<Planned, Error> {
    let rows = |id: TableId| at.table_version(id).map_or(0, |version| version.rows);
    let plan = plan_schema(&at.catalog, ddl, rows, core.clock())?;
    check_room(plan.schema.tables.len())?;
    let steps = survey(core, at, &plan).await?;
    Ok(Planned { steps, schema: plan.schema })
}

#[async_trait]
impl Work for SchemaWork {
    type Report = Told;

    async fn evaluate(&self, at: &Snapshot) -> Result<Evaluation<Told>, Error> {
        let planned = match self.prepared_for(at) {
            Some(planned) => planned?,
            None => plan_on(&self.core, at, &self.ddl).await?,
        };
        if planned.steps.is_empty() {
            return Ok(Evaluation::Nothing(Told::Now(planned)));
        }
        self.refuse(at, &planned)?;
        let (tables, absorbed) = self.stage(at, &planned).await?;
        Ok(Evaluation::Staged {
            tables,
            reads: reads(&planned),
            kind: ChangeKind::Schema,
            change: self.change,
            counts: BTreeMap::new(),
            absorbed: Some(Box::new(absorbed)),
            report: Told::Now(planned),
        })
    }

    /// Whatever writes rows by the schema would begin anew.
    fn gates(&self, _: &BranchName) -> Vec<(Gate, Access)> {
        vec![(Gate::Schema, Access::Alone)]
    }

    fn kind(&self) -> ChangeKind {
        ChangeKind::Schema
    }

    fn asks(&self) -> Option<Fingerprint> {
        let print = Fingerprinter::new("schema").with(self.ddl.as_bytes());
        Some(print.with(&[u8::from(self.allow_data_loss)]).finish())
    }

    fn replay(&self, _: &CommitInfo, _: &ChangeInfo) -> Told {
        Told::Before
    }
}

impl SchemaWork {
    /// What was found out before, if it holds for `at`.
    fn prepared_for(&self, at: &Snapshot) -> Option<Result<Planned, Error>> {
        let prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (before, found) = prepared?;
        let same = before.record.commit == at.record.commit
            || before.record.schema == at.record.schema
                && found.as_ref().is_ok_and(|planned| {
                    reads(planned).iter().all(|table| before.table_version(*table) == at.table_version(*table))
                });
        same.then_some(found)
    }

    fn refuse(&self, at: &Snapshot, planned: &Planned) -> Result<(), EvolveError> {
        let (reference, steps) = (at.reference(), planned.steps.clone());
        if steps.iter().any(|step| step.breaks > 0) {
            return Err(EvolveError::Broken { reference, steps });
        }
        let destroys = steps.iter().any(|step| step.step.change.class() == StepClass::Destructive);
        if destroys && !self.allow_data_loss {
            return Err(EvolveError::DataLoss { reference, steps });
        }
        Ok(())
    }

    /// Stages the catalog, empty versions of new tables, and those whose rows are written anew, side by side.
    async fn stage(&self, at: &Snapshot, planned: &Planned) -> Result<(Vec<StagedVersion>, Absorbed), Error> {
        let (core, schema) = (&self.core, &planned.schema);
        let (bytes, hash) = encode_catalog(schema);
        let path = Catalogs::path(hash);
        core.store().staging().put(&path, bytes.into());
        let mut staging: Vec<BoxFuture<'_, Result<StagedVersion, Error>>> = Vec::new();
        let mut rewritten = BTreeSet::new();
        for PlannedStep { step, rows, .. } in &planned.steps {
            let Some(table) = schema.table_by_id(step.table) else { continue };
            let layout = Layout::new(schema, table);
            match &step.change {
                SchemaChange::AddTable => staging.push(async move { core.create_table(&layout).await }.boxed()),
                SchemaChange::ChangeType { .. } if *rows > 0 && rewritten.insert(table.id) => {
                    let Some(before) = at.catalog.table_by_id(table.id) else { continue };
                    staging.push(async move { rewrite(core, at, before, &layout).await }.boxed());
                }
                _ => {}
            }
        }
        let outcomes = join_all(staging).await;
        let files = [path];
        let tables = core.store().staging().all_or_none(outcomes, |staged| &staged.files);
        let tables = tables.inspect_err(|_| core.store().staging().release(&files))?;
        let catalog = Arc::new(schema.clone());
        core.authorities().catalogs().remember(hash, catalog.clone()).await;
        let absorbed = Absorbed {
            parents: Vec::new(),
            merged: BTreeMap::new(),
            after: at.record.time,
            lineage: at.record.lineage.clone(),
            files: files.to_vec(),
            schema: Some((hash, catalog)),
            extensions: None,
        };
        Ok((tables, absorbed))
    }
}

/// The tables whose rows decide what a change does, or whether it may: those that it asks something of, takes something from or writes
/// anew, and those whose being empty decides whether a default fills.
fn reads(planned: &Planned) -> BTreeSet<TableId> {
    let depends = |step: &&PlannedStep| match &step.step.change {
        SchemaChange::AddProperty { property, not_null, .. } => {
            let table = planned.schema.table_by_id(step.step.table);
            *not_null || table.and_then(|table| table.property_by_id(property.id)).is_some_and(|p| p.default.is_some())
        }
        SchemaChange::AddTable => false,
        change => change.class() != StepClass::Untouched,
    };
    planned.steps.iter().filter(depends).map(|step| step.step.table).collect()
}
