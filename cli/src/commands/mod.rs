//! The commands, one file each: the arguments, whose texts are the help, and the function that runs them.

use crate::args::{Cli, Command};
use crate::context::Context;
use crate::failure::Failure;

pub(crate) mod branch;
pub(crate) mod export;
pub(crate) mod fsck;
pub(crate) mod get;
pub(crate) mod init;
pub(crate) mod load;
pub(crate) mod log;
pub(crate) mod merge;
pub(crate) mod merge_base;
pub(crate) mod optimize;
pub(crate) mod outcome;
pub(crate) mod probe;
pub(crate) mod query;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod show;
pub(crate) mod statement;

mod change;
mod commit_text;
mod files;

pub(crate) use files::remove_unfinished;

/// Runs one command.
pub(crate) async fn run(cli: Cli) -> Result<(), Failure> {
    let context = Context::new(cli.global);
    match cli.command {
        Command::Init(args) => init::run(args, &context).await,
        Command::Load(args) => load::run(args, &context).await,
        Command::Query(args) => query::run(args, &context).await,
        Command::Run(args) => run::run(args, &context).await,
        Command::Get(args) => get::run(args, &context).await,
        Command::Export(args) => export::run(args, &context).await,
        Command::Branch(command) => branch::run(command, &context).await,
        Command::Merge(args) => merge::run(args, &context).await,
        Command::MergeBase(args) => merge_base::run(args, &context).await,
        Command::Optimize(args) => optimize::run(args, &context).await,
        Command::Log(args) => log::run(args, &context).await,
        Command::Show(args) => show::run(args, &context).await,
        Command::Outcome(args) => outcome::run(args, &context).await,
        Command::Schema(command) => schema::run(command, &context).await,
        Command::Fsck(args) => fsck::run(args, &context).await,
        Command::Probe(args) => probe::run(args, &context).await,
    }
}
