//! Where plans are optimised and run: the cores of the machine, a bounded pool of memory, temporary files beyond it.

use std::fmt;
use std::num::NonZero;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use datafusion::error::DataFusionError;
use datafusion::execution::context::QueryPlanner;
use datafusion::execution::memory_pool::{FairSpillPool, MemoryPool};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{DefaultPhysicalPlanner, PhysicalPlanner as _};
use datafusion::prelude::SessionConfig;

use super::operators::Operators;
use crate::query::memory::Memory;

/// Rows of a batch. A row with a vector has some ten kilobytes, and operators hold several batches each.
const BATCH_ROWS: usize = 2048;
/// Memory for each thread of a query at least: its operators hold several batches of some megabytes each.
const THREAD_BYTES: usize = 64 << 20;

/// What all queries of a graph share: their memory, above all.
pub(crate) struct Sessions {
    memory_bytes: usize,
    /// Apart from the sessions, which take long to make and to copy: a change that reads nothing needs memory alone.
    pool: Arc<dyn MemoryPool>,
    /// Made for the first query: most uses of a graph have none.
    template: OnceLock<SessionState>,
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sessions({} bytes)", self.memory_bytes)
    }
}

impl Sessions {
    /// Queries that have so many bytes of memory together.
    pub(crate) fn new(memory_bytes: usize) -> Self {
        let pool = Arc::new(FairSpillPool::new(memory_bytes));
        Self { memory_bytes, pool, template: OnceLock::new() }
    }

    /// The memory that all of them share.
    pub(crate) fn memory(&self) -> Memory {
        Memory::new(self.pool.clone())
    }

    /// A session for one query.
    pub(crate) fn session(&self) -> Result<SessionState, DataFusionError> {
        if let Some(template) = self.template.get() {
            return Ok(template.clone());
        }
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let threads = cores.min(self.memory_bytes / THREAD_BYTES).max(1);
        let made = session(self.pool.clone(), self.memory_bytes, threads)?;
        // Of two that were made at once, one must do for all.
        Ok(self.template.get_or_init(|| made).clone())
    }
}

fn session(pool: Arc<dyn MemoryPool>, memory_bytes: usize, threads: usize) -> Result<SessionState, DataFusionError> {
    let runtime = RuntimeEnvBuilder::new().with_memory_pool(pool).build_arc()?;
    let mut config = SessionConfig::new().with_batch_size(BATCH_ROWS).with_target_partitions(threads);
    let options = config.options_mut();
    // Each sort keeps this much in reserve to merge what it has spilled; many at once must not eat up the pool.
    options.execution.sort_spill_reservation_bytes =
        options.execution.sort_spill_reservation_bytes.min(memory_bytes / (16 * threads));
    Ok(SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(runtime)
        .with_default_features()
        .with_query_planner(Arc::new(Planner))
        .build())
}

/// DataFusion's planner, which knows our operators too.
#[derive(Debug)]
struct Planner;

#[async_trait]
impl QueryPlanner for Planner {
    async fn create_physical_plan(
        &self,
        logical_plan: &LogicalPlan,
        session: &SessionState,
    ) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        DefaultPhysicalPlanner::with_extension_planners(vec![Arc::new(Operators)])
            .create_physical_plan(logical_plan, session)
            .await
    }
}
