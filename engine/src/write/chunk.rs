//! Rows being gathered: columns, facts and probes of a part of an input.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use arrow_array::{ArrayRef, FixedSizeBinaryArray, RecordBatch, UInt64Array};
use arrow_buffer::Buffer;

use crate::ids::{ChangeId, Digest};
use crate::table::Role;
use crate::value::{ColumnBuilder, Value};
use crate::write::WriteError;
use crate::write::facts::{Fact, What};
use crate::write::jsonl::Parsed;
use crate::write::row::Row;
use crate::write::shape::{Shapes, TableShape, column_type};
use crate::write::spool::{split_lines, spooled_schema};
use crate::write::violation::Violations;

/// Distinct tuples that are looked up one by one; beyond that the columns are scanned.
pub(crate) const MOST_PROBES: usize = 2_000;

/// The distinct tuples of one space that the input asks for.
#[derive(Debug, Clone)]
pub(crate) enum Probes {
    /// These.
    Few(HashMap<Digest, Vec<Value>>),
    /// Too many to be looked up one by one.
    Many,
}

impl Default for Probes {
    fn default() -> Self {
        Self::Few(HashMap::new())
    }
}

impl Probes {
    fn add(&mut self, digest: Digest, tuple: impl FnOnce() -> Vec<Value>) {
        let Self::Few(few) = self else { return };
        few.entry(digest).or_insert_with(tuple);
        if few.len() > MOST_PROBES {
            *self = Self::Many;
        }
    }

    pub(crate) fn extend(&mut self, other: Self) {
        match other {
            Self::Many => *self = Self::Many,
            Self::Few(few) => few.into_iter().for_each(|(digest, tuple)| self.add(digest, || tuple)),
        }
    }

    /// Whether nothing is asked for.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::Few(few) if few.is_empty())
    }
}

/// The lines on which nodes of one table are deleted with all their edges, in order, by the digest of the key.
pub(crate) type Detached = HashMap<Digest, Vec<u64>>;

/// What a part of an input came to.
#[derive(Default)]
pub(crate) struct Chunk {
    /// Columns by table.
    tables: BTreeMap<usize, Columns>,
    /// Facts by space.
    pub facts: Vec<(usize, Fact)>,
    /// Probes by space.
    pub probes: BTreeMap<usize, Probes>,
    /// The keys of deleted nodes, by table.
    pub deleted: BTreeMap<usize, Probes>,
    /// Which of them go with their edges.
    pub detached: BTreeMap<usize, Detached>,
    /// Tables with an operation, whatever it comes to.
    pub touched: BTreeSet<usize>,
    /// What is wrong.
    pub violations: Violations,
    /// Rows by table.
    pub read: BTreeMap<usize, u64>,
}

impl Chunk {
    /// Takes a row in.
    pub(crate) fn add(&mut self, shapes: &Shapes, line: u64, what: What, parsed: &Parsed, change: ChangeId) {
        let Parsed { table, row, fresh } = parsed;
        let Some(shape) = shapes.tables.get(*table) else { return };
        self.touched.insert(*table);
        *self.read.entry(*table).or_default() += 1;
        let hash = row.hash(shape);
        let columns = self.tables.entry(*table).or_insert_with(|| Columns::new(shape));
        columns.push(shape, row, line, hash, change);
        if let Some(digest) = row.digest(shapes, shape, shape.key) {
            self.facts.push((shape.key, Fact { hash, ..Fact::new(digest, what, *table, line) }));
            if !fresh {
                self.probe(shape.key, digest, || row.tuple(shapes, shape, shape.key));
            }
        }
        for space in &shape.unique {
            if let Some(digest) = row.digest(shapes, shape, *space) {
                self.facts.push((*space, Fact::new(digest, what, *table, line)));
                self.probe(*space, digest, || row.tuple(shapes, shape, *space));
            }
        }
        let Some(ends) = &shape.ends else { return };
        for (side, end) in [(0, ends.from), (1, ends.to)] {
            let Some(digest) = row.digest(shapes, shape, end.space) else { continue };
            let tuple = || row.tuple(shapes, shape, end.space);
            if end.at_most_one {
                self.facts.push((end.space, Fact::new(digest, what, *table, line)));
                self.probe(end.space, digest, tuple);
            }
            if let Some(node) = shapes.tables.get(end.node) {
                self.facts.push((node.key, Fact { side, ..Fact::new(digest, What::InputNeeds, *table, line) }));
                self.probe(node.key, digest, tuple);
            }
        }
    }

