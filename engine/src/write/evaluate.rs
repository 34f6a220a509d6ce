//! Evaluates an input against a snapshot: looks up, decides, checks the result, and stages it; all tables side by side.
//!
//! Order of effects: one round of lookups, and of what the staging will fold · decisions in memory · one round of staging. A refusal stages nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{BooleanArray, RecordBatch};
use futures::StreamExt as _;
use roaring::RoaringTreemap;

use crate::error::Error;
use crate::graph::{Core, TableCounts};
use crate::ids::TableId;
use crate::publish::{Evaluation, Snapshot};
use crate::record::ChangeKind;
use crate::table::{BatchStream, StagedVersion, TableError, TableWrite};
use crate::write::WriteError;
use crate::write::decide::{Outcome, Outcomes, check_ends, check_tuples, decide};
use crate::write::findings::Findings;
use crate::write::input::Input;
use crate::write::lookup;
use crate::write::shape::{Shapes, TableShape};
use crate::write::spool::{Spooled, split_lines};

/// What a load or write did to each table, by name.
pub(crate) type Counts = BTreeMap<String, TableCounts>;

/// Evaluates `input` against `at`.
pub(crate) async fn evaluate(
    core: &Arc<Core>,
    at: &Snapshot,
    input: &Arc<Input>,
    kind: ChangeKind,
) -> Result<Evaluation<Counts>, Error> {
    if input.violations.untyped > 0 {
        // Lines that could not be read would make others look wrong.
        return Err(input.refuse(crate::write::Violations::default()).into());
    }
    let lookups = lookup::plan(input, at)?;
    let ((), stored) = futures::join!(read_ahead(core, at, input), lookup::run(core, at, input, &lookups));
    let stored = stored?;
    let live: Vec<u64> = input
        .shapes
        .tables
        .iter()
        .map(|shape| at.table_version(shape.table_id()).map_or(0, |version| version.rows))
        .collect();
    let (findings, outcomes) = {
        let input = input.clone();
        let work = move || resolve(&input, &stored, &live);
        let done = tokio::task::spawn_blocking(work).await;
        done.map_err(|e| WriteError::BrokenOff { source_name: "the input".into(), reason: e.to_string() })??
    };
    if !findings.is_empty() || !input.violations.is_empty() {
        let found = findings.describe(core, at, input, &lookups).await?;
        return Err(input.refuse(found).into());
    }
    let report = counts_by_name(&input.shapes, &outcomes);
    let changed: Vec<_> = outcomes.iter().filter(|(_, outcome)| outcome.changes()).collect();
    if changed.is_empty() {
        return Ok(Evaluation::Nothing(report));
    }
    let tables = stage_all(core, at, input, &changed).await?;
    let written: Vec<usize> = changed.iter().map(|(table, _)| **table).collect();
    let counts = outcomes
        .iter()
        .filter_map(|(table, outcome)| Some((input.shapes.tables.get(*table)?.table_id(), outcome.counts)))
        .filter(|(_, counts)| *counts != TableCounts::default());
    Ok(Evaluation::Staged {
        tables,
        reads: read_set(&input.shapes, input.touched.iter().chain(&written)),
        kind,
        change: input.change,
        counts: counts.collect(),
        absorbed: None,
        report,
    })
}

/// Reads what the write will fold, beside the lookups: a round less than when it is staged. For input in memory alone, since a
/// large one does not count rounds.
async fn read_ahead(core: &Arc<Core>, at: &Snapshot, input: &Input) {
    let reading = input.rows.iter().filter_map(|(table, spooled)| {
        let Spooled::Memory(batches) = spooled else { return None };
        let shape = input.shapes.tables.get(*table).filter(|_| !input.overwrite.contains(table))?;
        at.table_version(shape.table_id())?;
        let rows = batches.iter().map(|batch| batch.num_rows() as u64).sum();
        Some(async move {
            if let Ok(open) = core.open_table(at, &shape.layout.table).await {
                open.read_ahead(rows).await;
            }
        })
    });
    futures::future::join_all(reading).await;
}

fn resolve(input: &Input, stored: &lookup::Stored, live: &[u64]) -> Result<(Findings, Outcomes), WriteError> {
    let io = |source| WriteError::Temporary { source };
    let mut findings = Findings::default();
    let rows = |table: usize| live.get(table).copied().unwrap_or_default();
    let outcomes = decide(input, stored, rows, &mut findings).map_err(io)?;
    check_ends(input, stored, &outcomes, &mut findings).map_err(io)?;
    check_tuples(input, stored, &outcomes, &mut findings).map_err(io)?;
    Ok((findings, outcomes))
}

fn counts_by_name(shapes: &Shapes, outcomes: &Outcomes) -> Counts {
    let named = outcomes.iter().filter_map(|(table, outcome)| {
        shapes.tables.get(*table).map(|shape| (shape.name().to_owned(), outcome.counts))
    });
    named.filter(|(_, counts)| *counts != TableCounts::default()).collect()
}

