//! Why a publish did not happen, or cannot be said to have.

use std::sync::Arc;

use crate::branch::BranchName;
use crate::error::{Classify, ErrorKind};
use crate::ids::{CommitId, Seq};
use crate::store::StoreError;

/// Why a publish did not happen, or cannot be said to have.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// Others published first until the time was up.
    #[error("others published to `{branch}` first, {attempts} times in a row")]
    Contention {
        /// The branch.
        branch: BranchName,
        /// How often it was tried.
        attempts: u32,
    },
    /// The branch's head is not the one that was named.
    #[error("the head of `{branch}` is `{branch}@{head}`, not `{expected}`")]
    HeadMoved {
        /// The branch.
        branch: BranchName,
        /// The position of its head.
        head: Seq,
        /// What was named.
        expected: String,
    },
    /// The branch was deleted and created again meanwhile.
    #[error("the branch `{branch}` was deleted and created again meanwhile")]
    Recreated {
        /// The branch.
        branch: BranchName,
    },
    /// The store did not say whether the record was put.
    #[error("whether commit {commit} was published to `{branch}` could not be found out")]
    OutcomeUnknown {
        /// The branch.
        branch: BranchName,
        /// The position it was put at.
        seq: Seq,
        /// The commit, if it was published.
        commit: CommitId,
        /// By which name the outcome may be asked for again.
        request_id: Option<String>,
        /// What the store said.
        #[source]
        source: Option<Arc<StoreError>>,
    },
    /// The task that published ended early, before it put a record.
    #[error("publishing to `{branch}` failed within Pleach; nothing was published")]
    Broken {
        /// The branch.
        branch: BranchName,
    },
    /// A request id names another request, which took effect.
    #[error("this request id was used for {} {used_for} at `{branch}@{seq}`", article(*same_kind))]
    RequestReused {
        /// The branch.
        branch: BranchName,
        /// The position of the commit.
        seq: Seq,
        /// What it did there: `write`, `load`, `create`, …
        used_for: String,
        /// Whether this request is of that kind as well, but asks for something else.
        same_kind: bool,
    },
    /// The recorded outcome of a request is not what its branch log says.
    #[error(
        "the log of `{branch}` says that this request is change {change} of commit {seq}, which has no such change"
    )]
    OutcomeLost {
        /// The branch.
        branch: BranchName,
        /// The commit's position.
        seq: Seq,
        /// The change's number.
        change: u32,
    },
}

fn article(same_kind: bool) -> &'static str {
    if same_kind { "another" } else { "a" }
}

impl Classify for PublishError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Contention { .. } | Self::HeadMoved { .. } | Self::Recreated { .. } => ErrorKind::Contention,
            Self::OutcomeUnknown { .. } => ErrorKind::OutcomeUnknown,
            Self::Broken { .. } => ErrorKind::Internal,
            Self::RequestReused { .. } => ErrorKind::Invalid,
            Self::OutcomeLost { .. } => ErrorKind::Data,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Contention { .. } => "contention",
            Self::HeadMoved { .. } => "head-moved",
            Self::Recreated { .. } => "branch-recreated",
            Self::OutcomeUnknown { .. } => "outcome-unknown",
            Self::Broken { .. } => "publish-broken",
            Self::RequestReused { .. } => "request-id-reused",
            Self::OutcomeLost { .. } => "request-outcome-lost",
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Contention { .. } => "nothing was published; try again".to_owned(),
            Self::HeadMoved { .. } => {
                "look at what arrived with `pleach log`, then try again with the new head".to_owned()
            }
            Self::Recreated { .. } => "nothing was published; try again to change the new branch".to_owned(),
            Self::OutcomeUnknown { request_id: Some(id), branch, .. } => {
                format!(
                    "send it again soon with the request id `{id}`: it cannot take effect twice while that is among the last 4,096 of `{branch}`"
                )
            }
            Self::OutcomeUnknown { branch, commit, .. } => {
                format!(
                    "`pleach show {branch}@{commit}` tells, once the store answers; with a request id it could be sent again safely"
                )
            }
            Self::Broken { .. } => "this is a fault of Pleach; please report it".to_owned(),
            Self::RequestReused { .. } => {
                "give each request an id of its own; what is sent again must ask for the same, to the letter".to_owned()
            }
            Self::OutcomeLost { .. } => "run `pleach fsck` to see what else is affected".to_owned(),
        })
    }

    fn is_retryable(&self) -> bool {
        match self {
            Self::Contention { .. } | Self::Recreated { .. } => true,
            Self::OutcomeUnknown { request_id, .. } => request_id.is_some(),
            // The same request names the same head, which will not come back.
            Self::HeadMoved { .. } | Self::Broken { .. } | Self::RequestReused { .. } | Self::OutcomeLost { .. } => {
                false
            }
        }
    }
}
