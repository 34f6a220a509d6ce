//! Renaming: what is called otherwise is the same.

use kit::graphs::{assert_whole, by_kit, export};
use kit::world::World;
use pleach::Write;

use super::{ROWS, apply, ask, filled, line, put, told};

const RENAMED: &str = "
CREATE NODE TABLE Human RENAMED FROM Person (id STRING PRIMARY KEY, name STRING, years INT32 RENAMED FROM age, nick STRING);
CREATE NODE TABLE City (id INT64 PRIMARY KEY, name STRING);
CREATE REL TABLE Met RENAMED FROM Knows (FROM Human TO Human, since INT64);
CREATE REL TABLE Calls (FROM Human TO City, MULTI);
";

#[tokio::test]
async fn tables_and_properties_keep_their_rows_under_other_names() {
    let world = World::new();
    let graph = filled(&world).await;
    let report = apply(&graph, "main", RENAMED).await;
    assert_eq!(
        told(&report.steps),
        [
            "Human: rename the table from Person 0/0",
            "Human: rename property age to years 0/0",
            "Met: rename the table from Knows 0/0",
        ]
    );
    let wanted = ROWS.replace("Person", "Human").replace("Knows", "Met").replace("age", "years");
    let sorted = |text: String| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(export(&graph, "main").await), sorted(wanted));
    assert_eq!(
        ask(&graph, "main", "MATCH (:Human {years: 36})-[m:Met]->(h:Human) RETURN h.id").await,
        [r#""b""#, r#""c""#]
    );
    // The same text again finds all done.
    assert!(apply(&graph, "main", RENAMED).await.commit.is_none());
    // Rows as they are stay as they are, and what is written goes into the same columns.
    let same = Write::new().upsert_json(r#"{"table":"Human","data":{"id":"b","name":"Bob","years":20}}"#);
    assert!(graph.write("main", same, by_kit()).await.unwrap().commit.is_none());
    put(&graph, "main", r#"{"table":"Human","data":{"id":"b","name":"Bob","years":21}}"#).await;
    let seen = world.open().await;
    assert_eq!(line(&seen, "main", "\"Bob\"").await, r#"{"table":"Human","data":{"id":"b","name":"Bob","years":21}}"#);
    assert_eq!(export(&seen, "main@1").await, ROWS);
    assert_whole(&seen).await;
}
