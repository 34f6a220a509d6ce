//! Writes by key: a handful of rows to put or delete, as one change.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use serde_json::value::RawValue;

use crate::error::Error;
use crate::graph::{ChangeInfo, ChangeOptions, CommitInfo, Graph, TableCounts};
use crate::ids::ChangeId;
use crate::lane::{Answer, Coalesce, Drafted, Undone, Weight};
use crate::publish::{Fingerprint, Fingerprinter, Snapshot};
use crate::record::ChangeKind;
use crate::schema::SchemaHash;
use crate::store::IoStats;
use crate::syntax::nearest;
use crate::value::Value;
use crate::write::chunk::Chunk;
use crate::write::facts::What;
use crate::write::footprint::Footprint;
use crate::write::input::{Input, InputBuilder};
use crate::write::jsonl::{EdgeIds, LineParser, key_part};
use crate::write::shape::Shapes;
use crate::write::violation::Violation;
use crate::write::{Counts, Outcome, WriteError};

/// What violations call the input of a write.
const SOURCE: &str = "write";

/// Rows to put and delete. All of it happens, or none of it.
///
/// Operations take effect one after another, in their order, each on the rows as those before it left them: an insert is refused if its
/// key exists *then*, a deletion with edges takes the edges that there are *then*, whether stored before or put by this write. What
/// keeps rows apart from one another is judged on the result alone: `UNIQUE` values, multiplicities, and that both ends of each edge
/// exist. So `delete_detach n, insert n` leaves a node without its former edges and `delete n, insert n` one with them, and
/// `delete_detach n, upsert e` is refused if `e` is an edge of `n` and nothing puts `n` again, whatever is stored of `e`.
#[derive(Debug, Clone, Default)]
pub struct Write {
    operations: Vec<Operation>,
}

#[derive(Debug, Clone)]
enum Operation {
    Put { line: String, what: What },
    Delete { table: String, key: Vec<String>, detach: bool },
}

impl Operation {
    /// Takes in what it asks for.
    fn print(&self, print: Fingerprinter) -> Fingerprinter {
        match self {
            Self::Put { line, what } => {
                print.with(if *what == What::Upsert { b"upsert" } else { b"insert" }).with(line.as_bytes())
            }
            Self::Delete { table, key, detach } => {
                let print = print.with(if *detach { b"detach" } else { b"delete" }).with(table.as_bytes());
                let print = print.with(&(key.len() as u64).to_be_bytes());
                key.iter().fold(print, |print, part| print.with(part.as_bytes()))
            }
        }
    }
}

impl Write {
    /// A write that does nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a row, spelled as a line of a load. Refused if its key exists.
    #[must_use]
    pub fn insert_json(self, line: impl Into<String>) -> Self {
        self.with(Operation::Put { line: line.into(), what: What::Insert })
    }

    /// Puts a row, spelled as a line of a load, in the place of the one with its key, if there is one. An edge of a `MULTI` table without
    /// an `id` is always a new one.
    #[must_use]
    pub fn upsert_json(self, line: impl Into<String>) -> Self {
        self.with(Operation::Put { line: line.into(), what: What::Upsert })
    }

    /// Deletes the row with this key, given as [`Graph::get`] takes it, an edge of a `MULTI` table by its
    /// id alone; if there is none, nothing happens. The write is refused if the node is not put again and edges
    /// of it are left.
    #[must_use]
    pub fn delete(self, table: impl Into<String>, key: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let key = key.into_iter().map(Into::into).collect();
        self.with(Operation::Delete { table: table.into(), key, detach: false })
    }

    /// Deletes the node with this key, if there is one, and all edges that begin or end at this key by then. Edges that are put later
    /// stay. Of an edge it is the same as [`Self::delete`].
    #[must_use]
    pub fn delete_detach(self, table: impl Into<String>, key: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let key = key.into_iter().map(Into::into).collect();
        self.with(Operation::Delete { table: table.into(), key, detach: true })
    }

    fn with(mut self, operation: Operation) -> Self {
        self.operations.push(operation);
        self
    }

    /// Bytes of what was given.
    fn bytes(&self) -> u64 {
        let bytes = |operation: &Operation| match operation {
            Operation::Put { line, .. } => line.len(),
            Operation::Delete { table, key, .. } => table.len() + key.iter().map(String::len).sum::<usize>(),
        };
        self.operations.iter().map(bytes).sum::<usize>() as u64
    }

