//! What a process knows of branches, and how references find commits, over an in-memory store with faults.

use object_store::ObjectStoreExt as _;
use object_store::path::Path;

use crate::error::{Error, ErrorKind};
use crate::graph::{ChangeOptions, CommitInfo, Graph, InitOptions};
use crate::ids::Seq;
use crate::record::{Record, Tombstone};
use crate::schema::Catalog;
use crate::store::{Fault, RequestKind, When};
use crate::testing::{Rig, Set};

const MAIN: &str = "branches/main/";

async fn found(graph: &Graph, reference: &str) -> CommitInfo {
    graph.show(reference).await.unwrap_or_else(|error| panic!("{reference}: {error}"))
}

async fn refused(graph: &Graph, reference: &str) -> Error {
    graph.show(reference).await.expect_err(reference)
}

#[tokio::test]
async fn a_warm_read_costs_one_request_and_sees_what_others_published() {
    let rig = Rig::new().await;
    let (ours, theirs) = (rig.warm().await, rig.warm().await);
    let _ = ours.take_io();
    ours.show("main").await.unwrap();
    let io = ours.take_io();
    assert_eq!((io.gets, io.requests()), (1, 1));
    for expected in [1, 2, 3] {
        for _ in 0..expected {
            Set::table(1).publish(&theirs, "main").await.unwrap();
        }
        assert_eq!(ours.show("main").await.unwrap(), theirs.show("main").await.unwrap());
    }
}

#[tokio::test]
async fn many_readers_share_their_requests() {
    let rig = Rig::new().await;
    let graph = rig.warm().await;
    let _ = graph.take_io();
    let hold = rig.faults.hold(When::kind(RequestKind::Get).path(MAIN));
    let readers: Vec<_> = (0..50)
        .map(|_| {
            let graph = graph.clone();
            tokio::spawn(async move { graph.show("main").await.unwrap().seq })
        })
        .collect();
    hold.reached().await;
    hold.release();
    for reader in readers {
        assert_eq!(reader.await.unwrap(), Seq(0));
    }
    assert!(graph.take_io().gets <= 3);
}

#[tokio::test]
async fn an_answer_is_never_older_than_its_question() {
    let rig = Rig::new().await;
    let (ours, theirs) = (rig.warm().await, rig.warm().await);
    // The search of the first reader has been answered by the store, but the answer is still on its way.
    let hold = rig.faults.hold(When::kind(RequestKind::Get).path(MAIN));
    let early = tokio::spawn({
        let ours = ours.clone();
        async move { ours.show("main").await.unwrap().seq }
    });
    hold.reached().await;
    Set::table(1).publish(&theirs, "main").await.unwrap();
    let late = tokio::spawn({
        let ours = ours.clone();
        async move { ours.show("main").await.unwrap().seq }
    });
    hold.release();
    early.await.unwrap();
    assert_eq!(late.await.unwrap(), Seq(1));
}

#[tokio::test]
async fn an_error_is_not_remembered() {
    let rig = Rig::new().await;
    let graph = rig.process().await;
    rig.faults.add(When::kind(RequestKind::Get).path(MAIN).once(), Fault::FailBefore);
    assert_eq!(refused(&graph, "main").await.kind(), ErrorKind::Unavailable);
    assert_eq!(found(&graph, "main").await.seq, Seq(0));
    rig.faults.add(When::kind(RequestKind::Get).path(MAIN).once(), Fault::Denied);
    assert_eq!(refused(&graph, "main").await.code(), "access-denied");
    assert_eq!(found(&graph, "main").await.seq, Seq(0));
}

