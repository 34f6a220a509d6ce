//! Appending one record: barrier, put, and what came of it.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use object_store::path::Path;
use ulid::Ulid;

use super::PublishError;
use crate::branch::{BranchName, decode};
use crate::error::Error;
use crate::graph::{ChangeOptions, Core};
use crate::ids::{CommitId, Seq};
use crate::log::Appended;
use crate::record::{Fitted, Record};
use crate::store::StoreError;

/// What came of a record.
pub(crate) enum Landed {
    /// It is the commit at its position.
    Ours(Arc<Record>),
    /// Another is.
    Theirs(Arc<Record>),
}

/// Why a record is not known to have landed.
pub(crate) enum NotLanded {
    /// It is not there, and never will be.
    Failed(Error),
    /// Nobody knows.
    Unknown(Doubt),
}

/// What is known of a record of which nobody knows whether it landed.
#[derive(Debug, Clone)]
pub(crate) struct Doubt {
    branch: BranchName,
    seq: Seq,
    commit: CommitId,
    source: Option<Arc<StoreError>>,
}

impl Doubt {
    /// The error for one of the requests that the record is to carry out.
    pub(crate) fn error(&self, options: &ChangeOptions) -> Error {
        let Self { branch, seq, commit, source } = self.clone();
        PublishError::OutcomeUnknown { branch, seq, commit, request_id: options.request_id.clone(), source }.into()
    }
}

impl NotLanded {
    /// The error for the one request that the record was to carry out.
    pub(crate) fn error(self, options: &ChangeOptions) -> Error {
        match self {
            Self::Failed(error) => error,
            Self::Unknown(doubt) => doubt.error(options),
        }
    }
}

impl From<Error> for NotLanded {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Where changes are stored that would have burst their record.
pub(crate) fn changes_path(object: Ulid) -> Path {
    Path::from_iter(["changes".to_owned(), object.to_string()])
}

/// Remembers whether a record is on its way, so that a task that breaks can be told apart by what it may have done.
#[derive(Debug, Clone, Default)]
pub(crate) struct PutInFlight(Arc<Mutex<Option<(Seq, CommitId)>>>);

impl PutInFlight {
    fn set(&self, put: Option<(Seq, CommitId)>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = put;
    }

    fn get(&self) -> Option<(Seq, CommitId)> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is to be said of a request whose task broke: before it put a record it did nothing; after that, nobody knows.
    pub(crate) fn broken(&self, branch: BranchName, options: &ChangeOptions) -> Error {
        match self.get() {
            Some((seq, commit)) => Doubt { branch, seq, commit, source: None }.error(options),
            None => PublishError::Broken { branch }.into(),
        }
    }
}

impl Core {
    /// Puts `record` at its position once `files` are durable; the requests that it carries out learn of it by `in_flight`.
    pub(crate) async fn append(
        &self,
        mut record: Record,
        files: &[Path],
        in_flight: &[PutInFlight],
    ) -> Result<Landed, NotLanded> {
        let name = record.branch.clone();
        let set = |put| in_flight.iter().for_each(|request| request.set(put));
        let (bytes, spilled) = self.encode(&mut record)?;
        let staging = self.store().staging();
        fail::fail_point!("publish-before-barrier");
        match &spilled {
            Some(object) => staging.barrier(&[files, std::slice::from_ref(object)].concat()).await,
            None => staging.barrier(files).await,
        }
        .map_err(Error::from)?;
        fail::fail_point!("publish-before-put");
        set(Some((record.seq, record.commit)));
        let appended = self.authorities().log(&name).append_next(record.seq, bytes).await;
        fail::fail_point!("publish-after-put");
        if let Some(object) = spilled {
            staging.release(&[object]);
        }
        // Only what proves that the record did not land, and never will, takes it back: whatever breaks after it landed must not
        // be told as nothing.
        let landed = match appended.inspect_err(|_| set(None)).map_err(Error::from)? {
            Appended::Ours => Ok(Landed::Ours(Arc::new(record))),
            Appended::Theirs(bytes) => {
                let found = decode(self.file().graph, &name, record.seq, &bytes).map_err(Error::from)?;
                // A tombstone carries the record it replaces: ours, if it was lost sight of for so long.
                if found.commit == record.commit {
                    Ok(Landed::Ours(Arc::new(record)))
                } else {
                    set(None);
                    Ok(Landed::Theirs(Arc::new(found)))
                }
            }
            Appended::Unknown(source) => {
                self.authorities().forget(&name).await;
                let source = Some(Arc::new(source));
                Err(NotLanded::Unknown(Doubt { branch: name, seq: record.seq, commit: record.commit, source }))
            }
        };
        fail::fail_point!("publish-landed");
        landed
    }

    /// The stored form of `record`, brought within its bounds. Changes that burst it go to an object of the same staging round, whose
    /// path is returned as well.
    fn encode(&self, record: &mut Record) -> Result<(Bytes, Option<Path>), Error> {
        let time = record.time;
        let Fitted { bytes, spilled } = record.fit(|| self.clock().ulid_at(time))?;
        let path = spilled.map(|(object, changes)| {
            let path = changes_path(object);
            self.store().staging().put(&path, changes);
            path
        });
        Ok((bytes, path))
    }
}

/// Runs `work` on a task of its own, so that a caller that goes away does not leave it half-done. A task that breaks before it
/// put a record did nothing; after that, nobody knows.
pub(crate) async fn detached<T, F>(
    branch: BranchName,
    options: &ChangeOptions,
    work: impl FnOnce(PutInFlight) -> F,
) -> Result<T, Error>
where
    T: Send + 'static,
    F: Future<Output = Result<T, Error>> + Send + 'static,
{
    let in_flight = PutInFlight::default();
    match tokio::spawn(work(in_flight.clone())).await {
        Ok(outcome) => outcome,
        Err(_) => Err(in_flight.broken(branch, options)),
    }
}
