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

/// Eight tables, each of which both sides change.
const TABLES: usize = 8;

/// Longer than what is computed between requests for eight tables side by side.
const LONG_DELAY: Duration = Duration::from_millis(250);

/// Rows of a table, with two properties that each side may change one of.
fn item(table: usize, id: i64, a: i64, b: i64) -> String {
    format!(r#"{{"table":"T{table}","data":{{"id":{id},"a":{a},"b":{b}}}}}"#)
}

/// Who merges.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Who {
    /// Who made the changes of both sides.
    Wrote,
    /// Who knows both; the source was changed by somebody else since.
    Knows,
    /// Who opens the graph for it.
    Opens,
}

/// What a merge costs whose sides both changed rows of `tables` tables: some apart, one together.
async fn cost_of_rows(world: &World, graph: &Graph, tables: usize, round: i64, who: Who) -> IoStats {
    let source = format!("rows-{round}");
    let other = if who == Who::Knows { &world.open().await } else { graph };
    branch(graph, &source, "main").await;
    let rows =
        |lines: &dyn Fn(usize) -> Vec<String>| (0..tables).flat_map(lines).fold(Write::new(), Write::upsert_json);
    write(other, &source, rows(&|table| vec![item(table, 1, round, 0), item(table, 1_000 + round, 0, 0)])).await;
    write(graph, "main", rows(&|table| vec![item(table, 1, 0, round), item(table, 2_000 + round, 0, 0)])).await;
    world.faults.delay_all(LONG_DELAY);
    let io = if who == Who::Opens {
        let store = world.store();
        let graph = Graph::open_on(store.clone()).await.unwrap();
        assert_eq!(merge(&graph, &source, "main").await.tables["T0"].rewritten, 1);
        store.io().take()
    } else {
        let _ = graph.take_io();
        let report = merge(graph, &source, "main").await;
        assert_eq!(report.tables.len(), tables);
        assert!(report.tables.values().all(|table| table.rewritten == 1 && table.counts.unwrap().added == 1));
        graph.take_io()
    };
    world.faults.clear();
    // As they were: the next round changes them again.
    write(graph, "main", rows(&|table| vec![item(table, 1, 0, 0)])).await;
    io
}

#[tokio::test(flavor = "multi_thread")]
async fn merges_of_rows_take_as_many_rounds_for_eight_tables_as_for_one_and_after_a_long_history() {
    let world = World::new();
    let table = |n| format!("CREATE NODE TABLE T{n} (id INT64 PRIMARY KEY, a INT64, b INT64);");
    let ddl = (0..TABLES).map(table).collect::<Vec<_>>().join(
        "
",
    );
    let graph = world.init(&ddl).await;
    let all = (0..TABLES).flat_map(|table| (0..20).map(move |id| item(table, id, 0, 0)));
    write(&graph, "main", all.fold(Write::new(), Write::upsert_json)).await;
    let mut round = 0;
    for commits in [10, 150] {
        while graph.show("main").await.unwrap().seq.0 < commits {
            round += 1;
            write(&graph, "main", Write::new().upsert_json(item(0, 3_000 + round, 0, 0))).await;
        }
        for tables in [1, TABLES] {
            // What was written or read a moment ago is not read again. Who opens the graph may have to fold a table of which nothing is at hand:
            // two rounds more than eight.
            for (who, rounds) in [(Who::Wrote, 4), (Who::Knows, 6), (Who::Opens, 10)] {
                round += 1;
                let cost = cost_of_rows(&world, &graph, tables, round, who).await;
                println!("{commits} commits, {tables} tables, {who:?}: {cost:?}");
                assert!(cost.serial_depth <= rounds, "{commits} commits, {tables} tables, {who:?}: {cost:?}");
                assert!(who != Who::Wrote || cost.lists == 0, "{commits} commits, {tables} tables, {who:?}: {cost:?}");
            }
        }
    }
    let report = world.open().await.fsck(&[]).await.unwrap();
    assert!(report.problems.is_empty(), "{:#?}", report.problems);
}
