//! How long a request keeps trying while others publish first.

use std::time::{Duration, Instant};

use super::PublishError;
use crate::branch::BranchName;
use crate::clock::Clock;

/// The longest pause after the first contention; it doubles with each, up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(4);
const LONGEST_PAUSE: Duration = Duration::from_millis(256);

/// Counts attempts and watches the time since the first.
#[derive(Debug)]
pub(crate) struct Patience {
    clock: Clock,
    branch: BranchName,
    begun: Instant,
    limit: Duration,
    attempts: u32,
}

impl Patience {
    /// Patience for `limit` from now.
    pub(crate) fn new(clock: &Clock, branch: BranchName, limit: Duration) -> Self {
        Self { clock: clock.clone(), branch, begun: clock.instant(), limit, attempts: 0 }
    }

    /// Waits a random while before the next attempt, so that rivals part.
    ///
    /// # Errors
    /// [`PublishError::Contention`] when the time is up.
    pub(crate) async fn wait(&mut self) -> Result<(), PublishError> {
        self.attempts += 1;
        if self.clock.instant().duration_since(self.begun) >= self.limit {
            return Err(PublishError::Contention { branch: self.branch.clone(), attempts: self.attempts });
        }
        self.clock.sleep(pause(self.attempts, self.clock.random_u64())).await;
        Ok(())
    }
}

fn pause(attempts: u32, random: u64) -> Duration {
    let longest = FIRST_PAUSE.saturating_mul(1 << attempts.saturating_sub(1).min(16)).min(LONGEST_PAUSE);
    let micros = u64::try_from(longest.as_micros()).unwrap_or(u64::MAX);
    Duration::from_micros(random % (micros + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_bound() {
        assert_eq!(pause(1, 4_000), Duration::from_millis(4));
        assert_eq!(pause(3, 16_000), Duration::from_millis(16));
        for attempts in 1..100 {
            for random in [0, 1, u64::MAX / 3, u64::MAX] {
                assert!(pause(attempts, random) <= LONGEST_PAUSE);
            }
        }
    }

    #[tokio::test]
    async fn patience_ends() {
        let mut none = Patience::new(&Clock::system(), BranchName::main(), Duration::ZERO);
        assert!(matches!(none.wait().await, Err(PublishError::Contention { attempts: 1, .. })));
        let mut some = Patience::new(&Clock::system(), BranchName::main(), Duration::from_mins(1));
        assert!(some.wait().await.is_ok());
    }
}
