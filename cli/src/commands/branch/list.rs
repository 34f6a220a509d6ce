//! `pleach branch list`.

use serde_json::json;

use crate::commands::commit_text;
use crate::context::Context;
use crate::failure::Failure;
use crate::output;
use crate::shape::{Branch, reference};

/// List the branches and their heads
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pleach branch list
  pleach branch list --json")]
pub(crate) struct Args {}

pub(super) async fn run(Args {}: Args, context: &Context) -> Result<(), Failure> {
    let branches = context.graph().await?.branches().await?;
    if context.json() {
        let branches: Vec<Branch<'_>> = branches.iter().map(Branch::from).collect();
        output::json(&json!({ "branches": branches }))?;
        return Ok(());
    }
    let rows = branches.iter().map(|branch| {
        let head = &branch.head;
        let head_name = reference(&head.branch, head.seq);
        [branch.name.clone(), head_name, head.time.to_string(), commit_text::subject(&head.changes)]
    });
    output::text(&output::table(["branch", "head", "time", "message"], rows))?;
    Ok(())
}
