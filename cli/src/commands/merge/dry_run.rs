//! What a merge would do, for people and programs, and as a file that can be applied.

use std::path::PathBuf;

use clap::ArgGroup;
use pleach::{MergeOptions, MergeOutcome, MergePlan};
use serde_json::json;

use super::super::files::OutputFile;
use super::{plan_file, told};
use crate::conflict::{self, Conflict};
use crate::context::Context;
use crate::failure::{CliError, Failure};
use crate::output;
use crate::shape::{Io, Parent, merged_tables};

/// Looking before merging.
#[derive(Debug, clap::Args)]
#[command(group(ArgGroup::new("looking").args(["dry_run", "plan"]).multiple(true)))]
pub(super) struct Look {
    /// Write nothing; show what would change and every conflict. Conflicts end it with exit code 3
    #[arg(long, conflicts_with_all = ["if_head", "request_id", "squash", "delete_source"])]
    dry_run: bool,
    /// The same, and save the plan as JSON: its resolutions may be edited, and --apply does it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["if_head", "request_id", "squash", "delete_source"])]
    plan: Option<PathBuf>,
    /// How many conflicts are shown; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 50, requires = "looking")]
    limit: usize,
    /// How many conflicts are passed over first
    #[arg(long, value_name = "N", default_value_t = 0, requires = "looking")]
    skip: usize,
}

impl Look {
    /// Whether nothing is to be written to the graph.
    pub(super) const fn is_wanted(&self) -> bool {
        self.dry_run || self.plan.is_some()
    }

    /// The conflicts that are shown.
    fn page<'a>(&self, all: &'a [pleach::Conflict]) -> &'a [pleach::Conflict] {
        let rest = all.get(self.skip..).unwrap_or_default();
        let shown = if self.limit == 0 { rest.len() } else { rest.len().min(self.limit) };
        rest.get(..shown).unwrap_or_default()
    }
}

/// Tells what the merge would do.
pub(super) async fn run(
    source: &str,
    into: &str,
    options: MergeOptions,
    look: &Look,
    context: &Context,
) -> Result<(), Failure> {
    // A file that cannot be written is no reason to have done all the work.
    let file = look.plan.as_deref().map(|path| OutputFile::create(path).map(|file| (file, path))).transpose()?;
    let graph = context.graph().await?;
    let plan = graph.plan_merge(source, into, options).await?;
    if let Some((file, path)) = file {
        plan_file::write(file, path, graph.id(), &plan)?;
    }
    if context.json() {
        print_json(&plan, look)?;
    } else {
        output::text(&text(&plan, source, into, look))?;
        if let Some(path) = &look.plan {
            output::note(&format!("the plan is in {}; `pleach merge --apply` does it", path.display()));
        }
    }
    match plan.conflicts.len() {
        0 => Ok(()),
        count => {
            Err(CliError::PlannedConflicts { count, can_be_settled: conflict::can_be_settled(&plan.conflicts) }.into())
        }
    }
}

fn print_json(plan: &MergePlan, look: &Look) -> std::io::Result<()> {
    /// One object; conflicts keep the numbers that they are written with.
    #[derive(serde::Serialize)]
    struct Shape<'a> {
        #[serde(flatten)]
        plan: serde_json::Value,
        conflicts: Vec<Conflict<'a>>,
    }
    let bases: Vec<Parent<'_>> = plan.bases.iter().map(Parent::from).collect();
    let mut told = json!({
        "outcome": plan.outcome.as_str(),
        "source": Parent::from(&plan.source),
        "target": Parent::from(&plan.target),
        "bases": bases,
        "tables": merged_tables(&plan.tables),
        "conflict_count": plan.conflicts.len(),
        "io": Io::from(&plan.io),
    });
    if let Some(path) = &look.plan {
        told["plan"] = path.display().to_string().into();
    }
    let conflicts = look.page(&plan.conflicts).iter().map(Conflict::from).collect();
    output::json(&Shape { plan: told, conflicts })
}

fn text(plan: &MergePlan, source: &str, into: &str, look: &Look) -> String {
    let (source, into) = (output::printable(source), output::printable(into));
    let mut lines = vec![match plan.outcome {
        MergeOutcome::UpToDate => format!("`{into}` has all that `{source}` brings: there would be no new commit"),
        MergeOutcome::FastForward => format!("`{into}` would become as `{source}` is"),
        _ => {
            let bases: Vec<String> = plan.bases.iter().map(pleach::ParentInfo::reference).collect();
            let (source, target) = (plan.source.reference(), plan.target.reference());
            format!("{source} would be merged into {target}; both come from {}", bases.join(", "))
        }
    }];
    if !plan.tables.is_empty() {
        lines.push(told::tables(&plan.tables));
    }
    let all = plan.conflicts.len();
    if all > 0 {
        let page = look.page(&plan.conflicts);
        let (first, last) = (look.skip + 1, look.skip + page.len());
        lines.push(match (page.len(), all) {
            (1, 1) => "1 conflict:".to_owned(),
            (shown, all) if shown == all => format!("{all} conflicts:"),
            (0, all) => format!("none of {all} conflicts is left to show"),
            (_, all) => format!("conflicts {first} to {last} of {all}:"),
        });
        lines.extend(page.iter().enumerate().map(|(index, conflict)| conflict::text(first + index, conflict)));
        if last < all && !page.is_empty() {
            lines.push(format!("{} more: --skip {last}, or --limit 0 for all", all - last));
        }
    }
    lines.join("\n")
}
