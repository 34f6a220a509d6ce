//! Everything that can end a command: how it is told, and with which exit code.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Effects, Style};
use pleach::{ErrorKind, Violations};

use crate::output::printable;

const ERROR: Style = AnsiColor::Red.on_default().effects(Effects::BOLD);
const HINT: Style = AnsiColor::Cyan.on_default().effects(Effects::BOLD);

/// Why a command did not succeed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The engine refused or failed.
    Engine(pleach::Error),
    /// The command line itself refused or failed.
    Cli(CliError),
    /// The arguments are wrong.
    Usage(clap::Error),
    /// The reader of standard output went away; not worth a message.
    BrokenPipe,
    /// The user pressed Ctrl-C.
    Interrupted,
}

/// What goes wrong on this side of the engine.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error("no graph was named")]
    NoGraph,
    #[error("cannot read the settings in {}", path.display())]
    Config { path: PathBuf, source: toml::de::Error },
    #[error("cannot read {}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("cannot write {}", path.display())]
    Unwritable { path: PathBuf, source: io::Error },
    #[error("{} is not UTF-8 text", path.display())]
    NotUtf8 { path: PathBuf },
    #[error("no statement was given")]
    NoStatement,
    #[error("the parameter {name} is given twice")]
    ParameterTwice { name: String },
    #[error("the parameter {name} begins like JSON and is none")]
    ParameterNotJson { name: String },
    #[error("cannot write to standard output")]
    Output { source: io::Error },
    #[error("{table} has no row with the key {key} at {at}")]
    RowNotFound { table: String, key: String, at: String },
    #[error("the key of {table} has {} ({}), {given} given", parts(expected.len()), expected.join(", "))]
    KeyParts { table: String, expected: Vec<String>, given: usize },
    #[error("{} found", if *count == 1 { "1 problem was".to_owned() } else { format!("{count} problems were") })]
    FsckProblems { count: usize },
    #[error("the store broke {}", if *broken == 1 { "a promise".to_owned() } else { format!("{broken} promises") })]
    UnsafeStore { broken: usize },
    #[error("PLEACH_LOG is not a log filter: {reason}")]
    LogFilter { reason: String },
    #[error("cannot start the runtime")]
    Runtime { source: io::Error },
    #[error("the command stopped at a fault of its own; its message stands above")]
    Panicked,
}

fn parts(count: usize) -> String {
    if count == 1 { "1 part".to_owned() } else { format!("{count} parts") }
}

impl CliError {
    fn class(&self) -> Class {
        match self {
            Self::NoGraph
            | Self::LogFilter { .. }
            | Self::NoStatement
            | Self::ParameterTwice { .. }
            | Self::ParameterNotJson { .. } => Class::Usage,
            Self::Unreadable { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                Class::Engine(ErrorKind::NotFound)
            }
            Self::RowNotFound { .. } => Class::Engine(ErrorKind::NotFound),
            Self::Config { .. }
            | Self::Unreadable { .. }
            | Self::NotUtf8 { .. }
            | Self::KeyParts { .. }
            | Self::UnsafeStore { .. } => Class::Engine(ErrorKind::Invalid),
            Self::Unwritable { .. } | Self::Output { .. } => Class::Engine(ErrorKind::Unavailable),
            Self::FsckProblems { .. } => Class::Engine(ErrorKind::Data),
            Self::Runtime { .. } | Self::Panicked => Class::Engine(ErrorKind::Internal),
        }
    }

    /// Stable, kebab-case; listed in `docs/errors.md`.
    fn code(&self) -> &'static str {
        match self {
            Self::NoGraph => "no-graph",
            Self::Config { .. } => "config-invalid",
            Self::Unreadable { .. } => "file-unreadable",
            Self::Unwritable { .. } => "file-unwritable",
            Self::NotUtf8 { .. } => "file-not-utf8",
            Self::NoStatement => "no-statement",
            Self::ParameterTwice { .. } => "parameter-twice",
            Self::ParameterNotJson { .. } => "parameter-not-json",
            Self::Output { .. } => "output-failed",
            Self::RowNotFound { .. } => "row-not-found",
            Self::KeyParts { .. } => "wrong-key",
            Self::FsckProblems { .. } => "fsck-problems",
            Self::UnsafeStore { .. } => "store-unsafe",
            Self::LogFilter { .. } => "log-filter-invalid",
            Self::Runtime { .. } => "runtime-failed",
            Self::Panicked => "panicked",
        }
    }

    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoGraph => {
                Some("name it with --graph URI, with PLEACH_GRAPH, or as `graph = \"URI\"` in a pleach.toml")
            }
            Self::NoStatement => Some("write it as an argument between quotes, name a file with -f, or pipe it in"),
            Self::ParameterNotJson { .. } => {
                Some("write it as JSON; a text with such a beginning is given as a JSON string")
            }
            Self::Config { .. } => Some("the file has one setting: graph = \"URI\""),
            Self::RowNotFound { .. } => {
                Some("a key is read as plain text by the key's type; `pleach schema show` tells the types")
            }
            Self::KeyParts { .. } => {
                Some("an edge's key is the key of its start, then that of its end, then its own if it has one")
            }
            Self::FsckProblems { .. } => {
                Some("nothing was changed; an older commit of the branch may be sound: `pleach log`")
            }
            Self::UnsafeStore { .. } => {
                Some("writers at the same time could overwrite each other's commits here; use another store")
            }
            Self::Panicked => Some("please report this; a change of the command took effect whole or not at all"),
            _ => None,
        }
    }
}

