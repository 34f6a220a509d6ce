//! Merges beside other work, in one process and in several: what came first is never lost, and rules hold on the whole.

use std::thread;

use kit::cli::Sandbox;
use kit::graphs::{assert_whole, by_kit};
use kit::world::World;
use pleach::store::{Fault, RequestKind, When};
use pleach::{Error, Graph, MergeOutcome, MergeReport, SchemaOptions, Write};
use tokio::task::JoinHandle;

use super::{SCHEMA, branch, city, conflicts, knows, merge, person, prepare, put, rows, try_merge, write};

/// A merge of `f` into `main` that is held when all is decided and only the record is to be put.
struct Held {
    world: World,
    /// Another process.
    other: Graph,
    merging: JoinHandle<Result<MergeReport, Error>>,
    hold: pleach::store::Hold,
}

impl Held {
    /// `on_f` is what `f` changed; `main` has a city of its own.
    async fn new(on_f: Write) -> Self {
        let world = World::new();
        let graph = forked(&world).await;
        write(&graph, "f", on_f).await;
        Self::merging(world, graph).await
    }

    /// `f` has this schema.
    async fn with_schema(ddl: &str) -> Self {
        let world = World::new();
        let graph = forked(&world).await;
        let options = SchemaOptions { allow_data_loss: true, change: by_kit() };
        graph.apply_schema("f", ddl, options).await.unwrap();
        Self::merging(world, graph).await
    }

    async fn merging(world: World, graph: Graph) -> Self {
        let other = world.open().await;
        put(&graph, "main", [city(1, "ours")]).await;
        let hold = world.faults.hold(When::kind(RequestKind::Create).path("branches/main/"));
        let merging = tokio::spawn(async move { try_merge(&graph, "f", "main").await });
        hold.reached().await;
        Self { world, other, merging, hold }
    }

    async fn go_on(self) -> (Result<MergeReport, Error>, Graph) {
        self.hold.release();
        let outcome = self.merging.await.unwrap();
        let seen = self.world.open().await;
        assert_whole(&seen).await;
        (outcome, seen)
    }
}

async fn forked(world: &World) -> Graph {
    let graph = world.init(SCHEMA).await;
    prepare(&graph).await;
    branch(&graph, "f", "main").await;
    graph
}

fn renamed() -> Write {
    Write::new().upsert_json(person(1, "theirs"))
}

#[tokio::test]
async fn a_write_that_came_first_is_kept() {
    let held = Held::new(renamed()).await;
    put(&held.other, "main", [city(2, "came first")]).await;
    let (outcome, seen) = held.go_on().await;
    assert_eq!(outcome.unwrap().commit.unwrap().seq.0, 4);
    assert_eq!(rows(&seen, "main", "came first").await, [city(2, "came first")]);
    assert_eq!(rows(&seen, "main", "theirs").await, [person(1, "theirs")]);
}

#[tokio::test]
async fn a_merge_that_came_first_is_contained_as_well() {
    let held = Held::new(renamed()).await;
    branch(&held.other, "g", "main@1").await;
    put(&held.other, "g", [knows(2, 1)]).await;
    merge(&held.other, "g", "main").await;
    let (outcome, seen) = held.go_on().await;
    assert_eq!(outcome.unwrap().outcome, MergeOutcome::Merged);
    for source in ["f", "g"] {
        assert_eq!(merge(&seen, source, "main").await.outcome, MergeOutcome::UpToDate, "{source}");
    }
    assert_eq!(rows(&seen, "main", "Knows").await, [knows(1, 2), knows(2, 1)]);
    assert_eq!(rows(&seen, "main", "theirs").await, [person(1, "theirs")]);
}

/// The edge is in a table that the merge leaves alone, and the merge's node table is one that the edge leaves alone.
#[tokio::test]
async fn an_edge_that_came_first_keeps_its_node() {
    let held = Held::new(Write::new().delete("Person", ["3"])).await;
    put(&held.other, "main", [knows(1, 3)]).await;
    let (outcome, seen) = held.go_on().await;
    assert_eq!(conflicts(&outcome.unwrap_err()).1, ["dangling-edge: Person 3 with Knows [1,3]"]);
    assert_eq!(rows(&seen, "main", "Knows").await, [knows(1, 2), knows(1, 3)]);
}

