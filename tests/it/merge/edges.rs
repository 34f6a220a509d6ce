//! Edges that both sides made, and what traversals, counts and exports say of them afterwards: all the same.

use kit::graphs::{assert_whole, by_kit, graph};
use pleach::{Graph, Params, Write};

use super::{branch, merge, put, rows, write};

const SCHEMA: &str = "
CREATE NODE TABLE U (id INT64 PRIMARY KEY);
CREATE REL TABLE Keyed (FROM U TO U);
CREATE REL TABLE Multi (FROM U TO U, MULTI);
";

fn edge(table: &str, to: i64) -> String {
    format!(r#"{{"table":"{table}","from":1,"to":{to},"data":{{}}}}"#)
}

/// Nodes 1 to 4 on `main`.
async fn nodes() -> Graph {
    let graph = graph(SCHEMA).await;
    put(&graph, "main", (1..=4).map(|id| format!(r#"{{"table":"U","data":{{"id":{id}}}}}"#))).await;
    graph
}

/// The ends of node 1's edges, and how many of them there are by a traversal, by a count, by the record and in the export.
async fn seen(graph: &Graph, table: &str) -> (Vec<String>, [u64; 4]) {
    let column = async |text: String| -> Vec<String> {
        let found = graph.query("main", &text, Params::new()).await.unwrap().collect_rows().await.unwrap();
        found.iter().map(|row| row[0].to_json()).collect()
    };
    let ends = column(format!("MATCH (:U {{id: 1}})-[:{table}]->(n) RETURN n.id ORDER BY n.id")).await;
    let count = column(format!("MATCH ()-[e:{table}]->() RETURN count(e)")).await[0].parse().unwrap();
    let told = graph.show("main").await.unwrap().rows.get(table).copied().unwrap_or(0);
    let exported = rows(graph, "main", &format!("\"table\":\"{table}\"")).await.len() as u64;
    let traversed = ends.len() as u64;
    (ends, [traversed, count, told, exported])
}

#[tokio::test]
async fn an_edge_that_both_sides_made_is_one_by_its_ends_and_two_by_its_ids() {
    for (table, expected) in [("Keyed", 1), ("Multi", 2)] {
        let graph = nodes().await;
        branch(&graph, "f", "main").await;
        for side in ["f", "main"] {
            put(&graph, side, [edge(table, 2)]).await;
        }
        merge(&graph, "f", "main").await;
        assert_eq!(seen(&graph, table).await.1, [expected; 4], "{table}");
        assert_whole(&graph).await;
    }
}

/// By its ends, an edge that is made again is the edge that is there; by ids it is another one.
#[tokio::test]
async fn an_edge_that_is_made_again_here_and_deleted_there_comes_to_the_same_in_either_order() {
    const ID: &str = "01J0000000000000000000000A";
    for (table, expected) in [("Keyed", 0), ("Multi", 1)] {
        for order in [["a", "b"], ["b", "a"]] {
            let graph = nodes().await;
            let first = if table == "Multi" {
                format!(r#"{{"table":"Multi","from":1,"to":2,"id":"{ID}","data":{{}}}}"#)
            } else {
                edge(table, 2)
            };
            put(&graph, "main", [first]).await;
            branch(&graph, "a", "main").await;
            branch(&graph, "b", "main").await;
            let again = Write::new().upsert_json(edge(table, 2));
            let commit = graph.write("a", again, by_kit()).await.unwrap().commit;
            assert_eq!(commit.is_some(), table == "Multi");
            let key = if table == "Multi" { vec![format!("\"{ID}\"")] } else { vec!["1".to_owned(), "2".to_owned()] };
            write(&graph, "b", Write::new().delete(table, key)).await;
            for source in order {
                merge(&graph, source, "main").await;
            }
            assert_eq!(seen(&graph, table).await.1, [expected; 4], "{table}, {order:?}");
            assert_whole(&graph).await;
        }
    }
}

#[tokio::test]
async fn a_node_has_the_edges_that_it_had_and_those_of_both_sides() {
    for table in ["Keyed", "Multi"] {
        let graph = nodes().await;
        put(&graph, "main", [edge(table, 2)]).await;
        branch(&graph, "f", "main").await;
        put(&graph, "f", [edge(table, 3)]).await;
        put(&graph, "main", [edge(table, 4)]).await;
        merge(&graph, "f", "main").await;
        let (ends, counts) = seen(&graph, table).await;
        assert_eq!((ends, counts), (["2", "3", "4"].map(str::to_owned).to_vec(), [3; 4]), "{table}");
        assert_whole(&graph).await;
    }
}
