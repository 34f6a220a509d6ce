//! What a merge did.

use std::collections::BTreeMap;
use std::time::Duration;

use pleach::record::SideCounts;
use pleach::{MergeOutcome, MergeReport, MergedTable};
use serde_json::json;

use super::super::commit_text;
use crate::context::Context;
use crate::failure::Failure;
use crate::output;
use crate::shape::{Commit, Io, Parent, merged_tables};

/// Tells people or a program; `source` and `into` as they were named.
pub(super) fn report(report: &MergeReport, source: &str, into: &str, context: &Context) -> Result<(), Failure> {
    if context.json() {
        return Ok(output::json(&json(report))?);
    }
    if !report.tables.is_empty() {
        output::text(&tables(&report.tables))?;
    }
    let (source, into) = (output::printable(source), output::printable(into));
    match report.outcome {
        MergeOutcome::UpToDate => {
            output::note(&format!("`{into}` has all that `{source}` brings: there is no new commit"));
        }
        MergeOutcome::FastForward => output::note(&format!("`{into}` is now as `{source}` is")),
        _ => {}
    }
    match report.source_deleted {
        Some(true) => output::note(&format!("`{source}` was deleted")),
        Some(false) => {
            output::note(&format!(
                "`{source}` was not deleted: it has gone on, or the store refused; `pleach branch delete` does it"
            ));
        }
        None => {}
    }
    if report.repeated {
        output::note(commit_text::REPEATED);
    }
    if let Some(commit) = &report.commit {
        output::text(&commit_text::name(commit))?;
    }
    Ok(())
}

fn json(report: &MergeReport) -> serde_json::Value {
    let bases: Vec<Parent<'_>> = report.bases.iter().map(Parent::from).collect();
    let pleach::MergeTimings { queued, captured, planned, staged, published } = report.timings;
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    json!({
        "outcome": report.outcome.as_str(),
        "commit": report.commit.as_ref().map(Commit::from),
        "repeated": report.repeated,
        "bases": bases,
        "tables": merged_tables(&report.tables),
        "conflicts": [],
        "source_deleted": report.source_deleted,
        "io": Io::from(&report.io),
        "timings_ms": {
            "queued": ms(queued),
            "captured": ms(captured),
            "planned": ms(planned),
            "staged": ms(staged),
            "published": ms(published),
        },
    })
}

/// What each side changed, and the rows before and after.
pub(super) fn tables(tables: &BTreeMap<String, MergedTable>) -> String {
    let rows = tables.iter().map(|(name, table)| {
        let [before, after] =
            [table.rows_before, table.rows].map(|rows| rows.map_or_else(|| "-".to_owned(), |n| n.to_string()));
        let source = table.counts.map(|counts| counts.source);
        let target = table.counts.map(|counts| counts.target);
        [name.clone(), changes(source), changes(target), before, after]
    });
    output::table(["table", "source", "target", "#before", "#rows"], rows)
}

/// Rows that were added, changed and removed; a dash where rows were not compared, since one side's table was taken as it is.
fn changes(counts: Option<SideCounts>) -> String {
    counts.map_or_else(
        || "-".to_owned(),
        |SideCounts { inserted, updated, removed }| format!("+{inserted} ~{updated} -{removed}"),
    )
}
