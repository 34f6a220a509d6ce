//! Single flight with freshness: callers share an answer only if the search for it began after each of them had asked.
//!
//! For each key at most one search runs and at most one waits to run. Whoever asks joins the one that waits, which has not
//! begun; so an answer is never older than the question. A search runs on a task of its own: a caller that goes away
//! neither stops it nor holds the others up. No lock is held while anything is awaited.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use tokio::sync::oneshot;

type Answer<T> = Shared<oneshot::Receiver<T>>;

/// A key is in here while a task works on it; the value is the search that is to come after the running one.
type Keys<T> = Arc<Mutex<HashMap<String, Option<Waiting<T>>>>>;

/// A search that has not begun.
struct Waiting<T> {
    search: BoxFuture<'static, T>,
    tell: oneshot::Sender<T>,
    answer: Answer<T>,
}

/// Searches by key.
pub(super) struct Flights<T> {
    keys: Keys<T>,
}

/// One task's turn at a key. Wherever it ends, be it with the runtime that the task was on, the key is free again and whoever
/// waits is told that there will be no answer.
struct Turn<T> {
    keys: Keys<T>,
    key: String,
    over: bool,
}

impl<T> Turn<T> {
    /// The search to run now. The turn is over when there is none.
    fn next(&mut self) -> Option<Waiting<T>> {
        let mut keys = lock(&self.keys);
        let waiting = keys.get_mut(&self.key).and_then(Option::take);
        if waiting.is_none() {
            keys.remove(&self.key);
            self.over = true;
        }
        waiting
    }
}

impl<T> Drop for Turn<T> {
    fn drop(&mut self) {
        if !self.over {
            // Dropped after the lock: a search may own anything.
            let waiting = lock(&self.keys).remove(&self.key);
            drop(waiting);
        }
    }
}

impl<T: Clone + Send + Sync + 'static> Flights<T> {
    pub(super) fn new() -> Self {
        Self { keys: Arc::default() }
    }

    /// The answer of a search for `key` that begins after this call; made by `search` if none is waiting yet. `None` if it
    /// panicked, or the runtime it was on came to its end.
    pub(super) async fn ask(&self, key: &str, search: impl FnOnce() -> BoxFuture<'static, T>) -> Option<T> {
        let (answer, begin) = {
            let mut keys = lock(&self.keys);
            let begin = (!keys.contains_key(key)).then(|| self.turn(key));
            let waiting = keys.entry(key.to_owned()).or_insert(None).get_or_insert_with(|| {
                let (tell, answer) = oneshot::channel();
                Waiting { search: search(), tell, answer: answer.shared() }
            });
            (waiting.answer.clone(), begin)
        };
        if let Some(turn) = begin {
            tokio::spawn(run(turn));
        }
        answer.await.ok()
    }

    fn turn(&self, key: &str) -> Turn<T> {
        Turn { keys: self.keys.clone(), key: key.to_owned(), over: false }
    }
}

/// Runs the searches for a key, one after the other, until none waits.
async fn run<T: Clone + Send + Sync + 'static>(mut turn: Turn<T>) {
    while let Some(begun) = turn.next() {
        // A panic reaches the callers as a missing answer; those who wait for the next search are not concerned.
        if let Ok(found) = AssertUnwindSafe(begun.search).catch_unwind().await {
            // Nobody may be left to tell.
            let _ = begun.tell.send(found);
        }
    }
}

