//! A server that refuses, or is not there: the error says what to do, and nothing is lost.

use std::time::Duration;

use kit::cli::{Outcome, Sandbox, finish};
use kit::gateway::{Mishap, Requests};
use kit::graphs::{by_kit, init_options, write};
use kit::rig::Rig;
use pleach::clock::{Clock, Timestamp};
use pleach::store::{Store, StoreOptions};
use pleach::{ErrorKind, Graph, Write};

use super::{Behind, SCHEMA, person};

/// Runs `pleach` in the rig's environment with some of it changed.
fn run(rig: &Rig, changed: &[(&str, &str)], arguments: &[&str]) -> Outcome {
    let sandbox = Sandbox::new();
    sandbox.file("schema.cypher", SCHEMA);
    let mut command = sandbox.command(arguments);
    command.envs(rig.environment(&rig.direct())).envs(changed.iter().copied());
    finish(command.spawn().expect("the command starts"))
}

/// A command that must end with `exit` and an error of `code` whose hint names `cure`.
fn refused(outcome: &Outcome, exit: i32, code: &str, cure: &str) {
    let error = outcome.error();
    assert_eq!((outcome.code, error["code"].as_str()), (Some(exit), Some(code)), "{outcome:?}");
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains(cure)), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_credentials_are_refused_at_once_and_change_nothing() {
    let Some(behind) = Behind::new().await else { return };
    let uri = behind.rig.uri("graph");
    for wrong in ["AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID"] {
        for arguments in [["log", "--json", "--graph"], ["load", "--json", "--graph"]] {
            let file = if arguments[0] == "load" { vec!["schema.cypher"] } else { vec![] };
            let arguments = [&arguments[..], &[uri.as_str()], &file].concat();
            let outcome = run(&behind.rig, &[(wrong, "not-it")], &arguments);
            refused(&outcome, 5, "access-denied", "credentials");
        }
    }
    let graph = behind.open().await;
    behind.gateway.take();
    let options = StoreOptions { secret_access_key: Some("not-it".to_owned()), ..behind.hurried() };
    let error = Graph::open_on(behind.store(options).await).await.expect_err("a stranger");
    assert_eq!(error.code(), "access-denied", "{error}");
    let asked = behind.gateway.take().requests.len();
    assert!(asked <= 2, "what is refused for good is not asked again: {asked}");
    write(&graph, Write::new().insert_json(person("a", 1))).await.expect("who is known goes on");
    behind.assert_people(&["a"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_that_expire_in_the_middle_leave_the_branch_as_it_was() {
    let Some(behind) = Behind::new().await else { return };
    let graph = behind.open().await;
    for broken in [Requests::creates().path("/branches/"), Requests::of("PUT").path("/data/"), Requests::of("GET")] {
        behind.gateway.add(broken.clone(), Mishap::Answered(400, "ExpiredToken"));
        let error = write(&graph, Write::new().insert_json(person("a", 1))).await.expect_err("a stranger by now");
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{broken:?}: {error}");
        behind.gateway.clear();
        behind.assert_people(&[]).await;
    }
    write(&graph, Write::new().insert_json(person("a", 1))).await.expect("renewed");
    behind.assert_people(&["a"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_bucket_is_named_and_not_taken_for_a_missing_graph() {
    let Some(rig) = Rig::find() else { return };
    let graph = "s3://no-such-bucket/graph";
    for arguments in
        [&["log", "--json", "--graph", graph][..], &["init", "--json", "--graph", graph, "--schema", "schema.cypher"]]
    {
        refused(&run(&rig, &[], arguments), 1, "bucket-not-found", "does not create buckets");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_clock_is_hours_away_is_told_as_that() {
    let Some(behind) = Behind::new().await else { return };
    let graph = behind.open().await;
    behind.gateway.add(Requests::all(), Mishap::Answered(403, "RequestTimeTooSkewed"));
    let error = write(&graph, Write::new().insert_json(person("a", 1))).await.expect_err("it refuses");
    assert_eq!((error.kind(), error.code()), (ErrorKind::Unavailable, "clock-skew"), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("clock of this machine")), "{:?}", error.hint());
    behind.gateway.clear();
    write(&graph, Write::new().insert_json(person("a", 1))).await.expect("the clock is right again");
    behind.assert_people(&["a"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn writers_whose_clocks_are_hours_apart_lose_nothing_and_time_moves_forward() {
    let Some(behind) = Behind::new().await else { return };
    let now = Clock::system().now();
    let mut graphs = Vec::new();
    for (hours, seed) in [(5, 1), (-5, 2), (0, 3)] {
        let clock = Clock::manual(Timestamp(now.0 + hours * 3_600_000_000), seed);
        let options = StoreOptions { clock, ..behind.hurried() };
        graphs.push(Graph::open_on(behind.store(options).await).await.expect("an open graph"));
    }
    let ids: Vec<String> = (0..9).map(|round| format!("p{round}")).collect();
    for (round, id) in ids.iter().enumerate() {
        write(&graphs[round % 3], Write::new().insert_json(person(id, 1))).await.expect("a commit");
    }
    let log = behind.direct().await.log("main", 100).await.expect("a log");
    assert!(log.windows(2).all(|pair| pair[0].time > pair[1].time && pair[0].id > pair[1].id), "{log:#?}");
    behind.assert_people(&ids.iter().map(String::as_str).collect::<Vec<_>>()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_down_is_told_as_unreachable_and_nothing_was_sent() {
    let Some(rig) = Rig::find() else { return };
    let proxy = rig.proxy().await;
    let store = rig.store("graph", &proxy.endpoint()).await;
    let graph = Graph::init_on(store, SCHEMA, init_options()).await.expect("a new graph");
    proxy.enable(false).await;
    let error = write(&graph, Write::new().insert_json(person("a", 1))).await.expect_err("nobody is there");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    let uri = rig.uri("graph");
    let outcome = run(&rig, &[("AWS_ENDPOINT_URL", &proxy.endpoint())], &["log", "--json", "--graph", &uri]);
    refused(&outcome, 5, "store-unreachable", "AWS_ENDPOINT_URL");
    proxy.enable(true).await;
    graph.write("main", Write::new().insert_json(person("a", 1)), by_kit()).await.expect("it is back");
    assert_eq!(graph.log("main", 10).await.expect("a log").len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_hangs_ends_after_seconds() {
    let Some(behind) = Behind::new().await else { return };
    behind.gateway.add(Requests::of("GET").path("graph.json"), Mishap::Hung);
    let options = StoreOptions { retries: 0, ..behind.hurried() };
    let store = Store::open(&behind.rig.uri("graph"), &options).await.expect("usable settings");
    let begun = Clock::system().instant();
    let error = Graph::open_on(store).await.expect_err("no answer");
    assert_eq!(error.code(), "store-timeout", "{error}");
    let took = begun.elapsed();
    assert!((Duration::from_millis(900)..Duration::from_secs(5)).contains(&took), "{took:?}");
}
