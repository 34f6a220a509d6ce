//! Edges and nodes that come from different sides: an edge keeps its nodes, or the merge is refused.

use kit::graphs::{assert_whole, export, graph, load_into};
use pleach::{ErrorKind, Graph, LoadMode, MergeOutcome, Write};

use super::{SCHEMA, branch, city, conflicts, knows, lives, merge, person, prepare, put, rows, try_merge, write};

/// Merges what `nodes` does to nodes and what `edges` does to edges, each on a side of its own, in both directions; the outcome must not
/// depend on which side is the target.
async fn both_ways(nodes: Write, edges: Write, expected: &[&str]) {
    let mut results = Vec::new();
    for nodes_are_merged in [true, false] {
        let graph = graph(SCHEMA).await;
        prepare(&graph).await;
        branch(&graph, "f", "main").await;
        let (on_f, on_main) = if nodes_are_merged { (&nodes, &edges) } else { (&edges, &nodes) };
        write(&graph, "f", on_f.clone()).await;
        let head = write(&graph, "main", on_main.clone()).await;
        match try_merge(&graph, "f", "main").await {
            Ok(report) => {
                assert_eq!((report.outcome, expected.len()), (MergeOutcome::Merged, 0));
                results.push(export(&graph, "main").await);
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Conflict);
                assert_eq!(conflicts(&error), ("merge-conflicts", expected.iter().map(ToString::to_string).collect()));
                assert_eq!(graph.show("main").await.unwrap().id, head.id, "nothing is written");
            }
        }
        assert_whole(&graph).await;
    }
    assert!(results.iter().all(|result| *result == results[0]));
}

#[tokio::test]
async fn an_edge_to_a_node_that_the_other_side_deleted_is_a_conflict() {
    let gone = || Write::new().delete("Person", ["3"]);
    both_ways(gone(), Write::new().insert_json(knows(1, 3)), &["dangling-edge: Person 3 with Knows [1,3]"]).await;
    both_ways(gone(), Write::new().insert_json(knows(3, 1)), &["dangling-edge: Person 3 with Knows [3,1]"]).await;
    both_ways(gone(), Write::new().insert_json(knows(3, 3)), &["dangling-edge: Person 3 with Knows [3,3]"]).await;
    let edges = Write::new().insert_json(lives(3, 2)).insert_json(knows(2, 3)).insert_json(knows(2, 1));
    both_ways(gone(), edges, &["dangling-edge: Person 3 with Knows [2,3], Lives [3,2]"]).await;
}

#[tokio::test]
async fn edges_whose_nodes_are_there_are_merged_whatever_else_happened_to_nodes() {
    let edges = || Write::new().insert_json(knows(2, 1)).delete("Knows", ["1", "2"]);
    for nodes in [
        Write::new().upsert_json(person(1, "renamed")),
        Write::new().insert_json(person(4, "new")),
        Write::new().delete("Person", ["3"]),
        Write::new().delete("Person", ["3"]).upsert_json(person(2, "renamed")).insert_json(person(5, "new")),
        Write::new().delete("City", ["2"]).delete("City", ["3"]),
    ] {
        both_ways(nodes, edges(), &[]).await;
    }
}

#[tokio::test]
async fn a_node_that_went_and_came_back_has_its_edges() {
    let graph = graph(SCHEMA).await;
    prepare(&graph).await;
    branch(&graph, "f", "main").await;
    write(&graph, "f", Write::new().delete("Person", ["3"])).await;
    put(&graph, "f", [person(3, "again")]).await;
    put(&graph, "main", [knows(1, 3)]).await;
    merge(&graph, "f", "main").await;
    assert_eq!(rows(&graph, "main", "again").await, [person(3, "again")]);
    assert_whole(&graph).await;
}

/// An edge of before is not looked at again, however many there are: the side that deleted its node deleted it as well.
#[tokio::test]
async fn edges_that_only_one_side_deleted_with_their_node_are_gone() {
    let graph = graph(SCHEMA).await;
    prepare(&graph).await;
    branch(&graph, "f", "main").await;
    write(&graph, "f", Write::new().delete_detach("Person", ["2"])).await;
    put(&graph, "main", [city(7, "ours")]).await;
    merge(&graph, "f", "main").await;
    assert!(rows(&graph, "main", "Knows").await.is_empty());
    assert_whole(&graph).await;
}

async fn load(graph: &Graph, branch: &str, lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = lines.collect();
    load_into(graph, branch, LoadMode::Append, &lines.join("\n")).await.unwrap();
}

/// More nodes than are read at once, with few edges and with many.
#[tokio::test(flavor = "multi_thread")]
async fn large_tables_are_judged_as_small_ones_are() {
    const NODES: i64 = 100_100;
    let graph = graph(SCHEMA).await;
    load(&graph, "main", (0..NODES).map(|id| person(id, "x"))).await;
    for (name, edges) in [("few", 3), ("many", 2_500)] {
        let (source, target) = (format!("nodes-{name}"), format!("edges-{name}"));
        for branch_name in [&source, &target] {
            branch(&graph, branch_name, "main").await;
        }
        write(&graph, &source, Write::new().delete("Person", ["50000"]).delete("Person", ["100050"])).await;
        load(&graph, &target, (0..edges).map(|n| knows(n, 70_000 + n))).await;
        put(&graph, &target, [knows(1, 50_000), knows(100_050, 2)]).await;
        let error = try_merge(&graph, &source, &target).await.unwrap_err();
        let nodes = [50_000, 100_050].map(|id| format!("dangling-edge: Person {id} with Knows"));
        let expected = [format!("{} [1,50000]", nodes[0]), format!("{} [100050,2]", nodes[1])];
        assert_eq!(conflicts(&error).1, expected);
        write(&graph, &target, Write::new().delete("Knows", ["1", "50000"]).delete("Knows", ["100050", "2"])).await;
        let report = merge(&graph, &source, &target).await;
        assert_eq!(report.tables["Person"].rows, Some(u64::try_from(NODES - 2).unwrap()));
    }
    let report = graph.fsck(&[]).await.unwrap();
    assert!(report.problems.is_empty(), "{:#?}", report.problems);
}
