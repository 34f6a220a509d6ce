//! Why a statement could not be planned or run to its end, apart from what is wrong with its text.

use std::error::Error as StdError;
use std::sync::Arc;

use datafusion::error::DataFusionError;

use crate::error::{Classify, Error, ErrorKind};
use crate::query::fault::Fault;
use crate::table::TableError;

/// Why a statement could not be planned or run to its end.
#[derive(Debug, thiserror::Error)]
pub enum QueryRunError {
    /// A statement that changes the graph was to be read only.
    #[error("the statement changes the graph, and a query only reads")]
    Updates,
    /// The rows at work need more memory than queries may have.
    #[error("the query needs more memory than it may have: {reason}")]
    OutOfMemory {
        /// What was asked for, and what there was.
        reason: String,
    },
    /// A temporary file could not be used.
    #[error("cannot use a temporary file: {source}")]
    Temporary {
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// A fault of Pleach or of the engine that it plans with.
    #[error("the query could not be run: {source}")]
    Internal {
        /// What went wrong.
        #[source]
        source: Arc<DataFusionError>,
    },
}

impl Classify for QueryRunError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Updates => ErrorKind::Invalid,
            Self::OutOfMemory { .. } | Self::Temporary { .. } => ErrorKind::Unavailable,
            Self::Internal { .. } => ErrorKind::Internal,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Updates => "query-updates",
            Self::OutOfMemory { .. } => "query-out-of-memory",
            Self::Temporary { .. } => "query-temporary-file",
            Self::Internal { .. } => "query-internal",
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Updates => "use `run` to change the graph, or leave CREATE, MERGE, SET, REMOVE and DELETE out".into(),
            Self::OutOfMemory { .. } => {
                "return fewer rows or columns, or give queries more memory with `GraphBuilder::query_memory_bytes`"
                    .into()
            }
            Self::Temporary { .. } => "free space where TMPDIR points, or point it elsewhere".into(),
            Self::Internal { .. } => return None,
        })
    }

    // Memory may be free again, but what this query needs stays the same.
    fn is_retryable(&self) -> bool {
        false
    }
}

/// Carries an error of ours through a plan.
pub(crate) fn carry(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// What is at the bottom of an error of a plan.
pub(crate) enum Cause {
    /// An expression has no value.
    Fault(Fault),
    /// All else.
    Other(Error),
}

/// Finds what is at the bottom of an error of a plan.
pub(crate) fn cause_of(error: DataFusionError) -> Cause {
    let mut at: Option<&(dyn StdError + 'static)> = Some(&error);
    while let Some(inner) = at {
        if let Some(fault) = inner.downcast_ref::<Fault>() {
            return Cause::Fault(fault.clone());
        }
        if let Some(ours) = inner.downcast_ref::<Error>() {
            return Cause::Other(ours.clone());
        }
        if let Some(table) = inner.downcast_ref::<TableError>() {
            return Cause::Other(table.clone().into());
        }
        if let Some(known) = inner.downcast_ref::<DataFusionError>() {
            match known {
                DataFusionError::ResourcesExhausted(reason) => {
                    return Cause::Other(QueryRunError::OutOfMemory { reason: reason.clone() }.into());
                }
                DataFusionError::IoError(io) => {
                    let source = std::io::Error::new(io.kind(), io.to_string());
                    return Cause::Other(QueryRunError::Temporary { source }.into());
                }
                // Its `source` is that of what it holds.
                DataFusionError::External(held) => {
                    at = Some(held.as_ref());
                    continue;
                }
                DataFusionError::Shared(held) => {
                    at = Some(held.as_ref());
                    continue;
                }
                _ => {}
            }
        }
        at = inner.source();
    }
    Cause::Other(QueryRunError::Internal { source: Arc::new(error) }.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::Span;

    #[test]
    fn what_went_wrong_is_found_under_what_carries_it() {
        let fault = Fault { code: "x", message: "m".into(), help: None, span: Span::new(0, 1) };
        let wrapped = |error| DataFusionError::Context("while".into(), Box::new(error));
        let shared = DataFusionError::Shared(Arc::new(DataFusionError::External(Box::new(fault.clone()))));
        assert!(matches!(cause_of(wrapped(shared)), Cause::Fault(found) if found == fault));
        let full = wrapped(DataFusionError::ResourcesExhausted("no room".into()));
        assert!(matches!(cause_of(full), Cause::Other(error) if error.code() == "query-out-of-memory"));
        let ours = wrapped(carry(QueryRunError::Updates.into()));
        assert!(matches!(cause_of(ours), Cause::Other(error) if error.code() == "query-updates"));
        let arrow = arrow_schema::ArrowError::ExternalError(Box::new(fault.clone()));
        let through_arrow = DataFusionError::ArrowError(Box::new(arrow), None);
        assert!(matches!(cause_of(through_arrow), Cause::Fault(found) if found == fault));
        let unknown = DataFusionError::Plan("odd".into());
        assert!(matches!(cause_of(unknown), Cause::Other(error) if error.code() == "query-internal"));
    }
}
