//! Making, opening and branching graphs over an in-memory store, and a local folder where that matters.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use object_store::ObjectStoreExt;
use object_store::memory::InMemory;
use object_store::path::Path;

use super::{ChangeOptions, Graph, InitOptions};
use crate::error::ErrorKind;
use crate::ids::Seq;
use crate::record::lineage::MAX_INLINE;
use crate::schema::Catalog;
use crate::store::{Fault, Faults, RequestKind, Store, StoreKind, StoreOptions, When};
use crate::testing::{Rig, Set, if_head, request};

fn plain() -> ChangeOptions {
    ChangeOptions::default()
}

async fn names(graph: &Graph) -> Vec<String> {
    graph.branches().await.unwrap().into_iter().map(|branch| branch.name).collect()
}

#[tokio::test]
async fn a_graph_is_made_once_and_opened_by_anybody() {
    let rig = Rig::empty();
    let error = rig.builder().open_on(rig.store()).await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::NotFound, "graph-not-found"));
    let options = InitOptions { author: "ann".to_owned(), ..InitOptions::default() };
    let made = rig.builder().found(rig.store(), Catalog::default(), options).await.unwrap();
    let opened = rig.process().await;
    assert_eq!(made.id(), opened.id());
    let first = opened.show("main").await.unwrap();
    assert_eq!((first.seq, first.parents.len(), first.changes[0].kind.as_str()), (Seq(0), 0, "create"));
    assert_eq!(first.changes[0].author, "ann");
    let error = rig.builder().found(rig.store(), Catalog::default(), InitOptions::default()).await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::AlreadyExists, "graph-exists"));
}

#[tokio::test]
async fn of_several_makers_one_wins_and_the_others_are_told() {
    let rig = Rig::empty();
    let makers =
        (0..8).map(|_| async { rig.builder().found(rig.store(), Catalog::default(), InitOptions::default()).await });
    let made: Vec<_> = futures::future::join_all(makers).await;
    assert_eq!(made.iter().filter(|made| made.is_ok()).count(), 1);
    assert!(made.iter().flatten().all(|graph| graph.id() == made.iter().flatten().next().unwrap().id()));
    assert_eq!(rig.process().await.log("main", 10).await.unwrap().len(), 1);
}

#[tokio::test]
async fn what_is_left_of_another_graph_is_never_taken_for_a_new_one() {
    let rig = Rig::new().await;
    rig.store().objects().delete(&Path::from("graph.json")).await.unwrap();
    let error = rig.builder().found(rig.store(), Catalog::default(), InitOptions::default()).await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Invalid, "graph-leftovers"));
    assert!(error.to_string().contains("branches/main/"), "{error}");
}