    /// How many operations it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether it does nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }
}

/// What a write did.
#[derive(Debug, Clone, Default)]
pub struct WriteReport {
    /// `None`: nothing changed, nothing was published.
    pub commit: Option<CommitInfo>,
    /// Which change of the commit it is, counted from 0: writes that came at the same time may share a commit.
    pub change: usize,
    /// By table name.
    pub tables: BTreeMap<String, TableCounts>,
    /// The request id had taken effect before; commit and tables are those of then.
    pub repeated: bool,
    /// Requests that the graph made from its beginning to its end; those of other calls at the same time are among them.
    pub io: IoStats,
}

/// A write to be evaluated. Rows are read anew for each head: they are few, and the schema may have changed.
struct KeyedWork {
    write: Write,
    change: ChangeId,
    ids: EdgeIds,
    /// What was read for a schema: it may be needed again.
    read: Mutex<Option<(SchemaHash, Arc<Input>)>>,
}

#[async_trait]
impl Coalesce for KeyedWork {
    type Draft = ();
    type Report = Outcome;

    fn weight(&self) -> Weight {
        Weight { rows: self.write.len() as u64, bytes: self.write.bytes() }
    }

    async fn draft(&self, at: &Snapshot, shapes: &Arc<Shapes>) -> Result<Drafted<()>, Undone> {
        let schema = at.record.schema;
        let known = self.read.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let input = match known.filter(|(known, _)| *known == schema) {
            Some((_, input)) => input,
            None => Arc::new(self.input(shapes).map_err(Undone::by_schema)?),
        };
        *self.read.lock().unwrap_or_else(PoisonError::into_inner) = Some((schema, input.clone()));
        Ok(Drafted { input, touched: Footprint::default(), reads: BTreeSet::new(), draft: () })
    }

    fn report(&self, (): (), counts: Counts) -> Outcome {
        Outcome::now(counts)
    }

    fn kind(&self) -> ChangeKind {
        ChangeKind::Write
    }

    fn asks(&self) -> Option<Fingerprint> {
        let print = Fingerprinter::new("write");
        Some(self.write.operations.iter().fold(print, |print, operation| operation.print(print)).finish())
    }

    fn replay(&self, _: &CommitInfo, change: &ChangeInfo) -> Outcome {
        Outcome::before(change)
    }
}

impl KeyedWork {
    fn input(&self, shapes: &Arc<Shapes>) -> Result<Input, WriteError> {
        let source: Arc<str> = SOURCE.into();
        let mut builder = InputBuilder::new(shapes.clone(), source.clone(), self.change);
        let parser = LineParser { shapes, source: &source, ids: self.ids };
        let mut chunk = Chunk::default();
        for (number, operation) in (1..).zip(&self.write.operations) {
            match operation {
                Operation::Put { line, what } => {
                    if let Some(parsed) = parser.parse(number, line.as_bytes(), &mut chunk.violations) {
                        chunk.add(shapes, number, *what, &parsed, self.change);
                    }
                }
                Operation::Delete { table, key, detach } => {
                    match read_key(shapes, table, key).and_then(Key::without_ends) {
                        Ok(key) => chunk.delete(shapes, number, key.table, &key.values, *detach),
                        Err(wrong) => {
                            chunk.violations.untyped += 1;
                            let line = Some(number);
                            chunk.violations.push(&Violation {
                                line,
                                source: source.clone(),
                                ..wrong.into_violation(table)
                            });
                        }
                    }
                }
            }
        }
        builder.add(chunk)?;
        builder.finish(false)
    }
}

/// Why key texts are not the key of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WrongKey {
    /// Stable, kebab-case.
    pub code: &'static str,
    /// What was found, where a single part is to blame.
    pub found: Option<String>,
    /// What was expected.
    pub expected: String,
}

impl WrongKey {
    fn into_violation(self, table: &str) -> Violation {
        Violation {
            code: self.code,
            source: SOURCE.into(),
            line: None,
            table: Some(table.to_owned()),
            property: None,
            found: self.found,
            expected: self.expected,
        }
    }
}

