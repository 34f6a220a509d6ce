//! Publishing over an in-memory store with faults; table versions are made up.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::poll_immediate;
use object_store::memory::InMemory;
use object_store::path::Path;

use crate::branch::BranchError;
use crate::error::{Error, ErrorKind};
use crate::graph::{ChangeOptions, Graph, InitOptions};
use crate::ids::Seq;
use crate::publish::Snapshot;
use crate::record::{Record, RequestHash, Tombstone};
use crate::schema::Catalog;
use crate::store::{Backend, Effect, Fault, Hold, Phase, Recording, RequestKind, Store, StoreKind, StoreOptions, When};
use crate::testing::{Rig, Set, Told, WithFile, if_head, request, table};

const MAIN: &str = "branches/main/";

fn refusal() -> Error {
    BranchError::MainIsPermanent.into()
}

async fn head(graph: &Graph) -> Snapshot {
    graph.core().snapshot("main").await.unwrap()
}

/// While the first evaluation runs, another process gives a table a new version.
fn rival(
    graph: &Graph,
    number: u8,
) -> impl Fn(usize, Snapshot) -> futures::future::BoxFuture<'static, ()> + Send + Sync + 'static {
    let graph = graph.clone();
    move |evaluation, _| {
        let graph = graph.clone();
        async move {
            if evaluation == 1 {
                Set::table(number).publish(&graph, "main").await.unwrap();
            }
        }
        .boxed()
    }
}

#[tokio::test]
async fn a_commit_follows_the_head_and_tells_who_made_it() {
    let rig = Rig::new().await;
    let graph = rig.process().await;
    let before = graph.branch("main").await.unwrap().head;
    let options = ChangeOptions { author: "ann".to_owned(), message: "why".to_owned(), ..ChangeOptions::default() };
    let commit = Set::table(1).publish_as(&graph, "main", &options).await.unwrap();
    assert_eq!((commit.seq, commit.parents[0].id, commit.parents.len()), (Seq(1), before.id, 1));
    let change = &commit.changes[0];
    assert_eq!((change.author.as_str(), change.message.as_str(), change.kind.as_str()), ("ann", "why", "write"));
    assert_eq!(change.author_time, commit.time);
    assert_eq!(change.tables[&table(1).to_string()].inserted, 1);
    assert_eq!(rig.process().await.show("main").await.unwrap(), commit, "another process sees the same");
}

#[tokio::test]
async fn commit_times_increase_although_the_clock_stands_still() {
    let rig = Rig::new().await;
    let graph = rig.process().await;
    let mut before = graph.show("main").await.unwrap().time;
    for _ in 0..5 {
        let time = Set::table(1).publish(&graph, "main").await.unwrap().time;
        assert_eq!(time, before.plus_micros(1));
        before = time;
    }
}

#[tokio::test]
async fn a_rival_that_changed_nothing_we_depend_on_costs_no_evaluation() {
    let rig = Rig::new().await;
    let (ours, theirs) = (rig.warm().await, rig.warm().await);
    let work = Set::table(1).reading(2).meanwhile(rival(&theirs, 3));
    let commit = work.publish(&ours, "main").await.unwrap();
    assert_eq!((work.evaluations(), commit.seq, commit.parents[0].seq), (1, Seq(2), Seq(1)));
    let head = head(&ours).await;
    assert!(head.table_version(table(1)).is_some() && head.table_version(table(3)).is_some(), "both are in the commit");
}

#[tokio::test]
async fn a_rival_that_changed_what_we_read_or_write_makes_us_evaluate_again() {
    for number in [1, 2] {
        let rig = Rig::new().await;
        let (ours, theirs) = (rig.warm().await, rig.warm().await);
        let work = Set::table(1).reading(2).meanwhile(rival(&theirs, number));
        let commit = work.publish(&ours, "main").await.unwrap();
        assert_eq!((work.evaluations(), commit.seq), (2, Seq(2)));
    }
}

