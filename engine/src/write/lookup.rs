//! What an evaluation has to know of stored rows: for each table at most one scan, all of them side by side.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;

use arrow_array::{Array as _, FixedSizeBinaryArray, RecordBatch, UInt64Array};
use datafusion::common::{Column as ColumnName, ScalarValue};
use datafusion::logical_expr::{Expr, lit};
use futures::{StreamExt as _, TryStreamExt as _};
use roaring::RoaringTreemap;

use crate::error::Error;
use crate::graph::Core;
use crate::ids::Digest;
use crate::publish::Snapshot;
use crate::table::{Role, Scan, Table};
use crate::value::{ColumnBuilder, Value};
use crate::write::WriteError;
use crate::write::chunk::Probes;
use crate::write::facts::{Bloom, Fact, Facts, What};
use crate::write::input::Input;
use crate::write::row::Row;
use crate::write::shape::{End, TableShape};

/// The scan of one table.
pub(crate) struct Lookup {
    /// The table's index.
    pub table: usize,
    /// Which rows; `None` for all.
    pub filter: Option<Expr>,
    purposes: Vec<Purpose>,
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

/// What the scans found.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    /// Facts by space.
    pub facts: BTreeMap<usize, Vec<Facts>>,
    /// Addresses of edges, by table, that go with an end and whose key the input does not name.
    pub detached: BTreeMap<usize, RoaringTreemap>,
    /// Edges that go with an end and whose key the input may name: (table, address) → the line of the first deletion of an end. There is a
    /// fact for each.
    pub cuts: HashMap<(usize, u64), u64>,
}

/// What one scan found.
#[derive(Default)]
struct Found {
    facts: BTreeMap<usize, Facts>,
    detached: RoaringTreemap,
    cuts: HashMap<u64, u64>,
}

/// Decides what has to be scanned.
pub(crate) fn plan(input: &Input, at: &Snapshot) -> Result<Vec<Lookup>, WriteError> {
    let mut lookups = Vec::new();
    for (table, shape) in input.shapes.tables.iter().enumerate() {
        let rows = at.table_version(shape.table_id()).map_or(0, |version| version.rows);
        if rows == 0 || input.overwrite.contains(&table) {
            continue;
        }
        let mut filter = Filter::default();
        let mut purposes = Vec::new();
        let ends = shape.ends.iter().flat_map(|ends| [(0, ends.from), (1, ends.to)]);
        let limited = ends.clone().filter(|(_, end)| end.at_most_one).map(|(_, end)| end.space);
        for space in std::iter::once(shape.key).chain(shape.unique.iter().copied()).chain(limited) {
            if let Some(probes) = input.probes.get(&space).filter(|probes| !probes.is_empty()) {
                filter.add(shape, input.shapes.columns_of(space), probes)?;
                purposes.push(Purpose::Tuple { space, hash: space == shape.key });
            }
        }
        for (side, end) in ends {
            if input.overwrite.contains(&end.node) {
                filter.all = true;
                purposes.push(Purpose::Needs { side, end, of: Removed::All });
            } else if let Some((probes, _)) = input.deleted.get(&end.node) {
                filter.add(shape, input.shapes.columns_of(end.space), probes)?;
                purposes.push(Purpose::Needs { side, end, of: Removed::Deleted });
            }
        }
        if !purposes.is_empty() {
            lookups.push(Lookup { table, filter: filter.finish(), purposes });
        }
    }
    Ok(lookups)
}

/// Runs all scans side by side.
pub(crate) async fn run(core: &Arc<Core>, at: &Snapshot, input: &Input, lookups: &[Lookup]) -> Result<Stored, Error> {
    let scans = lookups.iter().map(|lookup| lookup.run(core, at, input));
    let mut stored = Stored::default();
    for (lookup, found) in lookups.iter().zip(futures::future::try_join_all(scans).await?) {
        for (space, facts) in found.facts {
            stored.facts.entry(space).or_default().push(facts);
        }
        if !found.detached.is_empty() {
            stored.detached.insert(lookup.table, found.detached);
        }
        stored.cuts.extend(found.cuts.into_iter().map(|(address, line)| ((lookup.table, address), line)));
    }
    Ok(stored)
}

