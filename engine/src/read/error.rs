//! Why rows could not be read or written out.

use crate::error::{Classify, ErrorKind, TEMPORARY_HINT};

/// Why rows could not be read or written out.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The commit has no such table.
    #[error("{reference} has no table {table}")]
    NoSuchTable {
        /// What was read.
        reference: String,
        /// The name that was asked for.
        table: String,
        /// A table that is called alike.
        like: Option<String>,
    },
    /// The key does not fit the table.
    #[error("{}is not a key of {table}: expected {expected}", .found.as_ref().map(|f| format!("{f} ")).unwrap_or_default())]
    WrongKey {
        /// The table.
        table: String,
        /// The part that does not fit.
        found: Option<String>,
        /// What was expected.
        expected: String,
    },
    /// The output took no more.
    #[error("cannot write the output: {source}")]
    Output {
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// A temporary file could not be used.
    #[error("cannot use a temporary file: {source}")]
    Temporary {
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
}

impl ReadError {
    /// Whether the reader of the output went away.
    #[must_use]
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output { source } if source.kind() == std::io::ErrorKind::BrokenPipe)
    }
}

impl Classify for ReadError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoSuchTable { .. } => ErrorKind::NotFound,
            Self::WrongKey { .. } => ErrorKind::Invalid,
            Self::Output { .. } | Self::Temporary { .. } => ErrorKind::Unavailable,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NoSuchTable { .. } => "unknown-table",
            Self::WrongKey { .. } => "wrong-key",
            Self::Output { .. } => "output",
            Self::Temporary { .. } => "temporary-file",
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::NoSuchTable { like: Some(like), .. } => Some(format!("did you mean {like}?")),
            Self::Temporary { .. } => Some(TEMPORARY_HINT.into()),
            _ => None,
        }
    }
}
