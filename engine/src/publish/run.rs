//! The loop of a publish: evaluate on a head, put the next record, and start over where others were first.

use std::collections::BTreeSet;
use std::sync::Arc;

use object_store::path::Path;

use super::append::{Landed, PutInFlight, detached};
use super::build::{NewChange, Stamp, absorbing_record, next_record};
use super::contention::{Decision, Stake, decide};
use super::patience::Patience;
use super::{Absorbed, Beginning, Evaluation, Fingerprint, PublishError, Snapshot, Work};
use crate::branch::{At, BranchError, BranchName, Capture, Head, Reference};
use crate::error::Error;
use crate::graph::{Access, ChangeOptions, CommitInfo, Core, Gate};
use crate::ids::{IncarnationId, Seq, TableId};
use crate::record::{Change, ChangeKind, Record, RequestHash};
use crate::table::{StagedVersion, TableVersion};

/// What a caller is told.
type Outcome<R> = (Option<CommitInfo>, R);

/// The commit of a request that took effect, and the number of its change in it.
pub(crate) type RequestOutcome = (CommitInfo, usize);

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

/// What a publish carries from one round to the next.
struct Course {
    patience: Patience,
    /// The life of the branch that the request belongs to: the first that was found alive after the request had arrived. A
    /// branch of the same name that is created later is another one, however its creation is met.
    life: Option<IncarnationId>,
}

impl Course {
    /// Ties the request to the life of `head`, unless it is tied to another.
    fn belongs_to(&mut self, head: &Record) -> bool {
        *self.life.get_or_insert(head.incarnation) == head.incarnation
    }
}

