//! Put-if-absent, and finding out what became of it: the one place that decides the outcome of a commit point.
//!
//! Order of effects
//! 1. PUT if absent, sent once. Success: ours.
//! 2. Refused for who we are or what we ask: an error, nothing was written. Never connected: the same again.
//! 3. Everything else proves nothing. "Already exists" may be our own object whose answer was lost on the way, or (as 409) a
//!    rival request that came to nothing; a timeout, a reset or a 5xx may have taken effect, or may yet. So the key is read,
//!    again if that fails: our bytes, ours; other bytes, theirs; nothing, the same PUT again; not readable, unknown.
//! 4. What was read is made durable before it is told (local folders).
//!
//! All of this is bounded by time, not by a number of attempts: a store that throttles does so for seconds, and a doubt is worth
//! waiting for. Pauses grow. A place that was never reached is given up sooner, since its address may be wrong.
//!
//! A late effect of an earlier attempt is harmless: it puts the same bytes, and only if nothing is there. The bytes must be
//! unique to the caller's attempt to publish (they carry a commit id), otherwise "our bytes" means nothing.

use std::time::{Duration, Instant};

use bytes::Bytes;
use object_store::path::Path;
use object_store::{ObjectStoreExt, PutMode, PutOptions};

use super::Store;
use super::error::{Cause, StoreError};
use super::options::StoreOptions;
use super::request::RequestKind;
use crate::clock::Clock;

/// The longest pause before the second attempt; it doubles with each, up to [`LONGEST_PAUSE`].
const PAUSE: Duration = Duration::from_millis(40);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// How long a commit point is waited for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// For one answer, before the outcome is read back.
    pub(super) answer: Duration,
    /// For attempts to begin, from the first.
    pub(super) within: Duration,
    /// The same while the store was never reached.
    pub(super) connect: Duration,
}

impl Limits {
    pub(super) fn of(options: &StoreOptions) -> Self {
        let StoreOptions { commit_timeout, commit_within, connect_within, .. } = *options;
        Self { answer: commit_timeout, within: commit_within, connect: connect_within.min(commit_within) }
    }
}

/// What a put-if-absent came to.
#[derive(Debug)]
pub enum Created {
    /// Our bytes are at the key.
    Ours,
    /// Somebody else's are.
    Theirs(Bytes),
    /// It could not be found out: they may be there now, or come to be there later.
    Unknown(StoreError),
}

/// What one attempt says.
enum Attempt {
    Done,
    /// It had no effect, and another may do better.
    NoEffect(StoreError),
    /// It had no effect, and no other will do better.
    Refused(StoreError),
    /// Something is there, or a rival was under way.
    Exists,
    /// Anything may have happened, or may yet.
    Ambiguous(StoreError),
}

/// Puts `bytes` at `path` if nothing is there, and finds out what became of it.
///
/// # Errors
/// An error means that nothing was written and nothing will be.
///
/// # Cancellation
/// A dropped call is an unknown outcome.
pub(super) async fn create(store: &Store, path: &Path, bytes: &Bytes) -> Result<Created, StoreError> {
    let mut patience = Patience::new(store);
    // The last ambiguous failure: once there is one, the outcome can no longer be "nothing was written".
    let mut doubt: Option<StoreError> = None;
    let mut last = StoreError::TurnedAway { place: store.uri().to_owned(), path: path.to_string() };
    loop {
        match put_once(store, path, bytes).await {
            Attempt::Done => return Ok(Created::Ours),
            Attempt::Refused(error) => return doubt.map_or(Err(error), |doubt| Ok(Created::Unknown(doubt))),
            Attempt::NoEffect(error) => {
                last = error;
                if patience.wait().await {
                    continue;
                }
                break;
            }
            Attempt::Exists => {}
            Attempt::Ambiguous(error) => doubt = Some(error),
        }
        patience.reached = true;
        match read_back_within(store, path, &mut patience).await {
            Ok(Some(found)) if found == *bytes => return Ok(Created::Ours),
            Ok(Some(found)) => return Ok(Created::Theirs(found)),
            Ok(None) => {}
            Err(error) => return Ok(Created::Unknown(error)),
        }
        if !patience.wait().await {
            break;
        }
    }
    doubt.map_or(Err(last), |doubt| Ok(Created::Unknown(doubt)))
}