#[tokio::test]
async fn many_rivals_all_get_through_and_every_commit_has_one_parent() {
    let rig = Rig::new().await;
    let writers = (0..8_u8).map(|number| {
        let rig = &rig;
        async move {
            let graph = rig.process().await;
            for _ in 0..10 {
                Set::table(number).publish(&graph, "main").await.unwrap();
            }
        }
    });
    futures::future::join_all(writers).await;
    let commits = rig.process().await.log("main", 1000).await.unwrap();
    assert_eq!(commits.len(), 81);
    assert!(commits.windows(2).all(|pair| pair[0].parents[0].id == pair[1].id && pair[0].time > pair[1].time));
}

#[tokio::test]
async fn contention_ends_when_the_time_is_up_and_nothing_is_published() {
    let rig = Rig::new().await;
    let theirs = rig.warm().await;
    let ours = rig.builder().publish_within(Duration::ZERO).open_on(rig.store()).await.unwrap();
    let error = Set::table(1).meanwhile(rival(&theirs, 1)).publish(&ours, "main").await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Contention, "contention"));
    assert!(error.is_retryable());
    assert_eq!(ours.show("main").await.unwrap().seq, Seq(1), "only the rival's");
}

#[tokio::test]
async fn a_pinned_head_lets_a_request_in_or_refuses_it_at_once() {
    let rig = Rig::new().await;
    let (ours, theirs) = (rig.warm().await, rig.warm().await);
    let first = Set::table(1).publish_as(&ours, "main", &if_head("main@0")).await.unwrap();
    let by_id = if_head(&format!("main@{}", first.id));
    assert_eq!(Set::table(1).publish_as(&ours, "main", &by_id).await.unwrap().seq, Seq(2));
    let work = Set::table(1);
    let error = work.publish_as(&ours, "main", &if_head("main@1")).await.unwrap_err();
    assert_eq!((error.code(), work.evaluations(), error.is_retryable()), ("head-moved", 0, false));
    // A process that remembers an older head asks before it refuses.
    assert_eq!(Set::table(1).publish_as(&theirs, "main", &if_head("main@2")).await.unwrap().seq, Seq(3));
    let raced = Set::table(9).meanwhile(rival(&theirs, 3));
    let error = raced.publish_as(&ours, "main", &if_head("main@3")).await.unwrap_err();
    assert_eq!((error.code(), raced.evaluations()), ("head-moved", 1), "unrelated or not");
}

#[tokio::test]
async fn a_request_id_takes_effect_once_whoever_sends_it_again() {
    let rig = Rig::new().await;
    let (ours, theirs) = (rig.warm().await, rig.warm().await);
    let first = Set::table(1).publish_as(&ours, "main", &request("r")).await.unwrap();
    Set::table(2).publish(&ours, "main").await.unwrap();
    for graph in [&ours, &rig.process().await] {
        let work = Set::table(1);
        let (commit, told) = graph.core().publish("main", work.clone(), &request("r")).await.unwrap();
        assert_eq!((commit.as_ref(), told, work.evaluations()), (Some(&first), Told::Before, 0));
    }
    // This process does not know of it until it collides.
    let work = Set::table(1);
    let (commit, told) = theirs.core().publish("main", work.clone(), &request("r")).await.unwrap();
    assert_eq!((commit.as_ref(), told, work.evaluations()), (Some(&first), Told::Before, 1));
    assert_eq!(ours.show("main").await.unwrap().seq, Seq(2));
    assert_eq!(Set::table(1).publish_as(&ours, "main", &request("other")).await.unwrap().seq, Seq(3));
}

#[tokio::test]
async fn a_lost_response_is_recognised_as_our_own_commit() {
    let rig = Rig::new().await;
    let graph = rig.warm().await;
    rig.faults.add(When::kind(RequestKind::Create).path(MAIN).once(), Fault::FailAfter);
    let commit = Set::table(1).publish(&graph, "main").await.unwrap();
    assert_eq!(rig.process().await.show("main").await.unwrap(), commit);
    assert_eq!(commit.seq, Seq(1));
}

#[tokio::test]
async fn a_refused_put_that_left_nothing_is_tried_again_at_the_same_position() {
    let rig = Rig::new().await;
    let graph = rig.warm().await;
    rig.faults.add(When::kind(RequestKind::Create).path(MAIN).once(), Fault::Conflict);
    assert_eq!(Set::table(1).publish(&graph, "main").await.unwrap().seq, Seq(1));
    assert_eq!(Set::table(1).publish(&graph, "main").await.unwrap().seq, Seq(2));
}

