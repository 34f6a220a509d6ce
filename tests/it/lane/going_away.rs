//! Callers that go away before, while and after their requests wait; and what is left of a lane that nobody uses.

use std::time::Duration;

use futures::FutureExt as _;
use futures::future::poll_immediate;
use kit::graphs::{assert_whole, by_kit, export, write};
use kit::world::World;
use pleach::Graph;

use super::{DDL, Task, insert, put_of_a_record, writing};

/// Lets other tasks go on until `done`.
async fn until(done: impl Fn() -> bool) {
    while !done() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn who_goes_away_before_its_turn_leaves_nothing_and_later_a_whole_commit() {
    let world = World::new();
    let graph = world.init(DDL).await;
    // Before it was ever looked at.
    drop(writing(&graph, insert(1)));
    let held = world.faults.hold(put_of_a_record().once());
    let mut first = writing(&graph, insert(2));
    assert!(poll_immediate(&mut first).await.is_none());
    held.reached().await;
    // While it waits.
    let mut waiting = writing(&graph, insert(3));
    let mut stays = writing(&graph, insert(4));
    assert!(poll_immediate(&mut waiting).await.is_none() && poll_immediate(&mut stays).await.is_none());
    assert_eq!(graph.stats().lanes.waiting, 2);
    drop(waiting);
    // While it is being published.
    drop(first);
    held.release();
    let report = stays.await.unwrap();
    assert_eq!(report.commit.unwrap().changes.len(), 1, "the one that went away is not in it");
    let rows = export(&graph, "main").await;
    let ids: Vec<bool> = (1..5).map(|id| rows.contains(&format!("\"id\":{id},"))).collect();
    assert_eq!(ids, [false, true, false, true]);
    until(|| graph.stats().fullness.writes.now == 0).await;
    assert_whole(&world.open().await).await;
}

#[tokio::test]
async fn who_goes_away_wherever_it_waits_hangs_nobody() {
    // Dropped after so many polls, with the store answering in between.
    for polls in 1..40 {
        let world = World::new();
        let graph = world.init(DDL).await;
        let mut dropped = writing(&graph, insert(1));
        let beside = tokio::spawn(writing(&graph, insert(2)));
        for _ in 0..polls {
            if poll_immediate(&mut dropped).await.is_some() {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(dropped);
        beside.await.unwrap().unwrap();
        write(&graph, insert(3)).await.unwrap();
        until(|| graph.stats().fullness.writes.now == 0).await;
        let rows = export(&graph, "main").await.lines().count();
        assert!(rows == 2 || rows == 3, "{rows} after {polls} polls");
        assert_whole(&world.open().await).await;
    }
}

#[tokio::test]
async fn a_deletion_waits_for_requests_that_wait_and_then_takes_their_commits_too() {
    let world = World::new();
    let graph = world.init(DDL).await;
    graph.create_branch("f", "main", by_kit()).await.unwrap();
    let held =
        world.faults.hold(pleach::store::When::kind(pleach::store::RequestKind::Create).path("branches/f/").once());
    let writing = |id: i64| {
        let graph = graph.clone();
        let task: Task<_> = Box::pin(async move { graph.write("f", insert(id), by_kit()).await });
        task
    };
    let (mut one, mut two) = (writing(1), writing(2));
    assert!(poll_immediate(&mut one).await.is_none());
    held.reached().await;
    assert!(poll_immediate(&mut two).await.is_none());
    let mut deletion = graph.delete_branch("f", by_kit()).boxed();
    assert!(poll_immediate(&mut deletion).await.is_none());
    // It comes to the gate on a task of its own.
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    let mut late = writing(3);
    assert!(poll_immediate(&mut late).await.is_none());
    held.release();
    one.await.unwrap();
    two.await.unwrap();
    assert_eq!(deletion.await.unwrap().seq.0, 2);
    assert_eq!(late.await.unwrap_err().code(), "branch-deleted");
    assert_whole(&world.open().await).await;
}

#[test]
fn a_lane_whose_runtime_ends_is_made_anew_in_the_next() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let world = World::new();
    let first = runtime();
    let graph: Graph = first.block_on(world.init(DDL));
    let held = world.faults.hold(put_of_a_record().once());
    let (mut published, mut waits) = (writing(&graph, insert(1)), writing(&graph, insert(2)));
    first.block_on(async {
        assert!(poll_immediate(&mut published).await.is_none());
        held.reached().await;
        assert!(poll_immediate(&mut waits).await.is_none());
    });
    drop(first);
    world.faults.clear();
    let next = runtime();
    next.block_on(async {
        assert!(published.await.is_err() && waits.await.is_err());
        // What the ended runtime left half-way in the store's stack may answer late.
        write(&world.open().await, insert(3)).await.unwrap();
        assert_eq!(graph.stats().lanes.waiting, 0);
        assert_whole(&world.open().await).await;
    });
}

#[tokio::test]
async fn a_graph_that_nobody_uses_any_more_is_let_go_of() {
    let world = World::new();
    let graph = world.init(DDL).await;
    write(&graph, insert(1)).await.unwrap();
    let store = std::sync::Arc::downgrade(&world.objects());
    let users = || store.strong_count();
    let before = users();
    drop(graph);
    // The task of its lane has found its queue empty, and ends.
    for _ in 0..1_000 {
        if users() < before {
            return;
        }
        pleach::clock::Clock::system().sleep(Duration::from_millis(5)).await;
    }
    panic!("{} of {before} users are left", users());
}