/// Pauses between attempts, which grow, and the time that is left for them.
struct Patience<'a> {
    clock: &'a Clock,
    limits: Limits,
    begun: Instant,
    pauses: u32,
    /// Whether the store was reached at all.
    reached: bool,
}

impl<'a> Patience<'a> {
    fn new(store: &'a Store) -> Self {
        let clock = store.clock();
        Self { clock, limits: store.limits(), begun: clock.instant(), pauses: 0, reached: false }
    }

    /// Waits a random while before the next attempt; `false`, at once, when the time would be over by then.
    async fn wait(&mut self) -> bool {
        let limit = if self.reached { self.limits.within } else { self.limits.connect };
        let pause = jittered(self.pauses, self.clock.random_u64());
        self.pauses += 1;
        if self.clock.instant().duration_since(self.begun) + pause > limit {
            return false;
        }
        self.clock.sleep(pause).await;
        true
    }
}

async fn put_once(store: &Store, path: &Path, bytes: &Bytes) -> Attempt {
    let options = PutOptions::from(PutMode::Create);
    let commit_point = store.commit_point();
    let put = commit_point.put_opts(path, bytes.clone().into(), options);
    let limit = store.limits().answer;
    let error = match store.clock().timeout(limit, put).await {
        Some(Ok(_)) => return Attempt::Done,
        Some(Err(error)) => error,
        None => return Attempt::Ambiguous(unanswered(store, RequestKind::Create, path, limit)),
    };
    let cause = Cause::of(&error);
    let error = StoreError::of(store.uri(), RequestKind::Create, path, error);
    match cause {
        Cause::Exists => Attempt::Exists,
        Cause::NotSent => Attempt::NoEffect(error),
        Cause::Denied | Cause::ClockSkew | Cause::Unsupported | Cause::NoBucket => Attempt::Refused(error),
        Cause::Unanswered | Cause::Other => Attempt::Ambiguous(error),
    }
}

/// Reads the key until it can be read or the time is over.
async fn read_back_within(
    store: &Store,
    path: &Path,
    patience: &mut Patience<'_>,
) -> Result<Option<Bytes>, StoreError> {
    loop {
        let error = match read_back(store, path).await {
            Ok(found) => return Ok(found),
            Err(error) => error,
        };
        if error.is_refusal() || !patience.wait().await {
            return Err(error);
        }
    }
}

/// Reads the key, and makes what was found durable.
async fn read_back(store: &Store, path: &Path) -> Result<Option<Bytes>, StoreError> {
    let limit = store.limits().answer;
    let read = store.clock().timeout(limit, store.read(path)).await;
    let found = read.unwrap_or_else(|| Err(unanswered(store, RequestKind::Get, path, limit)))?;
    if found.is_some() {
        store.sync_folder(&path.parent().unwrap_or_default()).await?;
    }
    Ok(found)
}

fn unanswered(store: &Store, kind: RequestKind, path: &Path, limit: Duration) -> StoreError {
    let (place, path) = (store.uri().to_owned(), path.to_string());
    StoreError::Unanswered { place, kind, path, limit: Some(limit), source: None }
}

/// Between half of the pause and the whole, so that rivals part.
fn jittered(pauses: u32, random: u64) -> Duration {
    let longest = PAUSE.saturating_mul(1 << pauses.min(16)).min(LONGEST_PAUSE);
    let longest = u64::try_from(longest.as_micros()).unwrap_or(u64::MAX);
    Duration::from_micros(longest / 2 + random % (longest / 2 + 1))
}

/// Whether anything is at `path`.
pub(super) async fn exists(store: &Store, path: &Path) -> Result<bool, StoreError> {
    match store.objects().head(path).await {
        Ok(_) => Ok(true),
        Err(object_store::Error::NotFound { .. }) => Ok(false),
        Err(error) => Err(StoreError::of(store.uri(), RequestKind::Head, path, error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_bound() {
        assert_eq!(jittered(0, 0), PAUSE / 2);
        for (pauses, longest) in
            [(0, PAUSE), (1, 2 * PAUSE), (3, 8 * PAUSE), (20, LONGEST_PAUSE), (u32::MAX, LONGEST_PAUSE)]
        {
            for random in [0, 1, u64::MAX / 3, u64::MAX] {
                assert!((longest / 2..=longest).contains(&jittered(pauses, random)), "{pauses} {random}");
            }
        }
    }
}
