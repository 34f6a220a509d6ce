//! Writers at once, in one process and in several.

use kit::graphs::{assert_whole, by_kit, export, graph, init_options, memory_uri, write};
use kit::world::World;
use pleach::store::{RequestKind, When};
use pleach::{Graph, Write};

const DDL: &str = "CREATE NODE TABLE T (k INT64 PRIMARY KEY, v INT64);";

fn row(k: i64, v: i64) -> String {
    format!(r#"{{"table":"T","data":{{"k":{k},"v":{v}}}}}"#)
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_upserts_of_one_key_leave_exactly_one_row() {
    let uri = memory_uri();
    let one = Graph::init(&uri, DDL, init_options()).await.unwrap();
    let other = Graph::open(&uri).await.unwrap();
    for round in 0..100 {
        let (a, b) = tokio::join!(
            one.write("main", Write::new().upsert_json(row(round, 1)), by_kit()),
            other.write("main", Write::new().upsert_json(row(round, 2)), by_kit())
        );
        let (a, b) = (a.unwrap().tables["T"], b.unwrap().tables["T"]);
        assert_eq!(a.inserted + b.inserted, 1, "round {round}: {a:?} {b:?}");
        assert_eq!(a.updated + b.updated, 1, "round {round}: {a:?} {b:?}");
    }
    assert_eq!(export(&one, "main").await.lines().count(), 100);
    let report = one.fsck(&[]).await.unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_concurrent_inserts_of_one_key_one_wins_and_the_others_are_told() {
    let graph = graph(DDL).await;
    let writers = (0..8).map(|v| {
        let graph = graph.clone();
        async move { write(&graph, Write::new().insert_json(row(1, v))).await }
    });
    let outcomes = futures::future::join_all(writers).await;
    let (won, lost): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, 7));
    for error in lost.into_iter().filter_map(Result::err) {
        assert!(error.to_string().contains("a row with the key 1 exists"), "{error}");
    }
    assert_whole(&graph).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edge_and_the_deletion_of_its_node_never_both_succeed() {
    let ddl = "CREATE NODE TABLE N (id INT64 PRIMARY KEY); CREATE REL TABLE E (FROM N TO N);";
    let uri = memory_uri();
    let one = Graph::init(&uri, ddl, init_options()).await.unwrap();
    let other = Graph::open(&uri).await.unwrap();
    for id in 0..30 {
        let nodes = Write::new()
            .upsert_json(r#"{"table":"N","data":{"id":-1}}"#)
            .insert_json(format!(r#"{{"table":"N","data":{{"id":{id}}}}}"#));
        one.write("main", nodes, by_kit()).await.unwrap();
        let edge = Write::new().insert_json(format!(r#"{{"table":"E","from":-1,"to":{id}}}"#));
        let delete = Write::new().delete("N", [id.to_string()]);
        let (edge, delete) = tokio::join!(one.write("main", edge, by_kit()), other.write("main", delete, by_kit()));
        assert!(edge.is_ok() != delete.is_ok(), "{edge:?} {delete:?}");
    }
    assert_whole(&one).await;
}

/// Whatever a write found absent or unchanged, it depends on: if it comes to be before the write is published, the write is done anew.
#[tokio::test(flavor = "multi_thread")]
async fn an_operation_that_came_to_nothing_is_done_anew_when_that_changes() {
    let ddl = "CREATE NODE TABLE City (id INT64 PRIMARY KEY); CREATE NODE TABLE N (id INT64 PRIMARY KEY);
        CREATE REL TABLE E (FROM N TO N, w INT64); CREATE REL TABLE F (FROM N TO N, MULTI);";
    let city = |id: i64| format!(r#"{{"table":"City","data":{{"id":{id}}}}}"#);
    let n = |id: i64| format!(r#"{{"table":"N","data":{{"id":{id}}}}}"#);
    let e = |w: i64| format!(r#"{{"table":"E","from":1,"to":2,"data":{{"w":{w}}}}}"#);
    let id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let f = format!(r#"{{"table":"F","from":1,"to":2,"id":"{id}","data":{{}}}}"#);
    let quoted = format!("\"{id}\"");
    let delete_e = |write: Write| write.delete("E", ["1", "2"]);
    let stored = Write::new().insert_json(n(1)).insert_json(n(2)).insert_json(city(0));
    // What is stored; what the slow write does besides; what comes between; what must be left of it.
    let cases = [
        (stored.clone(), delete_e(Write::new()), Write::new().insert_json(e(1)), vec![n(1), n(2)]),
        (stored.clone(), Write::new().delete_detach("E", ["1", "2"]), Write::new().insert_json(e(1)), vec![n(1), n(2)]),
        (stored.clone(), Write::new().delete("F", [quoted]), Write::new().insert_json(f), vec![n(1), n(2)]),
        (stored.clone(), Write::new().delete("N", ["3"]), Write::new().insert_json(n(3)), vec![n(1), n(2)]),
        (stored.clone(), Write::new().delete_detach("N", ["3"]), Write::new().insert_json(n(3)), vec![n(1), n(2)]),
        (
            stored.clone().insert_json(e(1)),
            Write::new().upsert_json(e(1)),
            Write::new().upsert_json(e(2)),
            vec![n(1), n(2), e(1)],
        ),
        (
            stored.clone().insert_json(e(1)),
            Write::new().upsert_json(e(1)),
            delete_e(Write::new()),
            vec![n(1), n(2), e(1)],
        ),
        (
            stored.clone(),
            Write::new().insert_json(e(1)).delete("E", ["1", "2"]),
            Write::new().insert_json(e(1)),
            vec![],
        ),
    ];
    for (case, (stored, slow, between, left)) in cases.into_iter().enumerate() {
        let world = World::new();
        let (one, other) = (world.init(ddl).await, world.open().await);
        write(&one, stored).await.unwrap();
        let held = world.faults.hold(When::kind(RequestKind::Create).path("branches/main/"));
        let first = tokio::spawn({
            let (one, slow) = (one.clone(), slow.insert_json(city(7)));
            async move { write(&one, slow).await }
        });
        held.reached().await;
        write(&other, between).await.unwrap();
        held.release();
        let outcome = first.await.unwrap();
        let lines = export(&other, "main").await;
        let lines: Vec<_> = lines.lines().filter(|line| !line.contains("City")).map(str::to_owned).collect();
        if left.is_empty() {
            assert!(outcome.is_err(), "case {case}: the insert finds an edge");
        } else {
            outcome.unwrap();
            assert_eq!(lines, left, "case {case}");
        }
        assert_whole(&world.open().await).await;
    }
}
