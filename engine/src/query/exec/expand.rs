//! What runs for a step along edges: gathers rows as far as memory goes, looks for all their keys at once, and joins what it finds.
//!
//! Few different keys are looked for by a filter, which is one round trip; for many the table is read through. Rows beyond what memory
//! holds are the next round, so that any number of rows can be expanded.

use std::fmt;
use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef, BooleanArray, RecordBatch, StructArray, UInt32Array};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use arrow_select::filter::filter_record_batch;
use arrow_select::take::take;
use datafusion::common::plan_err;
use datafusion::error::DataFusionError;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::physical_plan::projection::{ProjectionExec, all_alias_free_columns, new_projections_for_columns};
use datafusion::physical_plan::stream::{RecordBatchReceiverStream, RecordBatchStreamAdapter};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, ExecutionPlanProperties as _, PlanProperties,
    SendableRecordBatchStream,
};
use futures::stream::select_all;
use futures::{StreamExt as _, TryStreamExt as _};
use tokio::sync::mpsc::Sender;

use super::pack::Packer;
use super::scan::properties;
use super::search::{Search, guarded};
use crate::query::plan::expand::{Arm, ExpandSpec, Target};

/// Bytes of rows that are gathered.
const ROUND_BYTES: usize = 64 << 20;
/// Rows that are gathered.
const ROUND_ROWS: usize = 1 << 20;
/// Rows of a batch that is passed on.
const BATCH_ROWS: usize = 2048;
/// Bytes of a batch that is passed on, about; one row may have more.
const BATCH_BYTES: usize = 16 << 20;

type Output = Sender<Result<RecordBatch, DataFusionError>>;

/// A step along edges.
#[derive(Debug)]
pub(crate) struct ExpandExec {
    input: Arc<dyn ExecutionPlan>,
    spec: Arc<ExpandSpec>,
    /// Whether no arm reads anything, so that each batch can be worked on by itself.
    unread: bool,
    /// The columns that are passed on: those of the input, and last the one that is added. Copying them for every match is most of the work.
    output: Arc<[usize]>,
    properties: Arc<PlanProperties>,
}

impl ExpandExec {
    pub(crate) fn new(input: Arc<dyn ExecutionPlan>, spec: Arc<ExpandSpec>) -> Self {
        let all = (0..=input.schema().fields().len()).collect();
        Self::passing_on(input, spec, all)
    }

    fn passing_on(input: Arc<dyn ExecutionPlan>, spec: Arc<ExpandSpec>, output: Arc<[usize]>) -> Self {
        let fields = input.schema().fields().iter().cloned().chain([Arc::new(spec.field())]).collect::<Vec<_>>();
        let fields: Vec<_> = output.iter().filter_map(|column| fields.get(*column).cloned()).collect();
        let unread = spec.arms.iter().all(|arm| matches!(arm.target, Target::Key { .. }));
        let partitions = if unread { input.output_partitioning().partition_count() } else { 1 };
        let properties = properties(Arc::new(Schema::new(fields)), partitions);
        Self { input, spec, unread, output, properties }
    }
}

impl DisplayAs for ExpandExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Expand: {}", self.spec)
    }
}

