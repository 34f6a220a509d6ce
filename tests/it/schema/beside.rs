//! Changes of the schema beside other work, in one process and in several. Requests are held at the store, never timed.

use kit::graphs::{assert_whole, by_kit, export, load};
use kit::world::World;
use pleach::store::{Hold, RequestKind, When};
use pleach::{Error, Graph, LoadMode, Params, Write};
use tokio::task::JoinHandle;

use super::{ROWS, apply, apply_losing, ask, filled, line, put, told, try_apply, with};

/// Lets everything run that can.
async fn settle() {
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
}

fn hold_record(world: &World) -> Hold {
    world.faults.hold(When::kind(RequestKind::Create).path("branches/main/"))
}

fn spawn_write(graph: &Graph, row: &'static str) -> JoinHandle<Result<pleach::WriteReport, Error>> {
    let graph = graph.clone();
    tokio::spawn(async move { graph.write("main", Write::new().upsert_json(row), by_kit()).await })
}

#[tokio::test]
async fn handles_elsewhere_follow_without_being_opened_again() {
    let world = World::new();
    let (graph, other) = (filled(&world).await, world.open().await);
    assert_eq!(ask(&other, "main", "MATCH (p:Person) RETURN count(p.age)").await, ["3"]);
    let rename = with(&[("age INT32", "years INT32 RENAMED FROM age")]);
    apply(&graph, "main", &rename).await;
    // It reads by the new names, writes by them, and the former are gone.
    assert_eq!(ask(&other, "main", "MATCH (p:Person) RETURN count(p.years)").await, ["3"]);
    put(&other, "main", r#"{"table":"Person","data":{"id":"a","name":"Ada","years":37}}"#).await;
    let old = Write::new().upsert_json(r#"{"table":"Person","data":{"id":"a","age":1}}"#);
    assert_eq!(other.write("main", old, by_kit()).await.unwrap_err().code(), "input-refused");
    assert_eq!(
        line(&graph, "main", "\"Ada\"").await,
        r#"{"table":"Person","data":{"id":"a","name":"Ada","years":37}}"#
    );
    assert_eq!(other.schema("main").await.unwrap(), graph.schema("main").await.unwrap());
    // And the other way round.
    apply_losing(&other, "main", &with(&[("age INT32, ", "")])).await;
    let error = graph.run("main", "MATCH (p:Person) SET p.years = 1", Params::new(), by_kit()).await.unwrap_err();
    assert_eq!(error.kind(), pleach::ErrorKind::Invalid, "{error}");
    load(&graph, LoadMode::Append, r#"{"table":"Person","data":{"id":"z","nick":"zed"}}"#).await.unwrap();
    assert_whole(&other).await;
}

#[tokio::test]
async fn a_write_that_was_staged_under_the_former_schema_is_staged_anew() {
    let world = World::new();
    let (graph, other) = (filled(&world).await, world.open().await);
    let hold = hold_record(&world);
    let writing = spawn_write(&graph, r#"{"table":"Person","data":{"id":"a","age":1}}"#);
    hold.reached().await;
    apply(&other, "main", &with(&[("nick STRING", "nick STRING, rank INT64 DEFAULT 4")])).await;
    hold.release();
    assert_eq!(writing.await.unwrap().unwrap().commit.unwrap().reference(), "main@3");
    assert_eq!(line(&graph, "main", "\"a\",\"age\"").await, r#"{"table":"Person","data":{"id":"a","age":1,"rank":4}}"#);
    // One that the new schema refuses is refused.
    let hold = hold_record(&world);
    let writing = spawn_write(&graph, r#"{"table":"Person","data":{"id":"b","age":99}}"#);
    hold.reached().await;
    apply(&other, "main", &with(&[("nick STRING", "nick STRING, rank INT64 DEFAULT 4, CHECK (age < 50)")])).await;
    hold.release();
    assert_eq!(writing.await.unwrap().unwrap_err().code(), "input-refused");
    assert_whole(&world.open().await).await;
}

#[tokio::test]
async fn a_load_that_was_read_under_the_former_schema_is_to_be_run_again() {
    let world = World::new();
    let (graph, other) = (filled(&world).await, world.open().await);
    let row = r#"{"table":"Person","data":{"id":"d","age":4}}"#;
    let hold = hold_record(&world);
    let loading = tokio::spawn({
        let graph = graph.clone();
        async move { load(&graph, LoadMode::Append, row).await }
    });
    hold.reached().await;
    apply(&other, "main", &with(&[("nick STRING", "nick STRING, rank INT64 DEFAULT 4")])).await;
    hold.release();
    let error = loading.await.unwrap().unwrap_err();
    assert!(error.code() == "schema-changed" && error.is_retryable(), "{error}");
    load(&graph, LoadMode::Append, row).await.unwrap();
    assert_eq!(ask(&graph, "main", "MATCH (p:Person) RETURN sum(p.rank)").await, ["16"]);
    assert_whole(&world.open().await).await;
}

#[tokio::test]
async fn a_row_that_came_first_is_held_against_the_new_rule() {
    let world = World::new();
    let (graph, other) = (filled(&world).await, world.open().await);
    let hold = hold_record(&world);
    let ddl = with(&[("age INT32", "age INT32 CHECK (age < 50)")]);
    let applying = tokio::spawn({
        let (graph, ddl) = (graph.clone(), ddl.clone());
        async move { try_apply(&graph, "main", &ddl).await }
    });
    hold.reached().await;
    put(&other, "main", r#"{"table":"Person","data":{"id":"d","age":99}}"#).await;
    hold.release();
    let error = applying.await.unwrap().unwrap_err();
    assert!(error.to_string().contains("broken by \"d\""), "{error}");
    assert_eq!(graph.show("main").await.unwrap().seq.0, 2);
    assert_whole(&world.open().await).await;
}

#[tokio::test]
async fn rows_that_came_first_are_widened_and_filled_with_the_others() {
    let world = World::new();
    let (graph, other) = (filled(&world).await, world.open().await);
    let hold = hold_record(&world);
    let ddl = with(&[("age INT32", "age INT64"), ("since INT64", "since INT64, w INT64 DEFAULT 2")]);
    let applying = tokio::spawn({
        let graph = graph.clone();
        async move { try_apply(&graph, "main", &ddl).await }
    });
    hold.reached().await;
    put(&other, "main", r#"{"table":"Person","data":{"id":"d","age":99}}"#).await;
    hold.release();
    let report = applying.await.unwrap().unwrap();
    assert_eq!(told(&report.steps)[0], "Person: change the type of age from INT32 to INT64 4/0");
    assert_eq!(ask(&graph, "main", "MATCH (p:Person) RETURN p.age").await, ["20", "20", "36", "99"]);
    assert_eq!(ask(&graph, "main", "MATCH ()-[k:Knows]->() RETURN sum(k.w)").await, ["6"]);
    assert_whole(&world.open().await).await;
}

#[tokio::test]
async fn what_does_not_depend_on_the_rows_that_came_first_is_put_on_top() {
    let world = World::new();
    let (graph, other) = (filled(&world).await, world.open().await);
    let hold = hold_record(&world);
    let ddl = with(&[("age INT32", "age INT32, born DATE")]);
    let applying = tokio::spawn({
        let graph = graph.clone();
        async move { try_apply(&graph, "main", &ddl).await }
    });
    hold.reached().await;
    put(&other, "main", r#"{"table":"Person","data":{"id":"d","age":99}}"#).await;
    let _ = graph.take_io();
    hold.release();
    assert_eq!(applying.await.unwrap().unwrap().commit.unwrap().reference(), "main@3");
    assert!(graph.take_io().puts <= 2, "the record, once more, and nothing else");
    assert_eq!(ask(&graph, "main", "MATCH (p:Person) RETURN count(p)").await, ["4"]);
    assert_whole(&world.open().await).await;
}

#[tokio::test]
async fn of_two_changes_the_second_is_planned_on_the_first() {
    let world = World::new();
    let (graph, other) = (filled(&world).await, world.open().await);
    let hold = hold_record(&world);
    let ddl = with(&[("age INT32", "age INT32, born DATE")]);
    let applying = tokio::spawn({
        let (graph, ddl) = (graph.clone(), ddl.clone());
        async move { try_apply(&graph, "main", &ddl).await }
    });
    hold.reached().await;
    apply(&other, "main", &ddl).await;
    hold.release();
    let report = applying.await.unwrap().unwrap();
    assert!(report.commit.is_none() && report.steps.is_empty(), "it was that already: {report:?}");
    // A table that both make is made once: the second finds it there.
    let hold = hold_record(&world);
    let dog = format!("{ddl} CREATE NODE TABLE Dog (id INT64 PRIMARY KEY);");
    let applying = tokio::spawn({
        let (graph, dog) = (graph.clone(), dog.clone());
        async move { try_apply(&graph, "main", &dog).await }
    });
    hold.reached().await;
    let first = apply(&other, "main", &dog).await;
    put(&other, "main", r#"{"table":"Dog","data":{"id":1}}"#).await;
    hold.release();
    assert!(applying.await.unwrap().unwrap().commit.is_none());
    assert_eq!(graph.schema("main").await.unwrap(), first.schema);
    assert_whole(&world.open().await).await;
}

/// Another change than the one that came first: what both want would undo the first, so it has to be allowed.
#[tokio::test]
async fn a_change_that_came_first_is_not_undone_unasked() {
    let world = World::new();
    let (graph, other) = (filled(&world).await, world.open().await);
    let hold = hold_record(&world);
    let applying = tokio::spawn({
        let graph = graph.clone();
        async move { try_apply(&graph, "main", &with(&[("age INT32", "age INT32, born DATE")])).await }
    });
    hold.reached().await;
    apply(&other, "main", &with(&[("age INT32", "age INT32, rank INT64")])).await;
    hold.release();
    let error = applying.await.unwrap().unwrap_err();
    assert_eq!(error.code(), "schema-loses-data", "{error}");
    assert!(graph.schema("main").await.unwrap().table("Person").unwrap().property("rank").is_some());
}

#[tokio::test]
async fn in_one_process_a_change_waits_for_what_runs_and_the_rest_waits_for_it() {
    let world = World::new();
    let graph = filled(&world).await;
    graph.create_branch("f", "main", by_kit()).await.unwrap();
    put(&graph, "f", r#"{"table":"Person","data":{"id":"f","age":5}}"#).await;
    put(&graph, "main", r#"{"table":"City","data":{"id":2}}"#).await;
    let hold = hold_record(&world);
    let merging = tokio::spawn({
        let graph = graph.clone();
        async move { graph.merge("f", "main", pleach::MergeOptions { change: by_kit(), ..Default::default() }).await }
    });
    hold.reached().await;
    let applying = tokio::spawn({
        let graph = graph.clone();
        async move { try_apply(&graph, "main", &with(&[("age INT32", "age INT32, born DATE")])).await }
    });
    settle().await;
    assert!(!applying.is_finished(), "it waits for the merge");
    let writing = spawn_write(&graph, r#"{"table":"Person","data":{"id":"g","born":"2024-01-31"}}"#);
    settle().await;
    assert!(!writing.is_finished(), "what comes after it waits for it, on whatever branch");
    hold.release();
    assert_eq!(merging.await.unwrap().unwrap().commit.unwrap().reference(), "main@3");
    assert_eq!(applying.await.unwrap().unwrap().commit.unwrap().reference(), "main@4");
    assert_eq!(writing.await.unwrap().unwrap().commit.unwrap().reference(), "main@5");
    assert_eq!(ask(&graph, "main", "MATCH (p:Person) WHERE p.born IS NOT NULL RETURN p.id").await, [r#""g""#]);
    assert_whole(&world.open().await).await;
}

#[tokio::test]
async fn branches_change_their_schemas_apart_and_a_fast_forward_takes_them() {
    let world = World::new();
    let graph = filled(&world).await;
    graph.create_branch("f", "main", by_kit()).await.unwrap();
    apply(&graph, "f", &with(&[("age INT32", "age INT32, rank INT64 DEFAULT 3")])).await;
    assert_eq!(export(&graph, "main").await, ROWS);
    assert!(graph.schema("main").await.unwrap().table("Person").unwrap().property("rank").is_none());
    graph.merge("f", "main", pleach::MergeOptions { change: by_kit(), ..Default::default() }).await.unwrap();
    let seen = world.open().await;
    assert_eq!(ask(&seen, "main", "MATCH (p:Person) RETURN sum(p.rank)").await, ["9"]);
    assert_eq!(seen.schema("main").await.unwrap(), seen.schema("f").await.unwrap());
    assert_whole(&seen).await;
}

/// The handle knows a branch and its schema; the branch is another one by the time it is used again.
#[tokio::test]
async fn a_branch_that_was_made_again_has_the_schema_of_its_new_life() {
    let world = World::new();
    let (graph, other) = (filled(&world).await, world.open().await);
    graph.create_branch("f", "main", by_kit()).await.unwrap();
    apply(&graph, "f", &with(&[("age INT32", "years INT32 RENAMED FROM age")])).await;
    put(&graph, "f", r#"{"table":"Person","data":{"id":"d","years":1}}"#).await;
    other.delete_branch("f", by_kit()).await.unwrap();
    other.create_branch("f", "main", by_kit()).await.unwrap();
    for seen in [&graph, &world.open().await] {
        assert_eq!(ask(seen, "f", "MATCH (p:Person) RETURN sum(p.age), count(p)").await, ["76 3"]);
    }
    put(&graph, "f", r#"{"table":"Person","data":{"id":"d","age":2}}"#).await;
    let wrong = Write::new().upsert_json(r#"{"table":"Person","data":{"id":"d","years":2}}"#);
    assert_eq!(graph.write("f", wrong, by_kit()).await.unwrap_err().code(), "input-refused");
    assert_whole(&world.open().await).await;
}
