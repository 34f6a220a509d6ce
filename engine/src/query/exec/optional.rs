//! What runs for `OPTIONAL MATCH`: passes the matches on and keeps their numbers, then gives the rows that had none.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray as _;
use arrow_array::types::UInt64Type;
use arrow_array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, new_null_array};
use arrow_schema::{Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;
use datafusion::common::{exec_err, plan_err};
use datafusion::error::DataFusionError;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, PlanProperties, SendableRecordBatchStream,
};
use futures::StreamExt as _;
use roaring::RoaringTreemap;

use super::scan::properties;

/// Matches, then the rows without one.
#[derive(Debug)]
pub(crate) struct OptionalExec {
    matched: Arc<dyn ExecutionPlan>,
    all: Arc<dyn ExecutionPlan>,
    number: String,
    properties: Arc<PlanProperties>,
}

impl OptionalExec {
    pub(crate) fn new(matched: Arc<dyn ExecutionPlan>, all: Arc<dyn ExecutionPlan>, number: &str) -> Self {
        let fields: Vec<_> = matched.schema().fields().iter().filter(|field| field.name() != number).cloned().collect();
        let fields: Vec<_> = fields.iter().map(|field| field.as_ref().clone().with_nullable(true)).collect();
        let properties = properties(Arc::new(Schema::new(fields)), 1);
        Self { matched, all, number: number.to_owned(), properties }
    }
}

impl DisplayAs for OptionalExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Optional: what follows first, then what it was made of and has no match")
    }
}

impl ExecutionPlan for OptionalExec {
    fn name(&self) -> &'static str {
        "OptionalExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.matched, &self.all]
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        vec![Distribution::SinglePartition; 2]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false; 2]
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        match <[Arc<dyn ExecutionPlan>; 2]>::try_from(children) {
            Ok([matched, all]) => Ok(Arc::new(Self::new(matched, all, &self.number))),
            Err(children) => plan_err!("an Optional has two inputs, not {}", children.len()),
        }
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream, DataFusionError> {
        let schema = self.schema();
        let seen = Arc::new(Mutex::new(RoaringTreemap::new()));
        let (to, number, noted) = (schema.clone(), self.number.clone(), seen.clone());
        let matched = self.matched.execute(partition, context.clone())?.map(move |batch| {
            let batch = batch?;
            let numbers = numbers(&batch, &number)?;
            noted.lock().unwrap_or_else(PoisonError::into_inner).extend(numbers.as_primitive::<UInt64Type>().values());
            complete(&batch, &to)
        });
        let (to, number) = (schema.clone(), self.number.clone());
        let rest = self.all.execute(partition, context)?.map(move |batch| {
            let batch = batch?;
            let numbers = numbers(&batch, &number)?;
            let seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            let numbers = numbers.as_primitive::<UInt64Type>().values();
            let alone: BooleanArray = numbers.iter().map(|number| Some(!seen.contains(*number))).collect();
            complete(&filter_record_batch(&batch, &alone)?, &to)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, matched.chain(rest))))
    }
}

fn numbers(batch: &RecordBatch, column: &str) -> Result<ArrayRef, DataFusionError> {
    match batch.column_by_name(column) {
        Some(numbers) if numbers.as_primitive_opt::<UInt64Type>().is_some() => Ok(numbers.clone()),
        _ => exec_err!("the rows of an Optional lost their numbers"),
    }
}

/// The batch with the columns of `schema`: nulls for those that it lacks.
fn complete(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, DataFusionError> {
    let columns = schema.fields().iter().map(|field| {
        let known = batch.column_by_name(field.name()).cloned();
        known.unwrap_or_else(|| new_null_array(field.data_type(), batch.num_rows()))
    });
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(schema.clone(), columns.collect(), &options)?)
}
