//! Wrong arguments end with exit code 2 and touch nothing.

use kit::cli::Sandbox;

#[test]
fn unknown_arguments_and_commands_are_refused() {
    let sandbox = Sandbox::new();
    for arguments in [
        &["--no-such"][..],
        &["frobnicate"],
        &["log", "--no-such"],
        &["log", "main", "surplus"],
        &["branch", "frobnicate"],
        &["branch", "create"],
        &["branch"],
        &["get", "Person"],
        &["init"],
        &["load", "rows.jsonl", "--mode", "sideways"],
        &["log", "-n", "many"],
        &[],
    ] {
        let outcome = sandbox.fails(2, arguments);
        assert_eq!(outcome.stdout, "", "{arguments:?}");
        assert!(outcome.stderr.contains("Usage: pleach") || outcome.stderr.contains("try '--help'"), "{outcome:?}");
    }
}

#[test]
fn a_usage_error_in_json_is_one_object() {
    let outcome = Sandbox::new().fails(2, &["--json", "log", "--no-such"]);
    let error = outcome.error();
    assert_eq!((error["kind"].as_str(), error["code"].as_str()), (Some("usage"), Some("usage")));
    assert_eq!(error["message"], "unexpected argument '--no-such' found");
    assert_eq!(outcome.stderr.lines().count(), 1);
}

#[test]
fn a_missing_file_is_named() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.fails(1, &["init", "--graph", "g", "--schema", "nope.cypher", "--json"]);
    assert_eq!(outcome.error()["code"], "file-unreadable");
    assert!(outcome.error()["message"].as_str().is_some_and(|text| text.contains("nope.cypher")));
    assert!(!sandbox.path().join("g").exists(), "nothing was made");
}

#[test]
fn a_wrong_log_filter_is_refused() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["log", "--json"]);
    let outcome = kit::cli::finish(command.env("PLEACH_LOG", "pleach=louder").spawn().unwrap());
    assert_eq!((outcome.code, outcome.error()["code"].as_str()), (Some(2), Some("log-filter-invalid")));
}
