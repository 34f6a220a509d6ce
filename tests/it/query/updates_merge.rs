//! `MERGE`: a row is found by its key, or made.

use kit::graphs::{assert_whole, export, graph, run};
use pleach::TableCounts;

use super::updates::{DDL, ints, lines, people};

#[tokio::test]
async fn a_node_is_found_by_its_key_or_made() {
    let graph = people().await;
    let statement = "UNWIND [1, 7, 7] AS id MERGE (p:Person {id: id})
        ON CREATE SET p.name = 'new', p.visits = 1 ON MATCH SET p.visits = p.visits + 10
        RETURN p.id AS id, p.visits AS visits";
    let report = run(&graph, statement).await.unwrap();
    // What is returned is how things are in the end.
    assert_eq!(ints(&report), [[1, 10], [7, 11], [7, 11]]);
    assert_eq!(report.tables["Person"], TableCounts { read: 2, inserted: 1, updated: 1, ..TableCounts::default() });
    assert_eq!(lines(&graph, "Person").await[3], r#"{"table":"Person","data":{"id":7,"name":"new","visits":11}}"#);
    assert_whole(&graph).await;
}

#[tokio::test]
async fn a_key_of_several_parts_is_merged_by_all_of_them() {
    let graph = people().await;
    let statement = "UNWIND [['GB', 'London'], ['CA', 'London'], ['GB', 'York']] AS c
        MERGE (x:City {country: c[0], name: c[1]}) RETURN count(DISTINCT x) AS n";
    let report = run(&graph, statement).await.unwrap();
    assert_eq!((ints(&report), report.tables["City"].inserted), (vec![vec![3]], 2));
}

#[tokio::test]
async fn an_edge_is_found_by_its_ends_or_made() {
    let graph = people().await;
    let statement = "MATCH (a:Person {id: 1}), (b:Person) WHERE b.id > 1 MERGE (a)-[k:Knows]->(b)
        ON CREATE SET k.since = 1 ON MATCH SET k.since = k.since + 1 RETURN b.id AS id, k.since AS since ORDER BY id";
    assert_eq!(ints(&run(&graph, statement).await.unwrap()), [[2, 1841], [3, 1]]);
    assert_eq!(ints(&run(&graph, statement).await.unwrap()), [[2, 1842], [3, 2]]);
    assert_whole(&graph).await;
}

#[tokio::test]
async fn an_edge_with_a_key_of_its_own_is_merged_by_that_too() {
    let graph = graph(
        "CREATE NODE TABLE N (id INT64 PRIMARY KEY); CREATE REL TABLE E (FROM N TO N, kind STRING, w INT64, KEY (kind));",
    )
    .await;
    run(&graph, "CREATE (a:N {id: 1}), (b:N {id: 2}), (a)-[:E {kind: 'x', w: 1}]->(b)").await.unwrap();
    let report = run(
        &graph,
        "MATCH (a:N {id: 1}), (b:N {id: 2}) UNWIND ['x', 'y'] AS kind MERGE (a)-[e:E {kind: kind}]->(b)
        ON MATCH SET e.w = 5 RETURN e.kind AS kind, e.w AS w ORDER BY kind",
    )
    .await
    .unwrap();
    assert_eq!(
        format!("{:?}", report.rows),
        r#"[[Scalar(String("x")), Scalar(Int(5))], [Scalar(String("y")), Scalar(Null)]]"#
    );
    assert_eq!(report.tables["E"], TableCounts { read: 2, inserted: 1, updated: 1, ..TableCounts::default() });
}

#[tokio::test]
async fn merging_many_takes_one_look_up() {
    let graph = graph(DDL).await;
    run(&graph, "UNWIND range(1, 500) AS id CREATE (:Person {id: id})").await.unwrap();
    let few =
        run(&graph, "UNWIND range(2, 3) AS id MERGE (p:Person {id: id}) ON MATCH SET p.visits = 1").await.unwrap();
    let many =
        run(&graph, "UNWIND range(1, 900) AS id MERGE (p:Person {id: id}) ON MATCH SET p.visits = 2").await.unwrap();
    assert_eq!((many.tables["Person"].updated, many.tables["Person"].inserted), (500, 400));
    assert!(many.io.requests() <= few.io.requests() + 12, "{:?} {:?}", few.io, many.io);
    assert_whole(&graph).await;
}

#[tokio::test]
async fn a_node_is_merged_by_a_key_that_is_there_and_by_nothing_else() {
    let graph = people().await;
    let before = export(&graph, "main").await;
    let error = run(&graph, "MERGE (p:Person {id: 1, name: 'Ada'})").await.unwrap_err();
    assert!(error.code() == "invalid-query" && error.to_string().contains("ON CREATE SET"), "{error}");
    let error = run(&graph, "UNWIND [7, null] AS id MERGE (p:Person {id: id})").await.unwrap_err();
    assert_eq!(error.code(), "missing-key", "{error}");
    assert_eq!(export(&graph, "main").await, before);
}

#[tokio::test]
async fn a_key_that_depends_on_what_was_set_before_is_looked_up_by_then() {
    let graph = people().await;
    let statement =
        "MATCH (p:Person {id: 1}) UNWIND [1, 2, 3] AS n MERGE (c:City {country: 'v', name: toString(p.visits)})
        ON CREATE SET p.visits = p.visits + 1 ON MATCH SET p.visits = p.visits + 100 RETURN p.visits AS visits";
    let report = run(&graph, statement).await.unwrap();
    assert_eq!((ints(&report), report.tables["City"].inserted), (vec![vec![3], vec![3], vec![3]], 3));
}

#[tokio::test]
async fn what_was_deleted_is_made_anew_by_a_merge() {
    let graph = people().await;
    run(
        &graph,
        "MATCH (p:Person {id: 1}) DETACH DELETE p MERGE (q:Person {id: 1})
        ON CREATE SET q.name = 'made' ON MATCH SET q.name = 'found'",
    )
    .await
    .unwrap();
    assert_eq!(lines(&graph, "Person").await[0], r#"{"table":"Person","data":{"id":1,"name":"made","visits":0}}"#);
    assert!(lines(&graph, "Knows").await.is_empty());
    assert_whole(&graph).await;
}