impl ExecutionPlan for ExpandExec {
    fn name(&self) -> &'static str {
        "ExpandExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        vec![if self.unread { Distribution::UnspecifiedDistribution } else { Distribution::SinglePartition }]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        match <[Arc<dyn ExecutionPlan>; 1]>::try_from(children) {
            Ok([input]) => Ok(Arc::new(Self::passing_on(input, self.spec.clone(), self.output.clone()))),
            Err(children) => plan_err!("an Expand has one input, not {}", children.len()),
        }
    }

    fn try_swapping_with_projection(
        &self,
        projection: &ProjectionExec,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>, DataFusionError> {
        // A batch without columns would need to be told its length everywhere.
        if projection.expr().is_empty() || !all_alias_free_columns(projection.expr()) {
            return Ok(None);
        }
        let output = new_projections_for_columns(projection.expr(), &self.output).into();
        Ok(Some(Arc::new(Self::passing_on(self.input.clone(), self.spec.clone(), output))))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream, DataFusionError> {
        let schema = self.schema();
        let mut input = self.input.execute(partition, context.clone())?;
        if self.unread {
            let to = Passed { schema: schema.clone(), columns: self.output.clone() };
            let spec = self.spec.clone();
            let batches = input.map(move |batch| {
                let batch = batch?;
                let made = spec.arms.iter().map(|arm| of_keys(&spec, arm, &batch, &to));
                Ok::<_, DataFusionError>(futures::stream::iter(made.collect::<Vec<_>>()))
            });
            return Ok(Box::pin(RecordBatchStreamAdapter::new(schema, batches.try_flatten())));
        }
        let reservation = MemoryConsumer::new("rows to expand").register(&context.runtime_env().memory_pool);
        let mut builder = RecordBatchReceiverStream::builder(schema.clone(), 2);
        let to = Passed { schema, columns: self.output.clone() };
        let (spec, output) = (self.spec.clone(), builder.tx());
        builder.spawn(async move {
            let mut ahead = None;
            while let Some(rows) = gather(&mut input, &mut ahead, &reservation).await? {
                if !expand(&spec, &rows, &to, &reservation, &output).await? {
                    break;
                }
                reservation.free();
            }
            Ok(())
        });
        Ok(builder.build())
    }
}

/// The next rows to work on, as many as memory has room for.
async fn gather(
    input: &mut SendableRecordBatchStream,
    ahead: &mut Option<RecordBatch>,
    reservation: &MemoryReservation,
) -> Result<Option<RecordBatch>, DataFusionError> {
    let mut batches: Vec<RecordBatch> = Vec::new();
    let (mut bytes, mut rows) = (0, 0);
    loop {
        let next = match ahead.take() {
            Some(batch) => Some(batch),
            None => input.try_next().await?,
        };
        let Some(batch) = next else { break };
        if batch.num_rows() == 0 {
            continue;
        }
        let size = batch.get_array_memory_size();
        let full = bytes + size > ROUND_BYTES || rows + batch.num_rows() > ROUND_ROWS;
        // Once as it came, once put together with the others.
        let room = if full && !batches.is_empty() { None } else { Some(reservation.try_grow(2 * size)) };
        match room {
            Some(Ok(())) => {}
            // One batch must do, whatever others hold: it is there already.
            Some(Err(_)) if batches.is_empty() => reservation.grow(2 * size),
            _ => {
                *ahead = Some(batch);
                break;
            }
        }
        bytes += size;
        rows += batch.num_rows();
        batches.push(batch);
    }
    match batches.first() {
        None => Ok(None),
        Some(first) => Ok(Some(concat_batches(&first.schema(), &batches)?)),
    }
}

/// Expands some rows; `false` if nobody takes more.
async fn expand(
    spec: &Arc<ExpandSpec>,
    rows: &RecordBatch,
    to: &Passed,
    reservation: &MemoryReservation,
    output: &Output,
) -> Result<bool, DataFusionError> {
    let mut searches = Vec::new();
    let mut found = Vec::new();
    for arm in &spec.arms {
        match &arm.target {
            Target::Key { .. } => {
                if output.send(of_keys(spec, arm, rows, to)).await.is_err() {
                    return Ok(false);
                }
            }
            Target::Rows { probe, unless_equal, filter } => {
                let search = Search::new(spec, arm, probe, unless_equal.as_ref(), rows)?;
                if search.keys() > 0 {
                    reservation.grow(search.held());
                    let number = searches.len();
                    let structs = search.read(spec, arm, filter.clone())?;
                    found.push(structs.map(move |structs| (number, structs)));
                    searches.push(search);
                }
            }
        }
    }
    let mut found = select_all(found);
    while let Some((number, structs)) = found.next().await {
        let Some(search) = searches.get(number) else { continue };
        let structs = structs?;
        let (left, right) = search.pairs(&structs)?;
        for batch in Joined::new(rows, &structs, left, right, to) {
            if output.send(batch).await.is_err() {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// The rows that an arm is for, each with the node that its key is.
fn of_keys(spec: &ExpandSpec, arm: &Arm, rows: &RecordBatch, to: &Passed) -> Result<RecordBatch, DataFusionError> {
    let (Target::Key { fields }, Some(packer)) = (&arm.target, Packer::new(&spec.entity, arm.table)) else {
        return plan_err!("an arm makes no node of its key");
    };
    let parts = guarded(arm, rows)?;
    let given = fields.iter().copied().zip(parts.arrays).collect();
    let structs = packer.pack_key(rows.num_rows(), given)?;
    let added = Arc::new(structs) as ArrayRef;
    let all = to.batch(|column| Ok(rows.columns().get(column).unwrap_or(&added).clone()))?;
    if parts.present.count_set_bits() == rows.num_rows() {
        // Mostly, and then nothing need be copied.
        return Ok(all);
    }
    Ok(filter_record_batch(&all, &BooleanArray::new(parts.present, None))?)
}

/// What is passed on: some columns of the input, and the one that is added, if it is asked for.
struct Passed {
    schema: SchemaRef,
    columns: Arc<[usize]>,
}

impl Passed {
    /// A batch of the columns that `column` gives by their numbers.
    fn batch(&self, column: impl FnMut(usize) -> Result<ArrayRef, ArrowError>) -> Result<RecordBatch, ArrowError> {
        let columns = self.columns.iter().copied().map(column).collect::<Result<_, _>>()?;
        RecordBatch::try_new(self.schema.clone(), columns)
    }
}

/// Pairs of rows, put together in batches of bounded size.
struct Joined<'a> {
    rows: &'a RecordBatch,
    structs: &'a StructArray,
    left: UInt32Array,
    right: UInt32Array,
    to: &'a Passed,
    at: usize,
    step: usize,
}

impl<'a> Joined<'a> {
    fn new(rows: &'a RecordBatch, structs: &'a StructArray, left: Vec<u32>, right: Vec<u32>, to: &'a Passed) -> Self {
        let of_row = |bytes: usize, rows: usize| bytes / rows.max(1);
        let bytes = of_row(rows.get_array_memory_size(), rows.num_rows())
            + of_row(structs.get_array_memory_size(), structs.len());
        let step = (BATCH_BYTES / bytes.max(1)).clamp(1, BATCH_ROWS);
        Self { rows, structs, left: left.into(), right: right.into(), to, at: 0, step }
    }
}

impl Iterator for Joined<'_> {
    type Item = Result<RecordBatch, DataFusionError>;

    fn next(&mut self) -> Option<Self::Item> {
        let length = self.step.min(self.left.len() - self.at);
        if length == 0 {
            return None;
        }
        let (left, right) = (self.left.slice(self.at, length), self.right.slice(self.at, length));
        self.at += length;
        let batch = self.to.batch(|column| match self.rows.columns().get(column) {
            Some(column) => take(column, &left, None),
            None => take(self.structs, &right, None),
        });
        Some(batch.map_err(Into::into))
    }
}
