//! What operations cost, in requests and serial rounds: counted on a store, never timed. The cost must not grow with the
//! number of commits or branches.
//!
//! Requests take a moment while costs are counted, so that those that are made side by side overlap, as they would on a
//! real store.

use std::time::Duration;

use futures::StreamExt as _;
use kit::graphs::{assert_whole, by_kit, write};
use kit::world::World;
use pleach::store::IoStats;
use pleach::{Graph, Write};

use super::memory::{Task, assert_takes_little, peak_of};
use crate::merge::costs::MergeCosts;

pub(crate) const SCHEMA: &str = "
CREATE NODE TABLE Person (id STRING PRIMARY KEY, name STRING, age INT64);
CREATE NODE TABLE Tag (id STRING PRIMARY KEY);
CREATE REL TABLE Has (FROM Person TO Tag);
";

pub(crate) fn person(id: u64) -> String {
    format!(r#"{{"table":"Person","data":{{"id":"p{id:05}","name":"Name of {id}","age":{}}}}}"#, id % 100)
}

pub(crate) fn key(id: u64) -> [String; 1] {
    [format!("\"p{id:05}\"")]
}

async fn commit(graph: &Graph, id: u64) -> IoStats {
    let _ = graph.take_io();
    write(graph, Write::new().insert_json(person(id))).await.expect("a write").io
}

async fn read(graph: &Graph, id: u64) -> IoStats {
    let _ = graph.take_io();
    assert!(graph.get("main", "Person", &key(id)).await.expect("a read").is_some());
    graph.take_io()
}

/// The most that any of several measurements came to.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Most {
    requests: u64,
    serial: u64,
    lists: u64,
}

impl Most {
    fn see(&mut self, io: &IoStats) {
        self.requests = self.requests.max(io.requests());
        self.serial = self.serial.max(io.serial_depth);
        self.lists = self.lists.max(io.lists);
    }
}

/// Costs around one length of history: the most over as many commits as a fold lets come together, since a fold makes the
/// cost a saw-tooth.
#[derive(Debug, Default)]
struct Costs {
    write_warm: Most,
    read_warm: Most,
    read_cold: Most,
}

const SAW_TOOTH: u64 = 18;

/// Long enough that requests made side by side overlap on a busy machine.
const DELAY: Duration = Duration::from_millis(40);

async fn costs(world: &World, graph: &Graph, next: &mut u64) -> Costs {
    let mut costs = Costs::default();
    world.faults.delay_all(DELAY);
    for _ in 0..SAW_TOOTH {
        costs.write_warm.see(&commit(graph, *next).await);
        read(graph, *next).await;
        costs.read_warm.see(&read(graph, *next).await);
        let store = world.store();
        let cold = Graph::open_on(store.clone()).await.expect("it opens");
        assert!(cold.get("main", "Person", &key(*next)).await.expect("a read").is_some());
        costs.read_cold.see(&store.io().take());
        *next += 1;
    }
    world.faults.clear();
    costs
}

#[tokio::test(flavor = "multi_thread")]
async fn costs_are_the_same_after_twenty_and_after_three_thousand_commits() {
    const COMMITS: u64 = 3_000;
    let world = World::new();
    let graph = world.init(SCHEMA).await;
    let mut next = 0;
    // The first fold is behind, so that each window sees one whole tooth.
    while next < 20 {
        commit(&graph, next).await;
        next += 1;
    }
    let young = costs(&world, &graph, &mut next).await;
    let memory = peak_of(Task::ReadByKey, &world).await;
    let young_merges = MergeCosts::measure(&world, &graph, "young").await;
    while next < COMMITS {
        commit(&graph, next).await;
        next += 1;
    }
    let old = costs(&world, &graph, &mut next).await;
    let old_merges = MergeCosts::measure(&world, &graph, "old").await;
    assert_eq!((young.read_warm, young.read_cold), (old.read_warm, old.read_cold));
    // The look at the head that is remembered goes beside what is staged, where that begins before it is answered: two rounds or three.
    assert_eq!(young.write_warm.requests, old.write_warm.requests);
    assert!(old.write_warm.serial <= 3 && old.write_warm.lists == 0, "{old:?}");
    assert_takes_little(Task::ReadByKey, memory, peak_of(Task::ReadByKey, &world).await);
    assert_eq!(young_merges, old_merges);
    young_merges.check();
    assert!(young.write_warm.serial <= 3, "{young:?}");
    assert!(young.read_warm.serial <= 3, "{young:?}");
    assert!(young.read_cold.serial <= 8, "{young:?}");
    assert_eq!((young.write_warm.lists, young.read_warm.lists), (0, 0));
    assert_eq!(young.read_cold.lists, 1, "the head, and nothing else, is listed");
    assert_eq!(graph.show("main").await.expect("a head").rows.get("Person"), Some(&next));
    assert_whole_head(&graph).await;
}

