//! Graphs to test on, and what one asks of them again and again.

use std::io::Cursor;
use std::sync::atomic::{AtomicU64, Ordering};

use pleach::{ChangeOptions, Error, Graph, InitOptions, LoadMode, LoadReport, Params, RunReport, Write, WriteReport};

/// An address in memory that no other test has.
#[must_use]
pub fn memory_uri() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("memory://kit-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A new graph in memory.
///
/// # Panics
/// If it cannot be made.
pub async fn graph(ddl: &str) -> Graph {
    Graph::init(&memory_uri(), ddl, init_options()).await.expect("a new graph")
}

/// Options to make a graph with.
#[must_use]
pub fn init_options() -> InitOptions {
    InitOptions { author: "kit".to_owned(), ..InitOptions::default() }
}

/// Options for any change.
#[must_use]
pub fn by_kit() -> ChangeOptions {
    ChangeOptions { author: "kit".to_owned(), ..ChangeOptions::default() }
}

/// Loads lines into `main`.
///
/// # Errors
/// Those of the load.
pub async fn load(graph: &Graph, mode: LoadMode, lines: &str) -> Result<LoadReport, Error> {
    load_into(graph, "main", mode, lines).await
}

/// Loads lines into a branch.
///
/// # Errors
/// Those of the load.
pub async fn load_into(graph: &Graph, branch: &str, mode: LoadMode, lines: &str) -> Result<LoadReport, Error> {
    graph.load(branch, "in.jsonl", Cursor::new(lines.as_bytes().to_vec()), mode, by_kit(), &|_, _| {}).await
}

/// Writes to `main`.
///
/// # Errors
/// Those of the write.
pub async fn write(graph: &Graph, write: Write) -> Result<WriteReport, Error> {
    graph.write("main", write, by_kit()).await
}

/// Runs a statement without parameters on `main`.
///
/// # Errors
/// Those of the statement.
pub async fn run(graph: &Graph, statement: &str) -> Result<RunReport, Error> {
    graph.run("main", statement, Params::new(), by_kit()).await
}

/// All of a commit as JSON Lines.
///
/// # Panics
/// If it cannot be read.
pub async fn export(graph: &Graph, reference: &str) -> String {
    let mut out = Vec::new();
    graph.export(reference, &[], &mut out).await.expect("an export");
    String::from_utf8(out).expect("exports are UTF-8")
}

/// Asserts that `fsck` finds nothing, in any commit.
///
/// # Panics
/// If it does.
pub async fn assert_whole(graph: &Graph) {
    let report = graph.fsck_deep(&[]).await.expect("a check");
    assert!(report.problems.is_empty(), "{:#?}", report.problems);
}
