//! Each rule of the schema, kept and broken, by writes and loads alike.

use kit::graphs::{assert_whole, graph, load, write};
use pleach::{LoadMode, Write};

const DDL: &str = "
    CREATE NODE TABLE P (id INT64 PRIMARY KEY, name STRING NOT NULL, a INT64, b INT64, n INT64 CHECK (n < 10), UNIQUE (a, b));
    CREATE NODE TABLE Q (k STRING, l INT64, PRIMARY KEY (k, l));
    CREATE REL TABLE Any (FROM P TO Q);
    CREATE REL TABLE One (FROM P TO Q, MANY_ONE);
    CREATE REL TABLE Own (FROM P TO P, kind STRING, KEY (kind));
    CREATE REL TABLE Pair (FROM P TO P, ONE_ONE);
";

fn p(id: i64, rest: &str) -> String {
    format!(r#"{{"table":"P","data":{{"id":{id},"name":"x"{rest}}}}}"#)
}

fn q(k: &str, l: i64) -> String {
    format!(r#"{{"table":"Q","data":{{"k":"{k}","l":{l}}}}}"#)
}

fn edge(table: &str, from: i64, to: &str) -> String {
    format!(r#"{{"table":"{table}","from":{from},"to":{to}}}"#)
}

fn own(from: i64, to: i64, kind: &str) -> String {
    format!(r#"{{"table":"Own","from":{from},"to":{to},"data":{{"kind":"{kind}"}}}}"#)
}

/// What is there before each case.
fn base() -> Vec<String> {
    vec![
        p(1, r#","a":1,"b":1"#),
        p(2, r#","a":1"#),
        p(3, ""),
        q("k", 1),
        q("k", 2),
        edge("Any", 1, r#"["k",1]"#),
        edge("One", 1, r#"["k",1]"#),
        own(1, 2, "x"),
        edge("Pair", 1, "2"),
    ]
}

/// Lines to add, and the code and a part of the message of their refusal; none if they are fine.
type Case = (Vec<String>, Option<(&'static str, &'static str)>);

fn cases() -> Vec<Case> {
    vec![
        (vec![p(4, r#","a":1"#), p(5, r#","a":1"#)], None),
        (vec![p(4, r#","a":1,"b":2"#)], None),
        (vec![p(4, r#","a":1,"b":1"#)], Some(("unique", "P.a, b: found [1,1]"))),
        (vec![p(4, r#","a":7,"b":7"#), p(5, r#","a":7,"b":7"#)], Some(("unique", "line 1 has it"))),
        (vec![p(4, r#","n":9"#)], None),
        (vec![p(4, r#","n":10"#)], Some(("check", "CHECK (n < 10)"))),
        (vec![p(1, "")], Some(("key-exists", "the key 1 exists"))),
        (vec![p(4, ""), p(4, "")], Some(("duplicate-key", "the key 4 is on lines 1 and 2"))),
        (vec![q("k", 2)], Some(("key-exists", r#"the key ["k",2]"#))),
        (vec![edge("Any", 1, r#"["k",2]"#)], None),
        // Edges may come before their nodes.
        (vec![edge("Any", 9, r#"["z",9]"#), p(9, ""), q("z", 9)], None),
        (vec![edge("Any", 9, r#"["k",1]"#)], Some(("dangling-edge", "Any.from: found 9, expected the key of a P"))),
        (
            vec![edge("Any", 1, r#"["k",3]"#)],
            Some(("dangling-edge", r#"Any.to: found ["k",3], expected the key of a Q"#)),
        ),
        (vec![edge("Any", 1, r#"["k",1]"#)], Some(("key-exists", r#"the key [1,"k",1]"#))),
        (vec![edge("One", 2, r#"["k",1]"#)], None),
        (
            vec![edge("One", 1, r#"["k",2]"#)],
            Some(("cardinality", "One.from: found 1, expected at most one edge per start node")),
        ),
        (vec![edge("One", 2, r#"["k",1]"#), edge("One", 2, r#"["k",2]"#)], Some(("cardinality", "line 1 is one"))),
        (vec![own(1, 2, "y"), own(2, 1, "x")], None),
        (vec![own(1, 2, "x")], Some(("key-exists", r#"[1,2,"x"]"#))),
        (vec![edge("Pair", 2, "1")], None),
        (vec![edge("Pair", 3, "2")], Some(("cardinality", "Pair.to: found 2"))),
        (vec![edge("Pair", 1, "3")], Some(("cardinality", "Pair.from: found 1"))),
    ]
}

#[tokio::test]
async fn writes_keep_every_rule() {
    for (lines, refusal) in cases() {
        let graph = graph(DDL).await;
        load(&graph, LoadMode::Append, &base().join("\n")).await.unwrap();
        let op = lines.iter().fold(Write::new(), Write::insert_json);
        let outcome = write(&graph, op).await.map(|report| report.commit.is_some()).map_err(|e| e.to_string());
        check(&lines, refusal, outcome);
        assert_whole(&graph).await;
    }
}

#[tokio::test]
async fn loads_keep_every_rule_in_the_same_words() {
    for (lines, refusal) in cases() {
        let graph = graph(DDL).await;
        load(&graph, LoadMode::Append, &base().join("\n")).await.unwrap();
        let outcome = load(&graph, LoadMode::Append, &lines.join("\n")).await;
        check(&lines, refusal, outcome.map(|report| report.commit.is_some()).map_err(|e| e.to_string()));
        assert_whole(&graph).await;
    }
}

fn check(lines: &[String], refusal: Option<(&str, &str)>, outcome: Result<bool, String>) {
    match (refusal, outcome) {
        (None, Ok(published)) => assert!(published, "{lines:?}"),
        (None, Err(text)) => panic!("{lines:?}: {text}"),
        (Some(_), Ok(_)) => panic!("{lines:?} was accepted"),
        (Some((_, part)), Err(text)) => assert!(text.contains(part), "{lines:?}: {text} lacks {part}"),
    }
}

#[tokio::test]
async fn a_replaced_row_makes_room_for_its_unique_value_and_its_edge() {
    let graph = graph(DDL).await;
    load(&graph, LoadMode::Append, &base().join("\n")).await.unwrap();
    // 1 gives (1, 1) up, 3 takes it, in one write and whatever the order.
    let swap = Write::new().upsert_json(p(3, r#","a":1,"b":1"#)).upsert_json(p(1, r#","a":2,"b":2"#));
    write(&graph, swap).await.unwrap();
    let other_edge = Write::new().insert_json(edge("One", 1, r#"["k",2]"#)).delete("One", ["1", "\"k\"", "1"]);
    write(&graph, other_edge).await.unwrap();
    assert_whole(&graph).await;
}

#[tokio::test]
async fn all_broken_rules_are_told_together() {
    let graph = graph(DDL).await;
    load(&graph, LoadMode::Append, &base().join("\n")).await.unwrap();
    let lines = [p(4, r#","n":11,"a":1,"b":1"#), edge("Any", 8, r#"["k",1]"#), edge("One", 1, r#"["k",2]"#)];
    let error = load(&graph, LoadMode::Append, &lines.join("\n")).await.unwrap_err();
    let refused = error.violations().expect("violations");
    let codes: Vec<_> = refused.iter().map(|v| (v.line, v.code)).collect();
    assert_eq!(codes, [(Some(1), "check"), (Some(1), "unique"), (Some(2), "dangling-edge"), (Some(3), "cardinality")]);
}

/// Unique values are compared by their digests, and those of long texts are digests of all of them.
#[tokio::test]
async fn long_and_padded_unique_values_are_told_apart_to_the_last_character() {
    let graph = graph("CREATE NODE TABLE U (id INT64 PRIMARY KEY, hash STRING UNIQUE);").await;
    let row = |id: i64, hash: &str| format!(r#"{{"table":"U","data":{{"id":{id},"hash":"{hash}"}}}}"#);
    let mut values: Vec<String> = Vec::new();
    for length in [4_096, 4_097, 1_000_000] {
        let long = "x".repeat(length);
        // As long, and different in the last character alone.
        values.extend([format!("{}y", &long[1..]), long]);
    }
    values.extend(["x", " x", "x ", "  x", ""].map(str::to_owned));
    let rows = (1..).zip(&values).map(|(id, value)| row(id, value));
    write(&graph, rows.fold(Write::new(), Write::insert_json)).await.unwrap();
    for value in &values {
        let again = row(100, value);
        let error = write(&graph, Write::new().insert_json(&again)).await.expect_err("a value that is there");
        assert_eq!(error.violations().map(|v| v.reasons()[0].0.code), Some("unique"), "{} bytes", value.len());
        let error = load(&graph, LoadMode::Append, &again).await.expect_err("a value that is there");
        assert_eq!(error.violations().map(|v| v.reasons()[0].0.code), Some("unique"), "{} bytes", value.len());
        let twice = [row(100, &format!("{value}!")), row(101, &format!("{value}!"))].join("\n");
        assert!(load(&graph, LoadMode::Append, &twice).await.is_err(), "{} bytes", value.len());
    }
    let others = ["x  ", "\\tx", "X"].into_iter().zip(200..).map(|(value, id)| row(id, value));
    write(&graph, others.fold(Write::new(), Write::insert_json)).await.unwrap();
    assert_whole(&graph).await;
}