#[tokio::test]
async fn a_maker_that_stopped_early_left_nothing_that_stands_in_the_way() {
    let rig = Rig::empty();
    rig.faults.add(When::kind(RequestKind::Create).path("graph.json").once(), Fault::Denied);
    let error = rig.builder().found(rig.store(), Catalog::default(), InitOptions::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    rig.builder().found(rig.store(), Catalog::default(), InitOptions::default()).await.unwrap();
    assert_eq!(rig.process().await.branches().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_store_that_lets_several_puts_win_is_refused_unless_allowed() {
    let faults = Faults::new(Arc::new(InMemory::new()));
    faults.add(When::kind(RequestKind::Create), Fault::Overwrite);
    let store = Store::from_object_store(StoreKind::S3, Arc::new(faults));
    let builder = Graph::builder();
    let error = builder.found(store.clone(), Catalog::default(), InitOptions::default()).await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Invalid, "store-unsafe"));
    let options = InitOptions { allow_unsafe_store: true, ..InitOptions::default() };
    let graph = builder.found(store, Catalog::default(), options).await.unwrap();
    let probed = graph.core().file().probe.clone().unwrap();
    assert!(!probed.safe && !probed.broken.is_empty());
}

#[tokio::test]
async fn a_newer_graph_is_named_and_not_called_damaged() {
    let rig = Rig::new().await;
    rig.store().overwrite(&Path::from("graph.json"), br#"{"format":2}"#.as_slice().into()).await.unwrap();
    assert_eq!(rig.builder().open_on(rig.store()).await.unwrap_err().code(), "record-format");
}

#[tokio::test]
async fn branches_are_created_listed_and_deleted() {
    let rig = Rig::new().await;
    let graph = rig.process().await;
    let main = Set::table(1).publish(&graph, "main").await.unwrap();
    let all = ["a", "a/b", "a/b/c", "Ünï-code_1", "v1.0", "🌳", "fffffffffffffffe.json"];
    for name in all {
        let made = graph.create_branch(name, "main", plain()).await.unwrap();
        assert_eq!((made.name.as_str(), made.head.seq), (name, Seq(0)));
        assert_eq!((made.head.parents[0].id, made.head.rows), (main.id, main.rows.clone()));
    }
    let expected: BTreeSet<_> = all.iter().map(ToString::to_string).chain(["main".to_owned()]).collect();
    for process in [&graph, &rig.process().await] {
        assert_eq!(names(process).await.into_iter().collect::<BTreeSet<_>>(), expected);
    }
    for name in all {
        let before = graph.branch(name).await.unwrap().head;
        assert_eq!(graph.delete_branch(name, plain()).await.unwrap(), before);
    }
    for process in [&graph, &rig.process().await] {
        assert_eq!(names(process).await, ["main"]);
    }
}

#[tokio::test]
async fn a_name_that_lives_in_another_spelling_is_refused_by_its_spelling() {
    let rig = Rig::new().await;
    let graph = rig.process().await;
    for (first, second) in [("Foo", "foo"), ("e\u{301}", "\u{e9}"), ("main", "Main")] {
        if first != "main" {
            graph.create_branch(first, "main", plain()).await.unwrap();
        }
        for process in [&graph, &rig.process().await] {
            let error = process.create_branch(second, "main", plain()).await.unwrap_err();
            assert_eq!((error.kind(), error.code()), (ErrorKind::AlreadyExists, "branch-exists"));
            assert!(error.to_string().contains(graph.branch(first).await.unwrap().name.as_str()), "{error}");
        }
    }
    for name in ["-qa", "..", "a/../b", "a@b", &"x".repeat(300)] {
        let error = graph.create_branch(name, "main", plain()).await.unwrap_err();
        assert_eq!((error.kind(), error.code()), (ErrorKind::Invalid, "branch-name-invalid"), "{name}");
    }
}

#[tokio::test]
async fn of_several_creators_one_wins() {
    let rig = Rig::new().await;
    let creators = (0..8).map(|number| {
        let rig = &rig;
        let name = if number % 2 == 0 { "Foo" } else { "foo" };
        async move { rig.process().await.create_branch(name, "main", plain()).await }
    });
    let created = futures::future::join_all(creators).await;
    assert_eq!(created.iter().filter(|created| created.is_ok()).count(), 1);
    assert!(created.iter().filter_map(|created| created.as_ref().err()).all(|error| error.code() == "branch-exists"));
}

#[tokio::test]
async fn a_name_that_is_used_again_goes_on_in_the_same_log() {
    let rig = Rig::new().await;
    let (ours, theirs) = (rig.process().await, rig.process().await);
    let first = ours.create_branch("f", "main", plain()).await.unwrap().head;
    ours.delete_branch("f", plain()).await.unwrap();
    let second = theirs.create_branch("f", "main", plain()).await.unwrap().head;
    assert_eq!(second.seq, Seq(2));
    assert_ne!(second.incarnation, first.incarnation);
    assert!(second.time > first.time);
    let again = theirs.create_branch("g", "f@0", plain()).await.unwrap().head;
    assert_eq!(
        (again.parents[0].seq, again.parents[0].incarnation),
        (Seq(0), first.incarnation),
        "its former life can be forked"
    );
}

#[tokio::test]
async fn main_is_permanent_and_what_was_not_seen_is_not_deleted() {
    let rig = Rig::new().await;
    let (ours, theirs) = (rig.process().await, rig.process().await);
    assert_eq!(ours.delete_branch("MAIN", plain()).await.unwrap_err().code(), "main-is-permanent");
    assert_eq!(ours.delete_branch("f", plain()).await.unwrap_err().code(), "branch-not-found");
    ours.create_branch("f", "main", plain()).await.unwrap();
    let hold = rig.faults.hold(When::kind(RequestKind::Create).path("branches/f/"));
    let delete = tokio::spawn({
        let ours = ours.clone();
        async move { ours.delete_branch("f", plain()).await }
    });
    hold.reached().await;
    Set::table(1).publish(&theirs, "f").await.unwrap();
    hold.release();
    let error = delete.await.unwrap().unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Contention, "head-moved"));
    assert_eq!(ours.delete_branch("f", if_head("f@0")).await.unwrap_err().code(), "head-moved");
    assert_eq!(ours.delete_branch("f", if_head("f@1")).await.unwrap().seq, Seq(1));
    assert_eq!(ours.delete_branch("f", plain()).await.unwrap_err().code(), "branch-deleted");
}

