//! Admission: how much may go on at once in one process. What is beyond that is refused at once, with nothing done.
//!
//! Invariants
//! 1. A refusal says how full each limit is, and never waits.
//! 2. What was admitted is counted until it has been told its outcome, or its caller went away before its turn.
//! 3. Merges that wait go ahead in the order they came; writes wait in the lanes, in that order too.
//! 4. A place is taken before any gate, so that nobody who holds a gate waits for a place.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::{Classify, ErrorKind};

/// How much may go on at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Merges that run.
    pub(crate) running_merges: u64,
    /// Merges that wait for those.
    pub(crate) queued_merges: u64,
    /// Writes and loads that wait or are being published.
    pub(crate) writes: u64,
    /// Bytes of what these were given, and of their rows.
    pub(crate) write_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { running_merges: 64, queued_merges: 1_024, writes: 65_536, write_bytes: 256 << 20 }
    }
}

/// How full a limit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Occupancy {
    /// As much is there now.
    pub now: u64,
    /// As much may be there.
    pub limit: u64,
}

impl Occupancy {
    const fn is_full(self, by: u64) -> bool {
        self.now.saturating_add(by) > self.limit
    }
}

impl fmt::Display for Occupancy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.now, self.limit)
    }
}

/// How full all limits are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fullness {
    /// Merges that run.
    pub running_merges: Occupancy,
    /// Merges that wait for those.
    pub queued_merges: Occupancy,
    /// Writes, statements and loads that wait or are being published.
    pub writes: Occupancy,
    /// Bytes of what these were given.
    pub write_bytes: Occupancy,
}

impl fmt::Display for Fullness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { running_merges, queued_merges, writes, write_bytes } = self;
        write!(
            f,
            "{running_merges} merges run, {queued_merges} wait; {writes} writes are under way, of {write_bytes} bytes"
        )
    }
}

/// Why a request was not let in.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdmissionError {
    /// As much is going on as may.
    #[error("too much is going on: {fullness}")]
    Overloaded {
        /// How full each limit is.
        fullness: Fullness,
    },
}

impl Classify for AdmissionError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Overloaded
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Overloaded { .. } => "overloaded",
        }
    }

    fn hint(&self) -> Option<String> {
        Some("nothing was done; try again in a while, and with fewer requests at once".to_owned())
    }
}

/// What goes on in a process.
#[derive(Debug)]
pub(crate) struct Admission {
    limits: Limits,
    counts: Arc<Counts>,
    running: Arc<Semaphore>,
}

#[derive(Debug, Default)]
struct Counts {
    running_merges: AtomicU64,
    merges: AtomicU64,
    writes: AtomicU64,
    write_bytes: AtomicU64,
}

/// A place of a write; free again when this is dropped.
#[derive(Debug)]
pub(crate) struct WritePlace {
    counts: Arc<Counts>,
    bytes: u64,
}

/// A place of a merge; free again when this is dropped.
#[derive(Debug)]
pub(crate) struct MergePlace {
    counted: Counted,
    permit: Option<OwnedSemaphorePermit>,
}

/// A merge that runs or waits.
#[derive(Debug)]
struct Counted(Arc<Counts>);

impl Admission {
    pub(crate) fn new(limits: Limits) -> Self {
        let running = usize::try_from(limits.running_merges).unwrap_or(usize::MAX).clamp(1, Semaphore::MAX_PERMITS);
        Self { limits, counts: Arc::default(), running: Arc::new(Semaphore::new(running)) }
    }

    /// How full the limits are.
    pub(crate) fn fullness(&self) -> Fullness {
        let of = |count: &AtomicU64, limit| Occupancy { now: count.load(Ordering::Relaxed), limit };
        let Limits { running_merges, queued_merges, writes, write_bytes } = self.limits;
        let running = of(&self.counts.running_merges, running_merges);
        let merges = self.counts.merges.load(Ordering::Relaxed);
        Fullness {
            running_merges: running,
            queued_merges: Occupancy { now: merges.saturating_sub(running.now), limit: queued_merges },
            writes: of(&self.counts.writes, writes),
            write_bytes: of(&self.counts.write_bytes, write_bytes),
        }
    }

