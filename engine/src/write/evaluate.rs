//! Evaluates inputs against a snapshot: looks up, decides and checks the result; all tables and all inputs side by side.
//!
//! Order of effects: one round of lookups, and of what the staging will fold · decisions in memory · (elsewhere) one round of staging. A
//! refusal stages nothing.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use crate::error::Error;
use crate::graph::{Core, TableCounts};
use crate::ids::{Digest, TableId};
use crate::publish::{Evaluation, Snapshot};
use crate::record::{ChangeKind, EncodedKey};
use crate::write::decide::{Outcomes, check_ends, check_tuples, decide};
use crate::write::findings::Findings;
use crate::write::footprint::{Footprint, Mode};
use crate::write::input::Input;
use crate::write::lookup::Stored;
use crate::write::shape::{Shapes, TableShape};
use crate::write::spool::Spooled;
use crate::write::stage::stage_all;
use crate::write::{WriteError, lookup};

/// What a load or write did to each table, by name.
pub(crate) type Counts = BTreeMap<String, TableCounts>;

/// What an input comes to on a snapshot.
#[derive(Debug)]
pub(crate) struct Verdict {
    /// The input.
    pub(crate) input: Arc<Input>,
    /// What becomes of each table.
    pub(crate) outcomes: Outcomes,
    /// What it touched; told only if it was judged with others.
    pub(crate) touched: Footprint,
    /// The keys of rows that go for good; told only if it was judged with others.
    pub(crate) deleted_keys: BTreeMap<TableId, Vec<EncodedKey>>,
}

/// Why an input does nothing, and what it touched until that was known.
#[derive(Debug)]
pub(crate) struct Refused {
    /// The reason.
    pub(crate) error: Error,
    /// Told only if it was judged with others.
    pub(crate) touched: Footprint,
}

impl Verdict {
    /// Whether anything is to be written.
    pub(crate) fn changes(&self) -> bool {
        self.outcomes.values().any(super::decide::Outcome::changes)
    }

    /// What it does to each table, by name.
    pub(crate) fn report(&self) -> Counts {
        let named = self.counted().map(|(shape, counts)| (shape.name().to_owned(), counts));
        named.collect()
    }

    /// What it does to each table.
    pub(crate) fn counts(&self) -> BTreeMap<TableId, TableCounts> {
        self.counted().map(|(shape, counts)| (shape.table_id(), counts)).collect()
    }

    fn counted(&self) -> impl Iterator<Item = (&TableShape, TableCounts)> {
        let all = self.outcomes.iter();
        let all = all.filter_map(|(table, outcome)| Some((self.input.shapes.tables.get(*table)?, outcome.counts)));
        all.filter(|(_, counts)| *counts != TableCounts::default())
    }

    /// The tables whose content it depends on by rule.
    pub(crate) fn reads(&self) -> BTreeSet<TableId> {
        let written = self.outcomes.iter().filter(|(_, outcome)| outcome.changes()).map(|(table, _)| table);
        read_set(&self.input.shapes, self.input.touched.iter().chain(written))
    }
}

/// Evaluates one input against `at`, and stages what it changes.
pub(crate) async fn evaluate(
    core: &Arc<Core>,
    at: &Snapshot,
    input: &Arc<Input>,
    kind: ChangeKind,
) -> Result<Evaluation<Counts>, Error> {
    let mut judged = judge(core, at, std::slice::from_ref(input)).await?;
    let Some(verdict) = judged.pop().transpose().map_err(|refused| refused.error)? else {
        return Ok(Evaluation::Nothing(Counts::new()));
    };
    if !verdict.changes() {
        return Ok(Evaluation::Nothing(verdict.report()));
    }
    Ok(Evaluation::Staged {
        tables: stage_all(core, at, &[&verdict]).await?,
        reads: verdict.reads(),
        kind,
        change: input.change,
        counts: verdict.counts(),
        absorbed: None,
        report: verdict.report(),
    })
}

/// Judges each of several inputs of one schema against `at` as if it were the only one, with one round of lookups for all. Nothing is
/// staged.
///
/// # Errors
/// What kept all of them from being judged; the reason why a single one is refused stands in its place.
pub(crate) async fn judge(
    core: &Arc<Core>,
    at: &Snapshot,
    inputs: &[Arc<Input>],
) -> Result<Vec<Result<Verdict, Refused>>, Error> {
    // Lines that could not be read would make others look wrong.
    let readable: Vec<Arc<Input>> = inputs.iter().filter(|input| input.violations.untyped == 0).cloned().collect();
    let lookups = lookup::plan(&readable, at)?;
    let ((), stored) = futures::join!(read_ahead(core, at, &readable), lookup::run(core, at, &readable, &lookups));
    let resolved = resolve_all(at, &readable, stored?).await?;
    let mut told = Vec::with_capacity(readable.len());
    for (input, Resolved { findings, outcomes, touched, deleted_keys }) in readable.iter().zip(resolved) {
        let refused = async {
            if findings.is_empty() && input.violations.is_empty() {
                return Ok(None);
            }
            Ok::<_, Error>(Some(input.refuse(findings.describe(core, at, input, &lookups).await?)))
        };
        told.push(match refused.await {
            Ok(None) => Ok(Verdict { input: input.clone(), outcomes, touched, deleted_keys }),
            Ok(Some(error)) => Err(Refused { error: error.into(), touched: touched.only_reads() }),
            Err(error) => Err(Refused { error, touched: touched.only_reads() }),
        });
    }
    let mut told = told.into_iter();
    let unreadable = |input: &Arc<Input>| Refused {
        error: input.refuse(crate::write::Violations::default()).into(),
        touched: Footprint::default(),
    };
    let all = inputs
        .iter()
        .filter_map(|input| if input.violations.untyped > 0 { Some(Err(unreadable(input))) } else { told.next() });
    Ok(all.collect())
}

