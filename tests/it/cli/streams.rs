//! A reader that goes away, and a user who presses Ctrl-C.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use kit::cli::finish;

use super::people;

/// Ctrl-C.
fn interrupt(child: &Child) {
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

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
    interrupt(&child);
    let outcome = finish(child);
    assert_eq!(outcome.code, Some(130), "{outcome:?}");
    assert!(outcome.stderr.starts_with("error: interrupted: nothing half-done remains"), "{outcome:?}");
    drop(stdin);
    assert_eq!(sandbox.ok(&["show", "--json"]).json()["ref"], "main@1");
    sandbox.ok(&["fsck"]);
}

#[test]
fn an_interrupted_export_leaves_neither_its_file_nor_a_part_of_it() {
    let sandbox = people();
    // A pipe that nobody writes to instead of a data file: whoever reads it waits, so the export is under way when it is interrupted.
    for path in files(&sandbox.path().join("graph/tables")) {
        if path.parent().is_some_and(|folder| folder.ends_with("data")) {
            fs::remove_file(&path).unwrap();
            assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        }
    }
    for former in [None, Some("former")] {
        fs::create_dir_all(sandbox.path().join("out")).unwrap();
        if let Some(text) = former {
            sandbox.file("out/rows.jsonl", text);
        }
        let mut child = sandbox.command(&["export", "-o", "out/rows.jsonl"]).spawn().unwrap();
        let partial = sandbox.path().join(format!("out/.rows.jsonl.{}.partial", child.id()));
        while !partial.exists() {
            assert_eq!(child.try_wait().unwrap(), None, "it ended before it began to write");
            thread::sleep(Duration::from_millis(1));
        }
        interrupt(&child);
        let outcome = finish(child);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(130), ""), "{outcome:?}");
        assert!(outcome.stderr.starts_with("error: interrupted"), "{outcome:?}");
        let left: Vec<_> =
            files(&sandbox.path().join("out")).iter().map(|path| fs::read_to_string(path).unwrap()).collect();
        assert_eq!(left, former.map(str::to_owned).into_iter().collect::<Vec<_>>());
    }
}
