//! The nodes or edges of some tables as a table of one column: the leaves of a plan.

use std::fmt;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::stats::Precision;
use datafusion::common::{Statistics, plan_err};
use datafusion::error::DataFusionError;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties, SendableRecordBatchStream,
};
use futures::StreamExt as _;

use super::reader::Reader;
use crate::ids::TableId;
use crate::query::layout::EntityLayout;

/// Reads one table of a scan.
#[derive(Debug, Clone)]
pub(crate) struct TableScan {
    pub table: TableId,
    /// Leaves out rows that conditions above leave out as well.
    pub filter: Option<Expr>,
}

/// The rows of some tables, as structs of one entity.
#[derive(Debug)]
pub(crate) struct EntityScan {
    reader: Arc<Reader>,
    entity: Arc<EntityLayout>,
    tables: Vec<TableScan>,
    schema: SchemaRef,
}

impl EntityScan {
    /// A scan whose column is called `column`.
    pub(crate) fn new(reader: Arc<Reader>, entity: Arc<EntityLayout>, column: &str, tables: Vec<TableScan>) -> Self {
        let ty = arrow_schema::DataType::Struct(entity.fields.clone());
        let schema = Arc::new(Schema::new(vec![Field::new(column, ty, true)]));
        Self { reader, entity, tables, schema }
    }
}

#[async_trait]
impl TableProvider for EntityScan {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        _session: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        let counted = projection.is_some_and(Vec::is_empty);
        let schema = if counted { Arc::new(Schema::empty()) } else { self.schema.clone() };
        // A plan without partitions is none.
        let partitions = self.tables.len().max(1);
        Ok(Arc::new(EntityScanExec {
            reader: self.reader.clone(),
            entity: self.entity.clone(),
            tables: self.tables.clone(),
            counted,
            limit: limit.map(|limit| limit as u64),
            properties: properties(schema, partitions),
        }))
    }
}

/// The properties of an operator whose rows come in no order.
pub(super) fn properties(schema: SchemaRef, partitions: usize) -> Arc<PlanProperties> {
    Arc::new(PlanProperties::new(
        EquivalenceProperties::new(schema),
        Partitioning::UnknownPartitioning(partitions),
        EmissionType::Incremental,
        Boundedness::Bounded,
    ))
}

/// Reads each table as a partition.
#[derive(Debug)]
struct EntityScanExec {
    reader: Arc<Reader>,
    entity: Arc<EntityLayout>,
    tables: Vec<TableScan>,
    /// Whether nothing but the number of rows is asked for.
    counted: bool,
    limit: Option<u64>,
    properties: Arc<PlanProperties>,
}

impl DisplayAs for EntityScanExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Scan: ")?;
        for (i, scan) in self.tables.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}{}", self.reader.name(scan.table))?;
            if let Some(filter) = &scan.filter {
                write!(f, " where {filter}")?;
            }
        }
        match self.limit {
            Some(limit) => write!(f, " limit {limit}"),
            None => Ok(()),
        }
    }
}

impl ExecutionPlan for EntityScanExec {
    fn name(&self) -> &'static str {
        "EntityScanExec"
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
        if children.is_empty() { Ok(self) } else { plan_err!("a scan has no input") }
    }

    fn execute(
        &self,
        partition: usize,
        _context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream, DataFusionError> {
        let schema = self.schema();
        let Some(scan) = self.tables.get(partition) else {
            return Ok(Box::pin(RecordBatchStreamAdapter::new(schema, futures::stream::empty())));
        };
        let batches = if self.counted {
            let to = schema.clone();
            let lengths = self.reader.count(scan.table, scan.filter.clone(), self.limit);
            let batch = move |length| {
                let options = RecordBatchOptions::new().with_row_count(Some(length));
                Ok(RecordBatch::try_new_with_options(to.clone(), Vec::new(), &options)?)
            };
            lengths.map(move |length| length.and_then(&batch)).boxed()
        } else {
            let to = schema.clone();
            let rows = self.reader.read(&self.entity, scan.table, scan.filter.clone(), self.limit);
            rows.map(move |rows| Ok(RecordBatch::try_new(to.clone(), vec![Arc::new(rows?)])?)).boxed()
        };
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, batches)))
    }

    fn partition_statistics(&self, partition: Option<usize>) -> Result<Arc<Statistics>, DataFusionError> {
        let tables = match partition {
            None => self.tables.as_slice(),
            Some(partition) => self.tables.get(partition..=partition).unwrap_or_default(),
        };
        let rows = tables.iter().map(|scan| self.reader.rows(scan.table)).sum::<u64>();
        let rows = usize::try_from(rows).unwrap_or(usize::MAX);
        let exact = tables.iter().all(|scan| scan.filter.is_none()) && self.limit.is_none();
        let num_rows = if exact { Precision::Exact(rows) } else { Precision::Inexact(rows) };
        Ok(Arc::new(Statistics { num_rows, ..Statistics::new_unknown(&self.schema()) }))
    }
}
