//! What a query gives besides rows: columns, Arrow, plans, refusals.

use arrow_schema::{DataType, Field, Fields};
use futures::TryStreamExt as _;
use kit::graphs::by_kit;
use pleach::{ErrorKind, Graph, Params, Write};

use super::{ordered, people, try_ordered};

#[tokio::test(flavor = "multi_thread")]
async fn batches_have_the_names_and_properties_of_the_statement() {
    let graph = people().await;
    let text = "MATCH (p:Person {id: 'a'})-[l:Likes {what: 'talk'}]->(q) RETURN p.name AS name, l, [q] AS qs";
    let rows = graph.query("main", text, Params::new()).await.unwrap();
    let columns: Vec<(&str, &str)> = rows.columns().iter().map(|c| (c.name.as_str(), c.kind.as_str())).collect();
    assert_eq!(columns, [("name", "a string"), ("l", "a node or an edge"), ("qs", "a list")]);
    let schema = rows.schema();
    let batches: Vec<_> = rows.batches().try_collect().await.unwrap();
    assert!(batches.iter().all(|batch| batch.schema() == schema));
    assert_eq!(batches.iter().map(arrow_array::RecordBatch::num_rows).sum::<usize>(), 1);
    let text = |name: &str| Field::new(name, DataType::Utf8, true);
    let edge = Fields::from(vec![text("_table"), text("_from_0"), text("_to_0"), text("_id"), text("what")]);
    assert_eq!(schema.field(1).data_type(), &DataType::Struct(edge));
    let DataType::List(item) = schema.field(2).data_type() else { panic!("{schema}") };
    let DataType::Struct(node) = item.data_type() else { panic!("{schema}") };
    let names: Vec<&str> = node.iter().map(|field| field.name().as_str()).collect();
    assert_eq!(names, ["_table", "id", "name", "age", "score"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn any_commit_can_be_read() {
    let graph = people().await;
    let before = graph.branch("main").await.unwrap().head.reference();
    graph
        .write("main", Write::new().upsert_json(r#"{"table":"Person","data":{"id":"e","age":1}}"#), by_kit())
        .await
        .unwrap();
    let count = "MATCH (p:Person) RETURN count(*)";
    let old = graph.query(&before, count, Params::new()).await.unwrap().collect_rows().await.unwrap();
    assert_eq!(old[0][0].to_json(), "4");
    assert_eq!(ordered(&graph, count).await, ["5"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_shows_what_is_read_and_reads_nothing() {
    let graph = people().await;
    let plan = plan(&graph, "EXPLAIN MATCH (p:Person {name: 'Ada'})-[k:Knows]->(q) RETURN q.name, k.since").await;
    assert!(plan.contains("Scan: Person where name = "), "{plan}");
    assert!(plan.contains("k = Knows by _from_0 of p"), "{plan}");
    assert!(plan.contains("q = Person by id of k"), "{plan}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_of_which_no_more_than_their_key_is_asked_are_not_read() {
    let graph = people().await;
    let plan = plan(&graph, "EXPLAIN MATCH (p:Person {id: 'a'})-[k:Knows]->(q) RETURN q.id, k.since").await;
    assert!(plan.contains("Scan: Knows where _from_0 = "), "an edge bears the keys of its ends: {plan}");
    assert!(plan.contains("q = Person of k, unread"), "{plan}");
    assert!(!plan.contains("Scan: Person"), "{plan}");
}

async fn plan(graph: &Graph, text: &str) -> String {
    let rows = graph.query("main", text, Params::new()).await.unwrap();
    assert_eq!(rows.columns()[0].name, "plan");
    let lines = rows.collect_rows().await.unwrap();
    lines.iter().map(|row| row[0].to_json()).collect::<Vec<_>>().join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fault_is_shown_where_it_stands() {
    let graph = people().await;
    let error = try_ordered(&graph, "MATCH (p:Person) RETURN 1 / (p.age - 20)", Params::new()).await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Invalid, "division-by-zero"));
    assert!(error.to_string().contains("1 / (p.age - 20)"), "{error}");
    assert_eq!(
        ordered(&graph, "MATCH (p:Person) WHERE p.age <> 20 AND 72 / (p.age - 20) > 3 RETURN p.id").await,
        [r#""a""#]
    );
    let error =
        try_ordered(&graph, "MATCH (p:Person) RETURN p.id LIMIT $n", Params::new().with("n", -1)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_may_be_left_unread() {
    let graph = people().await;
    let mut rows =
        graph.query("main", "MATCH (a:Person), (b:Person), (c:Person) RETURN a.id", Params::new()).await.unwrap();
    assert!(rows.next_rows().await.unwrap().is_some_and(|rows| !rows.is_empty()));
    drop(rows);
    assert_eq!(ordered(&graph, "MATCH (a:Person) RETURN count(a)").await, ["4"]);
}
