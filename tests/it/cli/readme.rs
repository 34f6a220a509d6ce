//! What the README shows is what happens.

use std::process::{Command, Stdio};

use kit::cli::{Sandbox, binary};

#[test]
fn the_first_session_runs_as_written() {
    let readme = include_str!("../../../README.md");
    let session = readme.split("```sh session\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a session");
    let sandbox = Sandbox::new();
    let folder = binary().parent().map(ToOwned::to_owned).expect("the binary has a folder");
    let path = std::env::join_paths(
        std::iter::once(folder).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", session])
        .current_dir(sandbox.path())
        .env_remove("PLEACH_AUTHOR")
        .env("PATH", path.expect("a path"))
        .stdin(Stdio::null())
        .output()
        .expect("bash");
    assert!(output.status.success(), "{output:?}");
    let out = String::from_utf8_lossy(&output.stdout);
    let rows: Vec<&str> = out.lines().filter(|line| line.starts_with('{')).collect();
    assert!(rows.iter().any(|row| row.contains("\"Mary\"")), "as it was on main: {out}");
    assert_eq!(rows.iter().filter(|row| row.contains("Mary Somerville")).count(), 2, "on review, then on main: {out}");
    assert!(out.contains("clean: "), "{out}");
}
