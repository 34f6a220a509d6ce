//! Damage to lineage chunks and to changes that lie beside their record: told once, by the object's path, with what can be done.

use std::sync::Arc;

use kit::graphs::{by_kit, init_options};
use object_store::ObjectStoreExt as _;
use object_store::memory::InMemory;
use object_store::path::Path;
use pleach::{ChangeOptions, FsckProblem, Graph, Write};

use super::{DDL, store, under};

/// A graph with a lineage chunk, which many forks in a row make, and a commit whose message is too long for its record.
async fn objects() -> Arc<InMemory> {
    let objects = Arc::new(InMemory::new());
    let graph = Graph::init_on(store(&objects), DDL, init_options()).await.unwrap();
    let mut from = "main".to_owned();
    for number in 0..66 {
        let name = format!("f{number:02}");
        graph.create_branch(&name, &from, by_kit()).await.unwrap();
        from = name;
    }
    let options = ChangeOptions { message: "m".repeat(300_000), ..by_kit() };
    let row = r#"{"table":"N","data":{"id":1,"v":"x"}}"#;
    graph.write("main", Write::new().insert_json(row), options).await.unwrap();
    objects
}

async fn problems(objects: &Arc<InMemory>) -> Vec<FsckProblem> {
    Graph::open_on(store(objects)).await.unwrap().fsck(&[]).await.unwrap().problems
}

/// The one object in a folder.
async fn only(objects: &InMemory, folder: &str) -> Path {
    let mut found = under(objects, folder, "").await;
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

/// Loses the one object of `folder`, then damages it in each of several ways: each is one problem, at `place`, with `code`.
async fn is_found(folder: &str, place: &str, code: &str, advice: &str) {
    let objects = objects().await;
    assert!(problems(&objects).await.is_empty());
    let path = only(&objects, folder).await;
    let bytes = objects.get(&path).await.unwrap().bytes().await.unwrap();
    let half = bytes.slice(..bytes.len() / 2);
    for (damaged, code) in [(None, "missing-file"), (Some(half), code), (Some("{}".into()), code)] {
        match damaged {
            None => objects.delete(&path).await.unwrap(),
            Some(bytes) => drop(objects.put(&path, bytes.into()).await.unwrap()),
        }
        let found = problems(&objects).await;
        let told: Vec<_> = found.iter().map(|problem| (problem.code, problem.place.as_str())).collect();
        assert_eq!(told, [(code, place)]);
        let detail = &found[0].detail;
        assert!(detail.contains(path.as_ref()), "{detail}");
        assert!(detail.contains("put it back from a copy of the store") && detail.contains(advice), "{detail}");
    }
    objects.put(&path, bytes.into()).await.unwrap();
    assert!(problems(&objects).await.is_empty(), "put back, all is well");
}

#[tokio::test]
async fn a_lost_or_damaged_lineage_chunk_is_found() {
    is_found("lineages", "f64@0", "lineage-damaged", "creating a branch from it may fail").await;
}

#[tokio::test]
async fn lost_or_damaged_changes_are_found() {
    is_found("changes", "main@1", "changes-damaged", "its rows can be read").await;
}

#[tokio::test]
async fn rows_can_be_read_although_the_changes_that_wrote_them_are_lost() {
    let objects = objects().await;
    let path = only(&objects, "changes").await;
    objects.delete(&path).await.unwrap();
    let graph = Graph::open_on(store(&objects)).await.unwrap();
    assert!(graph.get("main", "N", &["1".to_owned()]).await.unwrap().is_some());
    let error = graph.show("main").await.unwrap_err();
    assert!(error.to_string().contains(path.as_ref()), "{error}");
}
