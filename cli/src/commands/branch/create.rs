//! `pleach branch create`.

use crate::commands::commit_text;
use crate::context::Context;
use crate::failure::Failure;
use crate::output;
use crate::shape::Branch;

/// Create a branch
///
/// Copies nothing, however large the graph. Names are compared without regard to case.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pleach branch create review
  pleach branch create fixes/2024 --from main@42 -m 'corrections of the January data'")]
pub(crate) struct Args {
    /// The name of the new branch
    name: String,
    /// The commit it starts from: main, main@42, main~2, main@2024-01-31T12:00:00Z or main@COMMIT-ID
    #[arg(long, value_name = "REF", default_value = "main")]
    from: String,
    /// What the branch is for
    #[arg(short, long, value_name = "TEXT")]
    message: Option<String>,
}

pub(super) async fn run(args: Args, context: &Context) -> Result<(), Failure> {
    let graph = context.graph().await?;
    let branch = graph.create_branch(&args.name, &args.from, context.change(args.message)).await?;
    if context.json() {
        output::json(&Branch::from(&branch))?;
    } else {
        output::text(&commit_text::name(&branch.head))?;
    }
    Ok(())
}