#[tokio::test]
async fn a_put_that_lands_late_is_found_by_its_request_id_and_counts_once() {
    let rig = Rig::new().await;
    let graph = rig.process().await;
    let (faults, hold) = (rig.faults.clone(), Hold::new());
    let late = hold.clone();
    let work = Set::table(1).meanwhile(move |_, _| {
        faults.add(When::kind(RequestKind::Create).path(MAIN).once(), Fault::FailThenLand(late.clone()));
        faults.add(When::kind(RequestKind::Get).path(MAIN), Fault::FailBefore);
        async {}.boxed()
    });
    let error = work.publish_as(&graph, "main", &request("r")).await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::OutcomeUnknown, "outcome-unknown"));
    assert!(error.is_retryable() && error.hint().unwrap().contains("`r`"), "{:?}", error.hint());
    assert!(error.hint().unwrap().contains("4,096"), "it holds for a while only: {:?}", error.hint());
    rig.faults.clear();
    hold.release();
    hold.landed().await;
    let again = Set::table(1);
    let commit = again.publish_as(&graph, "main", &request("r")).await.unwrap();
    assert!(error.to_string().contains(&commit.id.to_string()), "{error} is about {}", commit.id);
    assert_eq!(graph.log("main", 10).await.unwrap().len(), 2, "it took effect once");
}

#[tokio::test]
async fn an_unknown_outcome_without_a_request_id_is_not_to_be_repeated_blindly() {
    let rig = Rig::new().await;
    let graph = rig.process().await;
    let faults = rig.faults.clone();
    let work = Set::table(1).meanwhile(move |_, _| {
        faults.add(When::kind(RequestKind::Create).path(MAIN), Fault::FailBefore);
        faults.add(When::kind(RequestKind::Get).path(MAIN), Fault::FailBefore);
        async {}.boxed()
    });
    let error = work.publish(&graph, "main").await.unwrap_err();
    assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::OutcomeUnknown, false));
}

#[tokio::test]
async fn a_stale_head_refuses_nothing() {
    let rig = Rig::new().await;
    let (ours, theirs) = (rig.warm().await, rig.warm().await);
    Set::table(1).publish(&theirs, "main").await.unwrap();
    // On the head this process remembers the request is refused; on the real one it goes through.
    let work = Set::table(2).answering(|at| (at.record.seq == Seq(0)).then(|| Err(refusal())));
    assert_eq!(work.publish(&ours, "main").await.unwrap().seq, Seq(2));
    assert_eq!(work.evaluations(), 2);
    // The same for "nothing to do".
    Set::table(1).publish(&theirs, "main").await.unwrap();
    let work = Set::table(2).answering(|at| (at.record.seq == Seq(2)).then_some(Ok(())));
    assert_eq!(work.publish(&ours, "main").await.unwrap().seq, Seq(4));
}

#[tokio::test]
async fn an_outcome_without_a_commit_is_confirmed_with_one_request() {
    let rig = Rig::new().await;
    let graph = rig.warm().await;
    Set::table(1).publish(&graph, "main").await.unwrap();
    let _ = graph.take_io();
    let nothing = Set::table(1).answering(|_| Some(Ok(())));
    let (commit, _) = graph.core().publish("main", nothing, &ChangeOptions::default()).await.unwrap();
    assert_eq!(commit, None);
    let io = graph.take_io();
    assert_eq!((io.puts, io.lists, io.heads), (0, 0, 0));
    assert_eq!(io.gets, 2, "nothing at the next position; and the head is still what it was");
    let refused = Set::table(1).answering(|_| Some(Err(refusal())));
    assert_eq!(refused.publish(&graph, "main").await.unwrap_err().code(), "main-is-permanent");
}

#[tokio::test]
async fn a_failed_file_aborts_before_the_record_and_names_it() {
    let rig = Rig::new().await;
    let graph = rig.warm().await;
    rig.faults.add(When::kind(RequestKind::Put).path("tables/x"), Fault::FailBefore);
    let work = WithFile(graph.core().store().clone(), Path::from("tables/x/data"));
    let error = graph.core().publish("main", work, &ChangeOptions::default()).await.unwrap_err();
    assert_eq!(error.code(), "staging-failed");
    rig.faults.clear();
    assert_eq!(rig.process().await.show("main").await.unwrap().seq, Seq(0));
    assert_eq!(Set::table(1).publish(&graph, "main").await.unwrap().seq, Seq(1));
}

