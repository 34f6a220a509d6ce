//! The queues in front of branches, and the task of each.
//!
//! A queue is there as long as its task is. Whoever finds none makes both; a task ends only when it has found its queue empty under the lock
//! that is held for adding to it, so that no request is left behind. The lock is held for a push or a few pops.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracing::Instrument as _;

use super::batch::Batch;
use super::cut::Room;
use super::request::Request;
use super::stats::{Counters, LaneStats};
use crate::graph::Core;

/// Turns that other tasks get, without a request coming, before the next batch is taken: those who were just told often have more to ask.
const QUIET_TURNS: u32 = 4;

/// All lanes of a graph, by the folder of the branch's log.
#[derive(Default)]
pub(crate) struct Lanes {
    lanes: Mutex<HashMap<String, Lane>>,
    counters: Counters,
}

/// One lane.
struct Lane {
    queue: VecDeque<Request>,
    /// Requests that are drafted together at most: fewer while they turn out to depend on one another, since what is drafted beyond
    /// the first of those is drafted in vain.
    window: usize,
}

impl fmt::Debug for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lanes({})", self.lock().len())
    }
}

impl Lanes {
    // The map is whole between any two statements, so a panic elsewhere leaves nothing to distrust.
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Lane>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a request to the queue of its branch.
    pub(super) fn push(&self, core: &Arc<Core>, request: Request) {
        let folder = request.asked.name.folder().to_owned();
        let mut lanes = self.lock();
        if let Some(lane) = lanes.get_mut(&folder) {
            lane.queue.push_back(request);
            return;
        }
        let window = core.settings().lane.requests;
        lanes.insert(folder.clone(), Lane { queue: VecDeque::from([request]), window });
        tokio::spawn(serve(core.clone(), folder));
    }

    /// What the lanes have done, and how many requests wait, on all branches.
    pub(crate) fn stats(&self) -> LaneStats {
        let waiting = self.lock().values().map(|lane| lane.queue.len()).sum();
        self.counters.told(waiting)
    }

    fn waiting_for(&self, folder: &str) -> usize {
        self.lock().get(folder).map_or(0, |lane| lane.queue.len())
    }

    /// Takes the next requests off a queue. `None`: there are none, and the lane is gone.
    fn take(&self, core: &Core, folder: &str) -> Option<Vec<Request>> {
        let mut lanes = self.lock();
        let lane = lanes.get_mut(folder)?;
        let batch = lane.take(core);
        if batch.is_empty() {
            lanes.remove(folder);
            return None;
        }
        Some(batch)
    }

    /// Puts requests back to where they were, before those that came later.
    fn put_back(&self, folder: &str, requests: Vec<Request>, window: usize) {
        if let Some(lane) = self.lock().get_mut(folder) {
            requests.into_iter().rev().for_each(|request| lane.queue.push_front(request));
            lane.window = window;
        }
    }
}

impl Lane {
    fn take(&mut self, core: &Core) -> Vec<Request> {
        let mut room = Room::new(core.settings().lane);
        let mut ids = HashSet::new();
        let mut batch: Vec<Request> = Vec::new();
        while let Some(next) = self.queue.front() {
            if next.member.is_gone() {
                self.queue.pop_front();
                continue;
            }
            let alone = batch.first().is_some_and(|first| {
                first.asked.if_head.is_some()
                    || next.asked.if_head.is_some()
                    || first.asked.name.as_str() != next.asked.name.as_str()
            });
            // One that is sent twice is to find what came of the first.
            let again = next.request_id().is_some_and(|id| !ids.insert(id.to_owned()));
            if alone || again || batch.len() >= self.window || !room.take(next.weight) {
                break;
            }
            batch.extend(self.queue.pop_front());
        }
        batch
    }
}

/// Serves a branch until nobody waits.
async fn serve(core: Arc<Core>, folder: String) {
    let mut abandoned = Abandoned { core: &core, folder: &folder, armed: true };
    while let Some(requests) = core.lanes().take(&core, &folder) {
        let window = core.lanes().lock().get(&folder).map_or(1, |lane| lane.window);
        let (taken, begun) = (requests.len(), core.clock().instant());
        let counters = &core.lanes().counters;
        for request in &requests {
            counters.taken_up(begun.duration_since(request.arrived));
        }
        let span = tracing::debug_span!("batch", branch = %folder, requests = taken);
        // On a task of its own: what breaks there drops the requests, and their callers find out.
        let batch = tokio::spawn(Batch::new(core.clone(), requests).run().instrument(span));
        let put_back = batch.await.unwrap_or_default();
        let worked = core.clock().instant().duration_since(begun);
        counters.done(taken, put_back.len(), worked);
        tracing::debug!(branch = %folder, taken, put_back = put_back.len(), ?worked, "a batch came to its end");
        let window = next_window(window, taken, put_back.len(), core.settings().lane.requests);
        core.lanes().put_back(&folder, put_back, window);
        let mut quiet = 0;
        let mut waiting = core.lanes().waiting_for(&folder);
        while quiet < QUIET_TURNS {
            tokio::task::yield_now().await;
            let now = core.lanes().waiting_for(&folder);
            quiet = if now > waiting { 0 } else { quiet + 1 };
            waiting = now;
        }
    }
    abandoned.armed = false;
}

/// How many requests to draft together next.
fn next_window(window: usize, taken: usize, put_back: usize, most: usize) -> usize {
    if put_back == 0 { window.saturating_mul(2).min(most) } else { (2 * (taken - put_back)).clamp(1, most) }
}

/// Takes the lane away when its task goes away half-way, as when the runtime ends: whoever waits is told, and the next request begins anew.
struct Abandoned<'a> {
    core: &'a Core,
    folder: &'a str,
    armed: bool,
}

impl Drop for Abandoned<'_> {
    fn drop(&mut self) {
        if self.armed {
            // Dropped without the lock: the work of a request may hold anything.
            let lane = self.core.lanes().lock().remove(self.folder);
            drop(lane);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_follows_what_turned_out_to_be_independent() {
        assert_eq!(next_window(256, 256, 0, 256), 256);
        assert_eq!(next_window(256, 200, 199, 256), 2, "all of them depend on the first");
        assert_eq!(next_window(2, 2, 1, 256), 2);
        assert_eq!(next_window(2, 2, 0, 256), 4);
        assert_eq!(next_window(8, 8, 3, 256), 10);
        assert_eq!(next_window(1, 1, 1, 1), 1, "a batch that broke up whole");
    }
}
