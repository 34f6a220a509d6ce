//! Finds the head of a log: by one LIST, or by single requests where LIST has no order.

use super::Log;
use crate::ids::Seq;
use crate::store::StoreError;

impl Log {
    /// The head by the first key of the folder. Something else may sort before the entries (another log's folder below this
    /// one, a stray object); then the head is searched for.
    pub(super) async fn listed_head(&self) -> Result<Option<Seq>, StoreError> {
        let first = self.store.first_keys(&self.folder, 1).await?;
        match first.first().map(|key| self.seq_of(key)) {
            None => Ok(None),
            Some(Some(seq)) => Ok(Some(seq)),
            Some(None) => self.gallop(None).await,
        }
    }

    /// The head by doubling steps and then bisection, in about 2·log₂(n) requests. `known` is a position that is written.
    ///
    /// Sound because written keys form a run without gaps that only grows: `low` is written, `high` was not when it was
    /// asked for.
    pub(super) async fn gallop(&self, known: Option<Seq>) -> Result<Option<Seq>, StoreError> {
        let mut low = match known {
            Some(seq) => seq.0,
            None if self.exists(Seq::FIRST).await? => Seq::FIRST.0,
            None => return Ok(None),
        };
        let mut step = 1_u64;
        let mut high = loop {
            let ahead = low.saturating_add(step);
            if !self.exists(Seq(ahead)).await? {
                break ahead;
            }
            low = ahead;
            step = step.saturating_mul(2);
        };
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.exists(Seq(middle)).await? { low = middle } else { high = middle }
        }
        Ok(Some(Seq(low)))
    }
}
