//! What evaluations have to know of stored rows: for each table at most one scan, all of them side by side.
//!
//! Several inputs share the scans. What a scan finds goes to those inputs that asked for it, and each of them is told exactly what it
//! would have been told alone.

mod collect;
mod filter;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow_array::{Array as _, FixedSizeBinaryArray, RecordBatch, UInt64Array};
use datafusion::logical_expr::Expr;
use futures::{StreamExt as _, TryStreamExt as _};
use roaring::RoaringTreemap;

use crate::error::Error;
use crate::graph::Core;
use crate::ids::Digest;
use crate::publish::Snapshot;
use crate::record::EncodedKey;
use crate::table::{Role, Scan, Table};
use crate::write::WriteError;
use crate::write::chunk::Probes;
use crate::write::facts::Facts;
use crate::write::input::Input;
use crate::write::row::Row;
use crate::write::shape::{End, TableShape};

use collect::Collector;
use filter::Filter;
pub(crate) use filter::tuples_filter;

/// The scan of one table.
pub(crate) struct Lookup {
    /// The table's index.
    pub table: usize,
    /// Which rows; `None` for all.
    pub filter: Option<Expr>,
    /// What each of those inputs that ask for rows of the table looks at them for, by the input's place.
    asked: BTreeMap<usize, Vec<Purpose>>,
}

/// What a scanned row is looked at for.
enum Purpose {
    /// Whether it has a tuple that the input has too.
    Tuple { space: usize, hash: bool },
    /// Whether it needs a node that the input removes.
    Needs { side: u8, end: End, of: Removed },
}

/// Which nodes an input removes from a table.
#[derive(Clone, Copy)]
enum Removed {
    /// All that it does not bring again.
    All,
    /// Those it deletes.
    Deleted,
}

/// What the scans found for one input.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    /// Facts by space.
    pub facts: BTreeMap<usize, Vec<Facts>>,
    /// Addresses of edges, by table, that go with an end and whose key the input does not name.
    pub detached: BTreeMap<usize, RoaringTreemap>,
    /// Edges that go with an end and whose key the input may name: (table, address) → the line of the first deletion of an end. There is a
    /// fact for each.
    pub cuts: HashMap<(usize, u64), u64>,
    /// What rows that may go have been, by table and address; only where several inputs share the scans.
    pub before: HashMap<(usize, u64), Before>,
    /// Rows that may go are more than are told in `before`.
    pub too_many: bool,
}

/// A row that may go.
#[derive(Debug)]
pub(crate) struct Before {
    /// Its key, as a record tells it.
    pub key: EncodedKey,
    /// The digest of its key.
    pub digest: Digest,
    /// Unique values and ends, by space.
    pub tuples: Vec<(usize, Digest)>,
}

/// Rows that may go of which one input is told what they were.
const MOST_BEFORE: usize = 10_000;

/// What one scan found for one input.
#[derive(Default)]
struct Found {
    facts: BTreeMap<usize, Facts>,
    detached: RoaringTreemap,
    cuts: HashMap<u64, u64>,
    before: HashMap<u64, Before>,
    too_many: bool,
}

/// Decides what has to be scanned for inputs of one schema.
pub(crate) fn plan(inputs: &[Arc<Input>], at: &Snapshot) -> Result<Vec<Lookup>, WriteError> {
    let mut lookups = Vec::new();
    let Some(shapes) = inputs.first().map(|input| &input.shapes) else { return Ok(lookups) };
    for (table, shape) in shapes.tables.iter().enumerate() {
        if at.table_version(shape.table_id()).map_or(0, |version| version.rows) == 0 {
            continue;
        }
        // All former rows of the table go, so that none of them matters.
        let asking = || inputs.iter().enumerate().filter(|(_, input)| !input.overwrite.contains(&table));
        let mut filter = Filter::default();
        let mut asked: BTreeMap<usize, Vec<Purpose>> = BTreeMap::new();
        let ends = shape.ends.iter().flat_map(|ends| [(0, ends.from), (1, ends.to)]);
        let limited = ends.clone().filter(|(_, end)| end.at_most_one).map(|(_, end)| end.space);
        for space in std::iter::once(shape.key).chain(shape.unique.iter().copied()).chain(limited) {
            let mut wanted: Vec<&Probes> = Vec::new();
            for (place, input) in asking() {
                if let Some(probes) = input.probes.get(&space).filter(|probes| !probes.is_empty()) {
                    wanted.push(probes);
                    asked.entry(place).or_default().push(Purpose::Tuple { space, hash: space == shape.key });
                }
            }
            filter.add(shape, shapes.columns_of(space), &wanted)?;
        }
        for (side, end) in ends {
            let mut wanted: Vec<&Probes> = Vec::new();
            for (place, input) in asking() {
                let of = if input.overwrite.contains(&end.node) {
                    filter.all = true;
                    Removed::All
                } else if let Some((probes, _)) = input.deleted.get(&end.node) {
                    wanted.push(probes);
                    Removed::Deleted
                } else {
                    continue;
                };
                asked.entry(place).or_default().push(Purpose::Needs { side, end, of });
            }
            filter.add(shape, shapes.columns_of(end.space), &wanted)?;
        }
        if !asked.is_empty() {
            lookups.push(Lookup { table, filter: filter.finish(), asked });
        }
    }
    Ok(lookups)
}