/// Reads what the write will fold, beside the lookups: a round less than when it is staged. For input in memory alone, since a
/// large one does not count rounds.
async fn read_ahead(core: &Arc<Core>, at: &Snapshot, inputs: &[Arc<Input>]) {
    let mut rows: BTreeMap<usize, u64> = BTreeMap::new();
    for input in inputs {
        for (table, spooled) in &input.rows {
            if let (Spooled::Memory(batches), false) = (spooled, input.overwrite.contains(table)) {
                *rows.entry(*table).or_default() += batches.iter().map(|batch| batch.num_rows() as u64).sum::<u64>();
            }
        }
    }
    let Some(shapes) = inputs.first().map(|input| &input.shapes) else { return };
    let reading = rows.into_iter().filter_map(|(table, rows)| {
        let shape = shapes.tables.get(table)?;
        at.table_version(shape.table_id())?;
        Some(async move {
            if let Ok(open) = core.open_table(at, &shape.layout.table).await {
                open.read_ahead(rows).await;
            }
        })
    });
    futures::future::join_all(reading).await;
}

/// What was decided of one input.
struct Resolved {
    findings: Findings,
    outcomes: Outcomes,
    touched: Footprint,
    deleted_keys: BTreeMap<TableId, Vec<EncodedKey>>,
}

async fn resolve_all(at: &Snapshot, inputs: &[Arc<Input>], stored: Vec<Stored>) -> Result<Vec<Resolved>, Error> {
    let Some(shapes) = inputs.first().map(|input| &input.shapes) else { return Ok(Vec::new()) };
    let live = |shape: &TableShape| at.table_version(shape.table_id()).map_or(0, |version| version.rows);
    let live: Vec<u64> = shapes.tables.iter().map(live).collect();
    let inputs = inputs.to_vec();
    let work = move || {
        let several = inputs.len() > 1;
        let pairs = inputs.iter().zip(&stored);
        pairs.map(|(input, stored)| resolve(input, stored, &live, several)).collect::<Result<Vec<_>, _>>()
    };
    let done = tokio::task::spawn_blocking(work).await;
    let died =
        |e: tokio::task::JoinError| WriteError::BrokenOff { source_name: "the input".into(), reason: e.to_string() };
    Ok(done.map_err(died)??)
}

fn resolve(input: &Input, stored: &Stored, live: &[u64], several: bool) -> Result<Resolved, WriteError> {
    let io = |source| WriteError::Temporary { source };
    let mut findings = Findings::default();
    let rows = |table: usize| live.get(table).copied().unwrap_or_default();
    let outcomes = decide(input, stored, rows, &mut findings).map_err(io)?;
    check_ends(input, stored, &outcomes, &mut findings).map_err(io)?;
    check_tuples(input, stored, &outcomes, &mut findings).map_err(io)?;
    let mut resolved = Resolved { findings, outcomes, touched: Footprint::default(), deleted_keys: BTreeMap::new() };
    if several {
        resolved.touched = Footprint::of(input).map_err(io)?;
        resolved.take_in_what_goes(input, stored).map_err(io)?;
    }
    Ok(resolved)
}

impl Resolved {
    /// Marks what the rows that go were: their keys, unique values and ends are free afterwards.
    fn take_in_what_goes(&mut self, input: &Input, stored: &Stored) -> std::io::Result<()> {
        if stored.too_many {
            self.touched = Footprint::unbounded();
            return Ok(());
        }
        for (table, outcome) in &self.outcomes {
            let Some(shape) = input.shapes.tables.get(*table).filter(|_| !outcome.remove.is_empty()) else { continue };
            let mut put: HashSet<Digest> = HashSet::new();
            if let Some(facts) = input.facts.get(&shape.key) {
                facts.for_each(|fact| {
                    if fact.what.is_input_row() && outcome.keep.contains(fact.at) {
                        put.insert(fact.digest);
                    }
                })?;
            }
            for address in &outcome.remove {
                let Some(before) = stored.before.get(&(*table, address)) else { continue };
                for (space, digest) in &before.tuples {
                    let mode = if *space == shape.key { Mode::BOTH } else { Mode::WRITES };
                    self.touched.tuple(&input.shapes, *space, *digest, mode);
                }
                if !put.contains(&before.digest) {
                    self.deleted_keys.entry(shape.table_id()).or_default().push(before.key.clone());
                }
            }
        }
        Ok(())
    }
}

/// The tables that a write to `tables` depends on by rule: the edge tables of node tables, the node tables of edge tables, and they
/// themselves.
pub(crate) fn read_set<'a>(shapes: &Shapes, tables: impl Iterator<Item = &'a usize>) -> BTreeSet<TableId> {
    let tables: BTreeSet<_> = tables.copied().collect();
    let mut reads = tables.clone();
    for (table, shape) in shapes.tables.iter().enumerate() {
        let Some(ends) = &shape.ends else { continue };
        let nodes = [ends.from.node, ends.to.node];
        if tables.contains(&table) {
            reads.extend(nodes);
        }
        if nodes.iter().any(|node| tables.contains(node)) {
            reads.insert(table);
        }
    }
    reads.into_iter().filter_map(|table| shapes.tables.get(table).map(TableShape::table_id)).collect()
}