#[tokio::test]
async fn creating_or_deleting_twice_by_one_request_id_happens_once() {
    let rig = Rig::new().await;
    let graph = rig.process().await;
    let made = graph.create_branch("f", "main", request("c")).await.unwrap();
    assert_eq!(graph.create_branch("f", "main", request("c")).await.unwrap(), made);
    let deleted = graph.delete_branch("f", request("d")).await.unwrap();
    assert_eq!(rig.process().await.delete_branch("f", request("d")).await.unwrap(), deleted);
    graph.create_branch("f", "main", plain()).await.unwrap();
    assert_eq!(
        graph.delete_branch("f", request("d")).await.unwrap(),
        deleted,
        "the new branch is not deleted by a late repeat"
    );
    assert!(graph.branch("f").await.is_ok());
}

#[tokio::test]
async fn a_lost_response_to_a_creation_is_recognised() {
    let rig = Rig::new().await;
    let graph = rig.process().await;
    rig.faults.add(When::kind(RequestKind::Create).path("branches/f/").once(), Fault::FailAfter);
    let made = graph.create_branch("f", "main", plain()).await.unwrap();
    assert_eq!(rig.process().await.branch("f").await.unwrap(), made);
}

#[tokio::test]
async fn a_branch_is_created_only_from_the_head_that_was_named() {
    let rig = Rig::new().await;
    let graph = rig.process().await;
    Set::table(1).publish(&graph, "main").await.unwrap();
    assert_eq!(graph.create_branch("f", "main", if_head("main@0")).await.unwrap_err().code(), "head-moved");
    assert!(graph.create_branch("f", "main", if_head("main@1")).await.is_ok());
}

#[tokio::test]
async fn the_log_leads_from_a_branch_into_the_one_it_was_forked_from() {
    let rig = Rig::new().await;
    let graph = rig.process().await;
    for _ in 0..40 {
        Set::table(1).publish(&graph, "main").await.unwrap();
    }
    graph.create_branch("f", "main@30", plain()).await.unwrap();
    for _ in 0..20 {
        Set::table(2).publish(&graph, "f").await.unwrap();
    }
    for process in [&graph, &rig.process().await] {
        let log: Vec<_> = process.log("f", 1000).await.unwrap().iter().map(|c| (c.branch.clone(), c.seq.0)).collect();
        let expected: Vec<_> = (0..=20)
            .rev()
            .map(|seq| ("f".to_owned(), seq))
            .chain((0..=30).rev().map(|seq| ("main".to_owned(), seq)))
            .collect();
        assert_eq!(log, expected);
        for limit in [0, 1, 5, 21, 22, 51] {
            assert_eq!(process.log("f", limit).await.unwrap().len(), limit);
        }
        assert_eq!(process.log("f@3", 2).await.unwrap()[1].seq, Seq(2));
    }
}

#[tokio::test]
async fn forks_of_forks_outgrow_a_record_without_forgetting_anything() {
    let rig = Rig::new().await;
    let graph = rig.process().await;
    let mut source = "main".to_owned();
    let mut lives = BTreeSet::new();
    for number in 0..2 * MAX_INLINE + 20 {
        lives.insert(graph.branch(&source).await.unwrap().head.incarnation);
        let name = format!("fork-{number}");
        graph.create_branch(&name, &source, plain()).await.unwrap();
        source = name;
    }
    let cold = rig.process().await;
    let record = cold.core().snapshot(&source).await.unwrap().record;
    assert!(record.lineage.recent().len() <= MAX_INLINE && !record.lineage.chunks().is_empty());
    let chunks =
        cold.core().read_chunks(record.lineage.chunks().iter().map(|chunk| chunk.hash).collect()).await.unwrap();
    assert_eq!(record.lineage.contents(&chunks).unwrap().into_keys().collect::<BTreeSet<_>>(), lives);
}