impl Lookup {
    async fn run(&self, core: &Arc<Core>, at: &Snapshot, input: &Input) -> Result<Found, Error> {
        let Some(shape) = input.shapes.tables.get(self.table) else { return Ok(Found::default()) };
        let table = core.open_table(at, &shape.layout.table).await?;
        let columns = self.columns(shape, input);
        let scan = Scan { columns: columns.clone(), filter: self.filter.clone(), limit: None, addresses: true };
        let mut batches = table.scan(scan);
        let mut found = Found::default();
        while let Some(batch) = batches.try_next().await? {
            self.collect(shape, input, &columns, &batch, &mut found)
                .map_err(|source| WriteError::Temporary { source })?;
        }
        Ok(found)
    }

    /// The columns that the purposes look at, `_hash` included.
    fn columns(&self, shape: &TableShape, input: &Input) -> Vec<usize> {
        let mut columns = Vec::new();
        for purpose in &self.purposes {
            match purpose {
                Purpose::Tuple { space, hash } => {
                    columns.extend_from_slice(input.shapes.columns_of(*space));
                    if *hash && shape.has_stale_hashes() {
                        columns.extend(shape.layout.all_columns());
                    } else if *hash {
                        columns.extend(shape.layout.columns.iter().position(|column| column.role == Role::Hash));
                    }
                }
                Purpose::Needs { end, .. } => columns.extend_from_slice(input.shapes.columns_of(end.space)),
            }
        }
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    fn collect(
        &self,
        shape: &TableShape,
        input: &Input,
        columns: &[usize],
        batch: &RecordBatch,
        found: &mut Found,
    ) -> io::Result<()> {
        let Some(addresses) = addresses(batch) else { return Ok(()) };
        let hashes = columns
            .iter()
            .position(|column| shape.layout.columns.get(*column).is_some_and(|column| column.role == Role::Hash));
        let hashes = hashes.and_then(|place| batch.column(place).as_any().downcast_ref::<FixedSizeBinaryArray>());
        let Found { facts, detached, cuts } = found;
        let mut push =
            |space: usize, fact: &Fact| facts.entry(space).or_insert_with(|| Facts::new(&input.pool)).push(fact);
        for (at, address) in addresses.values().iter().enumerate() {
            let row = Row::read(shape, columns, batch, at);
            let cut = self.cut(shape, input, &row);
            if let Some(line) = cut {
                if self.is_asked_for(shape, input, &row) {
                    cuts.insert(*address, line);
                } else {
                    detached.insert(*address);
                }
            }
            for purpose in &self.purposes {
                match purpose {
                    Purpose::Tuple { space, hash } => {
                        let Some(digest) = row.digest(&input.shapes, shape, *space) else { continue };
                        if input.blooms.get(space).is_some_and(|bloom| bloom.may_contain(digest)) {
                            let mut fact = Fact::new(digest, What::Stored, self.table, *address);
                            if *hash && shape.has_stale_hashes() {
                                fact.hash = row.hash(shape);
                            } else if let (true, Some(hashes)) = (*hash, hashes) {
                                fact.hash = digest_at(hashes, at);
                            }
                            push(*space, &fact)?;
                        }
                    }
                    // It goes with an end, and needs nothing more.
                    Purpose::Needs { .. } if cut.is_some() => {}
                    Purpose::Needs { side, end, of } => {
                        let Some(digest) = row.digest(&input.shapes, shape, end.space) else { continue };
                        let deleted = input.deleted.get(&end.node);
                        let concerned = match of {
                            Removed::All => true,
                            Removed::Deleted => {
                                deleted.is_some_and(|(_, bloom): &(_, Bloom)| bloom.may_contain(digest))
                            }
                        };
                        if let (true, Some(node)) = (concerned, input.shapes.tables.get(end.node)) {
                            let fact = Fact::new(digest, What::StoredNeeds, self.table, *address);
                            push(node.key, &Fact { side: *side, ..fact })?;
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

impl Lookup {
    /// The line of the first deletion of an end of an edge together with its edges.
    fn cut(&self, shape: &TableShape, input: &Input, row: &Row) -> Option<u64> {
        let ends = self.purposes.iter().filter_map(|purpose| match purpose {
            Purpose::Needs { end, .. } => Some((end, input.detached.get(&end.node)?)),
            Purpose::Tuple { .. } => None,
        });
        ends.filter_map(|(end, keys)| {
            keys.get(&row.digest(&input.shapes, shape, end.space)?).and_then(|lines| lines.first()).copied()
        })
        .min()
    }

    /// Whether a fact tells of the row's key.
    fn is_asked_for(&self, shape: &TableShape, input: &Input, row: &Row) -> bool {
        let is_key = |purpose: &Purpose| matches!(purpose, Purpose::Tuple { space, .. } if *space == shape.key);
        self.purposes.iter().any(is_key)
            && row
                .digest(&input.shapes, shape, shape.key)
                .is_some_and(|digest| input.blooms.get(&shape.key).is_some_and(|bloom| bloom.may_contain(digest)))
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

/// The union of several sets of tuples, as far as `IN` lists can tell them.
#[derive(Default)]
struct Filter {
    all: bool,
    any_of: Option<Expr>,
}

impl Filter {
    fn add(&mut self, shape: &TableShape, columns: &[usize], probes: &Probes) -> Result<(), WriteError> {
        let Probes::Few(few) = probes else {
            self.all = true;
            return Ok(());
        };
        if few.is_empty() {
            return Ok(());
        }
        // In the order of digests, so that equal lookups are equal requests.
        let mut tuples: Vec<_> = few.iter().collect();
        tuples.sort_unstable_by_key(|(digest, _)| **digest);
        let tuples: Vec<&[Value]> = tuples.into_iter().map(|(_, tuple)| tuple.as_slice()).collect();
        match tuples_filter(shape, columns, &tuples)? {
            Some(tuples) => {
                self.any_of = Some(match self.any_of.take() {
                    Some(others) => others.or(tuples),
                    None => tuples,
                });
            }
            None => self.all = true,
        }
        Ok(())
    }

    fn finish(self) -> Option<Expr> {
        if self.all { None } else { self.any_of }
    }
}

/// True for rows that have one of `tuples` in `columns`, and perhaps for others that mix their parts. `None` if no column is of a
/// type that filters can compare.
pub(crate) fn tuples_filter(
    shape: &TableShape,
    columns: &[usize],
    tuples: &[&[Value]],
) -> Result<Option<Expr>, WriteError> {
    let mut filter: Option<Expr> = None;
    for (part, column) in columns.iter().enumerate() {
        let Some(definition) = shape.layout.columns.get(*column) else { continue };
        if !shape.type_of(*column).may_be_key() {
            continue;
        }
        let mut builder = ColumnBuilder::new(shape.type_of(*column), tuples.len());
        let mut seen: Vec<&Value> = Vec::new();
        for value in tuples.iter().filter_map(|tuple| tuple.get(part)) {
            // Parts repeat (a country before a city); a short memory keeps most of the repetition out.
            if !seen.iter().rev().take(16).any(|known| *known == value) {
                seen.push(value);
                builder.push(value);
            }
        }
        let array = builder.finish();
        let fault = |source: datafusion::error::DataFusionError| WriteError::Columns {
            table: shape.name().to_owned(),
            source: arrow_schema::ArrowError::ExternalError(Box::new(source)),
        };
        let literals = (0..array.len())
            .map(|i| ScalarValue::try_from_array(&array, i).map(lit))
            .collect::<Result<Vec<_>, _>>()
            .map_err(fault)?;
        let name = Expr::Column(ColumnName::new_unqualified(definition.name.clone()));
        let fill = match definition.role {
            Role::Property(i) => shape.properties.get(i).and_then(|property| property.fill.as_ref()),
            _ => None,
        };
        let has_fill = fill.is_some_and(|fill| seen.contains(&fill));
        let mut is_in = match <[Expr; 1]>::try_from(literals) {
            Ok([literal]) => name.clone().eq(literal),
            Err(literals) => name.clone().in_list(literals, false),
        };
        if has_fill {
            is_in = is_in.or(name.is_null());
        }
        filter = Some(match filter.take() {
            Some(others) => others.and(is_in),
            None => is_in,
        });
    }
    Ok(filter)
}
