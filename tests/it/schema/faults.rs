//! Every request of a change of the schema fails once, before its effect and after it: the change has then happened whole or not at all.

use kit::graphs::{assert_whole, by_kit, export};
use kit::world::World;
use pleach::schema::print_ddl;
use pleach::store::{Fault, When};
use pleach::{Error, ErrorKind, Graph, SchemaOptions, SchemaReport};

use super::{filled, put};

/// Something of every class: a table comes and one goes, a property comes, goes, is widened and has to be there.
const DDL: &str = "
CREATE NODE TABLE Human RENAMED FROM Person (id STRING PRIMARY KEY, name STRING, age INT64 NOT NULL, rank INT64 DEFAULT 3);
CREATE NODE TABLE City (id INT64 PRIMARY KEY, name STRING UNIQUE);
CREATE NODE TABLE Dog (id INT64 PRIMARY KEY);
CREATE REL TABLE Calls (FROM Human TO City, MULTI);
";

async fn change(graph: &Graph) -> Result<SchemaReport, Error> {
    graph.apply_schema("main", DDL, SchemaOptions { allow_data_loss: true, change: by_kit() }).await
}

/// What one sees of `main`: its schema, and its rows under it.
async fn state(graph: &Graph) -> (String, String) {
    (print_ddl(&graph.schema("main").await.unwrap()), export(graph, "main").await)
}

#[tokio::test]
async fn each_request_fails_once() {
    let world = World::new();
    let graph = filled(&world).await;
    let before = state(&graph).await;
    let done = world.fork();
    change(&done.open().await).await.unwrap();
    let after = state(&done.open().await).await;
    assert!(after.1.contains(r#""rank":3"#) && !after.1.contains("Knows"), "{after:?}");
    for fault in [Fault::FailBefore, Fault::FailAfter] {
        for nth in 0.. {
            let world = world.fork();
            let graph = world.open().await;
            let _ = graph.take_io();
            world.faults.add(When::any().skip(nth).once(), fault.clone());
            let outcome = change(&graph).await;
            let requests = graph.take_io().requests();
            world.faults.clear();
            let context = format!("{fault:?} of request {nth}: {:?}", outcome.as_ref().err());
            let found = state(&world.open().await).await;
            match &outcome {
                Ok(_) => assert_eq!(found, after, "{context}"),
                Err(error) if error.kind() == ErrorKind::OutcomeUnknown => {
                    assert!(found == before || found == after, "{context}");
                }
                Err(_) => assert_eq!(found, before, "{context}"),
            }
            // The handle that met the fault goes on.
            change(&graph).await.expect(&context);
            assert_eq!(state(&graph).await, after, "{context}");
            put(&graph, "main", r#"{"table":"Dog","data":{"id":1}}"#).await;
            assert_whole(&world.open().await).await;
            if requests <= nth {
                break;
            }
        }
    }
}