#[tokio::test]
async fn creating_a_branch_takes_two_rounds_warm_and_three_cold() {
    let rig = Rig::new().await;
    let graph = rig.warm().await;
    for _ in 0..100 {
        Set::table(1).publish(&graph, "main").await.unwrap();
    }
    rig.faults.delay_all(Duration::from_millis(3));
    let _ = graph.take_io();
    graph.create_branch("warm", "main", plain()).await.unwrap();
    let io = graph.take_io();
    assert_eq!(io.serial_depth, 2, "{io:?}");
    let cold = rig.process().await;
    cold.create_branch("cold", "main", plain()).await.unwrap();
    let io = cold.take_io();
    assert_eq!(io.serial_depth, 3, "opening the graph included: {io:?}");
    let _ = graph.take_io();
    graph.delete_branch("warm", plain()).await.unwrap();
    assert_eq!(graph.take_io().serial_depth, 2);
}

#[tokio::test]
async fn operations_keep_their_budget_of_rounds() {
    let rig = Rig::new().await;
    let writer = rig.warm().await;
    for _ in 0..30 {
        Set::table(1).publish(&writer, "main").await.unwrap();
    }
    for name in ["f", "g", "h"] {
        writer.create_branch(name, "main", plain()).await.unwrap();
    }
    rig.faults.delay_all(Duration::from_millis(3));
    let ours = rig.warm().await;
    let _ = ours.take_io();
    let rounds = |graph: &Graph| graph.take_io().serial_depth;
    ours.show("main").await.unwrap();
    assert_eq!(rounds(&ours), 1, "a head");
    ours.show("main@7").await.unwrap();
    assert_eq!(rounds(&ours), 1, "a position");
    ours.branches().await.unwrap();
    let _ = ours.take_io();
    ours.branches().await.unwrap();
    assert_eq!(rounds(&ours), 2, "all branches");
    Set::table(1).publish(&ours, "main").await.unwrap();
    assert_eq!(rounds(&ours), 2, "a publish without staging: the look at the head, the put");
    writer.show("main").await.unwrap();
    let _ = writer.take_io();
    Set::table(1).publish(&ours, "main").await.unwrap();
    writer.show("main").await.unwrap();
    assert_eq!(rounds(&writer), 2, "a head that one record replaced");
    for _ in 0..5 {
        Set::table(1).publish(&ours, "main").await.unwrap();
    }
    writer.show("main").await.unwrap();
    assert_eq!(rounds(&writer), 3, "a head that several records replaced");
    for (budget, what, reference) in [(3, "a head, cold", "main"), (4, "a position, cold", "main@7")] {
        let cold = rig.process().await;
        cold.show(reference).await.unwrap();
        assert_eq!(rounds(&cold), budget, "{what}");
    }
    let cold = rig.process().await;
    cold.branches().await.unwrap();
    assert_eq!(rounds(&cold), 4, "all branches, cold");
    let cold = rig.process().await;
    cold.delete_branch("f", plain()).await.unwrap();
    assert_eq!(rounds(&cold), 4, "deleting a branch, cold");
}

#[tokio::test]
async fn branches_side_by_side_live_in_a_local_folder() {
    let folder = tempfile::tempdir().unwrap();
    let uri = folder.path().join("graph").display().to_string();
    assert_eq!(Graph::open(&uri).await.unwrap_err().code(), "graph-not-found");
    let store = Store::open(&uri, &StoreOptions::default()).await.unwrap();
    let graph = Graph::builder().found(store, Catalog::default(), InitOptions::default()).await.unwrap();
    let all = ["a", "a/b", "a/ffffffffffffffff.json", "A/B/c", "é"];
    for name in all {
        graph.create_branch(name, "main", plain()).await.unwrap();
        for _ in 0..3 {
            Set::table(1).publish(&graph, name).await.unwrap();
        }
    }
    let other = Graph::open(&uri).await.unwrap();
    for name in all {
        assert_eq!(other.show(name).await.unwrap(), graph.show(name).await.unwrap());
        assert_eq!(other.show(name).await.unwrap().seq, Seq(3));
    }
    assert_eq!(names(&other).await.len(), all.len() + 1);
    assert_eq!(other.create_branch("E\u{301}", "main", plain()).await.unwrap_err().code(), "branch-exists");
    for name in all {
        other.delete_branch(name, plain()).await.unwrap();
    }
    assert_eq!(names(&graph).await, ["main"]);
}

