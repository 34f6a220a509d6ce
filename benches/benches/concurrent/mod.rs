//! Many merges at once, behind 30 ms for each round trip: in memory, and on a real S3 server where there is one.
//!
//! A line for each case: how long one such merge takes alone, when the first, the middle and the last of the batch are done, and what the
//! last costs in relation to the one alone. Contents and receipts are checked each time; a wrong one fails the benchmark.

mod batch;
mod graph;

use std::time::Duration;

use measure::figures::{millis, quantile};
use measure::place::Place;
use serde_json::json;

use self::batch::{Case, Figures, Shape};
use crate::Outcome;
use crate::load::{mib, size};

/// What a round trip takes at least.
const DELAY: Duration = Duration::from_millis(30);

fn cases(most: usize) -> Vec<Case> {
    let usual = Case { shape: Shape::Independent, merges: most, tables: 1, depth: 10, branches: 10 };
    let counts = [1, 2, 4, 8, 16, 32].into_iter().filter(|merges| *merges <= most);
    let mut cases: Vec<Case> = counts.map(|merges| Case { merges, ..usual }).collect();
    cases.extend([
        Case { merges: 1, tables: 8, ..usual },
        Case { tables: 8, ..usual },
        Case { shape: Shape::FastForward, ..usual },
        Case { shape: Shape::OneSource, ..usual },
        Case { shape: Shape::OneTarget, ..usual },
        Case { depth: 3_000, ..usual },
        Case { branches: 1_000, ..usual },
    ]);
    cases
}

pub(crate) async fn run(json: bool) -> Outcome {
    let most = usize::try_from(size("PLEACH_BENCH_MERGES", 32)?)?;
    if !json {
        println!("concurrent-merges: times in ms, +{} ms for each round trip", DELAY.as_millis());
        println!(
            "  {:<18} {:<12} {:>6} {:>6} {:>6} {:>8} | {:>7} {:>7} | {:>7} {:>7} {:>7} {:>6} | {:>7} {:>7} | {:>6} {:>6} {:>9} | {:>5} {:>5}",
            "place",
            "shape",
            "merges",
            "tables",
            "depth",
            "branches",
            "alone",
            "after",
            "first",
            "median",
            "last",
            "ratio",
            "worked",
            "queued",
            "rounds",
            "each",
            "all",
            "MiB",
            "peak"
        );
    }
    for case in cases(most) {
        for on_server in [false, true] {
            let place = if on_server { Place::server().await } else { Some(Place::memory()) };
            let Some(place) = place else { continue };
            let figures = case.run(&place, DELAY).await?;
            tell(&case, place.name(), &figures, json);
        }
    }
    Ok(())
}

fn tell(case: &Case, place: &str, figures: &Figures, json: bool) {
    let all = |durations: &[Duration]| durations.iter().map(|one| millis(*one)).collect::<Vec<f64>>();
    let (done, queued, worked) = (all(&figures.done), all(&figures.queued), all(&figures.worked));
    let alone = figures.alone.map(millis);
    let last = quantile(&done, 1.0);
    let ratio = (last / quantile(&alone, 0.0) * 100.0).round() / 100.0;
    let Case { shape, merges, tables, depth, branches } = *case;
    if json {
        let line = json!({
            "benchmark": "concurrent-merges", "place": place, "delay_ms": millis(DELAY), "shape": shape.name(),
            "merges": merges, "tables": tables, "depth": depth, "branches": branches,
            "alone_ms": alone, "done_ms": done, "ratio": ratio, "queued_ms": queued, "worked_ms": worked,
            "alone_requests": figures.io.requests(), "alone_serial_rounds": figures.io.serial_depth,
            "requests": figures.batch_io.requests(), "memory_bytes": figures.memory,
        });
        println!("{line}");
        return;
    }
    let [idle, peak] = figures.memory.map(mib);
    let middle = |values: &[f64]| quantile(values, 0.5);
    println!(
        "  {place:<18} {:<12} {merges:>6} {tables:>6} {depth:>6} {branches:>8} | {:>7.1} {:>7.1} | {:>7.1} {:>7.1} {last:>7.1} {ratio:>6.2} | {:>7.1} {:>7.1} | {:>6} {:>6} {:>9} | {idle:>5} {peak:>5}",
        shape.name(),
        alone[0],
        alone[1],
        quantile(&done, 0.0),
        middle(&done),
        middle(&worked),
        middle(&queued),
        figures.io.serial_depth,
        figures.io.requests(),
        figures.batch_io.requests(),
    );
}
