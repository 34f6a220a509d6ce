//! What an optimize costs, in requests and serial rounds: counted on a store, never timed, and independent of the number of tables.

use std::fmt::Write as _;
use std::time::Duration;

use kit::graphs::{assert_whole, by_kit};
use kit::world::World;
use pleach::store::IoStats;
use pleach::{Graph, Write};

use super::optimize;

/// Long enough that requests made side by side overlap on a busy machine, where the work between them takes its time for so many tables.
const DELAY: Duration = Duration::from_millis(500);

/// A graph of as many node tables, each in six fragments of which one has lost a row.
async fn graph_of(world: &World, tables: usize) -> Graph {
    let mut schema = String::new();
    for n in 0..tables {
        writeln!(schema, "CREATE NODE TABLE T{n} (id INT64 PRIMARY KEY, name STRING);").unwrap();
    }
    let graph = world.init(&schema).await;
    for ids in [[0, 10], [1, 11], [2, 12], [3, 13], [4, 14], [0, 15]] {
        let row = |(n, id): (usize, i32)| format!(r#"{{"table":"T{n}","data":{{"id":{id},"name":"of {ids:?}"}}}}"#);
        let rows = (0..tables).flat_map(|n| ids.map(|id| row((n, id))));
        graph.write("main", rows.fold(Write::new(), Write::upsert_json), by_kit()).await.unwrap();
    }
    graph
}

/// Costs of an optimize by who knows the graph, by who opens it, and of one that has nothing to gain.
async fn costs(tables: usize) -> [IoStats; 3] {
    let world = World::new();
    let warm = graph_of(&world, tables).await;
    let fork = world.fork();
    world.faults.delay_all(DELAY);
    let _ = warm.take_io();
    assert_eq!(optimize(&warm, "main", &[]).await.tables.len(), tables);
    let known = warm.take_io();
    assert!(optimize(&warm, "main", &[]).await.commit.is_none());
    let nothing = warm.take_io();
    fork.faults.delay_all(DELAY);
    let store = fork.store();
    let cold = Graph::open_on(store.clone()).await.unwrap();
    assert_eq!(optimize(&cold, "main", &[]).await.tables.len(), tables);
    let opened = store.io().take();
    for world in [&world, &fork] {
        world.faults.clear();
        assert_whole(&world.open().await).await;
    }
    [known, opened, nothing]
}

#[tokio::test(flavor = "multi_thread")]
async fn rounds_do_not_grow_with_the_number_of_tables() {
    for tables in [2, 16] {
        let [known, opened, nothing] = costs(tables).await;
        assert!(known.serial_depth <= 5, "{tables} tables, warm: {known:?}");
        assert!(opened.serial_depth <= 9, "{tables} tables, cold: {opened:?}");
        assert!(nothing.serial_depth <= 2 && nothing.puts == 0, "{tables} tables, nothing to gain: {nothing:?}");
        assert_eq!((known.lists, nothing.lists), (0, 0));
        assert_eq!(known.puts, 2 * tables as u64 + 1, "a data file and a manifest for each table, and the record");
    }
}
