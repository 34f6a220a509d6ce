//! From bound expressions to DataFusion's, over columns `v0`, `v1`, …
//!
//! What DataFusion's operators and a few kernels of our own compute exactly as [`eval`](super::eval) does is computed by columns. Everything
//! else becomes one function that evaluates a whole sub-tree row by row ([`row`]).
//!
//! Invariants
//! 1. Whatever column an expression becomes, its values are those of `eval`.
//! 2. An operand that openCypher does not evaluate (behind a deciding `AND`, in an arm that is not chosen) raises no fault. So only operands
//!    that never do are given to operators of DataFusion that evaluate all operands for all rows.
//! 3. An expression that may raise a fault, or that draws random numbers, is volatile to DataFusion: it is neither moved to rows that would not
//!    have reached it, nor evaluated twice.

mod aggregate;
mod collect;
mod conditions;
mod finish;
mod join;
mod kernel;
mod keys;
mod native;
mod nature;
mod row;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use datafusion::common::{Column, ScalarValue};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{Expr as Df, ScalarUDF};

use super::arrow::scalar;
use super::bound::{Expr, VarId};
use super::eval::EvalContext;
use super::fault::Fault;
use super::kind::Kind;
use super::layout::Layouts;
use super::memory::Memory;
use super::value::CypherValue;
use crate::syntax::Span;
use kernel::Kernel;
use row::RowFunction;

/// The name of a variable's column.
pub(crate) fn column_name(var: VarId) -> String {
    format!("v{}", var.0)
}

/// A variable's column.
pub(crate) fn column(var: VarId) -> Df {
    Df::Column(Column::new_unqualified(column_name(var)))
}

/// Compiles the expressions of one statement. All errors that are not faults of the text are internal.
#[derive(Debug, Clone)]
pub(crate) struct Compiler {
    layouts: Arc<Layouts>,
    context: Arc<EvalContext>,
    /// What the values that are evaluated row by row are held in; not counted without.
    memory: Option<Memory>,
}

impl Compiler {
    pub(crate) const fn new(layouts: Arc<Layouts>, context: Arc<EvalContext>) -> Self {
        Self { layouts, context, memory: None }
    }

    /// The same, for plans that run in `memory`.
    pub(crate) fn within(self, memory: Memory) -> Self {
        Self { memory: Some(memory), ..self }
    }

    pub(crate) const fn context(&self) -> &Arc<EvalContext> {
        &self.context
    }

    /// An expression whose column is of the type that [`Layouts::data_type`] gives for the expression's kind.
    pub(crate) fn expr(&self, expr: &Expr) -> Result<Df> {
        match self.native(expr)? {
            Some(native) => Ok(native),
            None => self.row(expr),
        }
    }

    /// A constant of `kind`.
    fn constant(&self, value: &CypherValue, kind: &Kind, span: Span) -> Result<Df> {
        let scalar = scalar(value, kind, &self.layouts).map_err(|unfit| external(unfit.at(span)))?;
        Ok(Df::Literal(scalar, None))
    }

    /// Null, as a column of `kind`.
    fn null(&self, kind: &Kind) -> Result<Df> {
        Ok(Df::Literal(ScalarValue::try_from(&self.layouts.data_type(kind))?, None))
    }

    /// A column of kind `from` as one of kind `to`.
    fn converted(&self, column: Df, from: &Kind, to: &Kind, span: Span) -> Result<Df> {
        match (from, to) {
            _ if from == to => Ok(column),
            (Kind::Null, to) => self.null(to),
            (Kind::Integer | Kind::Unsigned, Kind::Float) => {
                Ok(datafusion::logical_expr::cast(column, self.layouts.data_type(to)))
            }
            _ => Ok(self.converted_by_rows(column, from, to, span)),
        }
    }
}

fn external(fault: Fault) -> DataFusionError {
    DataFusionError::External(Box::new(fault))
}

fn call(kernel: Kernel, arguments: Vec<Df>) -> Df {
    ScalarUDF::new_from_impl(kernel::Function::new(kernel, arguments.len())).call(arguments)
}

fn call_row(function: RowFunction, arguments: Vec<Df>) -> Df {
    ScalarUDF::new_from_impl(function).call(arguments)
}
