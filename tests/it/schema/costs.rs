//! What a change of the schema costs: a step that touches no row writes no file of a table, whatever its size.

use std::time::Duration;

use futures::TryStreamExt as _;
use kit::graphs::{assert_whole, load};
use kit::world::World;
use object_store::ObjectStore as _;
use pleach::{Graph, LoadMode};

use super::{apply, ask};

/// Long enough that requests made side by side overlap on a busy machine.
const DELAY: Duration = Duration::from_millis(200);

const DDL: &str = "CREATE NODE TABLE T (id INT64 PRIMARY KEY, n INT64, e ENUM('x')); CREATE REL TABLE E (FROM T TO T, w INT64, MANY_ONE);";

async fn objects(world: &World) -> Vec<String> {
    let objects: Vec<_> = world.objects().list(None).try_collect().await.unwrap();
    objects.iter().map(|object| object.location.to_string()).collect()
}

async fn of_rows(world: &World, rows: u64) -> Graph {
    let graph = world.init(DDL).await;
    let lines: Vec<String> = (0..rows).map(|id| format!(r#"{{"table":"T","data":{{"id":{id},"n":{id}}}}}"#)).collect();
    load(&graph, LoadMode::Append, &lines.join("\n")).await.unwrap();
    graph
}

/// Steps that touch no row: everything that can be told from the schema alone.
const UNTOUCHED: [&str; 4] = [
    "CREATE NODE TABLE T (id INT64 PRIMARY KEY, n INT64, e ENUM('x'), a STRING, b INT64 DEFAULT 5);
     CREATE REL TABLE E (FROM T TO T, w INT64, MANY_ONE);",
    "CREATE NODE TABLE U RENAMED FROM T (id INT64 PRIMARY KEY, m INT64 RENAMED FROM n, e ENUM('x', 'y'), a STRING DEFAULT 'z', b INT64 DEFAULT 6);
     CREATE REL TABLE E (FROM U TO U, w INT64 MERGE sum);",
    "CREATE NODE TABLE U (id INT64 PRIMARY KEY, a STRING, m INT64, e STRING, b INT64);
     CREATE REL TABLE E (FROM U TO U, w INT64 MERGE max, ON MERGE KEEP);",
    "CREATE NODE TABLE U (id INT64 PRIMARY KEY, a STRING, m INT64, e STRING, b INT64, c DATE, d STRING[]);
     CREATE REL TABLE E (FROM U TO U, w INT64);",
];

async fn additive_steps_write_no_table(rows: u64) {
    let world = World::new();
    let graph = of_rows(&world, rows).await;
    let mut before = objects(&world).await;
    for ddl in UNTOUCHED {
        let _ = graph.take_io();
        let report = apply(&graph, "main", ddl).await;
        assert!(report.commit.is_some());
        let io = graph.take_io();
        assert_eq!((io.puts, io.lists), (2, 0), "the catalog and the record: {io:?}");
        assert!(io.gets <= 3 && io.bytes_read < 64 << 10, "no row was read: {io:?}");
        let after = objects(&world).await;
        let new: Vec<&String> = after.iter().filter(|name| !before.contains(name)).collect();
        assert_eq!(new.len(), 2, "{new:?}");
        assert!(new.iter().all(|name| !name.starts_with("tables/")), "{new:?}");
        before = after;
    }
    assert_eq!(ask(&graph, "main", "MATCH (u:U) WHERE u.b = 5 RETURN count(*)").await, [rows.to_string()]);
    assert_eq!(ask(&graph, "main@1", "MATCH (t:T) RETURN count(t.n)").await, [rows.to_string()]);
    assert_whole(&world.open().await).await;
}

#[tokio::test]
async fn steps_that_touch_no_row_write_no_file_of_a_table() {
    additive_steps_write_no_table(2_000).await;
}

/// The same on a table of a million rows.
#[tokio::test]
#[ignore = "takes minutes in a debug build"]
async fn steps_that_touch_no_row_write_no_file_of_a_large_table() {
    additive_steps_write_no_table(1_000_000).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_takes_few_rounds() {
    let world = World::new();
    let graph = of_rows(&world, 100).await;
    world.faults.delay_all(DELAY);
    let _ = graph.take_io();
    apply(&graph, "main", UNTOUCHED[0]).await;
    let untouched = graph.take_io();
    assert!(untouched.serial_depth <= 3, "the head, the catalog, the record: {untouched:?}");
    let checked = "CREATE NODE TABLE T (id INT64 PRIMARY KEY, n INT64 NOT NULL UNIQUE CHECK (n >= 0), e ENUM('x'), a STRING, b INT64 DEFAULT 5);
        CREATE REL TABLE E (FROM T TO T, w INT64, MANY_ONE);";
    apply(&graph, "main", checked).await;
    let io = graph.take_io();
    assert!(io.serial_depth <= 5 && io.puts == 2, "and the rows, once: {io:?}");
    // Another process goes on as if it had always been so.
    let cold = world.open().await;
    let _ = cold.take_io();
    ask(&cold, "main", "MATCH (t:T {id: 1}) RETURN t.b").await;
    let read = cold.take_io();
    assert!(read.serial_depth <= 8 && read.puts == 0, "{read:?}");
}
