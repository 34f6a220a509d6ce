//! Optimizing through the command line.

use serde_json::{Value, json};

use super::people;

/// A graph whose persons are in three files.
fn in_pieces() -> kit::cli::Sandbox {
    let sandbox = people();
    for id in ["kurt", "alan"] {
        let line = format!("{{\"table\":\"Person\",\"data\":{{\"id\":\"{id}\",\"name\":\"N\"}}}}\n");
        assert_eq!(sandbox.run_with_input(&["load", "-"], line).code, Some(0));
    }
    sandbox
}

#[test]
fn an_optimize_is_told_in_one_shape() {
    let sandbox = in_pieces();
    let before = sandbox.ok(&["export"]).stdout;
    let optimize = ["optimize", "-m", "tidy", "--request-id", "r1", "--json"];
    let report = sandbox.ok(&optimize).json();
    let table = report["tables"]["Person"].as_object().expect("the one table that gained");
    assert_eq!((&table["fragments_before"], &table["fragments"], &table["rows"]), (&json!(3), &json!(1), &json!(4)));
    assert!(table["rewritten_bytes"].as_u64() > table["written_bytes"].as_u64() && table.len() == 5, "{report}");
    assert_eq!(report["tables"].as_object().map(serde_json::Map::len), Some(1));
    assert_eq!(report["commit"]["ref"], "main@4");
    let change = &report["commit"]["changes"][0];
    assert_eq!((&change["kind"], &change["message"]), (&json!("optimize"), &json!("tidy")));
    assert!(report["io"]["serial_rounds"].as_u64() >= Some(1), "{report}");
    let sent_again = sandbox.ok(&optimize).json();
    assert_eq!((&sent_again["commit"], &sent_again["tables"]), (&report["commit"], &report["tables"]));
    let nothing = sandbox.ok(&["optimize", "--json"]).json();
    assert_eq!((&nothing["commit"], &nothing["tables"]), (&Value::Null, &json!({})));
    assert_eq!(sandbox.ok(&["export"]).stdout, before);
    sandbox.ok(&["fsck", "--deep"]);
}

#[test]
fn people_are_told_what_became_of_each_table() {
    let sandbox = in_pieces();
    sandbox.ok(&["branch", "create", "review"]);
    let told = sandbox.ok(&["optimize", "Person", "Seat", "--branch", "review"]);
    let lines: Vec<Vec<&str>> = told.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["table", "before", "fragments", "rows", "rewritten", "written"]);
    assert_eq!((lines.len(), &lines[1][..4], lines[2][0]), (3, &["Person", "3", "1", "4"][..], "review@1"), "{told:?}");
    let again = sandbox.ok(&["optimize", "-b", "review"]);
    assert_eq!(again.stdout, "");
    assert!(again.stderr.contains("nothing to be gained, so there is no new commit"), "{again:?}");
    assert_eq!(sandbox.ok(&["show", "--json"]).json()["ref"], "main@3");
}

#[test]
fn what_cannot_be_optimized_is_told_by_code_and_exit_code() {
    let sandbox = in_pieces();
    let error = sandbox.fails(1, &["optimize", "Persno", "--json"]).error();
    assert_eq!((&error["code"], &error["hint"]), (&json!("unknown-table"), &json!("did you mean Person?")));
    let error = sandbox.fails(1, &["optimize", "--branch", "mian", "--json"]).error();
    assert_eq!(error["code"], "branch-not-found");
    assert_eq!(sandbox.fails(4, &["optimize", "--if-head", "main@1", "--json"]).error()["code"], "head-moved");
}
