//! Dropping: what goes is told, has to be allowed, is kept by earlier commits, and never comes back under its old name.

use kit::graphs::{assert_whole, by_kit, export, load};
use kit::world::World;
use pleach::{LoadMode, OptimizeOptions, Write};

use super::{ROWS, SCHEMA, apply, apply_losing, ask, filled, line, put, told, try_apply, with};

#[tokio::test]
async fn what_would_be_lost_is_counted_and_has_to_be_allowed() {
    let world = World::new();
    let graph = filled(&world).await;
    let ddl = with(&[(", nick STRING", ""), ("CREATE REL TABLE Knows (FROM Person TO Person, since INT64);", "")]);
    let plan = graph.plan_schema("main", &ddl).await.unwrap();
    assert_eq!(told(&plan.steps), ["Person: drop property nick 2/0", "Knows: drop the table 3/0"]);
    let error = try_apply(&graph, "main", &ddl).await.unwrap_err();
    assert_eq!(error.code(), "schema-loses-data");
    let message = error.to_string();
    assert!(
        message.contains("Person: drop property nick: 2 values") && message.contains("Knows: drop the table: 3 rows"),
        "{message}"
    );
    assert_eq!(graph.show("main").await.unwrap().seq.0, 1);
    let commit = apply_losing(&graph, "main", &ddl).await.commit.unwrap();
    assert_eq!(commit.rows.keys().collect::<Vec<_>>(), ["Calls", "City", "Person"]);
    for graph in [&graph, &world.open().await] {
        let now = export(graph, "main").await;
        assert!(!now.contains("nick") && !now.contains("Knows") && now.contains("Ada"), "{now}");
        assert_eq!(export(graph, "main@1").await, ROWS);
        let diff = graph.diff_schema("main@1", "main").await.unwrap();
        let steps: Vec<_> =
            diff.steps.iter().map(|difference| (difference.step.to_string(), difference.rows)).collect();
        assert_eq!(
            steps,
            [("Person: drop property nick".to_owned(), None), ("Knows: drop the table".to_owned(), Some(3))]
        );
    }
    assert_whole(&world.open().await).await;
}

#[tokio::test]
async fn a_name_that_is_given_again_starts_empty() {
    let world = World::new();
    let graph = filled(&world).await;
    apply_losing(
        &graph,
        "main",
        &with(&[(", nick STRING", ""), ("CREATE REL TABLE Knows (FROM Person TO Person, since INT64);", "")]),
    )
    .await;
    apply(&graph, "main", SCHEMA).await;
    for graph in [&graph, &world.open().await] {
        assert_eq!(
            ask(graph, "main", "MATCH (p:Person) WHERE p.nick IS NOT NULL RETURN p.id").await,
            Vec::<String>::new()
        );
        assert_eq!(ask(graph, "main", "MATCH ()-[k:Knows]->() RETURN count(k)").await, ["0"]);
        assert_eq!(ask(graph, "main@1", "MATCH ()-[k:Knows]->() RETURN count(k)").await, ["3"]);
    }
    put(&graph, "main", r#"{"table":"Person","data":{"id":"b","nick":"new"}}"#).await;
    put(&graph, "main", r#"{"table":"Knows","from":"a","to":"b","data":{"since":1}}"#).await;
    assert_eq!(
        ask(&graph, "main", "MATCH (p:Person) RETURN p.id, p.nick").await,
        [r#""a" null"#, r#""b" "new""#, r#""c" null"#]
    );
    let diff = graph.diff_schema("main@1", "main").await.unwrap();
    assert_eq!(diff.steps.len(), 4, "what has the old name is another: {diff:?}");
    assert_whole(&world.open().await).await;
}

/// The hashes of rows that are older than a drop hold what was dropped.
#[tokio::test]
async fn rows_that_are_older_than_a_drop_are_known_by_their_values() {
    let world = World::new();
    let graph = filled(&world).await;
    apply_losing(&graph, "main", &with(&[(", nick STRING", "")])).await;
    let ada = r#"{"table":"Person","data":{"id":"a","name":"Ada","age":36}}"#;
    for _ in 0..2 {
        let same =
            Write::new().upsert_json(ada).upsert_json(r#"{"table":"Person","data":{"id":"b","name":"Bob","age":20}}"#);
        let report = graph.write("main", same, by_kit()).await.unwrap();
        assert_eq!((report.commit, report.tables["Person"].unchanged), (None, 2), "equal rows are left alone");
        let report = load(&graph, LoadMode::Upsert, ada).await.unwrap();
        assert_eq!((report.commit, report.tables["Person"].unchanged), (None, 1));
        assert_whole(&world.open().await).await;
        graph.optimize("main", OptimizeOptions::default()).await.unwrap();
        put(&graph, "main", r#"{"table":"Person","data":{"id":"d","age":1}}"#).await;
    }
    let other = Write::new().upsert_json(r#"{"table":"Person","data":{"id":"a","name":"Ada","age":37}}"#);
    assert_eq!(graph.write("main", other, by_kit()).await.unwrap().tables["Person"].updated, 1);
    assert_eq!(line(&graph, "main", "\"Ada\"").await, r#"{"table":"Person","data":{"id":"a","name":"Ada","age":37}}"#);
    assert_whole(&world.open().await).await;
}
