//! Wider types: rows are written anew, and everything is as it was but for what fits.

use kit::graphs::{assert_whole, by_kit, export, load};
use kit::world::World;
use pleach::{LoadMode, Write};

use super::{ROWS, apply, ask, filled, put, told, with};

#[tokio::test]
async fn a_wider_integer_takes_what_did_not_fit() {
    let world = World::new();
    let graph = filled(&world).await;
    graph.create_branch("f", "main", by_kit()).await.unwrap();
    let huge = r#"{"table":"Person","data":{"id":"a","age":5000000000}}"#;
    assert!(graph.write("main", Write::new().upsert_json(huge), by_kit()).await.is_err());
    let ddl = with(&[("age INT32", "age INT64")]);
    let report = apply(&graph, "main", &ddl).await;
    assert_eq!(told(&report.steps), ["Person: change the type of age from INT32 to INT64 3/0"]);
    assert_eq!(export(&graph, "main").await, ROWS);
    // A row is the same row, whichever column it is in.
    let same = Write::new().upsert_json(r#"{"table":"Person","data":{"id":"b","name":"Bob","age":20}}"#);
    assert!(graph.write("main", same, by_kit()).await.unwrap().commit.is_none());
    assert_whole(&world.open().await).await;
    put(&graph, "main", huge).await;
    for seen in [&graph, &world.open().await] {
        assert_eq!(ask(seen, "main", "MATCH (p:Person) RETURN p.age").await, ["20", "20", "5000000000"]);
        assert_eq!(ask(seen, "main", "MATCH (p:Person {age: 20}) RETURN p.id").await, [r#""b""#, r#""c""#]);
        assert_eq!(export(seen, "main@1").await, ROWS);
        assert_eq!(export(seen, "f").await, ROWS);
    }
    assert!(graph.write("f", Write::new().upsert_json(huge), by_kit()).await.is_err());
    assert_whole(&world.open().await).await;
}

#[tokio::test]
async fn every_type_that_can_be_widened_keeps_its_values() {
    let world = World::new();
    let narrow = "CREATE NODE TABLE T (id STRING PRIMARY KEY, a INT8, b UINT8, c FLOAT, d DECIMAL(5, 2), e INT16[], f ENUM('x'), g FLOAT[2]);";
    let wide = "CREATE NODE TABLE T (id STRING PRIMARY KEY, a INT64, b INT16, c DOUBLE, d DECIMAL(12, 4), e INT32[], f STRING, g FLOAT[2]);";
    let graph = world.init(narrow).await;
    let rows = r#"{"table":"T","data":{"id":"1","a":-128,"b":255,"c":0.1,"d":"123.45","e":[1,null,-32768],"f":"x","g":[0.5,1.0]}}
{"table":"T","data":{"id":"2","c":"NaN","e":[]}}
{"table":"T","data":{"id":"3"}}"#;
    load(&graph, LoadMode::Append, rows).await.unwrap();
    // Values that nobody wrote are widened too.
    let filled = |text: &str, ty: &str, default: &str| {
        text.replace("g FLOAT[2]", &format!("g FLOAT[2], h {ty} DEFAULT {default}"))
    };
    apply(&graph, "main", &filled(narrow, "DECIMAL(4, 1)", "2.5")).await;
    put(&graph, "main", r#"{"table":"T","data":{"id":"3","h":"7.5"}}"#).await;
    let report = apply(&graph, "main", &filled(wide, "DECIMAL(9, 3)", "2.5")).await;
    assert_eq!(report.steps.len(), 7);
    for seen in [&graph, &world.open().await] {
        let lines: Vec<String> = export(seen, "main").await.lines().map(str::to_owned).collect();
        assert_eq!(
            lines[0],
            r#"{"table":"T","data":{"id":"1","a":-128,"b":255,"c":0.10000000149011612,"d":"123.4500","e":[1,null,-32768],"f":"x","g":[0.5,1.0],"h":"2.500"}}"#
        );
        assert_eq!(lines[1], r#"{"table":"T","data":{"id":"2","c":"NaN","e":[],"h":"2.500"}}"#);
        assert_eq!(lines[2], r#"{"table":"T","data":{"id":"3","h":"7.500"}}"#);
        assert_whole(seen).await;
    }
    put(&graph, "main", r#"{"table":"T","data":{"id":"2","a":5000000000,"e":[100000],"f":"anything","h":"2.5"}}"#)
        .await;
    assert_eq!(ask(&graph, "main", "MATCH (t:T {h: 2.5}) RETURN t.id, t.f").await, [r#""1" "x""#, r#""2" "anything""#]);
    assert_whole(&world.open().await).await;
}