#[tokio::test]
async fn the_record_is_put_only_when_its_file_is_durable() {
    let rig = Rig::new().await;
    let graph = rig.warm().await;
    let hold = rig.faults.hold(When::kind(RequestKind::Put).path("tables/x"));
    let work = WithFile(graph.core().store().clone(), Path::from("tables/x/data"));
    let options = ChangeOptions::default();
    let mut publish = graph.core().publish("main", work, &options).boxed();
    assert!(poll_immediate(&mut publish).await.is_none());
    hold.reached().await;
    assert!(poll_immediate(&mut publish).await.is_none());
    assert_eq!(rig.process().await.show("main").await.unwrap().seq, Seq(0));
    hold.release();
    publish.await.unwrap();
    assert_eq!(rig.process().await.show("main").await.unwrap().seq, Seq(1));
}

/// A graph in a store that has folders to sync and records what happens.
async fn recorded() -> (Recording, Graph) {
    let recording = Recording::new(Arc::new(InMemory::new()));
    let mut backend = Backend::new(StoreKind::Local, "recorded", Arc::new(recording.clone()));
    backend.folders = Some(Arc::new(recording.clone()));
    let store = Store::from_backend(backend, &StoreOptions::default());
    let graph = Graph::builder().found(store, Catalog::default(), InitOptions::default()).await.unwrap();
    recording.take();
    (recording, graph)
}

fn position(effects: &[Effect], kind: RequestKind, path: &str, phase: Phase) -> usize {
    let found = effects.iter().position(|e| e.kind == kind && e.path.as_ref().starts_with(path) && e.phase == phase);
    found.unwrap_or_else(|| panic!("no {kind} of {path} in {effects:?}"))
}

#[tokio::test]
async fn everything_a_record_names_is_durable_before_the_record_is_sent() {
    let (recording, graph) = recorded().await;
    let options = ChangeOptions { message: "m".repeat(300_000), ..ChangeOptions::default() };
    let work = WithFile(graph.core().store().clone(), Path::from("tables/x/data"));
    graph.core().publish("main", work, &options).await.unwrap();
    let effects = recording.take();
    let sent = position(&effects, RequestKind::Create, MAIN, Phase::Begun);
    assert!(position(&effects, RequestKind::Put, "tables/x", Phase::Done) < sent);
    assert!(position(&effects, RequestKind::Put, "changes/", Phase::Done) < sent);
}

#[tokio::test]
async fn what_an_outcome_relies_on_is_durable_before_it_is_told() {
    let (recording, graph) = recorded().await;
    Set::table(1).publish(&graph, "main").await.unwrap();
    recording.take();
    let nothing = Set::table(1).answering(|_| Some(Ok(())));
    graph.core().publish("main", nothing, &ChangeOptions::default()).await.unwrap();
    let effects = recording.take();
    assert!(
        position(&effects, RequestKind::Sync, "branches/main", Phase::Done)
            > position(&effects, RequestKind::Get, MAIN, Phase::Done)
    );
    graph.create_branch("f", "main", ChangeOptions::default()).await.unwrap();
    let effects = recording.take();
    let synced = position(&effects, RequestKind::Sync, "branches/main", Phase::Done);
    assert!(
        synced < position(&effects, RequestKind::Create, "branches/f/", Phase::Begun),
        "the source of a new branch"
    );
    graph.create_branch("f", "main", ChangeOptions::default()).await.unwrap_err();
    position(&recording.take(), RequestKind::Sync, "branches/f", Phase::Done);
    graph.delete_branch("f", if_head("main@0")).await.unwrap_err();
    position(&recording.take(), RequestKind::Sync, "branches/f", Phase::Done);
    graph.create_branch("f", "main", request("r")).await.unwrap_err();
    recording.take();
    graph.delete_branch("f", request("d")).await.unwrap();
    recording.take();
    graph.delete_branch("f", ChangeOptions::default()).await.unwrap_err();
    position(&recording.take(), RequestKind::Sync, "branches/f", Phase::Done);
    graph.create_branch("f", "main", request("d")).await.unwrap_err();
    position(&recording.take(), RequestKind::Sync, "branches/f", Phase::Done);
}