async fn assert_whole_head(graph: &Graph) {
    let report = graph.fsck(&[]).await.expect("a check");
    assert!(report.problems.is_empty(), "{:#?}", report.problems);
}

#[tokio::test(flavor = "multi_thread")]
async fn costs_are_the_same_with_ten_and_with_a_thousand_branches() {
    let world = World::new();
    let graph = world.init(SCHEMA).await;
    let mut next = 0;
    let mut branches = 0;
    let mut seen = Vec::new();
    for target in [10, 1_000] {
        let more: Vec<String> = (branches..target).map(|n| format!("b{n}")).collect();
        futures::stream::iter(more)
            .for_each_concurrent(16, |name| {
                let graph = graph.clone();
                async move {
                    graph.create_branch(&name, "main", by_kit()).await.expect("a branch");
                }
            })
            .await;
        branches = target;
        // The first fold is behind, so that each window sees one whole tooth.
        while next < 20 {
            commit(&graph, next).await;
            next += 1;
        }
        world.faults.delay_all(DELAY);
        let mut warm = Most::default();
        let _ = graph.take_io();
        graph.create_branch(&format!("warm{target}"), "main", by_kit()).await.expect("a branch");
        warm.see(&graph.take_io());
        let store = world.store();
        let cold = Graph::open_on(store.clone()).await.expect("it opens");
        cold.create_branch(&format!("cold{target}"), "main", by_kit()).await.expect("a branch");
        let mut cost = Most::default();
        cost.see(&store.io().take());
        assert!(warm.serial <= 2, "{warm:?}");
        assert!(cost.serial <= 3, "{cost:?}");
        let store = world.store();
        let cold = Graph::open_on(store.clone()).await.expect("it opens");
        assert!(cold.get("main", "Person", &key(0)).await.expect("a read").is_some());
        let read = store.io().take();
        assert!(read.serial_depth <= 8 && read.lists == 1, "{read:?}");
        // Only a listing asks about each branch: for its head and that head's record, many side by side.
        let store = world.store();
        let cold = Graph::open_on(store.clone()).await.expect("it opens");
        let listed = cold.branches().await.expect("branches").len() as u64;
        let listing = store.io().take();
        assert!(listed > target && listing.requests() <= 2 * listed + 8, "{listed} {listing:?}");
        assert!(listing.serial_depth <= 6 + listed / 16, "{listed} {listing:?}");
        let mut write = Most::default();
        for _ in 0..SAW_TOOTH {
            write.see(&commit(&graph, next).await);
            next += 1;
        }
        world.faults.clear();
        assert!(write.serial <= 3, "{write:?}");
        let merges = MergeCosts::measure(&world, &graph, &format!("with-{target}")).await;
        merges.check();
        seen.push((warm, cost, write, merges));
    }
    let [few, many] = &seen[..] else { panic!("two numbers of branches") };
    assert_eq!((&few.0, &few.1, &few.3), (&many.0, &many.1, &many.3));
    // The first of all these writes may have read what the others have in memory.
    assert!(many.2.requests <= few.2.requests, "{few:?} {many:?}");
    assert_eq!(graph.branches().await.expect("branches").len(), 1_005 + 2 * 7);
    assert_whole(&world.open().await).await;
}
