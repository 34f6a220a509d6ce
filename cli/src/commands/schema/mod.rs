//! `pleach schema`.

use crate::context::Context;
use crate::failure::Failure;

mod apply;
mod diff;
mod plan;
mod show;
mod told;

/// Look at the schema, and change it on a branch
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Show(show::Args),
    Plan(plan::Args),
    Apply(apply::Args),
    Diff(diff::Args),
}

pub(super) async fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::Show(args) => show::run(args, context).await,
        Command::Plan(args) => plan::run(args, context).await,
        Command::Apply(args) => apply::run(args, context).await,
        Command::Diff(args) => diff::run(args, context).await,
    }
}
