//! Logs: heads, appends and tombstones over the kinds of stores, and the races that broke others.

use std::sync::Arc;

use object_store::memory::InMemory;
use object_store::{ObjectStore, ObjectStoreExt};
use pleach::ids::Seq;
use pleach::log::{Appended, Log};
use pleach::store::{
    Backend, Fault, Faults, HeadSearch, RequestKind, Store, StoreError, StoreKind, StoreOptions, When,
};

use crate::store::{bytes, faulty, impatient, path};

/// A log of `kind` over memory with faults.
fn log(kind: StoreKind) -> (Log, Store, Faults) {
    let faults = Faults::new(Arc::new(InMemory::new()));
    let store = Store::from_backend(Backend::new(kind, "memory://log", Arc::new(faults.clone())), &impatient());
    (Log::new(store.clone(), path("branches/main")), store, faults)
}

async fn fill(log: &Log, entries: u64) {
    for seq in 0..entries {
        let appended = log.append_next(Seq(seq), bytes(&format!("entry {seq}"))).await;
        assert!(matches!(appended, Ok(Appended::Ours)), "{seq}: {appended:?}");
    }
}

fn entry(seq: u64) -> (Seq, bytes::Bytes) {
    (Seq(seq), bytes(&format!("entry {seq}")))
}

#[tokio::test]
async fn the_head_is_found_in_two_requests_where_listings_are_ordered() {
    let (log, store, _) = log(StoreKind::S3);
    assert_eq!(store.head_search(), HeadSearch::List);
    assert_eq!(log.head().await.unwrap(), None);
    fill(&log, 300).await;
    store.io().take();
    assert_eq!(log.head().await.unwrap(), Some(entry(299)));
    let io = store.io().take();
    assert_eq!((io.lists, io.gets, io.requests()), (1, 1, 2));
}

#[tokio::test]
async fn the_head_is_found_in_few_requests_where_listings_have_no_order() {
    let (log, store, _) = log(StoreKind::Local);
    assert_eq!(store.head_search(), HeadSearch::Gallop);
    assert_eq!(log.head().await.unwrap(), None);
    assert_eq!(store.io().take().requests(), 1);
    for entries in 1..=1001_u64 {
        log.append_next(Seq(entries - 1), bytes(&format!("entry {}", entries - 1))).await.unwrap();
        if entries > 41 && entries != 1001 {
            continue;
        }
        store.io().take();
        assert_eq!(log.head().await.unwrap(), Some(entry(entries - 1)));
        let io = store.io().take();
        assert_eq!(io.lists, 0);
        let bound = 4 + 2 * u64::from(entries.ilog2());
        assert!(io.requests() <= bound, "{entries} entries: {} requests, bound {bound}", io.requests());
    }
}

#[tokio::test]
async fn a_known_head_is_confirmed_by_one_request() {
    for kind in [StoreKind::Memory, StoreKind::Local] {
        let (log, store, _) = log(kind);
        fill(&log, 6).await;
        store.io().take();
        assert_eq!(log.head_after(Seq(5)).await.unwrap(), None);
        assert_eq!(store.io().take().requests(), 1);
        assert_eq!(log.next_after(Seq(5)).await.unwrap(), None);
        assert_eq!(log.head_after(Seq(1)).await.unwrap(), Some(entry(5)), "not merely the next one");
        assert_eq!(log.next_after(Seq(1)).await.unwrap(), Some(bytes("entry 2")));
    }
}

#[tokio::test]
async fn other_objects_that_sort_first_do_not_hide_the_head() {
    let (log, store, _) = log(StoreKind::Memory);
    fill(&log, 9).await;
    let nested = Log::new(store.clone(), path("branches/main/a"));
    fill(&nested, 2).await;
    store.overwrite(&path("branches/main/0.tmp"), bytes("stray")).await.unwrap();
    assert_eq!(log.head().await.unwrap(), Some(entry(8)));
    assert_eq!(nested.head().await.unwrap(), Some(entry(1)));
    let prefix = Log::new(store, path("branches/mai"));
    assert_eq!(prefix.head().await.unwrap(), None);
}