#[tokio::test]
async fn a_caller_that_goes_away_leaves_a_whole_commit() {
    let rig = Rig::new().await;
    let graph = rig.warm().await;
    let hold = rig.faults.hold(When::kind(RequestKind::Create).path(MAIN));
    {
        let work = Set::table(1);
        let mut publish = work.publish(&graph, "main").boxed();
        assert!(poll_immediate(&mut publish).await.is_none());
        hold.reached().await;
    }
    hold.release();
    let second = Set::table(1).publish(&graph, "main").await.unwrap();
    assert_eq!(second.seq, Seq(2), "the first was published, and this process knows or finds out");
}

#[tokio::test]
async fn work_that_panics_is_an_internal_error_and_hangs_nobody() {
    let rig = Rig::new().await;
    let graph = rig.warm().await;
    let work = Set::table(1).meanwhile(|_, _| panic!("held"));
    let error = work.publish(&graph, "main").await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Internal, "publish-broken"));
    assert_eq!(Set::table(1).publish(&graph, "main").await.unwrap().seq, Seq(1));
}

#[cfg(feature = "failpoints")]
#[tokio::test]
async fn a_task_that_breaks_says_whether_it_may_have_published() {
    let rig = Rig::new().await;
    for (point, kind, head) in [
        ("publish-before-barrier", ErrorKind::Internal, Seq(0)),
        ("publish-before-put", ErrorKind::Internal, Seq(0)),
        ("publish-after-put", ErrorKind::OutcomeUnknown, Seq(1)),
        ("publish-landed", ErrorKind::OutcomeUnknown, Seq(2)),
    ] {
        let graph = rig.warm().await;
        fail::cfg(point, "panic").unwrap();
        let outcome = Set::table(1).publish(&graph, "main").await;
        fail::remove(point);
        assert_eq!(outcome.unwrap_err().kind(), kind, "{point}");
        assert_eq!(rig.process().await.show("main").await.unwrap().seq, head, "{point}");
    }
    // Another record is in its place, so this one is nowhere and never will be.
    let (graph, other) = (rig.warm().await, rig.warm().await);
    Set::table(2).publish(&other, "main").await.unwrap();
    fail::cfg("publish-landed", "panic").unwrap();
    let outcome = Set::table(1).publish(&graph, "main").await;
    fail::remove("publish-landed");
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Internal);
    assert_eq!(Set::table(1).publish(&graph, "main").await.unwrap().seq, Seq(4));
}

/// Gives `f` a second life once a request that is held at `hold` has met the end of the first.
async fn created_again(rig: &Rig, theirs: &Graph, hold: &Hold) {
    hold.reached().await;
    theirs.create_branch("f", "main", ChangeOptions::default()).await.unwrap();
    hold.release();
    assert_eq!(rig.process().await.branch("f").await.unwrap().head.seq, Seq(2));
}

#[tokio::test]
async fn a_branch_created_again_after_its_deletion_was_met_is_another_one() {
    // The deletion is met by the put, or by the look that confirms a refusal or a "nothing to do".
    for answer in [None, Some(true), Some(false)] {
        let rig = Rig::new().await;
        let (ours, theirs) = (rig.process().await, rig.process().await);
        theirs.create_branch("f", "main", ChangeOptions::default()).await.unwrap();
        let hold = Hold::new();
        let (other, faults, held) = (theirs.clone(), rig.faults.clone(), hold.clone());
        let work = Set::table(1).meanwhile(move |evaluation, _| {
            let (other, faults, held) = (other.clone(), faults.clone(), held.clone());
            async move {
                if evaluation == 1 {
                    other.delete_branch("f", ChangeOptions::default()).await.unwrap();
                    // The first look there finds that the deletion is the head; the second confirms what to tell of it.
                    let second = When::kind(RequestKind::Get).path("branches/f/fffffffffffffffd").skip(1).once();
                    faults.add(second, Fault::Hold(held));
                }
            }
            .boxed()
        });
        let work = work.answering(move |_| answer.map(|done| if done { Ok(()) } else { Err(refusal()) }));
        let asked = (work.clone(), ours.clone());
        let publish = tokio::spawn(async move { asked.0.publish(&asked.1, "f").await });
        created_again(&rig, &theirs, &hold).await;
        let error = publish.await.unwrap().unwrap_err();
        assert_eq!((error.code(), work.evaluations()), ("branch-recreated", 1), "{answer:?}");
        assert_eq!(theirs.branch("f").await.unwrap().head.seq, Seq(2), "nothing was published");
    }
}

