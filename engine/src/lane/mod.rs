//! The lane: small requests that wait for one branch share a commit.
//!
//! In front of each branch is a queue with a task of its own. A request that finds it idle goes at once. Those that arrive while a commit is
//! being published wait; when that is decided, as many of them as are independent of one another go together: one round of lookups, one write
//! for each table, one record with a change for each request.
//!
//! Invariants
//! 1. Every request is evaluated against the head alone, and none of a batch reads what one before it in the batch writes: so what each of
//!    them comes to, an error included, is what it would have come to in a commit of its own, in the order of arrival.
//! 2. No caller's future carries the work. A caller that goes away before its request is taken up takes it back; later, it is carried to its end.
//! 3. Nobody is told a commit before it is published, or a refusal before the head it was found on is known to have been the head.
//! 4. A request that fails alone concerns no other. A commit that fails fails those whose changes it carries, each with its own error.
//! 5. Nothing waits for time: neither for more requests to come, nor for a request that is not there.
//! 6. The task ends when nobody waits. Gates are passed before a request queues; nothing is acquired here.
//!
//! Order of effects: draft all requests of the batch · judge them with one round of lookups · cut the batch where one depends on another · stage
//! · put the record (`publish`) · tell the callers.
//!
//! What a crash leaves behind: what a publish leaves. The queue is in memory alone; whoever waits in it has been told nothing.

mod batch;
mod cut;
mod evaluate;
mod queue;
mod request;
mod stats;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::oneshot;

use crate::admission::WritePlace;
use crate::branch::{BranchName, Reference};
use crate::error::Error;
use crate::graph::{Access, ChangeInfo, ChangeOptions, CommitInfo, Core, Gate};
use crate::ids::TableId;
use crate::publish::{Fingerprint, PutInFlight, Snapshot};
use crate::record::ChangeKind;
use crate::write::Counts;
use crate::write::footprint::Footprint;
use crate::write::input::Input;
use crate::write::shape::Shapes;

pub(crate) use cut::LaneLimits;
pub(crate) use queue::Lanes;
pub(crate) use request::Weight;
pub use stats::LaneStats;

/// Work that may share a commit with that of others: it comes to rows to be put and deleted.
#[async_trait]
pub(crate) trait Coalesce: Send + Sync + 'static {
    /// What it keeps from its drafting for its report.
    type Draft: Send + Sync + 'static;
    /// What the caller is told besides the commit.
    type Report: Send + 'static;

    /// About how much it is, as far as that is known when it arrives.
    fn weight(&self) -> Weight;

    /// What sort of request it is.
    fn kind(&self) -> ChangeKind;

    /// What it asks for; asked for only if it has a request id.
    fn asks(&self) -> Option<Fingerprint>;

    /// What it comes to on `at`: rows that are still to be judged. Called again when it has to be evaluated on another head.
    async fn draft(&self, at: &Snapshot, shapes: &Arc<Shapes>) -> Result<Drafted<Self::Draft>, Undone>;

    /// How the caller is told why its rows are refused.
    fn refusal(&self, _draft: &Self::Draft, error: Error) -> Error {
        error
    }

    /// What it did, as it is told.
    fn report(&self, draft: Self::Draft, counts: Counts) -> Self::Report;

    /// The report of a request that took effect before, from what its commit says.
    fn replay(&self, commit: &CommitInfo, change: &ChangeInfo) -> Self::Report;
}

/// Rows to be judged, and what finding them depended on.
pub(crate) struct Drafted<D> {
    pub(crate) input: Arc<Input>,
    /// What was read before, besides what judging the input will read.
    pub(crate) touched: Footprint,
    /// The tables that this was read from, or might have been.
    pub(crate) reads: BTreeSet<TableId>,
    pub(crate) draft: D,
}

/// Why there are no rows to be judged, and what that depended on.
#[derive(Debug)]
pub(crate) struct Undone {
    pub(crate) error: Error,
    pub(crate) touched: Footprint,
    /// The tables that this was read from, or might have been.
    pub(crate) reads: BTreeSet<TableId>,
}

impl Undone {
    /// It depends on the schema alone.
    pub(crate) fn by_schema(error: impl Into<Error>) -> Self {
        Self { error: error.into(), touched: Footprint::default(), reads: BTreeSet::new() }
    }
}

/// What a caller is told.
pub(crate) struct Answer<R> {
    /// `None`: nothing changed, nothing was published.
    pub(crate) commit: Option<CommitInfo>,
    /// The number of its change in the commit.
    pub(crate) change: usize,
    pub(crate) report: R,
}

impl Core {
    /// Does `work`, which was let in, on the branch, in a commit that others may share.
    ///
    /// # Errors
    /// Those of the work, confirmed where a newer head could contradict them; those of publishing.
    ///
    /// # Cancellation
    /// A call that is dropped before its turn does nothing; later it is carried on to its end.
    pub(crate) async fn coalesce<W: Coalesce>(
        self: &Arc<Self>,
        branch: &str,
        work: W,
        options: &ChangeOptions,
        place: WritePlace,
    ) -> Result<Answer<W::Report>, Error> {
        let name = BranchName::parse(branch)?;
        let if_head = options.if_head.as_deref().map(str::parse::<Reference>).transpose()?;
        let shared = [Gate::Schema, Gate::branch(&name)].map(|gate| (gate, Access::Shared));
        let pass = self.gates().acquire(shared).await;
        let (answer, told) = oneshot::channel();
        let in_flight = PutInFlight::default();
        let asked = request::Asked { name: name.clone(), if_head, options: options.clone() };
        self.lanes().push(self, request::Request::new(self, asked, work, in_flight.clone(), (pass, place), answer));
        match told.await {
            Ok(answer) => answer,
            // Whatever had the request broke.
            Err(_) => Err(in_flight.broken(name, options)),
        }
    }
}
