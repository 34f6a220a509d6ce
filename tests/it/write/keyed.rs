//! What one write does, and what it costs.

use kit::graphs::{assert_whole, by_kit, export, graph, write};
use pleach::{ChangeOptions, ErrorKind, TableCounts, Write};

const DDL: &str = "
    CREATE NODE TABLE Person (id INT64 PRIMARY KEY, name STRING);
    CREATE REL TABLE Knows (FROM Person TO Person, since INT64);
";

fn person(id: i64, name: &str) -> String {
    format!(r#"{{"table":"Person","data":{{"id":{id},"name":"{name}"}}}}"#)
}

fn knows(from: i64, to: i64) -> String {
    format!(r#"{{"table":"Knows","from":{from},"to":{to}}}"#)
}

#[tokio::test]
async fn rows_are_put_read_replaced_and_deleted() {
    let graph = graph(DDL).await;
    let first =
        write(&graph, Write::new().insert_json(person(1, "a")).insert_json(person(2, "b")).insert_json(knows(1, 2)))
            .await
            .unwrap();
    assert_eq!(first.tables["Person"], TableCounts { read: 2, inserted: 2, ..TableCounts::default() });
    assert_eq!(graph.get("main", "Person", &["1".into()]).await.unwrap(), Some(person(1, "a")));
    assert_eq!(
        graph.get("main", "Knows", &["1".into(), "2".into()]).await.unwrap().as_deref(),
        Some(r#"{"table":"Knows","from":1,"to":2,"data":{}}"#)
    );
    assert_eq!(graph.get("main", "Person", &["3".into()]).await.unwrap(), None);

    let second = write(&graph, Write::new().upsert_json(person(1, "x")).upsert_json(person(3, "c"))).await.unwrap();
    assert_eq!(second.tables["Person"], TableCounts { read: 2, inserted: 1, updated: 1, ..TableCounts::default() });
    assert_eq!(graph.get("main", "Person", &["1".into()]).await.unwrap(), Some(person(1, "x")));

    let third = write(&graph, Write::new().delete("Knows", ["1", "2"]).delete("Person", ["1"])).await.unwrap();
    assert_eq!(third.tables["Person"].removed, 1);
    assert_eq!(third.tables["Knows"].removed, 1);
    assert_eq!(export(&graph, "main").await, format!("{}\n{}\n", person(2, "b"), person(3, "c")));
    assert_whole(&graph).await;
}

#[tokio::test]
async fn an_upsert_that_says_nothing_new_publishes_nothing() {
    let graph = graph(DDL).await;
    let row = || Write::new().upsert_json(person(1, "a"));
    let first = write(&graph, row()).await.unwrap().commit.unwrap();
    let second = write(&graph, row()).await.unwrap();
    assert!(second.commit.is_none());
    assert_eq!(second.tables["Person"], TableCounts { read: 1, unchanged: 1, ..TableCounts::default() });
    assert_eq!(graph.branch("main").await.unwrap().head.id, first.id);
}

#[tokio::test]
async fn deleting_what_is_not_there_does_nothing() {
    let graph = graph(DDL).await;
    let report = write(&graph, Write::new().delete("Person", ["7"])).await.unwrap();
    assert!(report.commit.is_none() && report.tables.is_empty());
}

#[tokio::test]
async fn a_row_may_be_deleted_and_made_anew_in_one_write() {
    let graph = graph(DDL).await;
    write(&graph, Write::new().insert_json(person(1, "a")).insert_json(person(2, "b")).insert_json(knows(1, 2)))
        .await
        .unwrap();
    let report = write(&graph, Write::new().delete("Person", ["1"]).insert_json(person(1, "z"))).await.unwrap();
    assert_eq!(report.tables["Person"], TableCounts { read: 1, updated: 1, ..TableCounts::default() });
    assert!(export(&graph, "main").await.contains(r#""from":1,"to":2"#));
    assert_whole(&graph).await;
}

#[tokio::test]
async fn a_node_with_edges_goes_only_together_with_them() {
    let graph = graph(DDL).await;
    let rows = Write::new()
        .insert_json(person(1, "a"))
        .insert_json(person(2, "b"))
        .insert_json(person(3, "c"))
        .insert_json(knows(1, 2))
        .insert_json(knows(3, 1))
        .insert_json(knows(1, 1))
        .insert_json(knows(2, 3));
    write(&graph, rows).await.unwrap();
    let refused = write(&graph, Write::new().delete("Person", ["1"])).await.unwrap_err();
    assert_eq!((refused.kind(), refused.code()), (ErrorKind::Invalid, "input-refused"));
    let text = refused.to_string();
    assert!(text.contains("Knows.from") && text.contains("stored edge [1,2]"), "{text}");

    let report = write(&graph, Write::new().delete_detach("Person", ["1"])).await.unwrap();
    assert_eq!((report.tables["Person"].removed, report.tables["Knows"].removed), (1, 3));
    assert_eq!(
        export(&graph, "main").await,
        format!("{}\n{}\n{}\n", person(2, "b"), person(3, "c"), r#"{"table":"Knows","from":2,"to":3,"data":{}}"#)
    );
    assert_whole(&graph).await;
}

/// A graph with people 1, 2 and 3 and the edges 1 → 2, 2 → 3 and 3 → 1, as many as `extra` more from 1.
async fn triangle(extra: i64) -> pleach::Graph {
    let graph = graph(DDL).await;
    let people = [1, 2, 3].into_iter().chain(4..4 + extra);
    let write_people = people.fold(Write::new(), |write, id| write.insert_json(person(id, "x")));
    let edges = [(1, 2), (2, 3), (3, 1)].into_iter().chain((4..4 + extra).map(|to| (1, to)));
    write(&graph, edges.fold(write_people, |write, (from, to)| write.insert_json(knows(from, to)))).await.unwrap();
    graph
}

async fn edges(graph: &pleach::Graph) -> Vec<String> {
    export(graph, "main").await.lines().filter(|line| line.contains("Knows")).map(str::to_owned).collect()
}

fn told(from: i64, to: i64) -> String {
    format!(r#"{{"table":"Knows","from":{from},"to":{to},"data":{{}}}}"#)
}

#[tokio::test]
async fn an_edge_between_a_detached_and_a_deleted_node_is_in_nobodys_way() {
    // Digests order keys at random, and so does which end is looked at first: all pairs, in both orders.
    for (a, b, c) in [(1, 2, 3), (2, 3, 1), (3, 1, 2)] {
        let (a, b) = (a.to_string(), b.to_string());
        for (detached, deleted) in [(&a, &b), (&b, &a)] {
            for first in [true, false] {
                let graph = triangle(0).await;
                let detach = |write: Write| write.delete_detach("Person", [detached.clone()]);
                // The third node's edge to the deleted one has to go by itself.
                let delete = |write: Write| {
                    let key = if deleted == &b { [b.clone(), c.to_string()] } else { [c.to_string(), a.clone()] };
                    write.delete("Person", [deleted.clone()]).delete("Knows", key)
                };
                let both = if first { delete(detach(Write::new())) } else { detach(delete(Write::new())) };
                let report = write(&graph, both).await.unwrap();
                assert_eq!((report.tables["Person"].removed, report.tables["Knows"].removed), (2, 3));
                assert_eq!(export(&graph, "main").await, person(c, "x") + "\n");
                assert_whole(&graph).await;
            }
        }
    }
}

#[tokio::test]
async fn a_node_made_anew_after_it_was_detached_has_no_edges() {
    for extra in [0, 20] {
        for same in ["x", "y"] {
            let graph = triangle(extra).await;
            let anew = Write::new().delete_detach("Person", ["1"]).insert_json(person(1, same));
            let report = write(&graph, anew).await.unwrap();
            assert_eq!(report.tables["Knows"].removed, 2 + extra.unsigned_abs());
            assert_eq!(edges(&graph).await, [told(2, 3)]);
            assert!(graph.get("main", "Person", &["1".into()]).await.unwrap().is_some());
            assert_whole(&graph).await;
        }
    }
}

#[tokio::test]
async fn an_edge_put_after_its_node_was_detached_needs_the_node_again() {
    let since = r#"{"table":"Knows","from":1,"to":2,"data":{"since":5}}"#.to_owned();
    // As it is stored, with another value, and one that is not stored; from the start and from the end.
    for edge in [knows(1, 2), since, knows(1, 1), knows(3, 1), knows(2, 1)] {
        let graph = triangle(0).await;
        let before = export(&graph, "main").await;
        let detach = || Write::new().delete_detach("Person", ["1"]);
        let text = write(&graph, detach().upsert_json(edge.clone())).await.unwrap_err().to_string();
        assert!(text.contains("write:2: Knows."), "{text}");
        assert_eq!(export(&graph, "main").await, before);
        // It may be insertable as well, for there is none by then; and the node may come later.
        let again = detach().insert_json(edge.clone()).insert_json(person(1, "z"));
        let c = write(&graph, again).await.unwrap().tables["Knows"];
        assert_eq!((c.read, c.inserted + c.updated, c.removed), (1, 1, 1 + c.inserted), "{edge}");
        assert_eq!(edges(&graph).await.len(), 2, "{edge}");
        assert_whole(&graph).await;
    }
}

#[tokio::test]
async fn an_edge_put_before_its_node_is_detached_goes_with_it() {
    let graph = triangle(0).await;
    let puts = Write::new()
        .upsert_json(knows(1, 2))
        .upsert_json(r#"{"table":"Knows","from":3,"to":1,"data":{"since":5}}"#)
        .insert_json(knows(1, 1))
        .insert_json(knows(3, 2))
        .delete_detach("Person", ["1"]);
    let c = write(&graph, puts).await.unwrap().tables["Knows"];
    assert_eq!((c.read, c.inserted, c.updated, c.duplicates, c.removed), (4, 1, 0, 3, 2));
    assert_eq!(edges(&graph).await, [told(2, 3), told(3, 2)]);
    assert_whole(&graph).await;
}

#[tokio::test]
async fn a_detached_edge_of_many_goes_by_the_ends_it_has_then() {
    let ddl = "CREATE NODE TABLE N (id INT64 PRIMARY KEY); CREATE REL TABLE E (FROM N TO N, MULTI);";
    let edge = |from: i64, to: i64| {
        format!(r#"{{"table":"E","from":{from},"to":{to},"id":"01ARZ3NDEKTSV4RRFFQ69G5FAV","data":{{}}}}"#)
    };
    let nodes = (1..=4).fold(Write::new(), |w, id| w.insert_json(format!(r#"{{"table":"N","data":{{"id":{id}}}}}"#)));
    // Moved away before its former end is detached, it stays; moved there before, it goes.
    for (detached, left) in [("1", true), ("3", false)] {
        let graph = graph(ddl).await;
        write(&graph, nodes.clone().insert_json(edge(1, 2))).await.unwrap();
        let moved = Write::new().upsert_json(edge(3, 4)).delete_detach("N", [detached]);
        write(&graph, moved).await.unwrap();
        assert_eq!(export(&graph, "main").await.contains(&edge(3, 4)), left);
        assert_whole(&graph).await;
    }
}

#[tokio::test]
async fn writes_at_the_same_time_do_not_take_each_others_figures() {
    let graph = graph(DDL).await;
    write(&graph, Write::new().insert_json(person(0, "a"))).await.unwrap();
    let _ = graph.take_io();
    let writes = (1..9).map(|id| write(&graph, Write::new().insert_json(person(id, "a"))));
    let reports = futures::future::join_all(writes).await;
    let all = graph.take_io();
    for report in reports {
        let io = report.unwrap().io;
        // At least a data file, a manifest and a record, in rounds one after another.
        assert!(io.puts >= 3 && io.serial_depth >= 2, "{io:?}");
        assert!(io.requests() <= all.requests(), "{io:?} of {all:?}");
    }
}

#[tokio::test]
async fn a_refused_write_changes_nothing_and_names_the_operation() {
    let graph = graph(DDL).await;
    write(&graph, Write::new().insert_json(person(1, "a"))).await.unwrap();
    let before = graph.branch("main").await.unwrap().head.id;
    let bad = Write::new().insert_json(person(2, "b")).insert_json(person(1, "c")).insert_json(knows(2, 9));
    let text = write(&graph, bad).await.unwrap_err().to_string();
    assert!(text.contains("write:2: Person: a row with the key 1 exists"), "{text}");
    assert_eq!(graph.branch("main").await.unwrap().head.id, before);
    assert_eq!(export(&graph, "main").await, format!("{}\n", person(1, "a")));
}

#[tokio::test]
async fn the_same_request_takes_effect_once() {
    let graph = graph(DDL).await;
    let options = || ChangeOptions { request_id: Some("r1".into()), ..by_kit() };
    let first = graph.write("main", Write::new().insert_json(person(1, "a")), options()).await.unwrap();
    let second = graph.write("main", Write::new().insert_json(person(1, "a")), options()).await.unwrap();
    assert_eq!(first.commit.map(|c| c.id), second.commit.map(|c| c.id));
    assert_eq!(first.tables, second.tables);
    assert_eq!((first.repeated, second.repeated), (false, true));
    for other in [Write::new().insert_json(person(1, "b")), Write::new().upsert_json(person(1, "a")), Write::new()] {
        let error = graph.write("main", other, options()).await.unwrap_err();
        assert_eq!(error.code(), "request-id-reused", "{error}");
    }
    assert_whole(&graph).await;
}

#[tokio::test]
async fn parallel_edges_keep_their_ids_and_are_deleted_by_them() {
    let graph =
        graph("CREATE NODE TABLE N (id INT64 PRIMARY KEY); CREATE REL TABLE E (FROM N TO N, w INT64, MULTI);").await;
    let edge = r#"{"table":"E","from":1,"to":1,"data":{"w":5}}"#;
    let node = r#"{"table":"N","data":{"id":1}}"#;
    write(&graph, Write::new().insert_json(node).insert_json(edge).insert_json(edge)).await.unwrap();
    let lines = export(&graph, "main").await;
    let ids: Vec<String> = lines
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap().get("id").map(ToString::to_string))
        .collect();
    assert_eq!(ids.len(), 2);
    assert_ne!(ids[0], ids[1]);
    // By its id alone, and with its ends.
    assert!(graph.get("main", "E", &[ids[0].clone()]).await.unwrap().is_some());
    assert!(graph.get("main", "E", &["1".into(), "1".into(), ids[1].clone()]).await.unwrap().is_some());
    assert!(graph.get("main", "E", &["1".into(), "2".into(), ids[1].clone()]).await.unwrap().is_none());
    let report = write(&graph, Write::new().delete("E", [ids[0].clone()])).await.unwrap();
    assert_eq!(report.tables["E"].removed, 1);
    assert!(graph.get("main", "E", &[ids[0].clone()]).await.unwrap().is_none());
    assert_whole(&graph).await;
}