#[tokio::test]
async fn an_idle_writer_that_wakes_up_after_the_log_was_trimmed_is_refused() {
    for kind in [StoreKind::Memory, StoreKind::Local] {
        let (log, _, _) = log(kind);
        fill(&log, 6).await;
        let idle = log.clone();
        for seq in 6..=60 {
            log.append_next(Seq(seq), bytes(&format!("entry {seq}"))).await.unwrap();
        }
        for seq in 0..50 {
            log.overwrite(Seq(seq), bytes(&format!("tombstone {seq}"))).await.unwrap();
        }
        let woken = idle.append_next(Seq(6), bytes("into the past")).await;
        assert!(matches!(&woken, Ok(Appended::Theirs(found)) if found == "tombstone 6"), "{woken:?}");
        assert_eq!(log.head().await.unwrap(), Some(entry(60)));
        assert_eq!(idle.head_after(Seq(5)).await.unwrap(), Some(entry(60)));
        assert_eq!(log.read(Seq(6)).await.unwrap(), Some(bytes("tombstone 6")));
    }
}

#[tokio::test]
async fn a_slow_writer_changes_nothing_and_lands_on_the_next_position() {
    let (log, _, _) = log(StoreKind::Memory);
    fill(&log, 12).await;
    assert!(
        matches!(log.append_next(Seq(11), bytes("slow")).await, Ok(Appended::Theirs(found)) if found == "entry 11")
    );
    assert_eq!(log.read(Seq(11)).await.unwrap(), Some(bytes("entry 11")));
    assert!(matches!(log.append_next(Seq(12), bytes("slow")).await, Ok(Appended::Ours)));
}

#[tokio::test]
async fn only_what_is_below_the_head_is_overwritten() {
    let (log, store, _) = log(StoreKind::Memory);
    fill(&log, 3).await;
    for seq in [2, 3, 99] {
        let refused = log.overwrite(Seq(seq), bytes("tombstone")).await;
        assert!(matches!(refused, Err(StoreError::NotBelowHead { .. })), "{seq}: {refused:?}");
    }
    assert_eq!(log.head().await.unwrap(), Some(entry(2)));
    log.overwrite(Seq(1), bytes("tombstone")).await.unwrap();
    assert_eq!(log.read(Seq(1)).await.unwrap(), Some(bytes("tombstone")));
    let empty = Log::new(store, path("branches/none"));
    assert!(matches!(empty.overwrite(Seq(0), bytes("x")).await, Err(StoreError::NotBelowHead { .. })));
}

#[tokio::test]
async fn a_position_that_was_turned_away_once_is_not_skipped() {
    let (log, _, faults) = log(StoreKind::Memory);
    fill(&log, 2).await;
    faults.add(When::kind(RequestKind::Create).once(), Fault::Conflict);
    assert!(matches!(log.append_next(Seq(2), bytes("entry 2")).await, Ok(Appended::Ours)));
    assert_eq!(log.head().await.unwrap(), Some(entry(2)));
}

#[tokio::test]
async fn a_lost_response_leaves_one_entry() {
    let (log, store, faults) = log(StoreKind::Memory);
    fill(&log, 2).await;
    faults.add(When::kind(RequestKind::Create).once(), Fault::FailAfter);
    assert!(matches!(log.append_next(Seq(2), bytes("entry 2")).await, Ok(Appended::Ours)));
    assert_eq!(store.first_keys(&path("branches/main"), 10).await.unwrap().len(), 3);
}

#[tokio::test]
async fn a_put_that_lands_long_after_its_timeout_leaves_one_entry() {
    let (log, store, faults) = log(StoreKind::Memory);
    fill(&log, 2).await;
    let late = pleach::store::Hold::new();
    faults.add(When::kind(RequestKind::Create).once(), Fault::FailThenLand(late.clone()));
    faults.add(When::kind(RequestKind::Create), Fault::FailBefore);
    let first = log.append_next(Seq(2), bytes("entry 2")).await;
    assert!(matches!(first, Ok(Appended::Unknown(_))), "{first:?}");
    late.release();
    late.landed().await;
    faults.clear();
    assert_eq!(log.head_after(Seq(1)).await.unwrap(), Some(entry(2)), "the caller finds its own entry");
    assert!(matches!(log.append_next(Seq(2), bytes("entry 2")).await, Ok(Appended::Ours)));
    assert_eq!(store.first_keys(&path("branches/main"), 10).await.unwrap().len(), 3);
}

