//! Nodes that one side deleted while the other put edges at them, where the tables of the edges declare what a merge makes of that.

use kit::graphs::{assert_whole, export, graph};
use pleach::{Graph, MergeOptions, MergeReport, MergeSide, Resolution, Strategy, Write};

use super::resolving::{merge_with, resolve, side, strategy};
use super::rows::fork;
use super::{conflicts, merge, options, put, rows, try_merge, write};

const SCHEMA: &str = "
CREATE NODE TABLE P (id INT64 PRIMARY KEY, name STRING);
CREATE REL TABLE Goes (FROM P TO P, w INT64, ON MERGE CASCADE);
CREATE REL TABLE Holds (FROM P TO P, w INT64, ON MERGE KEEP);
CREATE REL TABLE Plain (FROM P TO P, w INT64);
";

fn p(id: i64) -> String {
    format!(r#"{{"table":"P","data":{{"id":{id}}}}}"#)
}

fn edge(table: &str, from: i64, to: i64) -> String {
    format!(r#"{{"table":"{table}","from":{from},"to":{to},"data":{{}}}}"#)
}

fn weighed(table: &str, from: i64, to: i64, w: i64) -> String {
    format!(r#"{{"table":"{table}","from":{from},"to":{to},"data":{{"w":{w}}}}}"#)
}

/// Who deletes, who puts, and these as sides of the merge of `f` into `main`; then the other way round.
const DIRECTIONS: [(&str, &str, MergeSide, MergeSide); 2] =
    [("f", "main", MergeSide::Source, MergeSide::Target), ("main", "f", MergeSide::Target, MergeSide::Source)];

/// Five nodes and these edges on both branches; then `deleter` deletes the node 3, `other` puts `theirs`.
async fn prepare(
    (deleter, other): (&str, &str),
    edges: impl IntoIterator<Item = String>,
    theirs: impl IntoIterator<Item = String>,
) -> Graph {
    let graph = graph(SCHEMA).await;
    fork(&graph, (1..=5).map(p).chain(edges)).await;
    write(&graph, deleter, Write::new().delete_detach("P", ["3"])).await;
    put(&graph, other, theirs).await;
    graph
}

async fn nodes(graph: &Graph) -> usize {
    rows(graph, "main", r#""table":"P""#).await.len()
}

/// The edges of `main`, in the order of tables and ends.
async fn edges(graph: &Graph) -> Vec<String> {
    let mut edges = rows(graph, "main", r#""from":"#).await;
    edges.sort();
    edges
}

async fn refused(graph: &Graph, resolutions: Vec<Resolution>, strategies: Vec<Strategy>) -> Vec<String> {
    let before = export(graph, "main").await;
    let error = merge_with(graph, resolutions, strategies).await.unwrap_err();
    assert_eq!(export(graph, "main").await, before, "nothing is written");
    conflicts(&error).1
}

/// The merge has nothing left to bring, and the graph is whole.
async fn settled(graph: &Graph) {
    assert_eq!(merge(graph, "f", "main").await.commit, None);
    assert_whole(graph).await;
}

/// Rows added, removed and left of a table.
fn counts(report: &MergeReport, table: &str) -> (u64, u64, u64) {
    let counts = report.tables[table].counts.unwrap();
    (counts.added, counts.removed, counts.result)
}

#[tokio::test]
async fn edges_that_cascade_go_with_the_node_and_are_counted() {
    for (deleter, other, by, _) in DIRECTIONS {
        let theirs = [edge("Goes", 1, 2), edge("Goes", 1, 3), edge("Goes", 3, 3)];
        let graph = prepare((deleter, other), [edge("Goes", 3, 4)], theirs).await;
        let plan = graph.plan_merge("f", "main", options()).await.unwrap();
        assert!(plan.conflicts.is_empty(), "{:?}", plan.conflicts);
        let report = merge(&graph, "f", "main").await;
        assert_eq!(edges(&graph).await, [edge("Goes", 1, 2)]);
        assert_eq!(nodes(&graph).await, 4);
        // What the target has put and the source's deletion takes is removed; what the source has put is not added.
        let expected = if by == MergeSide::Source { (0, 3, 1) } else { (1, 0, 1) };
        assert_eq!(counts(&report, "Goes"), expected, "{deleter} deletes");
        let planned = plan.tables["Goes"].counts.unwrap();
        assert_eq!((planned.added, planned.removed, planned.result), expected, "{deleter} deletes");
        settled(&graph).await;
    }
}

#[tokio::test]
async fn a_node_with_an_edge_that_keeps_it_stays_with_all_its_edges() {
    for (deleter, other, by, _) in DIRECTIONS {
        let before = [edge("Goes", 3, 4), edge("Plain", 2, 3), edge("Plain", 3, 5)];
        let graph = prepare((deleter, other), before, [edge("Holds", 1, 3)]).await;
        // Nobody put an edge at that one: it goes, and its edge to the node that stays goes with it.
        write(&graph, deleter, Write::new().delete_detach("P", ["5"])).await;
        let report = merge(&graph, "f", "main").await;
        assert_eq!(edges(&graph).await, [edge("Goes", 3, 4), edge("Holds", 1, 3), edge("Plain", 2, 3)]);
        let mut found = rows(&graph, "main", r#""table":"P""#).await;
        found.sort();
        assert_eq!(found, (1..=4).map(p).collect::<Vec<_>>());
        let expected = if by == MergeSide::Source { (0, 1, 4) } else { (1, 0, 4) };
        assert_eq!(counts(&report, "P"), expected, "{deleter} deletes");
        settled(&graph).await;
    }
}

#[tokio::test]
async fn keeping_goes_before_letting_go_and_a_table_that_says_nothing_asks_people() {
    for (deleter, other, ..) in DIRECTIONS {
        let graph = prepare((deleter, other), [], [edge("Goes", 1, 3), edge("Holds", 2, 3)]).await;
        merge(&graph, "f", "main").await;
        assert_eq!(edges(&graph).await, [edge("Goes", 1, 3), edge("Holds", 2, 3)]);
        assert_eq!(nodes(&graph).await, 5);
        settled(&graph).await;
        for declared in ["Goes", "Holds"] {
            let graph = prepare((deleter, other), [], [edge(declared, 1, 3), edge("Plain", 1, 3)]).await;
            let expected = format!("dangling-edge: P 3 with {declared} [1,3], Plain [1,3]");
            assert_eq!(refused(&graph, Vec::new(), Vec::new()).await, [expected]);
            assert_whole(&graph).await;
        }
    }
}

#[tokio::test]
async fn a_node_that_the_other_side_changed_is_a_conflict_whatever_its_edges_declare() {
    for (deleter, other, ..) in DIRECTIONS {
        for declared in ["Goes", "Holds"] {
            let named = r#"{"table":"P","data":{"id":3,"name":"new"}}"#.to_owned();
            let graph = prepare((deleter, other), [], [named, edge(declared, 1, 3)]).await;
            let expected = format!("changed-and-deleted: P 3 with {declared} [1,3]");
            assert_eq!(refused(&graph, Vec::new(), Vec::new()).await, [expected]);
        }
    }
}

#[tokio::test]
async fn an_edge_that_was_deleted_with_its_node_and_changed_goes_or_keeps_it() {
    for (deleter, other, ..) in DIRECTIONS {
        for (declared, stays) in [("Goes", false), ("Holds", true)] {
            let old = [edge(declared, 1, 3), edge("Plain", 3, 4)];
            let graph = prepare((deleter, other), old, [weighed(declared, 1, 3, 7)]).await;
            merge(&graph, "f", "main").await;
            let kept = [weighed(declared, 1, 3, 7), edge("Plain", 3, 4)];
            assert_eq!(edges(&graph).await, if stays { kept.to_vec() } else { Vec::new() });
            assert_eq!(nodes(&graph).await, if stays { 5 } else { 4 });
            settled(&graph).await;
        }
        let graph = prepare((deleter, other), [edge("Plain", 1, 3)], [weighed("Plain", 1, 3, 7)]).await;
        assert_eq!(refused(&graph, Vec::new(), Vec::new()).await, ["changed-and-deleted: P 3 with Plain [1,3]"]);
    }
}

#[tokio::test]
async fn an_edge_between_two_deleted_nodes_keeps_both_or_is_part_of_the_conflict_of_one() {
    for (deleter, other, ..) in DIRECTIONS {
        let graph = prepare((deleter, other), [], [edge("Holds", 3, 4)]).await;
        write(&graph, deleter, Write::new().delete("P", ["4"])).await;
        merge(&graph, "f", "main").await;
        assert_eq!((edges(&graph).await, nodes(&graph).await), (vec![edge("Holds", 3, 4)], 5));
        settled(&graph).await;

        let named = r#"{"table":"P","data":{"id":4,"name":"new"}}"#.to_owned();
        let graph = prepare((deleter, other), [], [edge("Holds", 3, 4), named]).await;
        write(&graph, deleter, Write::new().delete("P", ["4"])).await;
        assert_eq!(refused(&graph, Vec::new(), Vec::new()).await, ["changed-and-deleted: P 4 with Holds [3,4]"]);
    }
}

/// What the caller asks for comes first; where that is otherwise than declared but leaves the node open, people are asked.
#[tokio::test]
async fn resolutions_and_strategies_go_before_declarations() {
    let word = |side| if side == MergeSide::Source { "source" } else { "target" };
    for (deleter, other, loses, keeps) in DIRECTIONS {
        // A table, an answer, and the nodes and edges that come of it; none: it stays a conflict.
        let of_node = |choice| vec![resolve("P", "3", None, side(choice))];
        let of_edge = |table, choice| vec![resolve(table, "[1,3]", None, side(choice))];
        let by = |table: &str, side| vec![strategy(&format!("{table}={}", word(side)))];
        for (declared, resolutions, strategies, expected) in [
            ("Goes", of_node(keeps), vec![], Some((5, 1))),
            ("Goes", vec![], by("P", keeps), Some((5, 1))),
            ("Goes", vec![], vec![strategy(word(keeps))], Some((5, 1))),
            ("Goes", vec![], by("Goes", keeps), None),
            ("Goes", of_edge("Goes", keeps), vec![], None),
            ("Goes", vec![], by("Goes", loses), Some((4, 0))),
            ("Goes", of_edge("Goes", loses), vec![], Some((4, 0))),
            ("Holds", of_node(loses), vec![], Some((4, 0))),
            ("Holds", vec![], by("P", loses), Some((4, 0))),
            ("Holds", vec![], vec![strategy(word(loses))], Some((4, 0))),
            ("Holds", vec![], by("Holds", loses), None),
            ("Holds", of_edge("Holds", loses), vec![], Some((4, 0))),
            ("Holds", vec![], by("Holds", keeps), Some((5, 1))),
            ("Holds", of_edge("Holds", keeps), vec![], Some((5, 1))),
        ] {
            let graph = prepare((deleter, other), [], [edge(declared, 1, 3)]).await;
            let asked = format!("{deleter} deletes, {declared}: {resolutions:?} {strategies:?}");
            let Some(expected) = expected else {
                let found = refused(&graph, resolutions, strategies).await;
                assert_eq!(found, [format!("dangling-edge: P 3 with {declared} [1,3]")], "{asked}");
                continue;
            };
            merge_with(&graph, resolutions, strategies).await.unwrap_or_else(|error| panic!("{asked}: {error}"));
            assert_eq!((nodes(&graph).await, edges(&graph).await.len()), expected, "{asked}");
            assert_whole(&graph).await;
        }
        // A value for an edge that is kept holds.
        let graph = prepare((deleter, other), [], [edge("Holds", 1, 3)]).await;
        let value = pleach::Choice::Value("9".to_owned());
        merge_with(&graph, vec![resolve("Holds", "[1,3]", Some("w"), value)], Vec::new()).await.unwrap();
        assert_eq!(edges(&graph).await, [weighed("Holds", 1, 3, 9)]);
        assert_whole(&graph).await;
    }
}

/// A node that is kept may be one too many by another rule: that is told, as ever.
#[tokio::test]
async fn what_is_kept_is_judged_by_the_rules_of_the_schema() {
    let schema = "CREATE NODE TABLE P (id INT64 PRIMARY KEY, code INT64 UNIQUE);
                  CREATE REL TABLE Holds (FROM P TO P, ON MERGE KEEP);";
    for (deleter, other, ..) in DIRECTIONS {
        let graph = graph(schema).await;
        let coded = |id: i64| format!(r#"{{"table":"P","data":{{"id":{id},"code":7}}}}"#);
        fork(&graph, [p(1), coded(3)]).await;
        write(&graph, deleter, Write::new().delete("P", ["3"]).insert_json(coded(4))).await;
        put(&graph, other, [edge("Holds", 1, 3)]).await;
        let error = try_merge(&graph, "f", "main").await.unwrap_err();
        let found = conflicts(&error).1;
        assert!(found == ["unique: P 3 code with P 4"] || found == ["unique: P 4 code with P 3"], "{found:?}");
        let given =
            vec![resolve("P", "4", None, side(if deleter == "f" { MergeSide::Target } else { MergeSide::Source }))];
        let options = MergeOptions { resolutions: given, ..options() };
        graph.merge("f", "main", options).await.unwrap();
        assert_eq!(edges(&graph).await, [edge("Holds", 1, 3)]);
        assert_whole(&graph).await;
    }
}