#[tokio::test]
async fn knowledge_moves_only_forward() {
    let rig = Rig::new().await;
    let graph = rig.warm().await;
    let old = graph.core().snapshot("main").await.unwrap().record;
    Set::table(1).publish(&graph, "main").await.unwrap();
    graph.core().authorities().advance(&old).await.unwrap();
    let known = graph.core().authorities().capture(&old.branch).await.unwrap();
    assert_eq!((known.head.unwrap().seq, known.confirmed), (Seq(1), false));
    let other = Record { seq: Seq(1), ..Record::clone(&old) };
    assert_eq!(graph.core().authorities().advance(&other.into()).await.unwrap_err().code(), "record-replaced");
}

#[tokio::test]
async fn whoever_finds_the_log_of_main_empty_begins_it() {
    let rig = Rig::empty();
    rig.faults.add(When::kind(RequestKind::Create).path(MAIN), Fault::Denied);
    let maker = rig.builder().found(rig.store(), Catalog::default(), InitOptions::default()).await.unwrap();
    assert_eq!(refused(&maker, "main").await.kind(), ErrorKind::Unavailable);
    rig.faults.clear();
    let (one, other) = (rig.process().await, rig.process().await);
    let (one, other) = tokio::join!(one.show("main"), other.show("main"));
    assert_eq!(one.unwrap(), other.unwrap());
    assert_eq!(found(&maker, "main").await.seq, Seq(0));
    assert_eq!(Set::table(1).publish(&maker, "main").await.unwrap().seq, Seq(1));
}

/// A graph whose maker did not come to write the first record of `main`.
async fn founded(rig: &Rig) -> Graph {
    rig.faults.add(When::kind(RequestKind::Create).path(MAIN), Fault::Denied);
    let graph = rig.builder().found(rig.store(), Catalog::default(), InitOptions::default()).await.unwrap();
    rig.faults.clear();
    graph
}

async fn clear(rig: &Rig) {
    for key in rig.store().first_keys(&Path::default(), 99).await.unwrap() {
        rig.store().objects().delete(&key).await.unwrap();
    }
}

#[tokio::test]
async fn a_process_does_not_begin_the_log_of_another_graph_that_was_made_at_the_address() {
    let rig = Rig::empty();
    let maker = founded(&rig).await;
    let idle = rig.process().await;
    clear(&rig).await;
    let new = founded(&rig).await;
    for old in [&maker, &idle] {
        let error = refused(old, "main").await;
        assert_eq!((error.kind(), error.code()), (ErrorKind::Data, "record-foreign"));
        assert!(error.to_string().contains("graph.json"), "{error}");
        assert_eq!(Set::table(1).publish(old, "main").await.unwrap_err().code(), "record-foreign");
        let branches = rig.store().first_keys(&Path::from("branches"), 9).await.unwrap();
        assert!(branches.is_empty(), "nothing was written: {branches:?}");
    }
    assert_eq!(found(&new, "main").await.seq, Seq(0), "the new graph begins its own");
    assert_eq!(Set::table(1).publish(&rig.process().await, "main").await.unwrap().seq, Seq(1));
}

#[tokio::test]
async fn a_process_does_not_begin_the_log_of_a_graph_that_is_gone() {
    let rig = Rig::empty();
    let graph = founded(&rig).await;
    clear(&rig).await;
    assert_eq!(refused(&graph, "main").await.code(), "missing-object");
    assert!(rig.store().first_keys(&Path::default(), 9).await.unwrap().is_empty());
}

#[tokio::test]
async fn only_a_refusal_costs_a_list_of_the_names_and_stands_without_it() {
    let rig = Rig::new().await;
    let graph = rig.warm().await;
    graph.create_branch("Review", "main", ChangeOptions::default()).await.unwrap();
    let _ = graph.take_io();
    graph.branch("review").await.unwrap();
    assert_eq!(graph.take_io().lists, 0);
    let hint = async || graph.branch("reveiw").await.unwrap_err().hint().unwrap();
    assert_eq!(hint().await, "did you mean `Review`?");
    assert_eq!(graph.take_io().lists, 2, "whether it is there, then what is");
    rig.faults.add(When::kind(RequestKind::List).path("branches").skip(1).once(), Fault::Denied);
    assert_eq!(hint().await, "`pleach branch list` shows the branches");
    assert_eq!(hint().await, "did you mean `Review`?");
}

