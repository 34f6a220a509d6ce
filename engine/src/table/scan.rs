//! Reading a version: projection by column, filters pushed down into Lance, row addresses, batches of bounded size.

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use futures::{StreamExt, TryStreamExt, stream};
use lance::dataset::scanner::MaterializationStyle;
use lance_table::format::Fragment;

use super::mapping::ROW_ADDRESS;
use super::{BatchStream, Table, TableError};

/// Bytes that a batch should have at most; one row may have more.
const BATCH_BYTES: u64 = 4 << 20;
/// Rows that a batch has at most.
const BATCH_ROWS: usize = 8192;
/// Bytes that one scan reads ahead of its consumer.
const READ_AHEAD_BYTES: u64 = 64 << 20;
/// Fragments whose reads may be in flight at once. Folding keeps tables of any age below this, so that a lookup is one round
/// trip; Lance's default of four would make it a round trip for every four fragments.
const PARALLEL_FRAGMENTS: usize = 64;
/// Up to this many bytes of data files, a filtered scan reads all columns at once instead of the filter's first: at least one
/// round trip less, and three less in a cold process, for bytes that take no longer than those would.
const READ_AT_ONCE_BYTES: u64 = 8 << 20;

/// What to read. Rows come in no promised order.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// Indices into `Layout::columns`; the batches have exactly these columns, in this order.
    pub columns: Vec<usize>,
    /// A condition over the layout's columns, by their names, and `_rowaddr`. Literals are converted to the columns' types.
    pub filter: Option<Expr>,
    /// Rows to return at most.
    pub limit: Option<u64>,
    /// Appends a `_rowaddr` column (`UInt64`).
    pub addresses: bool,
}

/// What is left of a filter once constants are folded.
enum Filter {
    Everything,
    Nothing,
    Where(Expr),
}

impl Table {
    /// Reads rows. The stream owns all it needs; dropping it stops the reads.
    pub(crate) fn scan(&self, scan: Scan) -> BatchStream {
        self.scan_fragments(scan, None)
    }

    /// Reads rows of some fragments only.
    pub(super) fn scan_fragments(&self, scan: Scan, fragments: Option<Vec<Fragment>>) -> BatchStream {
        let table = self.clone();
        stream::once(async move { table.start(scan, fragments).await }).try_flatten().boxed()
    }

    async fn start(self, scan: Scan, fragments: Option<Vec<Fragment>>) -> Result<BatchStream, TableError> {
        let id = self.layout.table.id;
        let failed = move |error| TableError::from_lance(id, "reading", error);
        let shape = Shape::new(&self, &scan)?;
        let by_key = scan.filter.as_ref().is_some_and(|filter| self.is_by_key(filter));
        let filter = match scan.filter {
            Some(filter) => self.simplify(filter)?,
            None => Filter::Everything,
        };
        let nothing = matches!(filter, Filter::Nothing) || scan.limit == Some(0) || self.version.rows == 0;
        if nothing || fragments.as_ref().is_some_and(Vec::is_empty) {
            return Ok(stream::empty().boxed());
        }

        let stored = self.mapping.stored_ids(&scan.columns);
        let mut scanner = self.dataset.scan();
        scanner.project_with_schema(&self.dataset.schema().project_by_ids(&stored, true)).map_err(failed)?;
        // Without columns of its own a batch has no length: addresses cost no I/O and give it one.
        if scan.addresses || stored.is_empty() {
            scanner.with_row_address();
        }
        if let Filter::Where(filter) = filter {
            scanner.filter_expr(filter);
        }
        if let Some(limit) = scan.limit {
            scanner.limit(Some(i64::try_from(limit).unwrap_or(i64::MAX)), None).map_err(failed)?;
        }
        if let Some(fragments) = fragments {
            scanner.with_fragments(fragments);
        }
        if self.data_bytes() <= READ_AT_ONCE_BYTES {
            scanner.materialization_style(MaterializationStyle::AllEarly);
        } else if by_key {
            // Few rows will pass: of the other columns, read only those rows.
            scanner.materialization_style(MaterializationStyle::AllLate);
        }
        scanner
            .use_scalar_index(false)
            .scan_in_order(false)
            .fragment_readahead(PARALLEL_FRAGMENTS)
            .io_buffer_size(READ_AHEAD_BYTES)
            .batch_size(BATCH_ROWS)
            .batch_size_bytes(BATCH_BYTES);
        let batches = scanner.try_into_stream().await.map_err(failed)?;
        let batches = AssertUnwindSafe(batches).catch_unwind();
        Ok(batches
            .map(move |batch| {
                let batch = batch.map_err(|panic| TableError::from_panic(id, &*panic))?;
                shape.arrange(&batch.map_err(|error| TableError::from_rows(id, error))?)
            })
            .boxed())
    }

