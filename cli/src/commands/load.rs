//! `pleach load`.

use std::path::PathBuf;

use pleach::LoadMode;
use serde_json::json;

use super::change::Change;
use super::{commit_text, files};
use crate::context::Context;
use crate::failure::Failure;
use crate::output;
use crate::progress::load_bar;
use crate::shape::{Commit, Io, change_reference, counts};

/// Load rows from JSON Lines, as one commit
///
/// All lines are checked before anything is published: a load takes effect whole or not at all. Nodes and edges may stand
/// in any order, an edge before its nodes included.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pleach load people.jsonl -m 'first people'
  pleach load --mode upsert --branch review people.jsonl
  cat nodes.jsonl edges.jsonl | pleach load -
A line is {\"table\":\"Person\",\"data\":{…}} or {\"table\":\"Knows\",\"from\":KEY,\"to\":KEY,\"data\":{…}}.")]
pub(crate) struct Args {
    /// The file; - reads standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The branch to load into
    #[arg(short, long, alias = "at", value_name = "NAME", default_value = "main")]
    branch: String,
    /// What happens to rows whose key is already there
    #[arg(long, value_enum, default_value_t = Mode::Append)]
    mode: Mode,
    #[command(flatten)]
    change: Change,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Mode {
    /// They are refused, and the load with them
    Append,
    /// They are replaced; of several lines with one key the last counts
    Upsert,
    /// The tables that the input names lose all their former rows first
    Overwrite,
}

impl From<Mode> for LoadMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Append => Self::Append,
            Mode::Upsert => Self::Upsert,
            Mode::Overwrite => Self::Overwrite,
        }
    }
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<(), Failure> {
    let (input, size) = files::open_input(&args.file)?;
    let graph = context.graph().await?;
    let options = args.change.options(context);
    let bar = load_bar(size, context.json());
    let progress = |bytes: u64, lines: u64| {
        bar.set_position(bytes);
        bar.set_message(format!("{lines} lines"));
    };
    let source = files::input_name(&args.file);
    let outcome = graph.load(&args.branch, &source, input, args.mode.into(), options, &progress).await;
    bar.finish_and_clear();
    let report = outcome?;
    if context.json() {
        output::json(&json!({
            "commit": report.commit.as_ref().map(Commit::from),
            "change": report.commit.as_ref().map(|commit| change_reference(commit, report.change)),
            "tables": counts(&report.tables),
            "repeated": report.repeated,
            "io": Io::from(&report.io),
        }))?;
        return Ok(());
    }
    if report.repeated {
        output::note(commit_text::REPEATED);
    }
    if !report.tables.is_empty() {
        output::text(&commit_text::counts(&report.tables))?;
    }
    match &report.commit {
        Some(commit) => output::text(&commit_text::name_of(commit, report.change))?,
        None => output::note("nothing changed, so there is no new commit"),
    }
    Ok(())
}
