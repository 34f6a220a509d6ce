//! Several processes on one graph at once.

use std::collections::BTreeSet;
use std::thread;

use kit::cli::Sandbox;
use kit::graphs::{assert_whole, by_kit, write};
use kit::world::World;
use pleach::{ErrorKind, Graph, Write};

use super::{SCHEMA, person};

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_on_two_branches_commit_exactly_their_own_rows() {
    const ROUNDS: u64 = 50;
    let sandbox = Sandbox::with_graph(SCHEMA);
    for branch in ["b1", "b2"] {
        sandbox.ok(&["branch", "create", branch]);
    }
    let returned: Vec<(&str, Vec<String>)> = thread::scope(|scope| {
        let workers = ["b1", "b2"].map(|branch| {
            let sandbox = &sandbox;
            let work = move || {
                let rounds = 0..ROUNDS;
                rounds
                    .map(|round| {
                        let load = ["--json", "load", "-", "--branch", branch];
                        let outcome = sandbox.run_with_input(&load, person(&format!("{branch}-{round}"), 1));
                        assert_eq!(outcome.code, Some(0), "{outcome:?}");
                        outcome.json()["commit"]["id"].as_str().expect("a commit").to_owned()
                    })
                    .collect()
            };
            (branch, scope.spawn(work))
        });
        workers.map(|(branch, worker)| (branch, worker.join().expect("a worker"))).into()
    });
    let graph = Graph::open(sandbox.path().join("graph").to_str().expect("a path in UTF-8")).await.expect("it opens");
    for (branch, ids) in returned {
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 50);
        for (round, id) in ids.iter().enumerate() {
            let commit = graph.show(&format!("{branch}@{id}")).await.expect("the commit it was told of");
            let rows = |n: &str| commit.rows.get(n).copied();
            assert_eq!(rows("Person"), Some(round as u64 + 1));
            let key = [format!("\"{branch}-{round}\"")];
            let reference = format!("{branch}@{}", commit.seq);
            assert!(graph.get(&reference, "Person", &key).await.expect("a read").is_some());
            let before = format!("{branch}@{}~1", commit.seq);
            assert!(graph.get(&before, "Person", &key).await.expect("a read").is_none());
        }
    }
    assert_whole(&graph).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_writers_of_one_key_leave_one_row() {
    const ROUNDS: usize = 100;
    let world = World::new();
    let (one, two) = (world.init(SCHEMA).await, world.open().await);
    for round in 0..ROUNDS {
        let id = format!("k{round}");
        let put = |graph: Graph, age| {
            let change = Write::new().upsert_json(person(&id, age));
            tokio::spawn(async move { write(&graph, change).await })
        };
        let (a, b) = tokio::join!(put(one.clone(), 1), put(two.clone(), 2));
        for outcome in [a, b] {
            outcome.expect("a task").expect("both are acknowledged");
        }
    }
    let head = world.open().await.show("main").await.expect("a head");
    assert_eq!(head.rows.get("Person"), Some(&(ROUNDS as u64)));
    assert_eq!(head.seq.0, 2 * ROUNDS as u64, "each write is a commit");
    assert_whole(&world.open().await).await;
}

#[tokio::test]
async fn a_handle_follows_a_branch_that_others_delete_and_create_again() {
    let world = World::new();
    let (handle, other) = (world.init(SCHEMA).await, world.open().await);
    for deleter in [&handle, &other] {
        handle.create_branch("f", "main", by_kit()).await.expect("a branch");
        handle.write("f", Write::new().insert_json(person("a", 1)), by_kit()).await.expect("a write");
        deleter.delete_branch("f", by_kit()).await.expect("a deletion");
        let gone = handle.get("f", "Person", &[r#""a""#.to_owned()]).await.expect_err("it is gone");
        assert_eq!(gone.kind(), ErrorKind::NotFound);
        let made = deleter.create_branch("f", "main", by_kit()).await.expect("a new branch");
        assert_eq!(made.head.parents[0].id, world.open().await.show("main").await.expect("a head").id);

        let key = [r#""a""#.to_owned()];
        assert_eq!(handle.get("f", "Person", &key).await.expect("a read"), None, "the old branch's row is not here");
        handle.write("f", Write::new().insert_json(person("a", 2)), by_kit()).await.expect("the key is free");
        let fresh = world.open().await;
        assert_eq!(
            handle.get("f", "Person", &key).await.expect("a read"),
            fresh.get("f", "Person", &key).await.expect("a read"),
        );
        assert_eq!(fresh.show("f").await.expect("a head").rows.get("Person"), Some(&1));
        assert_whole(&fresh).await;
        deleter.delete_branch("f", by_kit()).await.expect("a deletion");
    }
}
