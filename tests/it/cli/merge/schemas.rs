//! Conflicts of schemas on the command line: seen, planned and settled.

use kit::cli::Sandbox;
use serde_json::json;

use super::{MERGE, run};

const BEFORE: &str = "CREATE NODE TABLE P (id STRING PRIMARY KEY, nick STRING);";
const AFTER: &str = "CREATE NODE TABLE P (id STRING PRIMARY KEY, age INT64);";

/// `review` dropped `nick`, and `main` set it.
fn divided() -> Sandbox {
    let sandbox = Sandbox::with_graph(BEFORE);
    sandbox.file("after.cypher", AFTER);
    run(&sandbox, "main", "CREATE (:P {id: 'ada', nick: 'a'})");
    sandbox.ok(&["branch", "create", "review"]);
    sandbox.ok(&["schema", "apply", "after.cypher", "--branch", "review", "--allow-data-loss"]);
    run(&sandbox, "main", "MATCH (p:P) SET p.nick = 'z'");
    sandbox
}

#[test]
fn a_dropped_property_is_told_with_its_rows_and_choices() {
    let sandbox = divided();
    let shown = sandbox.fails(3, &[&MERGE[..], &["--dry-run"]].concat());
    for line in [
        "1. schema: P.nick was dropped by the source, and the target changed it (1 row)",
        "     source  nothing",
        "     target  \"nick STRING\"",
        "     choices keep, drop",
    ] {
        assert!(shown.stdout.lines().any(|told| told == line), "{line}: {}", shown.stdout);
    }
    let conflict = sandbox.fails(3, &[&MERGE[..], &["--dry-run", "--json"]].concat()).json()["conflicts"][0].take();
    let expected = json!({
        "kind": "schema", "table": "P", "key": null, "property": "nick",
        "base": "nick STRING", "source": null, "target": "nick STRING", "with": [],
        "schema": {"reason": "dropped-by-source", "rows": 1, "choices": ["keep", "drop"]},
    });
    assert_eq!(conflict, expected);
    let error = sandbox.fails(3, &[&MERGE[..], &["--json"]].concat()).error();
    assert_eq!(error["conflicts"], json!([expected]));
}

#[test]
fn it_is_kept_or_dropped_by_a_line_a_strategy_or_a_plan() {
    for (choice, nick) in [("keep", json!("z")), ("drop", json!(null))] {
        let sandbox = divided();
        let line = format!("{{\"table\":\"P\",\"property\":\"nick\",\"choice\":\"{choice}\"}}\n");
        sandbox.file("r.jsonl", line);
        sandbox.ok(&[&MERGE[..], &["--resolve", "r.jsonl"]].concat());
        assert_eq!(sandbox.ok(&["get", "P", "ada"]).json()["data"]["nick"], nick);
        sandbox.ok(&["fsck"]);
    }
    let sandbox = divided();
    sandbox.ok(&[&MERGE[..], &["--strategy", "P.nick=source"]].concat());
    assert_eq!(sandbox.ok(&["get", "P", "ada"]).json()["data"]["nick"], json!(null));

    let sandbox = divided();
    sandbox.fails(3, &[&MERGE[..], &["--plan", "plan.json"]].concat());
    let mut plan: serde_json::Value =
        serde_json::from_slice(&std::fs::read(sandbox.path().join("plan.json")).unwrap()).unwrap();
    let line = plan["conflicts"][0]["resolve"].clone();
    assert_eq!(line, json!({"table": "P", "property": "nick", "choice": "keep"}));
    plan["resolutions"] = json!([line]);
    sandbox.file("plan.json", plan.to_string());
    sandbox.ok(&["merge", "--apply", "plan.json"]);
    assert_eq!(sandbox.ok(&["get", "P", "ada"]).json()["data"]["nick"], "z");
    sandbox.ok(&["fsck"]);
}
