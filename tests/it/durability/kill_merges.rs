//! kill -9 at random moments of merges of rows in a local folder: the target is as it was or merged whole, can be written to, and the same
//! merge is done by asking again.

use std::time::{Duration, Instant};

use kit::cli::{Sandbox, finish};
use kit::graphs::{assert_whole, export};
use pleach::Graph;

use super::kill::numbers;
use super::{SCHEMA, person};

/// Rows of a branch: its own, and the one that all share with another name and the age that it had.
fn rows(round: u64) -> String {
    let own = person(&format!("own{round}"), 1);
    format!("{own}\n{}", shared(&format!("of {round}"), round.checked_sub(1)))
}

fn shared(name: &str, age: Option<u64>) -> String {
    let age = age.map_or_else(String::new, |age| format!(r#","age":{age}"#));
    format!(r#"{{"table":"Person","data":{{"id":"shared","name":"{name}"{age}}}}}"#)
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::disallowed_methods, reason = "another process is measured, which has no manual clock")]
async fn a_killed_merge_is_there_whole_or_not_at_all() {
    const ROUNDS: u64 = 30;
    let sandbox = Sandbox::with_graph(SCHEMA);
    let load = |branch: &str, lines: String| {
        let loaded = sandbox.run_with_input(&["load", "-", "--mode", "upsert", "--branch", branch], lines);
        assert_eq!(loaded.code, Some(0), "{loaded:?}");
    };
    load("main", shared("of nobody", None));
    let uri = sandbox.path().join("graph");
    let graph = Graph::open(uri.to_str().expect("a path in UTF-8")).await.expect("it opens");
    let mut below = numbers(7);
    let mut usual = Duration::ZERO;
    let (mut killed, mut came) = (0, 0);
    for round in 0..ROUNDS {
        let branch = format!("f{round}");
        sandbox.ok(&["branch", "create", &branch]);
        load(&branch, rows(round));
        // The same row, another property: it is written anew.
        let set = format!("MATCH (p:Person {{id: 'shared'}}) SET p.age = {round}");
        sandbox.ok(&["run", &set]);
        let before = export(&graph, "main").await;
        let merge = ["merge", &branch, "--into", "main", "--json"];
        if round == 0 {
            let started = Instant::now();
            sandbox.ok(&merge);
            usual = started.elapsed();
        } else {
            let mut child = sandbox.command(&merge).spawn().expect("the command starts");
            let moment = u64::try_from((usual * 5 / 4).as_micros()).expect("a short time");
            std::thread::sleep(Duration::from_micros(below(moment)));
            child.kill().expect("the child is ours");
            killed += u64::from(finish(child).code.is_none());
        }
        let found = export(&graph, "main").await;
        // Nothing is repaired: the target is written to, and the merge asked for again.
        load("main", person("after", i64::try_from(round).expect("few rounds")));
        let again = sandbox.ok(&merge).json();
        let is_there = again["commit"].is_null();
        came += u64::from(is_there);
        assert_eq!(is_there, found != before, "round {round}: {again}");
        let merged = export(&graph, "main").await;
        for row in [person(&format!("own{round}"), 1), shared(&format!("of {round}"), Some(round))] {
            assert!(merged.contains(&row), "round {round}: {row} in {merged}");
            assert_eq!(found.contains(&row), is_there, "round {round}: {row} in {found}");
        }
    }
    println!("{killed} of {ROUNDS} merges were killed, {came} came through");
    assert!(killed > 0, "no merge was killed");
    assert_whole(&graph).await;
}
