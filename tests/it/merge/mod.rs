//! Merges, on the store that all tests share: what they bring together, what they refuse, what they cost and how many go at once.

mod concurrent;
mod concurrent_rows;
mod constraints;
pub(crate) mod costs;
mod edges;
mod gates;
mod history;
mod model;
mod on_merge;
mod outcomes;
mod payload;
mod plans;
mod random;
mod random_schemas;
mod resolving;
mod rows;
mod rules;
mod schema_cases;
mod schemas;
mod truth;

use kit::graphs::{by_kit, export};
use pleach::{CommitInfo, Conflict, Error, Graph, MergeOptions, MergeReport, Write};

/// Two kinds of nodes and edges among one and between both.
const SCHEMA: &str = "
CREATE NODE TABLE Person (id INT64 PRIMARY KEY, name STRING);
CREATE NODE TABLE City (id INT64 PRIMARY KEY, name STRING);
CREATE REL TABLE Knows (FROM Person TO Person);
CREATE REL TABLE Lives (FROM Person TO City);
";

fn person(id: i64, name: &str) -> String {
    format!(r#"{{"table":"Person","data":{{"id":{id},"name":"{name}"}}}}"#)
}

fn city(id: i64, name: &str) -> String {
    format!(r#"{{"table":"City","data":{{"id":{id},"name":"{name}"}}}}"#)
}

fn knows(from: i64, to: i64) -> String {
    format!(r#"{{"table":"Knows","from":{from},"to":{to},"data":{{}}}}"#)
}

fn lives(from: i64, to: i64) -> String {
    format!(r#"{{"table":"Lives","from":{from},"to":{to},"data":{{}}}}"#)
}

/// Rows 1 to 3 of each kind of node, and an edge of each kind, on `main`.
async fn prepare(graph: &Graph) {
    let rows = (1..=3).flat_map(|id| [person(id, "old"), city(id, "old")]);
    put(graph, "main", rows.chain([knows(1, 2), lives(1, 1)])).await;
}

/// Puts rows into a branch as one commit.
async fn put(graph: &Graph, branch: &str, rows: impl IntoIterator<Item = String>) -> CommitInfo {
    write(graph, branch, rows.into_iter().fold(Write::new(), Write::upsert_json)).await
}

async fn write(graph: &Graph, branch: &str, write: Write) -> CommitInfo {
    graph.write(branch, write, by_kit()).await.unwrap().commit.expect("it changes something")
}

async fn branch(graph: &Graph, name: &str, from: &str) {
    graph.create_branch(name, from, by_kit()).await.unwrap();
}

fn options() -> MergeOptions {
    MergeOptions { change: by_kit(), ..MergeOptions::default() }
}

async fn try_merge(graph: &Graph, source: &str, into: &str) -> Result<MergeReport, Error> {
    graph.merge(source, into, options()).await
}

async fn merge(graph: &Graph, source: &str, into: &str) -> MergeReport {
    try_merge(graph, source, into).await.unwrap()
}

/// The rows of a commit that tell of `part`.
async fn rows(graph: &Graph, reference: &str, part: &str) -> Vec<String> {
    export(graph, reference).await.lines().filter(|line| line.contains(part)).map(str::to_owned).collect()
}

/// The merge bases as references.
fn bases(report: &MergeReport) -> Vec<String> {
    report.bases.iter().map(pleach::ParentInfo::reference).collect()
}

/// A refusal's code and its conflicts, a line each.
fn conflicts(error: &Error) -> (&'static str, Vec<String>) {
    (error.code(), error.conflicts().iter().map(short).collect())
}

/// A conflict without its values.
fn short(conflict: &Conflict) -> String {
    let Conflict { kind, table, key, property, with, .. } = conflict;
    let mut text = format!("{}: {table}", kind.as_str());
    for part in [key, property].into_iter().flatten() {
        text = format!("{text} {part}");
    }
    let with: Vec<String> = with.iter().map(|row| format!("{} {}", row.table, row.key)).collect();
    if with.is_empty() { text } else { format!("{text} with {}", with.join(", ")) }
}
