//! Checks the rows of one table version: everything that writes promise is looked at anew, in bounded memory.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use arrow_array::{Array as _, FixedSizeBinaryArray, RecordBatch};
use futures::TryStreamExt as _;
use roaring::RoaringTreemap;

use crate::error::{Error, ErrorKind};
use crate::fsck::contents::place;
use crate::fsck::problems::Problems;
use crate::graph::Core;
use crate::publish::Snapshot;
use crate::table::{Role, Scan, Table};
use crate::value::Value;
use crate::write::WriteError;
use crate::write::broken_checks;
use crate::write::facts::{Fact, Facts, What as Says};
use crate::write::groups::for_each_group;
use crate::write::lookup::{addresses, digest_at, rows_at};
use crate::write::pool::Pool;
use crate::write::row::Row;
use crate::write::shape::{Shapes, TableShape};

/// Bytes of facts that are held in memory, over all tables of a schema.
const FACTS_IN_MEMORY: usize = 96 * 1024 * 1024;
/// Rows of one table with one fault that are named.
const NAMED: u64 = 20;

/// How much of a version is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// Every promise.
    Everything,
    /// Only what the checks of other tables need.
    ForOthers,
}

/// What a table version has for the checks of others.
pub(super) struct Known {
    /// The keys of nodes.
    pub(super) keys: Option<Facts>,
    /// Of edges, the keys of their start and of their end.
    pub(super) needs: Vec<Facts>,
    /// The version, to name rows at fault.
    pub(super) table: Option<Table>,
}

