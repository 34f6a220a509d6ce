//! Conflicts that are settled by strategies and resolutions, and what else a merge is told to do.

use serde_json::{Value, json};

use super::{MERGE, divided, fields, name, reviewed, run};

const OF_NAME: &str = "{\"table\":\"Person\",\"key\":\"ada\",\"property\":\"name\",";

#[test]
fn a_strategy_says_which_side_wins() {
    for (strategies, winner) in [
        (&["source"][..], "Ada L."),
        (&["Person=target"], "Ada B."),
        (&["Person.name=source", "target", "Person=target"], "Ada L."),
        (&["Person=source", "Person=target"], "Ada B."),
    ] {
        let sandbox = divided();
        let options = strategies.iter().flat_map(|strategy| ["--strategy", strategy]);
        let arguments: Vec<&str> = MERGE.into_iter().chain(options).collect();
        sandbox.ok(&arguments);
        assert_eq!(name(&sandbox, "ada"), winner, "{strategies:?}");
        assert_eq!(name(&sandbox, "alan"), "Alan", "what goes together is there all the same");
        sandbox.ok(&["fsck"]);
    }
}

#[test]
fn a_strategy_that_names_nothing_is_refused() {
    let sandbox = divided();
    for (strategy, word) in [("Persons=source", "Person?"), ("Person.nam=source", "name?"), ("Person.id=source", "key")]
    {
        let error = sandbox.fails(1, &[&MERGE[..], &["--json", "--strategy", strategy]].concat()).error();
        assert_eq!(error["code"], "strategy-invalid", "{error}");
        assert!(error["message"].to_string().contains(word), "{strategy}: {error}");
    }
}

#[test]
fn a_resolution_decides_one_thing() {
    for (answer, winner) in [
        ("\"choice\":\"source\"}", "Ada L."),
        ("\"choice\":\"target\"}", "Ada B."),
        ("\"value\":\"Ada K.\"}", "Ada K."),
    ] {
        let sandbox = divided();
        sandbox.file("r.jsonl", format!("{OF_NAME}{answer}\n"));
        sandbox.ok(&[&MERGE[..], &["--resolve", "r.jsonl"]].concat());
        assert_eq!(name(&sandbox, "ada"), winner, "{answer}");
        sandbox.ok(&["fsck"]);
    }
}

#[test]
fn resolutions_come_from_standard_input_and_may_be_about_the_row() {
    let sandbox = divided();
    let row = "{\"table\":\"Person\",\"key\":\"ada\",\"choice\":\"source\"}";
    let merged = sandbox.run_with_input(&[&MERGE[..], &["--resolve", "-", "--strategy", "target"]].concat(), row);
    assert_eq!(merged.code, Some(0), "{merged:?}");
    assert_eq!(name(&sandbox, "ada"), "Ada L.", "a resolution goes before a strategy");
    sandbox.ok(&["fsck"]);
}

#[test]
fn a_wrong_resolution_is_told_with_its_file_and_line() {
    let sandbox = divided();
    let good = format!("{OF_NAME}\"choice\":\"source\"}}");
    for (line, place, word) in [
        ("{\"table\":\"Person\",\"key\":\"ada\",\"side\":\"source\"}", "r.jsonl:2: ", "side"),
        ("{\"table\":\"Person\",\"key\":\"ada\"}", "r.jsonl:2: ", "neither"),
        ("no json", "r.jsonl:2: ", "expected"),
        // Only the engine knows these.
        (
            "{\"table\":\"Persons\",\"key\":\"ada\",\"choice\":\"source\"}",
            "r.jsonl does",
            "resolution 2: there is no table",
        ),
        ("{\"table\":\"Person\",\"key\":7,\"choice\":\"source\"}", "r.jsonl does", "resolution 2: key 7"),
        (
            "{\"table\":\"Person\",\"key\":\"ada\",\"value\":\"x\"}",
            "r.jsonl does",
            "resolution 2: a value needs a property",
        ),
        ("{\"table\":\"Person\",\"key\":\"grace\",\"choice\":\"source\"}", "r.jsonl does", "resolution 2: "),
        (good.as_str(), "r.jsonl does", "resolved twice"),
    ] {
        sandbox.file("r.jsonl", format!("{good}\n{line}\n"));
        for arguments in [&["--json", "--resolve", "r.jsonl"][..], &["--json", "--dry-run", "--resolve", "r.jsonl"]] {
            let error = sandbox.fails(1, &[&MERGE[..], arguments].concat()).error();
            assert_eq!((&error["code"], &error["kind"]), (&json!("resolution-invalid"), &json!("invalid")), "{line}");
            let told = error["message"].as_str().unwrap_or_default();
            assert!(told.starts_with(place) && told.contains(word), "{line}: {told}");
        }
    }
    let piped = sandbox.run_with_input(&[&MERGE[..], &["--json", "--resolve", "-"]].concat(), "{}\n");
    assert!(piped.error()["message"].to_string().starts_with("\"standard input:1: "), "{piped:?}");
    let missing = sandbox.fails(1, &[&MERGE[..], &["--json", "--resolve", "nope.jsonl"]].concat());
    assert_eq!(missing.error()["code"], "file-unreadable");
    assert_eq!(sandbox.ok(&["show", "--json"]).json()["ref"], "main@2", "nothing was written");
}

