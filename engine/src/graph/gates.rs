//! Gates: exclusion inside one process that saves wasted work. Correctness never rests on them: other processes know of none.
//!
//! Invariants
//! 1. All gates of a request are acquired by one call of [`Gates::acquire`], in one order: the schema's, then branches by name, then
//!    tables. So no two requests wait for each other.
//! 2. They are acquired before a request looks at any head, and nothing is acquired while it publishes.
//! 3. They are held by the task that does the work, not by its caller: a caller that goes away opens no gate too early.
//! 4. Requests pass a gate in the order they came to it: one that is to be alone waits for those before it, not for those after it.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

use crate::branch::BranchName;
use crate::ids::TableId;

/// Gates that are known before the map is tidied.
const TIDY_ABOVE: usize = 1024;

/// What a request may have to wait at. The order is that of acquiring.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Gate {
    /// The schema of the graph: shared by all that writes rows, alone for who changes it.
    Schema,
    /// A branch, by its folder: shared by all that writes or merges into it or merges from it, alone for who deletes it.
    Branch(String),
    /// A table on a branch, by the branch's folder: alone for who rewrites much of it.
    Table(String, TableId),
}

impl Gate {
    /// The gate of a branch, in whatever spelling.
    pub(crate) fn branch(name: &BranchName) -> Self {
        Self::Branch(name.folder().to_owned())
    }

    /// The gate of a table on a branch.
    pub(crate) fn table(name: &BranchName, table: TableId) -> Self {
        Self::Table(name.folder().to_owned(), table)
    }
}

/// How a request passes a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Access {
    /// Beside others that share it.
    Shared,
    /// Alone.
    Alone,
}

/// All gates of a graph in this process.
#[derive(Default)]
pub(crate) struct Gates(Mutex<HashMap<Gate, Weak<RwLock<()>>>>);

impl fmt::Debug for Gates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gates({})", self.0.lock().unwrap_or_else(PoisonError::into_inner).len())
    }
}

/// The gates that a request has passed; dropping it lets others pass.
#[derive(Debug)]
#[must_use = "gates are open again once this is dropped"]
pub(crate) struct Pass {
    _held: Vec<Held>,
}

/// One gate that was passed. Held for its drop alone.
#[derive(Debug)]
#[expect(dead_code, reason = "a guard is held, not looked at")]
enum Held {
    Shared(OwnedRwLockReadGuard<()>),
    Alone(OwnedRwLockWriteGuard<()>),
}

impl Gates {
    /// Waits until all of `wanted` can be passed. A gate that is wanted twice is passed once, alone if either asks for it.
    ///
    /// # Cancellation
    /// Dropping the wait lets go of those passed so far.
    pub(crate) async fn acquire(&self, wanted: impl IntoIterator<Item = (Gate, Access)>) -> Pass {
        let mut sorted: BTreeMap<Gate, Access> = BTreeMap::new();
        for (gate, access) in wanted {
            let known = sorted.entry(gate).or_insert(access);
            *known = access.max(*known);
        }
        let mut held = Vec::with_capacity(sorted.len());
        for (gate, access) in sorted {
            let lock = self.lock(gate);
            held.push(match access {
                Access::Shared => Held::Shared(lock.read_owned().await),
                Access::Alone => Held::Alone(lock.write_owned().await),
            });
        }
        Pass { _held: held }
    }

    /// The lock behind a gate. It lives as long as somebody holds it or waits for it.
    fn lock(&self, gate: Gate) -> Arc<RwLock<()>> {
        // The map is whole between any two statements, so a panic elsewhere leaves nothing to distrust.
        let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lock) = gates.get(&gate).and_then(Weak::upgrade) {
            return lock;
        }
        if gates.len() >= TIDY_ABOVE {
            gates.retain(|_, lock| lock.strong_count() > 0);
        }
        let lock = Arc::default();
        gates.insert(gate, Arc::downgrade(&lock));
        lock
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use futures::future::{BoxFuture, poll_immediate};

    use super::*;

    fn branch(name: &str) -> Gate {
        Gate::branch(&BranchName::parse(name).unwrap())
    }

    async fn now(gates: &Gates, wanted: &[(Gate, Access)]) -> Option<Pass> {
        poll_immediate(gates.acquire(wanted.to_vec())).await
    }

    #[tokio::test]
    async fn a_gate_is_shared_by_many_or_passed_alone() {
        use Access::{Alone, Shared};
        let gates = Gates::default();
        let shared = [(Gate::Schema, Shared), (branch("a"), Shared)];
        let (one, other) = (now(&gates, &shared).await.unwrap(), now(&gates, &shared).await.unwrap());
        assert!(now(&gates, &[(branch("A"), Alone)]).await.is_none(), "one branch, in whatever spelling");
        assert!(now(&gates, &[(Gate::Schema, Alone)]).await.is_none());
        let _b = now(&gates, &[(branch("b"), Alone)]).await.unwrap();
        drop(one);
        assert!(now(&gates, &[(branch("a"), Alone)]).await.is_none());
        drop(other);
        let alone = now(&gates, &[(branch("a"), Shared), (branch("a"), Alone)]).await.unwrap();
        assert!(now(&gates, &shared).await.is_none());
        drop(alone);
        assert!(now(&gates, &shared).await.is_some());
    }

    #[tokio::test]
    async fn who_wants_to_be_alone_is_not_overtaken() {
        let gates = Gates::default();
        let running = now(&gates, &[(branch("a"), Access::Shared)]).await.unwrap();
        let mut alone = gates.acquire([(branch("a"), Access::Alone)]).boxed();
        assert!(poll_immediate(&mut alone).await.is_none());
        let mut late = gates.acquire([(branch("a"), Access::Shared)]).boxed();
        assert!(poll_immediate(&mut late).await.is_none(), "it came after");
        drop(running);
        let alone = alone.await;
        assert!(poll_immediate(&mut late).await.is_none());
        drop(alone);
        drop(late.await);
    }

    #[tokio::test]
    async fn gates_that_are_wanted_in_any_order_lead_to_no_deadlock() {
        let gates = Arc::new(Gates::default());
        let table = |n: u8| Gate::Table("a".to_owned(), TableId::from_bytes([n; 16]));
        let all = [Gate::Schema, branch("a"), branch("b"), table(1), table(2)];
        let mut rounds: Vec<BoxFuture<'static, ()>> = Vec::new();
        for turn in 0..200 {
            let (gates, mut wanted) = (gates.clone(), all.to_vec());
            wanted.rotate_left(turn % all.len());
            let access = move |n: usize| if (turn + n).is_multiple_of(3) { Access::Alone } else { Access::Shared };
            let wanted: Vec<_> = wanted.into_iter().enumerate().map(|(n, gate)| (gate, access(n))).collect();
            rounds.push(
                async move {
                    let pass = gates.acquire(wanted).await;
                    tokio::task::yield_now().await;
                    drop(pass);
                }
                .boxed(),
            );
        }
        futures::future::join_all(rounds.into_iter().map(tokio::spawn)).await;
        assert!(now(&gates, &all.map(|gate| (gate, Access::Alone))).await.is_some());
    }

    #[tokio::test]
    async fn gates_that_nobody_holds_are_forgotten() {
        let gates = Gates::default();
        for n in 0..3 * TIDY_ABOVE {
            drop(gates.acquire([(branch(&format!("b{n}")), Access::Alone)]).await);
        }
        assert!(gates.0.lock().unwrap().len() <= TIDY_ABOVE);
    }
}
