//! From a reference to its commit: by position, by binary search over commit times, along first parents.

use std::cmp::Ordering;
use std::sync::Arc;

use super::authority::{Authorities, Capture, Head};
use super::reference::{At, Reference};
use super::{BranchError, BranchName};
use crate::clock::Timestamp;
use crate::error::Error;
use crate::ids::{CommitId, Seq};
use crate::record::{Parent, Record};

impl Authorities {
    /// The commit that `reference` names.
    pub(crate) async fn resolve(&self, reference: &Reference) -> Result<Arc<Record>, Error> {
        let mut found = self.place(reference).await?;
        if reference.back > 0 {
            let beyond = || BranchError::BeyondFirst { reference: Box::new(reference.clone()) };
            found = self.ancestor(found, reference.back).await?.ok_or_else(beyond)?;
        }
        readable(reference, &found)?;
        Ok(found)
    }

    /// The living head of a branch as the store has it now.
    pub(crate) async fn live(&self, name: &BranchName) -> Result<Arc<Record>, Error> {
        self.living(name, self.fresh(name).await?).await
    }

    /// `head`, unless the branch was never made or is deleted.
    pub(crate) async fn living(&self, name: &BranchName, head: Head) -> Result<Arc<Record>, Error> {
        match head {
            None => Err(self.unknown(name).await),
            Some(head) if head.deleted => Err(deleted(&head).into()),
            Some(head) => Ok(head),
        }
    }

    /// The commit that a parent names; what stands there must be what the child saw.
    pub(crate) async fn parent(&self, parent: &Parent) -> Result<Arc<Record>, Error> {
        let record = self.record_at(&parent.log, parent.seq).await?;
        if record.commit != parent.commit {
            return Err(BranchError::Replaced { place: format!("{}@{}", parent.log, parent.seq) }.into());
        }
        Ok(record)
    }

    async fn place(&self, reference: &Reference) -> Result<Arc<Record>, Error> {
        let name = &reference.branch;
        match reference.at {
            At::Head => self.live(name).await,
            At::Seq(seq) => self.at_seq(reference, seq).await,
            At::Commit(commit) => {
                let head = self.used(name).await?;
                let missing = || BranchError::CommitNotFound { reference: Box::new(reference.clone()), last: head.seq };
                Ok(self.by_id(name, &head, commit).await?.ok_or_else(missing)?)
            }
            At::Time(time) => {
                let head = self.used(name).await?;
                let found = self.last_before(name, &head, time.plus_micros(1)).await?;
                match found.filter(|record| !record.deleted) {
                    Some(record) => Ok(record),
                    None => Err(self.not_yet(name, &head, time).await?.into()),
                }
            }
        }
    }

    async fn at_seq(&self, reference: &Reference, seq: Seq) -> Result<Arc<Record>, Error> {
        let name = &reference.branch;
        let Capture { mut head, mut confirmed } = self.capture(name).await?;
        if !confirmed && head.as_ref().is_none_or(|head| head.seq < seq) {
            (head, confirmed) = (self.fresh(name).await?, true);
        }
        let Some(head) = head else { return Err(self.unknown(name).await) };
        match head.seq.cmp(&seq) {
            Ordering::Equal if confirmed => Ok(head),
            // What is only remembered may be a tombstone by now.
            Ordering::Equal => {
                let found = self.record_at(name, seq).await?;
                if found.commit == head.commit {
                    return Ok(found);
                }
                Err(BranchError::Replaced { place: format!("{name}@{seq}") }.into())
            }
            Ordering::Greater => self.record_at(name, seq).await,
            Ordering::Less => {
                Err(BranchError::CommitNotFound { reference: Box::new(reference.clone()), last: head.seq }.into())
            }
        }
    }

    /// The last record of a name that was used, be it alive or deleted.
    async fn used(&self, name: &BranchName) -> Result<Arc<Record>, Error> {
        match self.fresh(name).await? {
            Some(last) => Ok(last),
            None => Err(self.unknown(name).await),
        }
    }

