//! The one door to time and chance: everything that reads a clock, sleeps or draws a random number does it here, so that a
//! test can decide what they answer.

use std::fmt;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rand::RngExt;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use ulid::Ulid;

/// A moment: whole microseconds since 1970-01-01T00:00:00Z, negative before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// The moment `by` later.
    #[must_use]
    pub const fn plus_micros(self, by: i64) -> Self {
        Self(self.0.saturating_add(by))
    }

    /// Milliseconds since 1970, 0 for earlier moments.
    #[must_use]
    pub fn millis(self) -> u64 {
        u64::try_from(self.0.div_euclid(1000)).unwrap_or(0)
    }
}

/// RFC 3339 in UTC with six decimals, so that all printed times have one precision.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(time) => write!(f, "{time:.6}"),
            Err(_) => write!(f, "{} µs since 1970", self.0),
        }
    }
}

/// The text is not an RFC 3339 time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a time such as 2024-01-31T12:00:00Z: {reason}")]
pub struct InvalidTime {
    /// What was given.
    pub text: String,
    /// Why it was refused.
    pub reason: String,
}

impl std::str::FromStr for Timestamp {
    type Err = InvalidTime;

    fn from_str(text: &str) -> Result<Self, InvalidTime> {
        text.parse::<jiff::Timestamp>()
            .map(|time| Self(time.as_microsecond()))
            .map_err(|e| InvalidTime { text: text.to_owned(), reason: e.to_string() })
    }
}

/// Where time comes from.
trait Source: Send + Sync {
    fn now(&self) -> Timestamp;
}

struct System;

impl Source for System {
    #[expect(clippy::disallowed_methods, reason = "this is the one door")]
    fn now(&self) -> Timestamp {
        let now = SystemTime::now();
        let micros = match now.duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_micros()).map_or(i64::MIN, |m| -m),
        };
        Timestamp(micros)
    }
}

/// A time that tests move: what sleeps is told of each move.
struct Manual {
    now: AtomicI64,
    moved: watch::Sender<()>,
    /// What [`Clock::instant`] tells at the moment `.1`, where sleeping takes this time and not real time.
    simulated: Option<(std::time::Instant, i64)>,
}

impl Manual {
    fn new(start: Timestamp, simulated: Option<std::time::Instant>) -> Self {
        let simulated = simulated.map(|instant| (instant, start.0));
        Self { now: AtomicI64::new(start.0), moved: watch::Sender::new(()), simulated }
    }

    /// Waits until this time has moved on by `duration`.
    async fn sleep(&self, duration: Duration) {
        let until = self.now().plus_micros(i64::try_from(duration.as_micros()).unwrap_or(i64::MAX));
        // It goes on as long as the sender, which is borrowed.
        let _ = self.moved.subscribe().wait_for(|()| self.now() >= until).await;
    }
}

impl Source for Manual {
    fn now(&self) -> Timestamp {
        Timestamp(self.now.load(Ordering::SeqCst))
    }
}

/// Tells time, sleeps and draws ids; cheap to clone.
#[derive(Clone)]
pub struct Clock {
    source: Arc<dyn Source>,
    manual: Option<Arc<Manual>>,
    random: Option<Arc<Mutex<rand::rngs::StdRng>>>,
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clock({})", self.now())
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::system()
    }
}

impl Clock {
    /// The clock and the randomness of this machine.
    #[must_use]
    pub fn system() -> Self {
        Self { source: Arc::new(System), manual: None, random: None }
    }

    /// A clock that stands at `start` until [`Self::advance`] moves it, with randomness drawn from `seed`. Sleeping still
    /// takes real time.
    #[must_use]
    pub fn manual(start: Timestamp, seed: u64) -> Self {
        Self::moved_by_hand(Manual::new(start, None), seed)
    }

    /// The same, and sleeping takes its time: who sleeps goes on when the clock has been moved so far. So a test may let hours go by
    /// within a request.
    #[expect(clippy::disallowed_methods, reason = "this is the one door")]
    #[must_use]
    pub fn simulated(start: Timestamp, seed: u64) -> Self {
        Self::moved_by_hand(Manual::new(start, Some(std::time::Instant::now())), seed)
    }

    fn moved_by_hand(manual: Manual, seed: u64) -> Self {
        use rand::SeedableRng;
        let manual = Arc::new(manual);
        Self {
            source: manual.clone(),
            manual: Some(manual),
            random: Some(Arc::new(Mutex::new(rand::rngs::StdRng::seed_from_u64(seed)))),
        }
    }

    /// The time that sleeping takes, if it is not the real one.
    fn simulation(&self) -> Option<(&Manual, std::time::Instant, i64)> {
        let manual = self.manual.as_deref()?;
        manual.simulated.map(|(instant, start)| (manual, instant, start))
    }

