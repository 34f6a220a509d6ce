//! Evaluates a batch on one head: drafts, judges and stages all of it together.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::future::join_all;

use super::batch::Batch;
use super::cut::{Room, independent};
use super::request::{Judging, Request};
use super::{Drafted, Undone};
use crate::error::Error;
use crate::ids::TableId;
use crate::publish::{NewChange, Snapshot};
use crate::record::Change;
use crate::table::StagedVersion;
use crate::write::footprint::Footprint;
use crate::write::input::Input;
use crate::write::shape::Shapes;
use crate::write::{Counts, Refused, Verdict, judge, read_set, stage_all};

/// What became of one request of a batch on one head.
pub(super) enum Standing {
    /// It fails, whatever the head is.
    Failed(Error),
    /// It is refused, if the head is the head.
    Refused(Error),
    /// It changes nothing, if the head is the head.
    Nothing(Counts),
    /// It is this change, of that number, of what is staged.
    Changed(Counts, usize),
}

impl Standing {
    fn of_error(error: Error) -> Self {
        if error.depends_on_head() { Self::Refused(error) } else { Self::Failed(error) }
    }
}

/// What a batch came to.
#[derive(Default)]
pub(super) struct Evaluated {
    /// One for each request.
    pub(super) standings: Vec<Standing>,
    pub(super) tables: Vec<StagedVersion>,
    /// The tables that the outcome depends on.
    pub(super) reads: BTreeSet<TableId>,
    pub(super) changes: Vec<Change>,
}

/// A request that was judged.
struct Judged {
    outcome: Result<Verdict, Error>,
    /// The tables that it depends on.
    reads: BTreeSet<TableId>,
}

impl Batch {
    /// Evaluates the requests against `at`. Those that depend on one before them leave the batch.
    pub(super) async fn evaluate(&mut self, at: &Snapshot) -> Evaluated {
        let shapes = match Shapes::new(&at.catalog, |table| self.core.layout(at, table)) {
            Ok(shapes) => Arc::new(shapes),
            Err(error) => return self.all_fail(&error.into()),
        };
        let drafting = self.requests.iter_mut().map(|request| draft(request, at, &shapes));
        let mut drafts = join_all(drafting).await;
        fail::fail_point!("lane-drafted");
        let alone = drafts.len() == 1;
        if !alone {
            let room = self.room_for(&drafts);
            let count = independent(drafts.iter().take(room).map(|draft| &draft.touched), &shapes);
            self.keep(count);
            drafts.truncate(count);
        }
        let mut judged = match self.judge(at, drafts).await {
            Ok(judged) => judged,
            Err(error) => return self.all_fail(&error),
        };
        if !alone {
            let count = independent(judged.iter().map(|(touched, _)| touched), &shapes);
            self.keep(count);
            judged.truncate(count);
        }
        fail::fail_point!("lane-judged");
        self.stage(at, judged.into_iter().map(|(_, judged)| judged).collect()).await
    }

    fn all_fail(&self, error: &Error) -> Evaluated {
        let standings = self.requests.iter().map(|_| Standing::of_error(error.clone())).collect();
        Evaluated { standings, ..Evaluated::default() }
    }

    /// How many of the drafted requests one commit has room for.
    fn room_for(&self, drafts: &[Judging]) -> usize {
        let mut room = Room::new(self.core.settings().lane);
        let fits = self.requests.iter().zip(drafts).take_while(|(request, drafted)| match &drafted.draft {
            Ok(draft) => room.take_input(request.weight, &draft.input),
            Err(_) => room.take(request.weight),
        });
        fits.count()
    }

    /// Judges what was drafted with one round of lookups: what each touched in all, and what it came to.
    async fn judge(&self, at: &Snapshot, drafts: Vec<Judging>) -> Result<Vec<(Footprint, Judged)>, Error> {
        let inputs: Vec<Arc<Input>> =
            drafts.iter().filter_map(|draft| draft.draft.as_ref().ok()).map(|draft| draft.input.clone()).collect();
        let mut verdicts = judge(&self.core, at, &inputs).await?.into_iter();
        let mut judged = Vec::with_capacity(drafts.len());
        for (request, Judging { touched, draft }) in self.requests.iter().zip(drafts) {
            let Drafted { input, touched: before, mut reads, .. } = match draft {
                Ok(draft) => draft,
                Err((error, reads)) => {
                    judged.push((touched, Judged { outcome: Err(error), reads }));
                    continue;
                }
            };
            let Some(verdict) = verdicts.next() else { break };
            reads.extend(read_set(&input.shapes, input.touched.iter()));
            let (mut touched, outcome) = match verdict {
                Ok(mut verdict) => {
                    reads.extend(verdict.reads());
                    let touched = std::mem::take(&mut verdict.touched);
                    let touched = if verdict.changes() { touched } else { touched.only_reads() };
                    (touched, Ok(verdict))
                }
                Err(Refused { error, touched }) => (touched, Err(request.member.refusal(error))),
            };
            touched.add(before);
            judged.push((touched, Judged { outcome, reads }));
        }
        Ok(judged)
    }

    /// Stages what changes something, all together.
    async fn stage(&self, at: &Snapshot, judged: Vec<Judged>) -> Evaluated {
        let changing = judged.iter().filter_map(|judged| judged.outcome.as_ref().ok());
        let changing: Vec<&Verdict> = changing.filter(|verdict| verdict.changes()).collect();
        let several = changing.len() > 1;
        let (tables, failed) = match stage_all(&self.core, at, &changing).await {
            Ok(tables) => (tables, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        fail::fail_point!("lane-staged");
        let mut evaluated = Evaluated { tables, ..Evaluated::default() };
        evaluated.reads.extend(evaluated.tables.iter().map(|staged| staged.table));
        for (request, Judged { outcome, reads }) in self.requests.iter().zip(judged) {
            evaluated.reads.extend(reads);
            let standing = match (outcome, &failed) {
                (Err(error), _) => Standing::of_error(error),
                (Ok(verdict), _) if !verdict.changes() => Standing::Nothing(verdict.report()),
                (Ok(_), Some(error)) => Standing::of_error(error.clone()),
                (Ok(verdict), None) => {
                    let number = evaluated.changes.len();
                    evaluated.changes.push(change_of(request, &verdict, several));
                    Standing::Changed(verdict.report(), number)
                }
            };
            evaluated.standings.push(standing);
        }
        evaluated
    }
}

/// What the record says of a request. Where several share it, it has to say which keys each of them deleted.
fn change_of(request: &Request, verdict: &Verdict, several: bool) -> Change {
    let (id, kind) = (verdict.input.change, request.kind.clone());
    let mut change = NewChange { id, kind, counts: verdict.counts() }.recorded(&request.asked.options);
    if let Some(asks) = request.asks {
        asks.record(&mut change);
    }
    if several {
        change.deleted_keys.clone_from(&verdict.deleted_keys);
    }
    change
}

async fn draft(request: &mut Request, at: &Snapshot, shapes: &Arc<Shapes>) -> Judging {
    let undone =
        |Undone { error, touched, reads }| Judging { touched: touched.only_reads(), draft: Err((error, reads)) };
    let drafted = match request.member.draft(at, shapes).await {
        Ok(drafted) => drafted,
        Err(failed) => return undone(failed),
    };
    let touched = match Footprint::of(&drafted.input) {
        Ok(mut touched) => {
            touched.add(drafted.touched.clone());
            touched
        }
        Err(_) => Footprint::unbounded(),
    };
    Judging { touched, draft: Ok(drafted) }
}
