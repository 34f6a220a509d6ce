//! Statements beside others: what they depend on, what they cost, and what becomes of those that are let go of.

use std::time::Duration;

use kit::graphs::{assert_whole, by_kit, export, run, write};
use kit::world::World;
use pleach::clock::Clock;
use pleach::store::{RequestKind, When};
use pleach::{ChangeOptions, ErrorKind, Graph, Params, Write};

const DDL: &str = "
    CREATE NODE TABLE N (id INT64 PRIMARY KEY, v INT64 DEFAULT 0);
    CREATE NODE TABLE Log (id INT64 PRIMARY KEY, text STRING);
    CREATE REL TABLE E (FROM N TO N, w INT64);
    CREATE NODE TABLE Other (id INT64 PRIMARY KEY);
";

fn other(id: i64) -> Write {
    Write::new().insert_json(format!(r#"{{"table":"Other","data":{{"id":{id}}}}}"#))
}

/// Runs `slow` on one handle and, while its record waits to be put, `between` on another.
async fn overtaken(
    world: &World,
    slow: &'static str,
    between: &str,
) -> (Result<pleach::RunReport, pleach::Error>, Graph) {
    let (one, two) = (world.open().await, world.open().await);
    let held = world.faults.hold(When::kind(RequestKind::Create).path("branches/main/"));
    let first = tokio::spawn(async move { run(&one, slow).await });
    held.reached().await;
    run(&two, between).await.unwrap();
    held.release();
    (first.await.unwrap(), two)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_is_done_anew_when_what_it_read_has_changed() {
    let cases = [
        // What it matched.
        ("MATCH (n:N {id: 1}) SET n.v = n.v + 1", "MATCH (n:N {id: 1}) SET n.v = 10", "\"v\":11"),
        // What it only read: nothing of that table is written.
        (
            "MATCH (n:N) WITH count(n) AS n CREATE (:Log {id: n, text: 'n'})",
            "CREATE (:N {id: 9})",
            r#""Log","data":{"id":3"#,
        ),
        // What it did not find.
        (
            "OPTIONAL MATCH (n:N {id: 7}) CREATE (:Log {id: coalesce(n.id, 0)})",
            "CREATE (:N {id: 7})",
            r#""Log","data":{"id":7}"#,
        ),
        // An edge between.
        (
            "MATCH (a:N)-[e:E]->(b) WITH count(e) AS n CREATE (:Log {id: n})",
            "MATCH (a:N {id: 2}), (b:N {id: 1}) CREATE (a)-[:E]->(b)",
            r#""Log","data":{"id":2}"#,
        ),
        // Anything at all.
        ("MATCH (x) WITH count(x) AS n CREATE (:Log {id: n})", "CREATE (:Other {id: 1})", r#""Log","data":{"id":3}"#),
        // What a merge found, and what it did not find.
        ("MERGE (n:N {id: 1}) ON MATCH SET n.v = n.v + 1", "MATCH (n:N {id: 1}) SET n.v = 20", "\"v\":21"),
        (
            "MERGE (n:N {id: 7}) ON CREATE SET n.v = 1 ON MATCH SET n.v = n.v + 100",
            "CREATE (:N {id: 7, v: 5})",
            "\"v\":105",
        ),
        (
            "MATCH (n:N {id: 1}) DETACH DELETE n",
            "MATCH (a:N {id: 1}) CREATE (a)-[:E {w: 5}]->(a)",
            r#"{"table":"N","data":{"id":2"#,
        ),
    ];
    for (slow, between, wanted) in cases {
        let world = World::new();
        run(&world.init(DDL).await, "CREATE (a:N {id: 1}), (b:N {id: 2}), (a)-[:E]->(b)").await.unwrap();
        let (outcome, graph) = overtaken(&world, slow, between).await;
        assert!(outcome.unwrap().commit.is_some(), "{slow}");
        let lines = export(&graph, "main").await;
        assert!(lines.contains(wanted), "{slow}: {lines}");
        assert_whole(&world.open().await).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_of_other_tables_are_in_nobodys_way() {
    let world = World::new();
    run(&world.init(DDL).await, "CREATE (:N {id: 1})").await.unwrap();
    let (outcome, graph) = overtaken(&world, "MATCH (n:N {id: 1}) SET n.v = 5", "CREATE (:Other {id: 1})").await;
    assert_eq!(outcome.unwrap().commit.unwrap().seq.0, 3);
    assert!(export(&graph, "main").await.contains("\"v\":5"));
}

#[tokio::test(flavor = "multi_thread")]
async fn increments_from_many_handles_all_count() {
    let world = World::new();
    run(&world.init(DDL).await, "CREATE (:N {id: 1})").await.unwrap();
    let mut tasks = Vec::new();
    for _ in 0..4 {
        let graph = world.open().await;
        tasks.push(tokio::spawn(async move {
            for _ in 0..5 {
                run(&graph, "MATCH (n:N {id: 1}) SET n.v = n.v + 1").await.unwrap();
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(export(&world.open().await, "main").await, "{\"table\":\"N\",\"data\":{\"id\":1,\"v\":20}}\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_request_takes_effect_once() {
    let world = World::new();
    let graph = world.init(DDL).await;
    let statement = "MERGE (n:N {id: 1}) SET n.v = n.v + 1 RETURN n.v AS v";
    let options = ChangeOptions { request_id: Some("once".into()), ..by_kit() };
    let first = graph.run("main", statement, Params::new(), options.clone()).await.unwrap();
    let again = world.open().await.run("main", statement, Params::new(), options.clone()).await.unwrap();
    assert_eq!((first.rows.len(), first.repeated), (1, false));
    assert_eq!((again.rows.len(), again.repeated), (0, true));
    assert_eq!((first.commit.unwrap().id, first.tables), (again.commit.unwrap().id, again.tables));
    assert!(export(&graph, "main").await.contains("\"v\":1"));
    // Another statement, another parameter, another sort of request: none of them is what the id stands for.
    let error = graph.run("main", "CREATE (:N {id: 2})", Params::new(), options.clone()).await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Invalid, "request-id-reused"));
    assert!(error.to_string().contains("for another write at `main@1`"), "{error}");
    let error = graph.run("main", statement, Params::new().with("x", 1), options.clone()).await.unwrap_err();
    assert_eq!(error.code(), "request-id-reused");
    let error = graph.write("main", Write::new().insert_json("{}"), options).await.unwrap_err();
    assert_eq!(error.code(), "request-id-reused");
    assert_eq!(graph.log("main", 10).await.unwrap().len(), 2);
    assert_whole(&graph).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_moved_refuses_a_pinned_statement() {
    let world = World::new();
    let graph = world.init(DDL).await;
    write(&graph, other(1)).await.unwrap();
    let options = ChangeOptions { if_head: Some("main@0".into()), ..by_kit() };
    let error = graph.run("main", "CREATE (:N {id: 1})", Params::new(), options).await.unwrap_err();
    assert_eq!(error.code(), "head-moved");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_is_let_go_of_happens_whole_or_not_at_all() {
    let world = World::new();
    let graph = world.init(DDL).await;
    run(&graph, "UNWIND range(1, 20) AS id CREATE (:N {id: id})").await.unwrap();
    world.faults.delay_all(Duration::from_millis(2));
    for millis in 0..25 {
        let statement = "MATCH (n:N) SET n.v = n.v + 1";
        let _ = Clock::system().timeout(Duration::from_millis(millis), run(&graph, statement)).await;
        run(&graph, &format!("CREATE (:Log {{id: {millis}}})")).await.unwrap();
    }
    world.faults.clear();
    let values = run(&graph, "MATCH (n:N) RETURN count(DISTINCT n.v) AS n").await.unwrap();
    assert_eq!(format!("{:?}", values.rows), "[[Scalar(Int(1))]]");
    assert_whole(&world.open().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_by_key_takes_few_rounds_when_warm() {
    let world = World::new();
    let graph = world.init(DDL).await;
    run(&graph, "CREATE (a:N {id: 1}), (b:N {id: 2}), (a)-[:E]->(b)").await.unwrap();
    for (statement, most) in [
        ("CREATE (:N {id: 10})", 3),
        ("MATCH (n:N {id: 1}) SET n.v = 5", 4),
        ("MERGE (n:N {id: 2}) ON MATCH SET n.v = 7", 4),
        ("MERGE (n:N {id: 12}) ON CREATE SET n.v = 7", 4),
        ("MATCH (a:N {id: 1}), (b:N {id: 10}) CREATE (a)-[:E]->(b)", 4),
    ] {
        // Long enough that requests made side by side overlap on a busy machine, planning included.
        world.faults.delay_all(Duration::from_millis(100));
        let _ = graph.take_io();
        let io = run(&graph, statement).await.unwrap().io;
        world.faults.clear();
        assert!(io.serial_depth <= most && io.lists == 0, "{statement}: {io:?}");
    }
}
