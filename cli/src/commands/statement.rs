//! What `query` and `run` share: where a statement comes from, its parameters, and the form of its rows.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use pleach::{CypherValue, Params};

use super::files;
use crate::failure::CliError;

/// A statement and its parameters.
#[derive(Debug, clap::Args)]
pub(crate) struct Statement {
    /// The statement [default: standard input]
    #[arg(value_name = "CYPHER", conflicts_with = "file")]
    text: Option<String>,
    /// Read the statement from this file; - reads standard input
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// A parameter: $NAME in the statement; may be given several times
    #[arg(short, long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    parameters: Vec<(String, String)>,
    /// How rows are written [default: a table, or json with --json]
    #[arg(long, value_enum)]
    pub(super) format: Option<Format>,
    /// What stands for null in CSV
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(super) null: String,
}

/// The forms that rows are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Columns for people
    Table,
    /// One object: names of columns, and rows as lists
    Json,
    /// One object a row
    Jsonl,
    /// Comma-separated, with a line of names
    Csv,
}

fn parameter(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("a parameter is written NAME=VALUE")?;
    let name = name.strip_prefix('$').unwrap_or(name);
    if name.is_empty() {
        return Err("a parameter needs a name: NAME=VALUE".to_owned());
    }
    Ok((name.to_owned(), value.to_owned()))
}

impl Statement {
    /// The text of the statement.
    pub(super) fn text(&self) -> Result<String, CliError> {
        let text = match (&self.text, &self.file) {
            (Some(text), _) => text.clone(),
            (None, Some(path)) => files::read_text(path)?,
            (None, None) if std::io::stdin().is_terminal() => return Err(CliError::NoStatement),
            (None, None) => files::read_text(Path::new("-"))?,
        };
        if text.trim().is_empty() { Err(CliError::NoStatement) } else { Ok(text) }
    }

    /// The parameters; each may be given once.
    pub(super) fn params(&self) -> Result<Params, CliError> {
        let mut params = Params::new();
        let mut seen = std::collections::BTreeSet::new();
        for (name, text) in &self.parameters {
            if !seen.insert(name) {
                return Err(CliError::ParameterTwice { name: name.clone() });
            }
            params = params.with(name, value(name, text)?);
        }
        Ok(params)
    }
}

/// What a parameter's text stands for: JSON, or itself. What begins like JSON and is none was meant as JSON.
fn value(name: &str, text: &str) -> Result<CypherValue, CliError> {
    match CypherValue::from_json(text) {
        Ok(value) => Ok(value),
        Err(_) if text.starts_with(['[', '{', '"']) => Err(CliError::ParameterNotJson { name: name.to_owned() }),
        Err(_) => Ok(CypherValue::from(text)),
    }
}
