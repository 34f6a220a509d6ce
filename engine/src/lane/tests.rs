//! What the records of shared commits say.

use std::collections::BTreeMap;

use crate::graph::{ChangeOptions, Graph, InitOptions};
use crate::record::EncodedKey;
use crate::store::{RequestKind, When};
use crate::testing::Rig;
use crate::value::{Value, encode};
use crate::write::Write;

const DDL: &str = "CREATE NODE TABLE N (id INT64 PRIMARY KEY, v INT64); CREATE REL TABLE E (FROM N TO N);";

fn n(id: i64, v: i64) -> String {
    format!(r#"{{"table":"N","data":{{"id":{id},"v":{v}}}}}"#)
}

fn key(parts: &[i128]) -> EncodedKey {
    let mut bytes = Vec::new();
    for part in parts {
        encode(&Value::Int(*part), &mut bytes);
    }
    EncodedKey(bytes)
}

/// The keys that each change of the head lists as deleted, by the name of the table.
async fn deleted(graph: &Graph) -> Vec<BTreeMap<String, Vec<EncodedKey>>> {
    let head = graph.core().snapshot("main").await.unwrap();
    let name = |id| head.catalog.table_by_id(id).unwrap().name.clone();
    let changes = graph.core().changes_of(&head.record).await.unwrap();
    changes
        .into_iter()
        .map(|change| change.deleted_keys.into_iter().map(|(id, keys)| (name(id), keys)).collect())
        .collect()
}

#[tokio::test]
async fn changes_that_share_a_commit_list_the_keys_that_each_deleted() {
    let rig = Rig::empty();
    let graph = rig.builder().init_on(rig.store(), DDL, InitOptions::default()).await.unwrap();
    let write = |write: Write| {
        let graph = graph.clone();
        tokio::spawn(async move { graph.write("main", write, ChangeOptions::default()).await.unwrap() })
    };
    let edge = |from: i64, to: i64| format!(r#"{{"table":"E","from":{from},"to":{to}}}"#);
    let stored = (1..8).fold(Write::new(), |write, id| write.insert_json(n(id, 0)));
    write(stored.insert_json(edge(1, 2)).insert_json(edge(3, 4))).await.unwrap();
    write(Write::new().delete("N", ["7"])).await.unwrap();
    assert_eq!(deleted(&graph).await, [BTreeMap::new()], "one alone says it by its commit");

    let held = rig.faults.hold(When::kind(RequestKind::Create).path("branches/main/").once());
    let first = write(Write::new().insert_json(n(100, 0)));
    held.reached().await;
    let mut waiting = Vec::new();
    for (number, request) in (1..).zip([
        Write::new().delete_detach("N", ["1"]),
        Write::new().upsert_json(n(5, 1)).insert_json(n(8, 0)),
        Write::new().delete("E", ["3", "4"]).delete("N", ["6"]),
    ]) {
        waiting.push(write(request));
        while graph.stats().lanes.waiting < number {
            tokio::task::yield_now().await;
        }
    }
    held.release();
    first.await.unwrap();
    for request in waiting {
        request.await.unwrap();
    }
    let expected = |tables: &[(&str, &[i128])]| -> BTreeMap<String, Vec<EncodedKey>> {
        tables.iter().map(|(name, parts)| ((*name).to_owned(), vec![key(parts)])).collect()
    };
    let all = [expected(&[("E", &[1, 2]), ("N", &[1])]), BTreeMap::new(), expected(&[("E", &[3, 4]), ("N", &[6])])];
    assert_eq!(deleted(&graph).await, all);
}
