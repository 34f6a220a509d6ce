//! `pleach branch delete`.

use serde_json::json;

use crate::commands::commit_text;
use crate::context::Context;
use crate::failure::Failure;
use crate::output;
use crate::shape::Commit;

/// Delete a branch
///
/// Its data stays until nothing else reaches it. The branch main cannot be deleted. Prints the last commit of the branch.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pleach branch delete review
  pleach branch delete review -m 'rejected'")]
pub(crate) struct Args {
    /// The name of the branch
    name: String,
    /// Why it goes
    #[arg(short, long, value_name = "TEXT")]
    message: Option<String>,
}

pub(super) async fn run(args: Args, context: &Context) -> Result<(), Failure> {
    let graph = context.graph().await?;
    let head = graph.delete_branch(&args.name, context.change(args.message)).await?;
    if context.json() {
        output::json(&json!({ "name": head.branch, "head": Commit::from(&head) }))?;
    } else {
        output::text(&commit_text::name(&head))?;
    }
    Ok(())
}
