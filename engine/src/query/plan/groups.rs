//! The logical node behind grouping: it passes rows on, and keeps from DataFusion that the keys of groups are unique.
//!
//! DataFusion notes which columns of a projection depend on a group's keys by counting columns, and miscounts where an expression has
//! none (54.1, `calc_func_dependencies_for_project`): it then drops sort keys and group keys that it takes for redundant.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use datafusion::common::{DFSchema, DFSchemaRef, plan_err};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, UserDefinedLogicalNodeCore};

/// Rows as they come, with a schema that says nothing about them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Groups {
    input: LogicalPlan,
    schema: DFSchemaRef,
}

impl Groups {
    /// The rows of `input`.
    pub(crate) fn plan(input: LogicalPlan) -> Result<LogicalPlan, DataFusionError> {
        Ok(LogicalPlan::Extension(Extension { node: Arc::new(Self::new(input)?) }))
    }

    fn new(input: LogicalPlan) -> Result<Self, DataFusionError> {
        let columns = input.schema().iter().map(|(relation, field)| (relation.cloned(), field.clone()));
        let schema = DFSchema::new_with_metadata(columns.collect(), std::collections::HashMap::new())?;
        Ok(Self { input, schema: Arc::new(schema) })
    }
}

impl PartialOrd for Groups {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self == other).then_some(Ordering::Equal)
    }
}

impl UserDefinedLogicalNodeCore for Groups {
    fn name(&self) -> &'static str {
        "Groups"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    /// A condition on groups may be asked of the rows before, where it only names keys.
    fn prevent_predicate_push_down_columns(&self) -> std::collections::HashSet<String> {
        std::collections::HashSet::new()
    }

    fn necessary_children_exprs(&self, output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        Some(vec![output_columns.to_vec()])
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Groups")
    }

    fn with_exprs_and_inputs(&self, _exprs: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self, DataFusionError> {
        match <[LogicalPlan; 1]>::try_from(inputs) {
            Ok([input]) => Self::new(input),
            Err(inputs) => plan_err!("Groups have one input, not {}", inputs.len()),
        }
    }
}
