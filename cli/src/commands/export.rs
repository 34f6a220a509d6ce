//! `pleach export`.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use pleach::Graph;
use serde_json::json;

use super::files::OutputFile;
use crate::context::Context;
use crate::failure::{CliError, Failure};
use crate::output::{self, Watched};

/// Write the rows of a commit as JSON Lines
///
/// First the nodes, then the edges, in a form that `pleach load` reads back to equal rows.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pleach export > graph.jsonl
  pleach export --at review --table Person --table Knows -o people.jsonl")]
pub(crate) struct Args {
    /// The commit to read: main, main@42, main~2, main@2024-01-31T12:00:00Z or main@COMMIT-ID
    #[arg(long, alias = "branch", value_name = "REF", default_value = "main")]
    at: String,
    /// Only this table; may be given several times
    #[arg(short, long = "table", value_name = "TABLE")]
    tables: Vec<String>,
    /// Write to this file, which appears when it is complete, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<(), Failure> {
    let graph = context.graph().await?;
    let Some(path) = &args.output else {
        let failed = |source| Failure::from(source);
        export(&graph, &args, std::io::stdout(), failed).await?;
        return Ok(());
    };
    let failed = |source| CliError::Unwritable { path: path.clone(), source }.into();
    let (rows, file) = export(&graph, &args, OutputFile::create(path)?, failed).await?;
    file.finish()?;
    report(&rows, path, context)?;
    Ok(())
}

/// Exports to `out`; `failed` names an error of the writer.
async fn export<W: Write + Send>(
    graph: &Graph,
    args: &Args,
    out: W,
    failed: impl Fn(std::io::Error) -> Failure,
) -> Result<(BTreeMap<String, u64>, W), Failure> {
    let (out, watch) = Watched::new(out);
    let mut out = BufWriter::with_capacity(1 << 16, out);
    let outcome = graph.export(&args.at, &args.tables, &mut out).await;
    if let Some(error) = watch.take() {
        return Err(failed(error));
    }
    let rows = outcome?;
    let out = out.into_inner().map_err(|error| failed(error.into_error()))?;
    out.into_inner().map(|out| (rows, out)).map_err(failed)
}

fn report(rows: &BTreeMap<String, u64>, path: &Path, context: &Context) -> std::io::Result<()> {
    if context.json() {
        return output::json(&json!({ "file": path.display().to_string(), "rows": rows }));
    }
    let cells = rows.iter().map(|(name, rows)| [name.clone(), rows.to_string()]);
    output::text(&output::table(["table", "#rows"], cells))
}
