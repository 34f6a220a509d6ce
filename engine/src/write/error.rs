//! Why a load or a write was not done.

use crate::error::{Classify, ErrorKind, TEMPORARY_HINT};
use crate::write::violation::{Violations, thousands};

/// Why a load or a write was not done.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The input, or what it would lead to, breaks rules. Nothing was written.
    #[error("{source_name} was refused, accepted {} of {} rows; {violations}", thousands(*.accepted), thousands(*.read))]
    Refused {
        /// The input, as its caller named it.
        source_name: String,
        /// Rows of the input.
        read: u64,
        /// Rows of it that break no rule.
        accepted: u64,
        /// What is wrong with the others.
        violations: Box<Violations>,
    },
    /// The input could not be read.
    #[error("cannot read {source_name} after line {line}: {source}")]
    Input {
        /// The input, as its caller named it.
        source_name: String,
        /// The last line that was read whole.
        line: u64,
        /// What the reader said.
        #[source]
        source: std::io::Error,
    },
    /// A temporary file of this process could not be written or read.
    #[error("cannot use a temporary file: {source}")]
    Temporary {
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// Rows could not be laid out in columns.
    #[error("cannot lay out rows of {table}: {source}")]
    Columns {
        /// The table.
        table: String,
        /// What Arrow said.
        #[source]
        source: arrow_schema::ArrowError,
    },
    /// The catalog contradicts itself.
    #[error("the schema of {table} is broken: {reason}")]
    Catalog {
        /// The table.
        table: String,
        /// In words.
        reason: String,
    },
    /// Another process changed the schema while the input was read.
    #[error("the schema of {branch} changed while {source_name} was read")]
    SchemaChanged {
        /// The branch.
        branch: String,
        /// The input, as its caller named it.
        source_name: String,
    },
    /// A task of this process died or was cancelled.
    #[error("reading {source_name} was broken off: {reason}")]
    BrokenOff {
        /// The input, as its caller named it.
        source_name: String,
        /// In words.
        reason: String,
    },
}

impl Classify for WriteError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Refused { .. } | Self::Input { .. } => ErrorKind::Invalid,
            Self::Temporary { .. } => ErrorKind::Unavailable,
            Self::Catalog { .. } => ErrorKind::Data,
            Self::SchemaChanged { .. } => ErrorKind::Contention,
            Self::Columns { .. } | Self::BrokenOff { .. } => ErrorKind::Internal,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Refused { .. } => "input-refused",
            Self::Input { .. } => "input-unreadable",
            Self::Temporary { .. } => "temporary-file",
            Self::Columns { .. } => "columns",
            Self::Catalog { .. } => "broken-schema",
            Self::SchemaChanged { .. } => "schema-changed",
            Self::BrokenOff { .. } => "broken-off",
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Refused { violations, .. } => {
                let codes: Vec<_> = violations.reasons().iter().map(|(reason, ..)| reason.code).collect();
                if codes.contains(&"key-exists") {
                    Some("load with --mode upsert to replace rows whose key exists".into())
                } else if codes.contains(&"dangling-edge") {
                    Some("load the nodes first or in the same input; delete a node's edges before the node".into())
                } else {
                    Some("nothing was written; correct the input and run it again".into())
                }
            }
            Self::Temporary { .. } => Some(TEMPORARY_HINT.into()),
            Self::SchemaChanged { .. } => Some("run it again".into()),
            Self::Input { .. } | Self::Columns { .. } | Self::Catalog { .. } | Self::BrokenOff { .. } => None,
        }
    }
}
