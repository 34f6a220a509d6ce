//! `pleach fsck`.

use pleach::FsckReport;
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::{CliError, Failure};
use crate::output;

/// Check that the stored graph is whole
///
/// Reads every record of the branches, and the tables of their last commits: every commit decodes and follows its parents,
/// every table opens with its counts, keys are unique, no edge dangles and stored hashes agree. --deep reads the tables of
/// all commits. Changes nothing. Problems end it with exit code 7.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pleach fsck
  pleach fsck main review --json
  pleach fsck --deep")]
pub(crate) struct Args {
    /// Only these branches
    #[arg(value_name = "BRANCH")]
    branches: Vec<String>,
    /// Read the tables of every commit, not only of the last one of each branch
    #[arg(long)]
    deep: bool,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<(), Failure> {
    let graph = context.graph().await?;
    let report = if args.deep { graph.fsck_deep(&args.branches).await? } else { graph.fsck(&args.branches).await? };
    if context.json() {
        output::json(&shape(&report))?;
    } else {
        print(&report)?;
    }
    match report.problems.len() {
        0 => Ok(()),
        count => Err(CliError::FsckProblems { count }.into()),
    }
}

fn shape(report: &FsckReport) -> Value {
    let problems = report.problems.iter();
    let problems: Vec<Value> =
        problems.map(|p| json!({ "code": p.code, "place": p.place, "detail": p.detail })).collect();
    json!({
        "branches": report.branches,
        "commits": report.commits,
        "table_versions": report.table_versions,
        "rows": report.rows,
        "problems": problems,
    })
}

fn print(report: &FsckReport) -> std::io::Result<()> {
    if !report.problems.is_empty() {
        let rows = report.problems.iter().map(|p| [p.code.to_owned(), p.place.clone(), p.detail.clone()]);
        output::text(&output::table(["problem", "place", "detail"], rows))?;
    }
    let FsckReport { branches, commits, table_versions, rows, problems } = report;
    let verdict = if problems.is_empty() { "clean" } else { "not clean" };
    output::text(&format!(
        "{verdict}: checked {branches} branches, {commits} commits, {table_versions} table versions, {rows} rows"
    ))
}
