//! `pleach show`.

use super::commit_text;
use crate::context::Context;
use crate::failure::Failure;
use crate::output;
use crate::shape::Commit;

/// Show one commit: its parents, its changes and how many rows each table has
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pleach show
  pleach show main@42
  pleach show main@2024-01-31T12:00:00Z")]
pub(crate) struct Args {
    /// The commit
    #[arg(value_name = "REF", default_value = "main")]
    reference: String,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<(), Failure> {
    let commit = context.graph().await?.show(&args.reference).await?;
    if context.json() {
        output::json(&Commit::from(&commit))?;
    } else {
        output::text(&commit_text::full(&commit))?;
    }
    Ok(())
}
