//! `pleach log`.

use serde_json::json;

use super::commit_text;
use crate::context::Context;
use crate::failure::Failure;
use crate::output;
use crate::shape::Commit;

/// List commits, newest first
///
/// Follows first parents: back through the branch's log and on into the log that the branch was created from.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pleach log
  pleach log review -n 5
  pleach log main@42 --json")]
pub(crate) struct Args {
    /// Where to begin
    #[arg(value_name = "REF", default_value = "main")]
    reference: String,
    /// At most this many commits
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: usize,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<(), Failure> {
    let commits = context.graph().await?.log(&args.reference, args.limit).await?;
    if context.json() {
        let commits: Vec<Commit<'_>> = commits.iter().map(Commit::from).collect();
        output::json(&json!({ "commits": commits }))?;
    } else {
        output::text(&commit_text::list(&commits))?;
    }
    Ok(())
}
