//! `pleach optimize`.

use pleach::{OptimizeOptions, OptimizedTable};
use serde_json::json;

use super::change::Change;
use super::commit_text;
use crate::context::Context;
use crate::failure::Failure;
use crate::output;
use crate::shape::{Commit, Io, optimized_tables};

/// Rewrite tables that are in many small files into few large ones, as one commit
///
/// So are tables of which many rows are gone. What the graph says stays the same, and merges come to the same. Where there is nothing to
/// be gained there is no commit.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pleach optimize
  pleach optimize Person Knows --branch review -m 'after the import'
  pleach optimize --json --if-head main@42")]
pub(crate) struct Args {
    /// The tables to optimize [default: all]
    #[arg(value_name = "TABLE")]
    tables: Vec<String>,
    /// The branch whose tables they are
    #[arg(short, long, alias = "at", value_name = "NAME", default_value = "main")]
    branch: String,
    #[command(flatten)]
    change: Change,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<(), Failure> {
    let graph = context.graph().await?;
    let options = OptimizeOptions { tables: args.tables, change: args.change.options(context) };
    let report = graph.optimize(&args.branch, options).await?;
    if context.json() {
        output::json(&json!({
            "commit": report.commit.as_ref().map(Commit::from),
            "repeated": report.repeated,
            "tables": optimized_tables(&report.tables),
            "io": Io::from(&report.io),
        }))?;
        return Ok(());
    }
    if !report.tables.is_empty() {
        let rows = report.tables.iter().map(|(name, table)| {
            let OptimizedTable { fragments_before, fragments, rows, rewritten_bytes, written_bytes } = table;
            let numbers = [fragments_before, fragments, rows, rewritten_bytes, written_bytes];
            let [before, after, rows, rewritten, written] = numbers.map(u64::to_string);
            [name.clone(), before, after, rows, rewritten, written]
        });
        let header = ["table", "#before", "#fragments", "#rows", "#rewritten", "#written"];
        output::text(&output::table(header, rows))?;
    }
    if report.repeated {
        output::note(commit_text::REPEATED);
    }
    match &report.commit {
        Some(commit) => output::text(&commit_text::name(commit))?,
        None => output::note("there was nothing to be gained, so there is no new commit"),
    }
    Ok(())
}