#[test]
fn a_resolution_that_has_nothing_to_resolve_is_refused() {
    let sandbox = reviewed();
    sandbox.file("r.jsonl", format!("{OF_NAME}\"choice\":\"source\"}}\n"));
    let error = sandbox.fails(1, &[&MERGE[..], &["--json", "--resolve", "r.jsonl"]].concat()).error();
    assert!(error["message"].to_string().contains("resolution 1: there is nothing to resolve"), "{error}");
    assert_eq!(sandbox.ok(&["show", "--json"]).json()["ref"], "main@1");
}

#[test]
fn a_squashed_merge_does_not_remember_its_source() {
    let sandbox = divided();
    let merge = [&MERGE[..], &["--squash", "--strategy", "source", "--json"]].concat();
    let report = sandbox.ok(&merge).json();
    let parents = report["commit"]["parents"].as_array().expect("parents");
    assert_eq!((parents.len(), &parents[0]["ref"]), (1, &json!("main@2")), "{report}");
    assert_eq!(sandbox.ok(&["merge-base", "review", "main", "--json"]).json()["bases"][0]["ref"], "main@1");
    sandbox.ok(&["fsck"]);
}

#[test]
fn the_source_is_deleted_when_that_is_asked_for() {
    let sandbox = reviewed();
    let error = sandbox.fails(1, &["merge", "review@1", "--into", "main", "--delete-source", "--json"]).error();
    assert_eq!(error["code"], "source-not-a-branch");
    let report = sandbox.ok(&[&MERGE[..], &["--delete-source", "--json"]].concat()).json();
    assert_eq!(report["source_deleted"], true);
    sandbox.fails(1, &["branch", "show", "review"]);
    sandbox.ok(&["branch", "create", "review"]);
    run(&sandbox, "review", "MATCH (p:Person {id: 'ada'}) SET p.name = 'Ada L.'");
    let told = sandbox.ok(&[&MERGE[..], &["--delete-source"]].concat());
    assert!(told.stderr.contains("`review` was deleted"), "{told:?}");
    sandbox.ok(&["fsck"]);
}

#[test]
fn a_conflict_keeps_numbers_as_they_are_stored() {
    let sandbox = kit::cli::Sandbox::with_graph("CREATE NODE TABLE Big (id INT64 PRIMARY KEY, doc JSON);");
    let load = |branch: &str, doc: &str| {
        let row = format!("{{\"table\":\"Big\",\"data\":{{\"id\":7,\"doc\":{doc}}}}}\n");
        let loaded = sandbox.run_with_input(&["load", "-", "--mode", "upsert", "--branch", branch], row);
        assert_eq!(loaded.code, Some(0), "{loaded:?}");
    };
    load("main", "1");
    sandbox.ok(&["branch", "create", "review"]);
    load("review", "12345678901234567890123");
    load("main", "[2]");
    let told = sandbox.fails(3, &[&MERGE[..], &["--json"]].concat());
    assert!(told.stderr.contains("\"key\":7,\"property\":\"doc\""), "{told:?}");
    assert!(told.stderr.contains("\"source\":12345678901234567890123,\"target\":[2]"), "{told:?}");
    let conflict: Value = told.error()["conflicts"][0].clone();
    assert_eq!(fields(&conflict), ["base", "key", "kind", "property", "source", "table", "target", "with"]);
    // A plan keeps them too, and what is copied from it.
    sandbox.fails(3, &[&MERGE[..], &["--plan", "plan.json"]].concat());
    let plan = std::fs::read_to_string(sandbox.path().join("plan.json")).expect("a plan");
    assert!(plan.contains("\"source\": 12345678901234567890123,"), "{plan}");
    let line = "{\"table\":\"Big\",\"key\":7,\"property\":\"doc\",\"value\":98765432109876543210}";
    sandbox.file("plan.json", plan.replace("\"resolutions\": []", &format!("\"resolutions\": [{line}]")));
    sandbox.ok(&["merge", "--apply", "plan.json"]);
    let row = sandbox.ok(&["get", "Big", "7"]).stdout;
    assert!(row.contains("\"doc\":98765432109876543210"), "{row}");
}
