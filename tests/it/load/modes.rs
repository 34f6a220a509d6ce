//! What the three modes do with rows whose key exists or comes twice.

use std::fmt::Write as _;

use kit::graphs::{assert_whole, export, graph, load};
use pleach::{LoadMode, TableCounts};

const DDL: &str = "
    CREATE NODE TABLE N (k INT64 PRIMARY KEY, v INT64);
    CREATE NODE TABLE Other (k INT64 PRIMARY KEY);
    CREATE REL TABLE E (FROM N TO N);
";

fn n(k: u64, v: u64) -> String {
    format!("{{\"table\":\"N\",\"data\":{{\"k\":{k},\"v\":{v}}}}}\n")
}

#[tokio::test]
async fn one_key_on_two_lines_is_refused_or_the_last_line_counts() {
    // Key 7 on lines 10 and 99,990 with different values; key 8 twice with the same.
    let mut text = String::new();
    let mut next = 100;
    for line in 1..=100_000_u64 {
        match line {
            10 => text += &n(7, 1),
            99_990 => text += &n(7, 2),
            20 | 99_991 => text += &n(8, 5),
            _ => {
                text += &n(next, next);
                next += 1;
            }
        }
    }
    let graph = graph(DDL).await;
    let refused = load(&graph, LoadMode::Append, &text).await.unwrap_err().to_string();
    assert!(refused.contains("in.jsonl:99990: N: the key 7 is on lines 10 and 99990"), "{refused}");
    assert!(refused.contains("the key 8 is on lines 20 and 99991"), "{refused}");
    assert_eq!(export(&graph, "main").await, "");

    let report = load(&graph, LoadMode::Upsert, &text).await.unwrap();
    let counts = TableCounts { read: 100_000, inserted: 99_998, duplicates: 2, ..TableCounts::default() };
    assert_eq!(report.tables["N"], counts);
    assert_eq!(graph.get("main", "N", &["7".into()]).await.unwrap().as_deref(), Some(n(7, 2).trim()));

    // The same again: nothing new, nothing published.
    let report = load(&graph, LoadMode::Upsert, &text).await.unwrap();
    assert!(report.commit.is_none());
    let counts = TableCounts { read: 100_000, unchanged: 99_998, duplicates: 2, ..TableCounts::default() };
    assert_eq!(report.tables["N"], counts);
    let report = graph.fsck(&[]).await.unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    assert_eq!(report.rows, 99_998);
}

#[tokio::test]
async fn an_overwrite_replaces_the_tables_it_names_and_no_other() {
    let graph = graph(DDL).await;
    let other = "{\"table\":\"Other\",\"data\":{\"k\":1}}\n";
    load(&graph, LoadMode::Append, &[n(1, 1), n(2, 2), other.to_owned()].concat()).await.unwrap();
    let report = load(&graph, LoadMode::Overwrite, &[n(2, 9), n(3, 3)].concat()).await.unwrap();
    assert_eq!(report.tables["N"], TableCounts { read: 2, inserted: 2, removed: 2, ..TableCounts::default() });
    assert_eq!(export(&graph, "main").await, [n(2, 9), n(3, 3), other.to_owned()].concat());
    assert_whole(&graph).await;
}

#[tokio::test]
async fn an_overwrite_of_nodes_must_not_leave_edges_without_ends() {
    let graph = graph(DDL).await;
    let edge = "{\"table\":\"E\",\"from\":1,\"to\":2}\n";
    load(&graph, LoadMode::Append, &[n(1, 1), n(2, 2), edge.to_owned()].concat()).await.unwrap();
    let text = load(&graph, LoadMode::Overwrite, &n(1, 5)).await.unwrap_err().to_string();
    assert!(text.contains("E.to: found 2, expected the key of a N of the stored edge [1,2]"), "{text}");
    // With the nodes, or with the edges too, it is fine.
    load(&graph, LoadMode::Overwrite, &[n(1, 5), n(2, 6), n(3, 7)].concat()).await.unwrap();
    load(&graph, LoadMode::Overwrite, &[n(1, 5), "{\"table\":\"E\",\"from\":1,\"to\":1}\n".to_owned()].concat())
        .await
        .unwrap();
    assert_whole(&graph).await;
}

#[tokio::test]
async fn an_empty_input_publishes_nothing() {
    let graph = graph(DDL).await;
    let head = graph.branch("main").await.unwrap().head.id;
    for text in ["", "\n\n  \r\n", "\u{feff}"] {
        for mode in [LoadMode::Append, LoadMode::Upsert, LoadMode::Overwrite] {
            let report = load(&graph, mode, text).await.unwrap();
            assert!(report.commit.is_none() && report.tables.is_empty());
        }
    }
    assert_eq!(graph.branch("main").await.unwrap().head.id, head);
}

#[tokio::test]
async fn one_load_is_one_commit_that_tells_what_it_did() {
    let graph = graph(DDL).await;
    let text = (0..5_000).fold(String::new(), |mut text, k| {
        let _ = write!(text, "{}", n(k, k));
        text
    });
    let before = graph.branch("main").await.unwrap().head.seq;
    let commit = load(&graph, LoadMode::Append, &text).await.unwrap().commit.unwrap();
    assert_eq!(commit.seq, before.next());
    assert_eq!(commit.rows["N"], 5_000);
    assert_eq!((commit.changes.len(), commit.changes[0].kind.as_str()), (1, "load"));
    assert_eq!(commit.changes[0].tables["N"].inserted, 5_000);
}

#[tokio::test]
async fn an_input_beyond_memory_goes_through_files_to_the_same_end() {
    let graph = graph("CREATE NODE TABLE T (k INT64 PRIMARY KEY, text STRING);").await;
    // 40 rows of 600 KB are more than stays in memory.
    let row = |k: usize, letter: &str| {
        format!("{{\"table\":\"T\",\"data\":{{\"k\":{k},\"text\":\"{}\"}}}}\n", letter.repeat(600_000))
    };
    let first: String = (0..40).map(|k| row(k, "a")).collect();
    load(&graph, LoadMode::Append, &first).await.unwrap();
    assert!(export(&graph, "main").await == first);
    // Every second row is new, one of them comes twice.
    let second: String = (0..40).map(|k| row(k, if k % 2 == 0 { "b" } else { "a" })).collect();
    let report = load(&graph, LoadMode::Upsert, &(row(4, "c") + &second)).await.unwrap();
    let counts = TableCounts { read: 41, updated: 20, unchanged: 20, duplicates: 1, ..TableCounts::default() };
    assert_eq!(report.tables["T"], counts);
    assert!(export(&graph, "main").await == second);
    assert_whole(&graph).await;
}