    /// The commit called `commit`. Its id tells the millisecond of its time; the few of one millisecond are looked at in turn.
    async fn by_id(
        &self,
        name: &BranchName,
        head: &Arc<Record>,
        commit: CommitId,
    ) -> Result<Option<Arc<Record>>, Error> {
        let Some(after) = i64::try_from(commit.timestamp_ms() + 1).ok().and_then(|ms| ms.checked_mul(1000)) else {
            return Ok(None);
        };
        let mut at = self.last_before(name, head, Timestamp(after)).await?;
        while let Some(record) = at.filter(|record| record.time.millis() == commit.timestamp_ms()) {
            if record.commit == commit {
                return Ok(Some(record));
            }
            at = match record.seq.previous() {
                Some(seq) => Some(self.record_at(name, seq).await?),
                None => None,
            };
        }
        Ok(None)
    }

    /// The last record of the log before `time`.
    async fn last_before(
        &self,
        name: &BranchName,
        head: &Arc<Record>,
        time: Timestamp,
    ) -> Result<Option<Arc<Record>>, Error> {
        if head.time < time {
            return Ok(Some(head.clone()));
        }
        let (mut low, mut found) = (0, None);
        let mut high = head.seq.0;
        while low < high {
            let middle = low + (high - low) / 2;
            let record = self.record_at(name, Seq(middle)).await?;
            if record.time < time {
                (low, found) = (middle + 1, Some(record));
            } else {
                high = middle;
            }
        }
        Ok(found)
    }

    async fn not_yet(&self, name: &BranchName, head: &Arc<Record>, time: Timestamp) -> Result<BranchError, Error> {
        let first = self.first_of(head).await?;
        let forked_from = first.first_parent().map(|source| format!("{}@{}", source.log, source.seq));
        Ok(BranchError::NotYet { name: name.clone(), time, forked_from })
    }

    /// The first commit of the incarnation that `record` belongs to. One incarnation is one run of the log.
    async fn first_of(&self, record: &Arc<Record>) -> Result<Arc<Record>, Error> {
        let (mut low, mut first) = (0, record.clone());
        while low < first.seq.0 {
            let middle = low + (first.seq.0 - low) / 2;
            let candidate = self.record_at(&record.branch, Seq(middle)).await?;
            if candidate.incarnation == record.incarnation {
                first = candidate;
            } else {
                low = middle + 1;
            }
        }
        Ok(first)
    }

    /// The commit `back` first parents before `record`. Within an incarnation they stand side by side in the log, so a walk
    /// costs one request for each fork it crosses and a bisection for its place.
    async fn ancestor(&self, mut record: Arc<Record>, mut back: u64) -> Result<Option<Arc<Record>>, Error> {
        while back > 0 {
            if let Some(seq) = record.seq.0.checked_sub(back) {
                let candidate = self.record_at(&record.branch, Seq(seq)).await?;
                if candidate.incarnation == record.incarnation {
                    return Ok(Some(candidate));
                }
            }
            let first = self.first_of(&record).await?;
            back -= record.seq.0 - first.seq.0;
            if back == 0 {
                return Ok(Some(first));
            }
            let Some(parent) = first.first_parent() else { return Ok(None) };
            record = self.parent(parent).await?;
            back -= 1;
        }
        Ok(Some(record))
    }
}

/// Refuses what has no content any more, or no such change.
fn readable(reference: &Reference, record: &Record) -> Result<(), BranchError> {
    if record.deleted {
        return Err(deleted(record));
    }
    if record.tombstone.is_some() {
        return Err(BranchError::Collected { place: format!("{}@{}", record.branch, record.seq) });
    }
    let changes = record.change_count();
    if reference.change.is_some_and(|change| change as usize >= changes) {
        return Err(BranchError::ChangeNotFound { reference: Box::new(reference.clone()), changes });
    }
    Ok(())
}

fn deleted(record: &Record) -> BranchError {
    let last = record.seq.previous().unwrap_or(Seq::FIRST);
    BranchError::Deleted { name: record.branch.clone(), last, time: record.time }
}
