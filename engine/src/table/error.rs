//! What can fail in a table, told apart by what happened underneath and never by the text of a message.

use std::any::Any;
use std::error::Error as StdError;
use std::io;
use std::sync::Arc;

use crate::error::{Classify, ErrorKind};
use crate::ids::TableId;

/// A failure of reading or writing a table version.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum TableError {
    /// The store refused or did not answer.
    #[error("the store failed while {action} table {table}")]
    Unavailable {
        /// The table.
        table: TableId,
        /// What was being done: "reading", "writing", ….
        action: &'static str,
        /// What Lance said.
        #[source]
        source: Arc<lance::Error>,
    },
    /// A file of the version is missing or is not what it should be.
    #[error("a file that table {table} needs is missing or damaged (found while {action} it)")]
    Unreadable {
        /// The table.
        table: TableId,
        /// What was being done.
        action: &'static str,
        /// What Lance said.
        #[source]
        source: Arc<lance::Error>,
    },
    /// The files of the version contradict the record or the schema.
    #[error("table {table} is damaged: {problem}")]
    Damaged {
        /// The table.
        table: TableId,
        /// What is wrong.
        problem: String,
    },
    /// An address names no row of the version that is written upon.
    #[error("address {address:#x} names no row of version {version} of table {table}")]
    NoSuchRow {
        /// The table.
        table: TableId,
        /// The version written upon.
        version: u64,
        /// The row address.
        address: u64,
    },
    /// A scan or filter names a column that the layout does not have.
    #[error("table {table} has no column {column}")]
    NoSuchColumn {
        /// The table.
        table: TableId,
        /// The name, or the index, that was asked for.
        column: String,
    },
    /// Rows to insert do not have the columns of the layout.
    #[error("rows for table {table} have other columns than the table: {problem}")]
    OtherColumns {
        /// The table.
        table: TableId,
        /// The difference.
        problem: String,
    },
    /// A write came to another number of rows than it was to.
    #[error("a write to table {table} came to {found} rows in place of {expected}")]
    WrongRows {
        /// The table.
        table: TableId,
        /// The live rows of what was written.
        found: u64,
        /// Those there were, without the removed ones, and the inserted ones.
        expected: u64,
    },
    /// Files of one version cannot be taken into another, for their columns differ.
    #[error("two versions of table {table} have different columns, so that one cannot take the files of the other")]
    ForeignColumns {
        /// The table.
        table: TableId,
    },
    /// Lance failed in a way that points to a fault of ours or of its own.
    #[error("Lance failed while {action} table {table}")]
    Lance {
        /// The table.
        table: TableId,
        /// What was being done.
        action: &'static str,
        /// What Lance said.
        #[source]
        source: Arc<lance::Error>,
    },
}

impl TableError {
    /// What a panic of Lance while reading comes to: it does not check all it reads from a damaged file.
    pub(crate) fn from_panic(table: TableId, payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
        Self::Damaged { table, problem: format!("Lance gave up on reading a file: {text}") }
    }

    /// Sorts a failure of Lance in the midst of reading rows. What it calls invalid input by then is a file's content: what we
    /// asked for was accepted before.
    pub(crate) fn from_rows(table: TableId, error: lance::Error) -> Self {
        match error {
            error @ lance::Error::InvalidInput { .. } => {
                Self::Unreadable { table, action: "reading", source: Arc::new(error) }
            }
            error => Self::from_lance(table, "reading", error),
        }
    }

    /// Sorts a failure of Lance by its causes.
    pub(crate) fn from_lance(table: TableId, action: &'static str, error: lance::Error) -> Self {
        let cause = cause_of(&error);
        let source = Arc::new(error);
        match cause {
            Some(Cause::Store) => Self::Unavailable { table, action, source },
            Some(Cause::File) => Self::Unreadable { table, action, source },
            None => Self::Lance { table, action, source },
        }
    }
}