/// The tables that a write to `tables` depends on by rule: the edge tables of node tables, the node tables of edge tables, and they
/// themselves.
fn read_set<'a>(shapes: &Shapes, tables: impl Iterator<Item = &'a usize>) -> BTreeSet<TableId> {
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

/// Stages all tables side by side; if one fails, the others' files are let go of.
async fn stage_all(
    core: &Arc<Core>,
    at: &Snapshot,
    input: &Arc<Input>,
    changed: &[(&usize, &Outcome)],
) -> Result<Vec<StagedVersion>, Error> {
    let staging = changed.iter().map(|(table, outcome)| stage(core, at, input, **table, outcome));
    let outcomes = futures::future::join_all(staging).await;
    core.store().staging().all_or_none(outcomes, |staged| &staged.files)
}

async fn stage(
    core: &Arc<Core>,
    at: &Snapshot,
    input: &Arc<Input>,
    table: usize,
    outcome: &Outcome,
) -> Result<StagedVersion, Error> {
    let Some(shape) = input.shapes.tables.get(table) else {
        return Err(WriteError::Catalog { table: table.to_string(), reason: "it is not there".into() }.into());
    };
    let open = core.open_table(at, &shape.layout.table).await?;
    let failure = Failure::default();
    let write = TableWrite {
        remove: outcome.remove.clone(),
        remove_all: outcome.remove_all,
        insert: kept_rows(input, table, outcome.keep.clone(), &failure)?,
        insert_rows: outcome.keep.len(),
    };
    match open.stage(write).await {
        Ok(staged) => Ok(staged),
        Err(error) => {
            let cause = failure.0.lock().unwrap_or_else(PoisonError::into_inner).take();
            Err(cause.map_or_else(|| error.into(), Error::from))
        }
    }
}

/// Why the rows of an input broke off: told here as it was, while the table only learns that they did.
#[derive(Debug, Clone, Default)]
struct Failure(Arc<Mutex<Option<WriteError>>>);

impl Failure {
    fn keep(&self, table: TableId, error: WriteError) -> TableError {
        let problem = error.to_string();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        TableError::OtherColumns { table, problem }
    }
}

/// The rows of the lines `keep`, in the order of the input.
fn kept_rows(
    input: &Arc<Input>,
    table: usize,
    keep: RoaringTreemap,
    failure: &Failure,
) -> Result<BatchStream, WriteError> {
    let (Some(spooled), Some(shape)) = (input.rows.get(&table), input.shapes.tables.get(table)) else {
        return Ok(futures::stream::empty().boxed());
    };
    if keep.is_empty() {
        return Ok(futures::stream::empty().boxed());
    }
    let arrow = shape.layout.arrow.clone();
    let name = shape.name().to_owned();
    let filter = move |batch: Result<RecordBatch, WriteError>| -> Result<Option<RecordBatch>, WriteError> {
        let fault = |source| WriteError::Columns { table: name.clone(), source };
        let (batch, lines) = split_lines(&batch?, &arrow).map_err(fault)?;
        let wanted: Vec<bool> = lines.values().iter().map(|line| keep.contains(*line)).collect();
        if wanted.iter().all(|wanted| *wanted) {
            return Ok(Some(batch));
        }
        let batch = arrow_select::filter::filter_record_batch(&batch, &BooleanArray::from(wanted)).map_err(fault)?;
        Ok((batch.num_rows() > 0).then_some(batch))
    };
    let (failure, broken, id) = (failure.clone(), failure.clone(), shape.table_id());
    let source_name = input.source.to_string();
    let batches = spooled.batches()?.filter_map(move |batch| filter(batch).transpose());
    let batches = batches.map(move |batch| batch.map_err(|error| failure.keep(id, error)));
    Ok(match spooled {
        Spooled::Memory(_) => futures::stream::iter(batches).boxed(),
        Spooled::File { .. } => from_blocking(batches, move || {
            let reason = "the thread that read it from a temporary file died".to_owned();
            broken.keep(id, WriteError::BrokenOff { source_name, reason })
        }),
    })
}

/// Reads files on a thread that may block, a few batches ahead. That the thread ends is no proof that it came to the end: it says so,
/// and `broken` is the error if it does not.
fn from_blocking(
    batches: impl Iterator<Item = Result<RecordBatch, TableError>> + Send + 'static,
    broken: impl FnOnce() -> TableError + Send + 'static,
) -> BatchStream {
    let (sender, receiver) = tokio::sync::mpsc::channel(2);
    tokio::task::spawn_blocking(move || {
        for batch in batches {
            let failed = batch.is_err();
            if sender.blocking_send(batch.map(Some)).is_err() || failed {
                return;
            }
        }
        // Nobody listens any more when the write failed elsewhere.
        let _ = sender.blocking_send(Ok(None));
    });
    futures::stream::unfold(Some((receiver, broken)), |reading| async move {
        let (mut receiver, broken) = reading?;
        match receiver.recv().await {
            Some(Ok(Some(batch))) => Some((Ok(batch), Some((receiver, broken)))),
            Some(Ok(None)) => None,
            Some(Err(error)) => Some((Err(error), None)),
            None => Some((Err(broken()), None)),
        }
    })
    .boxed()
}

#[cfg(test)]
mod tests {
    use futures::TryStreamExt as _;

    use super::*;

    fn batches(end: impl Fn() -> Option<Result<RecordBatch, TableError>> + Send + 'static) -> BatchStream {
        let empty = || RecordBatch::new_empty(Arc::new(arrow_schema::Schema::empty()));
        let mut read = 0;
        let batches = std::iter::from_fn(move || {
            read += 1;
            if read <= 5 { Some(Ok(empty())) } else { end() }
        });
        from_blocking(batches, || error("broken off"))
    }

    fn error(problem: &str) -> TableError {
        TableError::OtherColumns { table: TableId::from_bytes([1; 16]), problem: problem.to_owned() }
    }

    #[tokio::test]
    async fn rows_end_where_their_reader_says_so_and_nowhere_else() {
        assert_eq!(batches(|| None).try_collect::<Vec<_>>().await.unwrap().len(), 5);
        let failed = batches(|| Some(Err(error("as it was")))).try_collect::<Vec<_>>().await.unwrap_err();
        assert!(failed.to_string().contains("as it was"), "{failed}");
        let died = batches(|| panic!("a fault of the reader")).collect::<Vec<_>>().await;
        assert_eq!(died.len(), 6);
        let error = died.into_iter().find_map(Result::err).unwrap();
        assert!(error.to_string().contains("broken off"), "{error}");
    }
}
