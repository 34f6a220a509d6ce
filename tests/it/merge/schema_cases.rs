//! Schemas that both sides changed: what rows are read as, what new rules are judged on, and what people are asked.

use kit::graphs::{assert_whole, by_kit, export, graph};
use pleach::{Choice, Graph, MergeOptions, MergeSide, Resolution, SchemaOptions, Write};

use super::resolving::{merge_with, resolve, side, strategy};
use super::{branch, conflicts, merge, options, put, rows, short, try_merge, write};

/// Gives a branch another schema.
async fn apply(graph: &Graph, name: &str, ddl: &str) {
    let options = SchemaOptions { allow_data_loss: true, change: by_kit() };
    graph.apply_schema(name, ddl, options).await.unwrap();
}

fn p(id: i64, rest: &str) -> String {
    let rest = if rest.is_empty() { String::new() } else { format!(",{rest}") };
    format!(r#"{{"table":"P","data":{{"id":{id}{rest}}}}}"#)
}

fn edge(table: &str, from: i64, to: i64) -> String {
    format!(r#"{{"table":"{table}","from":{from},"to":{to},"data":{{}}}}"#)
}

fn of_schema(table: &str, property: Option<&str>, choice: Choice) -> Resolution {
    Resolution { table: table.to_owned(), key: None, property: property.map(str::to_owned), choice }
}

/// A graph with rows on `main`, and the branch `f`.
async fn fork(ddl: &str, rows: impl IntoIterator<Item = String>) -> Graph {
    let graph = graph(ddl).await;
    put(&graph, "main", rows).await;
    branch(&graph, "f", "main").await;
    graph
}

async fn refused(graph: &Graph) -> Vec<String> {
    let before = export(graph, "main").await;
    let error = try_merge(graph, "f", "main").await.unwrap_err();
    assert_eq!(export(graph, "main").await, before, "nothing is written");
    conflicts(&error).1
}

const A: &str = "CREATE NODE TABLE P (id INT64 PRIMARY KEY, a STRING);";

/// B007.
#[tokio::test]
async fn properties_that_each_side_added_come_together_with_what_both_did_to_rows() {
    for (ours, theirs) in [("main", "f"), ("f", "main")] {
        let graph = fork(A, [1, 5, 9].map(|id| p(id, r#""a":"old""#))).await;
        apply(&graph, ours, "CREATE NODE TABLE P (id INT64 PRIMARY KEY, a STRING, b INT64);").await;
        put(&graph, ours, [p(1, r#""a":"old","b":7"#)]).await;
        apply(&graph, theirs, "CREATE NODE TABLE P (id INT64 PRIMARY KEY, a STRING, c INT64);").await;
        let change = Write::new().upsert_json(p(5, r#""a":"changed","c":8"#)).delete("P", ["9"]);
        write(&graph, theirs, change).await;
        let report = merge(&graph, "f", "main").await;
        let table = report.tables["P"];
        assert_eq!((table.rewritten, table.adopted), (0, 1), "files that lack a column are taken as they lie");
        let found = export(&graph, "main").await;
        assert!(found.contains(r#""b":7"#) && found.contains(r#""c":8"#) && found.contains("changed"), "{found}");
        assert_eq!(found.lines().count(), 2);
        merge(&graph, "main", "f").await;
        assert_eq!(export(&graph, "f").await, found);
        assert_eq!(merge(&graph, "f", "main").await.commit, None);
        assert_whole(&graph).await;
    }
}

/// B011 and B046.
#[tokio::test]
async fn a_property_that_one_side_dropped_and_the_other_set_is_kept_or_dropped_by_people() {
    let ddl = "CREATE NODE TABLE P (id INT64 PRIMARY KEY, nick STRING, x INT64);";
    let dropped = "CREATE NODE TABLE P (id INT64 PRIMARY KEY, x INT64);";
    for (drops, sets) in [("main", "f"), ("f", "main")] {
        for (before, after) in [("", r#""nick":"z""#), (r#""nick":"y""#, "")] {
            let graph = fork(ddl, [p(1, before), p(2, before)]).await;
            apply(&graph, drops, dropped).await;
            // Rows that were written since have lost it, in the file too.
            put(&graph, drops, [p(2, r#""x":4"#), p(3, r#""x":3"#)]).await;
            put(&graph, sets, [p(1, after)]).await;
            let by = if drops == "f" { "source, and the target" } else { "target, and the source" };
            let error = try_merge(&graph, "f", "main").await.unwrap_err();
            let told = error.conflicts()[0].to_string();
            assert_eq!(told, format!("schema: P.nick was dropped by the {by} changed it (1 row)"));
            let schema = error.conflicts()[0].schema.unwrap();
            assert_eq!((schema.rows, schema.reason.choices()), (Some(1), &["keep", "drop"][..]));
            let strategies = [(if drops == "f" { "source" } else { "target" }, "drop")];
            for (number, choice) in [Choice::Keep, Choice::Drop].into_iter().enumerate() {
                let into = format!("try-{number}");
                branch(&graph, &into, "main").await;
                let resolutions = vec![of_schema("P", Some("nick"), choice.clone())];
                graph.merge("f", &into, MergeOptions { resolutions, ..options() }).await.unwrap();
                let found = export(&graph, &into).await;
                let nick = |row: &str| if row.is_empty() { r#""nick":null"#.to_owned() } else { row.to_owned() };
                let expected = if choice == Choice::Drop {
                    [p(1, r#""x":null"#), p(2, r#""x":4"#), p(3, r#""x":3"#)]
                } else {
                    let row = |id: i64, values: &str, x: &str| p(id, &format!(r#"{},"x":{x}"#, nick(values)));
                    // The row that the dropping side wrote has what it had before.
                    [row(1, after, "null"), row(2, before, "4"), row(3, "", "3")]
                };
                assert_eq!(normal(&found), expected.map(|row| normal(&row)).concat(), "{choice:?}");
            }
            for (wins, _) in strategies {
                let dropped = merge_with(&graph, Vec::new(), vec![strategy(wins)]).await.unwrap();
                assert!(dropped.commit.is_some());
                assert!(!export(&graph, "main").await.contains("nick"));
            }
            assert_whole(&graph).await;
        }
    }
}

/// Lines without what is null.
fn normal(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        line["data"].as_object_mut().unwrap().retain(|_, value| !value.is_null());
        format!("{line}\n")
    });
    lines.collect()
}

#[tokio::test]
async fn answers_to_what_is_no_conflict_of_the_schema_are_refused() {
    let graph = fork(A, [p(1, "")]).await;
    apply(&graph, "f", "CREATE NODE TABLE P (id INT64 PRIMARY KEY);").await;
    put(&graph, "main", [p(2, "")]).await;
    for resolution in [
        of_schema("P", Some("a"), Choice::Keep),
        of_schema("P", None, Choice::Drop),
        of_schema("Q", None, side(MergeSide::Source)),
    ] {
        let error = merge_with(&graph, vec![resolution], Vec::new()).await.unwrap_err();
        assert_eq!(error.code(), "resolution-invalid", "{error}");
    }
    let keep = resolve("P", "1", None, Choice::Keep);
    assert_eq!(merge_with(&graph, vec![keep], Vec::new()).await.unwrap_err().code(), "resolution-invalid");
    // A drop that nobody is against goes through.
    merge(&graph, "f", "main").await;
    assert!(!export(&graph, "main").await.contains("\"a\""));
}

/// B047, the part of merges: what was dropped does not come back by its name.
#[tokio::test]
async fn a_table_dropped_and_created_again_is_another_one() {
    let ddl = format!("{A} CREATE REL TABLE OWNS (FROM P TO P);");
    let graph = fork(&ddl, [p(1, ""), p(2, ""), edge("OWNS", 1, 2), edge("OWNS", 2, 1), edge("OWNS", 1, 1)]).await;
    apply(&graph, "f", A).await;
    apply(&graph, "f", &ddl).await;
    put(&graph, "main", [p(3, "")]).await;
    let report = merge(&graph, "f", "main").await;
    assert!(rows(&graph, "main", "OWNS").await.is_empty());
    assert_eq!(rows(&graph, "main~1", "OWNS").await.len(), 3, "before the drop");
    assert!(report.tables.values().any(|table| (table.rows_before, table.rows) == (Some(3), Some(0))), "{report:?}");
    assert_whole(&graph).await;
}

/// B049.
#[tokio::test]
async fn a_maximum_that_one_side_added_is_judged_on_edges_of_both() {
    let many = "CREATE NODE TABLE P (id INT64 PRIMARY KEY, a STRING); CREATE REL TABLE Boss (FROM P TO P);";
    let one = "CREATE NODE TABLE P (id INT64 PRIMARY KEY, a STRING); CREATE REL TABLE Boss (FROM P TO P, MANY_ONE);";
    for (ruled, free) in [("main", "f"), ("f", "main")] {
        let graph = fork(many, (1..=4).map(|id| p(id, "")).chain([edge("Boss", 4, 1)])).await;
        apply(&graph, ruled, one).await;
        put(&graph, free, [edge("Boss", 4, 2), edge("Boss", 1, 2), edge("Boss", 1, 3)]).await;
        let found = refused(&graph).await;
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found.iter().all(|line| line.starts_with("cardinality: Boss ")), "{found:?}");
        let wins = if ruled == "main" { "target" } else { "source" };
        merge_with(&graph, Vec::new(), vec![strategy(wins)]).await.unwrap();
        assert_eq!(rows(&graph, "main", "Boss").await.iter().filter(|row| row.contains("\"from\":4")).count(), 1);
        assert_whole(&graph).await;
    }
}

#[tokio::test]
async fn rules_that_one_side_added_are_judged_on_what_the_other_wrote() {
    let free = "CREATE NODE TABLE P (id INT64 PRIMARY KEY, a STRING, n INT64);";
    let put_rows = [p(2, r#""a":"x","n":2"#), p(3, r#""a":"y","n":-1"#), p(4, r#""a":null,"n":4"#)];
    for (rule, broken) in [
        ("UNIQUE (a)", "unique: P 2 a with P 1"),
        ("CHECK (n >= 0)", "check: P 3 n >= 0"),
        ("a STRING NOT NULL", "check: P 4 a IS NOT NULL"),
    ] {
        let ddl = if rule.starts_with("a ") {
            "CREATE NODE TABLE P (id INT64 PRIMARY KEY, a STRING NOT NULL, n INT64);".to_owned()
        } else {
            format!("CREATE NODE TABLE P (id INT64 PRIMARY KEY, a STRING, n INT64, {rule});")
        };
        for (ruled, other) in [("main", "f"), ("f", "main")] {
            // Row 1 is as it was on both sides, and has the value that the other side gives to another row.
            let graph = fork(free, [p(1, r#""a":"x","n":1"#)]).await;
            apply(&graph, ruled, &ddl).await;
            put(&graph, other, put_rows.clone()).await;
            assert_eq!(refused(&graph).await, [broken], "{rule} on {ruled}");
            let wins = if ruled == "main" { "target" } else { "source" };
            merge_with(&graph, Vec::new(), vec![strategy(wins)]).await.unwrap();
            assert_eq!(export(&graph, "main").await.lines().count(), 3, "{rule}: one of three gives way");
            assert_whole(&graph).await;
        }
    }
}

#[tokio::test]
async fn tables_created_alike_on_both_sides_are_one_from_then_on() {
    let with_new = format!(
        "{A} CREATE NODE TABLE Q (id INT64 PRIMARY KEY, x INT64 DEFAULT 3); CREATE REL TABLE E (FROM P TO Q, w INT64);"
    );
    let graph = fork(A, [p(1, "")]).await;
    let q = |id: i64, x: i64| format!(r#"{{"table":"Q","data":{{"id":{id},"x":{x}}}}}"#);
    let e = |to: i64| format!(r#"{{"table":"E","from":1,"to":{to},"data":{{"w":1}}}}"#);
    for (name, id) in [("f", 10), ("main", 20)] {
        apply(&graph, name, &with_new).await;
        put(&graph, name, [q(id, id), q(30, 5), e(id), e(30)]).await;
    }
    merge(&graph, "f", "main").await;
    assert_eq!(rows(&graph, "main", "\"Q\"").await, [q(10, 10), q(20, 20), q(30, 5)]);
    assert_eq!(rows(&graph, "main", "\"E\"").await, [e(10), e(20), e(30)]);
    // Each side goes on, and each merge begins where the last one ended.
    put(&graph, "f", [q(11, 11), e(11)]).await;
    write(&graph, "f", Write::new().delete_detach("Q", ["10"])).await;
    put(&graph, "main", [q(21, 21), q(30, 6)]).await;
    merge(&graph, "f", "main").await;
    assert_eq!(rows(&graph, "main", "\"Q\"").await, [q(11, 11), q(20, 20), q(21, 21), q(30, 6)]);
    put(&graph, "f", [q(12, 12)]).await;
    merge(&graph, "main", "f").await;
    let all = [q(11, 11), q(12, 12), q(20, 20), q(21, 21), q(30, 6)];
    assert_eq!(rows(&graph, "f", "\"Q\"").await, all);
    put(&graph, "main", [q(22, 22)]).await;
    merge(&graph, "f", "main").await;
    assert_eq!(rows(&graph, "main", "\"Q\"").await.len(), 6);
    assert_eq!(rows(&graph, "main", "\"E\"").await, [e(11), e(20), e(30)]);
    assert_whole(&graph).await;
}

#[tokio::test]
async fn a_property_added_alike_on_both_sides_is_one_and_keeps_what_older_rows_have() {
    let more = "CREATE NODE TABLE P (id INT64 PRIMARY KEY, a STRING, n INT64 DEFAULT 5);";
    let graph = fork(A, [p(1, ""), p(2, ""), p(3, "")]).await;
    for (name, id) in [("f", 1), ("main", 2)] {
        apply(&graph, name, more).await;
        put(&graph, name, [p(id, &format!(r#""n":{id}"#))]).await;
    }
    merge(&graph, "f", "main").await;
    let expected = [p(1, r#""a":null,"n":1"#), p(2, r#""a":null,"n":2"#), p(3, r#""a":null,"n":5"#)];
    assert_eq!(normal(&export(&graph, "main").await), normal(&expected.join("\n")));
    put(&graph, "f", [p(3, r#""n":7"#)]).await;
    put(&graph, "main", [p(1, r#""a":"b","n":1"#)]).await;
    merge(&graph, "f", "main").await;
    let expected = [p(1, r#""a":"b","n":1"#), p(2, r#""n":2"#), p(3, r#""n":7"#)];
    assert_eq!(normal(&export(&graph, "main").await), normal(&expected.join("\n")));
    assert_whole(&graph).await;
}

#[tokio::test]
async fn edge_tables_of_one_side_meet_nodes_that_the_other_deleted() {
    let with_edges = format!("{A} CREATE REL TABLE E (FROM P TO P);");
    for (adds, deletes) in [("f", "main"), ("main", "f")] {
        let graph = fork(A, [p(1, ""), p(2, ""), p(3, "")]).await;
        apply(&graph, adds, &with_edges).await;
        put(&graph, adds, [edge("E", 1, 2), edge("E", 1, 3)]).await;
        write(&graph, deletes, Write::new().delete("P", ["3"])).await;
        assert_eq!(refused(&graph).await, ["dangling-edge: P 3 with E [1,3]"]);
        let loses = if adds == "f" { MergeSide::Target } else { MergeSide::Source };
        merge_with(&graph, vec![resolve("P", "3", None, side(loses))], Vec::new()).await.unwrap();
        assert_eq!(rows(&graph, "main", "\"E\"").await, [edge("E", 1, 2)]);
        assert_whole(&graph).await;
    }
}

#[tokio::test]
async fn types_that_both_widened_come_to_the_wider_and_no_value_is_lost() {
    let ddl = |x: &str, y: &str| format!("CREATE NODE TABLE P (id INT64 PRIMARY KEY, x {x}, y {y});");
    for (ours, theirs) in [
        (("INT16", "INT8"), ("INT32", "INT8")),
        (("INT64", "INT8"), ("INT16", "INT8")),
        // Neither side's rows are in the columns of the result: all are written.
        (("INT32", "INT8"), ("INT8", "INT32")),
    ] {
        let graph = fork(&ddl("INT8", "INT8"), [p(1, r#""x":1,"y":1"#), p(2, r#""x":2,"y":2"#)]).await;
        apply(&graph, "main", &ddl(ours.0, ours.1)).await;
        put(&graph, "main", [p(3, r#""x":100,"y":3"#)]).await;
        apply(&graph, "f", &ddl(theirs.0, theirs.1)).await;
        put(&graph, "f", [p(1, r#""x":1,"y":9"#), p(4, r#""x":101,"y":4"#)]).await;
        merge(&graph, "f", "main").await;
        let expected =
            [p(1, r#""x":1,"y":9"#), p(2, r#""x":2,"y":2"#), p(3, r#""x":100,"y":3"#), p(4, r#""x":101,"y":4"#)];
        assert_eq!(export(&graph, "main").await.lines().collect::<Vec<_>>(), expected);
        put(&graph, "main", [p(5, r#""x":127,"y":127"#)]).await;
        put(&graph, "f", [p(2, r#""x":3,"y":2"#)]).await;
        merge(&graph, "f", "main").await;
        assert_eq!(rows(&graph, "main", r#""id":2"#).await, [p(2, r#""x":3,"y":2"#)]);
        assert_whole(&graph).await;
    }
}

#[tokio::test]
async fn what_each_side_says_otherwise_is_a_conflict_with_a_side() {
    let table = |items: &str| format!("CREATE NODE TABLE P (id INT64 PRIMARY KEY, {items});");
    for (ours, theirs, told) in [
        ("a STRING, n INT64 DEFAULT 1", "a STRING, n INT64 DEFAULT 2", "schema: P n"),
        ("a STRING, n INT64 MERGE max", "a STRING, n INT64 MERGE min", "schema: P n"),
        ("a STRING, n INT64, q STRING", "a STRING, n INT64, q INT64", "schema: P q"),
        ("b STRING RENAMED FROM a, n INT64", "c STRING RENAMED FROM a, n INT64", "schema: P b"),
        ("x STRING RENAMED FROM a, n INT64", "a STRING, n INT64, x INT64", "schema: P x"),
        ("x STRING RENAMED FROM a, n INT64", "a STRING, x INT64 RENAMED FROM n", "schema: P x"),
    ] {
        let graph = fork(&table("a STRING, n INT64"), [p(1, r#""a":"v","n":1"#)]).await;
        apply(&graph, "main", &table(ours)).await;
        apply(&graph, "f", &table(theirs)).await;
        put(&graph, "f", [p(2, "")]).await;
        assert_eq!(refused(&graph).await, [told], "{ours} against {theirs}");
        for wins in ["source", "target"] {
            let into = format!("by-{wins}");
            branch(&graph, &into, "main").await;
            graph
                .merge("f", &into, MergeOptions { strategies: vec![strategy(wins)], ..options() })
                .await
                .unwrap_or_else(|error| panic!("{ours} against {theirs}, {wins}: {error}"));
            let side = if wins == "source" { theirs } else { ours };
            let plan = graph
                .plan_schema(&into, &table(&side.replace(" RENAMED FROM a", "").replace(" RENAMED FROM n", "")))
                .await;
            let steps: Vec<String> = plan.unwrap().steps.iter().map(ToString::to_string).collect();
            assert!(steps.iter().all(|step| step.contains("change the order")), "{wins}: {steps:?}");
            assert_eq!(rows(&graph, &into, "\"id\":1,").await[0].matches("\"v\"").count(), 1, "its values stay");
        }
        assert_whole(&graph).await;
    }
}

/// A drop that was taken since nobody was against it does not go past somebody who is by then.
#[tokio::test]
async fn a_plan_of_a_drop_does_not_hold_once_rows_were_changed() {
    let graph = fork(A, [p(1, "")]).await;
    apply(&graph, "f", "CREATE NODE TABLE P (id INT64 PRIMARY KEY);").await;
    put(&graph, "main", [p(2, "")]).await;
    let plan = graph.plan_merge("f", "main", options()).await.unwrap();
    assert!(plan.conflicts.is_empty());
    put(&graph, "main", [p(1, r#""a":"set""#)]).await;
    assert_eq!(graph.apply_merge(&plan, options()).await.unwrap_err().code(), "head-moved");
    let again = graph.plan_merge("f", "main", options()).await.unwrap();
    assert_eq!(again.conflicts.iter().map(short).collect::<Vec<_>>(), ["schema: P a"]);
}

/// After a criss-cross nothing that one side dropped or added since is taken for what it was before.
#[tokio::test]
async fn schemas_of_several_bases_are_merged_like_their_rows() {
    let with = |items: &str| format!("CREATE NODE TABLE P (id INT64 PRIMARY KEY, a STRING{items});");
    let graph = fork(A, [p(1, r#""a":"x""#)]).await;
    apply(&graph, "f", &with(", q INT64")).await;
    apply(&graph, "main", &with(", r INT64")).await;
    for name in ["f", "main"] {
        branch(&graph, &format!("was-{name}"), name).await;
    }
    merge(&graph, "was-f", "main").await;
    merge(&graph, "was-main", "f").await;
    apply(&graph, "main", &with(", r INT64")).await;
    apply(&graph, "f", &with(", q INT64, r INT64, s INT64")).await;
    put(&graph, "f", [p(2, r#""r":2,"s":3"#)]).await;
    merge(&graph, "f", "main").await;
    let found = export(&graph, "main").await;
    assert!(!found.contains("\"q\"") && found.contains(r#""r":2"#) && found.contains(r#""s":3"#), "{found}");
    assert_whole(&graph).await;
}