#[tokio::test]
async fn a_request_that_stood_upon_a_rivals_commit_belongs_to_that_life_of_the_branch() {
    let rig = Rig::new().await;
    let (ours, theirs) = (rig.process().await, rig.process().await);
    ours.create_branch("f", "main", ChangeOptions::default()).await.unwrap();
    // Only remembered here; the rival's commit, met by the first put, is what ties the request.
    Set::table(3).publish(&theirs, "f").await.unwrap();
    let second = rig.faults.hold(When::kind(RequestKind::Create).path("branches/f/fffffffffffffffd"));
    let work = Set::table(1);
    let asked = (work.clone(), ours.clone());
    let publish = tokio::spawn(async move { asked.0.publish(&asked.1, "f").await });
    second.reached().await;
    theirs.delete_branch("f", ChangeOptions::default()).await.unwrap();
    theirs.create_branch("f", "main", ChangeOptions::default()).await.unwrap();
    second.release();
    assert_eq!(publish.await.unwrap().unwrap_err().code(), "branch-recreated");
    assert_eq!(work.evaluations(), 1);
}

#[tokio::test]
async fn what_a_fast_log_forgot_since_the_first_commit_was_captured_is_found_in_an_older_record() {
    let rig = Rig::new().await;
    let (slow, others) = (rig.warm().await, rig.warm().await);
    let hold = rig.faults.hold(When::kind(RequestKind::Create).path(MAIN));
    let asked = slow.clone();
    let publish = tokio::spawn(async move { Set::table(1).publish_as(&asked, "main", &request("r")).await });
    hold.reached().await;
    let first = Set::table(1).publish_as(&others, "main", &request("r")).await.unwrap();
    let log = others.core().authorities().log(&"main".parse().unwrap());
    // Two commits of thousands of requests stand for thousands of commits.
    for requests in [2, 4_094] {
        let head = head(&others).await.record;
        let stamp = super::Stamp::after(&rig.clock, Some(head.time));
        let mut record = Record {
            seq: head.seq.next(),
            commit: stamp.commit,
            time: stamp.time,
            previous: Some(head.commit),
            parents: vec![head.as_parent()],
            changes: Vec::new(),
            ..Record::clone(&head)
        };
        for number in 0..requests {
            record.requests.push(RequestHash::of(&format!("{requests} {number}")), record.seq, number);
        }
        log.append_next(record.seq, record.encode().unwrap()).await.unwrap();
    }
    assert_eq!(head(&others).await.record.requests.find(RequestHash::of("r")), None);
    hold.release();
    assert_eq!(publish.await.unwrap().unwrap(), first);
    assert_eq!(others.show("main").await.unwrap().seq, Seq(3), "it took effect once");
}

#[tokio::test]
async fn what_would_burst_a_record_is_kept_beside_it() {
    let rig = Rig::new().await;
    let graph = rig.warm().await;
    let options = ChangeOptions { message: "m".repeat(300_000), ..request("long") };
    let commit = Set::table(1).publish_as(&graph, "main", &options).await.unwrap();
    assert_eq!(rig.process().await.show("main").await.unwrap(), commit);
    assert_eq!(commit.changes[0].message.len(), 300_000);
    assert_eq!(graph.core().store().first_keys(&Path::from("changes"), 9).await.unwrap().len(), 1);
    let again = Set::table(1).publish_as(&rig.process().await, "main", &options).await.unwrap();
    assert_eq!(again, commit, "its request id is still known");
}

