//! Runs the `pleach` binary as a user would: in a folder of its own, with a bare environment.

#![allow(clippy::panic, clippy::missing_panics_doc, reason = "what fails here fails the test")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// The binary of this build. It lies beside the test binary's folder: Cargo tells its place to tests of the same package
/// only. `./dev test` builds it before it runs the tests.
pub fn binary() -> PathBuf {
    let test = std::env::current_exe().expect("the test binary has a path");
    let folder = test.ancestors().nth(2).expect("the test binary lies in target/PROFILE/deps");
    let path = folder.join(format!("pleach{}", std::env::consts::EXE_SUFFIX));
    assert!(path.exists(), "{} is missing: run `cargo build --workspace` first", path.display());
    path
}

/// What a run came to.
#[derive(Debug)]
pub struct Outcome {
    /// The exit code; `None` if a signal ended the process.
    pub code: Option<i32>,
    /// All of standard output.
    pub stdout: String,
    /// All of standard error.
    pub stderr: String,
}

impl Outcome {
    /// Standard output as one JSON value.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// The error object that `--json` prints on standard error.
    pub fn error(&self) -> Value {
        let line = self.stderr.lines().last().unwrap_or_default();
        let mut value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {self:?}"));
        value["error"].take()
    }
}

/// A folder to run commands in.
#[derive(Debug)]
pub struct Sandbox {
    folder: TempDir,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self::new()
    }
}

impl Sandbox {
    /// An empty folder.
    pub fn new() -> Self {
        Self { folder: TempDir::new().expect("a temporary folder") }
    }

    /// A folder with a graph of this schema, which commands find by a `pleach.toml`.
    pub fn with_graph(ddl: &str) -> Self {
        let sandbox = Self::new();
        sandbox.file("pleach.toml", "graph = \"graph\"\n");
        sandbox.file("schema.cypher", ddl);
        sandbox.ok(&["init", "--schema", "schema.cypher"]);
        sandbox
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file below the folder.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder");
        fs::write(path, content).expect("a file");
    }

    /// A command that was not started yet: in the folder, without input, and with nothing of the outer environment that
    /// could name a graph or an author.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command
            .args(arguments)
            .current_dir(self.path())
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .env("HOME", self.path())
            .env("USER", "tester")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs a command to its end.
    pub fn run(&self, arguments: &[&str]) -> Outcome {
        finish(self.command(arguments).spawn().expect("the command starts"))
    }

    /// Runs a command that reads `input`.
    pub fn run_with_input(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> Outcome {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().expect("the command starts");
        let mut stdin = child.stdin.take().expect("its input is a pipe");
        // A command that refuses early does not read its input; that is not this helper's concern.
        drop(stdin.write_all(input.as_ref()));
        drop(stdin);
        finish(child)
    }

    /// Runs a command that must succeed.
    pub fn ok(&self, arguments: &[&str]) -> Outcome {
        let outcome = self.run(arguments);
        assert_eq!(outcome.code, Some(0), "{arguments:?}: {outcome:?}");
        outcome
    }

    /// Runs a command that must end with `code`.
    pub fn fails(&self, code: i32, arguments: &[&str]) -> Outcome {
        let outcome = self.run(arguments);
        assert_eq!(outcome.code, Some(code), "{arguments:?}: {outcome:?}");
        outcome
    }
}

/// Waits for a process and gathers what it wrote.
pub fn finish(child: Child) -> Outcome {
    let output = child.wait_with_output().expect("the command ends");
    Outcome { code: code(output.status), stdout: text(output.stdout), stderr: text(output.stderr) }
}

fn code(status: ExitStatus) -> Option<i32> {
    status.code()
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("output is UTF-8")
}
