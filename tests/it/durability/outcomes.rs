//! A record's put that is lost, late, refused or doubtful: exactly one commit, or the right error.

use std::time::Duration;

use kit::graphs::{assert_whole, by_kit, write};
use kit::world::World;
use pleach::store::{Fault, Hold, RequestKind, StoreOptions, When};
use pleach::{ChangeOptions, ErrorKind, Graph, Write};

use super::{SCHEMA, person};

fn record_put() -> When {
    When::kind(RequestKind::Create).path("branches/main/")
}

/// A world whose store client gives up on a record's put soon.
fn impatient() -> World {
    World::new().with_options(StoreOptions {
        commit_timeout: Duration::from_millis(200),
        commit_within: Duration::from_secs(1),
        ..StoreOptions::default()
    })
}

async fn commits(graph: &Graph) -> usize {
    graph.log("main", 1_000).await.expect("a log").len()
}

async fn assert_one_commit(world: &World) {
    let graph = world.open().await;
    assert_eq!(commits(&graph).await, 2, "the first commit and one more");
    assert!(graph.get("main", "Person", &[r#""a""#.to_owned()]).await.expect("a read").is_some());
    assert_whole(&graph).await;
}

#[tokio::test]
async fn a_lost_response_is_a_success_with_that_commit() {
    let world = World::new();
    let graph = world.init(SCHEMA).await;
    world.faults.add(record_put().once(), Fault::FailAfter);
    let report = write(&graph, Write::new().insert_json(person("a", 1))).await.expect("success");
    let head = world.open().await.show("main").await.expect("a head");
    assert_eq!(report.commit.map(|commit| commit.id), Some(head.id));
    assert_one_commit(&world).await;
}

#[tokio::test]
async fn a_conflict_without_an_object_is_tried_again_at_the_same_position() {
    let world = World::new();
    let graph = world.init(SCHEMA).await;
    world.faults.add(record_put().once(), Fault::Conflict);
    let report = write(&graph, Write::new().insert_json(person("a", 1))).await.expect("success");
    assert_eq!(report.commit.map(|commit| commit.seq.0), Some(1));
    assert_one_commit(&world).await;
}

#[tokio::test]
async fn a_put_that_fails_before_its_effect_is_tried_again() {
    let world = World::new();
    let graph = world.init(SCHEMA).await;
    world.faults.add(record_put().once(), Fault::FailBefore);
    write(&graph, Write::new().insert_json(person("a", 1))).await.expect("success");
    assert_one_commit(&world).await;
}

#[tokio::test]
async fn a_put_that_never_answers_is_looked_up() {
    for fault in [Fault::Hang, Fault::HangAfter] {
        let world = impatient();
        let graph = world.init(SCHEMA).await;
        world.faults.add(record_put().once(), fault);
        write(&graph, Write::new().insert_json(person("a", 1))).await.expect("success");
        assert_one_commit(&world).await;
    }
}

#[tokio::test]
async fn a_put_that_lands_after_its_retry_changes_nothing() {
    let world = impatient();
    let graph = world.init(SCHEMA).await;
    let late = Hold::new();
    world.faults.add(record_put().once(), Fault::FailThenLand(late.clone()));
    let options = ChangeOptions { request_id: Some("r1".to_owned()), ..by_kit() };
    let change = Write::new().insert_json(person("a", 1));
    let first = graph.write("main", change.clone(), options.clone()).await.expect("success").commit.expect("a commit");
    late.release();
    late.landed().await;
    let again = world.open().await.write("main", change, options).await.expect("success").commit.expect("a commit");
    assert_eq!(again.id, first.id, "the same request has the same outcome");
    assert_one_commit(&world).await;
}

#[tokio::test]
async fn an_outcome_that_cannot_be_found_out_is_told_as_such_and_can_be_asked_again() {
    let world = impatient();
    let graph = world.init(SCHEMA).await;
    let options = ChangeOptions { request_id: Some("r1".to_owned()), ..by_kit() };
    let change = Write::new().insert_json(person("a", 1));
    // The put takes effect, its answer is lost, and so are those of all reads of the record.
    world.faults.add(record_put(), Fault::FailAfter);
    let second = "branches/main/fffffffffffffffe.json";
    world.faults.add(When::kind(RequestKind::Get).path(second), Fault::FailBefore);
    let error = graph.write("main", change.clone(), options.clone()).await.expect_err("nobody knows");
    assert_eq!(error.kind(), ErrorKind::OutcomeUnknown, "{error}");
    assert!(error.to_string().contains("r1") || error.hint().is_some_and(|hint| hint.contains("r1")), "{error}");
    world.faults.clear();
    let told = graph.write("main", change, options).await.expect("the first outcome").commit.expect("a commit");
    assert_eq!(told.seq.0, 1);
    assert_one_commit(&world).await;
}

#[tokio::test]
async fn a_store_that_overwrites_is_noticed() {
    let world = World::new();
    let (one, other) = (world.init(SCHEMA).await, world.open().await);
    world.faults.add(record_put().skip(20).every(50), Fault::Overwrite);
    let mut acknowledged = Vec::new();
    let mut noticed = None;
    for round in 0..100 {
        let id = format!("p{round}");
        // Two writers in turn, each of which remembers a head that the other has moved.
        let graph = if round % 2 == 0 { &one } else { &other };
        match write(graph, Write::new().insert_json(person(&id, round))).await {
            Ok(_) => acknowledged.push(id),
            Err(error) => {
                noticed = Some(error);
                break;
            }
        }
    }
    let error = noticed.expect("a hundred commits on such a store do not go unnoticed");
    assert_eq!(error.kind(), ErrorKind::Data, "{error}");
    assert!(error.to_string().contains("main@"), "it names the position: {error}");
    // Each commit of a writer whose head the other has moved takes two puts.
    assert!(acknowledged.len() >= 10, "{acknowledged:?}");
}

#[tokio::test]
async fn one_publishers_failed_staging_fails_only_that_publisher() {
    let world = World::new();
    let graph = world.init(SCHEMA).await;
    graph.create_branch("other", "main", by_kit()).await.expect("a branch");
    let held = world.faults.hold(When::kind(RequestKind::Put).path("/data/"));
    let first = tokio::spawn({
        let graph = graph.clone();
        async move { write(&graph, Write::new().insert_json(person("a", 1))).await }
    });
    held.reached().await;
    world.faults.add(When::kind(RequestKind::Put).path("/data/").once(), Fault::Denied);
    let second = graph.write("other", Write::new().insert_json(person("b", 1)), by_kit()).await;
    assert!(second.is_err(), "its own file is not there");
    held.release();
    first.await.expect("a task").expect("nothing of the first one's failed");
    assert_one_commit(&world).await;
    graph.write("other", Write::new().insert_json(person("b", 1)), by_kit()).await.expect("the next try");
}
