//! `pleach merge`.

mod dry_run;
mod plan_file;
mod resolutions;
mod strategy;
mod told;

use std::path::{Path, PathBuf};

use pleach::{MergeOptions, Strategy};

use self::dry_run::Look;
use super::change::Change;
use super::files;
use crate::context::Context;
use crate::failure::{CliError, Failure};

/// Merge a branch, or any commit, into a branch
///
/// What both sides changed since their merge bases is brought together as one commit, row by row and property by property. Where both
/// changed the same thing and no policy of the schema settles it, nothing is written, unless --strategy or --resolve says what is to become of it.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "pleach merge SOURCE --into BRANCH [OPTIONS]\n       pleach merge --apply FILE [OPTIONS]",
    after_help = "\
Examples:
  pleach merge review --into main -m 'the reviewed names'
  pleach merge review --into main --dry-run
  pleach merge review --into main --strategy source --strategy Person.name=target
  pleach merge review --into main --resolve decided.jsonl --delete-source
  pleach merge review --into main --plan plan.json
  pleach merge --apply plan.json -m 'as planned'
  pleach merge review@12 --into main --if-head main@40
A line of a resolution file is {\"table\":\"Person\",\"key\":\"ada\",\"property\":\"name\",\"choice\":\"source\"}; in place of the choice a \
\"value\":\"Ada\" may stand. Without a property it is about the row. Without a key it is about the schema, and the choice is `keep` or \
`drop` where one side dropped something, else `source` or `target`."
)]
pub(crate) struct Args {
    /// What to merge: a branch, as it is now, or any commit
    #[arg(value_name = "SOURCE", required_unless_present = "apply")]
    source: Option<String>,
    /// The branch to merge into
    #[arg(long, value_name = "BRANCH", required_unless_present = "apply")]
    into: Option<String>,
    /// Which side wins where both changed the same: source or target, TABLE=source, TABLE.PROPERTY=target; repeatable, the narrowest counts
    #[arg(long, value_name = "[TABLE[.PROPERTY]=]SIDE", value_parser = strategy::parse)]
    strategy: Vec<Strategy>,
    /// Take what single rows and properties are to come to from this file, one JSON object a line; - reads standard input
    #[arg(long, value_name = "FILE")]
    resolve: Option<PathBuf>,
    /// Record the result without the source as a parent: a later merge of the same branch begins at the old base again
    #[arg(long)]
    squash: bool,
    /// Delete the source branch afterwards, if it has not gone on by then
    #[arg(long)]
    delete_source: bool,
    #[command(flatten)]
    look: Look,
    /// Do what a saved plan says, if neither branch has gone on since
    #[arg(long, value_name = "FILE", conflicts_with_all = ["source", "into", "strategy", "resolve", "dry_run", "plan", "if_head"])]
    apply: Option<PathBuf>,
    #[command(flatten)]
    change: Change,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<(), Failure> {
    let Args { source, into, strategy: strategies, resolve, squash, delete_source, look, apply, change } = args;
    let resolutions = resolve.as_deref().map(resolutions::read).transpose()?.unwrap_or_default();
    let change = change.options(context);
    let options = MergeOptions { change, strategies, resolutions, squash, delete_source };
    if let Some(path) = apply {
        return do_planned(&path, options, context).await;
    }
    // The arguments require both.
    let (source, into) = (source.unwrap_or_default(), into.unwrap_or_default());
    let outcome = if look.is_wanted() {
        dry_run::run(&source, &into, options, &look, context).await
    } else {
        let graph = context.graph().await?;
        match graph.merge(&source, &into, options).await {
            Ok(report) => told::report(&report, &source, &into, context),
            Err(error) => Err(error.into()),
        }
    };
    outcome.map_err(|failure| match (failure, resolve) {
        (Failure::Engine(source), Some(path)) if source.code() == resolutions::CODE => {
            CliError::Resolutions { file: files::input_name(&path), source }.into()
        }
        (failure, _) => failure,
    })
}

/// Does what a plan says that was saved.
async fn do_planned(path: &Path, options: MergeOptions, context: &Context) -> Result<(), Failure> {
    let saved = plan_file::read(path)?;
    let graph = context.graph().await?;
    let plan = saved.of(graph.id(), path)?;
    let report = graph.apply_merge(&plan, options).await?;
    told::report(&report, &plan.source.reference(), &plan.target.branch, context)
}