/// The key of a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Key {
    /// The table's index.
    pub table: usize,
    /// The values of its key columns.
    pub values: Vec<Value>,
    /// The ends that were named besides, of an edge that is known by a hidden id.
    pub ends: Vec<Value>,
}

impl Key {
    fn without_ends(self) -> Result<Self, WrongKey> {
        if self.ends.is_empty() {
            return Ok(self);
        }
        Err(WrongKey { code: "wrong-type", found: None, expected: "the id of the edge alone".into() })
    }
}

/// Reads the key of a row: one JSON text per part; edges: the parts of both ends, then of the declared key, or the edge id alone.
/// The ends of an edge of a `MULTI` table may stand before its id.
pub(crate) fn read_key(shapes: &Shapes, table: &str, key: &[String]) -> Result<Key, WrongKey> {
    let Some(index) = shapes.by_name(table) else {
        let like = nearest(table, shapes.names()).map(|name| format!("; did you mean {name}?")).unwrap_or_default();
        let expected = format!("there is no table {table}{like}");
        return Err(WrongKey { code: "unknown-table", found: None, expected });
    };
    let wrong_type = |found: Option<String>, expected| WrongKey { code: "wrong-type", found, expected };
    let Some(shape) = shapes.tables.get(index) else {
        return Err(wrong_type(None, format!("there is no table {table}")));
    };
    let columns = shapes.columns_of(shape.key);
    let ends = shape.ends.filter(|ends| ends.multi).map(|ends| [ends.from.space, ends.to.space]);
    let ends: Vec<usize> = ends.iter().flatten().flat_map(|space| shapes.columns_of(*space)).copied().collect();
    let (ends, parts) = match key.len() {
        n if n == columns.len() => (&[][..], key),
        n if n == columns.len() + ends.len() => (ends.as_slice(), key),
        n => return Err(wrong_type(None, format!("a key of {} parts, not {n}", columns.len()))),
    };
    let values = parts.iter().zip(ends.iter().chain(columns)).map(|(text, column)| {
        let raw: &RawValue = serde_json::from_str(text)
            .map_err(|_| wrong_type(Some(text.clone()), "a JSON value, such as 7 or \"a\"".into()))?;
        key_part(raw, shape, *column).map_err(|problem| wrong_type(Some(problem.found), problem.expected))
    });
    let mut values: Vec<Value> = values.collect::<Result<_, _>>()?;
    let key = values.split_off(ends.len());
    Ok(Key { table: index, values: key, ends: values })
}

impl Graph {
    /// Does `write` as one change of `branch`; a write that changes nothing publishes nothing.
    ///
    /// ```
    /// # use pleach::{ChangeOptions, Error, Graph, InitOptions, Write};
    /// # #[tokio::main] async fn main() -> Result<(), Error> {
    /// # let ddl = "CREATE NODE TABLE Person (id STRING PRIMARY KEY, name STRING);";
    /// # let graph = Graph::init("memory://write-example", ddl, InitOptions::default()).await?;
    /// let write = Write::new()
    ///     .insert_json(r#"{"table":"Person","data":{"id":"ada","name":"Ada"}}"#)
    ///     .delete("Person", [r#""bob""#]);
    /// let report = graph.write("main", write, ChangeOptions::default()).await?;
    /// assert_eq!(report.tables["Person"].inserted, 1);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`WriteError::Refused`] if operations do not fit the schema or the result would break a rule, with all violations; the line of a
    /// violation is the number of the operation. Otherwise if publishing fails.
    ///
    /// # Cancellation
    /// A call that is dropped before its turn comes does nothing. Afterwards it is carried on to its end: all of it happens, or none of it.
    pub async fn write(&self, branch: &str, write: Write, options: ChangeOptions) -> Result<WriteReport, Error> {
        let core = self.core();
        let io = core.store().io().scope();
        let change = ChangeId::new(core.clock().ulid());
        let ids = EdgeIds::new(core.clock().ulid());
        let place = core.admission().write(write.bytes())?;
        let work = KeyedWork { write, change, ids, read: Mutex::default() };
        let Answer { commit, change, report } = core.coalesce(branch, work, &options, place).await?;
        let Outcome { tables, repeated } = report;
        Ok(WriteReport { commit, change, tables, repeated, io: io.finish() })
    }
}
