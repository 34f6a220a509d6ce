//! `pleach merge-base`.

use serde_json::json;

use crate::context::Context;
use crate::failure::Failure;
use crate::output;
use crate::shape::Parent;

/// Show what two commits come from
///
/// Prints their merge bases, the latest first: commits that both contain and that no other commit they both contain contains. There are
/// several after merges in both directions.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pleach merge-base review main
  pleach merge-base review@12 main~3 --json")]
pub(crate) struct Args {
    /// One commit
    #[arg(value_name = "REF")]
    one: String,
    /// The other
    #[arg(value_name = "REF")]
    other: String,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<(), Failure> {
    let bases = context.graph().await?.merge_bases(&args.one, &args.other).await?;
    if context.json() {
        let bases: Vec<Parent<'_>> = bases.iter().map(Parent::from).collect();
        output::json(&json!({ "bases": bases }))?;
    } else {
        let lines = bases.iter().map(|base| format!("{} {}\n", base.reference(), base.id));
        output::text(&lines.collect::<String>())?;
    }
    Ok(())
}
