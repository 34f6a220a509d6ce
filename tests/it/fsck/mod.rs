//! Damage to the stored objects is found, each kind by its own code.

mod named;

use std::sync::Arc;

use futures::TryStreamExt as _;
use kit::graphs::{by_kit, init_options, write};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _};
use pleach::store::{Store, StoreKind};
use pleach::{ErrorKind, Graph, Write};

const DDL: &str = "CREATE NODE TABLE N (id INT64 PRIMARY KEY, v STRING); CREATE REL TABLE E (FROM N TO N);";

/// A graph with some commits on `main`, and a branch with one of its own.
async fn objects() -> Arc<InMemory> {
    let objects = Arc::new(InMemory::new());
    let graph = Graph::init_on(store(&objects), DDL, init_options()).await.unwrap();
    for id in 0..4 {
        let node = format!(r#"{{"table":"N","data":{{"id":{id},"v":"x"}}}}"#);
        let edge = format!(r#"{{"table":"E","from":0,"to":{id}}}"#);
        let mut rows = Write::new().insert_json(node).insert_json(edge);
        if id > 0 {
            rows = rows.insert_json(format!(r#"{{"table":"E","from":{id},"to":{id}}}"#));
        }
        write(&graph, rows).await.unwrap();
    }
    graph.create_branch("side", "main@2", by_kit()).await.unwrap();
    graph.write("side", Write::new().delete("E", ["0", "1"]), by_kit()).await.unwrap();
    objects
}

fn store(objects: &Arc<InMemory>) -> Store {
    Store::from_object_store(StoreKind::Memory, objects.clone())
}

/// What a process finds that remembers nothing, but for what it means to the record after it.
async fn codes_of(objects: &Arc<InMemory>) -> Vec<(&'static str, String)> {
    let mut found = codes(objects).await;
    found.retain(|found| *found != ("broken-chain", "main@4".to_owned()));
    found
}

/// What a process that remembers nothing finds.
async fn codes(objects: &Arc<InMemory>) -> Vec<(&'static str, String)> {
    let graph = Graph::open_on(store(objects)).await.unwrap();
    let report = graph.fsck(&[]).await.unwrap();
    report.problems.into_iter().map(|problem| (problem.code, problem.place)).collect()
}

fn record(branch: &str, seq: u64) -> Path {
    Path::from(format!("branches/{branch}/{:016x}.json", u64::MAX - seq))
}

async fn edit(objects: &InMemory, path: &Path, change: impl FnOnce(String) -> String) {
    let bytes = objects.get(path).await.unwrap().bytes().await.unwrap();
    let text = change(String::from_utf8(bytes.to_vec()).unwrap());
    objects.put(path, text.into()).await.unwrap();
}

async fn under(objects: &InMemory, prefix: &str, part: &str) -> Vec<Path> {
    let all: Vec<_> = objects.list(Some(&Path::from(prefix))).map_ok(|meta| meta.location).try_collect().await.unwrap();
    let mut paths: Vec<_> = all.into_iter().filter(|path| path.as_ref().contains(part)).collect();
    paths.sort();
    paths
}

/// A commit id of a record with one letter changed.
fn other_commit(text: &str) -> String {
    let at = text.find("\"commit\":\"").unwrap() + "\"commit\":\"".len() + 25;
    let other = if &text[at..=at] == "0" { "1" } else { "0" };
    format!("{}{other}{}", &text[..at], &text[at + 1..])
}

#[tokio::test]
async fn a_whole_graph_has_no_problems_and_is_counted() {
    let objects = objects().await;
    let graph = Graph::open_on(store(&objects)).await.unwrap();
    let report = graph.fsck(&[]).await.unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    assert_eq!((report.branches, report.commits), (2, 5 + 2));
    assert_eq!(report.rows, 4 + 7 + 2 + 2);
    let one = graph.fsck(&["side".to_owned()]).await.unwrap();
    assert_eq!((one.branches, one.commits, one.rows), (1, 2, 4));
    let deep = graph.fsck_deep(&[]).await.unwrap();
    assert!(deep.problems.is_empty(), "{:?}", deep.problems);
    // On main five versions of each table, on side one more of E.
    assert_eq!((deep.table_versions, deep.rows), (5 + 5 + 1, (1 + 2 + 3 + 4) + (1 + 3 + 5 + 7) + 2));
    let twice = graph.fsck(&["side".to_owned(), "Side".to_owned()]).await.unwrap();
    assert_eq!((twice.branches, twice.commits, twice.rows), (1, 2, 4));
}

#[tokio::test]
async fn a_branch_that_was_never_made_is_not_found() {
    let objects = objects().await;
    let graph = Graph::open_on(store(&objects)).await.unwrap();
    for (name, hint) in [("mian", "did you mean `main`?"), ("nowhere", "`pleach branch list` shows the branches")] {
        for deep in [false, true] {
            let names = ["side".to_owned(), name.to_owned()];
            let outcome = if deep { graph.fsck_deep(&names).await } else { graph.fsck(&names).await };
            let error = outcome.unwrap_err();
            assert_eq!((error.kind(), error.code()), (ErrorKind::NotFound, "branch-not-found"));
            assert_eq!(error.hint().as_deref(), Some(hint));
        }
    }
}

#[tokio::test]
async fn a_lost_main_is_damage_even_if_it_is_asked_for() {
    let objects = objects().await;
    for path in under(&objects, "branches/main", "").await {
        objects.delete(&path).await.unwrap();
    }
    let graph = Graph::open_on(store(&objects)).await.unwrap();
    let report = graph.fsck(&["main".to_owned()]).await.unwrap();
    assert_eq!((report.commits, report.problems.len()), (0, 1));
    assert_eq!((report.problems[0].code, report.problems[0].place.as_str()), ("missing-record", "main"));
}

#[tokio::test]
async fn a_version_of_a_table_that_the_schema_lacks_is_found_and_not_counted() {
    let objects = objects().await;
    let sound = Graph::open_on(store(&objects)).await.unwrap().fsck(&[]).await.unwrap();
    edit(&objects, &record("main", 4), |text| {
        let mut record: serde_json::Value = serde_json::from_str(&text).unwrap();
        let tables = record["tables"].as_object_mut().unwrap();
        let version = tables.values().next().unwrap().clone();
        tables.insert("01ARZ3NDEKTSV4RRFFQ69G5FAV".to_owned(), version);
        record.to_string()
    })
    .await;
    let report = Graph::open_on(store(&objects)).await.unwrap().fsck(&[]).await.unwrap();
    let found: Vec<_> = report.problems.iter().map(|problem| (problem.code, problem.place.as_str())).collect();
    assert_eq!(found, [("unknown-table", "main@4")]);
    assert!(report.problems[0].detail.contains("01ARZ3NDEKTSV4RRFFQ69G5FAV"));
    assert_eq!((report.table_versions, report.rows), (sound.table_versions, sound.rows));
}

#[tokio::test]
async fn a_lost_record_is_found() {
    let objects = objects().await;
    objects.delete(&record("main", 3)).await.unwrap();
    assert_eq!(codes_of(&objects).await, [("missing-record", "main@3".to_owned())]);
}

#[tokio::test]
async fn a_garbled_record_is_found() {
    let objects = objects().await;
    edit(&objects, &record("main", 3), |text| text.replacen("\"parents\"", "\"perants\"", 1)).await;
    assert_eq!(codes_of(&objects).await, [("record-unreadable", "main@3".to_owned())]);
}

#[tokio::test]
async fn a_record_that_was_replaced_is_found() {
    let objects = objects().await;
    edit(&objects, &record("main", 3), |text| other_commit(&text)).await;
    let found = codes(&objects).await;
    assert!(
        !found.is_empty() && found.iter().all(|found| *found == ("broken-chain", "main@4".to_owned())),
        "{found:?}"
    );
}

#[tokio::test]
async fn a_fork_whose_parent_is_another_commit_is_found() {
    let objects = objects().await;
    edit(&objects, &record("main", 2), |text| other_commit(&text)).await;
    let found = codes(&objects).await;
    assert!(found.contains(&("broken-chain", "side@0".to_owned())), "{found:?}");
}

#[tokio::test]
async fn a_record_in_another_place_is_found() {
    let objects = objects().await;
    let bytes = objects.get(&record("main", 2)).await.unwrap().bytes().await.unwrap();
    objects.put(&record("main", 3), bytes.into()).await.unwrap();
    assert_eq!(codes_of(&objects).await, [("record-misplaced", "main@3".to_owned())]);
}

#[tokio::test]
async fn a_time_that_goes_back_is_found() {
    let objects = objects().await;
    edit(&objects, &record("main", 3), |text| {
        let at = text.find("\"time\":\"").unwrap() + "\"time\":\"".len();
        format!("{}1990{}", &text[..at], &text[at + 4..])
    })
    .await;
    assert_eq!(codes(&objects).await, [("commit-time", "main@3".to_owned())]);
}

#[tokio::test]
async fn an_id_that_does_not_rise_is_found() {
    let objects = objects().await;
    edit(&objects, &record("main", 3), |text| {
        let at = text.find("\"commit\":\"").unwrap() + "\"commit\":\"".len();
        format!("{}00{}", &text[..at], &text[at + 2..])
    })
    .await;
    let found = codes(&objects).await;
    assert!(found.contains(&("commit-id", "main@3".to_owned())), "{found:?}");
    let others = |found: &(&str, String)| *found != ("broken-chain", "main@4".to_owned()) && found.1 != "main@3";
    assert!(!found.iter().any(others), "{found:?}");
}

#[tokio::test]
async fn times_and_ids_rise_across_a_record_that_is_lost() {
    let objects = objects().await;
    objects.delete(&record("main", 3)).await.unwrap();
    edit(&objects, &record("main", 4), |text| {
        let time = text.find("\"time\":\"").unwrap() + "\"time\":\"".len();
        let text = format!("{}1990{}", &text[..time], &text[time + 4..]);
        let id = text.find("\"commit\":\"").unwrap() + "\"commit\":\"".len();
        format!("{}00{}", &text[..id], &text[id + 2..])
    })
    .await;
    let found = codes_of(&objects).await;
    let place = |seq| format!("main@{seq}");
    assert_eq!(found, [("missing-record", place(3)), ("commit-time", place(4)), ("commit-id", place(4))]);
}

#[tokio::test]
async fn a_lost_or_changed_schema_is_found() {
    let lost = objects().await;
    let schema = under(&lost, "schemas", "").await.remove(0);
    let changed = objects().await;
    let same = under(&changed, "schemas", "").await.remove(0);
    edit(&changed, &same, |text| text.replacen("\"v\"", "\"w\"", 1)).await;
    assert_eq!(codes(&changed).await[0].0, "schema-damaged");
    lost.delete(&schema).await.unwrap();
    assert_eq!(codes(&lost).await[0].0, "missing-file");
}

#[tokio::test]
async fn lost_table_files_are_found() {
    for part in ["/data/", "/_versions/", "/_deletions/"] {
        let objects = objects().await;
        for path in under(&objects, "tables", part).await {
            objects.delete(&path).await.unwrap();
        }
        let found = codes(&objects).await;
        assert!(!found.is_empty(), "{part}");
        let table = |code: &str| matches!(code, "table-unreadable" | "table-damaged" | "row-count");
        assert!(found.iter().all(|(code, _)| table(code)), "{part}: {found:?}");
    }
}

#[tokio::test]
async fn a_shortened_data_file_is_found() {
    let objects = objects().await;
    for path in under(&objects, "tables", "/data/").await {
        let bytes = objects.get(&path).await.unwrap().bytes().await.unwrap();
        objects.put(&path, bytes.slice(..bytes.len() / 2).into()).await.unwrap();
    }
    let found = codes(&objects).await;
    assert!(found.iter().any(|(code, _)| matches!(*code, "table-unreadable" | "table-damaged")), "{found:?}");
}

#[tokio::test]
async fn a_check_changes_nothing() {
    let objects = objects().await;
    let list = async |objects: &InMemory| -> Vec<(Path, Option<String>)> {
        objects.list(None).map_ok(|meta| (meta.location, meta.e_tag)).try_collect().await.unwrap()
    };
    let before = list(&objects).await;
    let graph = Graph::open_on(store(&objects)).await.unwrap();
    graph.fsck_deep(&[]).await.unwrap();
    assert_eq!(list(&objects).await, before);
}
