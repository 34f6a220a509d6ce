//! Stages what inputs came to: one version for each table, whatever the number of inputs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{BooleanArray, RecordBatch};
use futures::StreamExt as _;
use roaring::RoaringTreemap;

use crate::error::Error;
use crate::graph::Core;
use crate::ids::TableId;
use crate::publish::Snapshot;
use crate::table::{BatchStream, StagedVersion, TableError, TableWrite};
use crate::write::WriteError;
use crate::write::decide::Outcome;
use crate::write::evaluate::Verdict;
use crate::write::input::Input;
use crate::write::shape::TableShape;
use crate::write::spool::{Spooled, split_lines};

/// What becomes of a table: of each input that changes it, what the input does.
type Parts<'a> = Vec<(&'a Arc<Input>, &'a Outcome)>;

/// Stages all tables side by side; if one fails, the others' files are let go of. What is staged together must be independent.
pub(crate) async fn stage_all(
    core: &Arc<Core>,
    at: &Snapshot,
    verdicts: &[&Verdict],
) -> Result<Vec<StagedVersion>, Error> {
    let mut tables: BTreeMap<usize, Parts<'_>> = BTreeMap::new();
    for verdict in verdicts {
        for (table, outcome) in verdict.outcomes.iter().filter(|(_, outcome)| outcome.changes()) {
            tables.entry(*table).or_default().push((&verdict.input, outcome));
        }
    }
    let staging = tables.into_iter().map(|(table, parts)| stage(core, at, table, parts));
    let outcomes = futures::future::join_all(staging).await;
    core.store().staging().all_or_none(outcomes, |staged| &staged.files)
}

async fn stage(core: &Arc<Core>, at: &Snapshot, table: usize, parts: Parts<'_>) -> Result<StagedVersion, Error> {
    let shape = parts.first().and_then(|(input, _)| input.shapes.tables.get(table));
    let Some(shape) = shape else {
        return Err(WriteError::Catalog { table: table.to_string(), reason: "it is not there".into() }.into());
    };
    let open = core.open_table(at, &shape.layout.table).await?;
    let failure = Failure::default();
    let mut write = TableWrite {
        remove: RoaringTreemap::new(),
        remove_all: false,
        insert: futures::stream::empty().boxed(),
        insert_rows: 0,
    };
    let mut rows = Vec::with_capacity(parts.len());
    for (input, outcome) in parts {
        write.remove |= &outcome.remove;
        write.remove_all |= outcome.remove_all;
        write.insert_rows += outcome.keep.len();
        rows.push(kept_rows(input, shape, table, outcome.keep.clone(), &failure)?);
    }
    write.insert = futures::stream::iter(rows).flatten().boxed();
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
    shape: &TableShape,
    table: usize,
    keep: RoaringTreemap,
    failure: &Failure,
) -> Result<BatchStream, WriteError> {
    let Some(spooled) = input.rows.get(&table) else { return Ok(futures::stream::empty().boxed()) };
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
