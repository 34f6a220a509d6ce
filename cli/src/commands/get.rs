//! `pleach get`.

use crate::context::Context;
use crate::failure::{CliError, Failure};
use crate::key::json_key;
use crate::output;

/// Print one node or edge by its key
///
/// Prints the line of JSON that an export writes for the row. A key is plain text, read by the key's type: text needs no
/// quotes beyond the shell's. An edge's key is that of its start, then that of its end, then its own key or, in a MULTI
/// table, its id (which is enough on its own).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pleach get Person ada
  pleach get Knows ada grace --at main~2
  pleach get Reading -- -5 2024-01-31")]
pub(crate) struct Args {
    /// The node or edge table
    table: String,
    /// The parts of the key, in the order of the schema
    #[arg(required = true, allow_negative_numbers = true)]
    key: Vec<String>,
    /// The commit to read: main, main@42, main~2, main@2024-01-31T12:00:00Z or main@COMMIT-ID
    #[arg(long, alias = "branch", value_name = "REF", default_value = "main")]
    at: String,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<(), Failure> {
    let graph = context.graph().await?;
    let key = json_key(&graph.schema(&args.at).await?, &args.table, &args.key)?;
    match graph.get(&args.at, &args.table, &key).await? {
        Some(line) => Ok(output::text(&line)?),
        None => Err(CliError::RowNotFound { table: args.table, key: args.key.join(" "), at: args.at }.into()),
    }
}
