//! A whole session, and the shapes that `--json` prints.

use std::fs;

use serde_json::{Value, json};

use super::{ROWS, people};

/// The names of an object's fields, sorted.
fn fields(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

const COMMIT: [&str; 9] = ["branch", "changes", "id", "incarnation", "parents", "ref", "rows", "seq", "time"];
const CHANGE: [&str; 8] = ["author", "author_time", "id", "kind", "message", "ref", "request_id", "tables"];
const COUNTS: [&str; 6] = ["duplicates", "inserted", "read", "removed", "unchanged", "updated"];

#[test]
fn commits_have_one_shape_everywhere() {
    let sandbox = people();
    let commit = sandbox.ok(&["show", "--json"]).json();
    assert_eq!(fields(&commit), COMMIT);
    assert_eq!(fields(&commit["changes"][0]), CHANGE);
    assert_eq!(fields(&commit["changes"][0]["tables"]["Person"]), COUNTS);
    assert_eq!(fields(&commit["parents"][0]), ["branch", "id", "incarnation", "ref", "seq"]);
    assert_eq!(commit["ref"], "main@1");
    assert_eq!(commit["parents"][0]["ref"], "main@0");
    assert_eq!(commit["changes"][0]["message"], "first people");
    assert_eq!(commit["rows"], json!({"Person": 2, "Seat": 1, "Knows": 1, "Sat": 1}));
    let log = sandbox.ok(&["log", "--json"]).json();
    assert_eq!(log["commits"][0], commit);
    assert_eq!(log["commits"].as_array().map(Vec::len), Some(2));
    assert_eq!(sandbox.ok(&["branch", "show", "main", "--json"]).json()["head"], commit);
    assert_eq!(sandbox.ok(&["log", "-n", "1", "--json"]).json()["commits"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_load_counts_what_it_did() {
    let sandbox = people();
    let report = sandbox.ok(&["load", "rows.jsonl", "--mode", "upsert", "--json"]).json();
    assert_eq!(fields(&report), ["change", "commit", "io", "repeated", "tables"]);
    assert_eq!(report["commit"], Value::Null, "equal rows are no change");
    assert_eq!(report["tables"]["Person"]["unchanged"], 2);
    sandbox.file("more.jsonl", "{\"table\":\"Person\",\"data\":{\"id\":\"ada\",\"name\":\"Ada L.\"}}\n");
    let report = sandbox.ok(&["load", "more.jsonl", "--mode", "upsert", "--json"]).json();
    assert_eq!(report["commit"]["ref"], "main@2");
    assert_eq!(
        report["tables"]["Person"],
        json!({"read": 1, "inserted": 0, "updated": 1, "unchanged": 0, "duplicates": 0, "removed": 0})
    );
    let outcome = sandbox.fails(1, &["load", "more.jsonl", "--json"]);
    assert!(outcome.error()["message"].as_str().is_some_and(|text| text.contains("more.jsonl")), "{outcome:?}");
}

#[test]
fn a_request_takes_effect_once_and_a_stale_head_is_refused() {
    let sandbox = people();
    sandbox.file("more.jsonl", "{\"table\":\"Person\",\"data\":{\"id\":\"alan\",\"name\":\"Alan\"}}\n");
    let load = ["load", "more.jsonl", "--request-id", "r1", "--json"];
    let first = sandbox.ok(&load).json();
    let second = sandbox.ok(&load).json();
    assert_eq!(first["commit"]["id"], second["commit"]["id"]);
    assert_eq!((&first["repeated"], &second["repeated"]), (&json!(false), &json!(true)));
    let told = sandbox.ok(&["load", "more.jsonl", "--request-id", "r1"]);
    assert!(told.stderr.contains("took effect before") && told.stdout.contains("main@2"), "{told:?}");
    let outcome = sandbox.fails(1, &["load", "more.jsonl", "--request-id", "r1", "--mode", "upsert", "--json"]);
    assert_eq!(outcome.error()["code"], "request-id-reused");
    sandbox.file("other.jsonl", "{\"table\":\"Person\",\"data\":{\"id\":\"emmy\",\"name\":\"Emmy\"}}\n");
    let outcome = sandbox.fails(1, &["load", "other.jsonl", "--request-id", "r1", "--json"]);
    assert_eq!(outcome.error()["code"], "request-id-reused");
    let run = ["run", "MERGE (p:Person {id: 'sofia'}) SET p.name = 'Sofia' RETURN p.name", "--request-id", "r2"];
    let first = sandbox.ok(&run);
    let second = sandbox.ok(&run);
    assert!(first.stdout.contains("Sofia") && !first.stderr.contains("before"), "{first:?}");
    assert!(!second.stdout.contains("Sofia") && second.stderr.contains("took effect before"), "{second:?}");
    let again = sandbox.ok(&[&run[..], &["--json"]].concat()).json();
    assert_eq!((&again["repeated"], &again["commit"]["seq"]), (&json!(true), &json!(3)));
    sandbox.file("third.jsonl", "{\"table\":\"Person\",\"data\":{\"id\":\"kurt\",\"name\":\"Kurt\"}}\n");
    let outcome = sandbox.run(&["load", "third.jsonl", "--if-head", "main@1", "--json"]);
    assert_eq!((outcome.code, outcome.error()["kind"].as_str()), (Some(4), Some("contention")), "{outcome:?}");
    sandbox.ok(&["load", "third.jsonl", "--if-head", "main@3"]);
}

#[test]
fn rows_are_found_by_keys_in_plain_text() {
    let sandbox = people();
    let get = |arguments: &[&str]| sandbox.ok(&[&["get"], arguments].concat()).json();
    assert_eq!(get(&["Person", "ada"]), json!({"table":"Person","data":{"id":"ada","name":"Ada","born":"1815-12-10"}}));
    assert_eq!(get(&["Seat", "-5", "true"])["data"], json!({"line": -5, "window": true}));
    assert_eq!(get(&["Knows", "ada", "grace"])["data"], json!({"since": "1950-01-31"}));
    let sat = get(&["Sat", "ada", "-5", "true", "01HZX3T5XW0000000000000000"]);
    assert_eq!((&sat["to"], &sat["id"]), (&json!([-5, true]), &json!("01HZX3T5XW0000000000000000")));
    assert_eq!(get(&["Sat", "01HZX3T5XW0000000000000000"]), sat);
    for (arguments, code) in [
        (&["Person", "nobody"][..], "row-not-found"),
        (&["Person", "ada", "surplus"], "wrong-key"),
        (&["Seat", "ada"], "wrong-key"),
    ] {
        let outcome = sandbox.fails(1, &[&["get", "--json"], arguments].concat());
        assert_eq!(outcome.error()["code"], code, "{arguments:?}");
    }
    assert_eq!(sandbox.fails(1, &["get", "Persons", "ada", "--json"]).error()["kind"], "not-found");
    assert_eq!(sandbox.fails(1, &["get", "Seat", "window", "true", "--json"]).error()["kind"], "invalid");
}

#[test]
fn an_export_loads_into_an_empty_graph_as_the_same_rows() {
    let sandbox = people();
    let exported = sandbox.ok(&["export"]).stdout;
    let sorted = |text: &str| {
        let mut rows: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
        rows.sort_by_key(ToString::to_string);
        rows
    };
    let fill = |row: &mut Value| {
        for name in ["born", "since", "day"] {
            if row["data"][name].is_null() {
                row["data"].as_object_mut().expect("data").remove(name);
            }
        }
    };
    let (mut ours, mut given) = (sorted(&exported), sorted(ROWS));
    ours.iter_mut().chain(&mut given).for_each(fill);
    assert_eq!(ours, given);

    sandbox.ok(&["init", "--graph", "copy", "--schema", "schema.cypher"]);
    let loaded = sandbox.run_with_input(&["load", "-", "--graph", "copy"], &exported);
    assert_eq!(loaded.code, Some(0), "{loaded:?}");
    assert_eq!(sorted(&sandbox.ok(&["export", "--graph", "copy"]).stdout), sorted(&exported));
}

#[test]
fn an_export_to_a_file_appears_whole_or_not_at_all() {
    let sandbox = people();
    let report = sandbox.ok(&["export", "-o", "out.jsonl", "--table", "Person", "--json"]).json();
    assert_eq!(report, json!({"file": "out.jsonl", "rows": {"Person": 2}}));
    let lines = fs::read_to_string(sandbox.path().join("out.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), 2);
    sandbox.fails(1, &["export", "-o", "none.jsonl", "--at", "nope"]);
    assert!(!sandbox.path().join("none.jsonl").exists());
    let outcome = sandbox.fails(5, &["export", "-o", "no/such/folder.jsonl", "--json"]);
    assert_eq!(outcome.error()["code"], "file-unwritable");
}

#[test]
fn the_schema_is_printed_as_init_reads_it() {
    let sandbox = people();
    let ddl = sandbox.ok(&["schema", "show"]).stdout;
    sandbox.file("again.cypher", &ddl);
    sandbox.ok(&["init", "--graph", "again", "--schema", "again.cypher"]);
    assert_eq!(sandbox.ok(&["schema", "show", "--graph", "again"]).stdout, ddl);
    let shape = sandbox.ok(&["schema", "show", "--json"]).json();
    assert_eq!(shape["ddl"], ddl);
    let table =
        |name: &str| shape["tables"].as_array().unwrap().iter().find(|table| table["name"] == name).unwrap().clone();
    assert_eq!(table("Seat")["key"], json!(["line", "window"]));
    assert_eq!(table("Sat")["multi"], true);
    assert_eq!((&table("Sat")["from"], &table("Sat")["to"]), (&json!("Person"), &json!("Seat")));
    assert_eq!(
        table("Person")["properties"][1],
        json!({"name": "name", "type": "STRING", "not_null": true, "default": null})
    );
}

#[test]
fn a_sound_graph_passes_the_check_and_a_damaged_one_does_not() {
    let sandbox = people();
    let report = sandbox.ok(&["fsck", "--json"]).json();
    assert_eq!(fields(&report), ["branches", "commits", "problems", "rows", "table_versions"]);
    assert_eq!((&report["branches"], &report["commits"], &report["problems"]), (&json!(1), &json!(2), &json!([])));
    assert!(sandbox.ok(&["fsck"]).stdout.starts_with("clean: "));
    let deep = sandbox.ok(&["fsck", "--deep", "--json"]).json();
    assert!(deep["table_versions"].as_u64() > report["table_versions"].as_u64(), "{deep} {report}");
    let outcome = sandbox.fails(1, &["fsck", "mian", "--json"]);
    let error = outcome.error();
    assert_eq!(
        (error["code"].as_str(), error["hint"].as_str()),
        (Some("branch-not-found"), Some("did you mean `main`?"))
    );
    remove_data_files(&sandbox.path().join("graph/tables"));
    let outcome = sandbox.fails(7, &["fsck", "--json"]);
    assert!(!outcome.json()["problems"].as_array().unwrap().is_empty());
    assert_eq!(outcome.error()["code"], "fsck-problems");
    sandbox.fails(7, &["fsck"]);
}

fn remove_data_files(folder: &std::path::Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            remove_data_files(&path);
        } else if path.extension().is_some_and(|extension| extension == "lance") {
            fs::remove_file(path).unwrap();
        }
    }
}

#[test]
fn people_get_plain_tables() {
    let sandbox = people();
    let log = sandbox.ok(&["log"]).stdout;
    assert!(log.starts_with("commit"), "{log}");
    assert!(log.contains("main@1") && log.contains("first people"), "{log}");
    let show = sandbox.ok(&["show"]).stdout;
    assert!(show.contains("    first people\n"), "{show}");
    assert!(!log.contains('\u{1b}') && !show.contains('\u{1b}'), "no escapes without a terminal");
    let list = sandbox.ok(&["branch", "list"]).stdout;
    assert!(list.lines().any(|line| line.starts_with("main") && line.contains("main@1")), "{list}");
}

#[test]
fn what_became_of_a_request_is_told_by_its_id() {
    let sandbox = kit::cli::Sandbox::with_graph("CREATE NODE TABLE P (id INT64 PRIMARY KEY);");
    let create = sandbox.ok(&["run", "CREATE (:P {id: 1})", "--request-id", "r-1", "--json"]);
    assert_eq!(create.json()["change"], "main@1#0");
    let told = sandbox.ok(&["outcome", "r-1", "--json"]).json();
    assert_eq!((told["change"].as_str(), told["commit"]["ref"].as_str()), (Some("main@1#0"), Some("main@1")));
    assert_eq!(told["commit"]["changes"][0]["ref"], "main@1#0");
    let text = sandbox.ok(&["outcome", "r-1"]).stdout;
    assert!(text.contains("change  main@1#0 ") && text.contains("request r-1"), "{text}");
    assert_eq!(sandbox.fails(1, &["outcome", "r-2", "--json"]).error()["code"], "request-not-found");
    let shown = sandbox.ok(&["show", "main@1#0", "--json"]).json();
    assert_eq!(shown["changes"].as_array().map(Vec::len), Some(1));
    assert_eq!(sandbox.fails(1, &["show", "main@1#1", "--json"]).error()["code"], "change-not-found");
}
