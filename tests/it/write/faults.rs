//! Rounds that a write costs, and what it says when the store fails.

use std::sync::Arc;
use std::time::Duration;

use kit::graphs::{assert_whole, export, init_options, load, write};
use object_store::memory::InMemory;
use pleach::store::{Fault, Faults, RequestKind, Store, StoreKind, When};
use pleach::{ErrorKind, Graph, LoadMode, Write};

const DDL: &str = "
    CREATE NODE TABLE N (id INT64 PRIMARY KEY, v INT64, u INT64, UNIQUE (u));
    CREATE NODE TABLE M (id INT64 PRIMARY KEY);
    CREATE REL TABLE E (FROM N TO M, MANY_ONE);
    CREATE REL TABLE F (FROM N TO N);
";

async fn graph() -> (Graph, Faults) {
    let faults = Faults::new(Arc::new(InMemory::new()));
    let graph = Graph::init_on(open(&faults), DDL, init_options()).await.unwrap();
    (graph, faults)
}

fn open(faults: &Faults) -> Store {
    Store::from_object_store(StoreKind::Memory, Arc::new(faults.clone()))
}

fn n(id: i64, v: i64) -> String {
    format!(r#"{{"table":"N","data":{{"id":{id},"v":{v},"u":{id}}}}}"#)
}

fn m(id: i64) -> String {
    format!(r#"{{"table":"M","data":{{"id":{id}}}}}"#)
}

fn e(from: i64, to: i64) -> String {
    format!(r#"{{"table":"E","from":{from},"to":{to}}}"#)
}

#[tokio::test]
async fn a_write_takes_three_rounds_when_warm_whatever_it_has_to_look_up() {
    let (graph, faults) = graph().await;
    for id in 0..3 {
        write(&graph, Write::new().insert_json(n(id, 0)).insert_json(m(id)).insert_json(e(id, id))).await.unwrap();
    }
    let writes = [
        Write::new().upsert_json(n(1, 5)),
        Write::new().insert_json(n(7, 5)),
        Write::new().insert_json(n(8, 5)).insert_json(e(8, 1)).insert_json(m(9)),
        Write::new().delete_detach("N", ["0"]),
    ];
    for (i, op) in writes.into_iter().enumerate() {
        faults.delay_all(Duration::from_millis(20));
        let _ = graph.take_io();
        let io = write(&graph, op).await.unwrap().io;
        faults.clear();
        assert!(io.serial_depth <= 3 && io.lists == 0, "write {i}: {io:?}");
    }
    assert_whole(&graph).await;
}

#[tokio::test]
async fn a_read_by_key_takes_two_rounds_when_warm() {
    let (graph, faults) = graph().await;
    write(&graph, Write::new().insert_json(n(1, 0))).await.unwrap();
    graph.get("main", "N", &["1".into()]).await.unwrap();
    faults.delay_all(Duration::from_millis(20));
    let _ = graph.take_io();
    graph.get("main", "N", &["1".into()]).await.unwrap();
    let io = graph.take_io();
    assert!(io.serial_depth <= 2 && io.lists == 0, "{io:?}");
}

#[tokio::test]
async fn deleted_rows_never_come_back_when_the_deletion_file_cannot_be_read_once() {
    let (graph, faults) = graph().await;
    let rows: String = (0..100).map(|id| n(id, 0) + "\n").collect();
    load(&graph, LoadMode::Append, &rows).await.unwrap();
    let gone = (0..10).fold(Write::new(), |write, id| write.delete("N", [id.to_string()]));
    write(&graph, gone).await.unwrap();

    let cold = Graph::open_on(open(&faults)).await.unwrap();
    faults.add(When::kind(RequestKind::Get).path("_deletions").once(), Fault::FailBefore);
    for _ in 0..2 {
        if let Ok(found) = cold.get("main", "N", &["3".into()]).await {
            assert_eq!(found, None);
        }
    }
    assert_eq!(cold.get("main", "N", &["3".into()]).await.unwrap(), None);
    assert!(cold.get("main", "N", &["50".into()]).await.unwrap().is_some());
    assert_eq!(export(&cold, "main").await.lines().count(), 90);
}

#[tokio::test]
async fn a_lookup_that_fails_refuses_the_write_and_leaves_nothing_behind() {
    let (graph, faults) = graph().await;
    write(&graph, Write::new().insert_json(n(1, 0))).await.unwrap();
    let cold = Graph::open_on(open(&faults)).await.unwrap();
    faults.add(When::kind(RequestKind::Get).path("/data/"), Fault::FailBefore);
    let error = write(&cold, Write::new().upsert_json(n(1, 1))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
    faults.clear();
    write(&cold, Write::new().upsert_json(n(1, 2))).await.unwrap();
    assert_eq!(export(&cold, "main").await, n(1, 2) + "\n");
    assert_whole(&cold).await;
}

#[tokio::test]
async fn a_staged_file_that_is_not_stored_fails_the_write_and_the_next_one_succeeds() {
    let (graph, faults) = graph().await;
    write(&graph, Write::new().insert_json(n(1, 0))).await.unwrap();
    faults.add(When::any().path("/data/").once(), Fault::FailBefore);
    let outcome = write(&graph, Write::new().insert_json(n(2, 0))).await;
    faults.clear();
    let expected = if outcome.is_ok() { 2 } else { 1 };
    assert_eq!(export(&graph, "main").await.lines().count(), expected);
    write(&graph, Write::new().upsert_json(n(3, 0))).await.unwrap();
    assert_eq!(export(&graph, "main").await.lines().count(), expected + 1);
    assert_whole(&graph).await;
}