impl Classify for TableError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Unavailable { .. } => ErrorKind::Unavailable,
            Self::Unreadable { .. } | Self::Damaged { .. } => ErrorKind::Data,
            Self::NoSuchRow { .. }
            | Self::NoSuchColumn { .. }
            | Self::OtherColumns { .. }
            | Self::WrongRows { .. }
            | Self::ForeignColumns { .. }
            | Self::Lance { .. } => ErrorKind::Internal,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Unavailable { .. } => "table-unavailable",
            Self::Unreadable { .. } => "table-unreadable",
            Self::Damaged { .. } => "table-damaged",
            Self::NoSuchRow { .. } => "no-such-row",
            Self::NoSuchColumn { .. } => "no-such-column",
            Self::OtherColumns { .. } => "other-columns",
            Self::WrongRows { .. } => "wrong-rows",
            Self::ForeignColumns { .. } => "foreign-columns",
            Self::Lance { .. } => "table-internal",
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Unavailable { .. } => Some("Try again; nothing has been published.".to_owned()),
            Self::Unreadable { .. } | Self::Damaged { .. } => {
                Some("Run `pleach fsck` to see what is affected; other commits and tables may be intact.".to_owned())
            }
            _ => None,
        }
    }
}

/// What lies at the bottom of an error of Lance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// The store.
    Store,
    /// A file's absence or content.
    File,
}

/// Walks the causes of `error`. Some wrappers hide what they wrap from `source()`: I/O errors, and Lance's external and shared
/// ones.
fn cause_of(error: &(dyn StdError + 'static)) -> Option<Cause> {
    if let Some(store) = error.downcast_ref::<object_store::Error>() {
        return Some(match store {
            object_store::Error::NotFound { .. } => Cause::File,
            // Lance hands errors that several readers share back through the store's error type.
            other => match other.source().and_then(|source| source.downcast_ref::<lance::Error>()) {
                Some(lance) => cause_of(lance).unwrap_or(Cause::Store),
                None => Cause::Store,
            },
        });
    }
    if let Some(io) = error.downcast_ref::<io::Error>() {
        let inner = io.get_ref().and_then(|inner| cause_of(inner));
        return inner.or(Some(match io.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::InvalidData => Cause::File,
            _ => Cause::Store,
        }));
    }
    if let Some(lance) = error.downcast_ref::<lance::Error>() {
        match lance {
            lance::Error::NotFound { .. }
            | lance::Error::DatasetNotFound { .. }
            | lance::Error::VersionNotFound { .. }
            | lance::Error::CorruptFile { .. } => return Some(Cause::File),
            lance::Error::Timeout { .. } => return Some(Cause::Store),
            lance::Error::External { source } => return cause_of(source.as_ref()),
            lance::Error::Shared { source } => return cause_of(source.as_ref()),
            // Lance reports what it cannot decode as an I/O error without a cause that we could recognise.
            lance::Error::IO { source, .. } => return cause_of(source.as_ref()).or(Some(Cause::File)),
            _ => {}
        }
    }
    error.source().and_then(cause_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store_error() -> object_store::Error {
        object_store::Error::Generic { store: "test", source: "down".into() }
    }

    fn missing() -> object_store::Error {
        object_store::Error::NotFound { path: "p".to_owned(), source: "gone".into() }
    }

    /// As Lance's reader of small files reports to those who read together.
    fn shared(error: lance::Error) -> lance::Error {
        let shared = lance::Error::Shared { source: Arc::new(error) };
        lance::Error::from(object_store::Error::Generic { store: "N/A", source: Box::new(shared) })
    }

    #[test]
    fn causes_are_found_under_every_wrapper() {
        let cases: Vec<(lance::Error, Option<Cause>)> = vec![
            (lance::Error::from(store_error()), Some(Cause::Store)),
            (lance::Error::from(missing()), Some(Cause::File)),
            (lance::Error::from(io::Error::other(store_error())), Some(Cause::Store)),
            (lance::Error::from(io::Error::other(missing())), Some(Cause::File)),
            (lance::Error::from(io::Error::from(io::ErrorKind::ConnectionReset)), Some(Cause::Store)),
            (lance::Error::External { source: Box::new(store_error()) }, Some(Cause::Store)),
            (lance::Error::wrapped(Box::new(lance::Error::from(store_error()))), Some(Cause::Store)),
            (
                lance::Error::from(datafusion::error::DataFusionError::External(Box::new(lance::Error::from(
                    missing(),
                )))),
                Some(Cause::File),
            ),
            (shared(lance::Error::from(missing())), Some(Cause::File)),
            (shared(lance::Error::from(store_error())), Some(Cause::Store)),
            (lance::Error::internal("a fault"), None),
        ];
        for (error, cause) in cases {
            assert_eq!(cause_of(&error), cause, "{error}");
        }
    }
}
