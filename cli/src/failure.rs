//! Everything that can end a command: how it is told, and with which exit code.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, Write};

use clap::builder::styling::{AnsiColor, Effects, Style};
use pleach::{ErrorKind, Violations};

pub(crate) use self::cli::CliError;
use crate::conflict::{self, Conflict};
use crate::output::printable;

mod cli;

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
            Self::Engine(ErrorKind::Overloaded) => 8,
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
            Self::Engine(ErrorKind::Overloaded) => "overloaded",
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
            Self::Engine(error) => engine_hint(error),
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
    fn shape(&self) -> Shape<'_> {
        let error = match self {
            Self::Engine(error) => Some(error),
            _ => None,
        };
        Shape {
            kind: self.class().name(),
            code: self.code(),
            message: self.messages().join(": "),
            hint: self.hint(),
            violations: error.and_then(violations),
            conflicts: error.map(|error| error.conflicts().iter().map(Conflict::from).collect()).unwrap_or_default(),
        }
    }

    /// A message; what it shows of rows cannot steer the terminal.
    fn harmless<'a>(&self, message: &'a str) -> Cow<'a, str> {
        match self {
            Self::Engine(error) if !error.conflicts().is_empty() => {
                message.lines().map(printable).collect::<Vec<_>>().join("\n").into()
            }
            _ => message.into(),
        }
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
            _ if json => return writeln!(err, "{}", serde_json::to_string(&Told { error: self.shape() })?),
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
            let message = &self.harmless(message);
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

/// An error as programs get it.
#[derive(serde::Serialize)]
struct Told<'a> {
    error: Shape<'a>,
}

#[derive(serde::Serialize)]
struct Shape<'a> {
    kind: &'static str,
    code: &'static str,
    message: String,
    hint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    violations: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conflicts: Vec<Conflict<'a>>,
}

/// What the engine says is to be done, and by which options where it is a merge that was refused.
fn engine_hint(error: &pleach::Error) -> Option<String> {
    let hint = error.hint()?;
    let conflicts = error.conflicts();
    if conflicts.is_empty() || !conflict::can_be_settled(conflicts) {
        return Some(hint);
    }
    Some(format!(
        "{hint}; `--dry-run` shows all, `--resolve FILE` (or `resolutions` in a plan) decides single ones, `--strategy` lets a side win"
    ))
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