#[tokio::test]
async fn a_store_that_overwrites_is_noticed_by_whoever_lost_a_commit() {
    let rig = Rig::new().await;
    let (ours, theirs) = (rig.warm().await, rig.warm().await);
    Set::table(1).publish(&ours, "main").await.unwrap();
    rig.faults.add(When::kind(RequestKind::Create).path(MAIN).once(), Fault::Overwrite);
    Set::table(2).publish(&theirs, "main").await.unwrap();
    let work = Set::table(1);
    let error = work.publish(&ours, "main").await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Data, "record-replaced"));
    assert!(error.to_string().contains("main@1"), "{error}");
}

#[tokio::test]
async fn a_store_that_overwrites_is_noticed_by_a_reader_as_well() {
    let rig = Rig::new().await;
    let (ours, theirs) = (rig.warm().await, rig.warm().await);
    Set::table(1).publish(&ours, "main").await.unwrap();
    rig.faults.add(When::kind(RequestKind::Create).path(MAIN).once(), Fault::Overwrite);
    Set::table(2).publish(&theirs, "main").await.unwrap();
    Set::table(2).publish(&theirs, "main").await.unwrap();
    let error = ours.show("main").await.unwrap_err();
    assert!(error.to_string().contains("main@1"), "{error}");
}

#[tokio::test]
async fn a_hundred_commits_on_a_store_that_overwrites_now_and_then_fail_loudly() {
    let rig = Rig::new().await;
    let processes = [rig.warm().await, rig.warm().await];
    rig.faults.add(When::kind(RequestKind::Create).path(MAIN).skip(21).every(50), Fault::Overwrite);
    let mut acknowledged = Vec::new();
    let mut failure = None;
    for number in 0..100_u8 {
        match Set::table(number).publish(&processes[usize::from(number % 2)], "main").await {
            Ok(commit) => acknowledged.push(commit),
            Err(error) => {
                failure = Some(error);
                break;
            }
        }
    }
    let commits = rig.process().await.log("main", 1000).await.unwrap();
    let lost: Vec<_> = acknowledged.iter().filter(|commit| !commits.contains(commit)).collect();
    let failure = failure.expect("a commit was lost, and nobody said so");
    assert_eq!(failure.code(), "record-replaced");
    assert_eq!(lost.len(), 1);
    assert!(failure.to_string().contains(&lost[0].reference()), "{failure} names {}", lost[0].reference());
}

#[tokio::test]
async fn a_handle_follows_a_branch_that_another_process_deleted_and_created_again() {
    let rig = Rig::new().await;
    let (ours, theirs) = (rig.warm().await, rig.warm().await);
    ours.create_branch("f", "main", ChangeOptions::default()).await.unwrap();
    Set::table(1).publish(&ours, "f").await.unwrap();
    theirs.delete_branch("f", ChangeOptions::default()).await.unwrap();
    let main = Set::table(5).publish(&theirs, "main").await.unwrap();
    let created = theirs.create_branch("f", "main", ChangeOptions::default()).await.unwrap().head;
    assert_eq!((created.parents[0].id, created.seq), (main.id, Seq(3)));
    let work = Set::table(1).reading(2);
    let commit = work.publish(&ours, "f").await.unwrap();
    assert_eq!((commit.parents[0].id, commit.incarnation), (created.id, created.incarnation));
    assert_eq!(work.evaluations(), 2, "on what was remembered, then on the branch of now");
    assert_eq!(ours.show("f").await.unwrap(), rig.process().await.show("f").await.unwrap());
}

#[tokio::test]
async fn a_request_that_saw_the_old_branch_is_not_put_into_the_new_one() {
    let rig = Rig::new().await;
    let (ours, theirs) = (rig.process().await, rig.process().await);
    theirs.create_branch("f", "main", ChangeOptions::default()).await.unwrap();
    let other = theirs.clone();
    let work = Set::table(1).meanwhile(move |_, _| {
        let other = other.clone();
        async move {
            other.delete_branch("f", ChangeOptions::default()).await.unwrap();
            other.create_branch("f", "main", ChangeOptions::default()).await.unwrap();
        }
        .boxed()
    });
    let error = work.publish(&ours, "f").await.unwrap_err();
    assert_eq!((error.kind(), error.code(), work.evaluations()), (ErrorKind::Contention, "branch-recreated", 1));
}

