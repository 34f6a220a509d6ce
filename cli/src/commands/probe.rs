//! `pleach probe`.

use pleach::store::{ProbeCheck, ProbeLatency, ProbeOptions, ProbeReport, Store, StoreOptions};

use crate::context::Context;
use crate::failure::{CliError, Failure};
use crate::output;

/// Test whether a store keeps the promises that commits rest on
///
/// Many clients race to create the same objects, over and over: exactly one may win each time. Also checked: what was
/// written is read and listed at once, and listings come in order. All of it happens in a folder of its own, _probe/, which
/// is removed in the end. A broken promise ends it with exit code 1.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pleach probe s3://bucket/prefix
  pleach probe ./folder --quick --json")]
pub(crate) struct Args {
    /// The store: a folder, s3://BUCKET/PREFIX or memory://NAME
    #[arg(value_name = "URI")]
    uri: String,
    /// The short form, as init runs it
    #[arg(long)]
    quick: bool,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<(), Failure> {
    let options = StoreOptions { create_folder: false, ..StoreOptions::default() };
    let store = Store::open(&args.uri, &options).await.map_err(pleach::Error::from)?;
    let effort = if args.quick { ProbeOptions::short() } else { ProbeOptions::default() };
    let report = pleach::store::probe(&store, effort).await.map_err(pleach::Error::from)?;
    if context.json() {
        output::json(&report)?;
    } else {
        print(&report)?;
    }
    if report.safe { Ok(()) } else { Err(CliError::UnsafeStore { broken: report.broken().count() }.into()) }
}

fn print(report: &ProbeReport) -> std::io::Result<()> {
    let verdict = |check: &ProbeCheck| match check.kept {
        Some(true) => "kept".to_owned(),
        Some(false) => format!("BROKEN {} times", check.found),
        None => "not needed".to_owned(),
    };
    let rows = report.checks.iter().map(|check| [check.name.to_owned(), verdict(check), check.promise.to_owned()]);
    output::text(&output::table(["promise", "result", "meaning"], rows))?;
    for check in &report.checks {
        for finding in &check.findings {
            output::text(&format!("{}: {}", check.name, output::printable(finding)))?;
        }
    }
    let ProbeLatency { put_ms, create_ms, get_ms, list_ms, delete_ms } = &report.latency;
    output::text(&format!(
        "medians in ms: put {put_ms:.1}, put-if-absent {create_ms:.1}, get {get_ms:.1}, list {list_ms:.1}, delete {delete_ms:.1}"
    ))?;
    if let Some(folder) = &report.left_behind {
        output::note(&format!("could not remove {folder}; nothing needs it"));
    }
    let verdict = if report.safe { "safe" } else { "not safe" };
    output::text(&format!("{verdict}: {} clients raced for {} objects at {}", report.clients, report.keys, report.uri))
}
