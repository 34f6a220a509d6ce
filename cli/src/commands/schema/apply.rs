//! `pleach schema apply`.

use std::path::PathBuf;

use pleach::SchemaOptions;
use pleach::schema::print_ddl;
use serde_json::json;

use super::told;
use crate::commands::change::Change;
use crate::commands::commit_text;
use crate::commands::files::read_text;
use crate::context::Context;
use crate::failure::Failure;
use crate::output;
use crate::shape::{Commit, Io};

/// Make the schema of a branch what a file says, as one commit
///
/// The file says what the schema is to be, as for `pleach init`. A table or a property that has another name now is written RENAMED FROM that
/// name. Rows that break a new rule make it a refusal, and so does what would be lost unless it may. Where the schema is that already there is
/// no commit.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pleach schema apply people.cypher -m 'ages'
  pleach schema apply people.cypher --branch review --allow-data-loss
  pleach schema apply people.cypher --json --if-head main@42")]
pub(crate) struct Args {
    /// The schema that is wanted; `-` reads standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The branch whose schema is changed
    #[arg(short, long, alias = "at", value_name = "NAME", default_value = "main")]
    branch: String,
    /// Drop tables and properties that the file lacks, with what they hold; earlier commits keep it
    #[arg(long)]
    allow_data_loss: bool,
    #[command(flatten)]
    change: Change,
}

pub(super) async fn run(args: Args, context: &Context) -> Result<(), Failure> {
    let ddl = read_text(&args.file)?;
    let graph = context.graph().await?;
    let options = SchemaOptions { allow_data_loss: args.allow_data_loss, change: args.change.options(context) };
    let report = graph.apply_schema(&args.branch, &ddl, options).await?;
    if context.json() {
        output::json(&json!({
            "commit": report.commit.as_ref().map(Commit::from),
            "repeated": report.repeated,
            "steps": report.steps.iter().map(told::step_json).collect::<Vec<_>>(),
            "ddl": print_ddl(&report.schema),
            "io": Io::from(&report.io),
        }))?;
        return Ok(());
    }
    if !report.steps.is_empty() {
        output::text(&told::steps(&report.steps))?;
    }
    if report.repeated {
        output::note(commit_text::REPEATED);
    }
    match &report.commit {
        Some(commit) => output::text(&commit_text::name(commit))?,
        None => output::note("the schema is that already, so there is no new commit"),
    }
    Ok(())
}
