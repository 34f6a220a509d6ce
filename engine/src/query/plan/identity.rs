//! Functions over whole nodes and edges: whether two edges are one, and whether an edge joins two nodes.

use std::hash::Hash;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{UInt16Type, UInt64Type};
use arrow_array::{Array as _, ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, StructArray};
use arrow_buffer::BooleanBuffer;
use arrow_schema::{DataType, Field, Schema};
use datafusion::common::{ScalarValue, exec_err};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use crate::query::exec::search::holds;
use crate::query::layout::{EntityLayout, TableFields};
use crate::query::plan::expand::Guard;

/// Whether two edges are the same stored row. False where one is null.
pub(crate) fn same_edge(left: (&EntityLayout, Expr), right: (&EntityLayout, Expr)) -> Expr {
    let fields = |of: &TableFields| of.key().iter().map(|field| field.field).collect::<Vec<_>>();
    let tables = left.0.tables.iter().map(|table| {
        let (index, other) = right.0.of_table(table.table)?;
        Some(SameTable { index, keys: fields(table).into_iter().zip(fields(other)).collect() })
    });
    let tables = tables.collect();
    let function = SameEdge { tables, signature: Signature::any(2, Volatility::Immutable) };
    ScalarUDF::new_from_impl(function).call(vec![left.1, right.1])
}

/// The names that [`joins`] gives to its arguments.
pub(crate) const JOINED: [&str; 3] = ["edge", "left", "right"];

/// Whether an edge joins two nodes in one of several ways; each way is guards over columns named as in [`JOINED`].
pub(crate) fn joins(ways: Vec<Vec<Guard>>, edge: Expr, left: Expr, right: Expr) -> Expr {
    let function = Joins { ways, signature: Signature::any(3, Volatility::Immutable) };
    ScalarUDF::new_from_impl(function).call(vec![edge, left, right])
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct SameEdge {
    /// By the table of the left one; none where the right one is never of it.
    tables: Vec<Option<SameTable>>,
    signature: Signature,
}

/// A table that both edges may be of.
#[derive(Debug, PartialEq, Eq, Hash)]
struct SameTable {
    /// What the right one calls it.
    index: u16,
    /// The fields of both that bear the key.
    keys: Vec<(usize, usize)>,
}

impl SameTable {
    /// Whether two edges have one key. It takes long, and serves for those that an expression has handed on without their address.
    fn has_one_key(&self, left: &StructArray, right: &StructArray, row: usize) -> Result<bool, DataFusionError> {
        for (a, b) in &self.keys {
            let (Some(a), Some(b)) = (left.columns().get(*a), right.columns().get(*b)) else { return Ok(false) };
            if ScalarValue::try_from_array(a, row)? != ScalarValue::try_from_array(b, row)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl ScalarUDFImpl for SameEdge {
    fn name(&self) -> &'static str {
        "same_edge"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType, DataFusionError> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue, DataFusionError> {
        let arrays = arrays(&args)?;
        let [left, right] = arrays.as_slice() else { return exec_err!("two edges are compared") };
        let ((left, a, at_a), (right, b, at_b)) = (identity(left)?, identity(right)?);
        let same = |row: usize| {
            if left.is_null(row) || right.is_null(row) || a.is_null(row) || b.is_null(row) {
                return Ok(false);
            }
            let table = self.tables.get(usize::from(a.value(row))).and_then(Option::as_ref);
            let Some(table) = table.filter(|table| table.index == b.value(row)) else { return Ok(false) };
            if at_a.is_valid(row) && at_b.is_valid(row) {
                return Ok(at_a.value(row) == at_b.value(row));
            }
            table.has_one_key(left, right, row)
        };
        let same: BooleanArray =
            (0..left.len()).map(|row| same(row).map(Some)).collect::<Result<_, DataFusionError>>()?;
        Ok(ColumnarValue::Array(Arc::new(same)))
    }
}

fn arrays(args: &ScalarFunctionArgs) -> Result<Vec<ArrayRef>, DataFusionError> {
    args.args.iter().map(|value| value.to_array(args.number_rows)).collect()
}

type Identity<'a> =
    (&'a StructArray, &'a arrow_array::PrimitiveArray<UInt16Type>, &'a arrow_array::PrimitiveArray<UInt64Type>);

fn identity(array: &ArrayRef) -> Result<Identity<'_>, DataFusionError> {
    let rows = array.as_struct_opt();
    let parts = rows.and_then(|rows| match rows.columns() {
        [table, address, ..] => Some((rows, table.as_primitive_opt()?, address.as_primitive_opt()?)),
        _ => None,
    });
    if let Some(parts) = parts { Ok(parts) } else { exec_err!("expected an edge, found {}", array.data_type()) }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Joins {
    ways: Vec<Vec<Guard>>,
    signature: Signature,
}

impl ScalarUDFImpl for Joins {
    fn name(&self) -> &'static str {
        "joins"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType, DataFusionError> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue, DataFusionError> {
        let arrays = arrays(&args)?;
        let fields = JOINED.iter().zip(&arrays).map(|(name, array)| Field::new(*name, array.data_type().clone(), true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let options = RecordBatchOptions::new().with_row_count(Some(args.number_rows));
        let rows = RecordBatch::try_new_with_options(schema, arrays, &options)?;
        let mut any = BooleanBuffer::new_unset(rows.num_rows());
        for way in &self.ways {
            let mut all = BooleanBuffer::new_set(rows.num_rows());
            for guard in way {
                all = &all & &holds(guard, &rows)?;
            }
            any = &any | &all;
        }
        Ok(ColumnarValue::Array(Arc::new(BooleanArray::new(any, None))))
    }
}
