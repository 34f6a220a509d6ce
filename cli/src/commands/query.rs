//! `pleach query`.

use super::statement::{Format, Statement};
use crate::context::Context;
use crate::failure::Failure;
use crate::rows::Writer;

/// Ask a question in openCypher; nothing is ever changed
///
/// The statement is the argument, a file, or standard input. EXPLAIN before it shows how it would be answered.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pleach query 'MATCH (p:Person)-[:Knows]->(f:Person) RETURN p.name, count(f) AS friends ORDER BY friends DESC'
  pleach query 'MATCH (p:Person {id: $id}) RETURN p' -p id=ada --at main~2
  pleach query -f report.cypher --format csv > report.csv
A parameter is read as JSON where it is JSON (7, true, [1,2], \"7\"), else taken as text.")]
pub(crate) struct Args {
    #[command(flatten)]
    statement: Statement,
    /// The commit to read: main, main@42, main~2, main@2024-01-31T12:00:00Z or main@COMMIT-ID
    #[arg(long, alias = "branch", value_name = "REF", default_value = "main")]
    at: String,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<(), Failure> {
    let text = args.statement.text()?;
    let params = args.statement.params()?;
    let graph = context.graph().await?;
    let mut rows = graph.query(&args.at, &text, params).await?;
    let names: Vec<String> = rows.columns().iter().map(|column| column.name.clone()).collect();
    let mut writer = Writer::new(args.statement.format(context), names, &args.statement.null)?;
    writer.warn(rows.warnings());
    while let Some(batch) = rows.next_rows().await? {
        writer.push(&batch)?;
    }
    writer.finish()?;
    Ok(())
}

impl Statement {
    /// How rows are written: as told, else as `--json` has it, else a table.
    pub(super) fn format(&self, context: &Context) -> Format {
        self.format.unwrap_or(if context.json() { Format::Json } else { Format::Table })
    }
}
