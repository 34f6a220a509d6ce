//! Help texts: there for every command, on standard output, with examples.

use kit::cli::Sandbox;

const COMMANDS: &[&[&str]] = &[
    &["init"],
    &["load"],
    &["query"],
    &["run"],
    &["get"],
    &["export"],
    &["branch", "create"],
    &["branch", "list"],
    &["branch", "show"],
    &["branch", "delete"],
    &["merge"],
    &["merge-base"],
    &["optimize"],
    &["log"],
    &["show"],
    &["outcome"],
    &["schema", "show"],
    &["schema", "plan"],
    &["schema", "apply"],
    &["schema", "diff"],
    &["fsck"],
    &["probe"],
];

#[test]
fn every_command_explains_itself_on_standard_output() {
    let sandbox = Sandbox::new();
    for command in COMMANDS {
        let outcome = sandbox.ok(&[command, &["--help"][..]].concat());
        assert!(outcome.stdout.contains(&format!("Usage: pleach {}", command.join(" "))), "{outcome:?}");
        assert!(outcome.stdout.contains("Examples:\n  "), "{outcome:?}");
        assert_eq!(outcome.stderr, "");
    }
}

#[test]
fn the_overview_lists_commands_and_exit_codes() {
    let outcome = Sandbox::new().ok(&["--help"]);
    for command in COMMANDS {
        assert!(outcome.stdout.contains(&format!("\n  {}", command[0])), "{command:?} in {outcome:?}");
    }
    assert!(outcome.stdout.contains("Exit codes: 0 done, 1 refused or not found, 2 usage, 3 conflict"), "{outcome:?}");
}

#[test]
fn the_version_is_one_line() {
    let outcome = Sandbox::new().ok(&["--version"]);
    assert!(outcome.stdout.starts_with("pleach 0."), "{outcome:?}");
    assert_eq!(outcome.stdout.lines().count(), 1);
}
