//! `pleach branch`.

use crate::context::Context;
use crate::failure::Failure;

mod create;
mod delete;
mod list;
mod show;

/// Create, list, show and delete branches
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Create(create::Args),
    List(list::Args),
    Show(show::Args),
    Delete(delete::Args),
}

pub(super) async fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::Create(args) => create::run(args, context).await,
        Command::List(args) => list::run(args, context).await,
        Command::Show(args) => show::run(args, context).await,
        Command::Delete(args) => delete::run(args, context).await,
    }
}
