//! What was written is there for another process, however the rows lie.

use std::fmt::Write as _;

use kit::graphs::{assert_whole, by_kit, export, init_options, load, memory_uri, write};
use pleach::{Graph, LoadMode, TableCounts, Write};

#[tokio::test]
async fn upserts_find_existing_keys_wherever_their_rows_are() {
    let uri = memory_uri();
    // The key is not the first property.
    let ddl = "CREATE NODE TABLE T (v INT64, name STRING, k INT64 PRIMARY KEY);";
    let graph = Graph::init(&uri, ddl, init_options()).await.unwrap();
    let lines = |keys: std::ops::Range<i64>, v: i64| {
        keys.fold(String::new(), |mut all, k| {
            let _ = writeln!(all, r#"{{"table":"T","data":{{"v":{v},"name":"n{k}","k":{k}}}}}"#);
            all
        })
    };
    load(&graph, LoadMode::Append, &lines(0..500, 0)).await.unwrap();
    for (round, v) in (1..=3).enumerate() {
        let graph = Graph::open(&uri).await.unwrap();
        let report = load(&graph, LoadMode::Upsert, &lines(100..228, v)).await.unwrap();
        assert_eq!(report.tables["T"], TableCounts { read: 128, updated: 128, ..TableCounts::default() });
        // Deletes and many small commits in between, so that files are thinned and folded.
        let gone = i64::try_from(round).unwrap();
        write(&graph, Write::new().delete("T", [gone.to_string()])).await.unwrap();
        for k in 0..20 {
            let k = 1_000 + gone * 20 + k;
            graph.write("main", Write::new().insert_json(lines(k..k + 1, 9).trim()), by_kit()).await.unwrap();
        }
        let out = export(&graph, "main").await;
        assert_eq!(out.lines().count(), 500 - round - 1 + (round + 1) * 20);
        assert_eq!(out.matches(&format!("\"v\":{v},")).count(), 128);
    }
    let report = graph.fsck(&[]).await.unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
}

#[tokio::test]
async fn a_folder_holds_the_same_as_memory() {
    let folder = tempfile::tempdir().unwrap();
    let uri = folder.path().join("graph").to_str().unwrap().to_owned();
    let ddl = "CREATE NODE TABLE N (id STRING PRIMARY KEY); CREATE REL TABLE E (FROM N TO N);";
    let graph = Graph::init(&uri, ddl, init_options()).await.unwrap();
    let rows = Write::new()
        .insert_json(r#"{"table":"N","data":{"id":"a"}}"#)
        .insert_json(r#"{"table":"N","data":{"id":"b"}}"#)
        .insert_json(r#"{"table":"E","from":"a","to":"b"}"#);
    write(&graph, rows).await.unwrap();
    let again = Graph::open(&uri).await.unwrap();
    assert_eq!(export(&again, "main").await, export(&graph, "main").await);
    assert!(again.get("main", "E", &["\"a\"".into(), "\"b\"".into()]).await.unwrap().is_some());
    assert_whole(&again).await;
}
