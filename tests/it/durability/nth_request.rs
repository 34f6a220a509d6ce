//! Each request of each operation fails once, before its effect and after it: the operation has then happened whole or not
//! at all, as it said, and the graph goes on without a repair.

use futures::future::BoxFuture;
use kit::graphs::{assert_whole, by_kit, export, load, write};
use kit::world::World;
use pleach::store::{Fault, When};
use pleach::{Error, ErrorKind, Graph, LoadMode, MergeOptions, Write};

use super::{SCHEMA, knows, person};

/// Lines that one could see of a graph: its branches, and the content of `main` and of the branch that operations make.
async fn state(graph: &Graph) -> Vec<String> {
    let mut lines = Vec::new();
    for branch in graph.branches().await.expect("branches") {
        lines.push(format!("branch {}", branch.name));
        lines.extend(export(graph, &branch.name).await.lines().map(str::to_owned));
    }
    lines
}

/// A graph with some history: fragments to fold, rows to replace, a branch to delete.
async fn prepared() -> World {
    let world = World::new();
    let graph = world.init(SCHEMA).await;
    let ids = ["a", "b", "c"];
    let lines: Vec<String> = ids.iter().map(|id| person(id, 1)).chain([knows("a", "b")]).collect();
    load(&graph, LoadMode::Append, &lines.join("\n")).await.expect("a load");
    for age in 2..18 {
        write(&graph, Write::new().upsert_json(person("a", age))).await.expect("a write");
    }
    graph.create_branch("old", "main", by_kit()).await.expect("a branch");
    // What is to be merged: nodes that come, go and change there; an edge, and another property of the changed node here.
    let there = Write::new().insert_json(person("f", 1)).delete("Person", [r#""c""#]).upsert_json(person("b", 5));
    graph.write("old", there, by_kit()).await.expect("a write");
    let renamed = r#"{"table":"Person","data":{"id":"b","name":"Renamed","age":1}}"#;
    write(&graph, Write::new().insert_json(knows("b", "a")).upsert_json(renamed)).await.expect("a write");
    world
}

type Operation = fn(Graph) -> BoxFuture<'static, Result<(), Error>>;

async fn each_request_fails_once(operation: Operation) {
    let world = prepared().await;
    let before = state(&world.open().await).await;
    let done = world.fork();
    operation(done.open().await).await.expect("it works when nothing fails");
    let after = state(&done.open().await).await;
    assert_ne!(before, after, "the operation does something");

    for fault in [Fault::FailBefore, Fault::FailAfter] {
        let mut refused = 0;
        for nth in 0.. {
            let world = world.fork();
            let graph = world.open().await;
            let _ = graph.take_io();
            world.faults.add(When::any().skip(nth).once(), fault.clone());
            let outcome = operation(graph.clone()).await;
            let requests = graph.take_io().requests();
            world.faults.clear();
            let context = format!("{fault:?} of request {nth}: {outcome:?}");

            let found = state(&world.open().await).await;
            match &outcome {
                Ok(()) => assert_eq!(found, after, "{context}"),
                Err(error) if error.kind() == ErrorKind::OutcomeUnknown => {
                    assert!(found == before || found == after, "{context}");
                }
                Err(_) => assert_eq!(found, before, "{context}"),
            }
            refused += u64::from(outcome.is_err());
            // The handle that met the fault goes on, as does a new one.
            for graph in [graph, world.open().await] {
                write(&graph, Write::new().upsert_json(person("z", 0))).await.expect(&context);
                write(&graph, Write::new().delete("Person", [r#""z""#])).await.expect(&context);
            }
            assert_whole(&world.open().await).await;
            if requests <= nth {
                break;
            }
        }
        assert!(refused > 0 || matches!(fault, Fault::FailAfter), "no request of it matters?");
    }
}

#[tokio::test]
async fn a_write() {
    each_request_fails_once(|graph| {
        Box::pin(async move {
            let change = Write::new()
                .upsert_json(person("a", 99))
                .insert_json(person("d", 1))
                .insert_json(knows("d", "a"))
                .delete("Person", [r#""c""#]);
            write(&graph, change).await.map(drop)
        })
    })
    .await;
}

#[tokio::test]
async fn a_load() {
    each_request_fails_once(|graph| {
        Box::pin(async move {
            let lines = [person("a", 99), person("e", 1), knows("e", "a")].join("\n");
            load(&graph, LoadMode::Upsert, &lines).await.map(drop)
        })
    })
    .await;
}

#[tokio::test]
async fn an_overwriting_load() {
    each_request_fails_once(|graph| {
        Box::pin(async move {
            let lines = [person("x", 1), person("y", 1), knows("x", "y")].join("\n");
            load(&graph, LoadMode::Overwrite, &lines).await.map(drop)
        })
    })
    .await;
}

#[tokio::test]
async fn creating_a_branch() {
    each_request_fails_once(|graph| {
        Box::pin(async move { graph.create_branch("new", "main~3", by_kit()).await.map(drop) })
    })
    .await;
}

#[tokio::test]
async fn deleting_a_branch() {
    each_request_fails_once(|graph| Box::pin(async move { graph.delete_branch("old", by_kit()).await.map(drop) }))
        .await;
}

#[tokio::test]
async fn a_merge() {
    each_request_fails_once(|graph| {
        Box::pin(async move {
            graph.merge("old", "main", MergeOptions { change: by_kit(), ..MergeOptions::default() }).await.map(drop)
        })
    })
    .await;
}

#[tokio::test]
async fn making_a_graph() {
    for fault in [Fault::FailBefore, Fault::FailAfter] {
        for nth in 0.. {
            let world = World::new();
            let counted = world.store();
            world.faults.add(When::any().skip(nth).once(), fault.clone());
            let outcome = Graph::init_on(counted.clone(), SCHEMA, kit::graphs::init_options()).await;
            let requests = counted.io().take().requests();
            world.faults.clear();
            let context = format!("{fault:?} of request {nth}: {:?}", outcome.as_ref().err());
            let graph = match outcome {
                Ok(graph) => graph,
                // Whatever it left, one can begin again, or it is there already.
                Err(_) => match world.try_init(SCHEMA).await {
                    Ok(graph) => graph,
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => world.open().await,
                    Err(error) => panic!("{context}, then {error}"),
                },
            };
            write(&graph, Write::new().insert_json(person("a", 1))).await.expect(&context);
            assert_whole(&world.open().await).await;
            if requests <= nth {
                break;
            }
        }
    }
}
