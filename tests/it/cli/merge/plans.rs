//! Plans that are saved, edited and applied.

use std::fs;

use kit::cli::Sandbox;
use serde_json::{Value, json};

use super::{MERGE, disagreement, divided, fields, name, reviewed, run};

const APPLY: [&str; 3] = ["merge", "--apply", "plan.json"];

fn text(sandbox: &Sandbox) -> String {
    fs::read_to_string(sandbox.path().join("plan.json")).expect("a plan")
}

fn plan(sandbox: &Sandbox) -> Value {
    serde_json::from_str(&text(sandbox)).expect("a plan")
}

/// Saves the plan of merging `review` into `main`, and reads it.
fn planned(sandbox: &Sandbox, code: i32, options: &[&str]) -> Value {
    sandbox.fails(code, &[&MERGE[..], &["--plan", "plan.json"], options].concat());
    plan(sandbox)
}

fn error_code(sandbox: &Sandbox, exit: i32) -> Value {
    sandbox.fails(exit, &[&APPLY[..], &["--json"]].concat()).error()["code"].take()
}

#[test]
fn a_plan_tells_all_and_is_done_when_it_is_applied() {
    let sandbox = reviewed();
    let told = sandbox.ok(&[&MERGE[..], &["--plan", "plan.json", "--json"]].concat()).json();
    assert_eq!((&told["plan"], &told["conflict_count"]), (&json!("plan.json"), &json!(0)));
    let plan = plan(&sandbox);
    assert_eq!(
        fields(&plan),
        ["bases", "conflicts", "format", "graph", "outcome", "resolutions", "source", "strategies", "tables", "target",]
    );
    assert_eq!(fields(&plan["source"]), ["branch", "id", "incarnation", "is_branch", "ref", "seq"]);
    assert_eq!(plan["target"]["id"], sandbox.ok(&["show", "--json"]).json()["id"]);
    assert_eq!(sandbox.ok(&["show", "--json"]).json()["ref"], "main@1", "nothing was written");
    let report = sandbox.ok(&[&APPLY[..], &["-m", "as planned", "--delete-source", "--json"]].concat()).json();
    assert_eq!((&report["outcome"], &report["source_deleted"]), (&json!("fast-forward"), &json!(true)));
    assert_eq!(report["commit"]["changes"][0]["message"], "as planned");
    assert_eq!(name(&sandbox, "alan"), "Alan");
    sandbox.ok(&["fsck"]);
}

#[test]
fn conflicts_are_decided_in_the_plan() {
    let sandbox = divided();
    let mut plan = planned(&sandbox, 3, &[]);
    let mut conflict = plan["conflicts"][0].clone();
    let resolution = conflict.as_object_mut().expect("a conflict").remove("resolve").expect("a line to copy");
    assert_eq!(conflict, disagreement());
    assert!(text(&sandbox).contains("\n  \"resolutions\": [],\n"), "it is laid out for people: {}", text(&sandbox));
    let refused = sandbox.fails(3, &[&APPLY[..], &["--json"]].concat()).error();
    assert_eq!((&refused["code"], &refused["conflicts"]), (&json!("merge-conflicts"), &json!([disagreement()])));
    plan["resolutions"] = json!([resolution]);
    sandbox.file("plan.json", plan.to_string());
    let merged = sandbox.ok(&APPLY);
    assert!(merged.stdout.contains("\nmain@3 "), "{merged:?}");
    assert_eq!(name(&sandbox, "ada"), "Ada L.");
    sandbox.ok(&["fsck"]);
}

#[test]
fn a_plan_keeps_strategies_and_resolutions() {
    let sandbox = divided();
    sandbox.file("r.jsonl", "{\"table\":\"Person\",\"key\":\"ada\",\"property\":\"name\",\"value\":\"Ada K.\"}\n");
    let plan =
        planned(&sandbox, 0, &["--strategy", "Person.born=source", "--strategy", "target", "--resolve", "r.jsonl"]);
    assert_eq!(
        plan["strategies"],
        json!([{"table": "Person", "property": "born", "side": "source"}, {"side": "target"}])
    );
    assert_eq!(plan["resolutions"], json!([{"table": "Person", "key": "ada", "property": "name", "value": "Ada K."}]));
    sandbox.ok(&APPLY);
    assert_eq!(name(&sandbox, "ada"), "Ada K.");
    sandbox.ok(&["fsck"]);
}

