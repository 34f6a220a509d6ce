//! A batch on its way into a branch log: the rounds of its publish, and who is told what.

use std::sync::Arc;

use super::evaluate::{Evaluated, Standing};
use super::request::Request;
use crate::branch::{BranchName, Capture, Head};
use crate::error::Error;
use crate::graph::{CommitInfo, Core};
use crate::publish::{Course, Landing, NotLanded, Patience, PublishError, Snapshot, Staged, Terms, files_of};
use crate::record::{Record, RequestHash};

/// Requests that are to share a commit, in the order they came.
pub(super) struct Batch {
    pub(super) core: Arc<Core>,
    pub(super) requests: Vec<Request>,
    /// Those that have to wait for the next one.
    put_back: Vec<Request>,
    name: BranchName,
}

impl Batch {
    pub(super) fn new(core: Arc<Core>, requests: Vec<Request>) -> Self {
        let name = requests.first().map_or_else(BranchName::main, |request| request.asked.name.clone());
        Self { core, requests, put_back: Vec::new(), name }
    }

    /// Keeps the first `count` requests; the others go next.
    pub(super) fn keep(&mut self, count: usize) {
        if count < self.requests.len() {
            let later = self.requests.split_off(count);
            self.put_back.splice(..0, later);
        }
    }

    /// Publishes the batch and tells the callers. Returns the requests whose turn has not come yet.
    pub(super) async fn run(mut self) -> Vec<Request> {
        fail::fail_point!("lane-batch");
        let patience = Patience::new(self.core.clock(), self.name.clone(), self.core.settings().publish_within);
        let mut course = Course { patience, life: None };
        let mut capture = match self.core.authorities().capture(&self.name).await {
            Ok(capture) => capture,
            Err(error) => {
                self.fail(&error);
                return self.put_back;
            }
        };
        loop {
            let only_stale = !capture.confirmed;
            match self.round(capture, &mut course).await {
                Ok(Some(head)) => capture = Capture { head, confirmed: true },
                Ok(None) => return self.put_back,
                Err(error) => {
                    self.fail(&error);
                    return self.put_back;
                }
            }
            // That others published before these requests came is no contention.
            if !only_stale && let Err(error) = course.patience.wait().await {
                self.fail(&error.into());
                return self.put_back;
            }
        }
    }

    /// Tells all that are left.
    fn fail(&mut self, error: &Error) {
        self.requests.drain(..).for_each(|request| request.fail(error.clone()));
    }

    /// One attempt: the head to try next, if it did not come to an end. An error is that of all requests that are left.
    async fn round(&mut self, capture: Capture, course: &mut Course) -> Result<Option<Head>, Error> {
        if let Some(head) = &capture.head {
            self.tell_those_that_came_before(head).await;
        }
        if self.requests.is_empty() {
            return Ok(None);
        }
        let head = match self.core.authorities().living(&self.name, capture.head.clone()).await {
            Ok(head) => self.core.authorities().snapshot_of(head).await?,
            Err(refusal) => return self.refuse(capture.head.as_deref(), &refusal).await,
        };
        if capture.confirmed && self.is_another_life(&head.record) {
            let recreated = PublishError::Recreated { branch: self.name.clone() }.into();
            return self.refuse(Some(&head.record), &recreated).await;
        }
        // One that names a head is alone.
        let if_head = self.requests.first().and_then(|request| request.asked.if_head.clone());
        if let Err(refusal) = self.core.expect(&self.name, if_head.as_ref(), &head.record).await {
            return self.refuse(Some(&head.record), &refusal).await;
        }
        self.requests.iter_mut().for_each(|request| {
            request.since.get_or_insert(head.record.seq);
        });
        // Beside the evaluation, so that it costs no time: a store that lets a later put win has replaced what we remember.
        let (core, name) = (self.core.clone(), self.name.clone());
        let still_there = core.still_there(&name, &head.record, capture.confirmed);
        let (evaluated, still_there) = futures::join!(self.evaluate(&head), still_there);
        if let Err(replaced) = still_there {
            self.core.store().staging().release(&files_of(&evaluated.tables, None));
            return Err(replaced);
        }
        self.publish(head, capture.confirmed, evaluated, course).await
    }

    /// Tells those whose request id took effect before, or was used for something else.
    async fn tell_those_that_came_before(&mut self, head: &Arc<Record>) {
        if self.requests.iter().all(|request| request.request_id().is_none()) {
            return;
        }
        for request in std::mem::take(&mut self.requests) {
            let (id, kind) = (request.request_id(), request.kind.clone());
            let outcome = match self.core.outcome_of(id, kind, request.asks, head, request.since).await {
                Ok(None) => {
                    self.requests.push(request);
                    continue;
                }
                Ok(Some(outcome)) => self.core.authorities().log(&self.name).sync().await.map(|()| outcome),
                Err(error) => {
                    request.fail(error);
                    continue;
                }
            };
            match outcome {
                Ok((commit, change)) => request.member.again(commit, change),
                Err(error) => request.fail(error.into()),
            }
        }
    }

