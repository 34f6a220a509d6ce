//! Changing schemas: every step on tables with rows, what reads, writes and exports say afterwards, and what is refused.

mod added;
mod beside;
mod checked;
mod costs;
mod dropped;
mod faults;
mod renamed;
mod widened;

use kit::graphs::{assert_whole, by_kit, export, load};
use kit::world::World;
use pleach::{Error, Graph, LoadMode, Params, PlannedStep, SchemaOptions, SchemaReport, Write};

/// Nodes of two kinds, edges of two kinds, one of them with hidden ids.
const SCHEMA: &str = "
CREATE NODE TABLE Person (id STRING PRIMARY KEY, name STRING, age INT32, nick STRING);
CREATE NODE TABLE City (id INT64 PRIMARY KEY, name STRING);
CREATE REL TABLE Knows (FROM Person TO Person, since INT64);
CREATE REL TABLE Calls (FROM Person TO City, MULTI);
";

const ROWS: &str = r#"{"table":"City","data":{"id":1,"name":"London"}}
{"table":"Person","data":{"id":"a","name":"Ada","age":36,"nick":"countess"}}
{"table":"Person","data":{"id":"b","name":"Bob","age":20}}
{"table":"Person","data":{"id":"c","age":20,"nick":"sea"}}
{"table":"Calls","from":"a","to":1,"id":"01HZX3ZJ5M0000000000000001","data":{}}
{"table":"Calls","from":"a","to":1,"id":"01HZX3ZJ5M0000000000000002","data":{}}
{"table":"Knows","from":"a","to":"b","data":{"since":2000}}
{"table":"Knows","from":"a","to":"c","data":{"since":2001}}
{"table":"Knows","from":"b","to":"c","data":{}}
"#;

/// A graph with the rows above: `main@1`.
async fn filled(world: &World) -> Graph {
    let graph = world.init(SCHEMA).await;
    load(&graph, LoadMode::Append, ROWS).await.unwrap();
    graph
}

/// The schema with some of its text replaced.
fn with(changes: &[(&str, &str)]) -> String {
    changes.iter().fold(SCHEMA.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from} is not in {text}");
        text.replacen(from, to, 1)
    })
}

async fn try_apply(graph: &Graph, branch: &str, ddl: &str) -> Result<SchemaReport, Error> {
    graph.apply_schema(branch, ddl, SchemaOptions { allow_data_loss: false, change: by_kit() }).await
}

/// Applies what loses nothing.
async fn apply(graph: &Graph, branch: &str, ddl: &str) -> SchemaReport {
    try_apply(graph, branch, ddl).await.unwrap_or_else(|error| panic!("{ddl}\n{error}"))
}

/// Applies whatever it loses.
async fn apply_losing(graph: &Graph, branch: &str, ddl: &str) -> SchemaReport {
    let options = SchemaOptions { allow_data_loss: true, change: by_kit() };
    graph.apply_schema(branch, ddl, options).await.unwrap_or_else(|error| panic!("{ddl}\n{error}"))
}

/// Each step with its numbers: `Person: add property x INT64 0/0`.
fn told(steps: &[PlannedStep]) -> Vec<String> {
    steps.iter().map(|planned| format!("{} {}/{}", planned.step, planned.rows, planned.breaks)).collect()
}

/// The rows of a query on `reference`, as JSON values between spaces, in the order of the lines.
async fn ask(graph: &Graph, reference: &str, query: &str) -> Vec<String> {
    let rows = graph.query(reference, query, Params::new()).await;
    let rows = rows.unwrap_or_else(|error| panic!("{query}: {error}")).collect_rows().await.unwrap();
    let line =
        |row: &Vec<pleach::CypherValue>| row.iter().map(pleach::CypherValue::to_json).collect::<Vec<_>>().join(" ");
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    lines.sort();
    lines
}

async fn put(graph: &Graph, branch: &str, row: &str) {
    graph.write(branch, Write::new().upsert_json(row), by_kit()).await.unwrap();
}

