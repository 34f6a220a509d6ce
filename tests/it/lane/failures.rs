//! Batches that fail or break at any step: what each caller is told, and that nothing is lost or done twice.

use futures::future::join_all;
use kit::graphs::{assert_whole, by_kit, export, run, write};
use kit::world::World;
use pleach::store::{Fault, RequestKind, When};
use pleach::{ChangeOptions, Error, ErrorKind, Graph, Params, Write, WriteReport};

use super::{DDL, Task, insert, n, put_of_a_record, start_together, together, writing};

fn asked(graph: &Graph, id: i64) -> Task<Result<WriteReport, Error>> {
    let (graph, options) = (graph.clone(), ChangeOptions { request_id: Some(format!("r{id}")), ..by_kit() });
    Box::pin(async move { graph.write("main", insert(id), options).await })
}

async fn rows(graph: &Graph) -> usize {
    export(graph, "main").await.lines().filter(|line| line.contains("\"N\"")).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_that_breaks_says_to_each_caller_whether_it_may_have_been_published() {
    let steps = [
        ("lane-batch", ErrorKind::Internal, 0),
        ("lane-drafted", ErrorKind::Internal, 0),
        ("lane-judged", ErrorKind::Internal, 0),
        ("lane-staged", ErrorKind::Internal, 0),
        ("publish-before-barrier", ErrorKind::Internal, 0),
        ("publish-before-put", ErrorKind::Internal, 0),
        ("publish-after-put", ErrorKind::OutcomeUnknown, 4),
        ("publish-landed", ErrorKind::OutcomeUnknown, 4),
        ("lane-told", ErrorKind::OutcomeUnknown, 4),
    ];
    for (step, kind, published) in steps {
        let world = World::new();
        let graph = world.init(DDL).await;
        let tasks = (0..4).map(|id| asked(&graph, id)).collect();
        // The first batch, which the others wait for, passes the step before it is set, or passes it once.
        let passed_before = !matches!(step, "publish-after-put" | "publish-landed" | "lane-told");
        fail::cfg(step, if passed_before { "off" } else { "1*off->panic" }).unwrap();
        let started = {
            if passed_before {
                let held = world.faults.hold(put_of_a_record().once());
                let first =
                    tokio::spawn(writing(&graph, Write::new().insert_json(r#"{"table":"Before","data":{"id":9}}"#)));
                held.reached().await;
                let tasks: Vec<Task<_>> = tasks;
                let mut started = Vec::new();
                for task in tasks {
                    let waiting = graph.stats().lanes.waiting;
                    started.push(tokio::spawn(task));
                    while graph.stats().lanes.waiting == waiting {
                        tokio::task::yield_now().await;
                    }
                }
                fail::cfg(step, "1*panic").unwrap();
                held.release();
                first.await.unwrap().unwrap();
                started
            } else {
                start_together(&world, &graph, tasks).await
            }
        };
        for (id, outcome) in join_all(started).await.into_iter().enumerate() {
            let error = outcome.unwrap().unwrap_err();
            assert_eq!(error.kind(), kind, "{step}: {error}");
            let own = error.hint().unwrap_or_default().contains(&format!("`r{id}`"));
            assert_eq!(own, kind == ErrorKind::OutcomeUnknown, "{step}: {:?}", error.hint());
        }
        fail::remove(step);
        assert_eq!(rows(&graph).await, published, "{step}");
        // Sent again, each takes effect once; the lane serves on.
        for outcome in join_all((0..4).map(|id| asked(&graph, id))).await {
            assert_eq!(outcome.unwrap().repeated, published > 0, "{step}");
        }
        assert_eq!(rows(&graph).await, 4, "{step}");
        assert_eq!(graph.stats().fullness.writes.now, 0, "{step}");
        assert_whole(&world.open().await).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn when_nobody_knows_each_caller_is_told_so_and_asks_again_by_its_own_id() {
    for lands in [false, true] {
        let world = World::new();
        let graph = world.init(DDL).await;
        write(&graph, insert(100)).await.unwrap();
        let held = world.faults.hold(put_of_a_record().once());
        let first = tokio::spawn(writing(&graph, insert(101)));
        held.reached().await;
        let mut tasks: Vec<_> = (0..3).map(|id| tokio::spawn(asked(&graph, id))).collect();
        tasks.push(tokio::spawn(writing(&graph, insert(100))));
        while graph.stats().lanes.waiting < 4 {
            tokio::task::yield_now().await;
        }
        let fault = if lands { Fault::FailAfter } else { Fault::FailBefore };
        world.faults.add(put_of_a_record(), fault);
        // The look at what stands there fails as well: not that of the next position, which confirms what was refused.
        world.faults.add(When::kind(RequestKind::Get).path("fffffffffffffffc"), Fault::FailBefore);
        held.release();
        first.await.unwrap().unwrap();
        let mut outcomes = join_all(tasks).await.into_iter().map(Result::unwrap).collect::<Vec<_>>();
        let refused = outcomes.pop().unwrap().unwrap_err();
        world.faults.clear();
        for (id, outcome) in outcomes.into_iter().enumerate() {
            let error = outcome.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::OutcomeUnknown, "{error}");
            assert!(error.is_retryable() && error.hint().unwrap().contains(&format!("`r{id}`")), "{error:?}");
        }
        // Its own outcome could not be confirmed either, but nothing of it was sent.
        assert!(matches!(refused.kind(), ErrorKind::Unavailable | ErrorKind::Invalid), "{refused}");
        for outcome in join_all((0..3).map(|id| asked(&graph, id))).await {
            assert_eq!(outcome.unwrap().repeated, lands);
        }
        assert_eq!(rows(&graph).await, 5);
        assert_whole(&world.open().await).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_that_cannot_be_staged_fails_and_lets_the_next_go_on() {
    let world = World::new();
    let graph = world.init(DDL).await;
    let held = world.faults.hold(put_of_a_record().once());
    let first = tokio::spawn(writing(&graph, insert(101)));
    held.reached().await;
    let tasks: Vec<_> = (0..3).map(|id| tokio::spawn(asked(&graph, id))).collect();
    while graph.stats().lanes.waiting < 3 {
        tokio::task::yield_now().await;
    }
    world.faults.add(When::kind(RequestKind::Put).path("tables/"), Fault::FailBefore);
    world.faults.add(When::kind(RequestKind::Create).path("tables/"), Fault::FailBefore);
    held.release();
    first.await.unwrap().unwrap();
    for outcome in join_all(tasks).await {
        assert_eq!(outcome.unwrap().unwrap_err().kind(), ErrorKind::Unavailable);
    }
    world.faults.clear();
    assert_eq!(rows(&graph).await, 1);
    join_all((0..3).map(|id| asked(&graph, id))).await.into_iter().for_each(|outcome| drop(outcome.unwrap()));
    assert_eq!(rows(&graph).await, 4);
    assert_whole(&world.open().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_that_another_process_overtakes_is_judged_anew() {
    let world = World::new();
    let (graph, other) = (world.init(DDL).await, world.open().await);
    write(&graph, Write::new().insert_json(n(1, 0)).insert_json(n(2, 0))).await.unwrap();
    let statement = |text: &'static str| {
        let graph = graph.clone();
        let task: Task<Result<String, String>> = Box::pin(async move {
            let done = graph.run("main", text, Params::new(), by_kit()).await;
            done.map(|report| report.rows.iter().flatten().map(pleach::CypherValue::to_json).collect::<String>())
                .map_err(|error| error.code().to_owned())
        });
        task
    };
    // The put of the batch is held, not that of the commit before it.
    let batch = world.faults.hold(put_of_a_record().skip(1).once());
    let between = other.clone();
    let overtake = tokio::spawn(async move {
        batch.reached().await;
        // What one of them reads, what another inserts, and what lets a third one be refused no more.
        run(&between, "MATCH (n:N {id: 1}) SET n.v = 10").await.unwrap();
        run(&between, "CREATE (:N {id: 7})").await.unwrap();
        run(&between, "MATCH (n:N {id: 2}) DELETE n").await.unwrap();
        batch.release();
    });
    let tasks = vec![
        statement("MATCH (n:N {id: 1}) SET n.v = n.v + 1 RETURN n.v"),
        statement("CREATE (n:N {id: 7}) RETURN n.id"),
        statement("CREATE (n:N {id: 2}) RETURN n.id"),
        statement("CREATE (n:N {id: 8}) RETURN n.id"),
    ];
    let done = together(&world, &graph, tasks).await;
    overtake.await.unwrap();
    let refused = || Err("changes-refused".to_owned());
    assert_eq!(done, [Ok("11".to_owned()), refused(), Ok("2".to_owned()), Ok("8".to_owned())]);
    assert_whole(&world.open().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_request_of_a_batch_fails_once_and_all_take_effect_once_when_sent_again() {
    for fault in [Fault::FailBefore, Fault::FailAfter] {
        for nth in 0.. {
            let world = World::new();
            let graph = world.init(DDL).await;
            write(&graph, insert(100)).await.unwrap();
            let held = world.faults.hold(put_of_a_record().once());
            let first = tokio::spawn(writing(&graph, insert(101)));
            held.reached().await;
            let tasks: Vec<_> = (0..3).map(|id| tokio::spawn(asked(&graph, id))).collect();
            while graph.stats().lanes.waiting < 3 {
                tokio::task::yield_now().await;
            }
            world.faults.add(When::any().skip(nth).once(), fault.clone());
            held.release();
            first.await.unwrap().unwrap();
            let failed = join_all(tasks).await.into_iter().filter(|outcome| outcome.as_ref().unwrap().is_err()).count();
            let befallen = world.faults.befallen();
            world.faults.clear();
            assert!(failed == 0 || failed == 3, "they stand and fall together: {failed} at request {nth}");
            for outcome in join_all((0..3).map(|id| asked(&graph, id))).await {
                outcome.unwrap();
            }
            assert_eq!(rows(&graph).await, 5, "request {nth}");
            assert_whole(&world.open().await).await;
            // The hold befell one.
            if befallen <= 1 {
                break;
            }
        }
    }
}
