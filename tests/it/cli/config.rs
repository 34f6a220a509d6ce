//! Which graph a command takes, and who the author of a change is.

use kit::cli::{Sandbox, finish};

use super::SCHEMA;

#[test]
fn without_a_graph_the_command_says_how_to_name_one() {
    let outcome = Sandbox::new().fails(2, &["log"]);
    assert!(outcome.stderr.starts_with("error: no graph was named\nhint: name it with --graph URI"), "{outcome:?}");
}

#[test]
fn a_settings_file_is_found_upwards_and_its_path_starts_there() {
    let sandbox = Sandbox::with_graph(SCHEMA);
    sandbox.file("deep/er/note.txt", "");
    let mut command = sandbox.command(&["log", "--json"]);
    let outcome = finish(command.current_dir(sandbox.path().join("deep/er")).spawn().unwrap());
    assert_eq!((outcome.code, &outcome.json()["commits"][0]["ref"]), (Some(0), &"main@0".into()));
}

#[test]
fn the_argument_wins_over_the_environment_and_that_over_the_file() {
    let sandbox = Sandbox::with_graph(SCHEMA);
    sandbox.ok(&["init", "--graph", "other", "--schema", "schema.cypher"]);
    let with_environment = |arguments: &[&str], graph: &str| {
        let mut command = sandbox.command(arguments);
        finish(command.env("PLEACH_GRAPH", graph).spawn().unwrap())
    };
    sandbox.ok(&["branch", "create", "only-in-other", "--graph", "other"]);
    let show = ["branch", "show", "only-in-other"];
    assert_eq!(sandbox.run(&show).code, Some(1));
    assert_eq!(with_environment(&show, "other").code, Some(0));
    assert_eq!(with_environment(&[&show[..], &["--graph", "graph"]].concat(), "other").code, Some(1));
}

#[test]
fn a_settings_file_with_an_unknown_setting_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.file("pleach.toml", "grpah = \"g\"\n");
    let outcome = sandbox.fails(1, &["log", "--json"]);
    assert_eq!(outcome.error()["code"], "config-invalid");
    assert!(outcome.error()["message"].as_str().is_some_and(|text| text.contains("pleach.toml")), "{outcome:?}");
}

#[test]
fn the_author_is_the_named_one_or_gits_or_the_system_user() {
    let sandbox = Sandbox::with_graph(SCHEMA);
    let author = |sandbox: &Sandbox, name: &str| {
        sandbox.ok(&["branch", "show", name, "--json"]).json()["head"]["changes"][0]["author"].clone()
    };
    sandbox.ok(&["branch", "create", "a", "--author", "Ada <ada@example.org>"]);
    assert_eq!(author(&sandbox, "a"), "Ada <ada@example.org>");
    sandbox.ok(&["branch", "create", "b"]);
    assert_eq!(author(&sandbox, "b"), "tester");
    let mut command = sandbox.command(&["branch", "create", "c"]);
    assert_eq!(finish(command.env("PLEACH_AUTHOR", "Env").spawn().unwrap()).code, Some(0));
    assert_eq!(author(&sandbox, "c"), "Env");
    let has_git = std::process::Command::new("git").arg("--version").output().is_ok();
    if has_git {
        sandbox.file(".gitconfig", "[user]\n\tname = Grace\n\temail = grace@example.org\n");
        sandbox.ok(&["branch", "create", "d"]);
        assert_eq!(author(&sandbox, "d"), "Grace <grace@example.org>");
    }
}