    /// Puts a filter in terms of the version's columns, converts its literals and folds its constants.
    fn simplify(&self, filter: Expr) -> Result<Filter, TableError> {
        let failed = |error: DataFusionError| {
            TableError::from_lance(self.layout.table.id, "filtering", lance::Error::from(error))
        };
        let filter = self.mapping.stored_filter(&self.layout, filter)?;
        let mut fields: Vec<Field> =
            Schema::from(self.dataset.schema()).fields().iter().map(|f| f.as_ref().clone()).collect();
        fields.push(Field::new(ROW_ADDRESS, DataType::UInt64, true));
        let schema = Arc::new(DFSchema::try_from(Schema::new(fields)).map_err(failed)?);
        let simplifier = ExprSimplifier::new(SimplifyContext::builder().with_schema(schema.clone()).build());
        let filter =
            simplifier.coerce(filter, &schema).and_then(|filter| simplifier.simplify(filter)).map_err(failed)?;
        Ok(match filter {
            Expr::Literal(ScalarValue::Boolean(Some(true)), _) => Filter::Everything,
            Expr::Literal(ScalarValue::Boolean(_) | ScalarValue::Null, _) => Filter::Nothing,
            other => Filter::Where(other),
        })
    }

    /// Whether a filter asks for some values of a key column, so that few rows can be expected to pass.
    fn is_by_key(&self, filter: &Expr) -> bool {
        let keys = self.layout.key_columns();
        let is_key = |expr: &Expr| match expr {
            Expr::Column(column) => keys.iter().any(|key| self.layout.columns[*key].name == column.name),
            _ => false,
        };
        split_conjunction(filter).into_iter().any(|condition| match condition {
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => is_key(left) || is_key(right),
            Expr::InList(InList { expr, negated: false, .. }) => is_key(expr),
            _ => false,
        })
    }

    /// Bytes of all data files of the version.
    fn data_bytes(&self) -> u64 {
        let files = self.dataset.fragments().iter().flat_map(|fragment| &fragment.files);
        files.map(|file| file.file_size_bytes.get().map_or(0, u64::from)).sum()
    }
}

/// The columns that a scan promised, and how to make them from what Lance gives.
pub(super) struct Shape {
    table: crate::ids::TableId,
    /// The stored name of each column; none for a column that the version does not have.
    columns: Vec<Option<String>>,
    addresses: bool,
    schema: SchemaRef,
}

impl Shape {
    pub(super) fn new(table: &Table, scan: &Scan) -> Result<Self, TableError> {
        let layout = &table.layout;
        let mut fields = Vec::with_capacity(scan.columns.len() + 1);
        let mut columns = Vec::with_capacity(scan.columns.len());
        let mut seen = BTreeSet::new();
        for &index in &scan.columns {
            if index >= layout.columns.len() || !seen.insert(index) {
                return Err(TableError::NoSuchColumn { table: layout.table.id, column: index.to_string() });
            }
            fields.push(layout.arrow.fields()[index].clone());
            columns.push(table.mapping.stored_name(index).map(str::to_owned));
        }
        if scan.addresses {
            fields.push(Arc::new(Field::new(ROW_ADDRESS, DataType::UInt64, false)));
        }
        let schema = Arc::new(Schema::new(fields));
        Ok(Self { table: layout.table.id, columns, addresses: scan.addresses, schema })
    }

    /// Renames, reorders and completes the columns of a batch.
    pub(super) fn arrange(&self, batch: &RecordBatch) -> Result<RecordBatch, TableError> {
        let damaged = |problem: String| TableError::Damaged { table: self.table, problem };
        let rows = batch.num_rows();
        let address = self.addresses.then(|| Some(ROW_ADDRESS.to_owned()));
        let names = self.columns.iter().cloned().chain(address);
        let arrays = names
            .zip(self.schema.fields())
            .map(|(name, field)| {
                let Some(name) = name else { return Ok(new_null_array(field.data_type(), rows)) };
                let array =
                    batch.column_by_name(&name).ok_or_else(|| damaged(format!("Lance returned no column {name}")))?;
                retyped(array, field.data_type()).map_err(|error| damaged(error.to_string()))
            })
            .collect::<Result<Vec<_>, TableError>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options)
            .map_err(|error| damaged(error.to_string()))
    }
}

/// Gives an array the type of the layout where Lance has lost the nullability of its elements.
fn retyped(array: &ArrayRef, wanted: &DataType) -> Result<ArrayRef, arrow_schema::ArrowError> {
    if array.data_type() == wanted { Ok(array.clone()) } else { arrow_cast::cast(array, wanted) }
}
