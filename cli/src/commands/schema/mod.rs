//! `pleach schema`.

use crate::context::Context;
use crate::failure::Failure;

mod show;

/// Look at the schema
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Show(show::Args),
}

pub(super) async fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::Show(args) => show::run(args, context).await,
    }
}
