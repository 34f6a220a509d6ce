//! What becomes of a put-if-absent when the store fails, hangs or lies: exactly one object, or the right error.

use std::sync::Arc;
use std::time::Duration;

use object_store::memory::InMemory;
use object_store::{ObjectStore, ObjectStoreExt};
use pleach::clock::Clock;
use pleach::store::{Backend, Created, Fault, Faults, RequestKind, Store, StoreError, StoreKind, StoreOptions, When};

use super::{bytes, faulty, impatient, path};

const KEY: &str = "log/entry";

async fn at_key(memory: &dyn ObjectStore) -> Option<String> {
    let found = memory.get(&path(KEY)).await.ok()?;
    Some(String::from_utf8(found.bytes().await.unwrap().to_vec()).unwrap())
}

async fn create(store: &Store, body: &str) -> Result<Created, StoreError> {
    store.create(&path(KEY), &bytes(body)).await
}

fn puts() -> When {
    When::kind(RequestKind::Create)
}

fn gets() -> When {
    When::kind(RequestKind::Get)
}

#[tokio::test]
async fn a_fresh_key_is_ours_with_one_request() {
    let (store, _, memory) = faulty();
    assert!(matches!(create(&store, "a").await, Ok(Created::Ours)));
    assert_eq!(store.io().take().requests(), 1);
    assert_eq!(at_key(&*memory).await.as_deref(), Some("a"));
}

#[tokio::test]
async fn a_taken_key_is_theirs_with_their_bytes() {
    let (store, _, memory) = faulty();
    create(&store, "a").await.unwrap();
    store.io().take();
    assert!(matches!(create(&store, "b").await, Ok(Created::Theirs(found)) if found == "a"));
    assert_eq!(store.io().take().requests(), 2);
    assert_eq!(at_key(&*memory).await.as_deref(), Some("a"));
}

#[tokio::test]
async fn a_response_that_is_lost_after_the_effect_is_ours() {
    let (store, faults, memory) = faulty();
    faults.add(puts().once(), Fault::FailAfter);
    assert!(matches!(create(&store, "a").await, Ok(Created::Ours)));
    assert_eq!(store.io().take().puts, 1, "nothing was put again");
    assert_eq!(at_key(&*memory).await.as_deref(), Some("a"));
}

#[tokio::test]
async fn a_put_that_is_never_answered_is_read_back() {
    for (fault, puts_sent) in [(Fault::HangAfter, 1), (Fault::Hang, 2)] {
        let (store, faults, memory) = faulty();
        faults.add(puts().once(), fault);
        assert!(matches!(create(&store, "a").await, Ok(Created::Ours)));
        assert_eq!(store.io().take().puts, puts_sent);
        assert_eq!(at_key(&*memory).await.as_deref(), Some("a"));
    }
}

#[tokio::test]
async fn an_error_before_the_effect_is_put_again() {
    let (store, faults, memory) = faulty();
    faults.add(puts().times(2), Fault::FailBefore);
    assert!(matches!(create(&store, "a").await, Ok(Created::Ours)));
    assert_eq!(at_key(&*memory).await.as_deref(), Some("a"));
}

#[tokio::test]
async fn a_conflict_without_an_object_is_put_again_at_the_same_key() {
    let (store, faults, memory) = faulty();
    faults.add(puts().once(), Fault::Conflict);
    assert!(matches!(create(&store, "a").await, Ok(Created::Ours)));
    assert_eq!(at_key(&*memory).await.as_deref(), Some("a"));
}

#[tokio::test]
async fn a_conflict_that_never_ends_wrote_nothing_and_says_so() {
    let (store, faults, memory) = faulty();
    faults.add(puts(), Fault::Conflict);
    assert!(matches!(create(&store, "a").await, Err(StoreError::TurnedAway { .. })));
    assert_eq!(at_key(&*memory).await, None);
}

