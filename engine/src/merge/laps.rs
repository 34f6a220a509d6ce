//! Where the time of a merge goes.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::report::MergeTimings;
use crate::clock::Clock;

/// A stopwatch; its laps add up when a merge begins anew.
#[derive(Debug)]
pub(super) struct Laps {
    clock: Clock,
    state: Mutex<(Instant, MergeTimings)>,
}

impl Laps {
    /// Begins to measure.
    pub(super) fn begin(clock: &Clock) -> Self {
        Self { clock: clock.clone(), state: Mutex::new((clock.instant(), MergeTimings::default())) }
    }

    /// Adds the time since the last lap to `part`.
    pub(super) fn lap(&self, part: impl FnOnce(&mut MergeTimings) -> &mut Duration) {
        let now = self.clock.instant();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let last = std::mem::replace(&mut state.0, now);
        *part(&mut state.1) += now.saturating_duration_since(last);
    }

    /// What was measured.
    pub(super) fn timings(&self) -> MergeTimings {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).1
    }
}
