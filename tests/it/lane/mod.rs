//! Requests that share commits: what they come to, and what they are told.

mod admission;
mod batches;
mod concurrent;
mod differential;
mod failures;
mod going_away;

use futures::future::BoxFuture;
use kit::graphs::by_kit;
use kit::world::World;
use pleach::store::{RequestKind, When};
use pleach::{Error, Graph, GraphBuilder, Write, WriteReport};

const DDL: &str = "
    CREATE NODE TABLE N (id INT64 PRIMARY KEY, v INT64, u STRING, UNIQUE (u));
    CREATE NODE TABLE M (id INT64 PRIMARY KEY);
    CREATE REL TABLE E (FROM N TO N, w INT64);
    CREATE REL TABLE F (FROM N TO M, MANY_ONE);
    CREATE REL TABLE P (FROM N TO N, w INT64, MULTI);
    CREATE NODE TABLE Before (id INT64 PRIMARY KEY);
";

/// Where every commit of `main` is put.
fn put_of_a_record() -> When {
    When::kind(RequestKind::Create).path("branches/main/")
}

fn n(id: i64, v: i64) -> String {
    format!(r#"{{"table":"N","data":{{"id":{id},"v":{v}}}}}"#)
}

fn m(id: i64) -> String {
    format!(r#"{{"table":"M","data":{{"id":{id}}}}}"#)
}

fn insert(id: i64) -> Write {
    Write::new().insert_json(n(id, 0))
}

/// Opens the graph of a world with settings.
async fn open(world: &World, builder: GraphBuilder) -> Graph {
    builder.open_on(world.store()).await.expect("an open graph")
}

/// A request whose outcome is of any kind.
type Task<T> = BoxFuture<'static, T>;

fn writing(graph: &Graph, write: Write) -> Task<Result<WriteReport, Error>> {
    let graph = graph.clone();
    Box::pin(async move { graph.write("main", write, by_kit()).await })
}

/// Starts `tasks` while the commit of another request is being put, one after another, each once the one before it waits in the lane. When
/// that commit is published, the lane finds all of them, in this order.
async fn start_together<T: Send + 'static>(
    world: &World,
    graph: &Graph,
    tasks: Vec<Task<T>>,
) -> Vec<tokio::task::JoinHandle<T>> {
    let held = world.faults.hold(put_of_a_record().once());
    let id = graph.show("main").await.expect("a head").seq.0;
    let row = format!(r#"{{"table":"Before","data":{{"id":{id}}}}}"#);
    let before = tokio::spawn(writing(graph, Write::new().insert_json(row)));
    held.reached().await;
    let mut started = Vec::new();
    for task in tasks {
        let waiting = graph.stats().lanes.waiting;
        let task = tokio::spawn(task);
        while graph.stats().lanes.waiting == waiting && !task.is_finished() {
            tokio::task::yield_now().await;
        }
        started.push(task);
    }
    held.release();
    before.await.expect("no panic").expect("a write");
    started
}

/// The same, and what each of them comes to.
async fn together<T: Send + 'static>(world: &World, graph: &Graph, tasks: Vec<Task<T>>) -> Vec<T> {
    let started = start_together(world, graph, tasks).await;
    let done = futures::future::join_all(started).await;
    done.into_iter().map(|done| done.expect("no panic")).collect()
}
