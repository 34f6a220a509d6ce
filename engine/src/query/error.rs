//! Why a statement could not be run.

use super::fault::Fault;
use crate::error::{Classify, ErrorKind};
use crate::syntax::{Finding, Problem, locate_all, render};

/// Why a statement could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The text of the statement is wrong, in one or several places, or asks for what is not supported.
    #[error("{}", render("the statement cannot be run", problems))]
    Refused {
        /// All that was found, in the order of the text.
        problems: Vec<Problem>,
    },
    /// An expression has no value for some row: a division by zero, a number out of bounds.
    #[error("{}", render("the statement failed", std::slice::from_ref(&**problem)))]
    Failed {
        /// What happened, stable and in kebab-case.
        code: &'static str,
        /// Which expression, and with which values.
        problem: Box<Problem>,
    },
    /// The parameters cannot be read.
    #[error("the parameters cannot be used: {reason}")]
    Parameters {
        /// What is wrong, and with which of them.
        reason: String,
    },
}

impl QueryError {
    /// All that is wrong with the statement `text`.
    pub(crate) fn refused(text: &str, findings: Vec<Finding>) -> Self {
        Self::Refused { problems: locate_all(text, findings) }
    }

    /// A fault of some row, shown where its expression stands in the statement `text`.
    pub(crate) fn failed(text: &str, fault: Fault) -> Self {
        let Fault { code, message, help, span } = fault;
        Self::Failed { code, problem: Box::new(Problem::locate(text, Finding { span, message, help })) }
    }
}

impl Classify for QueryError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Invalid
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Refused { .. } => "invalid-query",
            Self::Failed { code, .. } => code,
            Self::Parameters { .. } => "invalid-parameter",
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Refused { .. } | Self::Failed { .. } => None,
            Self::Parameters { .. } => {
                Some("parameters are one JSON object, such as {\"id\": 1, \"names\": [\"a\", \"b\"]}".to_owned())
            }
        }
    }
}
