//! The public face of a graph, and the core that all its handles share.

mod branches;
mod core;
mod error;
mod file;
mod gates;
mod history;
mod info;
mod init;
mod open;
mod outcome;
mod stats;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::ids::GraphId;
use crate::store::IoStats;

pub(crate) use self::core::Core;
pub(crate) use self::gates::{Access, Gate, Pass};
pub use crate::record::TableCounts;
pub use error::GraphError;
pub use info::{BranchInfo, ChangeInfo, CommitInfo, ParentInfo};
pub use init::InitOptions;
pub use open::GraphBuilder;
pub use outcome::RequestOutcome;
pub use stats::GraphStats;

use crate::clock::Timestamp;

/// An open graph. Cheap to clone; all calls may run at once.
#[derive(Debug, Clone)]
pub struct Graph {
    core: Arc<Core>,
}

/// Who asks for a change and how it is to be recorded.
#[derive(Debug, Clone, Default)]
pub struct ChangeOptions {
    /// Who asks.
    pub author: String,
    /// Why.
    pub message: String,
    /// Author time; the commit time when absent.
    pub author_time: Option<Timestamp>,
    /// The same id never takes effect twice on one branch (within its last 4,096 requests): the first outcome is returned
    /// again.
    pub request_id: Option<String>,
    /// Refuse unless this reference is the branch's head.
    pub if_head: Option<String>,
}

impl Graph {
    /// The graph's identity, whatever its address.
    #[must_use]
    pub fn id(&self) -> GraphId {
        self.core.file().graph
    }

    /// Where the graph is.
    #[must_use]
    pub fn uri(&self) -> &str {
        self.core.store().uri()
    }

    /// Requests of all handles of this graph since the last call.
    #[must_use]
    pub fn take_io(&self) -> IoStats {
        self.core.store().io().take()
    }

    /// What all handles of this graph share.
    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.core
    }

    /// A handle on `core`.
    pub(crate) fn over(core: Arc<Core>) -> Self {
        Self { core }
    }
}
