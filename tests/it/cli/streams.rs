//! A reader that goes away, and a user who presses Ctrl-C.

use std::io::{self, Write};
use std::process::{Command, Stdio};

use kit::cli::finish;

use super::people;

#[test]
fn a_reader_that_went_away_ends_the_command_silently() {
    let sandbox = people();
    for arguments in [&["export"][..], &["log"], &["log", "--json"], &["get", "Person", "ada"], &["--help"]] {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let outcome = finish(sandbox.command(arguments).stdout(writer).spawn().unwrap());
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(141), ""), "{arguments:?}");
    }
}

#[test]
fn a_full_disk_is_not_taken_for_success() {
    let sandbox = people();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let outcome = finish(sandbox.command(&["export", "--json"]).stdout(full).spawn().unwrap());
    assert_eq!((outcome.code, outcome.error()["code"].as_str()), (Some(5), Some("output-failed")), "{outcome:?}");
}

#[test]
fn an_interrupted_load_leaves_nothing_half_done() {
    let sandbox = people();
    let mut child = sandbox.command(&["load", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // More than a pipe holds, so the load is reading for sure when the last write returns.
    for row in 0..20_000 {
        let line = format!("{{\"table\":\"Person\",\"data\":{{\"id\":\"p{row}\",\"name\":\"Person {row}\"}}}}\n");
        stdin.write_all(line.as_bytes()).unwrap();
    }
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let outcome = finish(child);
    assert_eq!(outcome.code, Some(130), "{outcome:?}");
    assert!(outcome.stderr.starts_with("error: interrupted: nothing half-done remains"), "{outcome:?}");
    drop(stdin);
    assert_eq!(sandbox.ok(&["show", "--json"]).json()["ref"], "main@1");
    sandbox.ok(&["fsck"]);
}