/// What is wrong with rows of one table, by fault: how many, and where some of them are.
#[derive(Debug, Default)]
pub(super) struct Faults(BTreeMap<(&'static str, String), (u64, RoaringTreemap)>);

impl Faults {
    /// Takes the fault of the row at `address` in.
    pub(super) fn add(&mut self, code: &'static str, detail: &str, address: u64) {
        let (count, some) = self.0.entry((code, detail.to_owned())).or_default();
        *count += 1;
        if *count <= NAMED {
            some.insert(address);
        }
    }

    /// Tells them, with the keys of the rows as far as these can be read.
    pub(super) async fn tell(
        &self,
        table: Option<&Table>,
        shapes: &Shapes,
        shape: &TableShape,
        place: &str,
        problems: &mut Problems,
    ) -> Result<(), Error> {
        for ((code, detail), (count, some)) in &self.0 {
            let mut keys = Vec::new();
            if let Some(table) = table {
                match rows_at(table, shape, None, shape.checked_columns(&shapes.spaces), some).await {
                    Ok(rows) => keys.extend(rows.values().map(|row| row.text(shapes, shape, shape.key))),
                    // A table that broke off while it was read will not give its keys either; the faults stand all the same.
                    Err(error) if error.kind() == ErrorKind::Data => {}
                    Err(error) => return Err(error),
                }
            }
            let more = count.saturating_sub(keys.len() as u64);
            let rows = match (keys.is_empty(), more) {
                (true, 1) => "1 row".to_owned(),
                (true, _) => format!("{more} rows"),
                (false, 0) => keys.join(", "),
                (false, _) => format!("{} and {more} more", keys.join(", ")),
            };
            problems.add_many(*count, code, place, format!("{rows}: {detail}"));
        }
        Ok(())
    }
}

/// The check of one table version.
pub(super) struct TableCheck<'a> {
    core: &'a Arc<Core>,
    at: &'a Snapshot,
    shapes: &'a Shapes,
    shape: &'a TableShape,
    what: What,
    pool: Arc<Pool>,
    /// Tuples that no two rows may share, by their space.
    facts: BTreeMap<usize, Facts>,
    /// The keys that the edges need, by side.
    needs: Vec<Facts>,
    faults: Faults,
    table: Option<Table>,
    /// Rows that were read.
    pub(super) rows: u64,
}

impl<'a> TableCheck<'a> {
    /// A check of the version of a table in a commit.
    pub(super) fn new(
        core: &'a Arc<Core>,
        at: &'a Snapshot,
        shapes: &'a Shapes,
        shape: &'a TableShape,
        what: What,
    ) -> Self {
        // Each its own, so that what outgrew memory is gone with the check.
        let pool = Pool::new(FACTS_IN_MEMORY / shapes.tables.len().max(1));
        let needs = shape.ends.iter().flat_map(|_| [Facts::new(&pool), Facts::new(&pool)]).collect();
        Self {
            core,
            at,
            shapes,
            shape,
            what,
            pool,
            facts: BTreeMap::new(),
            needs,
            faults: Faults::default(),
            table: None,
            rows: 0,
        }
    }

    /// Reads all rows, of which the commit says there are `recorded`. Tells whether that was possible.
    pub(super) async fn read(&mut self, recorded: u64, problems: &mut Problems) -> Result<bool, Error> {
        let place = place(self.at, self.shape);
        let layout = &self.shape.layout;
        let table = self.core.open_table(self.at, &layout.table).await?;
        // Kept before it is read: should reading break off, the rows at fault so far are to be named.
        self.table = Some(table.clone());
        let columns: Vec<usize> = match self.what {
            What::ForOthers => self.shape.checked_columns(&self.shapes.spaces),
            What::Everything => {
                let damage = table.verify().await?;
                if !damage.is_empty() {
                    // Reading would fail at the same files, or say what is not so.
                    for problem in damage {
                        problems.add("table-damaged", &place, problem);
                    }
                    return Ok(false);
                }
                (0..layout.columns.len()).collect()
            }
        };
        let mut batches = table.scan(Scan { columns: columns.clone(), addresses: true, ..Scan::default() });
        while let Some(batch) = batches.try_next().await? {
            self.rows += batch.num_rows() as u64;
            self.batch(&columns, &batch).map_err(|source| WriteError::Temporary { source })?;
        }
        if self.rows != recorded {
            let detail = format!("the table has {} rows, its commit says {recorded}", self.rows);
            problems.add("row-count", &place, detail);
        }
        Ok(true)
    }

    fn batch(&mut self, columns: &[usize], batch: &RecordBatch) -> io::Result<()> {
        let (shape, shapes) = (self.shape, self.shapes);
        let Some(addresses) = addresses(batch) else { return Ok(()) };
        let hash_column = shape.layout.columns.iter().position(|column| column.role == Role::Hash);
        let hashes = hash_column.and_then(|i| batch.column(i).as_any().downcast_ref::<FixedSizeBinaryArray>());
        for (i, address) in addresses.values().iter().enumerate() {
            let row = Row::read(shape, columns, batch, i);
            if self.what == What::Everything {
                // Of a row that is older than a drop, the hash holds what was dropped and cannot be computed any more.
                let differs = |hashes| digest_at(hashes, i) != row.hash(shape);
                if hashes.is_none_or(|hashes| !shape.has_stale_hashes() && differs(hashes)) {
                    self.faults.add("hash-mismatch", "_hash does not agree with the values", *address);
                }
                self.alone(&row, *address)?;
            } else if shape.ends.is_none() {
                self.fact(&row, shape.key, *address)?;
            }
            for (side, end) in shape.ends.iter().flat_map(|ends| [(0, ends.from), (1, ends.to)]) {
                let node = shapes.tables.get(end.node);
                match (row.digest(shapes, shape, end.space), self.needs.get_mut(side), node) {
                    (None, ..) => self.faults.add("null-key", "an end is null", *address),
                    (Some(digest), Some(needs), Some(_)) => {
                        needs.push(&Fact::new(digest, Says::StoredNeeds, 0, *address))?;
                    }
                    (Some(_), ..) => {}
                }
            }
        }
        Ok(())
    }

    /// What a row promises by itself, and what it may not share with others of its table.
    fn alone(&mut self, row: &Row, address: u64) -> io::Result<()> {
        let shape = self.shape;
        for (property, value) in shape.properties.iter().zip(row.meant(shape)) {
            if property.def.not_null && value == Value::Null {
                self.faults.add("null-not-allowed", &format!("{} is null", property.def.name), address);
            }
        }
        for check in broken_checks(shape, row) {
            self.faults.add("check", &format!("CHECK ({check}) is broken"), address);
        }
        if !self.fact(row, shape.key, address)? {
            self.faults.add("null-key", "a key part is null", address);
        }
        for space in &shape.unique {
            self.fact(row, *space, address)?;
        }
        for end in shape.ends.iter().flat_map(|ends| [ends.from, ends.to]).filter(|end| end.at_most_one) {
            self.fact(row, end.space, address)?;
        }
        Ok(())
    }

    /// Notes a tuple of a row; false if there is a null in it.
    fn fact(&mut self, row: &Row, space: usize, address: u64) -> io::Result<bool> {
        let Some(digest) = row.digest(self.shapes, self.shape, space) else { return Ok(false) };
        let facts = self.facts.entry(space).or_insert_with(|| Facts::new(&self.pool));
        facts.push(&Fact::new(digest, Says::Stored, 0, address))?;
        Ok(true)
    }

    /// Checks what the rows that were read promise about one another.
    pub(super) fn judge(&mut self) -> io::Result<()> {
        let Self { shape, facts, faults, .. } = self;
        let mut twice = |space: usize, code: &'static str, detail: &str| match facts.get(&space) {
            None => Ok(()),
            Some(facts) => for_each_group([facts], |group| {
                group.skip(1).for_each(|fact| faults.add(code, detail, fact.at));
            }),
        };
        twice(shape.key, "duplicate-key", "another row has the same key")?;
        for space in &shape.unique {
            twice(*space, "unique", "another row has the same UNIQUE values")?;
        }
        for (end, detail) in shape.ends.iter().flat_map(|ends| {
            [(ends.from, "its start node has another edge"), (ends.to, "its end node has another edge")]
        }) {
            if end.at_most_one {
                twice(end.space, "cardinality", detail)?;
            }
        }
        Ok(())
    }

    /// Tells what is wrong with the rows that were read.
    pub(super) async fn tell(&self, problems: &mut Problems) -> Result<(), Error> {
        let place = place(self.at, self.shape);
        self.faults.tell(self.table.as_ref(), self.shapes, self.shape, &place, problems).await
    }

    /// What is left for the checks of other tables.
    pub(super) fn into_known(mut self) -> Known {
        let keys = self.facts.remove(&self.shape.key).filter(|_| self.shape.ends.is_none());
        Known { keys, needs: self.needs, table: self.table }
    }
}
