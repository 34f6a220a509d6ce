//! `pleach schema diff`.

use serde_json::json;

use super::told;
use crate::context::Context;
use crate::failure::Failure;
use crate::output;
use crate::shape::Parent;

/// Show what differs between the schemas of two commits
///
/// Tables and properties are compared by what they are, not by their names: one that was dropped and added again is another one.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pleach schema diff main@3 main
  pleach schema diff main review --json")]
pub(crate) struct Args {
    /// The commit of the earlier schema
    #[arg(value_name = "REF")]
    from: String,
    /// The commit of the later one
    #[arg(value_name = "REF")]
    to: String,
}

pub(super) async fn run(args: Args, context: &Context) -> Result<(), Failure> {
    let diff = context.graph().await?.diff_schema(&args.from, &args.to).await?;
    if context.json() {
        output::json(&json!({
            "from": Parent::from(&diff.from),
            "to": Parent::from(&diff.to),
            "steps": diff.steps.iter().map(told::difference_json).collect::<Vec<_>>(),
        }))?;
    } else if diff.steps.is_empty() {
        output::note("the schemas are equal");
    } else {
        output::text(&told::differences(&diff.steps))?;
    }
    Ok(())
}
