//! `pleach init`.

use std::path::PathBuf;

use pleach::{Graph, InitOptions};
use serde_json::json;

use super::{commit_text, files};
use crate::context::Context;
use crate::failure::Failure;
use crate::output;
use crate::shape::Commit;

/// Make a graph with a schema and the branch main
///
/// The place must be empty. A store whose put-if-absent lets several writers win cannot keep commits apart and is refused;
/// `pleach probe` shows why.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pleach init --graph ./air --schema air.cypher
  pleach init --graph s3://bucket/air --schema - < air.cypher")]
pub(crate) struct Args {
    /// The schema: CREATE NODE TABLE and CREATE REL TABLE statements; - reads standard input
    #[arg(long, value_name = "FILE")]
    schema: PathBuf,
    /// Go on although the store failed the probe: several writers may then overwrite each other's commits
    #[arg(long)]
    allow_unsafe_store: bool,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<(), Failure> {
    let uri = context.graph_uri()?;
    let ddl = files::read_text(&args.schema)?;
    let options = InitOptions { author: context.author(), allow_unsafe_store: args.allow_unsafe_store };
    let graph = Graph::init(&uri, &ddl, options).await?;
    let head = graph.show("main").await?;
    if context.json() {
        output::json(&json!({ "graph": graph.id().to_string(), "uri": graph.uri(), "commit": Commit::from(&head) }))?;
    } else {
        output::text(&commit_text::name(&head))?;
        output::note(&format!("made the graph {} at {}", graph.id(), graph.uri()));
    }
    Ok(())
}
