//! Requests beyond what may go on at once: refused at once, with nothing done.

use futures::FutureExt as _;
use futures::future::{join_all, poll_immediate};
use kit::graphs::{assert_whole, by_kit, export, init_options, run};
use kit::world::World;
use pleach::store::{RequestKind, When};
use pleach::{ErrorKind, Graph, MergeOptions};

use super::{DDL, insert, n, open, put_of_a_record, writing};

#[tokio::test]
async fn one_write_too_many_is_refused_at_once_and_says_how_full_it_is() {
    let world = World::new();
    world.init(DDL).await;
    let graph = open(&world, Graph::builder().most_writes(3, 1 << 20)).await;
    let held = world.faults.hold(put_of_a_record().once());
    let mut waiting: Vec<_> = (0..3).map(|id| writing(&graph, insert(id))).collect();
    for request in &mut waiting {
        assert!(poll_immediate(request).await.is_none());
    }
    held.reached().await;
    let _ = graph.take_io();
    for request in [writing(&graph, insert(9)), writing(&graph, insert(10))] {
        let error = request.now_or_never().expect("at once").unwrap_err();
        assert_eq!((error.kind(), error.code(), error.is_retryable()), (ErrorKind::Overloaded, "overloaded", true));
        assert!(error.to_string().contains("3 of 3 writes"), "{error}");
    }
    let statement = run(&graph, "CREATE (:N {id: 9})").now_or_never().expect("at once");
    assert_eq!(statement.unwrap_err().code(), "overloaded");
    assert_eq!(graph.take_io().requests(), 0, "nothing was done");
    held.release();
    join_all(waiting).await.into_iter().for_each(|outcome| drop(outcome.unwrap()));
    writing(&graph, insert(9)).await.unwrap();
    assert_eq!(export(&graph, "main").await.lines().count(), 4);
    assert_whole(&world.open().await).await;
}

#[tokio::test]
async fn writes_are_bounded_by_their_bytes_and_one_may_be_larger() {
    let world = World::new();
    world.init(DDL).await;
    let graph = open(&world, Graph::builder().most_writes(1_000, n(1, 0).len() as u64 * 2)).await;
    let held = world.faults.hold(put_of_a_record().once());
    let mut waiting: Vec<_> = (0..2).map(|id| writing(&graph, insert(id))).collect();
    for request in &mut waiting {
        assert!(poll_immediate(request).await.is_none());
    }
    held.reached().await;
    assert_eq!(writing(&graph, insert(2)).await.unwrap_err().code(), "overloaded");
    held.release();
    join_all(waiting).await.into_iter().for_each(|outcome| drop(outcome.unwrap()));
    let large = (10..30).fold(pleach::Write::new(), |write, id| write.insert_json(n(id, 0)));
    writing(&graph, large).await.unwrap();
    assert_whole(&world.open().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn merges_beyond_the_limits_are_refused_and_those_that_wait_go_in_order() {
    let world = World::new();
    let made = Graph::builder().init_on(world.store(), DDL, init_options()).await.unwrap();
    for branch in 0..12 {
        let name = format!("b{branch}");
        made.create_branch(&name, "main", by_kit()).await.unwrap();
        made.write(&name, insert(branch), by_kit()).await.unwrap();
    }
    let graph = open(&world, Graph::builder().most_merges(1, 2)).await;
    let held = world.faults.hold(When::kind(RequestKind::Create).path("branches/main/").once());
    let merge = |branch: usize| {
        let graph = graph.clone();
        async move { graph.merge(&format!("b{branch}"), "main", MergeOptions::default()).await }.boxed()
    };
    let mut running = merge(0);
    assert!(poll_immediate(&mut running).await.is_none());
    held.reached().await;
    let mut waiting: Vec<_> = (1..3).map(merge).collect();
    for merge in &mut waiting {
        assert!(poll_immediate(merge).await.is_none());
    }
    for branch in 3..12 {
        let error = merge(branch).now_or_never().expect("at once").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Overloaded);
        assert!(error.to_string().contains("1 of 1 merges run, 2 of 2 wait"), "{error}");
    }
    held.release();
    let mut places = vec![running.await.unwrap().commit.unwrap().seq];
    for merged in join_all(waiting).await {
        places.push(merged.unwrap().commit.unwrap().seq);
    }
    assert!(places.is_sorted(), "{places:?}");
    let fullness = graph.stats().fullness;
    assert_eq!((fullness.running_merges.now, fullness.queued_merges.now), (0, 0));
    assert_eq!(export(&graph, "main").await.lines().count(), 3);
    assert_whole(&world.open().await).await;
}
