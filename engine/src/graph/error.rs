//! Why a graph could not be made or opened.

use crate::error::{Classify, ErrorKind};
use crate::store::StoreError;

/// Why a graph could not be made or opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// There is nothing of ours.
    #[error("there is no graph at {uri}")]
    NotFound {
        /// Where.
        uri: String,
    },
    /// There is one already.
    #[error("there is a graph at {uri} already")]
    Exists {
        /// Where.
        uri: String,
    },
    /// There is a graph without its root, which would mix with a new one.
    #[error("{uri} holds what is left of another graph: {}", leftovers.join(", "))]
    Leftovers {
        /// Where.
        uri: String,
        /// Some of the objects.
        leftovers: Vec<String>,
    },
    /// The store breaks promises that a commit needs.
    #[error("{uri} cannot be trusted with commits: {}", broken.join("; "))]
    UnsafeStore {
        /// Where.
        uri: String,
        /// The promises it broke.
        broken: Vec<String>,
    },
    /// The store did not say whether the graph was made.
    #[error("whether a graph was made at {uri} could not be found out")]
    OutcomeUnknown {
        /// Where.
        uri: String,
        /// What the store said.
        #[source]
        source: StoreError,
    },
    /// `graph.json` contradicts itself.
    #[error("graph.json at {uri} is damaged: {problem}")]
    Damaged {
        /// Where.
        uri: String,
        /// In words.
        problem: &'static str,
    },
    /// The schema and the commit disagree on which tables there are.
    #[error("the commit `{place}` has no version of the table `{table}`")]
    TableMissing {
        /// The commit as a reference.
        place: String,
        /// The table.
        table: String,
    },
}

impl Classify for GraphError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotFound { .. } => ErrorKind::NotFound,
            Self::Exists { .. } => ErrorKind::AlreadyExists,
            Self::Leftovers { .. } | Self::UnsafeStore { .. } => ErrorKind::Invalid,
            Self::OutcomeUnknown { .. } => ErrorKind::OutcomeUnknown,
            Self::Damaged { .. } | Self::TableMissing { .. } => ErrorKind::Data,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "graph-not-found",
            Self::Exists { .. } => "graph-exists",
            Self::Leftovers { .. } => "graph-leftovers",
            Self::UnsafeStore { .. } => "store-unsafe",
            Self::OutcomeUnknown { .. } => "init-outcome-unknown",
            Self::Damaged { .. } => "graph-file-damaged",
            Self::TableMissing { .. } => "table-version-missing",
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NotFound { .. } => "check the address, or make a graph there with `pleach init`".to_owned(),
            Self::Exists { .. } => "open it, or choose another address".to_owned(),
            Self::Leftovers { .. } => {
                "choose another address; if the old graph is given up, remove everything below this one first"
                    .to_owned()
            }
            Self::UnsafeStore { .. } => {
                "`pleach probe` shows the details; `--allow-unsafe-store` goes on at the risk of losing commits"
                    .to_owned()
            }
            Self::OutcomeUnknown { .. } => {
                "try to open it once the store answers; if there is none, make it again".to_owned()
            }
            Self::Damaged { .. } | Self::TableMissing { .. } => "run `pleach fsck` to see what is affected".to_owned(),
        })
    }
}
