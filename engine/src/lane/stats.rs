//! What the lanes of a graph have done.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What the lanes of a graph have done since it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LaneStats {
    /// Requests that wait for their turn now.
    pub waiting: u64,
    /// Batches that came to their end: commits, and attempts that published nothing.
    pub batches: u64,
    /// Requests in these.
    pub requests: u64,
    /// Requests in the largest of these.
    pub largest_batch: u64,
    /// Requests that were taken up and had to wait for the next batch, since they depended on one before them.
    pub put_back: u64,
    /// How long the requests waited until they were taken up, all together.
    pub waited: Duration,
    /// How long the batches took from then on, all together.
    pub worked: Duration,
}

/// The same, being counted.
#[derive(Debug, Default)]
pub(super) struct Counters {
    batches: AtomicU64,
    requests: AtomicU64,
    largest_batch: AtomicU64,
    put_back: AtomicU64,
    waited: AtomicU64,
    worked: AtomicU64,
}

impl Counters {
    /// Notes how long a request waited until it was taken up.
    pub(super) fn taken_up(&self, waited: Duration) {
        self.waited.fetch_add(micros(waited), Ordering::Relaxed);
    }

    /// Notes a batch of so many requests, of which some were put back.
    pub(super) fn done(&self, taken: usize, put_back: usize, worked: Duration) {
        let requests = taken.saturating_sub(put_back) as u64;
        self.batches.fetch_add(1, Ordering::Relaxed);
        self.requests.fetch_add(requests, Ordering::Relaxed);
        self.largest_batch.fetch_max(requests, Ordering::Relaxed);
        self.put_back.fetch_add(put_back as u64, Ordering::Relaxed);
        self.worked.fetch_add(micros(worked), Ordering::Relaxed);
    }

    pub(super) fn told(&self, waiting: usize) -> LaneStats {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        LaneStats {
            waiting: waiting as u64,
            batches: of(&self.batches),
            requests: of(&self.requests),
            largest_batch: of(&self.largest_batch),
            put_back: of(&self.put_back),
            waited: Duration::from_micros(of(&self.waited)),
            worked: Duration::from_micros(of(&self.worked)),
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
