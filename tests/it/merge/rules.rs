//! Rules of the schema that each side keeps and both together break: judged on the result, never by where its rows come from.

use kit::graphs::{assert_whole, export, graph};
use pleach::{Graph, MergeSide, Write};

use super::resolving::{merge_with, resolve, side, strategy};
use super::rows::fork;
use super::{conflicts, merge, put, rows, try_merge, write};

const SCHEMA: &str = "
CREATE NODE TABLE P (id INT64 PRIMARY KEY, first STRING, last STRING, low INT64, high INT64, n INT64 MERGE sum, code INT64,
  UNIQUE (first, last), UNIQUE (code), UNIQUE (n), CHECK (low <= high));
CREATE REL TABLE Boss (FROM P TO P, MANY_ONE);
CREATE REL TABLE Knows (FROM P TO P, w INT64);
";

fn p(id: i64, rest: &str) -> String {
    let rest = if rest.is_empty() { String::new() } else { format!(",{rest}") };
    format!(r#"{{"table":"P","data":{{"id":{id}{rest}}}}}"#)
}

fn edge(table: &str, from: i64, to: i64) -> String {
    format!(r#"{{"table":"{table}","from":{from},"to":{to},"data":{{}}}}"#)
}

async fn refused(graph: &Graph) -> Vec<String> {
    let before = export(graph, "main").await;
    let error = try_merge(graph, "f", "main").await.unwrap_err();
    assert_eq!(export(graph, "main").await, before, "nothing is written");
    conflicts(&error).1
}

#[tokio::test]
async fn a_unique_value_that_each_side_gave_to_another_row_is_a_conflict() {
    let graph = graph(SCHEMA).await;
    fork(&graph, [p(1, ""), p(2, ""), p(9, "")]).await;
    put(&graph, "f", [p(1, r#""code":7"#), p(9, r#""low":1"#)]).await;
    put(&graph, "main", [p(2, r#""code":7"#)]).await;
    let found = refused(&graph).await;
    assert!(found == ["unique: P 1 code with P 2"] || found == ["unique: P 2 code with P 1"], "{found:?}");
    // Either of the two may give way, or take another value.
    let settled = merge_with(&graph, vec![resolve("P", "1", None, side(MergeSide::Target))], Vec::new()).await;
    assert_eq!(settled.unwrap().tables["P"].rows, Some(3));
    assert_eq!(rows(&graph, "main", r#""code":7"#).await, [p(2, r#""code":7"#)]);
    assert_eq!(rows(&graph, "main", r#""low":1"#).await, [p(9, r#""low":1"#)], "the rest is merged");
    assert_whole(&graph).await;
}

/// The trap: neither side has the pair that a row takes from both, and the row that it meets was changed by nobody.
#[tokio::test]
async fn a_composite_unique_value_that_only_the_merged_row_has_is_looked_up_among_unchanged_rows() {
    let graph = graph(SCHEMA).await;
    fork(&graph, [p(1, r#""first":"Ada","last":"King""#), p(2, r#""first":"Eve","last":"Byron""#)]).await;
    put(&graph, "f", [p(2, r#""first":"Ada","last":"Byron""#)]).await;
    put(&graph, "main", [p(2, r#""first":"Eve","last":"King""#)]).await;
    assert_eq!(refused(&graph).await, ["unique: P 2 first, last with P 1"]);
    let value = pleach::Choice::Value(r#""Augusta""#.to_owned());
    merge_with(&graph, vec![resolve("P", "2", Some("first"), value)], Vec::new()).await.unwrap();
    assert_eq!(rows(&graph, "main", "Augusta").await, [p(2, r#""first":"Augusta","last":"King""#)]);
    assert_whole(&graph).await;
}

#[tokio::test]
async fn sums_and_resolutions_that_collide_are_conflicts() {
    let graph = graph(SCHEMA).await;
    fork(&graph, [p(1, r#""n":10"#), p(2, r#""n":14"#), p(3, r#""code":5"#), p(4, r#""code":6"#)]).await;
    put(&graph, "f", [p(1, r#""n":12"#), p(3, r#""code":50"#)]).await;
    put(&graph, "main", [p(1, r#""n":11"#), p(3, r#""code":51"#)]).await;
    assert_eq!(refused(&graph).await, ["both-changed: P 3 code"]);
    let six = || resolve("P", "3", Some("code"), pleach::Choice::Value("6".to_owned()));
    let error = merge_with(&graph, vec![six()], Vec::new()).await.unwrap_err();
    assert_eq!(conflicts(&error).1, ["unique: P 3 code with P 4"], "the value that was chosen");
    put(&graph, "main", [p(2, r#""n":13"#)]).await;
    let error = merge_with(&graph, vec![six()], Vec::new()).await.unwrap_err();
    let found = conflicts(&error).1;
    assert!(found.iter().any(|line| line.starts_with("unique: P ") && line.contains(" n with P ")), "{found:?}");
}

#[tokio::test]
async fn edges_that_exceed_a_maximum_together_are_a_conflict() {
    let graph = graph(SCHEMA).await;
    fork(&graph, (1..=4).map(|id| p(id, "")).chain([edge("Boss", 4, 1)])).await;
    put(&graph, "f", [edge("Boss", 1, 2), edge("Boss", 2, 3)]).await;
    put(&graph, "main", [edge("Boss", 1, 3), edge("Boss", 3, 4)]).await;
    let found = refused(&graph).await;
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("cardinality: Boss [1,"), "{found:?}");
    merge_with(&graph, Vec::new(), vec![strategy("source")]).await.unwrap();
    let found = rows(&graph, "main", "Boss").await;
    assert_eq!(found, [edge("Boss", 1, 2), edge("Boss", 2, 3), edge("Boss", 3, 4), edge("Boss", 4, 1)]);
    assert_whole(&graph).await;
}

#[tokio::test]
async fn a_condition_that_only_the_merged_row_breaks_is_a_conflict() {
    let graph = graph(SCHEMA).await;
    fork(&graph, [p(1, r#""low":1,"high":9"#)]).await;
    put(&graph, "f", [p(1, r#""low":8,"high":9"#)]).await;
    put(&graph, "main", [p(1, r#""low":1,"high":2"#)]).await;
    assert_eq!(refused(&graph).await, ["check: P 1 low <= high"]);
    merge_with(&graph, Vec::new(), vec![strategy("target")]).await.unwrap();
    assert_eq!(export(&graph, "main").await, format!("{}\n", p(1, r#""low":1,"high":2"#)));
}

/// Every table is equal on both sides but two, and nothing in either is in conflict by itself.
#[tokio::test]
async fn a_node_deleted_here_and_an_edge_added_there_meet_whatever_else_is_equal() {
    for deleted_on in ["f", "main"] {
        let graph = graph(SCHEMA).await;
        fork(&graph, (1..=3).map(|id| p(id, ""))).await;
        let added_on = if deleted_on == "f" { "main" } else { "f" };
        write(&graph, deleted_on, Write::new().delete("P", ["3"])).await;
        put(&graph, added_on, [edge("Knows", 1, 3), edge("Knows", 1, 2)]).await;
        assert_eq!(refused(&graph).await, ["dangling-edge: P 3 with Knows [1,3]"]);
        let (keeps, loses) = if deleted_on == "f" {
            (MergeSide::Target, MergeSide::Source)
        } else {
            (MergeSide::Source, MergeSide::Target)
        };
        // The edge alone may give way too.
        let settled = [
            (resolve("P", "3", None, side(loses)), 2),
            (resolve("Knows", "[1,3]", None, side(loses)), 2),
            (resolve("P", "3", None, side(keeps)), 3),
        ];
        for (number, (resolution, nodes)) in settled.into_iter().enumerate() {
            let into = format!("try-{number}");
            super::branch(&graph, &into, "main").await;
            let options = pleach::MergeOptions { resolutions: vec![resolution], ..super::options() };
            graph.merge("f", &into, options).await.unwrap();
            let found = export(&graph, &into).await;
            assert_eq!(found.matches(r#""table":"P""#).count(), nodes, "{found}");
            assert_eq!(found.matches(r#""table":"Knows""#).count(), nodes - 1, "{found}");
        }
        assert_whole(&graph).await;
    }
}

/// Keeping an edge whose node is gone is no answer, and the one who asks for it is told.
#[tokio::test]
async fn a_resolution_cannot_keep_an_edge_without_its_node() {
    let graph = graph(SCHEMA).await;
    fork(&graph, (1..=3).map(|id| p(id, ""))).await;
    write(&graph, "f", Write::new().delete("P", ["3"])).await;
    put(&graph, "main", [edge("Knows", 1, 3)]).await;
    let both = vec![
        resolve("P", "3", None, side(MergeSide::Source)),
        resolve("Knows", "[1,3]", None, side(MergeSide::Target)),
    ];
    let error = merge_with(&graph, both, Vec::new()).await.unwrap_err();
    assert_eq!(conflicts(&error).1, ["dangling-edge: Knows [1,3] with P 3"]);
}

/// Each answer makes the next question: a code that both took; then the row that gives way was somebody's boss.
#[tokio::test]
async fn a_side_that_wins_is_followed_until_nothing_is_broken() {
    let graph = graph(SCHEMA).await;
    fork(&graph, [p(1, ""), p(2, "")]).await;
    put(&graph, "f", [p(10, r#""code":1"#), p(11, r#""code":2"#)]).await;
    put(&graph, "main", [p(20, r#""code":1"#), p(21, r#""code":2"#), edge("Knows", 20, 21), edge("Boss", 1, 20)]).await;
    let report = merge_with(&graph, Vec::new(), vec![strategy("source")]).await.unwrap();
    let found = export(&graph, "main").await;
    assert!(!found.contains("20") && !found.contains("21"), "{found}");
    assert_eq!(report.tables["P"].rows, Some(4));
    assert_whole(&graph).await;
    assert_eq!(merge(&graph, "f", "main").await.commit, None);
}

/// A table that was wholly one side's comes to be of both by what wins elsewhere: its rules are judged then too.
#[tokio::test]
async fn what_wins_in_one_table_is_followed_into_those_tied_to_it() {
    let schema = "CREATE NODE TABLE P (id INT64 PRIMARY KEY, email STRING, UNIQUE (email)); CREATE REL TABLE M (FROM P TO P, MULTI, w INT64);";
    let graph = graph(schema).await;
    let p = |id: i64, email: &str| format!(r#"{{"table":"P","data":{{"id":{id},"email":"{email}"}}}}"#);
    let m = |to: i64| format!(r#"{{"table":"M","from":1,"to":{to},"id":"01J0000000000000000000000A","data":{{}}}}"#);
    fork(&graph, [p(1, "a"), p(2, "b"), p(3, "x"), m(2)]).await;
    put(&graph, "f", [m(3)]).await;
    write(&graph, "main", Write::new().delete("P", ["3"]).insert_json(p(4, "x"))).await;
    let merged = merge_with(&graph, Vec::new(), vec![strategy("source")]).await;
    assert!(merged.is_ok(), "{merged:?}");
    assert_eq!(rows(&graph, "main", "\"x\"").await, [p(3, "x")]);
    assert_whole(&graph).await;
}

/// Both ends of an edge were deleted, and only one of them is in conflict: keeping that brings back the node and not the edge.
#[tokio::test]
async fn an_edge_does_not_come_back_without_both_its_nodes() {
    let graph = graph(SCHEMA).await;
    fork(&graph, [p(1, ""), p(2, ""), edge("Knows", 1, 2)]).await;
    put(&graph, "f", [p(1, r#""code":7"#)]).await;
    write(&graph, "main", Write::new().delete_detach("P", ["1"]).delete_detach("P", ["2"])).await;
    assert_eq!(refused(&graph).await, ["changed-and-deleted: P 1 with Knows [1,2]"]);
    merge_with(&graph, vec![resolve("P", "1", None, side(MergeSide::Source))], Vec::new()).await.unwrap();
    assert_eq!(export(&graph, "main").await, format!("{}\n", p(1, r#""code":7"#)));
    assert_whole(&graph).await;
}

/// Two pairs and a row that breaks two rules: all are told, in the same order each time, and in the plan as in the refusal.
#[tokio::test]
async fn every_pair_and_every_rule_is_told_once_and_in_order() {
    const SCHEMA: &str =
        "CREATE NODE TABLE T (id INT64 PRIMARY KEY, a INT64, b STRING, c INT64, low INT64, high INT64, code INT64,
      UNIQUE (a, b, c), UNIQUE (code), CHECK (low <= high));";
    let t = |id: i64, rest: &str| format!(r#"{{"table":"T","data":{{"id":{id},{rest}}}}}"#);
    let triple = |id: i64, a: i64| t(id, &format!(r#""a":{a},"b":"x","c":0"#));
    let graph = graph(SCHEMA).await;
    let wide = |low: i64, high: i64, code: i64| format!(r#""low":{low},"high":{high},"code":{code}"#);
    fork(&graph, [triple(1, 1), triple(2, 2), t(5, &wide(1, 9, 5)), t(6, r#""code":6"#)]).await;
    put(&graph, "f", [triple(11, 11), triple(12, 12), triple(13, 13), t(5, &wide(8, 9, 77))]).await;
    put(&graph, "main", [triple(21, 11), triple(22, 12), triple(23, 14), t(5, &wide(1, 2, 5)), t(6, r#""code":77"#)])
        .await;
    let found = refused(&graph).await;
    assert_eq!(found.len(), 4, "{found:?}");
    let told = |parts: &[&str]| found.iter().filter(|line| parts.iter().all(|part| line.contains(part))).count();
    for pair in [["T 11", "T 21"], ["T 12", "T 22"]] {
        assert_eq!(told(&["unique", "a, b, c", pair[0], pair[1]]), 1, "{found:?}");
    }
    assert_eq!(told(&["unique", "code", "T 5", "T 6"]), 1, "{found:?}");
    assert_eq!(told(&["check: T 5 low <= high"]), 1, "{found:?}");
    for _ in 0..3 {
        assert_eq!(refused(&graph).await, found);
        let plan = graph.plan_merge("f", "main", super::options()).await.unwrap();
        assert_eq!(plan.conflicts.iter().map(super::short).collect::<Vec<_>>(), found);
    }
    assert_whole(&graph).await;
}
