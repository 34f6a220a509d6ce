//! Many writers at once: each request takes effect once, and none is lost.

use std::collections::BTreeSet;

use futures::future::join_all;
use kit::graphs::{assert_whole, by_kit, export, run, write};
use kit::world::World;
use pleach::{ChangeOptions, ErrorKind, Graph, Params, RunReport, Write};

use super::{DDL, insert, n};

#[tokio::test(flavor = "multi_thread")]
async fn each_of_many_concurrent_writes_is_applied_exactly_once() {
    let world = World::new();
    let graph = world.init(DDL).await;
    let writers = (0..64).map(|writer| {
        let graph = graph.clone();
        tokio::spawn(async move {
            let mut places = Vec::new();
            for round in 0..50 {
                let report = write(&graph, insert(writer * 1_000 + round)).await.unwrap();
                let commit = report.commit.unwrap();
                let change = &commit.changes[report.change];
                assert_eq!(change.tables["N"].inserted, 1);
                places.push((commit.seq, report.change, change.id));
            }
            places
        })
    });
    let places: Vec<_> = join_all(writers).await.into_iter().flat_map(|done| done.unwrap()).collect();
    let different: BTreeSet<_> = places.iter().map(|(seq, change, _)| (*seq, *change)).collect();
    assert_eq!((places.len(), different.len()), (3_200, 3_200), "each is a change of its own");
    assert_eq!(places.iter().map(|(.., id)| id).collect::<BTreeSet<_>>().len(), 3_200);
    assert_eq!(export(&graph, "main").await.lines().count(), 3_200);
    let stats = graph.stats();
    assert_eq!((stats.lanes.requests, stats.lanes.waiting, stats.fullness.writes.now), (3_200, 0, 0), "{stats:?}");
    assert!(stats.lanes.largest_batch > 8 && stats.lanes.batches < 1_000, "{stats:?}");
    let head = graph.show("main").await.unwrap();
    assert!(head.seq.0 < 1_000, "{}", head.seq);
    assert_whole(&world.open().await).await;
}

/// Increments, and again where others were first for too long, as on a machine that is busy otherwise.
async fn increment(graph: &Graph) -> RunReport {
    loop {
        match run(graph, "MATCH (n:N {id: 1}) SET n.v = n.v + 1").await {
            Ok(report) => return report,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Contention, "{error}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn increments_of_several_processes_add_up() {
    let world = World::new();
    write(&world.init(DDL).await, Write::new().insert_json(n(1, 0))).await.unwrap();
    let each = std::env::var("PLEACH_LANE_INCREMENTS").ok().and_then(|each| each.parse().ok()).unwrap_or(16);
    let mut processes = Vec::new();
    for _ in 0..8 {
        let graph = world.open().await;
        processes.push(tokio::spawn(async move {
            // Some one after another, some at once.
            for _ in 0..each / 2 {
                let (one, other) = tokio::join!(increment(&graph), increment(&graph));
                assert!(one.commit.is_some() && other.commit.is_some());
            }
        }));
    }
    join_all(processes).await.into_iter().for_each(|done| done.unwrap());
    let graph = world.open().await;
    let expected = format!(r#"{{"table":"N","data":{{"id":1,"v":{}}}}}"#, 8 * (each / 2 * 2));
    assert_eq!(export(&graph, "main").await.trim(), expected);
    assert_whole(&graph).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn writers_of_two_processes_share_commits_and_lose_nothing() {
    let world = World::new();
    world.init(DDL).await;
    let mut tasks = Vec::new();
    for process in 0..2 {
        let graph = world.open().await;
        for writer in 0..16 {
            let graph = graph.clone();
            tasks.push(tokio::spawn(async move {
                for round in 0..10 {
                    let id = process * 100_000 + writer * 100 + round;
                    let options = ChangeOptions { request_id: Some(id.to_string()), ..by_kit() };
                    let row = format!("CREATE (:N {{id: {id}, v: {round}}})");
                    let report = graph.run("main", &row, Params::new(), options).await.unwrap();
                    assert_eq!(report.commit.unwrap().changes[report.change].request_id, Some(id.to_string()));
                }
            }));
        }
    }
    join_all(tasks).await.into_iter().for_each(|done| done.unwrap());
    let graph = world.open().await;
    assert_eq!(export(&graph, "main").await.lines().count(), 320);
    assert_whole(&graph).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_upserts_of_one_key_in_one_process_leave_one_row() {
    let world = World::new();
    let graph = world.init(DDL).await;
    for round in 0..40 {
        let upsert = |v: i64| write(&graph, Write::new().upsert_json(n(round, v)));
        let (a, b) = tokio::join!(upsert(1), upsert(2));
        let (a, b) = (a.unwrap().tables["N"], b.unwrap().tables["N"]);
        assert_eq!((a.inserted + b.inserted, a.updated + b.updated), (1, 1), "round {round}: {a:?} {b:?}");
    }
    assert_eq!(export(&graph, "main").await.lines().count(), 40);
    assert_whole(&graph).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn counters_of_branches_are_counted_by_each_and_added_by_merges() {
    let ddl = "CREATE NODE TABLE C (id INT64 PRIMARY KEY, n INT64 MERGE sum);";
    let world = World::new();
    let graph = world.init(ddl).await;
    run(&graph, "CREATE (:C {id: 1, n: 0})").await.unwrap();
    let increment = "MATCH (c:C {id: 1}) SET c.n = c.n + 1";
    let branches = (0..4).map(|branch| {
        let graph: Graph = graph.clone();
        tokio::spawn(async move {
            let name = format!("b{branch}");
            graph.create_branch(&name, "main", by_kit()).await.unwrap();
            let writers = (0..5).map(|_| async {
                for _ in 0..5 {
                    graph.run(&name, increment, Params::new(), by_kit()).await.unwrap();
                }
            });
            join_all(writers).await;
            name
        })
    });
    for name in join_all(branches).await {
        graph.merge(&name.unwrap(), "main", pleach::MergeOptions::default()).await.unwrap();
    }
    assert_eq!(export(&graph, "main").await.trim(), r#"{"table":"C","data":{"id":1,"n":100}}"#);
    assert_whole(&graph).await;
}
