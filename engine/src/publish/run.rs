//! The loop of a publish: evaluate on a head, put the next record, and start over where others were first.

use std::sync::Arc;

use super::append::{PutInFlight, detached};
use super::build::NewChange;
use super::land::{Course, Landing, Staged, Terms, files_of};
use super::outcome::RequestOutcome;
use super::patience::Patience;
use super::{Beginning, Evaluation, Fingerprint, PublishError, Work};
use crate::branch::{BranchName, Capture, Head, Reference};
use crate::error::Error;
use crate::graph::{Access, ChangeOptions, CommitInfo, Core, Gate};
use crate::ids::Seq;
use crate::record::{Record, RequestHash};

/// What a caller is told.
type Outcome<R> = (Option<CommitInfo>, R);

/// How one round ended.
enum Round<R> {
    /// With an outcome.
    Done(Outcome<R>),
    /// On a head that is no longer the head: this one is to be tried next.
    Again(Head),
}

/// One request on its way into a branch log.
struct Publish<W> {
    core: Arc<Core>,
    name: BranchName,
    work: W,
    options: ChangeOptions,
    /// What is asked for, if there is a request id.
    asks: Option<Fingerprint>,
    if_head: Option<Reference>,
    in_flight: PutInFlight,
}

impl Core {
    /// Publishes what `work` makes of the branch's head, as one commit with one change.
    ///
    /// # Errors
    /// Those of the work, confirmed where a newer head could contradict them; contention when others were first for too long;
    /// [`PublishError::OutcomeUnknown`] when the store did not say what became of the record.
    ///
    /// # Cancellation
    /// A dropped call is carried on to its end.
    pub(crate) async fn publish<W: Work>(
        self: &Arc<Self>,
        branch: &str,
        work: W,
        options: &ChangeOptions,
    ) -> Result<Outcome<W::Report>, Error> {
        let name = BranchName::parse(branch)?;
        let if_head = options.if_head.as_deref().map(str::parse::<Reference>).transpose()?;
        let (core, owned, asked) = (self.clone(), options.clone(), name.clone());
        detached(name, options, move |in_flight| async move {
            let _pass = core.gates().acquire(gates(&work, &asked)).await;
            let core = core.clone();
            let asks = owned.request_id.is_some().then(|| work.asks()).flatten();
            Publish { core, name: asked, work, options: owned, asks, if_head, in_flight }.run().await
        })
        .await
    }
}

impl<W: Work> Publish<W> {
    async fn run(self) -> Result<Outcome<W::Report>, Error> {
        let mut capture = self.begin().await?;
        let patience = Patience::new(self.core.clock(), self.name.clone(), self.core.settings().publish_within);
        let mut course = Course { patience, life: None };
        // The first head it was evaluated against: what came since is looked through for this request.
        let mut since = None;
        loop {
            let only_stale = !capture.confirmed;
            match self.round(capture, &mut course, &mut since).await? {
                Round::Done(outcome) => return Ok(outcome),
                Round::Again(head) => capture = Capture { head, confirmed: true },
            }
            // That others published before this request came is no contention.
            if !only_stale {
                course.patience.wait().await?;
            }
        }
    }

    /// The head to begin with.
    async fn begin(&self) -> Result<Capture, Error> {
        let authorities = self.core.authorities();
        let beginning = self.work.begin();
        let remembered = authorities.capture(&self.name).await?;
        let (Some(head), false, Beginning::Fresh) = (&remembered.head, remembered.confirmed, beginning) else {
            return Ok(remembered);
        };
        // Side by side: what is remembered is still there, and what came after it.
        let still_there = self.core.still_there(&self.name, head, false);
        let ((), head) = futures::try_join!(still_there, authorities.fresh(&self.name))?;
        Ok(Capture { head, confirmed: true })
    }

