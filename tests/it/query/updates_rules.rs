//! The rules of the schema hold for statements exactly as they do for loads, and values must fit their properties.

use kit::graphs::{assert_whole, by_kit, export, graph, run};
use pleach::{ErrorKind, Params};

use super::updates::{DDL, people};

const RULES: &str = "
    CREATE NODE TABLE N (id INT64 PRIMARY KEY, name STRING NOT NULL, mail STRING, v INT8 CHECK (v <> 13), UNIQUE (mail));
    CREATE NODE TABLE M (id INT64 PRIMARY KEY);
    CREATE REL TABLE One (FROM N TO M, MANY_ONE);
    CREATE REL TABLE E (FROM N TO N, w INT64 NOT NULL);
";

#[tokio::test]
async fn whatever_breaks_a_rule_is_refused_whole_with_its_line() {
    let graph = graph(RULES).await;
    let made =
        "CREATE (a:N {id: 1, name: 'a', mail: 'x'}), (b:N {id: 2, name: 'b', mail: 'y'}), (:M {id: 1}), (:M {id: 2})";
    run(&graph, made).await.unwrap();
    run(&graph, "MATCH (a:N {id: 1}), (m:M {id: 1}) CREATE (a)-[:One]->(m), (a)-[:E {w: 1}]->(a)").await.unwrap();
    let before = export(&graph, "main").await;
    let cases = [
        (
            "CREATE (:N {id: 3,\n name: 'c'}),\n (:N {id: 1, name: 'z'})",
            "key-exists",
            "statement:3: N: a row with the key 1 exists",
        ),
        (
            "UNWIND [5, 5] AS id CREATE (:N {id: id, name: 'n'})",
            "duplicate-key",
            "statement:1: N: the statement makes more than one row with the key 5",
        ),
        ("CREATE (:N {id: 3})", "null-not-allowed", "N.name: found null, expected STRING (NOT NULL)"),
        ("MATCH (n:N {id: 1})\nREMOVE n.name", "null-not-allowed", "statement:2: N.name: found null"),
        ("MATCH (n:N {id: 1}) SET n = {v: 1}", "null-not-allowed", "N.name"),
        ("MATCH (n:N {id: 1}) SET n.v = 13", "check", "CHECK (v <> 13) is broken"),
        ("MATCH (n:N) SET n.mail = 'same'", "unique", "(UNIQUE): the row 1 of the statement has it"),
        ("CREATE (:N {id: 3, name: 'c', mail: 'y'})", "unique", "the stored row 2 has it"),
        ("MATCH (a:N {id: 1}), (m:M {id: 2}) CREATE (a)-[:One]->(m)", "cardinality", "at most one edge per start node"),
        ("MATCH (a:N {id: 2}), (m:M) CREATE (a)-[:One]->(m)", "cardinality", "of the statement"),
        ("MATCH (a:N {id: 1}) CREATE (a)-[:E {w: 2}]->(a)", "key-exists", "E: a row with the key [1,1] exists"),
        ("MATCH (a:N {id: 2}) CREATE (a)-[:E]->(a)", "null-not-allowed", "E.w"),
        ("MATCH (a:N {id: 1}) DELETE a", "dangling-edge", "the key of a N of the stored edge"),
        ("MATCH (a:N {id: 2}) CREATE (a)-[:E {w: 1}]->(b:N {id: 7, name: 'b'}) DELETE b", "dangling-edge", "E.to"),
    ];
    for (statement, code, wanted) in cases {
        let error = run(&graph, statement).await.unwrap_err();
        assert_eq!((error.kind(), error.code()), (ErrorKind::Invalid, "changes-refused"), "{statement}: {error}");
        let violations = error.violations().unwrap();
        assert!(violations.iter().any(|violation| violation.code == code), "{statement}: {error}");
        assert!(error.to_string().contains(wanted), "{statement}: {error}");
        assert!(error.hint().unwrap().starts_with("nothing was written"), "{statement}");
    }
    assert_eq!(export(&graph, "main").await, before);
    assert_whole(&graph).await;
}

#[tokio::test]
async fn all_violations_are_told_together() {
    let graph = graph(RULES).await;
    let error =
        run(&graph, "UNWIND range(1, 300) AS id CREATE (:N {id: id % 200, mail: toString(id % 7)})").await.unwrap_err();
    let violations = error.violations().unwrap();
    let counts: Vec<_> = violations.reasons().iter().map(|(reason, count, _)| (reason.code, *count)).collect();
    assert!(counts.contains(&("null-not-allowed", 300)) && counts.contains(&("duplicate-key", 100)), "{counts:?}");
}