fn lock<T>(keys: &Mutex<HashMap<String, Option<Waiting<T>>>>) -> MutexGuard<'_, HashMap<String, Option<Waiting<T>>>> {
    // The map is whole between any two statements, so a panic elsewhere leaves nothing to distrust.
    keys.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::future::poll_immediate;
    use tokio::sync::Semaphore;

    use super::*;

    /// A place where searches are held until they are let go, each answering how many had begun when it did.
    struct Held {
        flights: Flights<usize>,
        begun: Arc<AtomicUsize>,
        gate: Arc<Semaphore>,
    }

    impl Held {
        fn new() -> Self {
            Self { flights: Flights::new(), begun: Arc::default(), gate: Arc::new(Semaphore::new(0)) }
        }

        fn ask<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Option<usize>> {
            let (begun, gate) = (self.begun.clone(), self.gate.clone());
            let search = move || -> BoxFuture<'static, usize> {
                Box::pin(async move {
                    let number = begun.fetch_add(1, Ordering::SeqCst) + 1;
                    gate.acquire().await.unwrap().forget();
                    number
                })
            };
            self.flights.ask(key, search).boxed()
        }

        async fn until_begun(&self, number: usize) {
            while self.begun.load(Ordering::SeqCst) < number {
                tokio::task::yield_now().await;
            }
        }
    }

    #[tokio::test]
    async fn who_asks_during_a_search_shares_the_next_and_not_the_running_one() {
        let held = Held::new();
        let mut first = held.ask("a");
        assert!(poll_immediate(&mut first).await.is_none());
        held.until_begun(1).await;
        let mut late: Vec<_> = (0..10).map(|_| held.ask("a")).collect();
        for asked in &mut late {
            assert!(poll_immediate(asked).await.is_none());
        }
        held.gate.add_permits(1);
        assert_eq!(first.await, Some(1));
        held.gate.add_permits(1);
        for asked in late {
            assert_eq!(asked.await, Some(2), "a search that began after it was asked");
        }
        assert_eq!(held.begun.load(Ordering::SeqCst), 2);
        assert!(lock(&held.flights.keys).is_empty());
    }

    #[tokio::test]
    async fn who_asks_before_a_search_began_shares_it() {
        let held = Held::new();
        let (mut one, mut other) = (held.ask("a"), held.ask("a"));
        assert!(poll_immediate(&mut one).await.is_none() && poll_immediate(&mut other).await.is_none());
        held.gate.add_permits(1);
        assert_eq!((one.await, other.await), (Some(1), Some(1)));
    }

    #[tokio::test]
    async fn keys_do_not_wait_for_each_other() {
        let held = Held::new();
        let mut stuck = held.ask("a");
        assert!(poll_immediate(&mut stuck).await.is_none());
        held.until_begun(1).await;
        let mut free = held.ask("b");
        assert!(poll_immediate(&mut free).await.is_none());
        held.until_begun(2).await;
    }

    #[tokio::test]
    async fn a_caller_that_goes_away_leaves_the_search_to_the_others() {
        let held = Held::new();
        let (mut gone, mut stays) = (held.ask("a"), held.ask("a"));
        assert!(poll_immediate(&mut gone).await.is_none() && poll_immediate(&mut stays).await.is_none());
        held.until_begun(1).await;
        drop(gone);
        held.gate.add_permits(1);
        assert_eq!(stays.await, Some(1));
    }

    #[test]
    fn a_runtime_that_ends_during_a_search_leaves_nobody_waiting_for_ever() {
        let runtime = || tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let (ending, staying) = (runtime(), runtime());
        let held = Arc::new(Held::new());
        let asked = held.clone();
        drop(ending.spawn(async move { asked.ask("a").await }));
        let asked = held.clone();
        let late = staying.block_on(async move {
            asked.until_begun(1).await;
            let late = tokio::spawn(async move {
                let mut late = asked.ask("a");
                assert!(poll_immediate(&mut late).await.is_none(), "it waits for the search after the running one");
                asked.begun.store(10, Ordering::SeqCst);
                late.await
            });
            held.until_begun(10).await;
            (held, late)
        });
        let (held, late) = late;
        ending.shutdown_background();
        assert_eq!(staying.block_on(late).unwrap(), None);
        held.gate.add_permits(1);
        assert_eq!(staying.block_on(held.ask("a")), Some(11), "the key is usable");
        // It is let go of after the answer, on the runtime's thread.
        while !lock(&held.flights.keys).is_empty() {
            std::thread::yield_now();
        }
    }

    #[tokio::test]
    async fn a_search_that_panics_gives_no_answer_and_leaves_the_key_usable() {
        let flights = Flights::<u8>::new();
        assert_eq!(flights.ask("a", || Box::pin(async { panic!("held") })).await, None);
        assert_eq!(flights.ask("a", || Box::pin(async { 7 })).await, Some(7));
    }
}
