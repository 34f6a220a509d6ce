//! Merges through the command line.

use serde_json::{Value, json};

use super::people;

const ALAN: &str = "{\"table\":\"Person\",\"data\":{\"id\":\"alan\",\"name\":\"Alan\"}}\n";
const SEAT: &str = "{\"table\":\"Seat\",\"data\":{\"line\":7,\"window\":false}}\n";

/// The names of an object's fields, sorted.
fn fields(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

/// A graph with a branch `review` on which there is one person more.
fn reviewed() -> kit::cli::Sandbox {
    let sandbox = people();
    sandbox.ok(&["branch", "create", "review"]);
    let loaded = sandbox.run_with_input(&["load", "-", "--branch", "review"], ALAN);
    assert_eq!(loaded.code, Some(0), "{loaded:?}");
    sandbox
}

#[test]
fn a_merge_is_told_in_one_shape() {
    let sandbox = reviewed();
    let merge = ["merge", "review", "--into", "main", "-m", "reviewed", "--json"];
    let report = sandbox.ok(&merge).json();
    assert_eq!(fields(&report), ["bases", "commit", "io", "outcome", "tables"]);
    assert_eq!(report["outcome"], "fast-forward");
    assert_eq!(report["tables"], json!({"Person": {"rows_before": 2, "rows": 3}}));
    assert_eq!((&report["commit"]["ref"], &report["bases"][0]["ref"]), (&json!("main@2"), &json!("main@1")));
    assert_eq!(report["commit"]["parents"][1]["ref"], "review@1");
    assert_eq!(report["commit"]["changes"][0]["message"], "reviewed");
    assert!(report["io"]["serial_rounds"].as_u64() >= Some(1) && report["io"]["requests"].is_u64(), "{report}");
    let again = sandbox.ok(&merge).json();
    assert_eq!(
        (&again["outcome"], &again["commit"], &again["tables"]),
        (&json!("up-to-date"), &Value::Null, &json!({}))
    );
    sandbox.ok(&["fsck"]);
}

#[test]
fn people_are_told_what_changed() {
    let sandbox = reviewed();
    assert_eq!(sandbox.run_with_input(&["load", "-"], SEAT).code, Some(0));
    let merged = sandbox.ok(&["merge", "review", "--into", "main"]);
    assert!(merged.stdout.starts_with("table   before  rows\nPerson       2     3\nmain@3 "), "{merged:?}");
    let again = sandbox.ok(&["merge", "review", "--into", "main"]);
    assert_eq!(again.stdout, "");
    assert!(again.stderr.contains("`main` has all that `review` brings"), "{again:?}");
    let back = sandbox.ok(&["merge", "main", "--into", "review"]);
    assert!(back.stderr.contains("`review` is now as `main` is"), "{back:?}");
}

#[test]
fn conflicts_have_an_exit_code_of_their_own_and_are_all_listed() {
    let sandbox = reviewed();
    let other = "{\"table\":\"Person\",\"data\":{\"id\":\"kurt\",\"name\":\"Kurt\"}}\n";
    assert_eq!(sandbox.run_with_input(&["load", "-"], other).code, Some(0));
    let outcome = sandbox.fails(3, &["merge", "review", "--into", "main", "--json"]);
    let error = outcome.error();
    assert_eq!((&error["kind"], &error["code"]), (&json!("conflict"), &json!("merge-conflicts")));
    assert_eq!(error["conflicts"], json!([{"kind": "both-changed", "table": "Person", "key": null}]));
    let told = sandbox.fails(3, &["merge", "review", "--into", "main"]).stderr;
    assert!(told.contains("both sides changed the table Person") && told.contains("hint: "), "{told}");
    assert_eq!(sandbox.ok(&["show", "--json"]).json()["ref"], "main@2");
}

#[test]
fn a_dangling_edge_is_named_by_its_key() {
    let sandbox = people();
    sandbox.ok(&["branch", "create", "review"]);
    let seat =
        "{\"table\":\"Sat\",\"from\":\"grace\",\"to\":[-5,true],\"id\":\"01HZX3T5XW0000000000000001\",\"data\":{}}\n";
    assert_eq!(sandbox.run_with_input(&["load", "-", "--branch", "review"], seat).code, Some(0));
    let without = "{\"table\":\"Person\",\"data\":{\"id\":\"ada\",\"name\":\"Ada\"}}\n";
    // Grace goes, and the edge to her.
    let none = "{\"table\":\"Knows\",\"from\":\"ada\",\"to\":\"ada\",\"data\":{}}\n";
    let load = ["load", "-", "--mode", "overwrite"];
    assert_eq!(sandbox.run_with_input(&load, format!("{without}{none}")).code, Some(0));
    let error = sandbox.fails(3, &["merge", "review", "--into", "main", "--json"]).error();
    assert_eq!(
        error["conflicts"],
        json!([{"kind": "dangling-edge", "table": "Sat", "key": "01HZX3T5XW0000000000000001"}])
    );
}

#[test]
fn merge_bases_are_commits_that_other_commands_take() {
    let sandbox = reviewed();
    assert_eq!(sandbox.run_with_input(&["load", "-"], SEAT).code, Some(0));
    let bases = sandbox.ok(&["merge-base", "review", "main", "--json"]).json();
    assert_eq!(fields(&bases["bases"][0]), ["branch", "id", "incarnation", "ref", "seq"]);
    let told = sandbox.ok(&["merge-base", "main", "review"]).stdout;
    assert!(told.starts_with("main@1 ") && told.lines().count() == 1, "{told}");
    sandbox.ok(&["show", told.split(' ').next().unwrap()]);
    sandbox.ok(&["merge", "review@1", "--into", "main", "--if-head", "main@2"]);
    assert_eq!(
        sandbox.fails(4, &["merge", "main~1", "--into", "review", "--if-head", "review@0", "--json"]).error()["code"],
        "head-moved"
    );
    assert_eq!(sandbox.ok(&["merge-base", "main", "review"]).stdout.split(' ').next(), Some("review@1"));
    assert_eq!(sandbox.fails(2, &["merge", "review"]).code, Some(2));
}
