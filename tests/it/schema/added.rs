//! What is added: tables, properties, and default values that older rows have without being touched.

use kit::graphs::{assert_whole, by_kit, export, load, load_into};
use kit::world::World;
use pleach::{LoadMode, Write};

use super::{ROWS, SCHEMA, apply, ask, filled, line, put, told, with};

#[tokio::test]
async fn a_property_without_a_default_reads_null_in_older_rows() {
    let world = World::new();
    let graph = filled(&world).await;
    apply(&graph, "main", &with(&[("age INT32", "age INT32, born DATE, tags STRING[]")])).await;
    assert_eq!(export(&graph, "main").await, ROWS);
    assert_eq!(
        ask(&graph, "main", "MATCH (p:Person) WHERE p.born IS NULL AND p.tags IS NULL RETURN count(*)").await,
        ["3"]
    );
    put(&graph, "main", r#"{"table":"Person","data":{"id":"d","born":"2024-01-31","tags":["x"]}}"#).await;
    assert_eq!(
        ask(&graph, "main", "MATCH (p:Person) WHERE p.born IS NOT NULL RETURN p.id, p.tags").await,
        [r#""d" ["x"]"#]
    );
    // A row that is put again with what it has is left alone: its hash is that of its values.
    let again =
        Write::new().upsert_json(r#"{"table":"Person","data":{"id":"a","name":"Ada","age":36,"nick":"countess"}}"#);
    let report = graph.write("main", again, by_kit()).await.unwrap();
    assert_eq!((report.commit, report.tables["Person"].unchanged), (None, 1));
    assert_whole(&world.open().await).await;
}

#[tokio::test]
async fn older_rows_have_the_default_everywhere_and_keep_it() {
    let world = World::new();
    let graph = filled(&world).await;
    let ddl = with(&[("age INT32", "age INT32, rank INT64 DEFAULT 7 CHECK (rank > 0), UNIQUE (id, rank)")]);
    let report = apply(&graph, "main", &ddl).await;
    assert_eq!(
        told(&report.steps),
        [
            "Person: add property rank INT64 NOT NULL, 7 in rows that are there 3/0",
            "Person: add UNIQUE (id, rank) 3/0",
            "Person: add CHECK (rank > 0) 3/0",
        ]
    );
    for graph in [&graph, &world.open().await] {
        assert_eq!(
            line(graph, "main", "\"b\"").await,
            r#"{"table":"Person","data":{"id":"b","name":"Bob","age":20,"rank":7}}"#
        );
        let key = [r#""a""#.to_owned()];
        assert!(format!("{:?}", graph.get("main", "Person", &key).await.unwrap()).contains("rank"));
        assert_eq!(
            ask(graph, "main", "MATCH (p:Person) WHERE p.rank = 7 RETURN p.id").await,
            [r#""a""#, r#""b""#, r#""c""#]
        );
        assert!(ask(graph, "main", "MATCH (p:Person) WHERE p.rank > 7 OR p.rank IS NULL RETURN p.id").await.is_empty());
        assert_eq!(ask(graph, "main", "MATCH (p:Person) RETURN sum(p.rank), p.rank").await, ["21 7"]);
    }
    // A load tells what it has been told before from what is new, the value that nobody wrote included.
    let same = r#"{"table":"Person","data":{"id":"b","name":"Bob","age":20,"rank":7}}"#;
    let report = load(&graph, LoadMode::Upsert, same).await.unwrap();
    assert_eq!((report.commit, report.tables["Person"].unchanged), (None, 1));
    // Null is refused, as of any property that is NOT NULL.
    let null = Write::new().upsert_json(r#"{"table":"Person","data":{"id":"b","rank":null}}"#);
    assert_eq!(graph.write("main", null, by_kit()).await.unwrap_err().code(), "input-refused");
    // Another default later is for new rows alone.
    let later = with(&[("age INT32", "age INT32, rank INT64 DEFAULT 9 CHECK (rank > 0), UNIQUE (id, rank)")]);
    apply(&graph, "main", &later).await;
    put(&graph, "main", r#"{"table":"Person","data":{"id":"d"}}"#).await;
    assert_eq!(ask(&graph, "main", "MATCH (p:Person) RETURN p.rank, count(*)").await, ["7 3", "9 1"]);
    graph.optimize("main", pleach::OptimizeOptions::default()).await.unwrap();
    assert_eq!(ask(&graph, "main", "MATCH (p:Person) RETURN p.rank, count(*)").await, ["7 3", "9 1"]);
    // And it loads again as it was exported.
    let lines = export(&graph, "main").await;
    let copy = World::new().init(&pleach::schema::print_ddl(&graph.schema("main").await.unwrap())).await;
    load(&copy, LoadMode::Append, &lines).await.unwrap();
    assert_eq!(export(&copy, "main").await, lines);
    assert_whole(&world.open().await).await;
}

#[tokio::test]
async fn an_empty_table_has_nothing_to_fill() {
    let world = World::new();
    let graph = world.init(SCHEMA).await;
    apply(&graph, "main", &with(&[("age INT32", "age INT32, rank INT64 DEFAULT 7")])).await;
    put(&graph, "main", r#"{"table":"Person","data":{"id":"a","rank":null}}"#).await;
    assert_eq!(ask(&graph, "main", "MATCH (p:Person) RETURN p.rank").await, ["null"]);
    assert_whole(&graph).await;
}

#[tokio::test]
async fn new_tables_take_rows_at_once_and_on_their_branch_alone() {
    let world = World::new();
    let graph = filled(&world).await;
    graph.create_branch("f", "main", by_kit()).await.unwrap();
    let ddl = format!(
        "{SCHEMA} CREATE NODE TABLE Dog (id INT64 PRIMARY KEY, name STRING UNIQUE); CREATE REL TABLE Owns (FROM Person TO Dog);"
    );
    let report = apply(&graph, "f", &ddl).await;
    assert_eq!(told(&report.steps), ["Dog: add the table 0/0", "Owns: add the table 0/0"]);
    let rows = r#"{"table":"Dog","data":{"id":1,"name":"Rex"}}
{"table":"Owns","from":"a","to":1}"#;
    load_into(&graph, "f", LoadMode::Append, rows).await.unwrap();
    assert_eq!(ask(&world.open().await, "f", "MATCH (:Person)-[:Owns]->(d:Dog) RETURN d.name").await, [r#""Rex""#]);
    assert!(graph.schema("main").await.unwrap().table("Dog").is_none());
    assert_eq!(load(&graph, LoadMode::Append, rows).await.unwrap_err().code(), "input-refused");
    assert_whole(&world.open().await).await;
}

#[tokio::test]
async fn old_commits_are_read_with_their_own_schema() {
    let world = World::new();
    let graph = filled(&world).await;
    apply(&graph, "main", &with(&[("age INT32", "years INT32 RENAMED FROM age, rank INT64 DEFAULT 7")])).await;
    put(&graph, "main", r#"{"table":"Person","data":{"id":"a","years":1,"rank":8}}"#).await;
    super::apply_losing(&graph, "main", &with(&[("age INT32, nick STRING", "rank INT64 DEFAULT 7")])).await;
    for graph in [&graph, &world.open().await] {
        assert_eq!(export(graph, "main@1").await, ROWS);
        assert_eq!(
            line(graph, "main@2", "\"b\"").await,
            r#"{"table":"Person","data":{"id":"b","name":"Bob","years":20,"rank":7}}"#
        );
        assert_eq!(line(graph, "main", "\"a\",\"rank\"").await, r#"{"table":"Person","data":{"id":"a","rank":8}}"#);
        assert_eq!(ask(graph, "main@3", "MATCH (p:Person {id: 'a'}) RETURN p.years").await, ["1"]);
    }
    // A branch from there goes on from there.
    graph.create_branch("f", "main@1", by_kit()).await.unwrap();
    put(&graph, "f", r#"{"table":"Person","data":{"id":"d","age":3,"nick":"dee"}}"#).await;
    assert_eq!(ask(&graph, "f", "MATCH (p:Person {nick: 'dee'}) RETURN p.age").await, ["3"]);
    assert_whole(&world.open().await).await;
}
