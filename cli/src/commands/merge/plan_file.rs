//! Plans of merges in files: written to be read and edited by people, read strictly.

use std::io::Write as _;
use std::path::Path;

use pleach::ids::{CommitId, GraphId, IncarnationId, Seq};
use pleach::{MergeOutcome, MergePlan, MergeSide, ParentInfo, Strategy};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::super::files::{self, OutputFile};
use super::resolutions::{Line, Side};
use crate::conflict::Conflict;
use crate::failure::CliError;
use crate::shape::{Parent, merged_tables};

/// The form of these files.
const FORMAT: u32 = 1;

#[derive(Serialize)]
struct Written<'a> {
    format: u32,
    graph: String,
    outcome: &'a str,
    source: Head,
    target: Head,
    bases: Vec<Parent<'a>>,
    strategies: Vec<Rule>,
    resolutions: Vec<Line>,
    tables: std::collections::BTreeMap<&'a str, crate::shape::Merged>,
    conflicts: Vec<Open<'a>>,
}

/// A conflict with the line that would settle it, to be copied.
#[derive(Serialize)]
struct Open<'a> {
    #[serde(flatten)]
    conflict: Conflict<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolve: Option<Line>,
}

/// A plan that was saved. What is in the file for its reader alone is not looked at.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Saved {
    #[serde(rename = "format")]
    _format: u32,
    graph: GraphId,
    #[serde(rename = "outcome")]
    _outcome: IgnoredAny,
    source: Head,
    target: Head,
    #[serde(rename = "bases")]
    _bases: IgnoredAny,
    strategies: Vec<Rule>,
    resolutions: Vec<Line>,
    #[serde(rename = "tables")]
    _tables: IgnoredAny,
    #[serde(rename = "conflicts")]
    _conflicts: IgnoredAny,
}

/// A pinned commit.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    /// For people.
    #[serde(rename = "ref")]
    reference: String,
    branch: String,
    seq: u64,
    incarnation: IncarnationId,
    id: CommitId,
    /// Whether it was named as a branch, which must not go on then; of the source only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    is_branch: Option<bool>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    table: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    property: Option<String>,
    side: Side,
}

/// Writes a plan of a graph; the file is complete then.
pub(super) fn write(mut file: OutputFile, path: &Path, graph: GraphId, plan: &MergePlan) -> Result<(), CliError> {
    let unwritable = |source| CliError::Unwritable { path: path.to_owned(), source };
    let is_branch = Some(plan.source_is_branch);
    let written = Written {
        format: FORMAT,
        graph: graph.to_string(),
        outcome: plan.outcome.as_str(),
        source: Head { is_branch, ..Head::from(&plan.source) },
        target: Head::from(&plan.target),
        bases: plan.bases.iter().map(Parent::from).collect(),
        strategies: plan.strategies.iter().map(Rule::from).collect(),
        resolutions: plan.resolutions.iter().filter_map(Line::of).collect(),
        tables: merged_tables(&plan.tables),
        conflicts: plan
            .conflicts
            .iter()
            .map(|conflict| Open { conflict: conflict.into(), resolve: Line::settling(conflict) })
            .collect(),
    };
    let mut text = serde_json::to_vec_pretty(&written).map_err(|error| unwritable(error.into()))?;
    text.push(b'\n');
    file.write_all(&text).map_err(unwritable)?;
    file.finish()
}

/// Reads a plan.
pub(super) fn read(path: &Path) -> Result<Saved, CliError> {
    #[derive(Deserialize)]
    struct Format {
        format: u32,
    }
    let text = files::read_text(path)?;
    let name = files::input_name(path);
    let damaged = |source| CliError::PlanDamaged { file: name.clone(), source };
    let Format { format } = serde_json::from_str(&text).map_err(damaged)?;
    if format != FORMAT {
        return Err(CliError::PlanFormat { file: name, format, known: FORMAT });
    }
    serde_json::from_str(&text).map_err(damaged)
}

impl Saved {
    /// The plan, for the graph it was made for.
    pub(super) fn of(self, graph: GraphId, path: &Path) -> Result<MergePlan, CliError> {
        let file = files::input_name(path);
        if self.graph != graph {
            return Err(CliError::PlanForeign { file, planned: self.graph.to_string(), graph: graph.to_string() });
        }
        let mut resolutions = Vec::with_capacity(self.resolutions.len());
        for (index, line) in self.resolutions.into_iter().enumerate() {
            let place = || format!("{file}, resolution {}", index + 1);
            let line = line.resolution();
            resolutions
                .push(line.map_err(|reason| CliError::ResolutionLine { place: place(), reason: reason.to_owned() })?);
        }
        Ok(MergePlan {
            outcome: MergeOutcome::Merged,
            source_is_branch: self.source.is_branch.unwrap_or(true),
            source: self.source.into(),
            target: self.target.into(),
            bases: Vec::new(),
            tables: std::collections::BTreeMap::new(),
            conflicts: Vec::new(),
            strategies: self.strategies.into_iter().map(Strategy::from).collect(),
            resolutions,
            io: pleach::store::IoStats::default(),
        })
    }
}

impl From<&ParentInfo> for Head {
    fn from(commit: &ParentInfo) -> Self {
        Self {
            reference: commit.reference(),
            branch: commit.branch.clone(),
            seq: commit.seq.0,
            incarnation: commit.incarnation,
            id: commit.id,
            is_branch: None,
        }
    }
}

impl From<Head> for ParentInfo {
    fn from(head: Head) -> Self {
        Self { branch: head.branch, incarnation: head.incarnation, seq: Seq(head.seq), id: head.id }
    }
}

impl From<&Strategy> for Rule {
    fn from(strategy: &Strategy) -> Self {
        Self { table: strategy.table.clone(), property: strategy.property.clone(), side: strategy.side.into() }
    }
}

impl From<Rule> for Strategy {
    fn from(rule: Rule) -> Self {
        Self { table: rule.table, property: rule.property, side: MergeSide::from(rule.side) }
    }
}