#[tokio::test]
async fn a_late_effect_finds_our_own_object_and_changes_nothing() {
    let (store, faults, memory) = faulty();
    let late = pleach::store::Hold::new();
    faults.add(puts().once(), Fault::FailThenLand(late.clone()));
    assert!(matches!(create(&store, "a").await, Ok(Created::Ours)), "the second put was answered");
    late.reached().await;
    late.release();
    late.landed().await;
    assert_eq!(at_key(&*memory).await.as_deref(), Some("a"));
    assert!(matches!(create(&store, "b").await, Ok(Created::Theirs(found)) if found == "a"));
}

#[tokio::test]
async fn a_late_effect_between_read_back_and_second_put_is_ours() {
    let (store, faults, memory) = faulty();
    let late = pleach::store::Hold::new();
    faults.add(puts().once(), Fault::FailThenLand(late.clone()));
    let second = faults.hold(puts());
    let landing = async {
        second.reached().await;
        late.release();
        late.landed().await;
        second.release();
    };
    let (outcome, ()) = futures::join!(create(&store, "a"), landing);
    assert!(matches!(outcome, Ok(Created::Ours)), "already exists, but it is our own");
    assert_eq!(at_key(&*memory).await.as_deref(), Some("a"));
}

#[tokio::test]
async fn a_late_effect_after_the_last_attempt_is_why_the_outcome_is_unknown() {
    let (store, faults, memory) = faulty();
    let late = pleach::store::Hold::new();
    faults.add(puts().once(), Fault::FailThenLand(late.clone()));
    faults.add(puts(), Fault::FailBefore);
    assert!(matches!(create(&store, "a").await, Ok(Created::Unknown(_))));
    assert_eq!(at_key(&*memory).await, None);
    late.release();
    late.landed().await;
    assert_eq!(at_key(&*memory).await.as_deref(), Some("a"));
}

#[tokio::test]
async fn somebody_else_may_win_while_ours_is_in_doubt() {
    let (store, faults, memory) = faulty();
    faults.add(puts().once(), Fault::FailBefore);
    memory.put(&path(KEY), bytes("theirs").into()).await.unwrap();
    assert!(matches!(create(&store, "a").await, Ok(Created::Theirs(found)) if found == "theirs"));
}

#[tokio::test]
async fn a_failing_read_back_is_unknown_whatever_happened() {
    for fault in [Fault::FailAfter, Fault::FailBefore, Fault::Conflict, Fault::Hang, Fault::HangAfter] {
        let (store, faults, _) = faulty();
        faults.add(puts(), fault.clone());
        faults.add(gets(), Fault::FailBefore);
        assert!(matches!(create(&store, "a").await, Ok(Created::Unknown(_))), "{fault:?}");
    }
    let (store, faults, _) = faulty();
    faults.add(puts(), Fault::FailAfter);
    faults.add(gets(), Fault::Hang);
    let outcome = create(&store, "a").await;
    assert!(matches!(outcome, Ok(Created::Unknown(StoreError::Unanswered { .. }))), "{outcome:?}");
}

/// A store that is given as long as a busy one may need.
fn patient() -> (Store, Faults, Arc<dyn ObjectStore>) {
    let memory: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let faults = Faults::new(memory.clone());
    let backend = Backend::new(StoreKind::Memory, "memory://patient", Arc::new(faults.clone()));
    let options = StoreOptions { commit_within: Duration::from_secs(30), ..impatient() };
    (Store::from_backend(backend, &options), faults, memory)
}

#[tokio::test]
async fn a_store_that_throttles_for_a_while_is_waited_for() {
    let (store, faults, memory) = patient();
    faults.add(puts().times(6), Fault::FailBefore);
    assert!(matches!(create(&store, "a").await, Ok(Created::Ours)));
    assert_eq!(at_key(&*memory).await.as_deref(), Some("a"));
}

