//! Branch names through the command line.

use kit::cli::Sandbox;

use super::{SCHEMA, people};

#[test]
fn names_that_work_are_created_listed_and_deleted() {
    let sandbox = Sandbox::with_graph(SCHEMA);
    let names = ["a", "a/b", "é", "🌿", "Review", "with space", "v1.0"];
    for name in names {
        let outcome = sandbox.ok(&["branch", "create", name, "--json"]);
        assert_eq!(outcome.json()["name"], name);
    }
    let listed = sandbox.ok(&["branch", "list", "--json"]).json();
    let mut listed: Vec<&str> =
        listed["branches"].as_array().unwrap().iter().filter_map(|b| b["name"].as_str()).collect();
    listed.sort_unstable();
    let mut expected = [&names[..], &["main"]].concat();
    expected.sort_unstable();
    assert_eq!(listed, expected);
    for name in names {
        sandbox.ok(&["branch", "delete", name]);
        assert_eq!(sandbox.fails(1, &["branch", "show", name, "--json"]).error()["kind"], "not-found");
    }
    let left = sandbox.ok(&["branch", "list", "--json"]).json();
    assert_eq!(left["branches"].as_array().map(Vec::len), Some(1));
}

#[test]
fn names_that_do_not_work_are_refused_with_a_reason() {
    let sandbox = Sandbox::with_graph(SCHEMA);
    let long = "x".repeat(300);
    for name in ["-qa", "..", "a/../b", "", &long] {
        let outcome = sandbox.fails(1, &["branch", "create", "--json", "--", name]);
        assert_eq!(outcome.error()["kind"], "invalid", "{name:?}: {outcome:?}");
        assert!(!outcome.error()["message"].as_str().unwrap_or_default().is_empty());
    }
    // Without the double dash it is not even a name.
    sandbox.fails(2, &["branch", "create", "-qa"]);
}

#[test]
fn one_name_in_two_spellings_is_one_branch() {
    let sandbox = Sandbox::with_graph(SCHEMA);
    sandbox.ok(&["branch", "create", "\u{e9}"]);
    for name in ["e\u{301}", "\u{c9}", "Main", "MAIN"] {
        let outcome = sandbox.fails(1, &["branch", "create", name, "--json"]);
        assert_eq!(outcome.error()["kind"], "already-exists", "{name}: {outcome:?}");
    }
    // The spelling it was created with is kept, and any spelling finds it.
    assert_eq!(sandbox.ok(&["branch", "show", "E\u{301}", "--json"]).json()["name"], "\u{e9}");
}

#[test]
fn main_cannot_be_deleted() {
    let sandbox = Sandbox::with_graph(SCHEMA);
    assert_eq!(sandbox.fails(1, &["branch", "delete", "main", "--json"]).error()["kind"], "invalid");
    sandbox.ok(&["branch", "show", "main"]);
}

#[test]
fn a_branch_starts_where_it_is_told_and_goes_its_own_way() {
    let sandbox = people();
    sandbox.ok(&["branch", "create", "empty", "--from", "main@0", "-m", "from the beginning"]);
    let head = sandbox.ok(&["branch", "show", "empty", "--json"]).json();
    assert_eq!(head["head"]["rows"]["Person"], 0);
    assert_eq!(head["head"]["changes"][0]["message"], "from the beginning");
    sandbox.ok(&["branch", "create", "review"]);
    sandbox.file("more.jsonl", "{\"table\":\"Person\",\"data\":{\"id\":\"alan\",\"name\":\"Alan\"}}\n");
    sandbox.ok(&["load", "more.jsonl", "--branch", "review"]);
    sandbox.ok(&["get", "Person", "alan", "--at", "review"]);
    let outcome = sandbox.fails(1, &["get", "Person", "alan", "--json"]);
    assert_eq!(outcome.error()["code"], "row-not-found");
}

#[test]
fn a_branch_made_again_under_its_name_starts_anew() {
    let sandbox = people();
    sandbox.ok(&["branch", "create", "f"]);
    sandbox.file("more.jsonl", "{\"table\":\"Person\",\"data\":{\"id\":\"alan\",\"name\":\"Alan\"}}\n");
    sandbox.ok(&["load", "more.jsonl", "--branch", "f"]);
    sandbox.ok(&["branch", "delete", "f"]);
    sandbox.fails(1, &["get", "Person", "ada", "--at", "f"]);
    sandbox.ok(&["branch", "create", "f"]);
    sandbox.fails(1, &["get", "Person", "alan", "--at", "f"]);
    sandbox.ok(&["get", "Person", "ada", "--at", "f"]);
}

#[test]
fn a_misspelt_branch_is_answered_with_the_one_that_was_meant() {
    let sandbox = people();
    sandbox.ok(&["branch", "create", "Review"]);
    sandbox.ok(&["branch", "create", "gone"]);
    sandbox.ok(&["branch", "delete", "gone"]);
    let commands: [&[&str]; 11] = [
        &["get", "Person", "ada", "--at", "NAME"],
        &["get", "Person", "ada", "--at", "NAME@1"],
        &["get", "Person", "ada", "--at", "NAME~1"],
        &["export", "--at", "NAME@2024-01-31T12:00:00Z"],
        &["schema", "show", "--at", "NAME"],
        &["log", "NAME"],
        &["show", "NAME@01HZX3T5XW0000000000000000"],
        &["branch", "show", "NAME"],
        &["branch", "delete", "NAME"],
        &["branch", "create", "other", "--from", "NAME"],
        &["load", "rows.jsonl", "--branch", "NAME"],
    ];
    for command in commands {
        for (name, hint) in [
            ("reveiw", "did you mean `Review`?"),
            ("mian", "did you mean `main`?"),
            // What is like a deleted branch alone, or like none.
            ("gome", "`pleach branch list` shows the branches"),
            ("something-else", "`pleach branch list` shows the branches"),
        ] {
            let mut arguments: Vec<String> = command.iter().map(|part| part.replace("NAME", name)).collect();
            arguments.push("--json".to_owned());
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let error = sandbox.fails(1, &arguments).error();
            assert_eq!((&error["code"], &error["hint"]), (&"branch-not-found".into(), &hint.into()), "{arguments:?}");
        }
    }
}