#[tokio::test]
async fn rules_are_judged_on_the_result() {
    let graph = graph(RULES).await;
    run(&graph, "CREATE (n:N {id: 1}) SET n.v = 13 SET n.v = 12, n.name = 'late'").await.unwrap();
    run(&graph, "CREATE (:N {id: 2, name: 'b', mail: 'x'})").await.unwrap();
    // Values change hands.
    run(&graph, "MATCH (a:N {id: 1}), (b:N {id: 2}) SET a.mail = b.mail, b.mail = null").await.unwrap();
    // A node moves on to another where it may have one.
    run(&graph, "MATCH (a:N {id: 1}) CREATE (a)-[:One]->(:M {id: 1}), (:M {id: 2})").await.unwrap();
    run(&graph, "MATCH (a:N {id: 1})-[o:One]->(), (m:M {id: 2}) DELETE o CREATE (a)-[:One]->(m)").await.unwrap();
    assert!(export(&graph, "main").await.contains(r#"{"table":"One","from":1,"to":2,"data":{}}"#));
    assert_whole(&graph).await;
}

#[tokio::test]
async fn values_that_do_not_fit_are_shown_where_they_stand() {
    let graph = people().await;
    let before = export(&graph, "main").await;
    for (statement, code, wanted) in [
        (
            "MATCH (p:Person {id: 1}) SET p.age = p.age + 100",
            "wrong-type",
            "Person.age: expected an INT8 (-128 to 127), found 136",
        ),
        ("MATCH (p:Person {id: 1}) SET p.age = p.age / 0", "division-by-zero", "p.age / 0"),
        (
            "UNWIND ['a', null] AS n CREATE (:City {country: 'x', name: n})",
            "missing-key",
            "a City cannot be without name",
        ),
        (
            "MATCH (p:Person {id: 1}) OPTIONAL MATCH (p)-[:LivesIn]->(c:City) CREATE (q:Person {id: 4})-[:LivesIn]->(c)",
            "null-end",
            "needs two nodes",
        ),
    ] {
        let error = run(&graph, statement).await.unwrap_err();
        assert_eq!(error.code(), code, "{statement}: {error}");
        assert!(error.to_string().contains(wanted), "{statement}: {error}");
    }
    let map = Params::from_json(r#"{"row": {"id": 2, "name": "x"}}"#).unwrap();
    let error = graph.run("main", "MATCH (p:Person {id: 1}) SET p += $row", map.clone(), by_kit()).await.unwrap_err();
    assert!(["key-change", "invalid-query"].contains(&error.code()), "{error}");
    assert_eq!(export(&graph, "main").await, before);
}

#[tokio::test]
async fn no_key_and_no_end_can_be_set() {
    let graph = people().await;
    for statement in [
        "MATCH (p:Person {id: 1}) SET p.id = 9",
        "MATCH (p:Person {id: 1}) REMOVE p.id",
        "MATCH (p:Persn {id: 1}) SET p.name = 'x'",
        "MATCH (p:Person {id: 1}) SET p.nme = 'x'",
        "CREATE (:Person {name: 'no key'})",
    ] {
        let error = run(&graph, statement).await.unwrap_err();
        assert_eq!((error.kind(), error.code()), (ErrorKind::Invalid, "invalid-query"), "{statement}: {error}");
        assert!(error.to_string().contains("line 1, column"), "{statement}: {error}");
    }
}

#[tokio::test]
async fn a_property_that_only_some_tables_have_is_set_there_alone() {
    let graph = people().await;
    let error = run(&graph, "MATCH (n) SET n.visits = 5").await.unwrap_err();
    assert!(["no-such-property", "invalid-query"].contains(&error.code()), "{error}");
    run(&graph, "MATCH (n) REMOVE n.visits").await.unwrap();
    assert!(!export(&graph, "main").await.contains(r#""visits":0"#));
    assert_whole(&graph).await;
}

#[tokio::test]
async fn every_type_can_be_written_and_copied() {
    let ddl = "CREATE NODE TABLE T (id UUID PRIMARY KEY, b BOOL, i UINT64, f FLOAT, d DOUBLE, m DECIMAL(20, 3), s STRING, day DATE,
        t TIME, at TIMESTAMP, x BLOB, j JSON, l INT16[], v FLOAT[3], e ENUM('a', 'b'));";
    let graph = graph(ddl).await;
    let line = concat!(
        r#"{"table":"T","data":{"id":"0190163d-8694-739b-aea5-966c26f8ad91","b":true,"i":"18446744073709551615","f":0.1,"d":-0.0,"#,
        r#""m":"12345678901234567.125","s":"é","day":"2024-01-31","t":"12:34:56.123456","at":"2024-01-31T12:34:56.123456Z","x":"AAE=","#,
        r#""j":{"a": [1.0,null]},"l":[1,null],"v":[0.1,-0.0,3.0],"e":"b"}}"#
    );
    kit::graphs::load(&graph, pleach::LoadMode::Append, line).await.unwrap();
    let first = export(&graph, "main").await;
    // The row is read and written anew, but nothing of it changes.
    let report = run(&graph, "MATCH (t:T) SET t.s = t.s + 'x' SET t.s = 'é'").await.unwrap();
    assert!(report.commit.is_none(), "{}\n{}", first, export(&graph, "main").await);
    let all = "id: randomUUID(), b: t.b, i: t.i, f: t.f, d: t.d, m: t.m, s: t.s, day: t.day, t: t.t, at: t.at, x: t.x, j: t.j, l: t.l, v: t.v, e: t.e";
    run(&graph, &format!("MATCH (t:T) CREATE (:T {{{all}}})")).await.unwrap();
    run(&graph, "MATCH (t:T) WITH t ORDER BY t.id LIMIT 1 DELETE t").await.unwrap();
    let copy = export(&graph, "main").await;
    assert_eq!(copy.split_once(r#""b":"#).unwrap().1, first.split_once(r#""b":"#).unwrap().1);
    assert_whole(&graph).await;
}

#[tokio::test]
async fn statements_beyond_what_is_supported_are_refused_by_name() {
    let graph = graph(DDL).await;
    for statement in [
        "CREATE (p:Person {id: 1}) WITH p RETURN p",
        "CREATE (p:Person {id: 1}) MATCH (q:Person) RETURN q",
        "MERGE (p:Person {name: 'x'})",
        "MERGE (p {id: 1})",
        "MATCH (a:Person), (b:Person) MERGE (a)-[:Paid {cents: 1}]->(b)",
        "CREATE (p:Person {id: 1})-[:Knows]-(q:Person {id: 2})",
        "CREATE (p:Person:City {id: 1})",
    ] {
        let error = run(&graph, statement).await.unwrap_err();
        assert_eq!(error.code(), "invalid-query", "{statement}: {error}");
    }
    assert_eq!(export(&graph, "main").await, "");
}