/// `main` with eight commits a second apart, of which two share a millisecond; `f` forked from `main@3`, with three more.
async fn history(rig: &Rig) -> Graph {
    let graph = rig.process().await;
    for number in 1..8 {
        if number != 5 {
            rig.advance(1000);
        }
        Set::table(1).publish(&graph, "main").await.unwrap();
    }
    rig.advance(1000);
    graph.create_branch("f", "main@3", ChangeOptions::default()).await.unwrap();
    for _ in 0..3 {
        rig.advance(1000);
        Set::table(2).publish(&graph, "f").await.unwrap();
    }
    graph
}

#[tokio::test]
async fn positions_ids_and_times_find_every_commit() {
    let rig = Rig::new().await;
    let graph = history(&rig).await;
    for branch in ["main", "f"] {
        let last = found(&graph, branch).await.seq.0;
        for seq in 0..=last {
            let commit = found(&graph, &format!("{branch}@{seq}")).await;
            assert_eq!(commit.seq, Seq(seq));
            assert_eq!(found(&graph, &format!("{branch}@{}", commit.id)).await, commit);
            assert_eq!(found(&graph, &format!("{branch}@{}", commit.time)).await, commit);
            let before = format!("{branch}@{}", commit.time.plus_micros(-1));
            if seq > 0 {
                assert_eq!(found(&graph, &before).await.seq, Seq(seq - 1), "the last at or before it");
            } else {
                assert_eq!(refused(&graph, &before).await.code(), "branch-not-yet");
            }
        }
    }
    let third = found(&graph, "main@3").await;
    assert_eq!(found(&graph, &third.id.to_string()).await, third, "a lone id is looked up in main");
}

#[tokio::test]
async fn what_is_not_there_is_told_with_what_to_do() {
    let rig = Rig::new().await;
    let graph = history(&rig).await;
    assert_eq!(refused(&graph, "main@8").await.hint().unwrap(), "the last commit is `main@7`");
    assert_eq!(refused(&graph, "nowhere").await.code(), "branch-not-found");
    assert_eq!(refused(&graph, "nowhere@3").await.code(), "branch-not-found");
    let on_f = found(&graph, "f@2").await.id;
    let error = refused(&graph, &on_f.to_string()).await;
    assert_eq!(error.code(), "commit-not-found");
    assert!(error.hint().unwrap().contains("BRANCH@"), "{:?}", error.hint());
    assert_eq!(refused(&graph, "main@00000000000000000000000000").await.code(), "commit-not-found");
    assert_eq!(refused(&graph, "main@7ZZZZZZZZZZZZZZZZZZZZZZZZZ").await.code(), "commit-not-found");
    let early = refused(&graph, "f@2023-01-01T00:00:00Z").await;
    assert!(early.hint().unwrap().contains("`main@3`"), "{:?}", early.hint());
    assert_eq!(found(&graph, "main@2#0").await.seq, Seq(2));
    assert_eq!(refused(&graph, "main@2#1").await.code(), "change-not-found");
}

#[tokio::test]
async fn first_parents_lead_across_a_fork_into_the_log_of_its_source() {
    let rig = Rig::new().await;
    let graph = history(&rig).await;
    for (reference, branch, seq) in [
        ("f~0", "f", 3),
        ("f~2", "f", 1),
        ("f~3", "f", 0),
        ("f~4", "main", 3),
        ("f~6", "main", 1),
        ("f~7", "main", 0),
        ("f@1~2", "main", 3),
        ("main~7", "main", 0),
    ] {
        let commit = found(&graph, reference).await;
        assert_eq!((commit.branch.as_str(), commit.seq), (branch, Seq(seq)), "{reference}");
    }
    for beyond in ["f~8", "main~8", "main~99999"] {
        assert_eq!(refused(&graph, beyond).await.code(), "beyond-first-commit");
    }
}

