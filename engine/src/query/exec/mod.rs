//! Running plans: the session, and the operators that are not DataFusion's.
//!
//! Rows of tables become structs ([`pack`]) in scans ([`scan`]) and in steps along edges ([`expand`]); what is needed twice is made once
//! ([`shared`]). Nothing is read before the first batch is asked for, and dropping a stream stops all reads.

mod deep;
pub(crate) mod error;
pub(crate) mod expand;
mod explain;
pub(crate) mod keys;
mod operators;
mod optional;
pub(crate) mod pack;
pub(crate) mod reader;
pub(crate) mod scan;
pub(crate) mod search;
mod session;
pub(crate) mod shared;

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema, SchemaRef};
use datafusion::error::DataFusionError;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream, execute_stream};
use futures::TryStreamExt as _;

use self::error::{Cause, cause_of};
use self::reader::Reader;
use super::arrow::{Reader as ColumnReader, encode};
use super::bound::{Plan, Statement, VarId};
use super::compile::{Compiler, column_name};
use super::error::QueryError;
use super::eval::EvalContext;
use super::kind::Kind;
use super::layout::Layouts;
use super::memory::{Account, Memory, rows_weight};
use super::plan::Planner;
use super::value::CypherValue;
use crate::error::Error;
use crate::graph::Core;
use crate::publish::Snapshot;

pub(crate) use explain::explain;
pub(crate) use session::Sessions;

/// Rows that become values before they are accounted for.
const ROWS_AT_A_TIME: usize = 2048;

/// All that the plans of one statement need to run.
pub(crate) struct QueryContext {
    core: Arc<Core>,
    reader: Arc<Reader>,
    text: Arc<str>,
    statement: Arc<Statement>,
    layouts: Arc<Layouts>,
    compiler: Compiler,
    /// What [`Plan::Rows`] stands for.
    rows: Option<(SchemaRef, Vec<RecordBatch>)>,
}

impl QueryContext {
    /// For `statement`, whose text is `text` and which was bound against the catalog of `at`.
    pub(crate) fn new(
        core: &Arc<Core>,
        at: &Snapshot,
        text: &str,
        statement: Arc<Statement>,
        context: Arc<EvalContext>,
    ) -> Self {
        let layout_of = |table| at.catalog.table_by_id(table).map(|table| core.layout(at, table));
        let layouts = Arc::new(Layouts::new(&statement.entities, at, layout_of));
        Self {
            core: core.clone(),
            reader: Arc::new(Reader::new(core.clone(), at.clone())),
            text: text.into(),
            statement,
            compiler: Compiler::new(layouts.clone(), context),
            layouts,
            rows: None,
        }
    }

    /// How its nodes and edges are laid out.
    pub(crate) fn layouts(&self) -> &Arc<Layouts> {
        &self.layouts
    }

    /// The kind of a variable; null for one that the statement does not have.
    pub(crate) fn kind_of(&self, var: VarId) -> &Kind {
        self.statement.vars.get(var.0 as usize).map_or(&Kind::Null, |var| &var.kind)
    }

