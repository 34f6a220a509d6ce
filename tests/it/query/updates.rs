//! `CREATE`, `SET` and `REMOVE`: what statements make of rows, and what they return.

use kit::graphs::{assert_whole, by_kit, export, graph, run};
use pleach::{ChangeOptions, CypherValue, Graph, Params, RunReport, TableCounts};

pub(super) const DDL: &str = "
    CREATE NODE TABLE Person (id INT64 PRIMARY KEY, name STRING, age INT8 CHECK (age >= 0), tags STRING[], visits INT64 DEFAULT 0);
    CREATE NODE TABLE City (country STRING, name STRING, founded DATE, PRIMARY KEY (country, name));
    CREATE REL TABLE Knows (FROM Person TO Person, since INT64);
    CREATE REL TABLE LivesIn (FROM Person TO City, MANY_ONE);
    CREATE REL TABLE Paid (FROM Person TO Person, cents INT64 NOT NULL, MULTI);
";

/// A graph with three people, two of whom know each other, and a city.
pub(super) async fn people() -> Graph {
    let graph = graph(DDL).await;
    let statement =
        "CREATE (a:Person {id: 1, name: 'Ada', age: 36}), (b:Person {id: 2, name: 'Bob'}), (:Person {id: 3}),
        (:City {country: 'GB', name: 'London'}), (a)-[:Knows {since: 1840}]->(b)";
    run(&graph, statement).await.unwrap();
    graph
}

