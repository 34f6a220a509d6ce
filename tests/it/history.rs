//! Times and references: what was is found again, exactly.

use std::time::Duration;

use kit::cli::Sandbox;
use kit::graphs::{by_kit, export, init_options, memory_uri};
use pleach::clock::{Clock, Timestamp};
use pleach::{ChangeOptions, Graph, Write};

const SCHEMA: &str = "CREATE NODE TABLE Person (id STRING PRIMARY KEY);";

fn person(id: &str) -> Write {
    Write::new().insert_json(format!(r#"{{"table":"Person","data":{{"id":"{id}"}}}}"#))
}

#[tokio::test]
async fn commit_times_are_apart_and_an_authors_own_time_is_kept_beside_them() {
    let clock = Clock::manual("2024-01-31T12:00:00Z".parse().unwrap(), 1);
    let builder = Graph::builder().with_clock(clock.clone());
    let graph = builder.init(&memory_uri(), SCHEMA, init_options()).await.expect("a graph");
    let author_times = [None, Some(Timestamp(0)), None];
    let mut commits = Vec::new();
    for (id, author_time) in ["a", "b", "c"].into_iter().zip(author_times) {
        clock.advance(Duration::from_secs(2));
        let options = ChangeOptions { author_time, ..by_kit() };
        commits.push(graph.write("main", person(id), options).await.expect("a write").commit.expect("a commit"));
    }
    for pair in commits.windows(2) {
        assert!(pair[1].time.0 - pair[0].time.0 >= 2_000_000, "{pair:?}");
    }
    let listed = graph.log("main", 10).await.expect("a log");
    for (number, (commit, author_time)) in commits.iter().zip(author_times).enumerate() {
        let expected = author_time.unwrap_or(commit.time);
        let views = [&listed[2 - number], commit, &graph.show(&format!("main@{}", commit.id)).await.expect("it")];
        for view in views {
            assert_eq!((view.time, view.changes[0].author_time), (commit.time, expected));
        }
        assert_eq!(commit.time.to_string().len(), "2024-01-31T12:00:00.000000Z".len(), "one precision");

        // As of a moment between commits: the last one before it, whatever time its author gave.
        let between = commit.time.plus_micros(1_000_000);
        let found = graph.show(&format!("main@{between}")).await.expect("a commit");
        assert_eq!(found.id, commit.id);
        let rows: Vec<&str> = ["a", "b", "c"][..=number].to_vec();
        let seen = export(&graph, &format!("main@{between}")).await;
        assert_eq!(seen.lines().count(), rows.len());
        assert!(rows.iter().all(|id| seen.contains(&format!("\"{id}\""))));
    }
    assert_eq!(listed[1].changes[0].author_time.to_string(), "1970-01-01T00:00:00.000000Z");
}

#[test]
fn the_command_line_takes_an_authors_time() {
    let sandbox = Sandbox::with_graph(SCHEMA);
    let line = r#"{"table":"Person","data":{"id":"a"}}"#;
    let load = ["--json", "--date", "1970-01-01T01:00:00+01:00", "load", "-"];
    let commit = sandbox.run_with_input(&load, line).json()["commit"].clone();
    assert_eq!(commit["changes"][0]["author_time"], "1970-01-01T00:00:00.000000Z");
    assert!(commit["time"].as_str().is_some_and(|time| time > "2024"));
    let wrong = sandbox.fails(2, &["--date", "yesterday", "log"]);
    assert!(wrong.stderr.contains("2024-01-31T12:00:00Z"), "{wrong:?}");
}
