//! `pleach merge`.

use pleach::{MergeOptions, MergeOutcome, MergedTable};
use serde_json::json;

use super::change::Change;
use super::commit_text;
use crate::context::Context;
use crate::failure::Failure;
use crate::output;
use crate::shape::{Commit, Io, Parent, merged_tables};

/// Merge a branch, or any commit, into a branch
///
/// What both sides changed since their merge bases is brought together as one commit; nothing is written on a conflict. A table that only
/// one side changed is taken as it is, however large.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pleach merge review --into main -m 'the reviewed names'
  pleach merge main --into review
  pleach merge review@12 --into main --if-head main@40")]
pub(crate) struct Args {
    /// What to merge: a branch, as it is now, or any commit
    #[arg(value_name = "SOURCE")]
    source: String,
    /// The branch to merge into
    #[arg(long, value_name = "BRANCH")]
    into: String,
    #[command(flatten)]
    change: Change,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<(), Failure> {
    let graph = context.graph().await?;
    let change = args.change.options(context);
    let report = graph.merge(&args.source, &args.into, MergeOptions { change }).await?;
    if context.json() {
        let bases: Vec<Parent<'_>> = report.bases.iter().map(Parent::from).collect();
        output::json(&json!({
            "outcome": report.outcome.as_str(),
            "commit": report.commit.as_ref().map(Commit::from),
            "bases": bases,
            "tables": merged_tables(&report.tables),
            "io": Io::from(&report.io),
        }))?;
        return Ok(());
    }
    if !report.tables.is_empty() {
        let rows = report.tables.iter().map(|(name, table)| {
            let MergedTable { rows_before, rows } = table;
            let [before, after] =
                [rows_before, rows].map(|rows| rows.map_or_else(|| "-".to_owned(), |n| n.to_string()));
            [name.clone(), before, after]
        });
        output::text(&output::table(["table", "#before", "#rows"], rows))?;
    }
    let (source, into) = (output::printable(&args.source), output::printable(&args.into));
    match report.outcome {
        MergeOutcome::UpToDate => {
            output::note(&format!("`{into}` has all that `{source}` brings: there is no new commit"));
        }
        MergeOutcome::FastForward => output::note(&format!("`{into}` is now as `{source}` is")),
        _ => {}
    }
    if let Some(commit) = &report.commit {
        output::text(&commit_text::name(commit))?;
    }
    Ok(())
}
