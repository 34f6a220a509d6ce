//! Processes that branch, change rows of the same tables, merge and delete on a real server: every row and every merge is there.

use std::collections::BTreeSet;
use std::time::Instant;

use kit::graphs::{assert_whole, by_kit, export, init_options};
use kit::rig::Rig;
use pleach::{Graph, Write};

use super::person;
use super::processes::{Process, Task, job};

/// How often by default; the variable asks for another number.
const TIMES: u32 = 1;
const VARIABLE: &str = "PLEACH_S3_MERGE_ROUNDS";

const WORKERS: usize = 3;
const ROUNDS: usize = 4;

const SCHEMA: &str = "
CREATE NODE TABLE Person (id STRING PRIMARY KEY, name STRING, age INT64);
CREATE NODE TABLE Shared (id STRING PRIMARY KEY, w0 INT64, w1 INT64, w2 INT64, n INT64 MERGE sum);
";

async fn branch_merge_and_delete(rig: &Rig, prefix: &str) {
    let store = rig.store(prefix, &rig.direct()).await;
    let graph = Graph::init_on(store, SCHEMA, init_options()).await.expect("a new graph");
    let first = Write::new().insert_json(person("first", 1));
    let first = first.insert_json(r#"{"table":"Shared","data":{"id":"all","n":0}}"#);
    graph.write("main", first, by_kit()).await.expect("a commit");
    let folder = tempfile::tempdir().expect("a folder");
    let start = |worker: usize| {
        let job = job(folder.path(), rig, &rig.direct(), &format!("w{worker}"), ROUNDS, Task::Merges);
        Process::start(job.at(rig.uri(prefix)))
    };
    let processes: Vec<Process> = (0..WORKERS).map(start).collect();
    let reports: Vec<_> = processes.into_iter().map(Process::finish).collect();

    let log = graph.log("main", usize::MAX).await.expect("a log");
    assert_eq!(log.len(), 2 + WORKERS * ROUNDS, "{log:#?}");
    let merges = log.iter().filter(|commit| commit.changes[0].kind.as_str() == "merge" && commit.parents.len() == 2);
    let merges: BTreeSet<String> = merges.map(|commit| commit.id.to_string()).collect();
    let told: BTreeSet<String> = reports.iter().flat_map(|report| report.acknowledged.values().cloned()).collect();
    assert_eq!((merges.len(), &merges), (WORKERS * ROUNDS, &told), "every merge that was told of, and no other");
    let rows = export(&graph, "main").await;
    for name in (0..WORKERS).flat_map(|worker| (0..ROUNDS).map(move |round| format!("w{worker}-{round}"))) {
        assert_eq!(rows.matches(&person(&name, 1)).count(), 1, "{name}: {rows}");
    }
    // Of each process its last value, and one for each merge.
    let shared = format!(r#""id":"all","w0":{0},"w1":{0},"w2":{0},"n":{1}"#, ROUNDS - 1, WORKERS * ROUNDS);
    assert!(rows.contains(&shared), "{rows}");
    assert_eq!(rows.lines().count(), 2 + WORKERS * ROUNDS, "{rows}");
    assert_eq!(graph.branches().await.expect("branches").len(), 1);
    assert_whole(&graph).await;
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::disallowed_methods, reason = "other processes are measured, which have no manual clock")]
async fn processes_that_branch_merge_and_delete_lose_nothing() {
    let Some(rig) = Rig::find() else { return };
    let times = std::env::var(VARIABLE).ok().and_then(|times| times.parse().ok()).unwrap_or(TIMES);
    for time in 0..times {
        let begun = Instant::now();
        branch_merge_and_delete(&rig, &format!("graph-{time}")).await;
        println!("on {}: {WORKERS} processes of {ROUNDS} merges took {:?}", rig.server, begun.elapsed());
    }
}
