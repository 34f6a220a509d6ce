//! Merges of rows of one table beside other work, in one process and in several. Nothing is timed: requests are held at the store.
//!
//! On one thread and a store in memory, whoever is let run again and again has either come to its end or waits for something.

use kit::graphs::{assert_whole, by_kit, export};
use kit::world::World;
use pleach::store::{Fault, Hold, RequestKind, When};
use pleach::{Error, Graph, MergeOptions, MergeOutcome, MergeReport, Write};
use tokio::task::JoinHandle;

use super::rows::{SCHEMA, p};
use super::{branch, conflicts, merge, put, rows, try_merge, write};

type Merging = JoinHandle<Result<MergeReport, Error>>;

/// Rows 1 to 9 on `main`, and `branches` that begin there.
async fn graph_with(world: &World, branches: &[&str]) -> Graph {
    let graph = world.init(SCHEMA).await;
    put(&graph, "main", (1..=9).map(|id| p(id, r#""a":"old","b":"old""#))).await;
    for name in branches {
        branch(&graph, name, "main").await;
    }
    graph
}

/// A row with its first property changed, or its second: of one row the two come together, written anew.
fn first(id: i64, value: &str) -> String {
    p(id, &format!(r#""a":"{value}","b":"old""#))
}

fn second(id: i64, value: &str) -> String {
    p(id, &format!(r#""a":"old","b":"{value}""#))
}

fn both(id: i64, a: &str, b: &str) -> String {
    p(id, &format!(r#""a":"{a}","b":"{b}""#))
}

fn start(graph: &Graph, source: &'static str, into: &'static str) -> Merging {
    let graph = graph.clone();
    tokio::spawn(async move { try_merge(&graph, source, into).await })
}

/// Starts a merge and waits until all is staged and its record is on its way to the store, where it is held.
async fn held(world: &World, graph: &Graph, source: &'static str, into: &'static str) -> (Hold, Merging) {
    let hold = world.faults.hold(When::kind(RequestKind::Create).path(&format!("branches/{into}/")));
    let merging = start(graph, source, into);
    hold.reached().await;
    (hold, merging)
}

/// Lets everything run that can.
async fn settle() {
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn merges_of_rows_into_different_targets_overlap_be_it_from_one_source_or_several() {
    let world = World::new();
    let graph = graph_with(&world, &["f", "g", "s", "t", "u"]).await;
    put(&graph, "f", [first(1, "f"), first(2, "f")]).await;
    put(&graph, "g", [first(1, "g"), first(3, "g")]).await;
    for target in ["s", "t", "u"] {
        put(&graph, target, [second(1, target), second(9, target)]).await;
    }
    let mut all = Vec::new();
    for (source, into) in [("f", "s"), ("f", "t"), ("g", "u")] {
        // Each reaches its put while those before are held at theirs.
        all.push(held(&world, &graph, source, into).await);
    }
    for (hold, merging) in all {
        hold.release();
        assert_eq!(merging.await.unwrap().unwrap().tables["P"].rewritten, 1);
    }
    for (target, source) in [("s", "f"), ("t", "f"), ("u", "g")] {
        assert_eq!(rows(&graph, target, r#""id":1,"#).await, [both(1, source, target)]);
        assert_eq!(rows(&graph, target, r#""id":9,"#).await, [second(9, target)]);
        assert_eq!(rows(&graph, target, &format!(r#""a":"{source}""#)).await.len(), 2);
    }
    assert_whole(&world.open().await).await;
}

/// Row 1 takes something from each of three sides, whichever comes first.
#[tokio::test]
async fn merges_of_rows_into_one_target_come_one_upon_the_other() {
    for other_process in [false, true] {
        let world = World::new();
        let graph = graph_with(&world, &["f", "g", "t"]).await;
        put(&graph, "f", [first(1, "f"), first(2, "f")]).await;
        put(&graph, "g", [second(1, "g"), first(3, "g")]).await;
        put(&graph, "t", [p(1, r#""a":"old","b":"old","top":7"#), second(9, "t")]).await;
        let (hold, one) = held(&world, &graph, "f", "t").await;
        let handle = if other_process { world.open().await } else { graph.clone() };
        let other = start(&handle, "g", "t");
        settle().await;
        assert!(!one.is_finished());
        hold.release();
        let mut commits = Vec::new();
        for merging in [one, other] {
            let report = merging.await.unwrap().unwrap();
            assert_eq!(report.outcome, MergeOutcome::Merged);
            commits.push(report.commit.unwrap());
        }
        commits.sort_by_key(|commit| commit.seq.0);
        assert_eq!(commits[1].seq.0, commits[0].seq.0 + 1);
        assert_eq!(commits[1].parents[0].id, commits[0].id, "it is on top of the earlier");
        let seen = world.open().await;
        assert_eq!(rows(&seen, "t", r#""id":1,"#).await, [p(1, r#""a":"f","b":"g","top":7"#)]);
        assert_eq!(rows(&seen, "t", r#""id":2,"#).await, [first(2, "f")]);
        assert_eq!(rows(&seen, "t", r#""id":3,"#).await, [first(3, "g")]);
        assert_eq!(rows(&seen, "t", r#""id":9,"#).await, [second(9, "t")]);
        assert_whole(&seen).await;
    }
}

/// What comes first to the same row of the target is judged anew: it is merged, or a conflict now.
#[tokio::test]
async fn a_write_to_the_same_row_that_came_first_is_judged() {
    for agrees in [true, false] {
        let world = World::new();
        let graph = graph_with(&world, &["f"]).await;
        let other = world.open().await;
        put(&graph, "f", [first(1, "f"), first(2, "f")]).await;
        put(&graph, "main", [second(9, "main")]).await;
        let (hold, merging) = held(&world, &graph, "f", "main").await;
        let came_first = if agrees { second(1, "first") } else { first(1, "first") };
        let head = put(&other, "main", [came_first.clone()]).await;
        hold.release();
        let outcome = merging.await.unwrap();
        if agrees {
            let report = outcome.unwrap();
            assert_eq!(report.commit.unwrap().parents[0].id, head.id);
            assert_eq!(report.tables["P"].rewritten, 1);
            assert_eq!(rows(&other, "main", r#""id":1,"#).await, [both(1, "f", "first")]);
        } else {
            let expected = ("merge-conflicts", vec!["both-changed: P 1 a".to_owned()]);
            assert_eq!(conflicts(&outcome.unwrap_err()), expected);
            assert_eq!(graph.show("main").await.unwrap().id, head.id);
            assert_eq!(rows(&other, "main", r#""id":1,"#).await, [came_first]);
        }
        assert_whole(&world.open().await).await;
    }
}

/// Rows that came first to where the source deletes or inserts.
#[tokio::test]
async fn a_row_that_came_and_a_row_that_went_first_are_judged() {
    let world = World::new();
    let graph = graph_with(&world, &["f"]).await;
    let other = world.open().await;
    write(&graph, "f", Write::new().delete("P", ["1"]).delete("P", ["2"]).insert_json(first(20, "f"))).await;
    put(&graph, "main", [second(9, "main")]).await;
    let (hold, merging) = held(&world, &graph, "f", "main").await;
    let came_first = Write::new().upsert_json(first(1, "first")).delete("P", ["2"]).insert_json(first(20, "first"));
    let head = write(&other, "main", came_first).await;
    hold.release();
    let expected = ["changed-and-deleted: P 1", "both-added: P 20 a"].map(str::to_owned).to_vec();
    assert_eq!(conflicts(&merging.await.unwrap().unwrap_err()).1, expected);
    assert_eq!(graph.show("main").await.unwrap().id, head.id);
    assert_whole(&world.open().await).await;
}

/// A merge that has rows to adopt, to remove, and to write anew, before its first request.
async fn unmerged() -> World {
    let world = World::new();
    let graph = graph_with(&world, &["f"]).await;
    let theirs = Write::new().upsert_json(first(1, "f")).upsert_json(first(2, "f")).delete("P", ["3"]);
    write(&graph, "f", theirs.insert_json(first(20, "f"))).await;
    put(&graph, "main", [second(1, "main"), second(9, "main")]).await;
    world
}

/// The caller goes away at each request of the merge in turn.
#[tokio::test]
async fn a_merge_that_is_let_go_of_at_any_request_is_there_whole_or_not_at_all() {
    let prepared = unmerged().await;
    let before = export(&prepared.open().await, "main").await;
    let mut held_at = 0;
    loop {
        let world = prepared.fork();
        let (graph, other) = (world.open().await, world.open().await);
        let hold = world.faults.hold(When::any().skip(held_at));
        let mut merging = start(&graph, "f", "main");
        tokio::select! {
            () = hold.reached() => {}
            done = &mut merging => {
                done.unwrap().unwrap();
                break;
            }
        }
        merging.abort();
        let aborted = merging.await.is_err_and(|error| error.is_cancelled());
        assert!(aborted, "request {held_at}");
        settle().await;
        hold.release();
        world.faults.clear();
        let seen = export(&other, "main").await;
        // Whichever of the two comes first, the other finds nothing left to do.
        merge(&graph, "f", "main").await;
        let after = export(&other, "main").await;
        assert!(seen == before || seen == after, "request {held_at}: {seen}");
        assert_eq!(rows(&other, "main", r#""id":1,"#).await, [both(1, "f", "main")]);
        assert_eq!(after.lines().count(), 9, "request {held_at}: {after}");
        put(&graph, "main", [first(5, "after")]).await;
        assert_eq!(merge(&graph, "f", "main").await.outcome, MergeOutcome::UpToDate);
        assert_whole(&world.open().await).await;
        held_at += 1;
    }
    assert!(held_at > 10, "a merge of rows has more than {held_at} requests");
}

#[tokio::test]
async fn a_target_that_was_created_again_after_the_rows_were_staged_keeps_only_its_own() {
    let world = World::new();
    let graph = graph_with(&world, &["f", "t"]).await;
    let other = world.open().await;
    put(&graph, "f", [first(1, "f"), first(2, "f")]).await;
    put(&graph, "t", [second(1, "old life"), second(9, "old life")]).await;
    let (hold, merging) = held(&world, &graph, "f", "t").await;
    other.delete_branch("t", by_kit()).await.unwrap();
    branch(&other, "t", "main").await;
    let head = put(&other, "t", [second(1, "new life"), second(8, "new life")]).await;
    let own = export(&other, "t").await;
    hold.release();
    assert_eq!(merging.await.unwrap().unwrap_err().code(), "branch-recreated");
    for seen in [&graph, &world.open().await] {
        assert_eq!(export(seen, "t").await, own);
        assert_eq!(seen.show("t").await.unwrap().id, head.id);
    }
    merge(&graph, "f", "t").await;
    assert_eq!(rows(&graph, "t", r#""id":1,"#).await, [both(1, "f", "new life")]);
    assert!(rows(&graph, "t", "old life").await.is_empty());
    assert_whole(&world.open().await).await;
}

#[tokio::test]
async fn a_merge_that_fails_beside_another_moves_nothing_and_is_tried_again_on_the_same_handle() {
    let world = World::new();
    let graph = graph_with(&world, &["f", "t", "u"]).await;
    put(&graph, "f", [first(1, "f"), first(2, "f")]).await;
    for target in ["t", "u"] {
        put(&graph, target, [second(1, target), second(9, target)]).await;
    }
    let before = (export(&graph, "u").await, graph.show("u").await.unwrap());
    let (hold, parked) = held(&world, &graph, "f", "t").await;
    world.faults.add(When::kind(RequestKind::Put).path("/data/"), Fault::FailBefore);
    let failed = try_merge(&graph, "f", "u").await.unwrap_err();
    assert!(failed.is_retryable() && world.faults.befallen() > 1, "{failed:?}");
    world.faults.clear();
    let seen = world.open().await;
    assert_eq!((export(&seen, "u").await, seen.show("u").await.unwrap()), before);
    hold.release();
    assert_eq!(parked.await.unwrap().unwrap().outcome, MergeOutcome::Merged);
    assert_eq!(merge(&graph, "f", "u").await.outcome, MergeOutcome::Merged);
    for target in ["t", "u"] {
        assert_eq!(rows(&seen, target, r#""id":1,"#).await, [both(1, "f", target)]);
        assert_eq!(rows(&seen, target, r#""id":2,"#).await, [first(2, "f")]);
    }
    assert_whole(&world.open().await).await;
}

/// A counter that eight branches have added to, merged by as many handles at once: what was added is all there.
#[tokio::test(flavor = "multi_thread")]
async fn what_branches_added_to_one_number_adds_up() {
    const BRANCHES: i64 = 8;
    const TIMES: i64 = 100;
    let world = World::new();
    let graph = world.init("CREATE NODE TABLE C (id INT64 PRIMARY KEY, n INT64 MERGE sum, m INT64);").await;
    let c = |n: i64, m: i64| format!(r#"{{"table":"C","data":{{"id":1,"n":{n},"m":{m}}}}}"#);
    put(&graph, "main", [c(0, 0)]).await;
    let merging = (0..BRANCHES).map(|number| {
        let world = &world;
        let graph = &graph;
        async move {
            let name = format!("b{number}");
            branch(graph, &name, "main@1").await;
            for n in 1..=TIMES {
                put(graph, &name, [c(n, 0)]).await;
            }
            let own = world.open().await;
            while let Err(error) =
                own.merge(&name, "main", MergeOptions { change: by_kit(), ..MergeOptions::default() }).await
            {
                assert!(error.is_retryable(), "{error:?}");
            }
        }
    });
    futures::future::join_all(merging).await;
    assert_eq!(export(&graph, "main").await, format!("{}\n", c(BRANCHES * TIMES, 0)));
    // Without a policy two that changed it alike are agreed, and two that changed it otherwise are in conflict.
    for (name, m) in [("x", 1), ("y", 2)] {
        branch(&graph, name, "main").await;
        put(&graph, name, [c(BRANCHES * TIMES, m)]).await;
    }
    merge(&graph, "x", "main").await;
    assert_eq!(conflicts(&try_merge(&graph, "y", "main").await.unwrap_err()).1, ["both-changed: C 1 m"]);
    assert_whole(&world.open().await).await;
}
