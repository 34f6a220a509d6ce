//! Columns and rows must agree.

mod agreement;
mod groups;
mod laziness;
mod sorting;

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema};
use datafusion::common::ToDFSchema as _;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::Expr as Df;
use datafusion::prelude::SessionContext;

use super::*;
use crate::query::arrow::{Reader, encode};
use crate::query::eval::{Row, evaluate};
use crate::query::exec::error::{Cause, cause_of};
use crate::query::fault::Fault;
use crate::query::testing::{context, identical, layouts};
use crate::value::Value;

pub(super) fn compiler() -> Compiler {
    Compiler::new(Arc::new(layouts()), Arc::new(context()))
}

/// A batch whose column `v{i}` is the i-th of `columns`.
pub(super) fn batch(columns: &[(Kind, Vec<CypherValue>)]) -> RecordBatch {
    let layouts = layouts();
    let rows = columns.first().map_or(1, |(_, values)| values.len());
    let arrays: Vec<ArrayRef> = columns.iter().map(|(kind, values)| encode(values, kind, &layouts).unwrap()).collect();
    let field = |(at, array): (usize, &ArrayRef)| Field::new(format!("v{at}"), array.data_type().clone(), true);
    let schema = Arc::new(Schema::new(arrays.iter().enumerate().map(field).collect::<Vec<_>>()));
    RecordBatch::try_new_with_options(schema, arrays, &RecordBatchOptions::new().with_row_count(Some(rows))).unwrap()
}

pub(super) struct At<'a> {
    columns: &'a [(Kind, Vec<CypherValue>)],
    row: usize,
}

impl Row for At<'_> {
    fn value(&self, var: VarId) -> Cow<'_, CypherValue> {
        Cow::Borrowed(&self.columns[var.0 as usize].1[self.row])
    }
}

/// What DataFusion makes of a compiled expression, its optimizer of expressions included.
pub(super) fn by_columns(df: Df, kind: &Kind, columns: &[(Kind, Vec<CypherValue>)]) -> Result<Vec<CypherValue>> {
    let batch = batch(columns);
    let schema = batch.schema().to_dfschema()?;
    let physical = SessionContext::new().create_physical_expr(df, &schema)?;
    let array = physical.evaluate(&batch)?.into_array(batch.num_rows())?;
    let layouts = layouts();
    let reader = Reader::new(array.as_ref(), kind, &layouts)?;
    Ok((0..batch.num_rows()).map(|row| reader.value(row)).collect())
}

/// Holds `expr` by columns against `expr` by rows: the same values, or a fault where there is one.
pub(super) fn assert_agrees(expr: &Expr, columns: &[(Kind, Vec<CypherValue>)]) {
    let df = compiler().expr(expr).unwrap();
    let shown = df.to_string();
    let found = by_columns(df, &expr.kind, columns);
    let cx = context();
    let rows = columns.first().map_or(1, |(_, values)| values.len());
    let meant: std::result::Result<Vec<CypherValue>, Fault> =
        (0..rows).map(|row| evaluate(expr, &At { columns, row }, &cx)).collect();
    match (meant, found) {
        (Ok(meant), Ok(found)) => {
            for (row, (meant, found)) in meant.iter().zip(&found).enumerate() {
                assert!(
                    identical(meant, found),
                    "{shown} is {found:?} by columns and {meant:?} by rows, row {row} of {columns:?}"
                );
            }
            assert_eq!(meant.len(), found.len());
        }
        (Err(fault), Err(error)) => {
            let told = error.to_string();
            assert_eq!(fault_of(error), Some(fault), "{told}");
        }
        (meant, found) => panic!("{shown} is {found:?} by columns and {meant:?} by rows of {columns:?}"),
    }
}

/// Whether no part of it is evaluated row by row.
pub(super) fn is_by_columns(expr: &Expr) -> bool {
    !compiler().expr(expr).unwrap().to_string().contains("cypher[")
}

/// The fault that made a plan fail, if it was one.
fn fault_of(error: DataFusionError) -> Option<Fault> {
    match cause_of(error) {
        Cause::Fault(fault) => Some(fault),
        Cause::Other(_) => None,
    }
}
