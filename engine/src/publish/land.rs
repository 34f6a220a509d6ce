//! From what is staged to a commit: put on the head it was evaluated against, then on those that came first, as long as it holds for them.

use std::collections::BTreeSet;
use std::sync::Arc;

use object_store::path::Path;

use super::append::{Landed, NotLanded, PutInFlight};
use super::build::{Stamp, absorbing_record, next_record};
use super::contention::{Decision, Stake, decide};
use super::patience::Patience;
use super::{Absorbed, PublishError, Snapshot};
use crate::branch::{BranchError, BranchName, Head, Reference};
use crate::error::Error;
use crate::graph::{CommitInfo, Core};
use crate::ids::{IncarnationId, Seq, TableId};
use crate::record::{Change, Record, RequestHash};
use crate::table::{StagedVersion, TableVersion};

/// What was evaluated and staged, to be published on the head it was evaluated against or on a later one.
pub(crate) struct Staged {
    /// The head it was evaluated against.
    pub(crate) captured: Snapshot,
    /// Whether that was found to be the head after the request had arrived.
    pub(crate) confirmed: bool,
    /// The new versions.
    pub(crate) versions: Vec<(TableId, TableVersion)>,
    /// What must be durable before a record may name them.
    pub(crate) files: Vec<Path>,
    /// The tables that it depends on, or writes.
    pub(crate) touched: BTreeSet<TableId>,
    /// What the commit carries.
    pub(crate) changes: Vec<Change>,
    /// What it takes over from other branches.
    pub(crate) absorbed: Option<Box<Absorbed>>,
}

/// What a publish carries from one round to the next.
pub(crate) struct Course {
    pub(crate) patience: Patience,
    /// The life of the branch that the request belongs to: the first that was found alive after the request had arrived. A
    /// branch of the same name that is created later is another one, however its creation is met.
    pub(crate) life: Option<IncarnationId>,
}

/// Who is to be told of a commit, and what they ask of it.
pub(crate) struct Terms<'a> {
    /// It has to be the next one after the head it was evaluated against.
    pub(crate) pinned: bool,
    /// The request ids it carries out.
    pub(crate) requests: &'a [RequestHash],
    /// Of all requests.
    pub(crate) in_flight: &'a [PutInFlight],
}

/// Where a publish came to its end.
pub(crate) enum Landing {
    /// In this commit.
    Done(CommitInfo),
    /// Nowhere: it is to be evaluated again on this head.
    Elsewhere(Arc<Record>),
    /// Nowhere: the branch at whose head this stands is another one of the same name.
    Recreated(Arc<Record>),
}

impl Core {
    /// Publishes what was staged. Its files are let go of, whatever the outcome.
    pub(crate) async fn land(
        &self,
        name: &BranchName,
        staged: Staged,
        course: &mut Course,
        terms: &Terms<'_>,
    ) -> Result<Landing, NotLanded> {
        let landed = self.try_to_land(name, &staged, course, terms).await;
        self.store().staging().release(&staged.files);
        landed
    }

    async fn try_to_land(
        &self,
        name: &BranchName,
        staged: &Staged,
        course: &mut Course,
        terms: &Terms<'_>,
    ) -> Result<Landing, NotLanded> {
        let mut onto = staged.captured.clone();
        let mut only_stale = !staged.confirmed;
        loop {
            let record = self.record(staged, &onto.record);
            let arrived = match self.append(record, &staged.files, terms.in_flight).await? {
                Landed::Ours(record) => {
                    self.authorities().advance(&record).await?;
                    let schema = staged.absorbed.as_ref().and_then(|absorbed| absorbed.schema.as_ref());
                    let catalog = schema.map_or(&onto.catalog, |(_, catalog)| catalog);
                    return Ok(Landing::Done(CommitInfo::new(&record, &staged.changes, catalog)));
                }
                Landed::Theirs(arrived) => arrived,
            };
            let head = self.catch_up(name, Some(&onto.record), arrived).await?;
            if terms.pinned || self.took_effect(terms.requests, &head, staged.captured.record.seq).await? {
                return Ok(Landing::Elsewhere(head));
            }
            let stake = Stake {
                captured: &staged.captured.record,
                life: course.life,
                tables: &staged.touched,
                reads_lineage: staged.absorbed.is_some(),
            };
            match decide(&stake, &head) {
                Decision::Repoint => {
                    course.life = Some(head.incarnation);
                    if !std::mem::take(&mut only_stale) {
                        course.patience.wait().await.map_err(Error::from)?;
                    }
                    // The schema is the same.
                    onto.record = head;
                }
                Decision::Evaluate => return Ok(Landing::Elsewhere(head)),
                Decision::Recreated => return Ok(Landing::Recreated(head)),
            }
        }
    }

    /// Whether any of these requests took effect after a position.
    async fn took_effect(&self, requests: &[RequestHash], head: &Arc<Record>, after: Seq) -> Result<bool, Error> {
        for request in requests {
            if self.place_of(*request, head, Some(after)).await?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The record that puts what was staged on `head`.
    fn record(&self, staged: &Staged, head: &Record) -> Record {
        let (versions, changes) = (staged.versions.iter().cloned(), staged.changes.iter().cloned());
        let after = staged.absorbed.as_ref().map_or(head.time, |absorbed| absorbed.after.max(head.time));
        let stamp = Stamp::after(self.clock(), Some(after));
        match &staged.absorbed {
            Some(absorbed) => absorbing_record(head, stamp, versions, absorbed, changes),
            None => next_record(head, stamp, versions, changes),
        }
    }

    /// Confirms that `head` is the head still, so that an outcome without a commit may be told: `None`, once what it relies on is durable.
    /// Else what is the head now.
    pub(crate) async fn confirm(&self, name: &BranchName, head: Option<&Record>) -> Result<Option<Head>, Error> {
        let found = self.authorities().fresh(name).await?;
        if found.as_ref().map(|found| found.commit) != head.map(|head| head.commit) {
            return Ok(Some(found));
        }
        self.authorities().log(name).sync().await?;
        Ok(None)
    }

    /// Checks that a head this process only remembers is still what stands at its position.
    pub(crate) async fn still_there(&self, name: &BranchName, head: &Record, confirmed: bool) -> Result<(), Error> {
        if confirmed {
            return Ok(());
        }
        let found = self.authorities().record_at(name, head.seq).await?;
        if found.commit == head.commit {
            return Ok(());
        }
        Err(BranchError::Replaced { place: format!("{name}@{}", head.seq) }.into())
    }

    /// Refuses a head that is not the one that was named.
    pub(crate) async fn expect(
        &self,
        name: &BranchName,
        expected: Option<&Reference>,
        head: &Record,
    ) -> Result<(), Error> {
        let Some(expected) = expected else { return Ok(()) };
        if self.names(expected, head).await? {
            return Ok(());
        }
        let (branch, expected) = (name.clone(), expected.to_string());
        Err(PublishError::HeadMoved { branch, head: head.seq, expected }.into())
    }
}

/// The files of staged versions, and of what else is taken over.
pub(crate) fn files_of(tables: &[StagedVersion], absorbed: Option<&Absorbed>) -> Vec<Path> {
    let others = absorbed.into_iter().flat_map(|absorbed| &absorbed.files);
    tables.iter().flat_map(|staged| &staged.files).chain(others).cloned().collect()
}