#[tokio::test]
async fn a_read_back_that_fails_for_a_while_is_repeated() {
    for (fault, sent) in [(Fault::FailAfter, 1), (Fault::FailBefore, 2), (Fault::Conflict, 2)] {
        let (store, faults, memory) = patient();
        faults.add(puts().once(), fault.clone());
        faults.add(gets().times(3), Fault::FailBefore);
        assert!(matches!(create(&store, "a").await, Ok(Created::Ours)), "{fault:?}");
        assert_eq!(store.io().take().puts, sent, "{fault:?}");
        assert_eq!(at_key(&*memory).await.as_deref(), Some("a"));
    }
    let (store, faults, _) = patient();
    faults.add(puts().once(), Fault::FailAfter);
    faults.add(gets(), Fault::Denied);
    assert!(matches!(create(&store, "a").await, Ok(Created::Unknown(_))), "it will not be allowed later either");
}

#[tokio::test]
async fn a_place_that_is_not_there_is_given_up_sooner_than_one_that_answered() {
    // Had it waited as long as for a doubt, this would not end in time.
    let (store, faults, _) = patient();
    faults.add(puts(), Fault::Unreachable);
    let outcome = Clock::system().timeout(Duration::from_secs(15), create(&store, "a")).await;
    assert!(matches!(outcome, Some(Err(StoreError::Unreachable { .. }))), "{outcome:?}");
    // Once something may have been written, it is worth the wait.
    let (store, faults, memory) = patient();
    faults.add(puts().once(), Fault::FailAfter);
    faults.add(gets().times(4), Fault::Unreachable);
    assert!(matches!(create(&store, "a").await, Ok(Created::Ours)));
    assert_eq!(at_key(&*memory).await.as_deref(), Some("a"));
}

#[tokio::test]
async fn what_was_refused_or_never_sent_wrote_nothing_and_says_so() {
    for fault in [Fault::Denied, Fault::Unreachable] {
        let (store, faults, memory) = faulty();
        faults.add(puts(), fault.clone());
        let outcome = create(&store, "a").await;
        match fault {
            Fault::Denied => assert!(matches!(outcome, Err(StoreError::Denied { .. })), "{outcome:?}"),
            _ => assert!(matches!(outcome, Err(StoreError::Unreachable { .. })), "{outcome:?}"),
        }
        assert_eq!(at_key(&*memory).await, None);
    }
    let (store, faults, _) = faulty();
    faults.add(puts().once(), Fault::Unreachable);
    assert!(matches!(create(&store, "a").await, Ok(Created::Ours)));
}

#[tokio::test]
async fn a_refusal_after_a_doubt_is_unknown() {
    let (store, faults, _) = faulty();
    faults.add(puts().once(), Fault::FailBefore);
    faults.add(puts(), Fault::Denied);
    assert!(matches!(create(&store, "a").await, Ok(Created::Unknown(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_rivals_one_wins_although_every_second_answer_is_lost() {
    for _ in 0..20 {
        let (store, faults, memory) = faulty();
        faults.add(puts().every(2), Fault::FailAfter);
        faults.add(puts().every(3), Fault::FailBefore);
        let rivals = (0..32).map(|n| {
            let store = store.clone();
            tokio::spawn(async move { (n, create(&store, &format!("rival {n}")).await) })
        });
        let mut ours = Vec::new();
        for rival in futures::future::join_all(rivals).await {
            match rival.unwrap() {
                (n, Ok(Created::Ours)) => ours.push(format!("rival {n}")),
                (_, Ok(Created::Theirs(_))) => {}
                (n, other) => panic!("rival {n}: {other:?}"),
            }
        }
        assert_eq!(ours.len(), 1);
        assert_eq!(at_key(&*memory).await.as_ref(), ours.first());
    }
}

#[tokio::test]
async fn a_missing_object_is_not_an_error_and_a_failing_store_is() {
    let (store, faults, _): (Store, Faults, _) = faulty();
    assert_eq!(store.read(&path(KEY)).await.unwrap(), None);
    faults.add(When::any(), Fault::FailBefore);
    assert!(matches!(store.read(&path(KEY)).await, Err(StoreError::Request { .. })));
    assert!(matches!(store.exists(&path(KEY)).await, Err(StoreError::Request { .. })));
    assert!(matches!(store.first_keys(&path("log"), 1).await, Err(StoreError::Request { .. })));
    assert!(matches!(store.overwrite(&path(KEY), bytes("x")).await, Err(StoreError::Request { .. })));
}
