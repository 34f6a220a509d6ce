//! `pleach show`.

use super::commit_text;
use crate::context::Context;
use crate::failure::Failure;
use crate::output;
use crate::shape::Commit;

/// Show one commit: its parents, its changes and how many rows each table has
///
/// Changes that were asked for at the same time may share a commit; `main@42#3` shows one of them alone.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pleach show
  pleach show main@42
  pleach show main@42#3
  pleach show main@2024-01-31T12:00:00Z")]
pub(crate) struct Args {
    /// The commit
    #[arg(value_name = "REF", default_value = "main")]
    reference: String,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<(), Failure> {
    let commit = context.graph().await?.show(&args.reference).await?;
    let only = change_of(&args.reference);
    if context.json() {
        output::json(&Commit::showing(&commit, only))?;
    } else {
        output::text(&commit_text::full(&commit, only))?;
    }
    Ok(())
}

/// Which change of the commit a reference names; none where it goes on to an earlier commit.
fn change_of(reference: &str) -> Option<usize> {
    let (_, change) = reference.split_once('#')?;
    change.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_named_after_a_hash() {
        assert_eq!(change_of("main@42#3"), Some(3));
        assert_eq!((change_of("main@42"), change_of("main@42#3~1")), (None, None));
    }
}
