//! The logical node of `OPTIONAL MATCH`: the rows that the pattern made of numbered rows, then those of which it made none, with nulls.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use datafusion::common::{DFSchema, DFSchemaRef, plan_err};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, UserDefinedLogicalNodeCore};

/// Its columns are those of `matched` but the number.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Optional {
    /// The matches; each has the number of the row that it was made of.
    matched: LogicalPlan,
    /// All rows, with their numbers. Their columns are among those of `matched`.
    all: LogicalPlan,
    /// The column of the number, the same in both.
    pub(crate) number: String,
    schema: DFSchemaRef,
}

impl Optional {
    /// The plan that completes matches by what was not matched.
    pub(crate) fn plan(matched: LogicalPlan, all: LogicalPlan, number: String) -> Result<LogicalPlan, DataFusionError> {
        Ok(LogicalPlan::Extension(Extension { node: Arc::new(Self::new(matched, all, number)?) }))
    }

    fn new(matched: LogicalPlan, all: LogicalPlan, number: String) -> Result<Self, DataFusionError> {
        let columns = matched.schema().iter().filter(|(_, field)| *field.name() != number);
        // What a row without matches lacks may be null, whatever it is in a match.
        let columns = columns.map(|(_, field)| (None, Arc::new(field.as_ref().clone().with_nullable(true))));
        let schema = DFSchema::new_with_metadata(columns.collect(), std::collections::HashMap::new())?;
        Ok(Self { matched, all, number, schema: Arc::new(schema) })
    }
}

impl PartialOrd for Optional {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self == other).then_some(Ordering::Equal)
    }
}

impl UserDefinedLogicalNodeCore for Optional {
    fn name(&self) -> &'static str {
        "Optional"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.matched, &self.all]
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Optional")
    }

    fn with_exprs_and_inputs(&self, _exprs: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self, DataFusionError> {
        match <[LogicalPlan; 2]>::try_from(inputs) {
            Ok([matched, all]) => Self::new(matched, all, self.number.clone()),
            Err(inputs) => plan_err!("an Optional has two inputs, not {}", inputs.len()),
        }
    }
}