#[tokio::test]
async fn a_name_that_was_used_again_keeps_its_lives_apart() {
    let rig = Rig::new().await;
    let graph = history(&rig).await;
    rig.advance(1000);
    graph.delete_branch("f", ChangeOptions::default()).await.unwrap();
    let gone = refused(&graph, "f").await;
    assert_eq!((gone.code(), gone.kind()), ("branch-deleted", ErrorKind::NotFound));
    assert!(gone.hint().unwrap().contains("`f@3`"), "{:?}", gone.hint());
    assert_eq!(found(&graph, "f@3").await.seq, Seq(3), "its commits can still be read");
    assert_eq!(refused(&graph, "f@4").await.code(), "branch-deleted");
    let between = rig.clock.now();
    rig.advance(1000);
    graph.create_branch("F", "main@1", ChangeOptions::default()).await.unwrap();
    rig.advance(1000);
    Set::table(2).publish(&graph, "f").await.unwrap();
    assert_eq!(found(&graph, "f").await.branch, "F", "in its new spelling");
    assert_eq!(found(&graph, "f~1").await.seq, Seq(5));
    let commit = found(&graph, "f~2").await;
    assert_eq!((commit.branch.as_str(), commit.seq), ("main", Seq(1)), "not into its former life");
    assert_eq!(found(&graph, "f@3~3").await.seq, Seq(0));
    assert_eq!(refused(&graph, &format!("f@{between}")).await.code(), "branch-not-yet");
}

#[tokio::test]
async fn a_collected_commit_is_told_and_still_chains() {
    let rig = Rig::new().await;
    let graph = history(&rig).await;
    let authorities = graph.core().authorities();
    let name = "main".parse().unwrap();
    let mut record = Record::clone(&*authorities.record_at(&name, Seq(2)).await.unwrap());
    record.tombstone = Some(Tombstone { time: rig.clock.now(), commit: record.commit });
    authorities.log(&name).overwrite(Seq(2), record.encode().unwrap()).await.unwrap();
    assert_eq!(refused(&graph, "main@2").await.code(), "commit-collected");
    assert_eq!(found(&graph, "main~6").await.seq, Seq(1));
    assert_eq!(graph.log("main", 100).await.unwrap().len(), 8);
}

#[tokio::test]
async fn a_head_that_is_only_remembered_may_be_collected_by_now() {
    let rig = Rig::new().await;
    let (ours, theirs) = (rig.warm().await, rig.warm().await);
    Set::table(1).publish(&ours, "main").await.unwrap();
    assert_eq!(found(&ours, "main@1").await.seq, Seq(1));
    Set::table(1).publish(&theirs, "main").await.unwrap();
    let authorities = theirs.core().authorities();
    let name = "main".parse().unwrap();
    let mut record = Record::clone(&*authorities.record_at(&name, Seq(1)).await.unwrap());
    record.tombstone = Some(Tombstone { time: rig.clock.now(), commit: record.commit });
    authorities.log(&name).overwrite(Seq(1), record.encode().unwrap()).await.unwrap();
    let _ = ours.take_io();
    assert_eq!(refused(&ours, "main@1").await.code(), "commit-collected");
    assert_eq!(ours.take_io().gets, 1);
}

#[tokio::test]
async fn a_record_that_stands_in_the_wrong_place_is_refused() {
    let rig = Rig::new().await;
    let graph = history(&rig).await;
    let authorities = graph.core().authorities();
    let name = "main".parse().unwrap();
    let record = authorities.record_at(&name, Seq(2)).await.unwrap();
    authorities.log(&name).overwrite(Seq(1), record.encode().unwrap()).await.unwrap();
    assert_eq!(refused(&graph, "main@1").await.code(), "record-misplaced");
}
