//! Publishing over an in-memory store with faults; table versions are made up.

mod contention;
mod durability;
mod outcome;
mod wide;

use futures::FutureExt;

use crate::branch::BranchError;
use crate::error::Error;
use crate::graph::Graph;
use crate::publish::Snapshot;
use crate::testing::Set;

const MAIN: &str = "branches/main/";

fn refusal() -> Error {
    BranchError::MainIsPermanent.into()
}

async fn head(graph: &Graph) -> Snapshot {
    graph.core().snapshot("main").await.unwrap()
}

/// While the first evaluation runs, another process gives a table a new version.
fn rival(
    graph: &Graph,
    number: u8,
) -> impl Fn(usize, Snapshot) -> futures::future::BoxFuture<'static, ()> + Send + Sync + 'static {
    let graph = graph.clone();
    move |evaluation, _| {
        let graph = graph.clone();
        async move {
            if evaluation == 1 {
                Set::table(number).publish(&graph, "main").await.unwrap();
            }
        }
        .boxed()
    }
}
