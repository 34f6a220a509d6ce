//! What our counter tells is what goes over the wire.

use kit::gateway::Gateway;
use kit::graphs::{by_kit, init_options, write};
use kit::rig::Rig;
use pleach::store::IoStats;
use pleach::{Graph, Write};
use serde_json::json;

use super::{SCHEMA, person};

/// Longer than what parts two requests that are made side by side, on a busy machine.
const LATENCY: u64 = 60;

/// Asserts that what was counted inside is what was seen outside.
fn assert_agree(what: &str, counted: &IoStats, gateway: &Gateway) {
    let seen = gateway.take();
    let inside = (counted.gets, counted.heads, counted.lists, counted.puts, counted.serial_depth);
    let outside = (seen.gets(), seen.of("HEAD"), seen.lists(), seen.of("PUT"), seen.serial_depth());
    assert_eq!(inside, outside, "{what}: gets, heads, lists, puts, serial depth; {:#?}", seen.requests);
    assert_eq!(counted.requests(), seen.requests.len() as u64, "{what}");
    let sent: u64 = seen.requests.iter().filter(|seen| seen.method == "PUT").map(|seen| seen.bytes.0).sum();
    assert_eq!(counted.bytes_written, sent, "{what}: bytes of the puts");
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_bytes_and_serial_depth_are_what_the_gateway_sees() {
    let Some(rig) = Rig::find() else { return };
    let proxy = rig.proxy().await;
    let gateway = Gateway::start(proxy.address()).await;
    let graph = rig.store("graph", &rig.direct()).await;
    Graph::init_on(graph, SCHEMA, init_options()).await.expect("a new graph");
    proxy.add("latency", "downstream", 1.0, json!({"latency": LATENCY})).await;

    let store = rig.store("graph", &gateway.endpoint()).await;
    let graph = Graph::open_on(store.clone()).await.expect("it opens");
    assert_agree("opening", &store.io().take(), &gateway);
    write(&graph, Write::new().insert_json(person("a", 1))).await.expect("a commit");
    assert_agree("a cold write", &store.io().take(), &gateway);
    write(&graph, Write::new().insert_json(person("b", 1))).await.expect("a commit");
    let warm = store.io().take();
    assert_agree("a warm write", &warm, &gateway);
    assert!(warm.serial_depth <= 3, "{warm:?}");
    assert!(graph.get("main", "Person", &[r#""a""#.to_owned()]).await.expect("a read").is_some());
    assert_agree("a read", &store.io().take(), &gateway);
    graph.create_branch("side", "main", by_kit()).await.expect("a branch");
    assert_agree("a branch", &store.io().take(), &gateway);
    assert_eq!(graph.log("main", 10).await.expect("a log").len(), 3);
    assert_agree("a log", &store.io().take(), &gateway);
    assert_eq!(graph.branches().await.expect("branches").len(), 2);
    assert_agree("the branches", &store.io().take(), &gateway);

    let other = rig.store("graph", &gateway.endpoint()).await;
    let fresh = Graph::open_on(other.clone()).await.expect("it opens");
    assert!(fresh.get("main", "Person", &[r#""b""#.to_owned()]).await.expect("a read").is_some());
    assert_agree("a cold read", &other.io().take(), &gateway);
}
