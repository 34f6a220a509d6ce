//! `pleach schema plan`.

use std::path::PathBuf;

use pleach::schema::print_ddl;
use serde_json::json;

use super::told;
use crate::commands::files::read_text;
use crate::context::Context;
use crate::failure::Failure;
use crate::output;
use crate::shape::{Io, Parent};

/// Show what a change of the schema would do, and which rows stand in its way
///
/// The file says what the schema is to be, as for `pleach init`. A table or a property that has another name now is written RENAMED FROM that
/// name. Nothing is written.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pleach schema plan people.cypher
  pleach schema plan people.cypher --branch review --json")]
pub(crate) struct Args {
    /// The schema that is wanted; `-` reads standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The branch whose schema would be changed
    #[arg(short, long, alias = "at", value_name = "NAME", default_value = "main")]
    branch: String,
}

pub(super) async fn run(args: Args, context: &Context) -> Result<(), Failure> {
    let ddl = read_text(&args.file)?;
    let plan = context.graph().await?.plan_schema(&args.branch, &ddl).await?;
    if context.json() {
        output::json(&json!({
            "at": Parent::from(&plan.at),
            "steps": plan.steps.iter().map(told::step_json).collect::<Vec<_>>(),
            "ddl": print_ddl(&plan.schema),
            "io": Io::from(&plan.io),
        }))?;
        return Ok(());
    }
    if plan.steps.is_empty() {
        output::note("the schema is that already");
    } else {
        output::text(&told::steps(&plan.steps))?;
    }
    Ok(())
}
