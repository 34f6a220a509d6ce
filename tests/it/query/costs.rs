//! What queries cost in serial rounds.

use std::time::Duration;

use kit::graphs::{load, write};
use kit::world::World;
use pleach::store::IoStats;
use pleach::{Graph, LoadMode, Params, Write};

use super::{DDL, ROWS};

/// Long enough that requests made side by side overlap on a busy machine.
const DELAY: Duration = Duration::from_millis(40);

async fn cost(graph: &Graph, text: &str, rows: usize) -> IoStats {
    let _ = graph.take_io();
    let found = graph.query("main", text, Params::new()).await.unwrap().collect_rows().await.unwrap();
    assert_eq!(found.len(), rows, "{text}");
    graph.take_io()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_by_key_and_a_step_from_it_take_few_rounds() {
    let world = World::new();
    let graph = world.init(DDL).await;
    load(&graph, LoadMode::Append, ROWS).await.unwrap();
    let (by_key, one_hop) =
        ("MATCH (p:Person {id: 'a'}) RETURN p", "MATCH (p:Person {id: 'a'})-[k:Knows]->(q) RETURN k.since, q.id");
    write(&graph, Write::new().upsert_json(r#"{"table":"Person","data":{"id":"e","age":1}}"#)).await.unwrap();
    // What was written is held in memory until it has been read once.
    cost(&graph, by_key, 1).await;
    cost(&graph, one_hop, 2).await;
    world.faults.delay_all(DELAY);
    let read = cost(&graph, by_key, 1).await;
    let step = cost(&graph, one_hop, 2).await;
    let counted = cost(&graph, "MATCH (p:Person) RETURN count(*)", 1).await;
    world.faults.clear();
    assert!(read.serial_depth <= 3 && read.lists == 0, "{read:?}");
    assert!(step.serial_depth <= 4 && step.lists == 0, "{step:?}");
    assert!(counted.requests() <= 1, "a commit knows how many rows its tables have: {counted:?}");
}