/// What the exit code depends on: a kind of the engine, or an ending that only the command line knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Engine(ErrorKind),
    Usage,
    Interrupted,
    BrokenPipe,
}

impl Class {
    /// The one place where exit codes are decided.
    const fn exit_code(self) -> u8 {
        match self {
            Self::Engine(ErrorKind::Invalid | ErrorKind::NotFound | ErrorKind::AlreadyExists) => 1,
            Self::Usage => 2,
            Self::Engine(ErrorKind::Conflict) => 3,
            Self::Engine(ErrorKind::Contention) => 4,
            Self::Engine(ErrorKind::Unavailable) => 5,
            Self::Engine(ErrorKind::OutcomeUnknown) => 6,
            Self::Engine(ErrorKind::Data) => 7,
            Self::Engine(_) => 70,
            Self::Interrupted => 130,
            Self::BrokenPipe => 141,
        }
    }

    /// The name of the kind in JSON.
    const fn name(self) -> &'static str {
        match self {
            Self::Engine(ErrorKind::Invalid) => "invalid",
            Self::Engine(ErrorKind::NotFound) => "not-found",
            Self::Engine(ErrorKind::AlreadyExists) => "already-exists",
            Self::Engine(ErrorKind::Conflict) => "conflict",
            Self::Engine(ErrorKind::Contention) => "contention",
            Self::Engine(ErrorKind::Unavailable) => "unavailable",
            Self::Engine(ErrorKind::OutcomeUnknown) => "outcome-unknown",
            Self::Engine(ErrorKind::Data) => "data",
            Self::Engine(_) => "internal",
            Self::Usage => "usage",
            Self::Interrupted => "interrupted",
            Self::BrokenPipe => "broken-pipe",
        }
    }
}

impl Failure {
    /// The exit code of the process.
    pub(crate) fn exit_code(&self) -> u8 {
        self.class().exit_code()
    }

    fn class(&self) -> Class {
        match self {
            Self::Engine(error) => Class::Engine(error.kind()),
            Self::Cli(error) => error.class(),
            Self::Usage(_) => Class::Usage,
            Self::BrokenPipe => Class::BrokenPipe,
            Self::Interrupted => Class::Interrupted,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Engine(error) => error.code(),
            Self::Cli(error) => error.code(),
            Self::Usage(_) => "usage",
            Self::BrokenPipe => "broken-pipe",
            Self::Interrupted => "interrupted",
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Engine(error) => error.hint(),
            Self::Cli(error) => error.hint().map(str::to_owned),
            Self::Usage(error) => Some(usage_hint(error)),
            Self::Interrupted => Some("`pleach log` shows whether the change took effect".to_owned()),
            Self::BrokenPipe => None,
        }
    }

    /// What failed, then what caused it.
    fn messages(&self) -> Vec<String> {
        match self {
            Self::Engine(error) => chain(error),
            Self::Cli(error) => chain(error),
            Self::Usage(error) => vec![usage_message(error)],
            Self::BrokenPipe => vec!["the reader of standard output went away".to_owned()],
            Self::Interrupted => {
                vec!["interrupted: nothing half-done remains, a change took effect whole or not at all".to_owned()]
            }
        }
    }