/// What was evaluated and staged, to be published on the head it was evaluated against or on a later one.
struct Staged<R> {
    captured: Snapshot,
    confirmed: bool,
    versions: Vec<(TableId, TableVersion)>,
    files: Vec<Path>,
    touched: BTreeSet<TableId>,
    change: Change,
    absorbed: Option<Box<Absorbed>>,
    report: R,
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
        loop {
            let only_stale = !capture.confirmed;
            match self.round(capture, &mut course).await? {
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
        let ((), head) = futures::try_join!(self.still_there(head, false), authorities.fresh(&self.name))?;
        Ok(Capture { head, confirmed: true })
    }

    async fn round(&self, capture: Capture, course: &mut Course) -> Result<Round<W::Report>, Error> {
        if let Some(head) = &capture.head
            && let Some(outcome) = self.took_effect(head, None).await?
        {
            return self.replay(outcome).await;
        }
        let head = match self.core.authorities().living(&self.name, capture.head.clone()).await {
            Ok(head) => self.core.authorities().snapshot_of(head).await?,
            Err(refusal) => return self.settle(capture.head.as_deref(), Err(refusal)).await,
        };
        if capture.confirmed && !course.belongs_to(&head.record) {
            return self.settle(Some(&head.record), Err(self.recreated())).await;
        }
        if let Err(refusal) = self.expect(&head.record).await {
            return self.settle(Some(&head.record), Err(refusal)).await;
        }
        // Beside the evaluation, so that it costs no time: a store that lets a later put win has replaced what we remember.
        let (evaluation, still_there) =
            futures::join!(self.work.evaluate(&head), self.still_there(&head.record, capture.confirmed));
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
                let files = files_of(&tables, absorbed.as_deref());
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
                    versions: tables.into_iter().map(|staged| (staged.table, staged.version)).collect(),
                    files: files.clone(),
                    change,
                    absorbed,
                    report,
                };
                let landed = self.land(staged, course).await;
                self.core.store().staging().release(&files);
                landed
            }
        }
    }

    /// Puts what was staged on the head it was evaluated against, then on those that came first, as long as it holds for them.
    async fn land(&self, staged: Staged<W::Report>, course: &mut Course) -> Result<Round<W::Report>, Error> {
        let mut onto = staged.captured.clone();
        let mut only_stale = !staged.confirmed;
        loop {
            let record = self.record(&staged, &onto.record);
            let arrived = match self.core.append(record, &staged.files, &self.in_flight).await? {
                Landed::Ours(record) => {
                    self.core.authorities().advance(&record).await?;
                    let schema = staged.absorbed.and_then(|absorbed| absorbed.schema);
                    let catalog = schema.map_or(onto.catalog, |(_, catalog)| catalog);
                    let commit = CommitInfo::new(&record, &[staged.change], &catalog);
                    return Ok(Round::Done((Some(commit), staged.report)));
                }
                Landed::Theirs(arrived) => arrived,
            };
            let head = self.core.catch_up(&self.name, Some(&onto.record), arrived).await?;
            if let Some(outcome) = self.took_effect(&head, Some(staged.captured.record.seq)).await? {
                return self.replay(outcome).await;
            }
            if let Some(expected) = &self.if_head {
                return Err(self.moved(&head, expected).into());
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
                        course.patience.wait().await?;
                    }
                    // The schema is the same.
                    onto.record = head;
                }
                Decision::Evaluate => return Ok(Round::Again(Some(head))),
                Decision::Recreated => return self.settle(Some(&head), Err(self.recreated())).await,
            }
        }
    }

    /// The record that puts what was staged on `head`.
    fn record(&self, staged: &Staged<W::Report>, head: &Record) -> Record {
        let (versions, change) = (staged.versions.iter().cloned(), staged.change.clone());
        let after = staged.absorbed.as_ref().map_or(head.time, |absorbed| absorbed.after.max(head.time));
        let stamp = Stamp::after(self.core.clock(), Some(after));
        match &staged.absorbed {
            Some(absorbed) => absorbing_record(head, stamp, versions, absorbed, change),
            None => next_record(head, stamp, versions, change),
        }
    }

    /// Tells an outcome that published nothing, if the head it was found on is the head still.
    async fn settle(
        &self,
        head: Option<&Record>,
        outcome: Result<Outcome<W::Report>, Error>,
    ) -> Result<Round<W::Report>, Error> {
        let found = self.core.authorities().fresh(&self.name).await?;
        if found.as_ref().map(|found| found.commit) != head.map(|head| head.commit) {
            return Ok(Round::Again(found));
        }
        self.core.authorities().log(&self.name).sync().await?;
        outcome.map(Round::Done)
    }

    /// Refuses a head that is not the one the caller named.
    async fn expect(&self, head: &Record) -> Result<(), Error> {
        let Some(expected) = &self.if_head else { return Ok(()) };
        if self.core.names(expected, head).await? { Ok(()) } else { Err(self.moved(head, expected).into()) }
    }

    fn recreated(&self) -> Error {
        PublishError::Recreated { branch: self.name.clone() }.into()
    }

    fn moved(&self, head: &Record, expected: &Reference) -> PublishError {
        PublishError::HeadMoved { branch: self.name.clone(), head: head.seq, expected: expected.to_string() }
    }

    /// Checks that a head this process only remembers is still what stands at its position.
    async fn still_there(&self, head: &Record, confirmed: bool) -> Result<(), Error> {
        if confirmed {
            return Ok(());
        }
        let found = self.core.authorities().record_at(&self.name, head.seq).await?;
        if found.commit == head.commit {
            return Ok(());
        }
        Err(BranchError::Replaced { place: format!("{}@{}", self.name, head.seq) }.into())
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
        let mut remembers = head.clone();
        let (seq, change) = loop {
            if let Some(found) = remembers.requests.find(request) {
                break found;
            }
            match remembers.requests.complete_after() {
                // A log that moves fast forgets in seconds; what it forgot, an older record remembers.
                Some(oldest) if after.is_some_and(|after| oldest > after) && oldest < remembers.seq => {
                    remembers = self.authorities().record_at(name, oldest).await?;
                }
                _ => return Ok(None),
            }
        };
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

/// What `work` waits at before it publishes to `target`.
fn gates<W: Work>(work: &W, target: &BranchName) -> Vec<(Gate, Access)> {
    let mut gates = work.gates(target);
    gates.extend([(Gate::Schema, Access::Shared), (Gate::branch(target), Access::Shared)]);
    gates
}

fn files_of(tables: &[StagedVersion], absorbed: Option<&Absorbed>) -> Vec<Path> {
    let others = absorbed.into_iter().flat_map(|absorbed| &absorbed.files);
    tables.iter().flat_map(|staged| &staged.files).chain(others).cloned().collect()
}
