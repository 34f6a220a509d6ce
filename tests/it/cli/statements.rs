//! `pleach query` and `pleach run`: where a statement comes from, what it is given, and the forms of its rows.

use serde_json::json;

use super::people;

#[test]
fn rows_come_in_four_forms() {
    let sandbox = people();
    let text = "MATCH (p:Person) RETURN p.id AS id, p.born AS born ORDER BY id";
    let table = sandbox.ok(&["query", text]).stdout;
    assert_eq!(
        table.lines().map(str::trim_end).collect::<Vec<_>>(),
        ["id     born", "ada    1815-12-10", "grace  null"]
    );
    let rows = json!({ "columns": ["id", "born"], "rows": [["ada", "1815-12-10"], ["grace", null]], "warnings": [] });
    assert_eq!(sandbox.ok(&["query", text, "--json"]).json(), rows);
    assert_eq!(sandbox.ok(&["query", text, "--format", "json"]).json(), rows);
    let lines = "{\"id\":\"ada\",\"born\":\"1815-12-10\"}\n{\"id\":\"grace\",\"born\":null}\n";
    assert_eq!(sandbox.ok(&["query", text, "--format", "jsonl"]).stdout, lines);
    assert_eq!(sandbox.ok(&["query", text, "--format", "csv"]).stdout, "id,born\nada,1815-12-10\ngrace,\n");
    let named = sandbox.ok(&["query", text, "--format", "csv", "--null", "NULL"]).stdout;
    assert_eq!(named, "id,born\nada,1815-12-10\ngrace,NULL\n");
}

#[test]
fn a_node_is_written_as_its_line() {
    let sandbox = people();
    let node = "{\"p\":{\"table\":\"Person\",\"data\":{\"id\":\"grace\",\"name\":\"Grace\"}}}\n";
    let text = "MATCH (p:Person {id: 'grace'}) RETURN p";
    assert_eq!(sandbox.ok(&["query", text, "--format", "jsonl"]).stdout, node);
    let cell = sandbox.ok(&["query", text, "--format", "csv"]).stdout;
    assert!(cell.contains("\"\"id\"\":\"\"grace\"\""), "{cell}");
}

#[test]
fn what_can_never_match_is_said_beside_the_rows() {
    let sandbox = people();
    let text = "MATCH (s:Seat)-[k:Knows]->(p:Person) RETURN s.line AS line";
    let outcome = sandbox.ok(&["query", text, "--json"]);
    let told = outcome.json();
    assert_eq!(told["rows"], json!([]));
    assert_eq!((&told["warnings"][0]["line"], &told["warnings"][0]["column"]), (&json!(1), &json!(15)));
    assert!(!outcome.stderr.contains("warning"), "{outcome:?}");
    let outcome = sandbox.ok(&["query", text, "--format", "csv"]);
    assert_eq!(outcome.stdout, "line\n");
    let warning = "warning: line 1, column 15: nothing can match this edge: `Knows` goes from `Person` to `Person`";
    assert!(outcome.stderr.contains(warning), "{outcome:?}");
    let outcome = sandbox.ok(&["run", "MATCH (:Seat)-[k:Knows]->() DELETE k"]);
    assert!(outcome.stderr.contains("warning: line 1, column 14: "), "{outcome:?}");
}

#[test]
fn another_languages_words_are_recognised() {
    let sandbox = people();
    let outcome = sandbox.fails(1, &["query", "MATCH (p:Person) WHERE p.name == 'Ada' RETURN p"]);
    assert!(outcome.stderr.contains("help: `=` compares"), "{outcome:?}");
}

#[test]
fn a_statement_is_an_argument_a_file_or_standard_input() {
    let sandbox = people();
    let text = "MATCH (p:Person) RETURN count(*) AS n";
    sandbox.file("count.cypher", format!("\u{feff}// how many\n{text}\n"));
    let expected = json!({ "columns": ["n"], "rows": [[2]], "warnings": [] });
    for arguments in [&["query", text, "--json"][..], &["query", "-f", "count.cypher", "--json"]] {
        assert_eq!(sandbox.ok(arguments).json(), expected, "{arguments:?}");
    }
    for arguments in [&["query", "--json"][..], &["query", "-f", "-", "--json"]] {
        assert_eq!(sandbox.run_with_input(arguments, text).json(), expected, "{arguments:?}");
        assert_eq!(sandbox.run_with_input(arguments, format!("\u{feff}{text};")).json(), expected, "{arguments:?}");
    }
    for command in ["query", "run"] {
        for input in ["", "  \n"] {
            let outcome = sandbox.run_with_input(&[command, "--json"], input);
            assert_eq!(
                (outcome.code, outcome.error()["code"].as_str()),
                (Some(2), Some("no-statement")),
                "{outcome:?}"
            );
        }
    }
    sandbox.fails(2, &["query", text, "-f", "count.cypher"]);
}