/// The merge found nobody against its drop, and no row against its rule.
#[tokio::test]
async fn a_row_that_came_first_is_asked_of_a_schema_that_its_side_does_not_have() {
    let name = "CREATE NODE TABLE Person (id INT64 PRIMARY KEY, name STRING);";
    for (instead, told) in [
        ("CREATE NODE TABLE Person (id INT64 PRIMARY KEY);", "schema: Person name"),
        (
            "CREATE NODE TABLE Person (id INT64 PRIMARY KEY, name STRING, CHECK (name <> 'came first'));",
            "check: Person 2 name <> 'came first'",
        ),
    ] {
        let held = Held::with_schema(&SCHEMA.replace(name, instead)).await;
        put(&held.other, "main", [person(2, "came first")]).await;
        let (outcome, seen) = held.go_on().await;
        assert_eq!(conflicts(&outcome.unwrap_err()).1, [told]);
        assert_eq!(rows(&seen, "main", "came first").await, [person(2, "came first")]);
    }
}

#[tokio::test]
async fn the_same_merge_that_came_first_leaves_nothing_to_do() {
    let held = Held::new(renamed()).await;
    merge(&held.other, "f", "main").await;
    let (outcome, seen) = held.go_on().await;
    assert_eq!(outcome.unwrap().outcome, MergeOutcome::UpToDate);
    assert_eq!(seen.show("main").await.unwrap().seq.0, 3);
}

#[tokio::test]
async fn a_target_that_was_created_again_keeps_only_its_own_rows() {
    let world = World::new();
    let (graph, other) = (world.init(SCHEMA).await, world.open().await);
    prepare(&graph).await;
    for name in ["f", "t"] {
        branch(&graph, name, "main").await;
    }
    put(&graph, "f", [person(1, "theirs")]).await;
    put(&graph, "t", [city(1, "old life")]).await;
    let hold = world.faults.hold(When::kind(RequestKind::Create).path("branches/t/"));
    let merging = tokio::spawn({
        let graph = graph.clone();
        async move { try_merge(&graph, "f", "t").await }
    });
    hold.reached().await;
    other.delete_branch("t", by_kit()).await.unwrap();
    branch(&other, "t", "main").await;
    put(&other, "t", [city(2, "new life")]).await;
    hold.release();
    assert_eq!(merging.await.unwrap().unwrap_err().code(), "branch-recreated");
    assert!(rows(&graph, "t", "theirs").await.is_empty() && rows(&graph, "t", "old life").await.is_empty());
    assert_eq!(rows(&graph, "t", "new life").await, [city(2, "new life")]);
    merge(&graph, "f", "t").await;
    assert_whole(&world.open().await).await;
}

#[tokio::test]
async fn a_merge_whose_caller_went_away_leaves_the_target_as_it_was_or_merged_whole() {
    let Held { world, other, merging, hold } = Held::new(renamed()).await;
    merging.abort();
    assert!(merging.await.is_err_and(|error| error.is_cancelled()));
    assert!(rows(&other, "main", "theirs").await.is_empty());
    hold.release();
    // Whichever of the two comes first, the other finds nothing left to do.
    merge(&other, "f", "main").await;
    assert_eq!(rows(&other, "main", "theirs").await, [person(1, "theirs")]);
    put(&other, "main", [person(2, "after")]).await;
    assert_whole(&world.open().await).await;
}

