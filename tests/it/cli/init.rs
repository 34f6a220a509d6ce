//! Making a graph, and refusing to make one over another.

use std::fs;

use kit::cli::Sandbox;

use super::{SCHEMA, people};

#[test]
fn init_tells_the_graph_and_its_first_commit() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run_with_input(&["init", "--graph", "g", "--schema", "-", "--json"], SCHEMA);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let made = outcome.json();
    assert_eq!(made["commit"]["ref"], "main@0");
    assert_eq!(made["commit"]["rows"]["Person"], 0);
    assert_eq!(made["graph"].as_str().map(str::len), Some(26));
}

#[test]
fn a_second_init_is_refused_and_changes_nothing() {
    let sandbox = people();
    let before = sandbox.ok(&["export"]).stdout;
    let outcome = sandbox.fails(1, &["init", "--schema", "schema.cypher", "--json"]);
    assert_eq!(outcome.error()["kind"], "already-exists", "{outcome:?}");
    assert_eq!(sandbox.ok(&["export"]).stdout, before);
}

#[test]
fn init_over_the_leftovers_of_a_graph_is_refused_naming_them() {
    let sandbox = people();
    fs::remove_file(sandbox.path().join("graph/graph.json")).unwrap();
    let outcome = sandbox.fails(1, &["init", "--schema", "schema.cypher"]);
    assert!(outcome.stderr.contains("branches/main"), "{outcome:?}");
    assert!(!sandbox.path().join("graph/graph.json").exists());
    // Nor are they read as a graph.
    sandbox.fails(1, &["export"]);
}

#[test]
fn a_wrong_schema_is_shown_with_its_place() {
    let sandbox = Sandbox::new();
    sandbox.file("schema.cypher", "CREATE NODE TABLE Person (\n  id STRANG PRIMARY KEY\n);\n");
    let outcome = sandbox.fails(1, &["init", "--graph", "g", "--schema", "schema.cypher"]);
    assert!(outcome.stderr.contains("line 2, column 6: there is no type `STRANG`"), "{outcome:?}");
    assert!(!sandbox.path().join("g/graph.json").exists());
    sandbox.file("schema.cypher", b"CREATE NODE TABLE Caf\xe9 (id STRING PRIMARY KEY);");
    let outcome = sandbox.fails(1, &["init", "--graph", "g", "--schema", "schema.cypher", "--json"]);
    assert_eq!(outcome.error()["code"], "file-not-utf8");
}

#[test]
fn a_schema_without_a_table_is_refused() {
    let sandbox = Sandbox::new();
    for (place, ddl) in [("a", ""), ("b", " \n;;"), ("c", "// to be written\n")] {
        let outcome = sandbox.run_with_input(&["init", "--graph", place, "--schema", "-"], ddl);
        assert_eq!(outcome.code, Some(1), "{outcome:?}");
        assert!(outcome.stderr.starts_with("error: the schema declares no table\nhint: "), "{outcome:?}");
        assert!(outcome.stderr.contains("CREATE NODE TABLE Person"), "{outcome:?}");
        assert!(!sandbox.path().join(place).join("graph.json").exists());
        let outcome = sandbox.run_with_input(&["init", "--graph", place, "--schema", "-", "--json"], ddl);
        assert_eq!(outcome.error()["code"], "invalid-schema");
    }
}

#[test]
fn a_schema_with_a_byte_order_mark_is_read() {
    let sandbox = Sandbox::new();
    sandbox.file("schema.cypher", format!("\u{feff}{SCHEMA}"));
    sandbox.ok(&["init", "--graph", "g", "--schema", "schema.cypher"]);
}
