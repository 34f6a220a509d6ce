//! Merges through the command line.

mod answers;
mod dry_run;
mod plans;
mod schemas;

use kit::cli::Sandbox;
use serde_json::{Value, json};

use super::people;

const ALAN: &str = "{\"table\":\"Person\",\"data\":{\"id\":\"alan\",\"name\":\"Alan\"}}\n";
const SEAT: &str = "{\"table\":\"Seat\",\"data\":{\"line\":7,\"window\":false}}\n";
const MERGE: [&str; 4] = ["merge", "review", "--into", "main"];

/// The names of an object's fields, sorted.
fn fields(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

/// Runs a statement on a branch.
fn run(sandbox: &Sandbox, branch: &str, statement: &str) {
    sandbox.ok(&["run", "--branch", branch, statement]);
}

/// A graph with a branch `review` on which there is one person more.
fn reviewed() -> Sandbox {
    let sandbox = people();
    sandbox.ok(&["branch", "create", "review"]);
    let loaded = sandbox.run_with_input(&["load", "-", "--branch", "review"], ALAN);
    assert_eq!(loaded.code, Some(0), "{loaded:?}");
    sandbox
}

/// A graph whose branches gave one person two names; what else they did goes together.
fn divided() -> Sandbox {
    let sandbox = reviewed();
    run(&sandbox, "review", "MATCH (p:Person {id: 'ada'}) SET p.name = 'Ada L.'");
    run(&sandbox, "main", "MATCH (p:Person {id: 'ada'}) SET p.name = 'Ada B.', p.born = null");
    sandbox
}

/// The name that a person has on `main`.
fn name(sandbox: &Sandbox, id: &str) -> Value {
    sandbox.ok(&["get", "Person", id]).json()["data"]["name"].take()
}

/// What the branches of [`divided`] disagree about.
fn disagreement() -> Value {
    json!({
        "kind": "both-changed", "table": "Person", "key": "ada", "property": "name",
        "base": "Ada", "source": "Ada L.", "target": "Ada B.", "with": [],
    })
}

#[test]
fn a_merge_is_told_in_one_shape() {
    let sandbox = reviewed();
    let merge = [&MERGE[..], &["-m", "reviewed", "--json"]].concat();
    let report = sandbox.ok(&merge).json();
    let shape = ["bases", "commit", "conflicts", "io", "outcome", "repeated", "source_deleted", "tables", "timings_ms"];
    assert_eq!(fields(&report), shape);
    assert_eq!(report["outcome"], "fast-forward");
    assert_eq!(
        report["tables"],
        json!({"Person": {
            "rows_before": 2, "rows": 3, "source": null, "target": null, "added": null, "removed": null,
            "fragments_adopted": 0, "rows_rewritten": 0,
        }})
    );
    assert_eq!((&report["commit"]["ref"], &report["bases"][0]["ref"]), (&json!("main@2"), &json!("main@1")));
    assert_eq!(report["commit"]["parents"][1]["ref"], "review@1");
    assert_eq!(report["commit"]["changes"][0]["message"], "reviewed");
    for count in ["requests", "serial_rounds", "bytes_read", "bytes_written"] {
        assert!(report["io"][count].as_u64() >= Some(1), "{count}: {report}");
    }
    assert_eq!(fields(&report["timings_ms"]), ["captured", "planned", "published", "queued", "staged"]);
    assert!(report["timings_ms"]["published"].as_f64() > Some(0.0), "{report}");
    assert_eq!((&report["conflicts"], &report["source_deleted"]), (&json!([]), &Value::Null));
    let again = sandbox.ok(&merge).json();
    assert_eq!(fields(&again), shape);
    assert_eq!(
        (&again["outcome"], &again["commit"], &again["tables"]),
        (&json!("up-to-date"), &Value::Null, &json!({}))
    );
    sandbox.ok(&["fsck"]);
}

#[test]
fn rows_of_one_table_come_together_and_are_counted_by_side() {
    let sandbox = reviewed();
    run(&sandbox, "review", "MATCH (p:Person {id: 'grace'}) SET p.name = 'Grace H.'");
    run(&sandbox, "main", "MATCH (p:Person {id: 'grace'}) SET p.born = date('1906-12-09')");
    run(&sandbox, "main", "MATCH (p:Person {id: 'ada'}) SET p.name = 'Ada L.'");
    run(&sandbox, "main", "MATCH (a:Person {id: 'ada'})-[k:Knows]->() DELETE k");
    let report = sandbox.ok(&[&MERGE[..], &["--json"]].concat()).json();
    assert_eq!((&report["outcome"], &report["source_deleted"]), (&json!("merged"), &Value::Null));
    let table = &report["tables"]["Person"];
    assert_eq!((&table["rows_before"], &table["rows"]), (&json!(2), &json!(3)), "{report}");
    assert_eq!(table["source"], json!({"added": 1, "changed": 1, "removed": 0}));
    assert_eq!(table["target"], json!({"added": 0, "changed": 2, "removed": 0}));
    assert_eq!((&table["added"], &table["removed"], &table["rows_rewritten"]), (&json!(1), &json!(0), &json!(1)));
    assert!(table["fragments_adopted"].is_u64(), "{report}");
    let grace = sandbox.ok(&["get", "Person", "grace"]).json();
    assert_eq!(grace["data"], json!({"id": "grace", "name": "Grace H.", "born": "1906-12-09"}));
    sandbox.ok(&["fsck"]);
}

#[test]
fn people_are_told_what_changed() {
    let sandbox = reviewed();
    run(&sandbox, "main", "MATCH (p:Person {id: 'grace'}) SET p.name = 'Grace H.'");
    let merged = sandbox.ok(&MERGE);
    let told = "table   source    target    before  rows\nPerson  +1 ~0 -0  +0 ~1 -0       2     3\nmain@3 ";
    assert!(merged.stdout.starts_with(told), "{merged:?}");
    let again = sandbox.ok(&MERGE);
    assert_eq!(again.stdout, "");
    assert!(again.stderr.contains("`main` has all that `review` brings"), "{again:?}");
    assert_eq!(sandbox.run_with_input(&["load", "-"], SEAT).code, Some(0));
    let back = sandbox.ok(&["merge", "main", "--into", "review"]);
    assert!(back.stdout.contains("\nSeat    -       -            1     2\n"), "{back:?}");
    assert!(back.stderr.contains("`review` is now as `main` is"), "{back:?}");
}

#[test]
fn conflicts_have_an_exit_code_of_their_own_and_are_all_listed() {
    let sandbox = divided();
    let error = sandbox.fails(3, &[&MERGE[..], &["--json"]].concat()).error();
    assert_eq!((&error["kind"], &error["code"]), (&json!("conflict"), &json!("merge-conflicts")));
    assert_eq!(error["conflicts"], json!([disagreement()]));
    let told = sandbox.fails(3, &MERGE).stderr;
    let first =
        "error: merging `review` into `main` meets 1 conflict\n  both-changed: Person \"ada\" name: base \"Ada\", ";
    assert!(told.starts_with(first), "{told}");
    let hint = told.lines().find(|line| line.starts_with("hint: ")).unwrap_or_default();
    assert!(["--dry-run", "--resolve", "--strategy"].iter().all(|option| hint.contains(option)), "{told}");
    assert_eq!(sandbox.ok(&["show", "--json"]).json()["ref"], "main@2", "nothing was written");
}

#[test]
fn many_conflicts_are_told_in_part_and_counted() {
    let sandbox = many(12);
    let told = sandbox.fails(3, &MERGE).stderr;
    assert!(told.starts_with("error: merging `review` into `main` meets 12 conflicts\n"), "{told}");
    assert_eq!(told.matches("\n  both-changed: Person ").count(), 10, "{told}");
    assert!(told.contains("\n  and 2 more\n"), "{told}");
    let error = sandbox.fails(3, &[&MERGE[..], &["--json"]].concat()).error();
    assert_eq!(error["conflicts"].as_array().map(Vec::len), Some(12));
}

#[test]
fn what_rows_hold_cannot_steer_the_terminal() {
    let sandbox = reviewed();
    for (branch, name) in [("review", "Ada\\u009b31m"), ("main", "Ada\\u009b32m")] {
        let row = format!("{{\"table\":\"Person\",\"data\":{{\"id\":\"ada\",\"name\":\"{name}\"}}}}\n");
        let loaded = sandbox.run_with_input(&["load", "-", "--mode", "upsert", "--branch", branch], row);
        assert_eq!(loaded.code, Some(0), "{loaded:?}");
    }
    for told in [sandbox.fails(3, &MERGE).stderr, sandbox.fails(3, &[&MERGE[..], &["--dry-run"]].concat()).stdout] {
        assert!(told.contains("Ada") && !told.contains('\u{9b}'), "{told:?}");
    }
}

/// A graph whose branches disagree about the names of `count` people.
fn many(count: usize) -> Sandbox {
    let sandbox = people();
    let load = |branch: &str, name: &str| {
        let line = |i| format!("{{\"table\":\"Person\",\"data\":{{\"id\":\"p{i:03}\",\"name\":\"{name}\"}}}}\n");
        let rows: String = (0..count).map(line).collect();
        let loaded = sandbox.run_with_input(&["load", "-", "--mode", "upsert", "--branch", branch], rows);
        assert_eq!(loaded.code, Some(0), "{loaded:?}");
    };
    load("main", "base");
    sandbox.ok(&["branch", "create", "review"]);
    load("review", "theirs");
    load("main", "ours");
    sandbox
}

#[test]
fn a_deleted_node_is_told_with_the_edges_that_it_leaves() {
    let sandbox = people();
    sandbox.ok(&["branch", "create", "review"]);
    let seat =
        "{\"table\":\"Sat\",\"from\":\"grace\",\"to\":[-5,true],\"id\":\"01HZX3T5XW0000000000000001\",\"data\":{}}\n";
    assert_eq!(sandbox.run_with_input(&["load", "-", "--branch", "review"], seat).code, Some(0));
    run(&sandbox, "main", "MATCH (p:Person {id: 'grace'}) DETACH DELETE p");
    let error = sandbox.fails(3, &[&MERGE[..], &["--json"]].concat()).error();
    let grace = json!({"name": "Grace"});
    assert_eq!(
        error["conflicts"],
        json!([{
            "kind": "dangling-edge", "table": "Person", "key": "grace", "property": null,
            "base": grace, "source": grace, "target": null,
            "with": [
                {"table": "Knows", "key": ["ada", "grace"]},
                {"table": "Sat", "key": "01HZX3T5XW0000000000000001"},
            ],
        }])
    );
    let told = sandbox.fails(3, &[&MERGE[..], &["--dry-run"]].concat()).stdout;
    let about =
        "1. dangling-edge: Person \"grace\"; with Knows [\"ada\",\"grace\"], Sat \"01HZX3T5XW0000000000000001\"\n";
    assert!(told.contains(about), "{told}");
    assert!(told.contains("\n     target  no row\n"), "{told}");
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
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let sandbox = Sandbox::new();
    for arguments in [
        &["merge", "review"][..],
        &["merge", "--into", "main"],
        &["merge", "--apply", "p", "review"],
        &["merge", "--apply", "p", "--into", "main"],
        &["merge", "--apply", "p", "--strategy", "source"],
        &["merge", "--apply", "p", "--resolve", "r"],
        &["merge", "--apply", "p", "--dry-run"],
        &["merge", "--apply", "p", "--plan", "q"],
        &["merge", "--apply", "p", "--if-head", "main@1"],
        &["merge", "review", "--into", "main", "--limit", "3"],
        &["merge", "review", "--into", "main", "--skip", "3"],
        &["merge", "review", "--into", "main", "--dry-run", "--if-head", "main@1"],
        &["merge", "review", "--into", "main", "--plan", "p", "--squash"],
        &["merge", "review", "--into", "main", "--strategy", "ours"],
        &["merge", "review", "--into", "main", "--strategy", "Person.name"],
    ] {
        let outcome = sandbox.fails(2, arguments);
        assert_eq!(outcome.stdout, "", "{arguments:?}");
    }
}
