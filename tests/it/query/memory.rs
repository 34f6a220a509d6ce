//! Queries in little memory.

use kit::graphs::{assert_whole, init_options, load, memory_uri, run};
use pleach::{Error, ErrorKind, Graph, LoadMode, Params};

const PEOPLE: usize = 10_000;
/// Bytes of each person's name, without its number.
const NAME: usize = 5_000;

/// A graph whose queries have 64 MiB, with rows that take 50 MB, and twice that as they are held.
async fn small() -> Graph {
    let builder = Graph::builder().query_memory_bytes(64 << 20);
    let graph = builder.init(&memory_uri(), super::DDL, init_options()).await.unwrap();
    let filler = "x".repeat(NAME);
    let person = |id: usize| {
        format!(r#"{{"table":"Person","data":{{"id":"p{id:05}","name":"{filler}{id}","age":{}}}}}"#, id % 7)
    };
    let knows = |id: usize| format!(r#"{{"table":"Knows","from":"p{id:05}","to":"p{:05}"}}"#, (id + 1) % PEOPLE);
    let lines: Vec<String> = (0..PEOPLE).map(person).chain((0..PEOPLE / 2).map(knows)).collect();
    load(&graph, LoadMode::Append, &lines.join("\n")).await.unwrap();
    graph
}

async fn ids(graph: &Graph, text: &str) -> Vec<String> {
    let rows = graph.query("main", text, Params::new()).await.unwrap().collect_rows().await.unwrap();
    rows.iter().map(|row| row[0].to_json()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_memory_has_no_room_for_goes_to_files_or_comes_in_rounds() {
    let graph = small().await;
    sorted(&graph).await;
    expanded(&graph).await;
    kept_for_an_optional_match(&graph).await;
}

async fn sorted(graph: &Graph) {
    let sorted = ids(graph, "MATCH (p:Person) WITH p.id AS id, p.name AS name ORDER BY id DESC RETURN id, name").await;
    assert_eq!(sorted.len(), PEOPLE);
    assert!(sorted.is_sorted_by(|a, b| a > b));
}

async fn expanded(graph: &Graph) {
    let text = "MATCH (p:Person) WITH p.id AS id, p.name AS name, p \
                MATCH (p)-[:Knows]->(q) RETURN id, size(name), q.id";
    let mut found = ids(graph, text).await;
    found.sort();
    let expected: Vec<String> = (0..PEOPLE / 2).map(|id| format!("\"p{id:05}\"")).collect();
    assert_eq!(found, expected);
}

async fn kept_for_an_optional_match(graph: &Graph) {
    let text = "MATCH (p:Person) WITH p, p.name AS name, toUpper(p.name) AS other OPTIONAL MATCH (p)-[k:Knows]->(q) \
                WITH k, size(name) + size(other) AS length RETURN count(*), count(k), sum(length)";
    let rows = graph.query("main", text, Params::new()).await.unwrap().collect_rows().await.unwrap();
    let row: Vec<String> = rows[0].iter().map(pleach::CypherValue::to_json).collect();
    let digits: usize = (0..PEOPLE).map(|id| id.to_string().len()).sum();
    assert_eq!(row, [PEOPLE.to_string(), (PEOPLE / 2).to_string(), (2 * (PEOPLE * NAME + digits)).to_string()]);
}

fn assert_out_of_memory(error: &Error, text: &str) {
    assert_eq!((error.kind(), error.code()), (ErrorKind::Unavailable, "query-out-of-memory"), "{text}: {error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("memory")), "{text}: {error}");
}

/// A graph whose queries have so many MiB.
async fn tiny(mebibytes: usize) -> Graph {
    let ddl = "CREATE NODE TABLE N (id INT64 PRIMARY KEY, text STRING);";
    Graph::builder().query_memory_bytes(mebibytes << 20).init(&memory_uri(), ddl, init_options()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn values_that_memory_has_no_room_for_are_refused() {
    let graph = tiny(8).await;
    for text in [
        // A list of a hundred thousand for each of two thousand rows.
        "UNWIND range(1, 2000) AS x WITH range(x, x + 100000) AS xs RETURN sum(size(xs) + xs[0])",
        "UNWIND range(1, 300000) AS x WITH x, toString(x) + ' and some more text' AS text RETURN collect(text)",
        "UNWIND range(1, 300000) AS x RETURN collect(DISTINCT toString(x))",
        "UNWIND range(1, 300000) AS x WITH x % 3 AS k, collect(toString(x) + ' and some more text') AS xs RETURN k, size(xs)",
    ] {
        let rows = graph.query("main", text, Params::new()).await.unwrap();
        let error = rows.collect_rows().await.expect_err(text);
        assert_out_of_memory(&error, text);
    }
    // What was held has been given back.
    let rows = ids(&graph, "UNWIND range(1, 100000) AS x RETURN size(collect(x))").await;
    assert_eq!(rows, ["100000"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_an_update_that_memory_has_no_room_for_are_refused_and_nothing_is_written() {
    let graph = tiny(8).await;
    for text in [
        "UNWIND range(1, 1000000) AS x WITH x WHERE x % 3 < 5 CREATE (:N {id: x})",
        "UNWIND range(1, 20000) AS x CREATE (n:N {id: x, text: toString(x) + ' and some more text'}) SET n.text = n.text + 'x'",
        "UNWIND range(1, 20000) AS x MERGE (n:N {id: x}) RETURN n",
    ] {
        let error = run(&graph, text).await.expect_err(text);
        assert_out_of_memory(&error, text);
    }
    let report = run(&graph, "UNWIND range(1, 2000) AS x CREATE (:N {id: x})").await.unwrap();
    assert_eq!(report.tables["N"].inserted, 2000);
    assert_eq!(graph.log("main", 10).await.unwrap().len(), 2);
    assert_whole(&graph).await;
}
