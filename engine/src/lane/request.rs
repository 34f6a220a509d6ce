//! A request in a lane: its work, whatever kind it is, and who is to be told.

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use futures::FutureExt as _;
use tokio::sync::oneshot;

use super::{Answer, Coalesce, Drafted, Undone};
use crate::admission::WritePlace;
use crate::branch::{BranchName, Reference};
use crate::error::Error;
use crate::graph::{ChangeOptions, CommitInfo, Core, Pass};
use crate::ids::{IncarnationId, Seq, TableId};
use crate::publish::{Fingerprint, PublishError, PutInFlight, Snapshot};
use crate::record::{ChangeKind, RequestHash};
use crate::write::Counts;
use crate::write::footprint::Footprint;
use crate::write::shape::Shapes;

/// How much a request is.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Weight {
    /// Rows that it puts or deletes, as far as that is known.
    pub(crate) rows: u64,
    /// Bytes of what was given.
    pub(crate) bytes: u64,
}

/// Who asks for what, besides the work.
pub(super) struct Asked {
    /// The branch, as the caller spells it.
    pub(super) name: BranchName,
    pub(super) if_head: Option<Reference>,
    pub(super) options: ChangeOptions,
}

/// A request in a lane.
pub(super) struct Request {
    pub(super) asked: Asked,
    pub(super) member: Box<dyn Member>,
    pub(super) kind: ChangeKind,
    pub(super) weight: Weight,
    /// What is asked for, if there is a request id.
    pub(super) asks: Option<Fingerprint>,
    pub(super) in_flight: PutInFlight,
    /// The life of the branch that it belongs to: the first that was found alive after it had arrived.
    pub(super) life: Option<IncarnationId>,
    /// The first head it was evaluated against: what came since is looked through for it.
    pub(super) since: Option<Seq>,
    pub(super) arrived: Instant,
    _held: (Pass, WritePlace),
}

impl Request {
    pub(super) fn new<W: Coalesce>(
        core: &Core,
        asked: Asked,
        work: W,
        in_flight: PutInFlight,
        held: (Pass, WritePlace),
        answer: oneshot::Sender<Result<Answer<W::Report>, Error>>,
    ) -> Self {
        let asks = asked.options.request_id.is_some().then(|| work.asks()).flatten();
        let (kind, weight) = (work.kind(), work.weight());
        Self {
            asked,
            member: Box::new(Pending { work, draft: None, answer }),
            kind,
            weight,
            asks,
            in_flight,
            life: None,
            since: None,
            arrived: core.clock().instant(),
            _held: held,
        }
    }

    pub(super) fn request_id(&self) -> Option<&str> {
        self.asked.options.request_id.as_deref()
    }

    pub(super) fn request_hash(&self) -> Option<RequestHash> {
        self.request_id().map(RequestHash::of)
    }

    pub(super) fn fail(self, error: Error) {
        self.member.fail(error);
    }
}

/// The work of a request, and its caller.
#[async_trait]
pub(super) trait Member: Send + Sync {
    /// Whether nobody waits for it any more.
    fn is_gone(&self) -> bool;

    /// What it comes to on a head; see [`Coalesce::draft`]. What breaks in it breaks it alone.
    async fn draft(&mut self, at: &Snapshot, shapes: &Arc<Shapes>) -> Result<Drafted<()>, Undone>;

    /// How its caller is told why its rows are refused.
    fn refusal(&self, error: Error) -> Error;

    /// Tells what it did; with a commit, in which change of it.
    fn done(self: Box<Self>, commit: Option<(CommitInfo, usize)>, counts: Counts);

    /// Tells what it did when it came before.
    fn again(self: Box<Self>, commit: CommitInfo, change: usize);

    /// Tells why nothing was done, or that nobody knows.
    fn fail(self: Box<Self>, error: Error);
}

struct Pending<W: Coalesce> {
    work: W,
    draft: Option<W::Draft>,
    answer: oneshot::Sender<Result<Answer<W::Report>, Error>>,
}

#[async_trait]
impl<W: Coalesce> Member for Pending<W> {
    fn is_gone(&self) -> bool {
        self.answer.is_closed()
    }

    async fn draft(&mut self, at: &Snapshot, shapes: &Arc<Shapes>) -> Result<Drafted<()>, Undone> {
        self.draft = None;
        let drafting = AssertUnwindSafe(self.work.draft(at, shapes)).catch_unwind();
        let Ok(drafted) = drafting.await else {
            return Err(Undone::by_schema(PublishError::Broken { branch: at.record.branch.clone() }));
        };
        let Drafted { input, touched, reads, draft } = drafted?;
        self.draft = Some(draft);
        Ok(Drafted { input, touched, reads, draft: () })
    }

    fn refusal(&self, error: Error) -> Error {
        match &self.draft {
            Some(draft) => self.work.refusal(draft, error),
            None => error,
        }
    }

    // Nobody listens to an answer when the caller has gone away.
    fn done(self: Box<Self>, commit: Option<(CommitInfo, usize)>, counts: Counts) {
        let Self { work, draft, answer } = *self;
        let Some(draft) = draft else { return };
        let (commit, change) = commit.map_or((None, 0), |(commit, change)| (Some(commit), change));
        let _ = answer.send(Ok(Answer { commit, change, report: work.report(draft, counts) }));
    }

    fn again(self: Box<Self>, commit: CommitInfo, change: usize) {
        let Self { work, answer, .. } = *self;
        let Some(report) = commit.changes.get(change).map(|found| work.replay(&commit, found)) else { return };
        let _ = answer.send(Ok(Answer { commit: Some(commit), change, report }));
    }

    fn fail(self: Box<Self>, error: Error) {
        let _ = self.answer.send(Err(error));
    }
}

/// What is known of a request after its drafting.
pub(super) struct Judging {
    /// What it touched so far.
    pub(super) touched: Footprint,
    pub(super) draft: Result<Drafted<()>, (Error, BTreeSet<TableId>)>,
}