#[test]
fn parameters_are_json_where_they_can_be() {
    let sandbox = people();
    let text = "RETURN $a AS a, $b AS b, $c AS c, $d AS d";
    let given = ["-p", "a=7", "-p", "b=ada", "-p", "c=\"7\"", "--param", "d=[1,null,2]"];
    let outcome = sandbox.ok(&[&["query", text, "--json"][..], &given].concat()).json();
    assert_eq!(outcome["rows"], json!([[7, "ada", "7", [1, null, 2]]]));
    sandbox.fails(2, &["query", text, "-p", "a"]);
    sandbox.fails(2, &["query", text, "-p", "=1"]);
    let twice = sandbox.fails(2, &["query", "RETURN $a", "-p", "a=1", "-p", "a=2", "--json"]);
    assert_eq!(twice.error()["code"], "parameter-twice");
    for text in ["a=[1,2", "a={", "a=\"x"] {
        let broken = sandbox.fails(2, &["query", "RETURN $a", "-p", text, "--json"]);
        assert_eq!(broken.error()["code"], "parameter-not-json", "{text}");
    }
    let missing = sandbox.fails(1, &["query", "RETURN $a", "--json"]);
    assert_eq!(missing.error()["code"], "invalid-query");
}

#[test]
fn a_query_changes_nothing_and_reads_any_commit() {
    let sandbox = people();
    let refused = sandbox.fails(1, &["query", "CREATE (:Person {id: 'x', name: 'X'})", "--json"]);
    assert_eq!(refused.error()["code"], "query-updates");
    let count = "MATCH (p:Person) RETURN count(*) AS n";
    assert_eq!(sandbox.ok(&["query", count, "--at", "main~1", "--json"]).json()["rows"], json!([[0]]));
    assert_eq!(sandbox.ok(&["query", count, "--at", "main@1", "--json"]).json()["rows"], json!([[2]]));
    assert_eq!(sandbox.fails(1, &["query", count, "--at", "mian", "--json"]).error()["kind"], "not-found");
}

#[test]
fn what_is_wrong_is_shown_where_it_stands() {
    let sandbox = people();
    let outcome = sandbox.fails(1, &["query", "MATCH (p:Persn)\nRETURN p.name"]);
    assert!(outcome.stderr.contains("line 1, column 10: there is no node table `Persn`"), "{outcome:?}");
    assert!(outcome.stderr.contains("help: did you mean `Person`?"), "{outcome:?}");
    assert_eq!(outcome.stdout, "");
}

#[test]
fn a_statement_that_changes_makes_one_commit() {
    let sandbox = people();
    let text = "MATCH (p:Person) SET p.born = date($born) RETURN p.id AS id ORDER BY id";
    let told = sandbox.ok(&["run", text, "-p", "born=1900-01-01", "-m", "born", "--json"]).json();
    assert_eq!(told["commit"]["ref"], "main@2");
    assert_eq!(told["commit"]["changes"][0]["message"], "born");
    assert_eq!(told["tables"]["Person"]["updated"], 2);
    assert_eq!((&told["columns"], &told["rows"]), (&json!(["id"]), &json!([["ada"], ["grace"]])));
    let again = sandbox.ok(&["run", text, "-p", "born=1900-01-01"]);
    assert!(again.stderr.contains("nothing changed"), "{again:?}");
    let rows = sandbox.ok(&["run", text, "-p", "born=1900-01-02", "--format", "jsonl"]);
    assert_eq!(rows.stdout, "{\"id\":\"ada\"}\n{\"id\":\"grace\"}\n", "rows stand alone");
    assert!(rows.stderr.contains("main@3"), "{rows:?}");
    let moved = sandbox.fails(4, &["run", text, "-p", "born=1900-01-03", "--if-head", "main@2", "--json"]);
    assert_eq!(moved.error()["code"], "head-moved");
    sandbox.ok(&["fsck"]);
}

#[test]
fn a_statement_that_breaks_a_rule_writes_nothing() {
    let sandbox = people();
    let refused = sandbox.fails(1, &["run", "CREATE (:Person {id: 'ada', name: 'other'})", "--json"]);
    assert_eq!(refused.error()["violations"]["total"], 1, "{refused:?}");
    let refused = sandbox.fails(1, &["run", "MATCH (p:Person {id: 'ada'}) DELETE p"]);
    assert!(refused.stderr.contains("hint: "), "{refused:?}");
    assert_eq!(sandbox.ok(&["log", "--json"]).json()["commits"].as_array().map(Vec::len), Some(2));
}
