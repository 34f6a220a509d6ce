//! Schemas through the command line: looked at, planned, applied and compared.

use serde_json::{Value, json};

use super::people;

fn words(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split_whitespace().collect()).collect()
}

/// The schema of the sandbox with some of its text replaced.
fn with(sandbox: &kit::cli::Sandbox, changes: &[(&str, &str)]) -> String {
    let ddl = sandbox.ok(&["schema", "show"]).stdout;
    changes.iter().fold(ddl, |text, (from, to)| {
        assert!(text.contains(from), "{from} is not in {text}");
        text.replacen(from, to, 1)
    })
}

#[test]
fn a_change_is_planned_then_made() {
    let sandbox = people();
    sandbox.file(
        "next.cypher",
        with(
            &sandbox,
            &[("name STRING NOT NULL", "full_name STRING NOT NULL RENAMED FROM name,\n  rank INT64 DEFAULT 3")],
        ),
    );
    let told = sandbox.ok(&["schema", "plan", "next.cypher"]);
    let lines = words(&told.stdout);
    assert_eq!(lines[0], ["step", "rows", "are", "rows", "broken"], "{told:?}");
    assert!(told.stdout.contains("Person: rename property name to full_name") && lines.len() >= 3, "{told:?}");
    let plan = sandbox.ok(&["schema", "plan", "next.cypher", "--json"]).json();
    assert_eq!(plan["at"]["ref"], "main@1");
    let step =
        |step: &Value| (step["kind"].clone(), step["property"].clone(), step["class"].clone(), step["breaks"].clone());
    assert_eq!(step(&plan["steps"][0]), (json!("rename-property"), json!("full_name"), json!("untouched"), json!(0)));
    assert_eq!(step(&plan["steps"][1]), (json!("add-property"), json!("rank"), json!("untouched"), json!(0)));
    assert_eq!(sandbox.ok(&["show", "--json"]).json()["ref"], "main@1", "a plan writes nothing");
    let apply = ["schema", "apply", "next.cypher", "-m", "ranks", "--request-id", "s1", "--json"];
    let report = sandbox.ok(&apply).json();
    assert_eq!((&report["commit"]["ref"], &report["repeated"]), (&json!("main@2"), &json!(false)));
    assert_eq!(report["commit"]["changes"][0]["kind"], "schema");
    assert_eq!((&report["steps"], &report["ddl"]), (&plan["steps"], &plan["ddl"]));
    let again = sandbox.ok(&apply).json();
    assert_eq!((&again["commit"], &again["repeated"]), (&report["commit"], &json!(true)));
    assert_eq!(sandbox.ok(&["schema", "show"]).stdout, report["ddl"].as_str().unwrap());
    let nothing = sandbox.ok(&["schema", "apply", "next.cypher"]);
    assert_eq!(nothing.stdout, "");
    assert!(nothing.stderr.contains("the schema is that already, so there is no new commit"), "{nothing:?}");
    assert!(sandbox.ok(&["schema", "plan", "next.cypher"]).stderr.contains("the schema is that already"));
    let diff = sandbox.ok(&["schema", "diff", "main@1", "main", "--json"]).json();
    assert_eq!((&diff["from"]["ref"], &diff["to"]["ref"]), (&json!("main@1"), &json!("main@2")));
    assert_eq!(
        diff["steps"][0],
        json!({
            "table": "Person", "property": "full_name", "kind": "rename-property", "text": "rename property name to full_name", "rows": null,
        })
    );
    assert!(sandbox.ok(&["schema", "diff", "main@1", "main"]).stdout.contains("Person: add property rank INT64"));
    assert!(sandbox.ok(&["schema", "diff", "main", "main"]).stderr.contains("the schemas are equal"));
    sandbox.ok(&["fsck", "--deep"]);
}

#[test]
fn what_is_refused_is_told_by_code_and_exit_code() {
    let sandbox = people();
    let refused = |changes: &[(&str, &str)], more: &[&str]| {
        sandbox.file("next.cypher", with(&sandbox, changes));
        sandbox.fails(1, &[&["schema", "apply", "next.cypher", "--json"], more].concat()).error()
    };
    let lost = refused(&[(",\n  name STRING NOT NULL", "")], &[]);
    assert_eq!(lost["code"], "schema-loses-data");
    assert!(lost["hint"].as_str().unwrap().contains("--allow-data-loss"), "{lost}");
    let broken = refused(&[("name STRING", "rank INT64 NOT NULL,\n  name STRING")], &["--allow-data-loss"]);
    assert_eq!(broken["code"], "schema-broken-by-rows");
    let other = refused(&[("name STRING", "name BOOL")], &[]);
    assert_eq!(other["code"], "unsupported-schema-change");
    assert!(other["message"].as_str().unwrap().contains("`name` is of type STRING"), "{other}");
    sandbox.file("next.cypher", with(&sandbox, &[("name STRING", "rank INT64,\n  name STRING")]));
    let moved = sandbox.fails(4, &["schema", "apply", "next.cypher", "--if-head", "main@0", "--json"]).error();
    assert_eq!(moved["code"], "head-moved");
    assert_eq!(sandbox.fails(1, &["schema", "diff", "main", "nope", "--json"]).error()["code"], "branch-not-found");
    assert_eq!(sandbox.ok(&["show", "--json"]).json()["ref"], "main@1");
    // What may go goes, and on its branch alone.
    sandbox.ok(&["branch", "create", "review"]);
    sandbox.file("less.cypher", with(&sandbox, &[(",\n  name STRING NOT NULL", "")]));
    let told = sandbox.ok(&["schema", "apply", "less.cypher", "--branch", "review", "--allow-data-loss"]);
    assert!(told.stdout.contains("Person: drop property name") && told.stdout.contains("review@1"), "{told:?}");
    assert!(sandbox.ok(&["schema", "show"]).stdout.contains("name STRING"));
}
