//! Why a branch or a commit could not be found, made or deleted.

use super::name::BranchName;
use super::reference::Reference;
use crate::clock::Timestamp;
use crate::error::{Classify, ErrorKind};
use crate::ids::Seq;
use crate::record::lineage::{ChunkHash, InvalidChunk, MissingChunk};
use crate::schema::SchemaHash;

/// Why a branch or a commit could not be found, made or deleted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BranchError {
    /// The name was never used.
    #[error("there is no branch `{name}`")]
    NotFound {
        /// The name.
        name: BranchName,
        /// A living branch that is called alike.
        like: Option<String>,
    },
    /// The branch was deleted.
    #[error("the branch `{name}` was deleted at {time}")]
    Deleted {
        /// Its name in the spelling it had.
        name: BranchName,
        /// The position of its last commit.
        last: Seq,
        /// When.
        time: Timestamp,
    },
    /// A branch of that name lives, perhaps in another spelling.
    #[error("the branch `{existing}` exists")]
    Exists {
        /// The spelling it was created with.
        existing: BranchName,
        /// The spelling that was asked for.
        asked: BranchName,
    },
    /// `main` was to be deleted.
    #[error("`main` cannot be deleted")]
    MainIsPermanent,
    /// The branch has no such commit.
    #[error("there is no commit `{reference}`")]
    CommitNotFound {
        /// What was looked for.
        reference: Box<Reference>,
        /// The position of the branch's last commit.
        last: Seq,
    },
    /// Nothing was on the branch at that moment.
    #[error("the branch `{name}` did not exist at {time}")]
    NotYet {
        /// The branch.
        name: BranchName,
        /// The moment asked for.
        time: Timestamp,
        /// What it was later forked from, as a reference.
        forked_from: Option<String>,
    },
    /// History ends before.
    #[error("`{reference}` goes back beyond the first commit")]
    BeyondFirst {
        /// What was looked for.
        reference: Box<Reference>,
    },
    /// The commit carries fewer changes.
    #[error("`{reference}` names a change that the commit does not have: it has {changes}")]
    ChangeNotFound {
        /// What was looked for.
        reference: Box<Reference>,
        /// How many it carries.
        changes: usize,
    },
    /// The record is kept, but its tables were given up.
    #[error("the commit `{place}` was collected by gc")]
    Collected {
        /// The commit as a reference.
        place: String,
    },
    /// Two records that must follow one another do not: the store replaced an entry.
    #[error("the record at `{place}` is not the one that was published there")]
    Replaced {
        /// The position as a reference.
        place: String,
    },
    /// A record that must exist is missing.
    #[error("the record at `{place}` is missing")]
    RecordMissing {
        /// The position as a reference.
        place: String,
    },
    /// The log's end moved backwards.
    #[error("the log of `{name}` ends at {found}, and ended at {known} before")]
    Shortened {
        /// The branch.
        name: BranchName,
        /// The position known to exist.
        known: Seq,
        /// The last position found.
        found: Seq,
    },
    /// A record names a schema that is not there, or is another's.
    #[error("the schema `schemas/{hash}.json` is {what}")]
    Schema {
        /// Its name.
        hash: SchemaHash,
        /// Missing or damaged.
        what: &'static str,
    },
    /// A record names a lineage chunk that is not there.
    #[error("the lineage chunk `lineages/{hash}` is missing")]
    ChunkMissing {
        /// Its name.
        hash: ChunkHash,
    },
    /// A lineage chunk is damaged.
    #[error(transparent)]
    ChunkInvalid(#[from] InvalidChunk),
    /// The task that looked for the head ended before it had an answer.
    #[error("looking for the head of `{name}` failed")]
    Interrupted {
        /// The branch.
        name: BranchName,
    },
}

impl From<MissingChunk> for BranchError {
    fn from(missing: MissingChunk) -> Self {
        Self::ChunkMissing { hash: missing.hash }
    }
}

impl Classify for BranchError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotFound { .. }
            | Self::Deleted { .. }
            | Self::CommitNotFound { .. }
            | Self::NotYet { .. }
            | Self::BeyondFirst { .. }
            | Self::ChangeNotFound { .. }
            | Self::Collected { .. } => ErrorKind::NotFound,
            Self::Exists { .. } => ErrorKind::AlreadyExists,
            Self::MainIsPermanent => ErrorKind::Invalid,
            Self::Replaced { .. }
            | Self::RecordMissing { .. }
            | Self::Shortened { .. }
            | Self::Schema { .. }
            | Self::ChunkMissing { .. }
            | Self::ChunkInvalid(_) => ErrorKind::Data,
            Self::Interrupted { .. } => ErrorKind::Internal,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "branch-not-found",
            Self::Deleted { .. } => "branch-deleted",
            Self::Exists { .. } => "branch-exists",
            Self::MainIsPermanent => "main-is-permanent",
            Self::CommitNotFound { .. } => "commit-not-found",
            Self::NotYet { .. } => "branch-not-yet",
            Self::BeyondFirst { .. } => "beyond-first-commit",
            Self::ChangeNotFound { .. } => "change-not-found",
            Self::Collected { .. } => "commit-collected",
            Self::Replaced { .. } => "record-replaced",
            Self::RecordMissing { .. } => "record-missing",
            Self::Shortened { .. } => "log-shortened",
            Self::Schema { .. } => "schema-object-broken",
            Self::ChunkInvalid(InvalidChunk::Format { .. }) => "record-format",
            Self::ChunkMissing { .. } | Self::ChunkInvalid(_) => "lineage-broken",
            Self::Interrupted { .. } => "head-search-failed",
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NotFound { like: Some(like), .. } => format!("did you mean `{like}`?"),
            Self::NotFound { .. } => "`pleach branch list` shows the branches".to_owned(),
            Self::Deleted { name, last, .. } => format!("create it again from its last commit, `{name}@{last}`, or from another"),
            Self::Exists { existing, asked } if existing.as_str() != asked.as_str() => {
                format!("`{asked}` and `{existing}` are one name; choose another")
            }
            Self::Exists { .. } => "choose another name, or delete the branch first".to_owned(),
            Self::CommitNotFound { reference, .. } if reference.bare => {
                format!("a lone commit id is looked up in `main`; name its branch: `BRANCH@{reference}`")
            }
            Self::CommitNotFound { reference, last } => format!("the last commit is `{}@{last}`", reference.branch),
            Self::NotYet { forked_from: Some(source), .. } => format!("it was forked from `{source}`; look in that branch"),
            Self::NotYet { .. } | Self::BeyondFirst { .. } => "`pleach log` shows the commits".to_owned(),
            Self::ChangeNotFound { .. } => "changes are counted from 0".to_owned(),
            Self::Collected { .. } => "only commits that a branch or tag still reaches can be read".to_owned(),
            Self::Replaced { .. } | Self::RecordMissing { .. } | Self::Shortened { .. } => {
                "the store broke its promise to keep what was put: run `pleach probe` on it and `pleach fsck` on the graph, and do not write before".to_owned()
            }
            Self::ChunkInvalid(InvalidChunk::Format { .. }) => {
                "use the version of Pleach that wrote this graph, or a later one".to_owned()
            }
            Self::Schema { .. } | Self::ChunkMissing { .. } | Self::ChunkInvalid(_) => {
                "run `pleach fsck` to see what else is affected".to_owned()
            }
            Self::MainIsPermanent | Self::Interrupted { .. } => return None,
        })
    }
}
