//! Our operators: from their logical nodes to what runs.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::error::DataFusionError;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{LogicalPlan, UserDefinedLogicalNode};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{ExtensionPlanner, PhysicalPlanner};

use super::expand::ExpandExec;
use super::optional::OptionalExec;
use crate::query::plan::expand::Expand;
use crate::query::plan::groups::Groups;
use crate::query::plan::optional::Optional;

/// Plans the nodes that are not DataFusion's.
pub(crate) struct Operators;

#[async_trait]
impl ExtensionPlanner for Operators {
    async fn plan_extension(
        &self,
        _planner: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        _logical_inputs: &[&LogicalPlan],
        physical_inputs: &[Arc<dyn ExecutionPlan>],
        _session: &SessionState,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>, DataFusionError> {
        if let (Some(expand), [input]) = (node.as_any().downcast_ref::<Expand>(), physical_inputs) {
            return Ok(Some(Arc::new(ExpandExec::new(input.clone(), expand.spec.clone()))));
        }
        if let (Some(optional), [matched, all]) = (node.as_any().downcast_ref::<Optional>(), physical_inputs) {
            return Ok(Some(Arc::new(OptionalExec::new(matched.clone(), all.clone(), &optional.number))));
        }
        if let (Some(_), [input]) = (node.as_any().downcast_ref::<Groups>(), physical_inputs) {
            return Ok(Some(input.clone()));
        }
        Ok(None)
    }
}
