//! What can be wrong with a schema, shown where it is wrong.

use crate::error::{Classify, ErrorKind};
use crate::syntax::{Finding, Problem, locate_all, render};

/// A schema cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The text of a schema is wrong, in one or several places.
    #[error("{}", render("the schema cannot be used", problems))]
    Ddl {
        /// All that was found, in the order of the text.
        problems: Vec<Problem>,
    },
    /// The text of a schema asks for what the present one cannot become.
    #[error("{}", render("the schema cannot be changed to this", problems))]
    Change {
        /// All that was found, in the order of the text.
        problems: Vec<Problem>,
    },
    /// A graph was to be made without any table.
    #[error("the schema declares no table")]
    Empty,
    /// A condition of a stored schema cannot be compiled.
    #[error("the CHECK ({expression}) of table `{table}` cannot be used: {problem}")]
    Check {
        /// The table that the condition belongs to.
        table: String,
        /// The condition.
        expression: String,
        /// Where it is wrong.
        problem: Box<Problem>,
    },
    /// A stored schema is of a format that this version does not know.
    #[error("the stored schema has format {found}; this version of Pleach reads format {known}")]
    Format {
        /// What the object says.
        found: u64,
        /// What can be read.
        known: u64,
    },
    /// A stored schema is not what was once written.
    #[error("the stored schema cannot be read")]
    Decode {
        /// Where the JSON is wrong.
        #[source]
        source: serde_json::Error,
    },
    /// A stored schema can be read but contradicts itself.
    #[error("the stored schema is damaged: {reason}")]
    Damaged {
        /// The rule that it breaks.
        reason: String,
    },
}

impl Classify for SchemaError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Ddl { .. } | Self::Change { .. } | Self::Empty => ErrorKind::Invalid,
            Self::Check { .. } | Self::Format { .. } | Self::Decode { .. } | Self::Damaged { .. } => ErrorKind::Data,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Ddl { .. } | Self::Empty => "invalid-schema",
            Self::Change { .. } => "unsupported-schema-change",
            Self::Check { .. } => "unusable-check",
            Self::Format { .. } => "unknown-schema-format",
            Self::Decode { .. } | Self::Damaged { .. } => "damaged-schema",
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Change { .. } => Some("docs/schema.md says which changes there are".to_owned()),
            Self::Ddl { .. } => Some("the schema language is described in docs/schema.md".to_owned()),
            Self::Empty => Some(
                "write one at least, such as CREATE NODE TABLE Person (id STRING PRIMARY KEY, name STRING);".to_owned(),
            ),
            Self::Check { .. } | Self::Format { .. } => {
                Some("use the version of Pleach that wrote the schema".to_owned())
            }
            Self::Decode { .. } | Self::Damaged { .. } => {
                Some("restore the object from a copy of the graph".to_owned())
            }
        }
    }
}

/// Everything that is wrong with `text`.
pub(super) fn ddl_error(text: &str, findings: Vec<Finding>) -> SchemaError {
    SchemaError::Ddl { problems: locate_all(text, findings) }
}

/// Everything that `text` asks for and that cannot be done.
pub(super) fn change_error(text: &str, findings: Vec<Finding>) -> SchemaError {
    SchemaError::Change { problems: locate_all(text, findings) }
}
