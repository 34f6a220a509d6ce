//! What a caller is told, whatever became of its request or of the answer to it.

use futures::FutureExt;
use futures::future::poll_immediate;
use object_store::path::Path;

use super::{MAIN, head, refusal};
use crate::error::ErrorKind;
use crate::graph::ChangeOptions;
use crate::ids::Seq;
use crate::publish::Stamp;
use crate::record::{Record, RequestHash, Tombstone};
use crate::store::{Fault, Hold, RequestKind, When};
use crate::testing::{Rig, Set, Told, request, table};

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
        let stamp = Stamp::after(&rig.clock, Some(head.time));
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