#[tokio::test]
async fn a_merge_that_failed_is_tried_again_on_the_same_handle() {
    let world = World::new();
    let graph = world.init(SCHEMA).await;
    prepare(&graph).await;
    branch(&graph, "f", "main").await;
    put(&graph, "f", [person(1, "theirs")]).await;
    put(&graph, "main", [city(1, "ours")]).await;
    for nth in 0..3 {
        world.faults.add(When::kind(RequestKind::Get).path("branches/").skip(nth).once(), Fault::FailBefore);
        let failed = try_merge(&graph, "f", "main").await;
        world.faults.clear();
        assert!(failed.is_err_and(|error| error.is_retryable()), "request {nth}");
        assert_eq!(graph.show("main").await.unwrap().seq.0, 2);
    }
    assert_eq!(merge(&graph, "f", "main").await.outcome, MergeOutcome::Merged);
    assert_whole(&world.open().await).await;
}

/// Each process has a table of its own, and rows and properties of its own in one that all share; so every merge goes through.
#[test]
fn processes_that_branch_merge_and_delete_lose_nothing() {
    const WORKERS: usize = 3;
    const ROUNDS: usize = 4;
    let tables = (0..WORKERS).map(|n| format!("CREATE NODE TABLE T{n} (id STRING PRIMARY KEY);\n"));
    let shared = "CREATE NODE TABLE Shared (id STRING PRIMARY KEY, p0 INT64, p1 INT64, p2 INT64, n INT64 MERGE sum);\n";
    let sandbox = Sandbox::with_graph(&tables.chain([shared.to_owned()]).collect::<String>());
    let row = |table: &str, id: &str| format!(r#"{{"table":"{table}","data":{{"id":"{id}"}}}}"#);
    let of_all = r#"{"table":"Shared","data":{"id":"all","n":0}}"#;
    assert_eq!(sandbox.run_with_input(&["load", "-"], of_all).code, Some(0));
    thread::scope(|scope| {
        for worker in 0..WORKERS {
            let sandbox = &sandbox;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let name = format!("w{worker}-{round}");
                    sandbox.ok(&["branch", "create", &name]);
                    let rows = [row(&format!("T{worker}"), &name), row("Shared", &name)].join("\n");
                    let loaded = sandbox.run_with_input(&["load", "-", "--branch", &name], rows);
                    assert_eq!(loaded.code, Some(0), "{loaded:?}");
                    let set = format!("MATCH (s:Shared {{id: 'all'}}) SET s.p{worker} = {round}, s.n = s.n + 1");
                    sandbox.ok(&["run", &set, "--branch", &name]);
                    let merged = sandbox.ok(&["merge", &name, "--into", "main", "--json"]).json();
                    assert_eq!(merged["commit"]["changes"][0]["kind"], "merge", "{merged}");
                    sandbox.ok(&["branch", "delete", &name]);
                }
            });
        }
    });
    let head = sandbox.ok(&["show", "--json"]).json();
    for worker in 0..WORKERS {
        assert_eq!(head["rows"][format!("T{worker}")], ROUNDS, "{head}");
    }
    assert_eq!(head["rows"]["Shared"], 1 + WORKERS * ROUNDS, "{head}");
    let exported = sandbox.ok(&["export"]).stdout;
    for name in (0..WORKERS).flat_map(|worker| (0..ROUNDS).map(move |round| format!("w{worker}-{round}"))) {
        assert_eq!(exported.matches(&row("Shared", &name)).count(), 1, "{name}: {exported}");
    }
    // The last value of each, and one for each merge.
    let of_all = format!(r#""id":"all","p0":{0},"p1":{0},"p2":{0},"n":{1}"#, ROUNDS - 1, WORKERS * ROUNDS);
    assert!(exported.contains(&of_all), "{exported}");
    let log = sandbox.ok(&["log", "-n", "100", "--json"]).json();
    let merges = log["commits"].as_array().unwrap().iter().filter(|commit| commit["changes"][0]["kind"] == "merge");
    assert_eq!(merges.count(), WORKERS * ROUNDS);
    let left = sandbox.ok(&["branch", "list", "--json"]).json();
    assert_eq!(left["branches"].as_array().map(Vec::len), Some(1));
    sandbox.ok(&["fsck", "--deep"]);
}
