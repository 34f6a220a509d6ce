//! Which merges and deletions of one process wait for each other. Nothing is timed: requests are held at the store.
//!
//! On one thread and a store in memory, whoever is let run again and again has either come to its end or waits for something.

use kit::graphs::{assert_whole, by_kit};
use kit::world::World;
use pleach::store::{Hold, RequestKind, When};
use pleach::{Error, Graph, MergeReport};
use tokio::task::JoinHandle;

use super::{SCHEMA, branch, city, person, prepare, put, rows, try_merge};

/// A graph with branches that each have a city of their own.
async fn graph_with(world: &World, names: &[&str]) -> Graph {
    let graph = world.init(SCHEMA).await;
    prepare(&graph).await;
    for name in names {
        branch(&graph, name, "main").await;
        put(&graph, name, [city(1, name)]).await;
    }
    graph
}

/// Starts a merge and waits until its record is on its way to the store, where it is held.
async fn held_merge(
    world: &World,
    graph: &Graph,
    source: &'static str,
    into: &'static str,
) -> (Hold, JoinHandle<Result<MergeReport, Error>>) {
    let hold = world.faults.hold(When::kind(RequestKind::Create).path(&format!("branches/{into}/")));
    let graph = graph.clone();
    let merging = tokio::spawn(async move { try_merge(&graph, source, into).await });
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
async fn merges_into_different_targets_overlap_be_it_from_one_source_or_several() {
    let world = World::new();
    let graph = graph_with(&world, &["f", "g"]).await;
    for name in ["s", "t", "u"] {
        branch(&graph, name, "main").await;
    }
    let mut held = Vec::new();
    for (source, into) in [("f", "s"), ("f", "t"), ("g", "u")] {
        // Each reaches its put while those before are held at theirs.
        held.push(held_merge(&world, &graph, source, into).await);
    }
    for (hold, merging) in held {
        hold.release();
        merging.await.unwrap().unwrap();
    }
    for (target, name) in [("s", "f"), ("t", "f"), ("u", "g")] {
        assert_eq!(rows(&graph, target, name).await[0], city(1, name));
    }
    assert_whole(&graph).await;
}

#[tokio::test]
async fn deleting_a_source_or_a_target_waits_for_the_merge_and_then_succeeds() {
    for deleted in ["f", "t"] {
        let world = World::new();
        let graph = graph_with(&world, &["f", "t"]).await;
        put(&graph, "f", [person(1, "f")]).await;
        branch(&graph, "into", "main").await;
        let (source, into) = if deleted == "f" { ("f", "into") } else { ("into", "t") };
        put(&graph, "into", [super::knows(2, 3)]).await;
        let (hold, merging) = held_merge(&world, &graph, source, into).await;
        let deleting = tokio::spawn({
            let graph = graph.clone();
            async move { graph.delete_branch(deleted, by_kit()).await }
        });
        settle().await;
        assert!(!deleting.is_finished(), "{deleted} is in use");
        assert!(graph.branch(deleted).await.is_ok());
        // What has nothing to do with them goes on.
        graph.create_branch("other", "main", by_kit()).await.unwrap();
        graph.delete_branch("other", by_kit()).await.unwrap();
        hold.release();
        let commit = merging.await.unwrap().unwrap().commit.unwrap();
        let last = deleting.await.unwrap().unwrap();
        if deleted == "t" {
            assert_eq!(last.id, commit.id, "it saw what was merged");
        }
        assert_eq!(graph.branch(deleted).await.unwrap_err().code(), "branch-deleted");
        assert_whole(&graph).await;
    }
}

#[tokio::test]
async fn a_caller_that_goes_away_opens_no_gate() {
    let world = World::new();
    let graph = graph_with(&world, &["f"]).await;
    let (hold, merging) = held_merge(&world, &graph, "f", "main").await;
    merging.abort();
    settle().await;
    let deleting = tokio::spawn({
        let graph = graph.clone();
        async move { graph.delete_branch("f", by_kit()).await }
    });
    settle().await;
    assert!(!deleting.is_finished(), "the merge goes on");
    hold.release();
    deleting.await.unwrap().unwrap();
    assert_eq!(rows(&graph, "main", r#""f""#).await, [city(1, "f")]);
}
