//! New rules are held against the rows that are there, before anything is written.

use kit::graphs::{assert_whole, by_kit};
use kit::world::World;
use pleach::Write;

use super::{SCHEMA, apply, filled, put, told, try_apply, with};

#[tokio::test]
async fn rows_that_break_a_new_rule_are_counted_and_named() {
    let world = World::new();
    let graph = filled(&world).await;
    let cases = [
        (with(&[("nick STRING", "nick STRING NOT NULL")]), "Person: nick becomes NOT NULL; broken by \"b\"", (3, 1)),
        (with(&[("age INT32", "age INT32 UNIQUE")]), "Person: add UNIQUE (age); broken by \"c\"", (3, 1)),
        (
            with(&[("age INT32", "age INT32 CHECK (age > 30)")]),
            "Person: add CHECK (age > 30); broken by \"b\", \"c\"",
            (3, 2),
        ),
        (
            with(&[("nick STRING", "nick STRING, rank INT8 NOT NULL")]),
            "Person: add property rank INT8 NOT NULL; broken by \"a\", \"b\", \"c\"",
            (3, 3),
        ),
        (
            with(&[("since INT64", "since INT64, MANY_ONE")]),
            "Knows: change the multiplicity from MANY_MANY to MANY_ONE; broken by [\"a\",\"c\"]",
            (3, 1),
        ),
        (
            with(&[("since INT64", "since INT64, ONE_MANY")]),
            "Knows: change the multiplicity from MANY_MANY to ONE_MANY; broken by [\"b\",\"c\"]",
            (3, 1),
        ),
        (
            with(&[("age INT32", "age INT64 CHECK (age * 200000000 < 5000000000)")]),
            "Person: add CHECK (age * 200000000 < 5000000000); broken by \"a\"",
            (3, 1),
        ),
        (
            with(&[("nick STRING", "nick STRING, rank INT64 DEFAULT 7 UNIQUE")]),
            "Person: add UNIQUE (rank); broken by \"b\", \"c\"",
            (3, 2),
        ),
    ];
    for (ddl, told, numbers) in cases {
        let plan = graph.plan_schema("main", &ddl).await.unwrap();
        let step = plan.steps.iter().find(|step| step.breaks > 0).unwrap_or_else(|| panic!("{ddl}"));
        assert_eq!((step.to_string().as_str(), (step.rows, step.breaks)), (told, numbers));
        let error = try_apply(&graph, "main", &ddl).await.unwrap_err();
        assert_eq!(error.code(), "schema-broken-by-rows");
        assert!(error.to_string().contains(told), "{error}");
    }
    assert_eq!(graph.show("main").await.unwrap().seq.0, 1);
    assert_whole(&graph).await;
}

#[tokio::test]
async fn a_rule_that_all_rows_keep_holds_from_then_on() {
    let world = World::new();
    let graph = filled(&world).await;
    put(&graph, "main", r#"{"table":"Person","data":{"id":"b","name":"Bob","age":21,"nick":"bo"}}"#).await;
    let ddl = with(&[
        ("age INT32, nick STRING", "age INT32 NOT NULL CHECK (age < 100), nick STRING UNIQUE"),
        ("FROM Person TO City", "FROM Person TO City, ONE_MANY"),
    ]);
    let error = try_apply(&graph, "main", &ddl).await.unwrap_err();
    assert!(error.to_string().contains("Calls: change the multiplicity"), "both edges end at one city: {error}");
    graph.write("main", Write::new().delete("Calls", [r#""01HZX3ZJ5M0000000000000002""#]), by_kit()).await.unwrap();
    let report = apply(&graph, "main", &ddl).await;
    assert_eq!(
        told(&report.steps),
        [
            "Person: age becomes NOT NULL 3/0",
            "Person: add UNIQUE (nick) 3/0",
            "Person: add CHECK (age < 100) 3/0",
            "Calls: change the multiplicity from MANY_MANY to ONE_MANY 1/0",
        ]
    );
    let refused = [
        r#"{"table":"Person","data":{"id":"d"}}"#,
        r#"{"table":"Person","data":{"id":"d","age":100}}"#,
        r#"{"table":"Person","data":{"id":"d","age":1,"nick":"bo"}}"#,
        r#"{"table":"Calls","from":"b","to":1,"data":{}}"#,
    ];
    for seen in [&graph, &world.open().await] {
        for row in refused {
            let error = seen.write("main", Write::new().insert_json(row), by_kit()).await.unwrap_err();
            assert_eq!(error.code(), "input-refused", "{row}");
        }
    }
    // And no longer, once it is dropped.
    let report = apply(&graph, "main", SCHEMA).await;
    assert_eq!(
        told(&report.steps),
        [
            "Person: age may be null 0/0",
            "Person: drop UNIQUE (nick) 0/0",
            "Person: drop CHECK (age < 100) 0/0",
            "Calls: change the multiplicity from ONE_MANY to MANY_MANY 0/0",
        ]
    );
    for row in refused {
        graph.write("main", Write::new().upsert_json(row), by_kit()).await.unwrap();
    }
    assert_whole(&world.open().await).await;
}

#[tokio::test]
async fn many_rows_are_counted_and_the_first_few_named() {
    let world = World::new();
    let graph = world.init("CREATE NODE TABLE T (id INT64 PRIMARY KEY, n INT64);").await;
    let lines: Vec<String> =
        (0..1000).map(|id| format!(r#"{{"table":"T","data":{{"id":{id},"n":{}}}}}"#, id % 10)).collect();
    kit::graphs::load(&graph, pleach::LoadMode::Append, &lines.join("\n")).await.unwrap();
    let plan = graph.plan_schema("main", "CREATE NODE TABLE T (id INT64 PRIMARY KEY, n INT64 UNIQUE);").await.unwrap();
    let step = &plan.steps[0];
    assert_eq!((step.rows, step.breaks, step.examples.len()), (1000, 990, 5));
    assert!(step.to_string().ends_with(" and 985 more"), "{step}");
}