pub(super) async fn lines(graph: &Graph, table: &str) -> Vec<String> {
    let wanted = format!(r#"{{"table":"{table}""#);
    export(graph, "main").await.lines().filter(|line| line.starts_with(&wanted)).map(str::to_owned).collect()
}

pub(super) fn ints(report: &RunReport) -> Vec<Vec<i64>> {
    let int = |value: &CypherValue| match value {
        CypherValue::Scalar(pleach::value::Value::Int(value)) => i64::try_from(*value).unwrap(),
        other => panic!("{other:?}"),
    };
    report.rows.iter().map(|row| row.iter().map(int).collect()).collect()
}

#[tokio::test]
async fn nodes_and_edges_are_created_in_one_commit() {
    let graph = people().await;
    assert_eq!(
        export(&graph, "main").await,
        concat!(
            r#"{"table":"City","data":{"country":"GB","name":"London"}}"#,
            "\n",
            r#"{"table":"Person","data":{"id":1,"name":"Ada","age":36,"visits":0}}"#,
            "\n",
            r#"{"table":"Person","data":{"id":2,"name":"Bob","visits":0}}"#,
            "\n",
            r#"{"table":"Person","data":{"id":3,"visits":0}}"#,
            "\n",
            r#"{"table":"Knows","from":1,"to":2,"data":{"since":1840}}"#,
            "\n",
        )
    );
    assert_eq!(graph.log("main", 10).await.unwrap().len(), 2, "its creation, and the statement");
    assert_whole(&graph).await;
}

#[tokio::test]
async fn the_report_tells_commit_counts_columns_and_rows() {
    let graph = people().await;
    let options = ChangeOptions { message: "older".into(), ..by_kit() };
    let statement = "MATCH (p:Person) WHERE p.id < 3 SET p.visits = p.visits + p.id RETURN p.id AS id, p.visits AS visits ORDER BY id";
    let report = graph.run("main", statement, Params::new(), options).await.unwrap();
    let commit = report.commit.as_ref().unwrap();
    assert_eq!((commit.changes[0].message.as_str(), commit.changes[0].kind.as_str()), ("older", "write"));
    assert_eq!(report.tables["Person"], TableCounts { read: 2, updated: 2, ..TableCounts::default() });
    assert_eq!(report.columns, ["id", "visits"]);
    assert_eq!(ints(&report), [[1, 1], [2, 2]]);
    assert!(!report.repeated && report.io.requests() > 0);
}

#[tokio::test]
async fn created_nodes_take_defaults_for_what_is_left_out_and_null_where_it_is_said() {
    let graph = graph(DDL).await;
    run(&graph, "CREATE (:Person {id: 1}), (:Person {id: 2, visits: null}), (:Person {id: 3, visits: 7})")
        .await
        .unwrap();
    assert_eq!(
        lines(&graph, "Person").await,
        [
            r#"{"table":"Person","data":{"id":1,"visits":0}}"#,
            r#"{"table":"Person","data":{"id":2,"visits":null}}"#,
            r#"{"table":"Person","data":{"id":3,"visits":7}}"#,
        ]
    );
}

#[tokio::test]
async fn rows_of_a_parameter_become_nodes_and_edges() {
    let graph = graph(DDL).await;
    let params =
        Params::from_json(r#"{"rows": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}, {"id": 3, "name": "c"}]}"#);
    let statement = "UNWIND $rows AS row CREATE (p:Person {id: row.id, name: row.name}) RETURN count(p) AS n";
    let report = graph.run("main", statement, params.unwrap(), by_kit()).await.unwrap();
    assert_eq!((ints(&report), report.tables["Person"].inserted), (vec![vec![3]], 3));
    let report = run(
        &graph,
        "MATCH (a:Person), (b:Person) WHERE a.id < b.id CREATE (a)-[e:Knows {since: a.id * 10 + b.id}]->(b)
        RETURN e.since AS since ORDER BY since",
    )
    .await
    .unwrap();
    assert_eq!(ints(&report), [[12], [13], [23]]);
    assert_eq!(lines(&graph, "Knows").await.len(), 3);
    assert_whole(&graph).await;
}

#[tokio::test]
async fn edges_between_the_same_nodes_are_as_many_as_their_table_allows() {
    let graph = people().await;
    let statement =
        "MATCH (a:Person {id: 1}), (b:Person {id: 2}) UNWIND [5, 7] AS cents CREATE (a)-[:Paid {cents: cents}]->(b)";
    run(&graph, statement).await.unwrap();
    run(&graph, statement).await.unwrap();
    assert_eq!(lines(&graph, "Paid").await.len(), 4);
    let report = run(&graph, "MATCH ()-[p:Paid]->() WHERE p.cents = 5 SET p.cents = 6 RETURN sum(p.cents) AS sum")
        .await
        .unwrap();
    assert_eq!((ints(&report), report.tables["Paid"].updated), (vec![vec![12]], 2));
    assert_whole(&graph).await;
}

#[tokio::test]
async fn properties_are_set_taken_away_and_replaced() {
    let graph = people().await;
    run(&graph, "MATCH (p:Person {id: 1}) SET p.name = 'Countess', p.tags = ['a', null] REMOVE p.age").await.unwrap();
    run(&graph, "MATCH (p:Person {id: 2}) SET p = {name: 'B', age: 5}").await.unwrap();
    run(&graph, "MATCH (p:Person {id: 3}) SET p += {name: 'C', visits: 9}").await.unwrap();
    run(&graph, "MATCH ()-[k:Knows]->() SET k.since = null").await.unwrap();
    assert_eq!(
        lines(&graph, "Person").await,
        [
            r#"{"table":"Person","data":{"id":1,"name":"Countess","tags":["a",null],"visits":0}}"#,
            r#"{"table":"Person","data":{"id":2,"name":"B","age":5,"visits":null}}"#,
            r#"{"table":"Person","data":{"id":3,"name":"C","visits":9}}"#,
        ]
    );
    assert_eq!(lines(&graph, "Knows").await, [r#"{"table":"Knows","from":1,"to":2,"data":{}}"#]);
    assert_whole(&graph).await;
}

#[tokio::test]
async fn properties_may_be_taken_from_another_node() {
    let graph = people().await;
    run(&graph, "MATCH (a:Person {id: 1}), (b:Person {id: 3}) SET b.name = a.name, b.age = a.age + 1").await.unwrap();
    assert_eq!(
        lines(&graph, "Person").await[2],
        r#"{"table":"Person","data":{"id":3,"name":"Ada","age":37,"visits":0}}"#
    );
}

#[tokio::test]
async fn an_assignment_sees_those_before_it_and_rows_see_those_before_them() {
    let graph = people().await;
    // Three rows of one node each add to it; two names of a node are one node.
    let report = run(
        &graph,
        "MATCH (p:Person {id: 1}), (same:Person {id: 1}) UNWIND [1, 2, 3] AS n
        SET p.visits = p.visits + n, p.age = p.visits RETURN same.visits AS visits, same.age AS age",
    )
    .await
    .unwrap();
    assert_eq!(ints(&report), [[6, 6], [6, 6], [6, 6]]);
    assert_eq!(report.tables["Person"], TableCounts { read: 1, updated: 1, ..TableCounts::default() });
}

#[tokio::test]
async fn clauses_take_effect_one_after_another_for_all_rows() {
    let graph = people().await;
    let report = run(
        &graph,
        "MATCH (p:Person) SET p.visits = 1 SET p.visits = p.visits + 10
        CREATE (c:City {country: 'X', name: toString(p.id)}) CREATE (p)-[:LivesIn]->(c)
        RETURN p.id AS id, p.visits AS visits ORDER BY id DESC LIMIT 2",
    )
    .await
    .unwrap();
    assert_eq!(ints(&report), [[3, 11], [2, 11]]);
    assert_eq!((report.tables["City"].inserted, report.tables["LivesIn"].inserted), (3, 3));
    assert_whole(&graph).await;
}

#[tokio::test]
async fn nothing_happens_to_what_an_optional_match_did_not_find() {
    let graph = people().await;
    let report = run(
        &graph,
        "MATCH (p:Person {id: 3}) OPTIONAL MATCH (p)-[k:Knows]->(q:Person)
        SET k.since = 1, q.name = 'x' REMOVE q.age DELETE k RETURN p.id AS id",
    )
    .await
    .unwrap();
    assert_eq!(ints(&report), [[3]]);
    assert!(report.commit.is_none() && report.tables.is_empty());
}

#[tokio::test]
async fn a_statement_that_changes_nothing_publishes_nothing() {
    let graph = people().await;
    let head = graph.branch("main").await.unwrap().head.id;
    for statement in [
        "MATCH (p:Person {id: 9}) SET p.name = 'x'",
        "MATCH (p:Person {id: 1}) SET p.name = 'Ada'",
        "MATCH (p:Person {id: 1}) SET p.name = 'x' SET p.name = 'Ada'",
        "MERGE (:Person {id: 1})",
    ] {
        let report = run(&graph, statement).await.unwrap();
        assert!(report.commit.is_none(), "{statement}");
    }
    assert_eq!(graph.branch("main").await.unwrap().head.id, head);
}

#[tokio::test]
async fn a_statement_that_only_reads_returns_rows_and_commits_nothing() {
    let graph = people().await;
    let report = run(&graph, "MATCH (p:Person) RETURN count(*) AS n").await.unwrap();
    assert_eq!((report.columns.clone(), ints(&report)), (vec!["n".to_owned()], vec![vec![3]]));
    assert!(report.commit.is_none());
    let stale = ChangeOptions { if_head: Some("main@0".into()), ..by_kit() };
    let refused = graph.run("main", "RETURN 1 AS one", Params::new(), stale).await.unwrap_err();
    assert_eq!(refused.code(), "head-moved");
    let at_a_commit = graph.run("main@0", "RETURN 1 AS one", Params::new(), by_kit()).await.unwrap_err();
    assert_eq!(at_a_commit.code(), "branch-name-invalid");
}

#[tokio::test]
async fn whole_nodes_and_edges_are_returned_as_they_became() {
    let graph = people().await;
    let report = run(
        &graph,
        "MATCH (p:Person {id: 1})-[k:Knows]->(q) SET p.name = 'x', k.since = 5
        RETURN p, k, [q, p] AS both, labels(q) AS labels",
    )
    .await
    .unwrap();
    let [row] = report.rows.as_slice() else { panic!("{:?}", report.rows) };
    let CypherValue::Node(p) = &row[0] else { panic!("{row:?}") };
    let CypherValue::Edge(k) = &row[1] else { panic!("{row:?}") };
    assert_eq!((p.label.as_str(), &p.properties["name"], &p.properties["age"]), ("Person", &"x".into(), &36.into()));
    assert_eq!((k.label.as_str(), &k.properties["since"]), ("Knows", &5.into()));
    assert_eq!(
        (k.from.as_slice(), k.to.as_slice()),
        (&[pleach::value::Value::Int(1)][..], &[pleach::value::Value::Int(2)][..])
    );
    let CypherValue::List(both) = &row[2] else { panic!("{row:?}") };
    assert_eq!(both[1], row[0]);
    assert_eq!(row[3], vec!["Person"].into());
}

#[tokio::test]
async fn nodes_that_were_collected_are_up_to_date_when_they_are_returned() {
    let graph = people().await;
    let statement = "MATCH (p:Person) WITH collect(p) AS all MATCH (q:Person {id: 1}) SET q.name = 'new' RETURN all";
    let report = run(&graph, statement).await.unwrap();
    assert!(format!("{:?}", report.rows).contains("new"), "{:?}", report.rows);
}

#[tokio::test]
async fn distinct_and_grouping_know_new_nodes_apart() {
    let graph = graph(DDL).await;
    let report = run(
        &graph,
        "UNWIND [1, 1, 2] AS id MERGE (p:Person {id: id}) RETURN count(DISTINCT p) AS people, count(*) AS all",
    )
    .await
    .unwrap();
    assert_eq!(ints(&report), [[2, 3]]);
    let report = run(&graph, "MATCH (old:Person {id: 1}) CREATE (p:Person {id: 5}) WITH 1 AS one RETURN one").await;
    assert!(report.is_err(), "WITH after an update is not supported yet");
    let report = run(&graph, "UNWIND [6, 7] AS id CREATE (p:Person {id: id}) RETURN p, count(*) AS n ORDER BY p.id")
        .await
        .unwrap();
    assert_eq!(report.rows.len(), 2);
}

#[tokio::test]
async fn ids_and_times_are_drawn_once_for_a_statement() {
    let ddl = "CREATE NODE TABLE T (id STRING PRIMARY KEY, at TIMESTAMP, n INT64);";
    let graph = graph(ddl).await;
    let report = run(
        &graph,
        "UNWIND range(1, 20) AS n CREATE (t:T {id: toString(randomUUID()), at: datetime(), n: n})
        RETURN count(DISTINCT t.id) AS ids, count(DISTINCT t.at) AS times",
    )
    .await
    .unwrap();
    assert_eq!(ints(&report), [[20, 1]]);
    let stored =
        run(&graph, "MATCH (t:T) RETURN count(DISTINCT t.id) AS ids, count(DISTINCT t.at) AS times").await.unwrap();
    assert_eq!(ints(&stored), [[20, 1]]);
}

#[tokio::test]
async fn an_explained_update_does_nothing() {
    let graph = people().await;
    let before = graph.branch("main").await.unwrap().head.id;
    let report = run(&graph, "EXPLAIN MATCH (p:Person {id: 1}) SET p.name = 'x'").await.unwrap();
    assert_eq!(report.columns, ["plan"]);
    let text = format!("{:?}", report.rows);
    assert!(text.contains("Set") && text.contains("Person"), "{text}");
    assert_eq!(graph.branch("main").await.unwrap().head.id, before);
}
