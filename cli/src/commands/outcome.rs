//! `pleach outcome`.

use serde::Serialize;

use super::commit_text;
use crate::context::Context;
use crate::failure::{CliError, Failure};
use crate::output;
use crate::shape::{Commit, change_reference};

/// Show what became of a request whose answer was lost
///
/// Prints the change by which the request took effect. A branch remembers the last 4,096 requests that were given an id; a request that is
/// not among them took no effect, or longer ago.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pleach outcome import-2024-01-31
  pleach outcome import-2024-01-31 --branch review --json")]
pub(crate) struct Args {
    /// The id that the request was given with --request-id
    #[arg(value_name = "REQUEST_ID")]
    request_id: String,
    /// The branch that was to be changed
    #[arg(short, long, value_name = "NAME", default_value = "main")]
    branch: String,
}

/// What became of it, as one JSON object.
#[derive(Serialize)]
struct Told<'a> {
    change: String,
    commit: Commit<'a>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<(), Failure> {
    let Some(outcome) = context.graph().await?.outcome(&args.branch, &args.request_id).await? else {
        return Err(CliError::RequestNotFound { branch: args.branch }.into());
    };
    if context.json() {
        let change = change_reference(&outcome.commit, outcome.change);
        output::json(&Told { change, commit: Commit::from(&outcome.commit) })?;
    } else {
        output::text(&commit_text::full(&outcome.commit, Some(outcome.change)))?;
    }
    Ok(())
}
