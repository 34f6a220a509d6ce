//! A safe store passes; a store that lies is told by the promise it breaks.

use futures::TryStreamExt;
use object_store::ObjectStore;
use pleach::store::{Fault, ProbeOptions, ProbeReport, RequestKind, Store, StoreError, StoreOptions, When, probe};

use super::faulty;

async fn run(store: &Store, options: ProbeOptions) -> ProbeReport {
    probe(store, options).await.unwrap()
}

fn broken(report: &ProbeReport) -> Vec<&str> {
    report.broken().map(|check| check.name).collect()
}

async fn left(objects: &dyn ObjectStore) -> Vec<String> {
    objects.list(None).map_ok(|object| object.location.to_string()).try_collect().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_is_safe_and_left_clean() {
    let (store, _, memory) = faulty();
    let report = run(&store, ProbeOptions::default()).await;
    assert!(report.safe, "{report:#?}");
    assert_eq!((report.clients, report.keys, report.left_behind.as_deref()), (32, 100, None));
    assert_eq!(report.checks.len(), 11);
    assert!(report.checks.iter().all(|check| check.kept == Some(true)));
    assert_eq!(left(&*memory).await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_local_folder_is_safe_and_left_clean() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().display().to_string(), &StoreOptions::default()).await.unwrap();
    let report = run(&store, ProbeOptions::short()).await;
    assert!(report.safe, "{report:#?}");
    let order = report.checks.iter().find(|check| check.name == "list-order").unwrap();
    assert_eq!(order.kept, None, "a local listing has no order, and needs none");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_where_several_win_is_unsafe_and_says_where() {
    let (store, faults, memory) = faulty();
    faults.add(When::kind(RequestKind::Create).path("race/000003"), Fault::Overwrite);
    let report = run(&store, ProbeOptions::short()).await;
    assert!(!report.safe);
    assert_eq!(broken(&report), ["one-winner", "late-put-refused"]);
    let winners = &report.checks.iter().find(|check| check.name == "one-winner").unwrap().findings;
    assert_eq!(winners.len(), 1);
    assert!(winners[0].contains("race/000003: 16 winners"), "{winners:?}");
    assert_eq!(left(&*memory).await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_ignores_the_condition_fails_without_a_race_too() {
    let (store, faults, _) = faulty();
    faults.add(When::kind(RequestKind::Create), Fault::Overwrite);
    let report = run(&store, ProbeOptions::short()).await;
    assert_eq!(broken(&report), ["second-put-refused", "one-winner", "late-put-refused"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_answers_do_not_make_a_store_unsafe() {
    let (store, faults, _) = faulty();
    faults.add(When::kind(RequestKind::Create).path("race/").every(5), Fault::FailAfter);
    let report = run(&store, ProbeOptions::short()).await;
    assert!(report.safe, "{report:#?}");
}

#[tokio::test]
async fn a_store_that_does_not_answer_is_an_error_not_a_verdict() {
    let (store, faults, _) = faulty();
    faults.add(When::any(), Fault::Denied);
    assert!(matches!(probe(&store, ProbeOptions::short()).await, Err(StoreError::Denied { .. })));
}

#[tokio::test]
async fn what_cannot_be_removed_is_told() {
    let (store, faults, _) = faulty();
    faults.add(When::kind(RequestKind::Delete).path("race"), Fault::Denied);
    let report = run(&store, ProbeOptions::short()).await;
    assert!(report.safe);
    assert!(report.left_behind.unwrap().starts_with("_probe/"));
}

#[tokio::test]
async fn a_report_serialises_for_programs() {
    let (store, _, _) = faulty();
    let report = serde_json::to_value(run(&store, ProbeOptions::short()).await).unwrap();
    assert_eq!(report["safe"], true);
    assert_eq!(report["checks"][0]["name"], "put-if-absent");
    assert!(report["latency"]["create_ms"].is_number());
}
