//! What is durable before what, and stores that do not keep what was put.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::poll_immediate;
use object_store::memory::InMemory;
use object_store::path::Path;

use super::MAIN;
use crate::error::ErrorKind;
use crate::graph::{ChangeOptions, Graph, InitOptions};
use crate::ids::Seq;
use crate::schema::Catalog;
use crate::store::{Backend, Effect, Fault, Phase, Recording, RequestKind, Store, StoreKind, StoreOptions, When};
use crate::testing::{Rig, Set, WithFile, if_head, request};

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
