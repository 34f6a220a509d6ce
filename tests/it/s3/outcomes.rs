//! The put of a record that is lost, late, refused or doubtful, on a real server: exactly one commit, or the right error.

use std::time::Duration;

use kit::gateway::Mishap;
use kit::graphs::{by_kit, write};
use pleach::clock::Clock;
use pleach::{ChangeOptions, ErrorKind, Write};

use super::{Behind, person, record_get, record_put};

fn requested(id: &str) -> ChangeOptions {
    ChangeOptions { request_id: Some(id.to_owned()), ..by_kit() }
}

/// The put of one commit meets `mishap` once; how many such puts the commit took.
async fn one_commit_meets(mishap: Mishap) -> Option<u64> {
    let behind = Behind::new().await?;
    let graph = behind.open().await;
    behind.gateway.add(record_put().once(), mishap.clone());
    behind.gateway.take();
    let report = write(&graph, Write::new().insert_json(person("a", 1))).await;
    let commit = report.unwrap_or_else(|error| panic!("{mishap:?}: {error}")).commit.expect("a commit");
    assert_eq!(commit.seq.0, 1, "{mishap:?}: no position is left out");
    assert_eq!(behind.direct().await.show("main").await.expect("a head").id, commit.id, "{mishap:?}");
    let puts = behind.gateway.take().count(|seen| seen.if_absent && seen.target.contains("/branches/main/"));
    // The handle that met the mishap goes on.
    write(&graph, Write::new().insert_json(person("b", 1))).await.expect("the next commit");
    behind.assert_people(&["a", "b"]).await;
    Some(puts)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_answer_is_a_success_and_nothing_is_put_again() {
    for mishap in [Mishap::AnswerReset, Mishap::AnswerCut] {
        let Some(puts) = one_commit_meets(mishap.clone()).await else { return };
        assert_eq!(puts, 1, "{mishap:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_never_comes_is_looked_up() {
    let Some(puts) = one_commit_meets(Mishap::AnswerHung).await else { return };
    assert_eq!(puts, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_put_that_never_arrives_is_put_again() {
    for mishap in [Mishap::Hung, Mishap::UploadReset(20), Mishap::Answered(503, "SlowDown")] {
        let Some(puts) = one_commit_meets(mishap.clone()).await else { return };
        assert_eq!(puts, 2, "{mishap:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_without_an_object_is_tried_again_at_the_same_position() {
    let Some(puts) = one_commit_meets(Mishap::Answered(409, "ConditionalRequestConflict")).await else { return };
    assert_eq!(puts, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_put_that_arrives_after_its_client_gave_up_changes_nothing() {
    let Some(behind) = Behind::new().await else { return };
    let graph = behind.open().await;
    behind.gateway.add(record_put().once(), Mishap::Late(Duration::from_millis(1_200)));
    let change = Write::new().insert_json(person("a", 1));
    let first = graph.write("main", change.clone(), requested("r1")).await.expect("success").commit.expect("a commit");
    Clock::system().sleep(Duration::from_millis(1_500)).await;
    let again = behind.open().await.write("main", change, requested("r1")).await.expect("the same outcome");
    assert_eq!(again.commit.expect("a commit").id, first.id);
    behind.assert_people(&["a"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_put_that_arrives_after_everybody_gave_up_is_found_by_its_request_id() {
    let Some(behind) = Behind::new().await else { return };
    let graph = behind.open().await;
    // Longer than the client's patience: nobody knows, and then it lands.
    behind.gateway.add(record_put().once(), Mishap::Late(Duration::from_secs(6)));
    behind.gateway.add(record_put(), Mishap::Hung);
    let change = Write::new().insert_json(person("a", 1));
    let error = graph.write("main", change.clone(), requested("r1")).await.expect_err("nobody knows");
    assert_eq!(error.kind(), ErrorKind::OutcomeUnknown, "{error}");
    assert!(error.to_string().contains("r1") || error.hint().is_some_and(|hint| hint.contains("r1")), "{error}");
    behind.gateway.clear();
    let (clock, direct) = (Clock::system(), behind.direct().await);
    let begun = clock.instant();
    while direct.log("main", 10).await.expect("a log").len() < 2 {
        assert!(begun.elapsed() < Duration::from_secs(30), "it never lands");
        clock.sleep(Duration::from_millis(200)).await;
    }
    let told = graph.write("main", change, requested("r1")).await.expect("the first outcome").commit.expect("a commit");
    assert_eq!(told.seq.0, 1);
    behind.assert_people(&["a"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outcome_that_cannot_be_read_back_is_unknown_and_can_be_asked_again() {
    let Some(behind) = Behind::new().await else { return };
    let graph = behind.open().await;
    // Otherwise the reads that find the head would be the first to fail.
    graph.show("main").await.expect("a head");
    behind.gateway.add(record_put().once(), Mishap::AnswerReset);
    behind.gateway.add(record_get().path("fffffffffffffffe"), Mishap::Answered(503, "SlowDown"));
    let change = Write::new().insert_json(person("a", 1));
    let error = graph.write("main", change.clone(), requested("r1")).await.expect_err("nobody knows");
    assert_eq!(error.kind(), ErrorKind::OutcomeUnknown, "{error}");
    behind.gateway.clear();
    let told = graph.write("main", change, requested("r1")).await.expect("the first outcome").commit.expect("a commit");
    assert_eq!(told.seq.0, 1);
    behind.assert_people(&["a"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_asks_to_slow_down_is_waited_for() {
    let Some(behind) = Behind::new().await else { return };
    let graph = behind.open().await;
    behind.gateway.add(record_put().times(3), Mishap::Answered(503, "SlowDown"));
    behind.gateway.add(record_get().times(2), Mishap::Answered(503, "SlowDown"));
    write(&graph, Write::new().insert_json(person("a", 1))).await.expect("success");
    behind.assert_people(&["a"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_never_takes_the_record_leaves_the_branch_as_it_was() {
    let Some(behind) = Behind::new().await else { return };
    let graph = behind.open().await;
    behind.gateway.add(record_put(), Mishap::Answered(503, "SlowDown"));
    let change = Write::new().insert_json(person("a", 1));
    let error = graph.write("main", change.clone(), requested("r1")).await.expect_err("it is never taken");
    // A 503 may have taken effect: only asking again tells.
    assert_eq!(error.kind(), ErrorKind::OutcomeUnknown, "{error}");
    behind.assert_people(&[]).await;
    behind.gateway.clear();
    graph.write("main", change, requested("r1")).await.expect("now it is taken");
    behind.assert_people(&["a"]).await;
}
