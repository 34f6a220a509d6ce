//! `DELETE` and `DETACH DELETE`, and what becomes of what is deleted.

use kit::graphs::{assert_whole, export, run};

use super::updates::{ints, lines, people};

#[tokio::test]
async fn edges_and_nodes_are_deleted() {
    let graph = people().await;
    let report = run(&graph, "MATCH (:Person {id: 1})-[k:Knows]->(q) DELETE k, q").await.unwrap();
    assert_eq!((report.tables["Knows"].removed, report.tables["Person"].removed), (1, 1));
    assert_eq!(lines(&graph, "Person").await.len(), 2);
    assert!(lines(&graph, "Knows").await.is_empty());
    assert_whole(&graph).await;
}

#[tokio::test]
async fn a_node_with_edges_goes_only_together_with_them() {
    let graph = people().await;
    let before = export(&graph, "main").await;
    let refused = run(&graph, "MATCH (p:Person {id: 1})\nDELETE p").await.unwrap_err();
    assert_eq!(refused.code(), "changes-refused");
    let text = refused.to_string();
    assert!(text.contains("Knows.from") && text.contains("stored edge [1,2]"), "{text}");
    assert!(refused.hint().unwrap().contains("DETACH DELETE"), "{:?}", refused.hint());
    assert_eq!(export(&graph, "main").await, before);
    let report = run(&graph, "MATCH (p:Person {id: 1}) DETACH DELETE p").await.unwrap();
    assert_eq!((report.tables["Person"].removed, report.tables["Knows"].removed), (1, 1));
    assert_whole(&graph).await;
}

#[tokio::test]
async fn what_rows_share_is_deleted_once() {
    let graph = people().await;
    let report = run(&graph, "MATCH (p:Person {id: 3}) UNWIND [1, 2] AS n DELETE p RETURN n ORDER BY n").await.unwrap();
    assert_eq!((ints(&report), report.tables["Person"].removed), (vec![vec![1], vec![2]], 1));
}

#[tokio::test]
async fn all_of_a_table_goes() {
    let graph = people().await;
    let report = run(&graph, "MATCH (p:Person) DETACH DELETE p RETURN count(p) AS gone").await.unwrap();
    assert_eq!((ints(&report), report.tables["Person"].removed), (vec![vec![3]], 3));
    assert_eq!(export(&graph, "main").await.lines().count(), 1);
    assert_whole(&graph).await;
}

#[tokio::test]
async fn what_was_deleted_cannot_be_looked_into() {
    let graph = people().await;
    let before = export(&graph, "main").await;
    for statement in [
        "MATCH (p:Person {id: 3}) DELETE p SET p.name = 'x'",
        "MATCH (p:Person {id: 3}), (q:Person {id: 1}) DELETE p SET q.name = p.name",
        "MATCH (p:Person {id: 3}), (q:Person {id: 1}) DELETE p CREATE (p)-[:Knows]->(q)",
        "MATCH (p:Person {id: 3}) DELETE p RETURN p",
        "MATCH (p:Person {id: 3}) DELETE p RETURN p.name AS name",
        "MATCH (p:Person {id: 3}) DELETE p RETURN collect(p) AS all",
        "MATCH (p:Person {id: 1})-[k:Knows]->() DETACH DELETE p SET k.since = 1",
        "MATCH (p:Person {id: 1})-[k:Knows]->() DETACH DELETE p RETURN k.since AS since",
    ] {
        let error = run(&graph, statement).await.unwrap_err();
        assert_eq!(error.code(), "deleted-entity", "{statement}: {error}");
        assert!(error.to_string().contains("was deleted by this statement"), "{error}");
    }
    assert_eq!(export(&graph, "main").await, before);
    let report =
        run(&graph, "MATCH (p:Person {id: 3}), (q:Person {id: 2}) DELETE p RETURN p IS NULL AS gone, q.id AS id")
            .await
            .unwrap();
    assert_eq!(format!("{:?}", report.rows), "[[Scalar(Bool(false)), Scalar(Int(2))]]");
}

#[tokio::test]
async fn what_is_needed_of_it_can_be_taken_before() {
    let graph = people().await;
    let report = run(&graph, "MATCH (p:Person {id: 3}) WITH p, p.id AS id DELETE p RETURN id").await.unwrap();
    assert_eq!(ints(&report), [[3]]);
}

#[tokio::test]
async fn a_node_may_be_made_anew_in_the_statement_that_deletes_it() {
    let graph = people().await;
    run(&graph, "MATCH (p:Person {id: 1}) DETACH DELETE p CREATE (:Person {id: 1, name: 'again'})").await.unwrap();
    assert!(lines(&graph, "Knows").await.is_empty());
    assert_eq!(lines(&graph, "Person").await[0], r#"{"table":"Person","data":{"id":1,"name":"again","visits":0}}"#);
    let graph = people().await;
    run(&graph, "MATCH (p:Person {id: 1}) DELETE p CREATE (:Person {id: 1, name: 'again'})").await.unwrap();
    assert_eq!(lines(&graph, "Knows").await.len(), 1, "only the node was put in another's place");
    assert_whole(&graph).await;
}

#[tokio::test]
async fn an_edge_that_was_made_goes_with_its_node() {
    let graph = people().await;
    let report = run(&graph, "MATCH (a:Person {id: 2}), (b:Person {id: 3}) CREATE (a)-[:Knows]->(b) DETACH DELETE b")
        .await
        .unwrap();
    assert_eq!(report.tables["Person"].removed, 1);
    assert_eq!(lines(&graph, "Knows").await, [r#"{"table":"Knows","from":1,"to":2,"data":{"since":1840}}"#]);
    assert_whole(&graph).await;
}

#[tokio::test]
async fn one_of_many_edges_is_deleted_by_itself() {
    let graph = people().await;
    run(
        &graph,
        "MATCH (a:Person {id: 1}), (b:Person {id: 2}) UNWIND [5, 5, 6] AS cents CREATE (a)-[:Paid {cents: cents}]->(b)",
    )
    .await
    .unwrap();
    let report = run(&graph, "MATCH ()-[p:Paid {cents: 5}]->() WITH p LIMIT 1 DELETE p").await.unwrap();
    assert_eq!(report.tables["Paid"].removed, 1);
    assert_eq!(lines(&graph, "Paid").await.len(), 2);
    assert_whole(&graph).await;
}