#[tokio::test]
async fn a_branch_that_is_deleted_meanwhile_takes_nothing() {
    let rig = Rig::new().await;
    let (ours, theirs) = (rig.process().await, rig.process().await);
    theirs.create_branch("f", "main", ChangeOptions::default()).await.unwrap();
    let other = Arc::new(theirs);
    let work = Set::table(1).meanwhile(move |_, _| {
        let other = other.clone();
        async move { drop(other.delete_branch("f", ChangeOptions::default()).await.unwrap()) }.boxed()
    });
    assert_eq!(work.publish(&ours, "f").await.unwrap_err().code(), "branch-deleted");
    assert_eq!(Set::table(1).publish(&ours, "f").await.unwrap_err().code(), "branch-deleted");
    assert_eq!(Set::table(1).publish(&ours, "g").await.unwrap_err().code(), "branch-not-found");
}

#[tokio::test]
async fn a_warm_publish_is_one_put_and_a_look_at_the_head_beside_the_evaluation() {
    let rig = Rig::new().await;
    let graph = rig.warm().await;
    for _ in 0..3 {
        Set::table(1).publish(&graph, "main").await.unwrap();
        let _ = graph.take_io();
        Set::table(1).publish(&graph, "main").await.unwrap();
        let io = graph.take_io();
        assert_eq!((io.gets, io.puts, io.lists, io.heads), (1, 1, 0, 0));
    }
}

#[tokio::test]
async fn a_slow_writer_meets_tombstones_and_goes_on_from_the_head_of_now() {
    let rig = Rig::new().await;
    let (slow, others) = (rig.warm().await, rig.warm().await);
    let hold = rig.faults.hold(When::kind(RequestKind::Create).path(MAIN));
    let (work, handle) = (Set::table(1), slow.clone());
    let publish = tokio::spawn(async move { work.publish(&handle, "main").await });
    hold.reached().await;
    for _ in 0..4 {
        Set::table(2).publish(&others, "main").await.unwrap();
    }
    let authorities = others.core().authorities();
    let name = "main".parse().unwrap();
    for seq in [1, 2, 3].map(Seq) {
        let mut record = Record::clone(&*authorities.record_at(&name, seq).await.unwrap());
        record.tombstone = Some(Tombstone { time: rig.clock.now(), commit: record.commit });
        authorities.log(&name).overwrite(seq, record.encode().unwrap()).await.unwrap();
    }
    let before = authorities.log(&name).read(Seq(1)).await.unwrap();
    hold.release();
    let commit = publish.await.unwrap().unwrap();
    assert_eq!((commit.seq, commit.parents[0].seq), (Seq(5), Seq(4)));
    assert_eq!(authorities.log(&name).read(Seq(1)).await.unwrap(), before, "byte for byte");
}

#[tokio::test]
async fn our_own_commit_is_recognised_in_a_tombstone() {
    let rig = Rig::new().await;
    let (slow, others) = (rig.warm().await, rig.warm().await);
    let faults = rig.faults.clone();
    let hold = Hold::new();
    let held = hold.clone();
    let work = Set::table(1).meanwhile(move |_, _| {
        faults.add(When::kind(RequestKind::Create).path(MAIN).once(), Fault::FailAfter);
        // The look at the position after the put; the look at the head beside the evaluation is another object.
        faults.add(When::kind(RequestKind::Get).path("fffffffffffffffe").once(), Fault::Hold(held.clone()));
        async {}.boxed()
    });
    let handle = slow.clone();
    let publish = tokio::spawn(async move { work.publish(&handle, "main").await });
    hold.reached().await;
    let authorities = others.core().authorities();
    let name = "main".parse().unwrap();
    Set::table(2).publish(&others, "main").await.unwrap();
    let mut record = Record::clone(&*authorities.record_at(&name, Seq(1)).await.unwrap());
    record.tombstone = Some(Tombstone { time: rig.clock.now(), commit: record.commit });
    authorities.log(&name).overwrite(Seq(1), record.encode().unwrap()).await.unwrap();
    hold.release();
    let commit = publish.await.unwrap().unwrap();
    assert_eq!((commit.id, commit.seq), (record.commit, Seq(1)));
    assert_eq!(others.show("main").await.unwrap().seq, Seq(2), "it was not published twice");
}
