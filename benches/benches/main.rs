//! Macro-benchmarks: whole operations, timed once or a few times, with their requests, serial rounds and peak memory.
//!
//! `./dev bench` runs all of them, `./dev bench load` those whose name contains `load`. Sizes come from the environment:
//! `PLEACH_BENCH_NODES` (100,000), `PLEACH_BENCH_EDGES` (1,000,000), `PLEACH_BENCH_CHUNKS` (200,000), `PLEACH_BENCH_MERGES` (at most; 32),
//! `PLEACH_BENCH_WRITERS` (at most; 16,384) and `PLEACH_BENCH_SECONDS` (10; six times that, at most 60, from 1,024 writers on).
#![allow(clippy::print_stdout, reason = "a benchmark reports on standard output")]

mod coalescing;
mod concurrent;
mod load;
mod merge;

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> Outcome {
    // Cargo passes `--bench`; whatever else is given selects by name.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let json = std::env::args().any(|arg| arg == "--json");
    let selected = |name: &str| wanted.is_empty() || wanted.iter().any(|part| name.contains(part.as_str()));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    if selected("load-jsonl") {
        runtime.block_on(load::run())?;
    }
    if selected("merge-payload") {
        runtime.block_on(merge::run())?;
    }
    if selected("concurrent-merges") {
        runtime.block_on(concurrent::run(json))?;
    }
    if selected("coalescing") {
        runtime.block_on(coalescing::run())?;
    }
    Ok(())
}
