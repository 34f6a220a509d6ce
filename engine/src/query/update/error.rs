//! Why a statement was not done, apart from what is wrong with its text or its values.

use crate::error::{Classify, ErrorKind};
use crate::write::Violations;

/// Why a statement was not done, apart from what is wrong with its text or its values.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UpdateError {
    /// What it would do breaks rules of the schema. Nothing was written.
    #[error("the statement was refused, for what it would do breaks rules of the schema; {violations}")]
    Refused {
        /// What is wrong; the line of a violation is the line of the statement that asks for it.
        violations: Box<Violations>,
    },
    /// A row that the statement has read is not found by its key.
    #[error("the {table} {key} was read and is not found by its key")]
    RowLost {
        /// The table.
        table: String,
        /// The key.
        key: String,
    },
    /// A statement that only reads was to be done as one that changes something.
    #[error("the statement changes nothing")]
    NothingToDo,
    /// The statement names a table that the schema lacks.
    #[error("the statement was bound to another schema than the one it is done under")]
    NoSuchTable,
}

impl Classify for UpdateError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Refused { .. } => ErrorKind::Invalid,
            Self::RowLost { .. } => ErrorKind::Data,
            Self::NothingToDo | Self::NoSuchTable => ErrorKind::Internal,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Refused { .. } => "changes-refused",
            Self::RowLost { .. } => "row-lost",
            Self::NothingToDo | Self::NoSuchTable => "statement-misbound",
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Refused { violations } => {
                let codes: Vec<_> = violations.reasons().iter().map(|(reason, ..)| reason.code).collect();
                if codes.contains(&"key-exists") || codes.contains(&"duplicate-key") {
                    "nothing was written; MERGE finds a row by its key, and makes it only if there is none".to_owned()
                } else if codes.contains(&"dangling-edge") {
                    "nothing was written; DETACH DELETE deletes a node together with its edges".to_owned()
                } else {
                    "nothing was written; correct the statement and run it again".to_owned()
                }
            }
            Self::RowLost { .. } => "run `pleach fsck` to see what is affected".to_owned(),
            Self::NothingToDo | Self::NoSuchTable => "this is a fault of Pleach; please report it".to_owned(),
        })
    }
}