    /// The same, with these values for [`Plan::Rows`].
    ///
    /// # Errors
    /// If a value is not of its variable's kind, or `account` cannot hold them.
    pub(crate) fn with_rows(
        self,
        columns: &[VarId],
        rows: &[Vec<CypherValue>],
        account: &mut Account,
    ) -> Result<Self, Error> {
        let arrays = columns.iter().enumerate().map(|(place, var)| {
            let values: Vec<CypherValue> =
                rows.iter().map(|row| row.get(place).cloned().unwrap_or(CypherValue::NULL)).collect();
            let kind = self.kind_of(*var);
            let array = encode(&values, kind, &self.layouts);
            array.map_err(|unfit| {
                self.failure(DataFusionError::External(Box::new(unfit.at(crate::syntax::Span::new(0, 0)))))
            })
        });
        let arrays = arrays.collect::<Result<Vec<ArrayRef>, Error>>()?;
        let fields = columns.iter().zip(&arrays);
        let fields = fields.map(|(var, array)| Field::new(column_name(*var), array.data_type().clone(), true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        let batch = RecordBatch::try_new_with_options(schema.clone(), arrays, &options);
        let batch = batch.map_err(|error| self.failure(error.into()))?;
        account.hold(batch.get_array_memory_size()).map_err(|error| self.failure(error))?;
        Ok(Self { rows: Some((schema, vec![batch])), ..self })
    }

    /// What an error of a plan means to the user.
    pub(crate) fn failure(&self, error: DataFusionError) -> Error {
        failure(&self.text, error)
    }

    /// The statement.
    pub(crate) fn statement(&self) -> &Statement {
        &self.statement
    }

    /// The text of the statement.
    pub(crate) fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// Plans; nothing is read yet.
    pub(crate) async fn physical(&self, plan: &Plan) -> Result<(Arc<dyn ExecutionPlan>, Arc<TaskContext>), Error> {
        let (core, statement, compiler) = (self.core.clone(), self.statement.clone(), self.compiler.clone());
        let (reader, layouts, rows, plan) =
            (self.reader.clone(), self.layouts.clone(), self.rows.clone(), plan.clone());
        let planned = deep::run(move || async move {
            let session = core.sessions().session()?;
            let compiler = compiler.within(core.sessions().memory());
            let logical = Planner::new(&statement, reader, layouts, &compiler, rows).plan(&plan)?;
            let physical = session.create_physical_plan(&logical).await?;
            Ok((physical, session.task_ctx()))
        });
        planned.await.map_err(|error| self.failure(error))
    }

    /// The memory that its plans run in.
    pub(crate) fn memory(&self) -> Memory {
        self.core.sessions().memory()
    }

    /// Runs a plan. Its columns are called as [`column_name`] says; their errors are for [`Self::failure`].
    pub(crate) async fn stream(&self, plan: &Plan) -> Result<SendableRecordBatchStream, Error> {
        let (physical, context) = self.physical(plan).await?;
        execute_stream(physical, context).map_err(|error| self.failure(error))
    }
}

/// What an error of the plan of a statement means to the user.
pub(crate) fn failure(text: &str, error: DataFusionError) -> Error {
    match cause_of(error) {
        Cause::Fault(fault) => QueryError::failed(text, fault).into(),
        Cause::Other(error) => error,
    }
}

/// Runs a plan to its end: the values of the wanted variables, row by row, held in `account`.
pub(crate) async fn rows(
    cx: &QueryContext,
    plan: &Plan,
    wanted: &[VarId],
    account: &mut Account,
) -> Result<Vec<Vec<CypherValue>>, Error> {
    let mut batches = cx.stream(plan).await?;
    let mut rows = Vec::new();
    while let Some(batch) = batches.try_next().await.map_err(|error| cx.failure(error))? {
        let columns: Vec<(String, &Kind)> = wanted.iter().map(|var| (column_name(*var), cx.kind_of(*var))).collect();
        // A batch may hold very many rows.
        for from in (0..batch.num_rows()).step_by(ROWS_AT_A_TIME) {
            let some = batch.slice(from, ROWS_AT_A_TIME.min(batch.num_rows() - from));
            let some = decode(&some, &columns, &cx.layouts).map_err(|error| cx.failure(error))?;
            account.hold(rows_weight(&some)).map_err(|error| cx.failure(error))?;
            rows.extend(some);
        }
    }
    Ok(rows)
}

/// The values of some columns of a batch, row by row.
pub(crate) fn decode(
    batch: &RecordBatch,
    columns: &[(String, &Kind)],
    layouts: &Layouts,
) -> Result<Vec<Vec<CypherValue>>, DataFusionError> {
    let readers = columns.iter().map(|(name, kind)| match batch.column_by_name(name) {
        Some(array) => ColumnReader::new(array.as_ref(), kind, layouts),
        None => Err(DataFusionError::Internal(format!("the plan lost the column {name}"))),
    });
    let readers = readers.collect::<Result<Vec<_>, _>>()?;
    Ok((0..batch.num_rows()).map(|row| readers.iter().map(|reader| reader.value(row)).collect()).collect())
}
