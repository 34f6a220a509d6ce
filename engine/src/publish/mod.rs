//! Publishing: how work becomes the next record of a branch log, or is told why it cannot.
//!
//! Invariants
//! 1. The only commit point is putting the next record if nothing is there.
//! 2. A record names only files that its own barrier has seen durable.
//! 3. No outcome is told from a stale head: a refusal or a no-op is confirmed by finding nothing at the next position.
//! 4. Nothing staged is deleted here, whatever the outcome; what no record names is garbage for `gc`.
//! 5. A publish runs on a task of its own: a caller that goes away leaves it neither half-done nor holding anybody up.
//!
//! Order of effects: evaluate and stage · barrier · put the record · (elsewhere first: read what arrived, and either point
//! the same staged versions at the new head or evaluate again) · tell the authority · tell the caller.
//!
//! What a crash leaves behind: before the put, staged files that nothing names; after it, a commit.

mod absorb;
mod append;
mod build;
mod contention;
mod error;
mod fingerprint;
mod land;
mod lineage;
mod outcome;
mod patience;
mod run;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;

use crate::branch::BranchName;
use crate::error::Error;
use crate::graph::{Access, ChangeInfo, CommitInfo, Gate, ParentInfo};
use crate::ids::{ChangeId, TableId};
use crate::record::{ChangeKind, Record, TableCounts};
use crate::schema::Catalog;
use crate::table::{StagedVersion, TableVersion};

pub(crate) use absorb::Absorbed;
pub(crate) use append::{Landed, NotLanded, PutInFlight, changes_path, detached};
#[cfg(test)]
pub(crate) use build::next_record;
pub(crate) use build::{NewChange, Stamp, creating_record, deleting_record};
pub use error::PublishError;
pub(crate) use fingerprint::{Fingerprint, Fingerprinter};
pub(crate) use land::{Course, Landing, Staged, Terms, files_of};
pub(crate) use lineage::{ChunkCache, chunk_cache, chunk_path};
pub(crate) use patience::Patience;

/// Work that can be evaluated against a head, and again if need be.
#[async_trait]
pub(crate) trait Work: Send + Sync + 'static {
    /// What the caller is told besides the commit.
    type Report: Send + 'static;

    /// Evaluates against `at` and stages what it changes. Called again, from the beginning, when somebody else published a
    /// change to what it read or wrote.
    async fn evaluate(&self, at: &Snapshot) -> Result<Evaluation<Self::Report>, Error>;

    /// Begins what is to go beside the search for the head: called once, when all gates are passed. Tells which head to begin on.
    fn begin(&self) -> Beginning {
        Beginning::Remembered
    }

    /// What it waits at before it begins, besides the schema and the branch it publishes to, which it shares.
    fn gates(&self, _target: &BranchName) -> Vec<(Gate, Access)> {
        Vec::new()
    }

    /// What sort of request it is: an outcome of another sort is not its own, although it bears its request id.
    fn kind(&self) -> ChangeKind;

    /// What it asks for, so that its request id is not taken for one that was used for something else; asked for only if it has one.
    fn asks(&self) -> Option<Fingerprint> {
        None
    }

    /// The report of a request that took effect before, from what its commit says; nothing is evaluated then.
    fn replay(&self, commit: &CommitInfo, change: &ChangeInfo) -> Self::Report;
}

/// Which head work begins on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beginning {
    /// The one that is remembered, if there is one: a round less as long as it is the head still.
    Remembered,
    /// One that was searched for after the request came.
    Fresh,
}

/// What work came to on one head.
pub(crate) enum Evaluation<R> {
    /// Nothing to publish; confirmed against the store before it is told.
    Nothing(R),
    /// Table versions to publish.
    Staged {
        /// What was written, one version for each table.
        tables: Vec<StagedVersion>,
        /// The tables, by rule and not by I/O, whose content the outcome depends on; those written are in it anyway.
        reads: BTreeSet<TableId>,
        /// What sort of request it is.
        kind: ChangeKind,
        /// The id that stands in the rows it wrote.
        change: ChangeId,
        /// What it did to each table.
        counts: BTreeMap<TableId, TableCounts>,
        /// What it takes over from other branches.
        absorbed: Option<Box<Absorbed>>,
        /// What the caller is told besides the commit.
        report: R,
    },
}

impl<R> Evaluation<R> {
    /// The same with another report.
    pub(crate) fn map<S>(self, with: impl FnOnce(R) -> S) -> Evaluation<S> {
        match self {
            Self::Nothing(report) => Evaluation::Nothing(with(report)),
            Self::Staged { tables, reads, kind, change, counts, absorbed, report } => {
                Evaluation::Staged { tables, reads, kind, change, counts, absorbed, report: with(report) }
            }
        }
    }
}

/// What a reader sees: one commit of one branch, with its schema. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    /// The commit.
    pub(crate) record: Arc<Record>,
    /// Its schema.
    pub(crate) catalog: Arc<Catalog>,
}

impl Snapshot {
    /// The version of a table in this commit.
    pub(crate) fn table_version(&self, id: TableId) -> Option<&TableVersion> {
        self.record.tables.get(&id)
    }

    /// The commit as others are told of it.
    pub(crate) fn named(&self) -> ParentInfo {
        ParentInfo::from(&self.record.as_parent())
    }

    /// The commit as a reference: `main@42`.
    pub(crate) fn reference(&self) -> String {
        format!("{}@{}", self.record.branch, self.record.seq)
    }
}
