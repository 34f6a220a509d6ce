//! kill -9 at random moments of loads into a local folder: what was acknowledged is there whole, the rest whole or not at
//! all, and nothing has to be repaired.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use kit::cli::{Sandbox, finish};
use kit::graphs::{assert_whole, export};
use pleach::Graph;

use super::{SCHEMA, knows, person};

/// Rows of one round: two nodes and the edge between them, one replaced row, so that each load inserts and removes.
fn lines(round: u64) -> String {
    let (a, b) = (format!("a{round}"), format!("b{round}"));
    let age = i64::try_from(round).expect("few rounds");
    [person("counter", age), person(&a, age), person(&b, age), knows(&a, &b)].join("\n")
}

/// Numbers that look random and are the same for the same seed.
pub(super) fn numbers(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |bound| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    }
}

/// Runs `rounds` loads of which most are killed at some moment between their start and a little after their end.
#[expect(clippy::disallowed_methods, reason = "another process is measured, which has no manual clock")]
async fn killed_loads(seed: u64, rounds: u64) {
    let sandbox = Sandbox::with_graph(SCHEMA);
    let mut below = numbers(seed);
    let load = ["--json", "load", "-", "--mode", "upsert"];
    let started = Instant::now();
    let first = sandbox.run_with_input(&load, lines(0));
    assert_eq!(first.code, Some(0), "{first:?}");
    let usual = started.elapsed();

    let mut acknowledged = vec![0];
    let mut killed = 0;
    for round in 1..=rounds {
        let mut child = sandbox.command(&load).stdin(Stdio::piped()).spawn().expect("the command starts");
        // A child that is killed early does not read its input; the next line is about that one.
        drop(child.stdin.take().expect("a pipe").write_all(lines(round).as_bytes()));
        let moment = u64::try_from((usual * 5 / 4).as_micros()).expect("a short time");
        std::thread::sleep(Duration::from_micros(below(moment)));
        child.kill().expect("the child is ours");
        let outcome = finish(child);
        if outcome.code == Some(0) {
            acknowledged.push(round);
        } else {
            assert_eq!(outcome.code, None, "only the signal ends it: {outcome:?}");
            killed += 1;
        }
    }
    assert!(killed > 0, "no load was killed");

    let graph = Graph::open(sandbox.path().join("graph").to_str().expect("a path in UTF-8")).await.expect("it opens");
    let mut seen: BTreeMap<u64, usize> = BTreeMap::new();
    let mut counter = None;
    for line in export(&graph, "main").await.lines() {
        let row: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        let id = row["from"].as_str().or(row["data"]["id"].as_str()).expect("a key").to_owned();
        match id.strip_prefix(['a', 'b']) {
            Some(round) => *seen.entry(round.parse().expect("a round")).or_default() += 1,
            None => counter = row["data"]["age"].as_u64(),
        }
    }
    for round in &acknowledged {
        assert_eq!(seen.get(round), Some(&3), "round {round} was acknowledged (seed {seed})");
    }
    assert!(seen.values().all(|rows| *rows == 3), "a load is there whole or not at all (seed {seed}): {seen:?}");
    assert_eq!(counter, seen.keys().max().copied(), "the last load decides (seed {seed})");
    let commits = graph.log("main", usize::MAX).await.expect("a log").len();
    assert_eq!(commits, seen.len() + 1, "one commit for each load, and the first one (seed {seed})");
    let after = sandbox.run_with_input(&load, lines(rounds + 1));
    assert_eq!(after.code, Some(0), "it goes on without a repair: {after:?}");
    assert_whole(&graph).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_during_loads_one() {
    killed_loads(1, 100).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_during_loads_two() {
    killed_loads(2, 100).await;
}
