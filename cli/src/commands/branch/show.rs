//! `pleach branch show`.

use crate::commands::commit_text;
use crate::context::Context;
use crate::failure::Failure;
use crate::output;
use crate::shape::Branch;

/// Show the head of a branch
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pleach branch show review")]
pub(crate) struct Args {
    /// The name of the branch
    name: String,
}

pub(super) async fn run(args: Args, context: &Context) -> Result<(), Failure> {
    let branch = context.graph().await?.branch(&args.name).await?;
    if context.json() {
        output::json(&Branch::from(&branch))?;
    } else {
        output::text(&commit_text::full(&branch.head, None))?;
    }
    Ok(())
}