    /// Ties the requests to the life of the branch that is found; whether it is another than that of the first, which then goes without
    /// those that may begin anew.
    fn is_another_life(&mut self, head: &Record) -> bool {
        let another = |request: &Request| request.life.is_some_and(|life| life != head.incarnation);
        let Some(first) = self.requests.first().map(another) else { return false };
        let count = self.requests.iter().take_while(|request| another(request) == first).count();
        self.keep(count);
        if !first {
            self.requests.iter_mut().for_each(|request| request.life = Some(head.incarnation));
        }
        first
    }

    /// Refuses all, if the head is the head.
    async fn refuse(&mut self, head: Option<&Record>, refusal: &Error) -> Result<Option<Head>, Error> {
        if let Some(found) = self.core.confirm(&self.name, head).await? {
            return Ok(Some(found));
        }
        self.fail(refusal);
        Ok(None)
    }

    async fn publish(
        &mut self,
        head: Snapshot,
        confirmed: bool,
        evaluated: Evaluated,
        course: &mut Course,
    ) -> Result<Option<Head>, Error> {
        let Evaluated { standings, tables, reads, changes } = evaluated;
        let standings = self.tell_failures(standings);
        if self.requests.is_empty() {
            return Ok(None);
        }
        if changes.is_empty() {
            return self.settle(&head.record, standings).await;
        }
        let files = files_of(&tables, None);
        let versions = tables.into_iter().map(|staged| (staged.table, staged.version)).collect();
        let captured = head.record.clone();
        let staged = Staged { captured: head, confirmed, versions, files, touched: reads, changes, absorbed: None };
        let requests: Vec<RequestHash> = self.requests.iter().filter_map(Request::request_hash).collect();
        let in_flight: Vec<_> = self.requests.iter().map(|request| request.in_flight.clone()).collect();
        let pinned = self.requests.iter().any(|request| request.asked.if_head.is_some());
        // Each request knows to which life it belongs.
        course.life = None;
        let terms = Terms { pinned, requests: &requests, in_flight: &in_flight };
        match self.core.land(&self.name, staged, course, &terms).await {
            Ok(Landing::Done(commit)) => {
                self.tell(Some(&commit), standings);
                Ok(None)
            }
            Ok(Landing::Elsewhere(head) | Landing::Recreated(head)) => {
                if let Some(life) = course.life {
                    self.requests.iter_mut().for_each(|request| {
                        request.life.get_or_insert(life);
                    });
                }
                Ok(Some(Some(head)))
            }
            Err(failed) => self.tell_not_landed(&captured, standings, &failed).await,
        }
    }

    /// Tells those that fail whatever the head is: what stands of the others.
    fn tell_failures(&mut self, standings: Vec<Standing>) -> Vec<Standing> {
        let mut others = Vec::with_capacity(standings.len());
        for (request, standing) in std::mem::take(&mut self.requests).into_iter().zip(standings) {
            if let Standing::Failed(error) = standing {
                request.fail(error);
            } else {
                self.requests.push(request);
                others.push(standing);
            }
        }
        others
    }

    /// Tells outcomes without a commit, if the head is the head.
    async fn settle(&mut self, head: &Record, standings: Vec<Standing>) -> Result<Option<Head>, Error> {
        if let Some(found) = self.core.confirm(&self.name, Some(head)).await? {
            return Ok(Some(found));
        }
        self.tell(None, standings);
        Ok(None)
    }

    /// Tells all what they came to. That a commit follows the head is proof that the head was the head.
    fn tell(&mut self, commit: Option<&CommitInfo>, standings: Vec<Standing>) {
        fail::fail_point!("lane-told");
        for (request, standing) in self.requests.drain(..).zip(standings) {
            match standing {
                Standing::Failed(error) | Standing::Refused(error) => request.fail(error),
                Standing::Nothing(counts) => request.member.done(None, counts),
                Standing::Changed(counts, number) => {
                    request.member.done(commit.map(|commit| (commit.clone(), number)), counts);
                }
            }
        }
    }

    /// Tells those whose changes did not land, or of whom nobody knows; the outcomes of the others are confirmed by themselves.
    async fn tell_not_landed(
        &mut self,
        head: &Record,
        standings: Vec<Standing>,
        failed: &NotLanded,
    ) -> Result<Option<Head>, Error> {
        let mut others = Vec::new();
        for (request, standing) in std::mem::take(&mut self.requests).into_iter().zip(standings) {
            if let Standing::Changed(..) = standing {
                let error = match failed {
                    NotLanded::Failed(error) => error.clone(),
                    NotLanded::Unknown(doubt) => doubt.error(&request.asked.options),
                };
                request.fail(error);
            } else {
                self.requests.push(request);
                others.push(standing);
            }
        }
        if self.requests.is_empty() { Ok(None) } else { self.settle(head, others).await }
    }
}