    /// The object that programs get; `violations` only where an input was refused, `conflicts` only where sides could not be merged.
    fn shape(&self) -> serde_json::Value {
        let mut shape = serde_json::json!({
            "kind": self.class().name(),
            "code": self.code(),
            "message": self.messages().join(": "),
            "hint": self.hint(),
        });
        if let Self::Engine(error) = self
            && let Some(violations) = violations(error)
        {
            shape["violations"] = violations;
        }
        if let Self::Engine(error) = self
            && !error.conflicts().is_empty()
        {
            shape["conflicts"] = error.conflicts().iter().map(conflict).collect();
        }
        shape
    }

    /// Tells the user, on standard error.
    pub(crate) fn report(&self, json: bool) {
        let mut err = anstream::stderr();
        // Nobody is left to hear of a failure to write here.
        let _ = self.write(&mut err, json);
        let _ = err.flush();
    }

    fn write(&self, err: &mut impl Write, json: bool) -> io::Result<()> {
        match self {
            Self::BrokenPipe => return Ok(()),
            _ if json => return writeln!(err, "{}", serde_json::json!({ "error": self.shape() })),
            Self::Usage(error) => return write!(err, "{}", error.render().ansi()),
            Self::Engine(_) | Self::Cli(_) | Self::Interrupted => {}
        }
        let violations = match self {
            Self::Engine(error) => error.violations().filter(|violations| violations.total() > 1),
            _ => None,
        };
        for (depth, message) in self.messages().iter().enumerate() {
            // Its further lines are samples of what is listed below.
            let message = if violations.is_some() { message.lines().next().unwrap_or_default() } else { message };
            match depth {
                0 => writeln!(err, "{ERROR}error:{ERROR:#} {message}")?,
                _ => writeln!(err, "  caused by: {message}")?,
            }
        }
        if let Some(violations) = violations {
            list(violations, err)?;
        }
        if let Some(hint) = self.hint() {
            writeln!(err, "{HINT}hint:{HINT:#} {hint}")?;
        }
        Ok(())
    }
}

/// Writes one line for each violation that the error keeps, then how many there are besides.
fn list(violations: &Violations, err: &mut impl Write) -> io::Result<()> {
    let mut more = violations.total();
    for violation in violations.iter() {
        writeln!(err, "  {}", printable(&violation.to_string()))?;
        more = more.saturating_sub(1);
    }
    if more > 0 { writeln!(err, "  and {more} more") } else { Ok(()) }
}

/// A conflict of a merge; a key is the JSON that it is in an export.
fn conflict(conflict: &pleach::Conflict) -> serde_json::Value {
    let key = conflict.key.as_ref().map(|key| serde_json::from_str(key).unwrap_or_else(|_| serde_json::json!(key)));
    serde_json::json!({ "kind": conflict.kind.as_str(), "table": conflict.table, "key": key })
}

/// The lines of an input that break rules, as far as the error keeps them.
fn violations(error: &pleach::Error) -> Option<serde_json::Value> {
    let violations = error.violations()?;
    let shape = |v: &pleach::Violation| {
        serde_json::json!({
            "code": v.code,
            "line": v.line,
            "table": v.table,
            "property": v.property,
            "found": v.found,
            "expected": v.expected,
        })
    };
    let first: Vec<serde_json::Value> = violations.iter().map(shape).collect();
    Some(serde_json::json!({ "total": violations.total(), "first": first }))
}

/// An error's text, then those of its causes that say something new.
fn chain(error: &dyn std::error::Error) -> Vec<String> {
    let mut messages = vec![error.to_string()];
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !messages.iter().any(|message| message.contains(&text)) {
            messages.push(text);
        }
        cause = error.source();
    }
    messages
}

/// The first paragraph of a usage error, without its label.
fn usage_message(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    let message = first.strip_prefix("error: ").unwrap_or(first);
    message.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

fn usage_hint(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let line = text.lines().find(|line| line.starts_with("Usage: "));
    line.unwrap_or("try --help").to_owned()
}

/// Whether arguments that could not be parsed ask for JSON all the same.
pub(crate) fn asks_for_json(arguments: &[OsString]) -> bool {
    arguments.iter().take_while(|argument| *argument != "--").any(|argument| argument == "--json")
}

impl From<pleach::Error> for Failure {
    fn from(error: pleach::Error) -> Self {
        Self::Engine(error)
    }
}

impl From<CliError> for Failure {
    fn from(error: CliError) -> Self {
        Self::Cli(error)
    }
}

/// A failed write to standard output: the only I/O that commands leave unnamed.
impl From<io::Error> for Failure {
    fn from(source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::BrokenPipe { Self::BrokenPipe } else { CliError::Output { source }.into() }
    }
}

#[cfg(test)]
mod tests;
