//! Rows that a plan needs in two places: numbered, made once, kept in memory as far as it goes and in a temporary file beyond.

use std::fmt;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::plan_err;
use datafusion::error::DataFusionError;
use datafusion::execution::TaskContext;
use datafusion::execution::disk_manager::RefCountedTempFile;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::logical_expr::{Expr, LogicalPlan, TableType};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, SpillMetrics};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SendableRecordBatchStream, SpillManager, displayable,
    execute_stream,
};
use futures::{StreamExt as _, TryStreamExt as _};
use tokio::sync::OnceCell;

use super::scan::properties;

/// The rows of a plan with a number each, as a table that may be scanned more than once.
#[derive(Debug)]
pub(crate) struct Shared {
    input: LogicalPlan,
    schema: SchemaRef,
    plan: OnceCell<Arc<dyn ExecutionPlan>>,
    rows: Arc<OnceCell<Kept>>,
}

impl Shared {
    /// Shares the rows of `input`; `number` is the name of the column with their numbers, which comes last.
    pub(crate) fn new(input: LogicalPlan, number: &str) -> Self {
        let mut fields: Vec<Field> = input.schema().fields().iter().map(|field| field.as_ref().clone()).collect();
        fields.push(Field::new(number, DataType::UInt64, false));
        let schema = Arc::new(Schema::new(fields));
        Self { input, schema, plan: OnceCell::new(), rows: Arc::default() }
    }
}

#[async_trait]
impl TableProvider for Shared {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        let input = self.plan.get_or_try_init(|| session.create_physical_plan(&self.input)).await?.clone();
        let projection: Vec<usize> = projection.cloned().unwrap_or_else(|| (0..self.schema.fields().len()).collect());
        let projected = Arc::new(self.schema.project(&projection)?);
        Ok(Arc::new(SharedExec {
            input,
            schema: self.schema.clone(),
            rows: self.rows.clone(),
            projection,
            limit,
            properties: properties(projected, 1),
        }))
    }
}

/// One use of the rows. Its input is planned apart, so that no use of it can change it for the others.
#[derive(Debug)]
struct SharedExec {
    input: Arc<dyn ExecutionPlan>,
    /// With all columns.
    schema: SchemaRef,
    rows: Arc<OnceCell<Kept>>,
    projection: Vec<usize>,
    limit: Option<usize>,
    properties: Arc<PlanProperties>,
}

impl DisplayAs for SharedExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        let plan = displayable(self.input.as_ref()).indent(false).to_string();
        let lines: Vec<&str> = plan.lines().map(str::trim).collect();
        write!(f, "Shared, made once: {}", lines.join(" <- "))
    }
}

impl ExecutionPlan for SharedExec {
    fn name(&self) -> &'static str {
        "SharedExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        if children.is_empty() { Ok(self) } else { plan_err!("shared rows have no input") }
    }

    fn execute(
        &self,
        _partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream, DataFusionError> {
        let (input, rows, schema) = (self.input.clone(), self.rows.clone(), self.schema.clone());
        let (projection, mut left) = (self.projection.clone(), self.limit.unwrap_or(usize::MAX));
        let batches = futures::stream::once(async move {
            let kept = rows.get_or_try_init(|| Kept::make(input, schema, context)).await?;
            kept.stream()
        });
        let batches = batches.try_flatten().and_then(move |batch| {
            let batch = batch.project(&projection).map_err(DataFusionError::from);
            futures::future::ready(batch.map(|batch| {
                let rows = left.min(batch.num_rows());
                left -= rows;
                batch.slice(0, rows)
            }))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), batches)))
    }
}

/// Rows that were made.
struct Kept {
    batches: Vec<RecordBatch>,
    /// Those that memory had no room for.
    spilled: Option<(SpillManager, RefCountedTempFile)>,
    /// Held as long as the batches.
    _reservation: MemoryReservation,
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kept({} batches, spilled: {})", self.batches.len(), self.spilled.is_some())
    }
}

impl Kept {
    async fn make(
        input: Arc<dyn ExecutionPlan>,
        schema: SchemaRef,
        context: Arc<TaskContext>,
    ) -> Result<Self, DataFusionError> {
        let reservation =
            MemoryConsumer::new("shared rows").with_can_spill(true).register(&context.runtime_env().memory_pool);
        let metrics = SpillMetrics::new(&ExecutionPlanMetricsSet::new(), 0);
        let manager = SpillManager::new(context.runtime_env(), metrics, schema.clone());
        let mut rows = execute_stream(input, context)?;
        let mut batches = Vec::new();
        let mut file = None;
        let mut number = 0_u64;
        while let Some(batch) = rows.try_next().await? {
            let batch = numbered(&batch, &schema, number)?;
            number += batch.num_rows() as u64;
            if file.is_none() && reservation.try_grow(batch.get_array_memory_size()).is_ok() {
                batches.push(batch);
                continue;
            }
            let file = match &mut file {
                Some(file) => file,
                none => none.insert(manager.create_in_progress_file("rows of an OPTIONAL MATCH")?),
            };
            file.append_batch(&batch)?;
        }
        let file = match &mut file {
            Some(file) => file.finish()?,
            None => None,
        };
        Ok(Self { batches, spilled: file.map(|file| (manager, file)), _reservation: reservation })
    }

    fn stream(&self) -> Result<SendableRecordBatchStream, DataFusionError> {
        let schema = match (&self.spilled, self.batches.first()) {
            (Some((manager, _)), _) => manager.schema().clone(),
            (None, Some(batch)) => batch.schema(),
            (None, None) => Arc::new(Schema::empty()),
        };
        let kept = futures::stream::iter(self.batches.clone().into_iter().map(Ok));
        let batches = match &self.spilled {
            Some((manager, file)) => kept.chain(manager.read_spill_as_stream(file.clone(), None)?).boxed(),
            None => kept.boxed(),
        };
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, batches)))
    }
}

/// The batch with numbers from `first` on.
fn numbered(batch: &RecordBatch, schema: &SchemaRef, first: u64) -> Result<RecordBatch, DataFusionError> {
    let rows = batch.num_rows();
    let numbers: ArrayRef = Arc::new(UInt64Array::from_iter_values(first..first + rows as u64));
    let columns = batch.columns().iter().cloned().chain([numbers]).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(schema.clone(), columns, &options)?)
}
