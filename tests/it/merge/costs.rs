//! What merges cost, in requests and serial rounds, whatever the history: counted on a store, never timed.

use std::time::Duration;

use kit::graphs::by_kit;
use kit::world::World;
use pleach::store::IoStats;
use pleach::{Graph, MergeOutcome, Write};

use super::{branch, merge, write};

/// Node tables and edges between them: a schema that costs are measured on has at least these.
const SCHEMA: &str = "
CREATE NODE TABLE Person (id STRING PRIMARY KEY, name STRING);
CREATE NODE TABLE Tag (id STRING PRIMARY KEY);
CREATE REL TABLE Has (FROM Person TO Tag);
";

/// Long enough that requests made side by side overlap on a busy machine.
const DELAY: Duration = Duration::from_millis(40);

/// Requests, serial rounds and LISTs of one merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cost {
    requests: u64,
    serial: u64,
    lists: u64,
}

impl From<IoStats> for Cost {
    fn from(io: IoStats) -> Self {
        Self { requests: io.requests(), serial: io.serial_depth, lists: io.lists }
    }
}

/// What merges cost after some history.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MergeCosts {
    /// The source contains the target. Another process went on with the source meanwhile; warm is who knows its former head.
    forward_warm: Cost,
    forward_cold: Cost,
    /// Each side changed a table of its own.
    apart_warm: Cost,
    apart_cold: Cost,
    /// The same, and this process knows the head of the source.
    apart_known: Cost,
}

fn tag(id: &str) -> Write {
    Write::new().upsert_json(format!(r#"{{"table":"Tag","data":{{"id":"{id}"}}}}"#))
}

fn rename(name: &str) -> Write {
    Write::new().upsert_json(format!(r#"{{"table":"Person","data":{{"id":"p00000","name":"{name}"}}}}"#))
}

fn has(tag: &str) -> String {
    format!(r#"{{"table":"Has","from":"p00000","to":"{tag}"}}"#)
}

/// A merge by somebody who knows the graph, or by somebody who opens it.
async fn cost(world: &World, graph: Option<&Graph>, source: &str, outcome: MergeOutcome) -> Cost {
    world.faults.delay_all(DELAY);
    let io = if let Some(graph) = graph {
        let _ = graph.take_io();
        assert_eq!(merge(graph, source, "main").await.outcome, outcome);
        graph.take_io()
    } else {
        let store = world.store();
        let cold = Graph::open_on(store.clone()).await.unwrap();
        assert_eq!(merge(&cold, source, "main").await.outcome, outcome);
        store.io().take()
    };
    world.faults.clear();
    io.into()
}

impl MergeCosts {
    /// Measures on a graph that has the tables of [`SCHEMA`] and a person `p00000`; `round` has to be new. Adds no persons.
    pub(crate) async fn measure(world: &World, graph: &Graph, round: &str) -> Self {
        let other = world.open().await;
        let name = |kind: &str| format!("{round}-{kind}");
        for id in ["kept", "other", "doomed", "doomed too"] {
            write(graph, "main", tag(&name(id))).await;
        }
        let forward = async |kind: &str, warm: Option<&Graph>| {
            let source = name(kind);
            branch(graph, &source, "main").await;
            write(&other, &source, tag(&source)).await;
            cost(world, warm, &source, MergeOutcome::FastForward).await
        };
        let apart = async |kind: &str, writer: &Graph, warm: Option<&Graph>| {
            let source = name(kind);
            branch(graph, &source, "main").await;
            write(writer, &source, tag(&source)).await;
            write(graph, "main", rename(&source)).await;
            cost(world, warm, &source, MergeOutcome::Merged).await
        };
        let tied = async |kind: &str, doomed: &str, edge: Write, warm: Option<&Graph>| {
            let source = name(kind);
            branch(graph, &source, "main").await;
            write(&other, &source, Write::new().delete("Tag", [format!("\"{}\"", name(doomed))])).await;
            write(graph, "main", edge).await;
            cost(world, warm, &source, MergeOutcome::Merged).await.serial
        };
        // Edges and nodes that have to be compared: bounded, but not equal, since the last fold decides whether a deletion file is to be
        // read besides.
        let kept = name("kept");
        let warm = tied("tied-warm", "doomed", Write::new().upsert_json(has(&kept)), Some(graph)).await;
        let removed = Write::new().delete("Has", ["\"p00000\"".to_owned(), format!("\"{kept}\"")]);
        let replaced = removed.upsert_json(has(&name("other")));
        let cold = tied("tied-cold", "doomed too", replaced, None).await;
        assert!(warm <= 6 && cold <= 11, "{warm} warm, {cold} cold");
        Self {
            forward_warm: forward("forward-warm", Some(graph)).await,
            forward_cold: forward("forward-cold", None).await,
            apart_warm: apart("apart-warm", &other, Some(graph)).await,
            apart_cold: apart("apart-cold", &other, None).await,
            apart_known: apart("apart-known", graph, Some(graph)).await,
        }
    }

    /// Asserts the budgets.
    pub(crate) fn check(&self) {
        assert!(self.forward_warm.serial <= 3 && self.forward_cold.serial <= 5, "{self:?}");
        assert!(self.apart_warm.serial <= 6 && self.apart_cold.serial <= 11, "{self:?}");
        assert_eq!(self.apart_known.lists, 0, "{self:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn merges_cost_the_same_after_ten_and_after_a_thousand_merged_and_deleted_branches() {
    let world = World::new();
    let graph = world.init(SCHEMA).await;
    write(&graph, "main", rename("first")).await;
    let mut merged = 0;
    let mut seen = Vec::new();
    for target in [10, 1_000] {
        while merged < target {
            let name = format!("b{merged}");
            branch(&graph, &name, "main").await;
            write(&graph, &name, tag(&name)).await;
            merge(&graph, &name, "main").await;
            graph.delete_branch(&name, by_kit()).await.unwrap();
            merged += 1;
        }
        let costs = MergeCosts::measure(&world, &graph, &format!("after-{target}")).await;
        costs.check();
        seen.push(costs);
    }
    assert_eq!(seen[0], seen[1]);
    let report = world.open().await.fsck(&[]).await.unwrap();
    assert!(report.problems.is_empty(), "{:#?}", report.problems);
}
