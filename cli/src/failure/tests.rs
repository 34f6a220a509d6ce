//! Exit codes, and both forms of an error report.

use clap::Parser;

use super::*;
use crate::args::Cli;

fn written(failure: &Failure, json: bool) -> String {
    let mut out = anstream::StripStream::new(Vec::new());
    failure.write(&mut out, json).unwrap();
    String::from_utf8(out.into_inner()).unwrap()
}

#[test]
fn every_kind_has_its_exit_code() {
    use ErrorKind as Kind;
    for (class, code, name) in [
        (Class::Engine(Kind::Invalid), 1, "invalid"),
        (Class::Engine(Kind::NotFound), 1, "not-found"),
        (Class::Engine(Kind::AlreadyExists), 1, "already-exists"),
        (Class::Usage, 2, "usage"),
        (Class::Engine(Kind::Conflict), 3, "conflict"),
        (Class::Engine(Kind::Contention), 4, "contention"),
        (Class::Engine(Kind::Unavailable), 5, "unavailable"),
        (Class::Engine(Kind::OutcomeUnknown), 6, "outcome-unknown"),
        (Class::Engine(Kind::Data), 7, "data"),
        (Class::Engine(Kind::Internal), 70, "internal"),
        (Class::Interrupted, 130, "interrupted"),
        (Class::BrokenPipe, 141, "broken-pipe"),
    ] {
        assert_eq!((class.exit_code(), class.name()), (code, name));
    }
}

#[test]
fn an_error_is_told_with_its_causes_and_a_hint() {
    let source = io::Error::new(io::ErrorKind::NotFound, "no such file");
    let failure = Failure::from(CliError::Unreadable { path: "a.jsonl".into(), source });
    assert_eq!(failure.exit_code(), 1);
    assert_eq!(written(&failure, false), "error: cannot read a.jsonl\n  caused by: no such file\n");
    let failure = Failure::from(CliError::NoGraph);
    assert_eq!(failure.exit_code(), 2);
    assert!(written(&failure, false).starts_with("error: no graph was named\nhint: name it with --graph URI"));
}

#[test]
fn an_error_in_json_is_one_object_on_one_line() {
    let source = io::Error::new(io::ErrorKind::NotFound, "no such file");
    let text = written(&CliError::Unreadable { path: "a.jsonl".into(), source }.into(), true);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        value,
        serde_json::json!({"error": {
            "kind": "not-found", "code": "file-unreadable", "message": "cannot read a.jsonl: no such file", "hint": null,
        }})
    );
    assert_eq!(text.lines().count(), 1);
}

#[test]
fn a_usage_error_in_json_has_the_message_alone() {
    let error = Cli::try_parse_from(["pleach", "log", "--no-such"]).unwrap_err();
    let value: serde_json::Value = serde_json::from_str(&written(&Failure::Usage(error), true)).unwrap();
    assert_eq!(value["error"]["kind"], "usage");
    assert_eq!(value["error"]["message"], "unexpected argument '--no-such' found");
    assert!(value["error"]["hint"].as_str().unwrap().starts_with("Usage: pleach log"));
}

#[test]
fn json_is_asked_for_before_a_double_dash_only() {
    let line = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
    assert!(asks_for_json(&line("pleach log --nope --json")));
    assert!(!asks_for_json(&line("pleach get T -- --json")));
}

#[test]
fn a_broken_pipe_is_silent_and_other_failed_writes_are_not() {
    let broken = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
    assert_eq!((broken.exit_code(), written(&broken, false)), (141, String::new()));
    let full = Failure::from(io::Error::from(io::ErrorKind::StorageFull));
    assert_eq!(full.exit_code(), 5);
    assert!(written(&full, false).starts_with("error: cannot write to standard output"));
}

#[test]
fn the_documentation_lists_every_code_of_the_command_line() {
    let errors = include_str!("../../../docs/errors.md");
    let listed = errors.split("## The command line").nth(1).expect("a table of these codes");
    let source = concat!(include_str!("../failure.rs"), include_str!("cli.rs"));
    let functions = source.split("fn code(&self)").skip(1).filter_map(|rest| rest.split("\n    }\n").next());
    let codes: Vec<&str> = functions.flat_map(|body| body.split('"').skip(1).step_by(2)).collect();
    assert!(codes.len() > 10, "{codes:?}");
    for code in codes {
        assert!(listed.contains(&format!("| `{code}` |")), "`{code}` is not listed");
    }
}