#[tokio::test]
async fn a_deletion_sent_by_two_processes_is_one_and_both_are_told_so() {
    let rig = Rig::new().await;
    let (ours, theirs) = (rig.process().await, rig.process().await);
    let made = ours.create_branch("f", "main", plain()).await.unwrap();
    for created_again in [false, true] {
        let before = ours.branch("f").await.unwrap().head;
        let id = format!("d{created_again}");
        let hold = rig.faults.hold(When::kind(RequestKind::Create).path("branches/f/"));
        let asked = (ours.clone(), id.clone());
        let slow = tokio::spawn(async move { asked.0.delete_branch("f", request(&asked.1)).await });
        hold.reached().await;
        assert_eq!(theirs.delete_branch("f", request(&id)).await.unwrap(), before);
        if created_again {
            theirs.create_branch("f", "main", plain()).await.unwrap();
        }
        hold.release();
        assert_eq!(slow.await.unwrap().unwrap(), before, "it is why the branch does not live");
        if !created_again {
            theirs.create_branch("f", "main", plain()).await.unwrap();
        }
        assert_ne!(theirs.branch("f").await.unwrap(), made, "the new branch is not deleted by it");
    }
    // Another's deletion is not ours.
    let hold = rig.faults.hold(When::kind(RequestKind::Create).path("branches/f/"));
    let asked = ours.clone();
    let slow = tokio::spawn(async move { asked.delete_branch("f", request("ours")).await });
    hold.reached().await;
    theirs.delete_branch("f", request("theirs")).await.unwrap();
    hold.release();
    assert_eq!(slow.await.unwrap().unwrap_err().code(), "branch-deleted");
}

#[tokio::test]
async fn a_request_id_is_of_one_request_and_not_of_another_sort() {
    let rig = Rig::new().await;
    let graph = rig.process().await;
    graph.create_branch("f", "main", request("create")).await.unwrap();
    Set::table(1).publish_as(&graph, "f", &request("write")).await.unwrap();
    for (id, sort) in [("create", "create at `f@0`"), ("write", "write at `f@1`")] {
        let error = graph.delete_branch("f", request(id)).await.unwrap_err();
        assert_eq!((error.kind(), error.code()), (ErrorKind::Invalid, "request-id-reused"));
        assert_eq!(error.to_string(), format!("this request id was used for a {sort}"));
        assert!(!error.is_retryable() && error.hint().is_some());
    }
    let reused = Set::table(1).publish_as(&graph, "f", &request("create")).await.unwrap_err();
    assert_eq!(reused.code(), "request-id-reused");
    assert_eq!(graph.branch("f").await.unwrap().head.seq, Seq(1), "it lives, and nothing happened to it");
    graph.delete_branch("f", request("delete")).await.unwrap();
    for id in ["delete", "write"] {
        let error = graph.create_branch("f", "main", request(id)).await.unwrap_err();
        assert_eq!(error.code(), "request-id-reused", "{id}");
    }
    assert_eq!(graph.branch("f").await.unwrap_err().code(), "branch-deleted");
}

#[tokio::test]
async fn a_store_that_overwrites_is_noticed_by_whoever_creates_or_deletes_a_branch() {
    // The record after the head that was seen follows another one by the time it is met.
    let replaced = |rig: &Rig| {
        let (faults, clock) = (rig.faults.clone(), rig.clock.clone());
        async move |seq: u64| {
            let objects = faults;
            let path = Path::from(format!("branches/f/{:016x}.json", u64::MAX - seq));
            let bytes = objects.get(&path).await.unwrap().bytes().await.unwrap();
            let mut record = crate::record::Record::decode(&bytes, "f").unwrap();
            record.commit = crate::ids::CommitId::new(clock.ulid());
            objects.put(&path, record.encode().unwrap().into()).await.unwrap();
        }
    };
    for delete in [true, false] {
        let rig = Rig::new().await;
        let (ours, theirs) = (rig.process().await, rig.process().await);
        theirs.create_branch("f", "main", plain()).await.unwrap();
        let mut seen = 0;
        if !delete {
            theirs.delete_branch("f", plain()).await.unwrap();
            seen = 1;
        }
        let hold = rig.faults.hold(When::kind(RequestKind::Create).path("branches/f/"));
        let asked = ours.clone();
        let slow = tokio::spawn(async move {
            if delete {
                asked.delete_branch("f", plain()).await.map(drop)
            } else {
                asked.create_branch("f", "main", plain()).await.map(drop)
            }
        });
        hold.reached().await;
        replaced(&rig)(seen).await;
        let other = rig.process().await;
        if delete {
            Set::table(1).publish(&other, "f").await.unwrap();
        } else {
            other.create_branch("f", "main", plain()).await.unwrap();
        }
        hold.release();
        let error = slow.await.unwrap().unwrap_err();
        assert_eq!((error.kind(), error.code()), (ErrorKind::Data, "record-replaced"), "delete: {delete}");
    }
}
