//! One load of a large JSON Lines file into a new graph in a local folder.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::time::Instant;

use measure::input::{SOCIAL_SCHEMA, write_social};
use measure::process::peak_memory;
use pleach::{ChangeOptions, Graph, InitOptions, LoadMode};

use crate::Outcome;

/// A number from the environment.
pub(crate) fn size(variable: &str, default: u64) -> Result<u64, Box<dyn std::error::Error>> {
    match std::env::var(variable) {
        Ok(text) => text.parse().map_err(|e| format!("{variable}={text}: {e}").into()),
        Err(_) => Ok(default),
    }
}

/// Bytes in MiB, for people.
#[expect(clippy::cast_precision_loss, reason = "whole MiB are shown")]
pub(crate) fn mib(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "?".to_owned(), |bytes| format!("{:.0}", bytes as f64 / 1_048_576.0))
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
pub(crate) async fn run() -> Outcome {
    let (nodes, edges) = (size("PLEACH_BENCH_NODES", 100_000)?, size("PLEACH_BENCH_EDGES", 1_000_000)?);
    let folder = tempfile::tempdir()?;
    let input = folder.path().join("social.jsonl");
    let mut file = BufWriter::new(File::create(&input)?);
    write_social(&mut file, nodes, edges, 1)?;
    file.flush()?;
    let bytes = input.metadata()?.len();

    let uri = folder.path().join("graph");
    let uri = uri.to_str().ok_or("the temporary folder's name is not UTF-8")?;
    let graph = Graph::init(uri, SOCIAL_SCHEMA, InitOptions::default()).await?;
    let before = peak_memory();
    let started = Instant::now();
    let reader = BufReader::with_capacity(1 << 20, File::open(&input)?);
    let report =
        graph.load("main", "social.jsonl", reader, LoadMode::Append, ChangeOptions::default(), &|_, _| {}).await?;
    let seconds = started.elapsed().as_secs_f64();
    let inserted: u64 = report.tables.values().map(|counts| counts.inserted).sum();
    if inserted != nodes + edges {
        return Err(format!("{inserted} rows came in, not {}", nodes + edges).into());
    }
    println!("load-jsonl: {nodes} nodes, {edges} edges, {:.1} MB of JSON Lines", bytes as f64 / 1e6);
    println!("  time        {seconds:.2} s ({:.0} rows/s)", inserted as f64 / seconds);
    println!("  peak memory {} MiB ({} MiB before the load)", mib(peak_memory()), mib(before));
    println!("  requests    {:?}", report.io);
    Ok(())
}