    /// Takes a deletion by key in.
    pub(crate) fn delete(&mut self, shapes: &Shapes, line: u64, table: usize, key: &[Value], detach: bool) {
        let Some(shape) = shapes.tables.get(table) else { return };
        let types = shapes.columns_of(shape.key).iter().map(|column| shape.type_of(*column));
        let digest = crate::value::digest_values(key.iter().zip(types));
        let what = if detach { What::DeleteDetach } else { What::Delete };
        self.facts.push((shape.key, Fact::new(digest, what, table, line)));
        self.probe(shape.key, digest, || key.to_vec());
        self.touched.insert(table);
        if shape.ends.is_none() {
            self.deleted.entry(table).or_default().add(digest, || key.to_vec());
            if detach {
                self.detached.entry(table).or_default().entry(digest).or_default().push(line);
            }
        }
    }

    fn probe(&mut self, space: usize, digest: Digest, tuple: impl FnOnce() -> Vec<Value>) {
        self.probes.entry(space).or_default().add(digest, tuple);
    }

    /// The rows as batches, by table.
    pub(crate) fn take_batches(&mut self, shapes: &Shapes) -> Result<Vec<(usize, RecordBatch)>, WriteError> {
        let tables = std::mem::take(&mut self.tables).into_iter();
        let batches = tables.filter_map(|(table, columns)| {
            shapes.tables.get(table).map(|shape| columns.finish(shape).map(|batch| (table, batch)))
        });
        batches.collect()
    }
}

/// Whole rows, each with the change that wrote it, as one batch of the table's columns.
///
/// # Errors
/// If a row does not fit the table.
pub(crate) fn rows_of_changes<'a>(
    shape: &TableShape,
    rows: impl IntoIterator<Item = (&'a Row, ChangeId)>,
) -> Result<RecordBatch, WriteError> {
    let mut columns = Columns::new(shape);
    for (row, change) in rows {
        columns.push(shape, row, 0, row.hash(shape), change);
    }
    let (batch, _) = split_lines(&columns.finish(shape)?, &shape.layout.arrow)
        .map_err(|source| WriteError::Columns { table: shape.name().to_owned(), source })?;
    Ok(batch)
}

/// The columns of one table under construction.
struct Columns {
    hash: Vec<u8>,
    change: Vec<u8>,
    id: Vec<u8>,
    lines: Vec<u64>,
    /// One for each layout column that bears a value.
    values: Vec<(usize, ColumnBuilder)>,
}

impl Columns {
    fn new(shape: &TableShape) -> Self {
        let columns = shape.layout.columns.iter().enumerate();
        let values = columns.filter(|(_, column)| !matches!(column.role, Role::Hash | Role::Change | Role::EdgeId));
        let values = values.map(|(i, column)| (i, ColumnBuilder::new(column_type(column), 1_024))).collect();
        Self { hash: Vec::new(), change: Vec::new(), id: Vec::new(), lines: Vec::new(), values }
    }

    fn push(&mut self, shape: &TableShape, row: &Row, line: u64, hash: Digest, change: ChangeId) {
        self.hash.extend_from_slice(&hash.0);
        self.change.extend_from_slice(&change.to_bytes());
        if let Some(Value::Uuid(id)) = &row.edge_id {
            self.id.extend_from_slice(id);
        }
        self.lines.push(line);
        for (column, builder) in &mut self.values {
            let value = match shape.layout.columns.get(*column).map(|column| column.role) {
                // What is stored, not what it means: a null that stands for a fill value stays one.
                Some(Role::Property(i)) => row.properties.get(i).unwrap_or(&Value::Null),
                _ => row.cell(shape, *column),
            };
            builder.push(value);
        }
    }

    fn finish(self, shape: &TableShape) -> Result<RecordBatch, WriteError> {
        let fault = |source| WriteError::Columns { table: shape.name().to_owned(), source };
        let bytes16 = |bytes: Vec<u8>| -> Result<ArrayRef, WriteError> {
            let array = FixedSizeBinaryArray::try_new(16, Buffer::from_vec(bytes), None);
            array.map(|array| Arc::new(array) as ArrayRef).map_err(fault)
        };
        let (mut hash, mut change, mut id) = (Some(self.hash), Some(self.change), Some(self.id));
        let mut values: BTreeMap<usize, ColumnBuilder> = self.values.into_iter().collect();
        let mut arrays = Vec::with_capacity(shape.layout.columns.len() + 1);
        for (i, column) in shape.layout.columns.iter().enumerate() {
            arrays.push(match column.role {
                Role::Hash => bytes16(hash.take().unwrap_or_default())?,
                Role::Change => bytes16(change.take().unwrap_or_default())?,
                Role::EdgeId => bytes16(id.take().unwrap_or_default())?,
                _ => match values.remove(&i) {
                    Some(mut builder) => builder.finish(),
                    None => continue,
                },
            });
        }
        arrays.push(Arc::new(UInt64Array::from(self.lines)));
        RecordBatch::try_new(spooled_schema(&shape.layout.arrow), arrays).map_err(fault)
    }
}
