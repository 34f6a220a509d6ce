//! Optimizing: what the graph says stays the same, in fewer files; and what is told, refused and left alone.

mod concurrent;
mod costs;
mod merges;

use kit::graphs::{assert_whole, by_kit, export, load, load_into};
use kit::world::World;
use pleach::{ChangeOptions, Error, Graph, LoadMode, OptimizeOptions, OptimizeReport, Write};

/// Nodes of two kinds, edges of two kinds, one of them with hidden ids.
const SCHEMA: &str = "
CREATE NODE TABLE Person (id INT64 PRIMARY KEY, name STRING, tags STRING[]);
CREATE NODE TABLE City (id INT64 PRIMARY KEY, name STRING);
CREATE REL TABLE Knows (FROM Person TO Person, since INT64);
CREATE REL TABLE Calls (FROM Person TO Person, MULTI);
";

fn person(id: i64, name: &str) -> String {
    format!(r#"{{"table":"Person","data":{{"id":{id},"name":"{name}","tags":["t{id}",null]}}}}"#)
}

fn city(id: i64, name: &str) -> String {
    format!(r#"{{"table":"City","data":{{"id":{id},"name":"{name}"}}}}"#)
}

fn edge(table: &str, from: i64, to: i64) -> String {
    format!(r#"{{"table":"{table}","from":{from},"to":{to},"data":{{}}}}"#)
}

async fn put(graph: &Graph, branch: &str, rows: impl IntoIterator<Item = String>) {
    let write = rows.into_iter().fold(Write::new(), Write::upsert_json);
    graph.write(branch, write, by_kit()).await.unwrap().commit.expect("it changes something");
}

/// Five fragments of each table on `main`, with rows gone from most of them: `main@1` to `main@6`.
async fn prepare(graph: &Graph) {
    for n in 0..5 {
        let new = [person(n, "old"), person(n + 10, "old"), city(n, "old"), city(n + 10, "old")];
        let edges = [edge("Knows", n, 10), edge("Calls", n, 10), edge("Calls", n, 10), edge("Knows", n + 10, n)];
        put(graph, "main", new.into_iter().chain(edges)).await;
    }
    let edit = (0..3).flat_map(|n| [person(n, "new"), city(n, "new")]).fold(Write::new(), Write::upsert_json);
    graph.write("main", edit.delete("Knows", ["1", "10"]), by_kit()).await.unwrap();
}

async fn prepared(world: &World) -> Graph {
    let graph = world.init(SCHEMA).await;
    prepare(&graph).await;
    graph
}

fn named(tables: &[&str]) -> OptimizeOptions {
    OptimizeOptions { tables: tables.iter().map(|name| (*name).to_owned()).collect(), change: by_kit() }
}

async fn try_optimize(graph: &Graph, branch: &str, tables: &[&str]) -> Result<OptimizeReport, Error> {
    graph.optimize(branch, named(tables)).await
}

async fn optimize(graph: &Graph, branch: &str, tables: &[&str]) -> OptimizeReport {
    try_optimize(graph, branch, tables).await.unwrap()
}

fn tables_of(report: &OptimizeReport) -> Vec<&str> {
    report.tables.keys().map(String::as_str).collect()
}

#[tokio::test]
async fn what_the_graph_says_stays_the_same_in_fewer_files() {
    let world = World::new();
    let graph = prepared(&world).await;
    let before = export(&graph, "main").await;
    let change = ChangeOptions { message: "tidy".to_owned(), ..by_kit() };
    let report = graph.optimize("main", OptimizeOptions { tables: Vec::new(), change }).await.unwrap();
    let commit = report.commit.as_ref().unwrap();
    assert_eq!((commit.reference().as_str(), commit.changes.len()), ("main@7", 1));
    assert_eq!((commit.changes[0].kind.as_str(), commit.changes[0].message.as_str()), ("optimize", "tidy"));
    assert!(commit.changes[0].tables.is_empty(), "no row was changed");
    assert_eq!(tables_of(&report), ["Calls", "City", "Knows", "Person"]);
    for (name, table) in &report.tables {
        assert!(table.fragments_before >= 5 && table.fragments == 1, "{name}: {table:?}");
        assert_eq!(table.rows, commit.rows[name]);
        assert!(table.rewritten_bytes > table.written_bytes && table.written_bytes > 0, "{name}: {table:?}");
    }
    assert!(report.io.puts >= 9, "data and a manifest for each table, and the record: {:?}", report.io);
    // Another process, which has nothing of it in memory.
    let seen = world.open().await;
    assert_eq!(export(&seen, "main").await, before, "edge ids included");
    assert_eq!(export(&seen, "main@6").await, before, "the commit before can be read still");
    assert_ne!(export(&seen, "main@3").await, before);
    assert_whole(&seen).await;
    // It can be written upon as before.
    put(&graph, "main", [person(0, "later"), edge("Calls", 0, 1)]).await;
    assert_eq!(graph.show("main").await.unwrap().rows["Calls"], 11);
    assert_whole(&graph).await;
}

#[tokio::test]
async fn a_second_time_there_is_nothing_to_gain_and_no_commit() {
    let world = World::new();
    let graph = prepared(&world).await;
    assert!(optimize(&graph, "main", &[]).await.commit.is_some());
    for seen in [&graph, &world.open().await] {
        let again = optimize(seen, "main", &[]).await;
        assert!(again.commit.is_none() && again.tables.is_empty(), "{again:?}");
        assert_eq!(again.io.puts, 0);
    }
    assert_eq!(graph.show("main").await.unwrap().seq.0, 7);
    // Nor is there in an empty graph, or in one whose tables are one file each.
    let empty = World::new().init(SCHEMA).await;
    assert!(optimize(&empty, "main", &[]).await.commit.is_none());
    load(&empty, LoadMode::Append, &person(1, "a")).await.unwrap();
    assert!(optimize(&empty, "main", &[]).await.commit.is_none());
}

#[tokio::test]
async fn a_single_file_is_rewritten_once_a_tenth_of_its_rows_is_gone() {
    let world = World::new();
    let graph = world.init(SCHEMA).await;
    let rows: Vec<String> = (0..100).map(|id| person(id, "of many")).collect();
    load(&graph, LoadMode::Append, &rows.join("\n")).await.unwrap();
    let delete =
        |ids: std::ops::Range<i64>| ids.fold(Write::new(), |write, id| write.delete("Person", [id.to_string()]));
    graph.write("main", delete(0..10), by_kit()).await.unwrap();
    assert!(optimize(&graph, "main", &[]).await.commit.is_none());
    graph.write("main", delete(10..20), by_kit()).await.unwrap();
    let report = optimize(&graph, "main", &[]).await;
    let table = report.tables["Person"];
    assert_eq!((table.fragments_before, table.fragments, table.rows), (1, 1, 80));
    assert!(table.written_bytes < table.rewritten_bytes);
    assert_whole(&graph).await;
}

#[tokio::test]
async fn only_the_tables_that_are_named_are_touched_and_only_on_their_branch() {
    let world = World::new();
    let graph = prepared(&world).await;
    graph.create_branch("f", "main", by_kit()).await.unwrap();
    let before = export(&graph, "f").await;
    let report = optimize(&graph, "f", &["Knows", "Person"]).await;
    assert_eq!(tables_of(&report), ["Knows", "Person"]);
    assert_eq!(report.commit.unwrap().reference(), "f@1");
    assert_eq!(tables_of(&optimize(&graph, "f", &[]).await), ["Calls", "City"]);
    assert_eq!(export(&graph, "f").await, before);
    assert_eq!(graph.show("main").await.unwrap().seq.0, 6);
    assert_whole(&graph).await;
}

#[tokio::test]
async fn what_is_not_there_is_refused_with_what_was_meant() {
    let world = World::new();
    let graph = prepared(&world).await;
    let error = try_optimize(&graph, "main", &["City", "Persno"]).await.unwrap_err();
    assert_eq!((error.code(), error.hint().as_deref()), ("unknown-table", Some("did you mean Person?")));
    assert!(error.to_string().contains("Persno"), "{error}");
    assert_eq!(try_optimize(&graph, "mian", &[]).await.unwrap_err().code(), "branch-not-found");
    assert_eq!(try_optimize(&graph, "main@3", &[]).await.unwrap_err().code(), "branch-name-invalid");
    graph.create_branch("f", "main", by_kit()).await.unwrap();
    graph.delete_branch("f", by_kit()).await.unwrap();
    assert_eq!(try_optimize(&graph, "f", &[]).await.unwrap_err().code(), "branch-deleted");
    assert_eq!(graph.show("main").await.unwrap().seq.0, 6);
}

#[tokio::test]
async fn a_head_that_is_not_the_one_that_was_named_is_left_alone() {
    let world = World::new();
    let graph = prepared(&world).await;
    let on = |head: &str| OptimizeOptions {
        change: ChangeOptions { if_head: Some(head.to_owned()), ..by_kit() },
        ..OptimizeOptions::default()
    };
    assert_eq!(graph.optimize("main", on("main@5")).await.unwrap_err().code(), "head-moved");
    assert_eq!(graph.show("main").await.unwrap().seq.0, 6);
    assert!(graph.optimize("main", on("main@6")).await.unwrap().commit.is_some());
}

#[tokio::test]
async fn a_request_that_is_sent_again_is_told_what_it_did() {
    let world = World::new();
    let graph = prepared(&world).await;
    let change = ChangeOptions { request_id: Some("tidy-1".to_owned()), ..by_kit() };
    let options = OptimizeOptions { tables: vec!["Person".to_owned()], change: change.clone() };
    let first = graph.optimize("main", options.clone()).await.unwrap();
    put(&graph, "main", [person(70, "after"), person(0, "after")]).await;
    for seen in [&graph, &world.open().await] {
        let again = seen.optimize("main", options.clone()).await.unwrap();
        assert_eq!((&again.commit, &again.tables), (&first.commit, &first.tables));
        assert_eq!(again.io.puts, 0);
    }
    let write = Write::new().upsert_json(person(71, "other"));
    assert_eq!(graph.write("main", write, change).await.unwrap_err().code(), "request-id-reused");
    assert_eq!(graph.show("main").await.unwrap().seq.0, 8);
    assert_whole(&graph).await;
}

#[tokio::test]
async fn a_failure_publishes_nothing_and_the_next_try_succeeds() {
    use pleach::store::{Fault, RequestKind, When};
    let world = World::new();
    let graph = prepared(&world).await;
    let before = export(&graph, "main").await;
    for when in [When::kind(RequestKind::Put).path("/data/"), When::kind(RequestKind::Get).path("/data/")] {
        let cold = world.open().await;
        world.faults.add(when, Fault::FailBefore);
        let error = try_optimize(&cold, "main", &[]).await.unwrap_err();
        assert!(error.is_retryable(), "{error:?}");
        world.faults.clear();
        assert_eq!(graph.show("main").await.unwrap().seq.0, 6);
    }
    assert!(optimize(&graph, "main", &[]).await.commit.is_some());
    assert_eq!(export(&world.open().await, "main").await, before);
    assert_whole(&graph).await;
}

#[tokio::test]
async fn it_loads_again_as_it_was_exported() {
    let world = World::new();
    let graph = prepared(&world).await;
    optimize(&graph, "main", &[]).await;
    let lines = export(&graph, "main").await;
    graph.create_branch("empty", "main@0", by_kit()).await.unwrap();
    load_into(&graph, "empty", LoadMode::Append, &lines).await.unwrap();
    assert_eq!(export(&graph, "empty").await, lines);
    assert_whole(&graph).await;
}
