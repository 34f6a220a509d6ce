//! A merge of few rows of a large table whose rows are heavy: a vector each, of which the merge should read next to nothing.

use std::io::BufReader;
use std::path::Path;
use std::time::Instant;

use measure::input::{CHUNK_SCHEMA, Lines, chunk};
use measure::process::{forget_peak_memory, peak_memory};
use pleach::{ChangeOptions, Graph, InitOptions, LoadMode, MergeOptions, Write};

use crate::Outcome;
use crate::load::{mib, size};

/// Rows that each side changes for itself, and that both change.
const OWN: u64 = 50;
const BOTH: u64 = 5;

/// The rows of one side as one commit: its own from `first` on, and those of both, each with `title` and `note`.
async fn change(graph: &Graph, branch: &str, rows: u64, first: u64, title: &str, note: &str) -> Outcome {
    let own = (0..OWN).map(|n| (first + n * (rows / OWN)) % rows);
    let both = (0..BOTH).map(|n| (7 + n * (rows / BOTH)) % rows);
    let write = own.chain(both).map(|id| chunk(id, title, note)).fold(Write::new(), Write::upsert_json);
    graph.write(branch, write, ChangeOptions::default()).await?;
    Ok(())
}

/// The bytes of all files in a folder.
fn bytes_in(folder: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() { bytes_in(&entry.path())? } else { metadata.len() };
    }
    Ok(bytes)
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
pub(crate) async fn run() -> Outcome {
    let rows = size("PLEACH_BENCH_CHUNKS", 200_000)?;
    let folder = tempfile::tempdir()?;
    let uri = folder.path().join("graph");
    let uri = uri.to_str().ok_or("the temporary folder's name is not UTF-8")?;
    let graph = Graph::init(uri, CHUNK_SCHEMA, InitOptions::default()).await?;
    let lines = BufReader::with_capacity(1 << 20, Lines::new((0..rows).map(|id| chunk(id, "old", "old"))));
    graph.load("main", "chunks.jsonl", lines, LoadMode::Append, ChangeOptions::default(), &|_, _| {}).await?;
    let bytes = bytes_in(folder.path())?;
    graph.create_branch("f", "main", ChangeOptions::default()).await?;
    change(&graph, "f", rows, 3, "new", "old").await?;
    change(&graph, "main", rows, 5, "old", "new").await?;
    drop(graph);

    // By somebody who has nothing of it in memory.
    let graph = Graph::open(uri).await?;
    forget_peak_memory()?;
    let before = peak_memory();
    let started = Instant::now();
    let report = graph.merge("f", "main", MergeOptions::default()).await?;
    let seconds = started.elapsed().as_secs_f64();
    let table = report.tables.get("Chunk").ok_or("the table was not merged")?;
    if (table.rows, table.rewritten) != (Some(rows), BOTH) {
        return Err(format!("the merge came to something else: {table:?}").into());
    }
    let read = report.io.bytes_read;
    println!("merge-payload: {rows} rows, {:.1} MB, {OWN} changed by each side and {BOTH} by both", bytes as f64 / 1e6);
    println!("  time        {seconds:.2} s ({:?})", report.timings);
    println!("  bytes read  {read} ({:.3} % of the table)", 100.0 * read as f64 / bytes as f64);
    println!("  peak memory {} MiB ({} MiB before the merge)", mib(peak_memory()), mib(before));
    println!("  requests    {:?}", report.io);
    Ok(())
}
