//! How much memory a process takes that opens an old graph, whose log and list of branches are long, though never optimized.
//!
//! Memory is a process's, so a test starts this binary once more for one of the ignored ones. That after three thousand commits is in
//! the budgets, which have such a graph.

use std::fs;
use std::process::Command;

use futures::{StreamExt as _, TryStreamExt as _};
use kit::graphs::{by_kit, write};
use kit::world::World;
use object_store::{ObjectStore as _, ObjectStoreExt as _};
use pleach::{Graph, Write};
use tempfile::TempDir;

use super::budgets::{SCHEMA, key, person};

/// Tells the process of a test which graph to open.
const GRAPH: &str = "PLEACH_TEST_MEMORY_OF";

/// What a process may take at its peak, in MiB.
const MOST: u64 = 256;

/// What one process is asked to do.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Task {
    /// Reads the person `p00003`.
    ReadByKey,
    /// Lists the branches, of which one is `b3`.
    ListBranches,
}

impl Task {
    /// What more it may take on a long history than on a short one, in MiB: never the history, but the list that was asked for and
    /// the heads that are kept, 64 MiB of them at most.
    fn most_more(self) -> u64 {
        match self {
            Self::ReadByKey => 32,
            Self::ListBranches => 96,
        }
    }

    /// The test that does it.
    fn test(self) -> &'static str {
        match self {
            Self::ReadByKey => "memory::a_read_by_key",
            Self::ListBranches => "memory::a_list_of_branches",
        }
    }
}

/// The peak memory, in MiB, of a process that opens the graph of `world`, as files, and does `task`.
pub(crate) async fn peak_of(task: Task, world: &World) -> u64 {
    let folder = TempDir::new().unwrap();
    let objects = world.objects();
    let keys: Vec<_> = objects.list(None).map_ok(|meta| meta.location).try_collect().await.unwrap();
    for key in keys {
        let path = folder.path().join(key.as_ref());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, objects.get(&key).await.unwrap().bytes().await.unwrap()).unwrap();
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", task.test(), "--ignored", "--nocapture", "--test-threads=1"])
        .env(GRAPH, folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let peak = text.lines().find_map(|line| line.split_once("peak ")).expect(&text).1;
    peak.parse::<u64>().unwrap() / 1024
}

/// Fails if a task takes too much memory on a long history, given what it takes on a short one.
pub(crate) fn assert_takes_little(task: Task, short: u64, long: u64) {
    assert!(long <= MOST && long <= short + task.most_more(), "{task:?}: {long} MiB, on a short history {short} MiB");
}

/// The most memory this process has held at once, in KiB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse().unwrap()
}

async fn open() -> Graph {
    let graph = std::env::var(GRAPH).expect("the tests of this module start this one");
    Graph::open(&graph).await.unwrap()
}

#[tokio::test]
#[ignore = "measured by the other tests, which run it in a process of its own"]
async fn a_read_by_key() {
    let graph = open().await;
    assert!(graph.get("main", "Person", &key(3)).await.unwrap().is_some());
    println!("\npeak {}", peak());
}

#[tokio::test]
#[ignore = "measured by the other tests, which run it in a process of its own"]
async fn a_list_of_branches() {
    let branches = open().await.branches().await.unwrap();
    assert!(branches.iter().any(|branch| branch.name == "b3"));
    println!("\npeak {}", peak());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cold_read_and_a_list_take_little_memory_with_ten_thousand_branches() {
    let world = World::new();
    let graph = world.init(SCHEMA).await;
    for id in 0..10 {
        write(&graph, Write::new().insert_json(person(id))).await.unwrap();
    }
    let mut peaks = Vec::new();
    for numbers in [0..10, 10..10_000] {
        futures::stream::iter(numbers)
            .for_each_concurrent(16, |n| {
                let graph = graph.clone();
                async move { drop(graph.create_branch(&format!("b{n}"), "main", by_kit()).await.unwrap()) }
            })
            .await;
        peaks.push([peak_of(Task::ReadByKey, &world).await, peak_of(Task::ListBranches, &world).await]);
    }
    assert_takes_little(Task::ReadByKey, peaks[0][0], peaks[1][0]);
    assert_takes_little(Task::ListBranches, peaks[0][1], peaks[1][1]);
}
