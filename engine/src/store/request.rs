//! The kinds of requests that a store answers, as counters, faults and recordings name them.

use std::fmt;

use object_store::{GetOptions, PutMode, PutOptions};
use serde::Serialize;

/// What one request asks of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequestKind {
    /// Reads an object or a range of it.
    Get,
    /// Asks for an object's size and e-tag alone.
    Head,
    /// Lists keys; one page.
    List,
    /// Writes an object, whatever was there.
    Put,
    /// Writes an object if nothing is there: a commit point.
    Create,
    /// Begins, goes on with or completes a multipart upload.
    Part,
    /// Deletes an object.
    Delete,
    /// Copies an object within the store.
    Copy,
    /// Makes a folder's entries durable; local folders only.
    Sync,
}

impl RequestKind {
    /// The kind of a put with these options.
    pub fn of_put(options: &PutOptions) -> Self {
        match options.mode {
            PutMode::Create => Self::Create,
            PutMode::Overwrite | PutMode::Update(_) => Self::Put,
        }
    }

    /// The kind of a get with these options.
    pub fn of_get(options: &GetOptions) -> Self {
        if options.head { Self::Head } else { Self::Get }
    }
}

impl fmt::Display for RequestKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::List => "LIST",
            Self::Put => "PUT",
            Self::Create => "PUT-if-absent",
            Self::Part => "multipart PUT",
            Self::Delete => "DELETE",
            Self::Copy => "COPY",
            Self::Sync => "folder sync",
        })
    }
}