    async fn round(
        &self,
        capture: Capture,
        course: &mut Course,
        since: &mut Option<Seq>,
    ) -> Result<Round<W::Report>, Error> {
        if let Some(head) = &capture.head
            && let Some(outcome) = self.took_effect(head, *since).await?
        {
            return self.replay(outcome).await;
        }
        let head = match self.core.authorities().living(&self.name, capture.head.clone()).await {
            Ok(head) => self.core.authorities().snapshot_of(head).await?,
            Err(refusal) => return self.settle(capture.head.as_deref(), Err(refusal)).await,
        };
        since.get_or_insert(head.record.seq);
        if capture.confirmed && *course.life.get_or_insert(head.record.incarnation) != head.record.incarnation {
            return self.settle(Some(&head.record), Err(self.recreated())).await;
        }
        if let Err(refusal) = self.core.expect(&self.name, self.if_head.as_ref(), &head.record).await {
            return self.settle(Some(&head.record), Err(refusal)).await;
        }
        // Beside the evaluation, so that it costs no time: a store that lets a later put win has replaced what we remember.
        let still_there = self.core.still_there(&self.name, &head.record, capture.confirmed);
        let (evaluation, still_there) = futures::join!(self.work.evaluate(&head), still_there);
        if let Err(replaced) = still_there {
            if let Ok(Evaluation::Staged { tables, absorbed, .. }) = &evaluation {
                self.core.store().staging().release(&files_of(tables, absorbed.as_deref()));
            }
            return Err(replaced);
        }
        match evaluation {
            Err(refusal) if refusal.depends_on_head() => self.settle(Some(&head.record), Err(refusal)).await,
            Err(failure) => Err(failure),
            Ok(Evaluation::Nothing(report)) => self.settle(Some(&head.record), Ok((None, report))).await,
            Ok(Evaluation::Staged { tables, reads, kind, change, counts, absorbed, report }) => {
                let mut change = NewChange { id: change, kind, counts }.recorded(&self.options);
                if let Some(asks) = self.asks {
                    asks.record(&mut change);
                }
                if let Some(absorbed) = &absorbed {
                    change.parents.clone_from(&absorbed.parents);
                    change.merged.clone_from(&absorbed.merged);
                }
                let staged = Staged {
                    captured: head,
                    confirmed: capture.confirmed,
                    touched: tables.iter().map(|staged| staged.table).chain(reads).collect(),
                    files: files_of(&tables, absorbed.as_deref()),
                    versions: tables.into_iter().map(|staged| (staged.table, staged.version)).collect(),
                    changes: vec![change],
                    absorbed,
                };
                self.land(staged, course, report).await
            }
        }
    }

    async fn land(&self, staged: Staged, course: &mut Course, report: W::Report) -> Result<Round<W::Report>, Error> {
        let request = self.options.request_id.as_deref().map(RequestHash::of);
        let terms = Terms {
            pinned: self.if_head.is_some(),
            requests: request.as_slice(),
            in_flight: std::slice::from_ref(&self.in_flight),
        };
        match self.core.land(&self.name, staged, course, &terms).await {
            Ok(Landing::Done(commit)) => Ok(Round::Done((Some(commit), report))),
            Ok(Landing::Elsewhere(head)) => Ok(Round::Again(Some(head))),
            Ok(Landing::Recreated(head)) => self.settle(Some(&head), Err(self.recreated())).await,
            Err(failed) => Err(failed.error(&self.options)),
        }
    }

    /// Tells an outcome that published nothing, if the head it was found on is the head still.
    async fn settle(
        &self,
        head: Option<&Record>,
        outcome: Result<Outcome<W::Report>, Error>,
    ) -> Result<Round<W::Report>, Error> {
        match self.core.confirm(&self.name, head).await? {
            Some(found) => Ok(Round::Again(found)),
            None => outcome.map(Round::Done),
        }
    }

    fn recreated(&self) -> Error {
        PublishError::Recreated { branch: self.name.clone() }.into()
    }

    async fn took_effect(&self, head: &Arc<Record>, after: Option<Seq>) -> Result<Option<RequestOutcome>, Error> {
        self.core.outcome_of(self.options.request_id.as_deref(), self.work.kind(), self.asks, head, after).await
    }

    async fn replay(&self, (commit, number): RequestOutcome) -> Result<Round<W::Report>, Error> {
        self.core.authorities().log(&self.name).sync().await?;
        let report = self.work.replay(&commit, &commit.changes[number]);
        Ok(Round::Done((Some(commit), report)))
    }
}

/// What `work` waits at before it publishes to `target`.
fn gates<W: Work>(work: &W, target: &BranchName) -> Vec<(Gate, Access)> {
    let mut gates = work.gates(target);
    gates.extend([(Gate::Schema, Access::Shared), (Gate::branch(target), Access::Shared)]);
    gates
}
