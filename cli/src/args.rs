//! The arguments that every command shares, and the list of commands.

use clap::{ArgAction, Args, Parser, Subcommand};
use pleach::clock::Timestamp;

use crate::commands;

/// A branching property-graph store: typed nodes and edges, with branches and commits over the whole graph.
#[derive(Debug, Parser)]
#[command(
    name = "pleach",
    version,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = "\
The graph is the one that --graph names, else PLEACH_GRAPH, else the `graph` of the nearest pleach.toml in this folder \
or above it.

Exit codes: 0 done, 1 refused or not found, 2 usage, 3 conflict, 4 contention (try again), 5 store unavailable, \
6 outcome unknown, 7 damaged data, 8 overloaded, 70 internal fault, 130 interrupted, 141 broken pipe."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options that every command takes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Global {
    /// The graph: a folder, s3://BUCKET/PREFIX or memory://NAME
    #[arg(long, global = true, env = "PLEACH_GRAPH", hide_env_values = true, value_name = "URI")]
    pub(crate) graph: Option<String>,
    /// Print JSON: results on standard output, an error as one object on standard error
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Log what happens to standard error; repeat for more (PLEACH_LOG sets a filter of its own)
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Who makes a change [default: Git's user.name and user.email, else the system user]
    #[arg(long, global = true, env = "PLEACH_AUTHOR", hide_env_values = true, value_name = "NAME")]
    pub(crate) author: Option<String>,
    /// When the author made a change, as 2024-01-31T12:00:00Z [default: the time of the commit]
    #[arg(long, global = true, value_name = "TIME")]
    pub(crate) date: Option<Timestamp>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(commands::init::Args),
    Load(commands::load::Args),
    Query(commands::query::Args),
    Run(commands::run::Args),
    Get(commands::get::Args),
    Export(commands::export::Args),
    #[command(subcommand)]
    Branch(commands::branch::Command),
    Merge(commands::merge::Args),
    MergeBase(commands::merge_base::Args),
    Optimize(commands::optimize::Args),
    Log(commands::log::Args),
    Show(commands::show::Args),
    Outcome(commands::outcome::Args),
    #[command(subcommand)]
    Schema(commands::schema::Command),
    Fsck(commands::fsck::Args),
    Probe(commands::probe::Args),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn global_options_stand_before_or_after_the_command() {
        for line in ["pleach --graph g --json log", "pleach log --graph g --json", "pleach --json log --graph g"] {
            let cli = Cli::try_parse_from(line.split(' ')).expect(line);
            assert_eq!((cli.global.graph.as_deref(), cli.global.json), (Some("g"), true), "{line}");
        }
    }

    #[test]
    fn every_command_has_a_text_and_examples() {
        let mut cli = Cli::command();
        cli.build();
        let mut open: Vec<&clap::Command> = cli.get_subcommands().collect();
        while let Some(command) = open.pop() {
            assert!(command.get_about().is_some(), "{} has no text", command.get_name());
            if command.has_subcommands() {
                open.extend(command.get_subcommands());
            } else {
                let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
                assert!(help.contains("Examples:"), "{} has no examples", command.get_name());
            }
        }
    }
}
