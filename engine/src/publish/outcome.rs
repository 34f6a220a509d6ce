//! What became of requests: told by the rings of request ids in the records of a log.

use std::sync::Arc;

use super::{Fingerprint, PublishError};
use crate::branch::{At, BranchError, BranchName, Reference};
use crate::error::Error;
use crate::graph::{CommitInfo, Core};
use crate::ids::Seq;
use crate::record::{ChangeKind, Record, RequestHash};

/// The commit of a request that took effect, and the number of its change in it.
pub(crate) type RequestOutcome = (CommitInfo, usize);

impl Core {
    /// Whether `reference` names the commit of `head`; a position or a commit id in its branch is told without asking the store.
    pub(crate) async fn names(&self, reference: &Reference, head: &Record) -> Result<bool, Error> {
        if reference.branch == head.branch && reference.back == 0 {
            match reference.at {
                At::Head => return Ok(true),
                At::Seq(seq) => return Ok(seq == head.seq),
                At::Commit(commit) => return Ok(commit == head.commit),
                At::Time(_) => {}
            }
        }
        Ok(self.authorities().resolve(reference).await?.commit == head.commit)
    }

    /// The head, given that `arrived` stands after `captured`, which was thought to be the head; or at the first position of a
    /// log that was thought to be empty.
    pub(crate) async fn catch_up(
        &self,
        name: &BranchName,
        captured: Option<&Record>,
        arrived: Arc<Record>,
    ) -> Result<Arc<Record>, Error> {
        if let Some(captured) = captured
            && !arrived.follows(captured)
        {
            return Err(BranchError::Replaced { place: format!("{name}@{}", captured.seq) }.into());
        }
        self.authorities().advance(&arrived).await?;
        Ok(self.authorities().fresh(name).await?.unwrap_or(arrived))
    }

    /// The outcome of a request that took effect in the log of `head`, if it is still remembered: among the last few thousand
    /// requests with an id, or, if it took effect after `after`, whatever came since.
    ///
    /// # Errors
    /// [`PublishError::RequestReused`] when what took effect by that id was of another `kind`, or was asked for by another request.
    pub(crate) async fn outcome_of(
        &self,
        request_id: Option<&str>,
        kind: ChangeKind,
        asks: Option<Fingerprint>,
        head: &Arc<Record>,
        after: Option<Seq>,
    ) -> Result<Option<RequestOutcome>, Error> {
        let Some(request) = request_id.map(RequestHash::of) else { return Ok(None) };
        let name = &head.branch;
        let Some((seq, change)) = self.place_of(request, head, after).await? else { return Ok(None) };
        let record = if seq == head.seq { head.clone() } else { self.authorities().record_at(name, seq).await? };
        let (changes, catalog) =
            futures::try_join!(self.changes_of(&record), self.authorities().catalogs().read(record.schema))?;
        let Some(found) = changes.get(change as usize) else {
            return Err(PublishError::OutcomeLost { branch: name.clone(), seq, change }.into());
        };
        let same_kind = found.kind == kind;
        if !same_kind || asks.is_some_and(|asks| asks.contradicts(found)) {
            let used_for = found.kind.to_string();
            self.authorities().log(name).sync().await?;
            return Err(PublishError::RequestReused { branch: name.clone(), seq, used_for, same_kind }.into());
        }
        Ok(Some((CommitInfo::new(&record, &changes, &catalog), change as usize)))
    }
}

impl Core {
    /// Where a request took effect in the log of `head`, if it is still remembered; as in [`Self::outcome_of`].
    pub(crate) async fn place_of(
        &self,
        request: RequestHash,
        head: &Arc<Record>,
        after: Option<Seq>,
    ) -> Result<Option<(Seq, u32)>, Error> {
        let mut remembers = head.clone();
        loop {
            if let Some(found) = remembers.requests.find(request) {
                return Ok(Some(found));
            }
            match remembers.requests.complete_after() {
                // A log that moves fast forgets in seconds; what it forgot, an older record remembers.
                Some(oldest) if after.is_some_and(|after| oldest > after) && oldest < remembers.seq => {
                    remembers = self.authorities().record_at(&head.branch, oldest).await?;
                }
                _ => return Ok(None),
            }
        }
    }
}
