//! The probe from outside.

use kit::cli::Sandbox;

#[test]
fn a_local_folder_keeps_every_promise_and_nothing_remains() {
    let sandbox = Sandbox::new();
    sandbox.file("store/note.txt", "not ours");
    let report = sandbox.ok(&["probe", "store", "--quick", "--json"]).json();
    assert_eq!((&report["safe"], &report["left_behind"]), (&true.into(), &serde_json::Value::Null), "{report}");
    let checks = report["checks"].as_array().expect("checks");
    assert!(checks.iter().any(|check| check["kept"] == true), "{report}");
    let left: Vec<_> = std::fs::read_dir(sandbox.path().join("store")).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(
        sandbox.ok(&["probe", "store", "--quick"]).stdout.lines().last().is_some_and(|line| line.starts_with("safe: "))
    );
}

#[test]
fn a_folder_that_does_not_exist_is_not_made() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.fails(1, &["probe", "nowhere", "--json"]);
    assert_eq!(outcome.error()["kind"], "not-found");
    assert!(!sandbox.path().join("nowhere").exists());
}