    /// Moves a manual clock forward; has no effect on the machine's clock.
    pub fn advance(&self, by: Duration) {
        if let Some(manual) = &self.manual {
            let micros = i64::try_from(by.as_micros()).unwrap_or(i64::MAX);
            manual.now.fetch_add(micros, Ordering::SeqCst);
            manual.moved.send_replace(());
        }
    }

    /// The current moment.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.source.now()
    }

    /// A moment that only moves forward, for measuring durations.
    #[expect(clippy::disallowed_methods, reason = "this is the one door")]
    #[must_use]
    pub fn instant(&self) -> std::time::Instant {
        if let Some((manual, instant, start)) = self.simulation() {
            let passed = manual.now().0.saturating_sub(start);
            return instant + Duration::from_micros(u64::try_from(passed).unwrap_or(0));
        }
        std::time::Instant::now()
    }

    /// Waits for `duration`.
    #[expect(clippy::disallowed_methods, reason = "this is the one door")]
    pub async fn sleep(&self, duration: Duration) {
        match self.simulation() {
            Some((manual, ..)) => manual.sleep(duration).await,
            None => tokio::time::sleep(duration).await,
        }
    }

    /// Runs `work` for at most `limit`; `None` when the time is over.
    #[expect(clippy::disallowed_methods, reason = "this is the one door")]
    pub async fn timeout<T>(&self, limit: Duration, work: impl Future<Output = T>) -> Option<T> {
        let Some((manual, ..)) = self.simulation() else { return tokio::time::timeout(limit, work).await.ok() };
        tokio::select! {
            biased;
            done = work => Some(done),
            () = manual.sleep(limit) => None,
        }
    }

    /// Sixty-four random bits.
    #[expect(clippy::disallowed_methods, reason = "this is the one door")]
    #[must_use]
    pub fn random_u64(&self) -> u64 {
        match &self.random {
            Some(seeded) => seeded.lock().unwrap_or_else(std::sync::PoisonError::into_inner).random(),
            None => rand::rng().random(),
        }
    }

    /// A hundred and twenty-eight random bits.
    #[must_use]
    pub fn random_u128(&self) -> u128 {
        (u128::from(self.random_u64()) << 64) | u128::from(self.random_u64())
    }

    /// A ULID of the current moment.
    #[must_use]
    pub fn ulid(&self) -> Ulid {
        self.ulid_at(self.now())
    }

    /// A ULID of the moment `at`.
    #[must_use]
    pub fn ulid_at(&self, at: Timestamp) -> Ulid {
        let random = self.random_u128();
        Ulid::from_parts(at.millis(), random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_print_with_one_precision_and_parse_back() {
        for (micros, text) in [
            (0, "1970-01-01T00:00:00.000000Z"),
            (1_500_000, "1970-01-01T00:00:01.500000Z"),
            (-1, "1969-12-31T23:59:59.999999Z"),
        ] {
            assert_eq!(Timestamp(micros).to_string(), text);
            assert_eq!(text.parse::<Timestamp>(), Ok(Timestamp(micros)));
        }
        assert!("yesterday".parse::<Timestamp>().is_err());
    }

    #[test]
    fn a_manual_clock_stands_still_and_repeats_its_ids() {
        let (a, b) = (Clock::manual(Timestamp(5_000), 7), Clock::manual(Timestamp(5_000), 7));
        assert_eq!(a.ulid(), b.ulid());
        assert_eq!(a.now(), Timestamp(5_000));
        a.advance(Duration::from_millis(2));
        assert_eq!(a.now(), Timestamp(7_000));
        assert_eq!(a.ulid().timestamp_ms(), 7);
    }

    #[tokio::test]
    async fn who_sleeps_by_a_simulated_clock_goes_on_when_it_was_moved_so_far() {
        let clock = Clock::simulated(Timestamp(0), 7);
        let begun = clock.instant();
        let hour = Duration::from_hours(1);
        let mut sleep = Box::pin(clock.sleep(hour));
        assert!(futures::poll!(&mut sleep).is_pending());
        clock.advance(hour / 2);
        assert!(futures::poll!(&mut sleep).is_pending());
        let mut limited = Box::pin(clock.timeout(hour, std::future::pending::<()>()));
        assert!(futures::poll!(&mut limited).is_pending());
        clock.advance(hour / 2);
        sleep.await;
        assert!(futures::poll!(&mut limited).is_pending());
        clock.advance(hour / 2);
        assert_eq!(limited.await, None);
        assert_eq!(clock.instant() - begun, hour * 3 / 2);
        assert_eq!(clock.timeout(hour, async { 5 }).await, Some(5));
    }
}