/// Runs all scans side by side: what they found for each input.
pub(crate) async fn run(
    core: &Arc<Core>,
    at: &Snapshot,
    inputs: &[Arc<Input>],
    lookups: &[Lookup],
) -> Result<Vec<Stored>, Error> {
    let scans = lookups.iter().map(|lookup| lookup.run(core, at, inputs));
    let mut all: Vec<Stored> = inputs.iter().map(|_| Stored::default()).collect();
    for (lookup, found) in lookups.iter().zip(futures::future::try_join_all(scans).await?) {
        for (place, found) in found {
            let Some(stored) = all.get_mut(place) else { continue };
            for (space, facts) in found.facts {
                stored.facts.entry(space).or_default().push(facts);
            }
            if !found.detached.is_empty() {
                stored.detached.insert(lookup.table, found.detached);
            }
            let within = |address| (lookup.table, address);
            stored.cuts.extend(found.cuts.into_iter().map(|(address, line)| (within(address), line)));
            stored.before.extend(found.before.into_iter().map(|(address, row)| (within(address), row)));
            stored.too_many |= found.too_many;
        }
    }
    Ok(all)
}

impl Lookup {
    async fn run(
        &self,
        core: &Arc<Core>,
        at: &Snapshot,
        inputs: &[Arc<Input>],
    ) -> Result<BTreeMap<usize, Found>, Error> {
        let Some((shapes, shape)) =
            inputs.first().and_then(|input| Some((&input.shapes, input.shapes.tables.get(self.table)?)))
        else {
            return Ok(BTreeMap::new());
        };
        let table = core.open_table(at, &shape.layout.table).await?;
        let columns = self.columns(shape, inputs);
        let scan = Scan { columns: columns.clone(), filter: self.filter.clone(), limit: None, addresses: true };
        let mut batches = table.scan(scan);
        let mut collector = Collector::new(self, shapes, shape, &columns, inputs);
        while let Some(batch) = batches.try_next().await? {
            collector.collect(&batch).map_err(|source| WriteError::Temporary { source })?;
        }
        Ok(collector.finish())
    }

    /// The columns that the purposes look at, `_hash` included; where inputs share the scan, also those that tell what a row has been.
    fn columns(&self, shape: &TableShape, inputs: &[Arc<Input>]) -> Vec<usize> {
        let Some(shapes) = inputs.first().map(|input| &input.shapes) else { return Vec::new() };
        let mut columns = if inputs.len() > 1 { shape.checked_columns(&shapes.spaces) } else { Vec::new() };
        for purpose in self.asked.values().flatten() {
            match purpose {
                Purpose::Tuple { space, hash } => {
                    columns.extend_from_slice(shapes.columns_of(*space));
                    if *hash && shape.has_stale_hashes() {
                        columns.extend(shape.layout.all_columns());
                    } else if *hash {
                        columns.extend(shape.layout.columns.iter().position(|column| column.role == Role::Hash));
                    }
                }
                Purpose::Needs { end, .. } => columns.extend_from_slice(shapes.columns_of(end.space)),
            }
        }
        columns.sort_unstable();
        columns.dedup();
        columns
    }
}

/// The `_rowaddr` column, which comes last.
pub(crate) fn addresses(batch: &RecordBatch) -> Option<&UInt64Array> {
    batch.columns().last().and_then(|column| column.as_any().downcast_ref())
}

/// The digest in a row of a 16-byte column.
pub(crate) fn digest_at(hashes: &FixedSizeBinaryArray, at: usize) -> Digest {
    let bytes = if hashes.is_null(at) { &[] } else { hashes.value(at) };
    Digest(bytes.try_into().unwrap_or([0; 16]))
}

/// Reads those rows of `wanted` addresses that a scan yields.
pub(crate) async fn rows_at(
    table: &Table,
    shape: &TableShape,
    filter: Option<Expr>,
    columns: Vec<usize>,
    wanted: &RoaringTreemap,
) -> Result<BTreeMap<u64, Row>, Error> {
    let scan = Scan { columns: columns.clone(), filter, limit: None, addresses: true };
    let mut batches = table.scan(scan);
    let mut rows = BTreeMap::new();
    while let Some(batch) = batches.next().await.transpose()? {
        let Some(addresses) = addresses(&batch) else { continue };
        for (at, address) in addresses.values().iter().enumerate() {
            if wanted.contains(*address) {
                rows.insert(*address, Row::read(shape, &columns, &batch, at));
            }
        }
    }
    Ok(rows)
}
