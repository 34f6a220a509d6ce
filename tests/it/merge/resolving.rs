//! Resolutions and strategies: what they settle, and what they are refused for.

use kit::graphs::{by_kit, export, graph};
use pleach::{Choice, Error, ErrorKind, Graph, MergeOptions, MergeReport, MergeSide, Resolution, Strategy, Write};

use super::rows::{SCHEMA, fork, p};
use super::{branch, conflicts, put, rows, write};

pub(super) fn side(side: MergeSide) -> Choice {
    Choice::Side(side)
}

fn value(json: &str) -> Choice {
    Choice::Value(json.to_owned())
}

pub(super) fn resolve(table: &str, key: &str, property: Option<&str>, choice: Choice) -> Resolution {
    Resolution { table: table.to_owned(), key: Some(key.to_owned()), property: property.map(str::to_owned), choice }
}

/// `source`, `Table=target` or `Table.property=source`.
pub(super) fn strategy(text: &str) -> Strategy {
    let (place, side) = text.rsplit_once('=').map_or((None, text), |(place, side)| (Some(place), side));
    let side = if side == "source" { MergeSide::Source } else { MergeSide::Target };
    let (table, property) = match place.map(|place| place.split_once('.').ok_or(place)) {
        None => (None, None),
        Some(Ok((table, property))) => (Some(table.to_owned()), Some(property.to_owned())),
        Some(Err(table)) => (Some(table.to_owned()), None),
    };
    Strategy { table, property, side }
}

/// Merges `f` into `main`.
pub(super) async fn merge_with(
    graph: &Graph,
    resolutions: Vec<Resolution>,
    strategies: Vec<Strategy>,
) -> Result<MergeReport, Error> {
    let options = MergeOptions { change: by_kit(), resolutions, strategies, ..MergeOptions::default() };
    graph.merge("f", "main", options).await
}

