//! On a real S3 server, through proxies: `tests/s3/with-s3` starts them, and `kit::rig` tells of them. Without them these tests are
//! skipped.

mod client;
mod conformance;
mod costs;
mod merging;
mod outcomes;
mod probe;
mod processes;
mod refusals;
mod uploads;

use std::time::Duration;

use kit::gateway::{Gateway, Requests};
use kit::graphs::{assert_whole, init_options};
use kit::rig::Rig;
use pleach::Graph;
use pleach::store::{Store, StoreOptions};

/// A small schema with a node table and an edge table.
const SCHEMA: &str = "
CREATE NODE TABLE Person (id STRING PRIMARY KEY, name STRING, age INT64);
CREATE REL TABLE Knows (FROM Person TO Person, since DATE);
";

fn person(id: &str, age: i64) -> String {
    format!(r#"{{"table":"Person","data":{{"id":"{id}","name":"Name of {id}","age":{age}}}}}"#)
}

/// A graph on the server, seen through a gateway.
struct Behind {
    rig: Rig,
    gateway: Gateway,
}

impl Behind {
    /// A new graph behind a gateway without rules; `None` without a server.
    async fn new() -> Option<Self> {
        let rig = Rig::find()?;
        let gateway = rig.gateway().await;
        let store = rig.store("graph", &rig.direct()).await;
        Graph::init_on(store, SCHEMA, init_options()).await.expect("a new graph");
        Some(Self { rig, gateway })
    }

    /// The graph as another process would open it, through the gateway, with settings of a client in a hurry.
    async fn open(&self) -> Graph {
        Graph::open_on(self.store(self.hurried()).await).await.expect("an open graph")
    }

    async fn store(&self, options: StoreOptions) -> Store {
        Store::open(&self.rig.uri("graph"), &options).await.expect("usable settings")
    }

    fn hurried(&self) -> StoreOptions {
        StoreOptions {
            commit_timeout: Duration::from_millis(400),
            commit_within: Duration::from_secs(2),
            timeout: Some(Duration::from_secs(1)),
            ..self.rig.options(&self.gateway.endpoint())
        }
    }

    /// The graph, not through the gateway.
    async fn direct(&self) -> Graph {
        let store = self.rig.store("graph", &self.rig.direct()).await;
        Graph::open_on(store).await.expect("an open graph")
    }

    /// Asserts that `main` has exactly these people, one commit for each besides the first, and that nothing is damaged.
    async fn assert_people(&self, ids: &[&str]) {
        let graph = self.direct().await;
        let commits = graph.log("main", 1_000).await.expect("a log");
        assert_eq!(commits.len(), ids.len() + 1, "{commits:#?}");
        assert_eq!(commits[0].rows.get("Person").copied().unwrap_or(0), ids.len() as u64);
        for id in ids {
            let found = graph.get("main", "Person", &[format!("\"{id}\"")]).await.expect("a read");
            assert!(found.is_some(), "{id}");
        }
        assert_whole(&graph).await;
    }
}

/// The put of a record of `main`.
fn record_put() -> Requests {
    Requests::creates().path("/branches/main/")
}

/// Reads of records of `main`.
fn record_get() -> Requests {
    Requests::of("GET").path("/branches/main/")
}
