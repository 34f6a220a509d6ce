//! `pleach run`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::change::Change;
use super::commit_text;
use super::statement::{Format, Statement};
use crate::context::Context;
use crate::failure::Failure;
use crate::output;
use crate::rows::{Answer, Writer, note_all};
use crate::shape::{Commit, Counts, Io, change_reference, counts};

/// Change the graph with one openCypher statement, as one commit
///
/// CREATE, MERGE, SET, REMOVE, DELETE and DETACH DELETE, after MATCH, UNWIND and WITH; all of it takes effect or nothing. A statement
/// that changes nothing makes no commit.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pleach run \"CREATE (:Person {id: 'grace', name: 'Grace'})\" -m 'one more'
  pleach run 'MATCH (p:Person {id: $id}) SET p.born = date($born)' -p id=ada -p born=1815-12-10 --branch review
  pleach run 'UNWIND $rows AS row MERGE (p:Person {id: row.id}) SET p.name = row.name' -p rows='[{\"id\":\"al\",\"name\":\"Al\"}]'
A parameter is read as JSON where it is JSON (7, true, [1,2], \"7\"), else taken as text.")]
pub(crate) struct Args {
    #[command(flatten)]
    statement: Statement,
    /// The branch to change
    #[arg(short, long, alias = "at", value_name = "NAME", default_value = "main")]
    branch: String,
    #[command(flatten)]
    change: Change,
}

/// What the statement did, as one JSON object.
#[derive(Serialize)]
struct Told<'a> {
    commit: Option<Commit<'a>>,
    /// Its own change of the commit, which others may share.
    change: Option<String>,
    tables: BTreeMap<&'a str, Counts>,
    #[serde(flatten)]
    rows: Answer<'a>,
    /// The request id had taken effect before.
    repeated: bool,
    io: Io,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<(), Failure> {
    let text = args.statement.text()?;
    let params = args.statement.params()?;
    let graph = context.graph().await?;
    let options = args.change.options(context);
    let report = graph.run(&args.branch, &text, params, options).await?;
    let names: Vec<String> = report.columns.clone();
    let format = args.statement.format(context);
    if format == Format::Json {
        output::json(&Told {
            commit: report.commit.as_ref().map(Commit::from),
            change: report.commit.as_ref().map(|commit| change_reference(commit, report.change)),
            tables: counts(&report.tables),
            rows: Answer::new(&names, &report.rows, &report.warnings)?,
            repeated: report.repeated,
            io: Io::from(&report.io),
        })?;
        return Ok(());
    }
    note_all(&report.warnings);
    if !names.is_empty() {
        let mut writer = Writer::new(format, names, &args.statement.null)?;
        writer.push(&report.rows)?;
        writer.finish()?;
    }
    // Rows for a program must stand alone on standard output.
    let tell = |text: String| {
        if format == Format::Table {
            return output::text(&text);
        }
        output::note(&text);
        Ok(())
    };
    if !report.tables.is_empty() {
        tell(commit_text::counts(&report.tables))?;
    }
    if report.repeated {
        output::note(commit_text::REPEATED);
    }
    match &report.commit {
        Some(commit) => tell(commit_text::name_of(commit, report.change))?,
        None => output::note("nothing changed, so there is no new commit"),
    }
    Ok(())
}