#[test]
fn a_head_that_moved_is_named() {
    let sandbox = reviewed();
    planned(&sandbox, 0, &[]);
    run(&sandbox, "main", "MATCH (p:Person {id: 'ada'}) SET p.name = 'Ada L.'");
    let error = sandbox.fails(4, &[&APPLY[..], &["--json"]].concat()).error();
    assert_eq!((&error["code"], &error["kind"]), (&json!("head-moved"), &json!("contention")));
    assert!(error["message"].to_string().contains("`main@2`"), "{error}");
    planned(&sandbox, 0, &[]);
    run(&sandbox, "review", "MATCH (p:Person {id: 'grace'}) SET p.name = 'Grace H.'");
    let error = sandbox.fails(4, &[&APPLY[..], &["--json"]].concat()).error();
    assert_eq!((&error["code"], &error["kind"]), (&json!("source-moved"), &json!("contention")));
    assert!(error["message"].to_string().contains("review@2"), "{error}");
    assert_eq!(sandbox.ok(&["show", "--json"]).json()["ref"], "main@2", "nothing was written");
    // A commit does not go on.
    sandbox.ok(&["merge", "review@1", "--into", "main", "--plan", "plan.json"]);
    sandbox.ok(&APPLY);
    assert_eq!(name(&sandbox, "alan"), "Alan");
    // It was done, so it is not done again.
    assert_eq!(error_code(&sandbox, 4), "head-moved");
    sandbox.ok(&["fsck"]);
}

#[test]
fn a_damaged_or_foreign_plan_is_refused() {
    let sandbox = divided();
    let plan = planned(&sandbox, 3, &[]);
    let whole = text(&sandbox);
    let with = |field: &str, value: Value| {
        let mut plan = plan.clone();
        plan[field] = value;
        plan.to_string()
    };
    let line = |line: Value| json!([line]);
    for (content, code, word) in [
        (whole[..whole.len() / 2].to_owned(), "plan-invalid", "EOF"),
        (String::new(), "plan-invalid", "EOF"),
        ("{}".to_owned(), "plan-invalid", "format"),
        (with("format", json!(2)), "plan-invalid", "format 2"),
        (with("resolution", json!([])), "plan-invalid", "unknown field `resolution`"),
        (with("graph", json!("01HZX3T5XW0000000000000000")), "plan-foreign", "01HZX3T5XW0000000000000000"),
        (with("resolutions", line(json!({"table": "Person", "key": "ada"}))), "resolution-invalid", "resolution 1"),
        (
            with("resolutions", line(json!({"table": "Persons", "key": "ada", "choice": "source"}))),
            "resolution-invalid",
            "resolution 1",
        ),
    ] {
        sandbox.file("plan.json", &content);
        let error = sandbox.fails(1, &[&APPLY[..], &["--json"]].concat()).error();
        assert_eq!(error["code"], code, "{error}");
        assert!(error["message"].to_string().contains(word), "{word}: {error}");
    }
    let missing = sandbox.fails(1, &["merge", "--apply", "nope.json", "--json"]);
    assert_eq!(missing.error()["code"], "file-unreadable");
    assert_eq!(sandbox.ok(&["show", "--json"]).json()["ref"], "main@2", "nothing was written");
}

#[test]
fn a_plan_is_written_whole_and_not_over_a_folder() {
    let sandbox = reviewed();
    fs::create_dir(sandbox.path().join("folder")).expect("a folder");
    for path in ["folder", "no/such/plan.json"] {
        let outcome = sandbox.fails(5, &[&MERGE[..], &["--plan", path, "--json"]].concat());
        assert_eq!(outcome.error()["code"], "file-unwritable", "{path}");
    }
    assert!(sandbox.path().join("folder").is_dir());
    sandbox.file("plan.json", "former");
    sandbox.fails(1, &["merge", "nope", "--into", "main", "--plan", "plan.json"]);
    assert_eq!(text(&sandbox), "former");
    planned(&sandbox, 0, &[]);
    let names = fs::read_dir(sandbox.path()).expect("a folder").map(|entry| entry.unwrap().file_name());
    assert!(names.into_iter().all(|name| !name.to_string_lossy().ends_with(".partial")));
}
