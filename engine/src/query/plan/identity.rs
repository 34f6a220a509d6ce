//! Functions over whole nodes and edges: whether two edges are one, and whether an edge joins two nodes.

use std::hash::Hash;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{UInt16Type, UInt64Type};
use arrow_array::{Array as _, ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, StructArray};
use arrow_buffer::BooleanBuffer;
use arrow_schema::{DataType, Field, Schema};
use datafusion::common::exec_err;
use datafusion::error::DataFusionError;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use crate::query::exec::search::holds;
use crate::query::layout::EntityLayout;
use crate::query::plan::expand::Guard;

/// Whether two edges are the same stored row. False where one is null.
pub(crate) fn same_edge(left: (&EntityLayout, Expr), right: (&EntityLayout, Expr)) -> Expr {
    let tables = left.0.tables.iter().map(|table| right.0.of_table(table.table).map(|(index, _)| index)).collect();
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
    /// What the right one calls each table of the left one.
    tables: Vec<Option<u16>>,
    signature: Signature,
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
        let same = BooleanBuffer::collect_bool(left.len(), |row| {
            let known = left.is_valid(row) && right.is_valid(row) && at_a.is_valid(row) && at_b.is_valid(row);
            known
                && at_a.value(row) == at_b.value(row)
                && self.tables.get(usize::from(a.value(row))).copied().flatten() == Some(b.value(row))
        });
        Ok(ColumnarValue::Array(Arc::new(BooleanArray::new(same, None))))
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
