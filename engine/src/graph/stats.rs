//! What a graph is doing.

use super::Graph;
use crate::admission::Fullness;
use crate::lane::LaneStats;

/// What all handles of an open graph are doing, and have done since it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GraphStats {
    /// How full the limits are beyond which requests are refused.
    pub fullness: Fullness,
    /// How writes, statements and small loads waited and shared commits.
    pub lanes: LaneStats,
}

impl Graph {
    /// What all handles of this graph are doing.
    ///
    /// ```
    /// # use pleach::{Error, Graph, InitOptions};
    /// # #[tokio::main] async fn main() -> Result<(), Error> {
    /// # let ddl = "CREATE NODE TABLE Person (id STRING PRIMARY KEY, name STRING);";
    /// # let graph = Graph::init("memory://stats-example", ddl, InitOptions::default()).await?;
    /// assert_eq!(graph.stats().fullness.writes.now, 0);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn stats(&self) -> GraphStats {
        GraphStats { fullness: self.core().admission().fullness(), lanes: self.core().lanes().stats() }
    }
}