/// The line of an export that has `part` in it.
async fn line(graph: &Graph, reference: &str, part: &str) -> String {
    export(graph, reference).await.lines().find(|line| line.contains(part)).unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_schema_that_is_that_already_makes_no_commit() {
    let world = World::new();
    let graph = filled(&world).await;
    let printed = pleach::schema::print_ddl(&graph.schema("main").await.unwrap());
    for text in [SCHEMA, &printed] {
        let report = apply(&graph, "main", text).await;
        assert!(report.commit.is_none() && report.steps.is_empty() && report.io.puts == 0, "{report:?}");
    }
    assert_eq!(graph.show("main").await.unwrap().seq.0, 1);
}

#[tokio::test]
async fn one_change_is_one_commit_of_its_kind_and_a_plan_writes_nothing() {
    let world = World::new();
    let graph = filled(&world).await;
    let ddl = with(&[("age INT32", "age INT32, born DATE"), ("since INT64", "since INT64 MERGE max")]);
    let plan = graph.plan_schema("main", &ddl).await.unwrap();
    assert_eq!((plan.io.puts, plan.at.reference().as_str()), (0, "main@1"));
    let report = graph
        .apply_schema(
            "main",
            &ddl,
            SchemaOptions {
                change: pleach::ChangeOptions { message: "births".to_owned(), ..by_kit() },
                ..SchemaOptions::default()
            },
        )
        .await
        .unwrap();
    assert_eq!(told(&report.steps), told(&plan.steps));
    assert_eq!(
        told(&report.steps),
        ["Person: add property born DATE 0/0", "Knows: change the merge policy of since from none to max 0/0"]
    );
    let commit = report.commit.unwrap();
    assert_eq!((commit.reference().as_str(), commit.changes.len(), commit.parents.len()), ("main@2", 1, 1));
    assert_eq!((commit.changes[0].kind.as_str(), commit.changes[0].message.as_str()), ("schema", "births"));
    assert!(commit.changes[0].tables.is_empty());
    assert_eq!(commit.rows, graph.show("main@1").await.unwrap().rows);
    assert_eq!(report.schema, world.open().await.schema("main").await.unwrap());
    assert_eq!(export(&graph, "main").await, ROWS);
    assert_whole(&world.open().await).await;
}

#[tokio::test]
async fn a_request_that_is_sent_again_is_told_what_it_did() {
    let world = World::new();
    let graph = filled(&world).await;
    let ddl = with(&[("nick STRING", "handle STRING RENAMED FROM nick")]);
    let options = || SchemaOptions {
        allow_data_loss: false,
        change: pleach::ChangeOptions { request_id: Some("s1".to_owned()), ..by_kit() },
    };
    let first = graph.apply_schema("main", &ddl, options()).await.unwrap();
    // What came since makes the text one that would drop something.
    apply(&graph, "main", &with(&[("nick STRING", "handle STRING, more STRING")])).await;
    for seen in [&graph, &world.open().await] {
        let again = seen.apply_schema("main", &ddl, options()).await.unwrap();
        assert!(again.repeated && again.commit == first.commit && again.schema == first.schema, "{again:?}");
        assert_eq!(told(&again.steps), told(&first.steps));
    }
    let other = with(&[("age INT32", "age INT64")]);
    assert_eq!(graph.apply_schema("main", &other, options()).await.unwrap_err().code(), "request-id-reused");
    assert_eq!(graph.show("main").await.unwrap().seq.0, 3);
}

#[tokio::test]
async fn a_head_that_is_not_the_one_that_was_named_is_left_alone() {
    let world = World::new();
    let graph = filled(&world).await;
    let ddl = with(&[("age INT32", "age INT32, born DATE")]);
    let on = |head: &str| SchemaOptions {
        change: pleach::ChangeOptions { if_head: Some(head.to_owned()), ..by_kit() },
        ..SchemaOptions::default()
    };
    assert_eq!(graph.apply_schema("main", &ddl, on("main@0")).await.unwrap_err().code(), "head-moved");
    assert!(graph.apply_schema("main", &ddl, on("main@1")).await.unwrap().commit.is_some());
    assert_eq!(try_apply(&graph, "mian", &ddl).await.unwrap_err().code(), "branch-not-found");
    assert_eq!(try_apply(&graph, "main@1", &ddl).await.unwrap_err().code(), "branch-name-invalid");
    assert_eq!(try_apply(&graph, "main", "CREATE NODE").await.unwrap_err().code(), "invalid-schema");
    let narrower = with(&[("since INT64", "since INT8")]);
    assert_eq!(try_apply(&graph, "main", &narrower).await.unwrap_err().code(), "unsupported-schema-change");
    assert_eq!(graph.show("main").await.unwrap().seq.0, 2);
}
