//! Rows of one table that both sides changed: what is agreed, what is merged property by property, and what is a conflict.

use kit::graphs::{assert_whole, by_kit, export, graph};
use pleach::{Graph, MergeOutcome, Write};

use super::{branch, conflicts, merge, put, rows, short, try_merge, write};

pub(super) const SCHEMA: &str = "
CREATE NODE TABLE P (
  id INT64 PRIMARY KEY, a STRING, b STRING,
  total INT8 MERGE sum, top INT64 MERGE max, low INT64 MERGE min, tags STRING[] MERGE union, last STRING MERGE last_writer
);
CREATE REL TABLE M (FROM P TO P, MULTI, w INT64);
";

/// A row of `P` with these properties besides its key.
pub(super) fn p(id: i64, rest: &str) -> String {
    let rest = if rest.is_empty() { String::new() } else { format!(",{rest}") };
    format!(r#"{{"table":"P","data":{{"id":{id}{rest}}}}}"#)
}

/// `main` and `f`, which both begin with `rows`.
pub(super) async fn fork(graph: &Graph, rows: impl IntoIterator<Item = String>) {
    put(graph, "main", rows).await;
    branch(graph, "f", "main").await;
}

#[tokio::test]
async fn changes_to_different_rows_come_together_and_nothing_is_copied() {
    let graph = graph(SCHEMA).await;
    fork(&graph, (1..=9).map(|id| p(id, r#""a":"old""#))).await;
    let changes = Write::new().upsert_json(p(1, r#""a":"theirs""#)).upsert_json(p(10, "")).delete("P", ["2"]);
    write(&graph, "f", changes).await;
    let changes = Write::new().upsert_json(p(3, r#""a":"ours""#)).upsert_json(p(11, "")).delete("P", ["4"]);
    write(&graph, "main", changes).await;
    let report = merge(&graph, "f", "main").await;
    assert_eq!(report.outcome, MergeOutcome::Merged);
    let table = report.tables["P"];
    assert_eq!((table.rows_before, table.rows, table.rewritten), (Some(9), Some(9), 0));
    assert!(table.adopted >= 1, "{table:?}");
    let counts = table.counts.unwrap();
    assert_eq!((counts.before, counts.added, counts.removed, counts.result), (9, 1, 1, 9));
    for side in [counts.source, counts.target] {
        assert_eq!((side.inserted, side.updated, side.removed), (1, 1, 1));
    }
    assert_eq!(rows(&graph, "main", "theirs").await, [p(1, r#""a":"theirs""#)]);
    assert_eq!(rows(&graph, "main", "ours").await, [p(3, r#""a":"ours""#)]);
    let ids: Vec<i64> = [1, 3, 5, 6, 7, 8, 9, 10, 11].into();
    let found = export(&graph, "main").await;
    assert_eq!(found.lines().count(), ids.len());
    assert!(ids.iter().all(|id| found.contains(&format!("\"id\":{id}"))), "{found}");
    assert_whole(&graph).await;
}

#[tokio::test]
async fn a_row_takes_from_each_side_what_it_alone_changed() {
    let graph = graph(SCHEMA).await;
    fork(&graph, [p(1, r#""a":"old","b":"old""#), p(2, "")]).await;
    put(&graph, "f", [p(1, r#""a":"theirs","b":"old""#)]).await;
    put(&graph, "main", [p(1, r#""a":"old","b":"ours""#)]).await;
    let report = merge(&graph, "f", "main").await;
    assert_eq!((report.tables["P"].rewritten, report.tables["P"].adopted), (1, 0));
    assert_eq!(rows(&graph, "main", "ours").await, [p(1, r#""a":"theirs","b":"ours""#)]);
    assert_whole(&graph).await;
}

#[tokio::test]
async fn what_both_did_alike_is_agreed() {
    let graph = graph(SCHEMA).await;
    fork(&graph, [p(1, r#""a":"old""#), p(2, "")]).await;
    for side in ["f", "main"] {
        let changes = Write::new().upsert_json(p(1, r#""a":"new""#)).delete("P", ["2"]).insert_json(p(3, r#""b":"x""#));
        write(&graph, side, changes).await;
    }
    let report = merge(&graph, "f", "main").await;
    assert!(report.tables.is_empty(), "{:?}", report.tables);
    assert_eq!(report.outcome, MergeOutcome::Merged, "and recorded, so that nobody looks at it again");
    assert_eq!(export(&graph, "main").await, format!("{}\n{}\n", p(1, r#""a":"new""#), p(3, r#""b":"x""#)));
}

#[tokio::test]
async fn conflicts_are_complete_in_order_and_tell_all_three_values() {
    let graph = graph(SCHEMA).await;
    fork(&graph, [p(1, r#""a":"old","b":"old""#), p(2, r#""a":"old""#), p(10, r#""a":"old""#)]).await;
    let theirs = Write::new().upsert_json(p(10, r#""a":"theirs""#)).delete("P", ["2"]);
    let theirs = theirs.upsert_json(p(1, r#""a":"theirs","b":"theirs""#)).insert_json(p(3, r#""a":"theirs""#));
    write(&graph, "f", theirs).await;
    let ours = Write::new().upsert_json(p(10, "")).upsert_json(p(2, r#""a":"ours""#));
    let ours = ours.upsert_json(p(1, r#""a":"ours","b":"ours""#)).insert_json(p(3, r#""b":"ours""#));
    let head = write(&graph, "main", ours).await;
    let before = export(&graph, "main").await;
    let error = try_merge(&graph, "f", "main").await.unwrap_err();
    let expected = [
        "both-changed: P 1 a",
        "both-changed: P 1 b",
        "changed-and-deleted: P 2",
        "both-added: P 3 a",
        "both-added: P 3 b",
        "both-changed: P 10 a",
    ];
    assert_eq!(conflicts(&error), ("merge-conflicts", expected.map(str::to_owned).to_vec()));
    let values = |at: usize| {
        let conflict = &error.conflicts()[at];
        [&conflict.base, &conflict.source, &conflict.target]
            .map(|value| value.clone().unwrap_or_else(|| "?".to_owned()))
    };
    assert_eq!(values(0), [r#""old""#, r#""theirs""#, r#""ours""#]);
    assert_eq!(values(2), [r#"{"a":"old"}"#, "null", r#"{"a":"ours"}"#]);
    assert_eq!(values(3), ["null", r#""theirs""#, "null"]);
    assert_eq!(values(5), [r#""old""#, r#""theirs""#, "null"]);
    assert!(error.hint().unwrap().contains("nothing was written"), "{:?}", error.hint());
    assert_eq!((export(&graph, "main").await, graph.show("main").await.unwrap().id), (before, head.id));
}

#[tokio::test]
async fn policies_settle_what_both_changed() {
    let graph = graph(SCHEMA).await;
    let base = r#""total":10,"top":5,"low":5,"tags":["x","y"],"last":"base""#;
    fork(&graph, [p(1, base), p(2, r#""total":100"#)]).await;
    put(&graph, "f", [p(1, r#""total":13,"top":9,"low":4,"tags":["y","s"],"last":"source""#)]).await;
    put(&graph, "main", [p(1, r#""total":20,"top":7,"low":1,"tags":["x","y","t"],"last":"target""#)]).await;
    merge(&graph, "f", "main").await;
    let found = rows(&graph, "main", r#""id":1,"#).await.remove(0);
    for part in [r#""total":23"#, r#""top":9"#, r#""low":1"#, r#""last":"target""#] {
        assert!(found.contains(part), "{found}");
    }
    let tags: Vec<&str> = ["y", "t", "s"].into_iter().filter(|tag| found.contains(&format!("\"{tag}\""))).collect();
    assert!(tags.len() == 3 && !found.contains("\"x\""), "{found}");
    // Both add the same: twice as much, though the rows are equal.
    branch(&graph, "g", "main").await;
    for side in ["g", "main"] {
        put(&graph, side, [p(2, r#""total":110"#)]).await;
    }
    merge(&graph, "g", "main").await;
    assert_eq!(rows(&graph, "main", r#""id":2,"#).await, [p(2, r#""total":120"#)]);
    // Together more than the type holds: never clipped.
    branch(&graph, "h", "main").await;
    for side in ["h", "main"] {
        put(&graph, side, [p(2, r#""total":124"#)]).await;
    }
    assert_eq!(conflicts(&try_merge(&graph, "h", "main").await.unwrap_err()).1, ["both-changed: P 2 total"]);
    assert_whole(&graph).await;
}

#[tokio::test]
async fn parallel_edges_of_both_sides_are_all_kept() {
    let graph = graph(SCHEMA).await;
    fork(&graph, [p(1, ""), p(2, "")]).await;
    for (side, w) in [("f", 1), ("main", 1), ("f", 2)] {
        put(&graph, side, [format!(r#"{{"table":"M","from":1,"to":2,"data":{{"w":{w}}}}}"#)]).await;
    }
    merge(&graph, "f", "main").await;
    assert_eq!(rows(&graph, "main", r#""w":1"#).await.len(), 2);
    assert_eq!(rows(&graph, "main", r#""w":2"#).await.len(), 1);
    merge(&graph, "main", "f").await;
    assert_eq!(export(&graph, "main").await, export(&graph, "f").await);
    assert_whole(&graph).await;
}

/// After a criss-cross each side has what the other had; what one of them sets back afterwards stays set back.
#[tokio::test]
async fn what_is_set_back_after_a_criss_cross_stays_so() {
    let graph = graph(SCHEMA).await;
    fork(&graph, [p(1, r#""a":"old""#), p(2, r#""a":"old""#), p(3, "")]).await;
    write(&graph, "f", Write::new().upsert_json(p(1, r#""a":"new""#)).delete("P", ["3"])).await;
    put(&graph, "main", [p(2, r#""a":"new""#)]).await;
    for (name, from) in [("was-f", "f"), ("was-main", "main")] {
        branch(&graph, name, from).await;
    }
    merge(&graph, "was-f", "main").await;
    merge(&graph, "was-main", "f").await;
    put(&graph, "main", [p(1, r#""a":"old""#), p(4, "")]).await;
    put(&graph, "f", [p(2, r#""b":"f","a":"new""#)]).await;
    let report = merge(&graph, "f", "main").await;
    assert_eq!(report.bases.len(), 2);
    let expected = [p(1, r#""a":"old""#), p(2, r#""a":"new","b":"f""#), p(4, "")];
    assert_eq!(export(&graph, "main").await.lines().collect::<Vec<_>>(), expected);
    assert_whole(&graph).await;
}

/// Whatever was deleted on the way stays deleted, however often both meet.
#[tokio::test]
async fn repeated_merges_neither_lose_nor_bring_back() {
    let graph = graph(SCHEMA).await;
    fork(&graph, (0..8).map(|id| p(id, r#""a":"0""#))).await;
    for round in 1..=6 {
        let value = format!(r#""a":"{round}""#);
        let theirs = Write::new().upsert_json(p(round, &value)).delete("P", [(round - 1).to_string()]);
        write(&graph, "f", theirs.insert_json(p(100 + round, &value))).await;
        put(&graph, "main", [p(200 + round, &value)]).await;
        let (source, into) = if round % 2 == 0 { ("main", "f") } else { ("f", "main") };
        merge(&graph, source, into).await;
        merge(&graph, into, source).await;
        let found = export(&graph, "main").await;
        assert_eq!(found, export(&graph, "f").await);
        assert!(!found.contains(&format!("\"id\":{},", round - 1)), "{found}");
        assert_eq!(found.lines().count(), usize::try_from(8 - round + 2 * round).unwrap());
    }
    assert_whole(&graph).await;
}

#[tokio::test]
async fn a_node_that_one_side_deleted_with_its_edges_is_one_conflict_with_what_the_other_did_to_them() {
    let graph = graph(SCHEMA).await;
    let edge = |id: char, w: i64| {
        format!(r#"{{"table":"M","from":1,"to":2,"id":"01J0000000000000000000000{id}","data":{{"w":{w}}}}}"#)
    };
    fork(&graph, [p(1, ""), p(2, ""), edge('A', 1), edge('B', 1), edge('C', 1)]).await;
    write(&graph, "f", Write::new().delete_detach("P", ["2"])).await;
    put(&graph, "main", [edge('A', 2), edge('D', 3)]).await;
    let error = try_merge(&graph, "f", "main").await.unwrap_err();
    assert_eq!(error.conflicts().len(), 1);
    let conflict = &error.conflicts()[0];
    let edges: String = conflict.with.iter().map(|row| row.key.chars().rev().nth(1).unwrap()).collect();
    assert_eq!((short(conflict).split(" with").next(), edges.as_str()), (Some("changed-and-deleted: P 2"), "ABCD"));
}

/// A value of a set is a row by its key, or an entry of a list that is merged as a set.
#[tokio::test]
async fn a_value_that_is_put_again_and_then_removed_is_gone() {
    let graph = graph(SCHEMA).await;
    fork(&graph, [p(1, r#""tags":["A","B"]"#), p(2, ""), p(3, "")]).await;
    let again = Write::new().upsert_json(p(2, ""));
    assert_eq!(graph.write("f", again, by_kit()).await.unwrap().commit, None, "it is there");
    write(&graph, "f", Write::new().delete("P", ["2"]).upsert_json(p(1, r#""tags":["B"]"#))).await;
    put(&graph, "main", [p(1, r#""a":"ours","tags":["A","B"]"#), p(3, r#""a":"ours""#)]).await;
    merge(&graph, "f", "main").await;
    let found = export(&graph, "main").await;
    assert_eq!(found.lines().collect::<Vec<_>>(), [p(1, r#""a":"ours","tags":["B"]"#), p(3, r#""a":"ours""#)]);
    assert_whole(&graph).await;
}

/// Deleted and made again, by one commit or by two: a change like any other.
#[tokio::test]
async fn a_row_that_was_deleted_and_made_again_is_a_changed_row() {
    for contested in [false, true] {
        let graph = graph(SCHEMA).await;
        fork(&graph, [p(1, r#""a":"old","b":"old""#), p(2, "")]).await;
        write(&graph, "f", Write::new().delete("P", ["1"])).await;
        write(&graph, "f", Write::new().insert_json(p(1, r#""a":"again""#))).await;
        let other = if contested { p(1, r#""a":"ours","b":"old""#) } else { p(3, r#""a":"ours""#) };
        put(&graph, "main", [other]).await;
        if contested {
            let found = conflicts(&try_merge(&graph, "f", "main").await.unwrap_err()).1;
            assert_eq!(found, ["both-changed: P 1 a"]);
        } else {
            merge(&graph, "f", "main").await;
            let found = export(&graph, "main").await;
            assert_eq!(found.lines().collect::<Vec<_>>(), [p(1, r#""a":"again""#), p(2, ""), p(3, r#""a":"ours""#)]);
        }
        assert_whole(&graph).await;
    }
}
