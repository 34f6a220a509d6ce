//! What a query gives besides rows: columns, Arrow, plans, refusals.

use arrow_schema::{DataType, Field, Fields};
use futures::TryStreamExt as _;
use kit::graphs::{by_kit, graph, load, run};
use pleach::{ErrorKind, Graph, LoadMode, Params, Write};

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

#[tokio::test(flavor = "multi_thread")]
async fn the_last_node_of_a_chain_that_nobody_asks_for_is_left_out() {
    let graph = people().await;
    for (text, left_out, count) in [
        ("MATCH (a:Person)-[:Knows]->(b)-[:Knows]->(c) RETURN count(*)", true, "4"),
        ("MATCH (a:Person)-[:Knows]->(b)-[:Knows]->(c) RETURN count(c)", false, "4"),
        ("MATCH (a:Person)-[:Knows]->(b)-[:Knows]->(c) WHERE c.id <> 'c' RETURN count(*)", false, "2"),
        ("MATCH (a:Person)-[:Knows]->(b)-[:Knows]->(c) MATCH (c)-[:LivesIn]->() RETURN count(*)", false, "4"),
        ("MATCH (a:Person)-[:Knows]->(b)-[:Knows]->(c) WITH * RETURN count(*)", false, "4"),
    ] {
        let plan = plan(&graph, &format!("EXPLAIN {text}")).await;
        assert!(!left_out || !plan.contains("c = "), "{text}\n{plan}");
        assert_eq!(ordered(&graph, text).await, [count], "{text}");
    }
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

#[tokio::test(flavor = "multi_thread")]
async fn properties_come_in_the_order_of_the_schema_and_without_nulls() {
    let graph = graph(
        "CREATE NODE TABLE T (zip STRING, id INT64 PRIMARY KEY, m STRING, a STRING, b INT64);
         CREATE REL TABLE E (FROM T TO T, z INT64, a INT64);",
    )
    .await;
    let lines = r#"
{"table":"T","data":{"zip":"Z","id":1,"m":"M","a":"A","b":2}}
{"table":"T","data":{"id":2,"a":"A"}}
{"table":"E","from":1,"to":2,"data":{"a":1,"z":2}}
"#;
    load(&graph, LoadMode::Append, lines).await.unwrap();
    let edge = r#"{"table":"E","from":1,"to":2,"data":{"z":2,"a":1}}"#;
    let (one, two) = (
        r#"{"table":"T","data":{"zip":"Z","id":1,"m":"M","a":"A","b":2}}"#,
        r#"{"table":"T","data":{"id":2,"a":"A"}}"#,
    );
    assert_eq!(ordered(&graph, "MATCH (t:T)-[e]->(u) RETURN t, e, [u]").await, [format!("{one} {edge} [{two}]")]);
    let text = "MATCH (t:T) RETURN keys(t), properties(t), [properties(t)], size(keys(properties(t))) ORDER BY t.id";
    let maps = [r#"{"a":"A","b":2,"id":1,"m":"M","zip":"Z"}"#, r#"{"a":"A","id":2}"#];
    let keys = [r#"["zip","id","m","a","b"]"#, r#"["id","a"]"#];
    let expected = [(0, 5), (1, 2)].map(|(i, size)| format!("{} {} [{}] {size}", keys[i], maps[i], maps[i]));
    assert_eq!(ordered(&graph, text).await, expected);
    let text = "MATCH (t:T {id: 2}) WITH properties(t) AS map, {x: null} AS other RETURN map, other";
    assert_eq!(ordered(&graph, text).await, [format!("{} {{\"x\":null}}", maps[1])]);
    // As an update leaves them, too.
    let report =
        run(&graph, "MATCH (t:T {id: 2}) SET t.zip = 'Y', t.a = null RETURN t, keys(t), properties(t)").await.unwrap();
    let row: Vec<String> = report.rows[0].iter().map(pleach::CypherValue::to_json).collect();
    let node = r#"{"table":"T","data":{"zip":"Y","id":2}}"#;
    assert_eq!(row, [node, r#"["zip","id"]"#, r#"{"id":2,"zip":"Y"}"#]);
}

#[tokio::test(flavor = "multi_thread")]
async fn floats_of_32_bits_are_told_by_their_shortest_number() {
    let graph = graph(
        "CREATE NODE TABLE T (id INT64 PRIMARY KEY, f FLOAT, d DOUBLE, v FLOAT[2], l FLOAT[]);
         CREATE REL TABLE E (FROM T TO T, f FLOAT);",
    )
    .await;
    let wide = "0.10000000149011612";
    let node = format!(r#"{{"table":"T","data":{{"id":1,"f":0.1,"d":{wide},"v":[0.1,2.5],"l":[0.3,null]}}}}"#);
    let edge = r#"{"table":"E","from":1,"to":1,"data":{"f":3.4028235e38}}"#;
    load(&graph, LoadMode::Append, &format!("{node}\n{edge}")).await.unwrap();
    for (text, expected) in [
        ("MATCH (t:T)-[e:E]->() RETURN t, e", format!("{node} {edge}")),
        ("MATCH (t:T) RETURN t.f, t.d, t.v, t.l", format!("0.1 {wide} [0.1,2.5] [0.3,null]")),
        ("MATCH (t:T) RETURN [t.f], {f: t.f, d: t.d}", format!(r#"[0.1] {{"d":{wide},"f":0.1}}"#)),
        (
            "MATCH (t:T) WITH t.f AS f, t.d AS d ORDER BY f RETURN DISTINCT f, d, [d, f]",
            format!("0.1 {wide} [{wide},{wide}]"),
        ),
        ("MATCH (t:T) RETURN min(t.f), collect(t.f), collect(t), head(t.v)", format!("0.1 [0.1] [{node}] 0.1")),
        ("MATCH (t:T) UNWIND t.v AS x RETURN collect(x)", "[0.1,2.5]".to_owned()),
        ("MATCH (t:T) RETURN properties(t).f, coalesce(null, t.f), t.f + 0.0", format!("0.1 0.1 {wide}")),
        ("MATCH (t:T) RETURN t.f AS f UNION MATCH (t:T) RETURN t.f AS f", "0.1".to_owned()),
        ("MATCH (t:T) RETURN t.f = 0.1, t.f = t.d", "false true".to_owned()),
    ] {
        assert_eq!(ordered(&graph, text).await, [expected], "{text}");
    }
    let report = run(&graph, "MATCH (t:T) SET t.f = 0.7 RETURN t.f, t").await.unwrap();
    assert_eq!(report.rows[0][0].to_json(), "0.7");
    assert!(report.rows[0][1].to_json().contains(r#""f":0.7,"#), "{:?}", report.rows);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pattern_that_no_graph_can_match_gives_nothing_and_says_why() {
    let graph = people().await;
    let text = "MATCH (c:City)-[k:Knows]->(p:Person) RETURN c, p";
    let rows = graph.query("main", text, Params::new()).await.unwrap();
    let [warning] = rows.warnings() else { panic!("{:?}", rows.warnings()) };
    assert_eq!((warning.line, warning.column), (1, 15));
    assert!(warning.message.contains("`Knows` goes from `Person` to `Person`"), "{warning}");
    assert!(rows.collect_rows().await.unwrap().is_empty());
    let plan = plan(&graph, &format!("EXPLAIN {text}")).await;
    assert!(plan.contains("Warning: line 1, column 23: nothing can match this edge"), "{plan}");
    let report = run(&graph, "MATCH (c:City)-[k:Knows]->() SET k.since = 1").await.unwrap();
    assert!(report.commit.is_none() && report.warnings.len() == 1, "{report:?}");
    let rows = graph.query("main", "MATCH (p:Person)-[k:Knows]->() RETURN k", Params::new()).await.unwrap();
    assert!(rows.warnings().is_empty());
}