    fn refusal(&self) -> AdmissionError {
        AdmissionError::Overloaded { fullness: self.fullness() }
    }

    /// Lets a write in that was given as so many bytes. A single one may be larger than the limit.
    ///
    /// # Errors
    /// [`AdmissionError::Overloaded`], at once.
    pub(crate) fn write(&self, bytes: u64) -> Result<WritePlace, AdmissionError> {
        let counts = self.counts.clone();
        let before = counts.writes.fetch_add(1, Ordering::Relaxed);
        let held = counts.write_bytes.fetch_add(bytes, Ordering::Relaxed);
        let place = WritePlace { counts, bytes };
        let writes = Occupancy { now: before, limit: self.limits.writes };
        let room = Occupancy { now: held, limit: self.limits.write_bytes };
        if writes.is_full(1) || (held > 0 && room.is_full(bytes)) {
            drop(place);
            return Err(self.refusal());
        }
        Ok(place)
    }

    /// Lets a merge in: at once refused if too many wait, else told when it may run.
    ///
    /// # Errors
    /// [`AdmissionError::Overloaded`], at once.
    ///
    /// # Cancellation
    /// Dropping the wait gives the place to the next.
    pub(crate) async fn merge(&self) -> Result<MergePlace, AdmissionError> {
        let before = self.counts.merges.fetch_add(1, Ordering::Relaxed);
        let counted = Counted(self.counts.clone());
        if before >= self.limits.running_merges.saturating_add(self.limits.queued_merges) {
            drop(counted);
            return Err(self.refusal());
        }
        // It is never closed.
        let permit = self.running.clone().acquire_owned().await.ok();
        self.counts.running_merges.fetch_add(1, Ordering::Relaxed);
        Ok(MergePlace { counted, permit })
    }
}

impl Drop for WritePlace {
    fn drop(&mut self) {
        self.counts.writes.fetch_sub(1, Ordering::Relaxed);
        self.counts.write_bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Drop for MergePlace {
    fn drop(&mut self) {
        self.counted.0.running_merges.fetch_sub(1, Ordering::Relaxed);
        drop(self.permit.take());
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.merges.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use futures::future::poll_immediate;

    use super::*;

    fn admission() -> Admission {
        Admission::new(Limits { running_merges: 2, queued_merges: 1, writes: 3, write_bytes: 100 })
    }

    #[test]
    fn writes_are_let_in_by_number_and_by_size() {
        let admission = admission();
        let places: Vec<_> = (0..3).map(|_| admission.write(10).unwrap()).collect();
        let error = admission.write(1).unwrap_err();
        let AdmissionError::Overloaded { fullness } = &error;
        assert_eq!((fullness.writes, fullness.write_bytes.now), (Occupancy { now: 3, limit: 3 }, 30));
        assert!(error.to_string().contains("3 of 3 writes are under way, of 30 of 100 bytes"), "{error}");
        assert!(error.is_retryable());
        drop(places);
        let large = admission.write(1_000).unwrap();
        assert!(admission.write(1).is_err(), "there is no room beside it");
        drop(large);
        assert_eq!(admission.fullness().writes.now + admission.fullness().write_bytes.now, 0);
    }

    #[tokio::test]
    async fn merges_wait_in_order_and_are_refused_beyond() {
        let admission = admission();
        let (one, two) = (admission.merge().await.unwrap(), admission.merge().await.unwrap());
        let mut third = admission.merge().boxed();
        assert!(poll_immediate(&mut third).await.is_none());
        assert_eq!(admission.fullness().queued_merges, Occupancy { now: 1, limit: 1 });
        assert_eq!(admission.merge().await.unwrap_err().code(), "overloaded");
        drop(one);
        let third = third.await.unwrap();
        let mut waiting = admission.merge().boxed();
        assert!(poll_immediate(&mut waiting).await.is_none());
        drop(waiting);
        assert_eq!(admission.fullness().queued_merges.now, 0, "who goes away leaves no trace");
        drop((two, third));
        assert_eq!(admission.fullness().running_merges, Occupancy { now: 0, limit: 2 });
    }
}