/// Row 1 with two conflicts, row 2 changed by the target and deleted by the source, row 3 added by both.
async fn prepare(graph: &Graph) {
    fork(graph, [p(1, r#""a":"old","b":"old""#), p(2, r#""a":"old""#), p(9, "")]).await;
    let theirs = Write::new().upsert_json(p(1, r#""a":"theirs","b":"theirs""#)).delete("P", ["2"]);
    write(graph, "f", theirs.insert_json(p(3, r#""a":"theirs""#))).await;
    let ours = Write::new().upsert_json(p(1, r#""a":"ours","b":"ours""#)).upsert_json(p(2, r#""a":"ours""#));
    write(graph, "main", ours.insert_json(p(3, r#""a":"ours""#)).upsert_json(p(9, r#""a":"ours""#))).await;
}

#[tokio::test]
async fn each_conflict_takes_the_resolution_that_is_given_for_it() {
    let graph = graph(SCHEMA).await;
    prepare(&graph).await;
    let given = vec![
        resolve("P", "1", Some("a"), side(MergeSide::Source)),
        resolve("P", "1", Some("b"), value(r#""both""#)),
        resolve("P", "[2]", None, side(MergeSide::Source)),
        resolve("P", "3", None, side(MergeSide::Target)),
    ];
    for missing in 0..given.len() {
        let mut some = given.clone();
        some.remove(missing);
        let left = conflicts(&merge_with(&graph, some, Vec::new()).await.unwrap_err()).1;
        let expected =
            ["both-changed: P 1 a", "both-changed: P 1 b", "changed-and-deleted: P 2", "both-added: P 3 a"][missing];
        assert_eq!(left, [expected]);
    }
    let report = merge_with(&graph, given, Vec::new()).await.unwrap();
    assert_eq!(report.tables["P"].rewritten, 1);
    let expected = [p(1, r#""a":"theirs","b":"both""#), p(3, r#""a":"ours""#), p(9, r#""a":"ours""#)];
    assert_eq!(export(&graph, "main").await.lines().collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn a_row_as_a_whole_may_be_what_a_side_has_where_it_is_in_conflict() {
    let graph = graph(SCHEMA).await;
    prepare(&graph).await;
    let mut given = vec![
        resolve("P", "1", None, side(MergeSide::Source)),
        resolve("P", "2", None, side(MergeSide::Target)),
        resolve("P", "3", None, side(MergeSide::Source)),
        resolve("P", "9", None, side(MergeSide::Source)),
    ];
    let error = merge_with(&graph, given.clone(), Vec::new()).await.unwrap_err();
    assert!(
        error.to_string().starts_with("resolution 4: "),
        "nothing of that row is open, and nothing is undone: {error}"
    );
    given.pop();
    merge_with(&graph, given, Vec::new()).await.unwrap();
    let expected =
        [p(1, r#""a":"theirs","b":"theirs""#), p(2, r#""a":"ours""#), p(3, r#""a":"theirs""#), p(9, r#""a":"ours""#)];
    assert_eq!(export(&graph, "main").await.lines().collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn strategies_win_by_the_narrowest_rule_and_after_resolutions() {
    for (strategies, first) in [
        (&["source"][..], r#""a":"theirs","b":"theirs""#),
        (&["target"], r#""a":"ours","b":"ours""#),
        (&["target", "P=source"], r#""a":"theirs","b":"theirs""#),
        (&["target", "P=source", "P.b=target"], r#""a":"theirs","b":"ours""#),
        (&["P.b=target", "P=source", "target"], r#""a":"theirs","b":"ours""#),
    ] {
        let graph = graph(SCHEMA).await;
        prepare(&graph).await;
        let strategies: Vec<Strategy> = strategies.iter().map(|text| strategy(text)).collect();
        let wins = strategies
            .iter()
            .rev()
            .find(|strategy| strategy.table.as_deref() == Some("P") && strategy.property.is_none());
        let wins = wins.or(strategies.iter().find(|strategy| strategy.table.is_none())).unwrap().side;
        let resolved = resolve("P", "3", Some("a"), value(r#""asked""#));
        merge_with(&graph, vec![resolved], strategies).await.unwrap();
        assert_eq!(rows(&graph, "main", r#""id":1,"#).await, [p(1, first)]);
        assert_eq!(rows(&graph, "main", r#""id":2,"#).await.len(), usize::from(wins == MergeSide::Target));
        assert_eq!(rows(&graph, "main", "asked").await.len(), 1);
        assert_eq!(rows(&graph, "main", r#""id":9,"#).await, [p(9, r#""a":"ours""#)], "one side alone changed it");
    }
}

#[tokio::test]
async fn what_does_not_fit_is_refused_with_its_number_and_a_suggestion() {
    let graph = graph(SCHEMA).await;
    prepare(&graph).await;
    let head = graph.show("main").await.unwrap().id;
    for (resolution, said) in [
        (resolve("Q", "1", None, side(MergeSide::Source)), "there is no table called Q"),
        (resolve("P", "1", Some("aa"), side(MergeSide::Source)), "did you mean a?"),
        (resolve("P", "1", Some("id"), side(MergeSide::Source)), "part of the key"),
        (resolve("P", "\"x\"", None, side(MergeSide::Source)), "key \"x\""),
        (resolve("P", "[1,2]", None, side(MergeSide::Source)), "a key of 1 parts"),
        (resolve("P", "{", None, side(MergeSide::Source)), "no JSON"),
        (resolve("P", "1", Some("top"), value("\"high\"")), "top: found"),
        (resolve("P", "1", None, value("7")), "a value needs a property"),
        (resolve("P", "77", None, side(MergeSide::Source)), "nothing to resolve"),
    ] {
        let first = resolve("P", "1", None, side(MergeSide::Target));
        let given = if resolution.key.as_deref() == Some("1") && resolution.property.is_none() {
            vec![resolution]
        } else {
            vec![first, resolution]
        };
        let number = given.len();
        let error = merge_with(&graph, given, vec![strategy("source")]).await.unwrap_err();
        assert_eq!((error.kind(), error.code()), (ErrorKind::Invalid, "resolution-invalid"), "{error}");
        assert!(error.to_string().starts_with(&format!("resolution {number}: ")), "{error}");
        assert!(error.to_string().contains(said), "{error} does not say {said}");
    }
    let twice =
        vec![resolve("P", "1", None, side(MergeSide::Source)), resolve("P", "[1]", None, side(MergeSide::Target))];
    let error = merge_with(&graph, twice, Vec::new()).await.unwrap_err();
    assert!(error.to_string().contains("resolved twice"), "{error}");
    for (text, said) in
        [("R=source", "there is no table called R"), ("P.c=target", "there is no property of P called c")]
    {
        let error = merge_with(&graph, Vec::new(), vec![strategy(text)]).await.unwrap_err();
        assert_eq!(error.code(), "strategy-invalid");
        assert!(error.to_string().contains(said) && error.to_string().contains(text), "{error}");
    }
    assert_eq!(graph.show("main").await.unwrap().id, head);
}

#[tokio::test]
async fn an_edge_by_its_ends_or_its_id_takes_a_resolution_too() {
    let graph = graph(SCHEMA).await;
    let edge =
        |w: i64| format!(r#"{{"table":"M","from":1,"to":9,"id":"01J0000000000000000000000A","data":{{"w":{w}}}}}"#);
    fork(&graph, [p(1, ""), p(9, ""), edge(0)]).await;
    put(&graph, "f", [edge(1)]).await;
    put(&graph, "main", [edge(2)]).await;
    for (number, key) in
        [r#""01J0000000000000000000000A""#, r#"[1,9,"01J0000000000000000000000A"]"#].into_iter().enumerate()
    {
        let into = format!("try-{number}");
        branch(&graph, &into, "main").await;
        let resolutions = vec![resolve("M", key, Some("w"), value("7"))];
        let options = MergeOptions { change: by_kit(), resolutions, ..MergeOptions::default() };
        graph.merge("f", &into, options).await.unwrap();
        assert_eq!(rows(&graph, &into, r#""w":7"#).await, [edge(7)]);
    }
}

#[tokio::test]
async fn what_a_person_says_of_a_row_is_not_undone_by_a_side_that_wins() {
    let graph = graph("CREATE NODE TABLE P (id INT64 PRIMARY KEY, a STRING, UNIQUE (a));").await;
    fork(&graph, [p(1, r#""a":"one""#), p(2, r#""a":"two""#), p(3, r#""a":"x""#)]).await;
    put(&graph, "f", [p(2, r#""a":"theirs""#)]).await;
    put(&graph, "main", [p(2, r#""a":"ours""#)]).await;
    // The value that was chosen is another row's.
    let taken = vec![resolve("P", "2", Some("a"), value(r#""one""#))];
    let error = merge_with(&graph, taken, vec![strategy("target")]).await.unwrap_err();
    assert_eq!(conflicts(&error).1, ["unique: P 2 a with P 1"]);
    assert_eq!(rows(&graph, "main", "ours").await.len(), 1);
}

#[tokio::test]
async fn a_property_of_an_edge_may_be_set_while_its_node_is_decided() {
    let schema = "CREATE NODE TABLE P (id INT64 PRIMARY KEY, a STRING); CREATE REL TABLE K (FROM P TO P, w INT64);";
    let graph = graph(schema).await;
    let edge = |w: i64| format!(r#"{{"table":"K","from":1,"to":2,"data":{{"w":{w}}}}}"#);
    fork(&graph, [p(1, ""), p(2, "")]).await;
    put(&graph, "f", [edge(1)]).await;
    write(&graph, "main", Write::new().delete("P", ["2"])).await;
    let given = vec![resolve("P", "2", None, side(MergeSide::Source)), resolve("K", "[1,2]", Some("w"), value("5"))];
    merge_with(&graph, given, Vec::new()).await.unwrap();
    assert_eq!(rows(&graph, "main", "\"K\"").await, [edge(5)]);
}

/// Rows that one side changed are read for all resolutions at once.
#[tokio::test]
async fn many_resolutions_cost_as_many_requests_as_a_few() {
    const ROWS: i64 = 40;
    let mut seen = Vec::new();
    for resolved in [2, ROWS] {
        let graph = graph(SCHEMA).await;
        fork(&graph, (0..ROWS).map(|id| p(id, r#""a":"old""#))).await;
        put(&graph, "f", (0..ROWS).map(|id| p(id, r#""a":"theirs""#))).await;
        put(&graph, "main", [p(ROWS, r#""a":"ours""#)]).await;
        let given = (0..resolved).map(|id| resolve("P", &id.to_string(), Some("b"), value(r#""settled""#)));
        let _ = graph.take_io();
        let report = merge_with(&graph, given.collect(), Vec::new()).await.unwrap();
        seen.push(graph.take_io().requests());
        assert_eq!(report.tables["P"].rewritten, u64::try_from(resolved).unwrap());
        let settled = rows(&graph, "main", r#""b":"settled""#).await;
        assert_eq!(settled.len(), usize::try_from(resolved).unwrap(), "{settled:?}");
    }
    // One less: of a file whose rows are all settled nothing is taken.
    assert!(seen[1] <= seen[0], "{seen:?}");
}
