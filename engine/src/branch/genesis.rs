//! The first record of `main`: a graph exists before it, and whoever first finds that log empty writes it.
//!
//! Order of effects: read the root of the graph · see that it is the graph that was opened · put the record if nothing is there.
//!
//! *Why* the root is read: an address whose objects were deleted may have become that of another graph by now, whose `main` is empty
//! for the same reason. The look and the put are two requests; a graph that is made anew between them notices by the graph id in each
//! record it reads.

use bytes::Bytes;
use object_store::path::Path;
use serde::Deserialize;

use crate::error::Error;
use crate::ids::{GraphId, Seq};
use crate::log::{Appended, Log};
use crate::record::RecordError;
use crate::store::{Store, StoreError};

/// The first record of `main`, and the graph it belongs to.
#[derive(Debug, Clone)]
pub(crate) struct Genesis {
    root: Path,
    graph: GraphId,
    record: Bytes,
}

/// What of a root tells whose it is; the rest may be of another format.
#[derive(Deserialize)]
struct Root {
    graph: GraphId,
}

impl Genesis {
    /// The first record of the graph whose root is the object `root`.
    pub(crate) const fn new(root: Path, graph: GraphId, record: Bytes) -> Self {
        Self { root, graph, record }
    }

    /// The graph it belongs to.
    pub(super) const fn graph(&self) -> GraphId {
        self.graph
    }

    /// Writes the first record into `log`, that of `main`, which was found empty; returns the head, which may be another's by then.
    ///
    /// # Errors
    /// If the graph is gone, or another one is at its address: then nothing is written.
    pub(super) async fn begin(&self, store: &Store, log: &Log) -> Result<Option<(Seq, Bytes)>, Error> {
        self.still_there(store).await?;
        match log.append_next(Seq::FIRST, self.record.clone()).await? {
            Appended::Ours => Ok(Some((Seq::FIRST, self.record.clone()))),
            Appended::Theirs(_) => Ok(log.head().await?),
            Appended::Unknown(error) => Err(error.into()),
        }
    }

    /// Checks that the root is that of this graph.
    async fn still_there(&self, store: &Store) -> Result<(), Error> {
        let (root, expected) = (self.root.to_string(), self.graph);
        let Some(bytes) = store.read(&self.root).await? else {
            return Err(StoreError::Missing { place: store.uri().to_owned(), path: root }.into());
        };
        let Root { graph: found } =
            serde_json::from_slice(&bytes).map_err(|source| RecordError::Unreadable { place: root.clone(), source })?;
        if found != expected {
            return Err(RecordError::Foreign { place: root, found, expected }.into());
        }
        Ok(())
    }
}