/// Readers of adjacent entries see that the predecessor they built upon is gone; the writer can ask.
#[tokio::test]
async fn an_entry_that_a_lying_store_overwrote_is_told_by_reading_it_again() {
    let (log, _, faults) = log(StoreKind::Memory);
    faults.add(When::kind(RequestKind::Create).skip(51).every(50), Fault::Overwrite);
    let mut lied = Vec::new();
    for seq in 0..60 {
        let (one, two) = (bytes(&format!("one {seq}")), bytes(&format!("two {seq}")));
        let first = log.append_next(Seq(seq), one.clone()).await.unwrap();
        let second = log.append_next(Seq(seq), two).await.unwrap();
        assert!(matches!(first, Appended::Ours));
        if matches!(second, Appended::Ours) {
            lied.push(seq);
            assert!(!log.holds(Seq(seq), &one).await.unwrap());
        } else {
            assert!(log.holds(Seq(seq), &one).await.unwrap());
        }
    }
    assert!(!lied.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn many_writers_leave_no_gap_and_lose_no_entry() {
    let folder = tempfile::tempdir().unwrap();
    let local = Store::open(&folder.path().display().to_string(), &StoreOptions::default()).await.unwrap();
    for store in [faulty().0, local] {
        let writers = (0..8).map(|writer| {
            let log = Log::new(store.clone(), path("branches/main"));
            tokio::spawn(async move {
                for n in 0..10 {
                    let mut next = log.head().await.unwrap().map_or(Seq(0), |(seq, _)| seq.next());
                    loop {
                        match log.append_next(next, bytes(&format!("{writer} {n} {next}"))).await.unwrap() {
                            Appended::Ours => break,
                            Appended::Theirs(_) => next = next.next(),
                            Appended::Unknown(error) => panic!("{error}"),
                        }
                    }
                }
            })
        });
        for writer in futures::future::join_all(writers).await {
            writer.unwrap();
        }
        let log = Log::new(store, path("branches/main"));
        assert_eq!(log.head().await.unwrap().unwrap().0, Seq(79));
        let mut seen = std::collections::BTreeSet::new();
        for seq in 0..80 {
            let text = String::from_utf8(log.read(Seq(seq)).await.unwrap().unwrap().to_vec()).unwrap();
            assert!(text.ends_with(&format!(" {seq}")), "{text}");
            seen.insert(text.rsplit_once(' ').unwrap().0.to_owned());
        }
        assert_eq!(seen.len(), 80);
    }
}

#[tokio::test]
async fn a_log_survives_a_new_handle_on_a_local_folder() {
    let folder = tempfile::tempdir().unwrap();
    let uri = folder.path().display().to_string();
    let open = || async { Store::open(&uri, &StoreOptions::default()).await.unwrap() };
    let log = Log::new(open().await, path("branches/a=2Fb"));
    fill(&log, 20).await;
    log.sync().await.unwrap();
    let again = Log::new(open().await, path("branches/a=2Fb"));
    assert_eq!(again.head().await.unwrap(), Some(entry(19)));
    assert!(matches!(again.append_next(Seq(19), bytes("x")).await, Ok(Appended::Theirs(_))));
    Log::new(open().await, path("branches/none")).sync().await.unwrap();
}

#[tokio::test]
async fn a_head_that_vanishes_between_list_and_get_is_told() {
    let memory: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let faults = Faults::new(memory.clone());
    let store = Store::from_object_store(StoreKind::Memory, Arc::new(faults.clone()));
    let log = Log::new(store, path("l"));
    fill(&log, 2).await;
    let hold = faults.hold(When::kind(RequestKind::Get));
    let vanish = async {
        hold.reached().await;
        memory.delete(&log.key(Seq(1))).await.unwrap();
        hold.release();
    };
    let (head, ()) = futures::join!(log.head(), vanish);
    assert!(matches!(head, Err(StoreError::Missing { .. })), "{head:?}");
}
