//! What a statement has made of rows so far: a layer over the snapshot that it reads.
//!
//! Invariants
//! 1. Whoever asks for a row gets the one that the statement put last, or what is stored.
//! 2. The operations, done one after another on the snapshot, give exactly this state: they are what is judged and written.
//! 3. A run of puts of one row is one operation, at the place of the first; nothing else happened to the row or its ends meanwhile.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use crate::query::CypherValue;
use crate::query::memory::row_weight;
use crate::syntax::Span;
use crate::value::Value;
use crate::write::TypedOperation;
use crate::write::row::Row;
use crate::write::shape::Shapes;

use super::rows::{Known, RowId, key_of, known, to_value};

/// What a row takes beside its values: its entry and its operation.
const ENTRY_BYTES: usize = size_of::<(RowId, State)>() + size_of::<Operation>();

/// The state of rows that a statement has touched or looked up.
#[derive(Debug)]
pub(super) struct Overlay {
    shapes: Arc<Shapes>,
    rows: HashMap<RowId, State>,
    /// Nodes that were deleted with their edges, and by which operation last.
    detached: HashMap<RowId, usize>,
    /// Tables of which something was put or deleted: values of others are as they were read.
    changed: HashSet<usize>,
    has_deleted: bool,
    /// How many changes there were.
    changes: u64,
    operations: Vec<Operation>,
    /// What was put into all of these.
    bytes: usize,
}

#[derive(Debug)]
enum State {
    /// It is stored like this and was not touched.
    Stored(Box<Row>),
    /// Nothing is stored.
    Absent,
    /// Put by this operation.
    Put(usize),
    Deleted,
}

#[derive(Debug)]
struct Operation {
    what: TypedOperation,
    /// What in the statement asks for it.
    span: Span,
    /// The number of the change that it had last.
    changed: u64,
}

/// What there is of a row.
#[derive(Debug, PartialEq)]
pub(super) enum Found<'a> {
    /// It is there, like this.
    Row(&'a Row),
    /// It is not there.
    Nothing,
    /// It was not looked up.
    Unknown,
}

impl Overlay {
    pub(super) fn new(shapes: Arc<Shapes>) -> Self {
        Self {
            shapes,
            rows: HashMap::new(),
            detached: HashMap::new(),
            changed: HashSet::new(),
            has_deleted: false,
            changes: 0,
            operations: Vec::new(),
            bytes: 0,
        }
    }

    /// About how many bytes were put into it so far; it never grows less.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn shapes(&self) -> &Arc<Shapes> {
        &self.shapes
    }

    /// The number of the next operation, counted from 1.
    pub(super) fn next_number(&self) -> u64 {
        self.operations.len() as u64 + 1
    }

    /// How many changes there were, to tell later what is new.
    pub(super) const fn changes(&self) -> u64 {
        self.changes
    }

    /// Whether anything was deleted.
    pub(super) const fn has_deleted(&self) -> bool {
        self.has_deleted
    }

    /// The rows of which something is known by now.
    pub(super) fn known_rows(&self) -> impl Iterator<Item = RowId> + '_ {
        self.rows.keys().copied()
    }

    /// Takes in what a look-up has found under a key, unless more is known already.
    pub(super) fn learn(&mut self, id: RowId, stored: Option<Row>) {
        self.bytes += ENTRY_BYTES + stored.as_ref().map_or(0, row_weight);
        self.rows.entry(id).or_insert_with(|| stored.map_or(State::Absent, |row| State::Stored(Box::new(row))));
    }

    /// What there is under a key.
    pub(super) fn find(&self, id: RowId) -> Found<'_> {
        match self.rows.get(&id) {
            None => Found::Unknown,
            Some(State::Absent | State::Deleted) => Found::Nothing,
            Some(State::Stored(row)) => self.unless_cut(id, row, None),
            Some(State::Put(operation)) => match self.operations.get(*operation).map(|operation| &operation.what) {
                Some(TypedOperation::Put { row, new, .. }) => self.unless_cut(id, row, new.then_some(*operation)),
                _ => Found::Nothing,
            },
        }
    }

    /// Whether a node or an edge that was read or made is gone by now.
    pub(super) fn is_deleted(&self, known: &Known) -> bool {
        match self.find(known.id) {
            Found::Row(_) => false,
            Found::Nothing => true,
            Found::Unknown => self.is_cut(known.id.table, &known.row, None),
        }
    }

    /// `row`, unless it is an edge that went with one of its ends.
    fn unless_cut<'a>(&'a self, id: RowId, row: &'a Row, made: Option<usize>) -> Found<'a> {
        if self.is_cut(id.table, row, made) { Found::Nothing } else { Found::Row(row) }
    }

    /// Whether an end of the edge was deleted with its edges after the edge was made by an operation; at all, if it is stored.
    fn is_cut(&self, table: usize, edge: &Row, made: Option<usize>) -> bool {
        if self.detached.is_empty() {
            return false;
        }
        [true, false].into_iter().any(|start| {
            let end = RowId::of_end(&self.shapes, table, edge, start);
            let cut = end.and_then(|end| self.detached.get(&end));
            cut.is_some_and(|cut| made.is_none_or(|made| *cut > made))
        })
    }

    /// Makes a row that must not be there; whether it is, is judged in the end.
    pub(super) fn create(&mut self, id: RowId, row: Row, fresh: bool, span: Span) {
        let operation = self.push(TypedOperation::Put { table: id.table, row, new: true, fresh }, span);
        self.changed.insert(id.table);
        self.rows.insert(id, State::Put(operation));
    }

    /// Puts `row` in the place of the one with its key, which is there.
    pub(super) fn replace(&mut self, id: RowId, row: Row, span: Span) {
        self.changed.insert(id.table);
        if let Some(State::Put(operation)) = self.rows.get(&id)
            && let Some(operation) = self.operations.get_mut(*operation)
            && let TypedOperation::Put { row: put, .. } = &mut operation.what
        {
            self.bytes += row_weight(&row).saturating_sub(row_weight(put));
            *put = row;
            self.changes += 1;
            (operation.span, operation.changed) = (span, self.changes);
            return;
        }
        let operation = self.push(TypedOperation::Put { table: id.table, row, new: false, fresh: false }, span);
        self.rows.insert(id, State::Put(operation));
    }

    /// Deletes a row that is there.
    pub(super) fn delete(&mut self, known: &Known, detach: bool, span: Span) {
        let RowId { table, .. } = known.id;
        self.has_deleted = true;
        self.changed.insert(table);
        if let Some(State::Put(operation)) = self.rows.get(&known.id)
            && let Some(operation) = self.operations.get_mut(*operation)
            && matches!(&operation.what, TypedOperation::Put { new: false, .. })
        {
            // What it would have become does not matter any more. That a new row was not there before does.
            operation.what = TypedOperation::Nothing;
        }
        let key = key_of(&self.shapes, table, &known.row);
        let is_node = self.shapes.tables.get(table).is_some_and(|shape| shape.ends.is_none());
        let operation = self.push(TypedOperation::Delete { table, key, detach: detach && is_node }, span);
        self.rows.insert(known.id, State::Deleted);
        if detach && is_node {
            self.detached.insert(known.id, operation);
        }
    }

    fn push(&mut self, what: TypedOperation, span: Span) -> usize {
        self.changes += 1;
        self.bytes += ENTRY_BYTES;
        if let TypedOperation::Put { row, .. } = &what {
            self.bytes += row_weight(row);
        }
        self.operations.push(Operation { what, span, changed: self.changes });
        self.operations.len() - 1
    }

    /// Brings nodes and edges in `value`, however deep, to what has become of them by changes after the first `seen` ones. Those that were
    /// deleted stay as they were.
    pub(super) fn refresh(&self, value: &mut CypherValue, seen: u64) {
        match value {
            CypherValue::Scalar(_) => {}
            CypherValue::List(items) => items.iter_mut().for_each(|item| self.refresh(item, seen)),
            CypherValue::Map(entries) => entries.values_mut().for_each(|item| self.refresh(item, seen)),
            CypherValue::Node(_) | CypherValue::Edge(_) => {
                let Some(known) = self.changed_one(value) else { return };
                let Some(State::Put(operation)) = self.rows.get(&known.id) else { return };
                if self.operations.get(*operation).is_some_and(|operation| operation.changed > seen)
                    && let Found::Row(row) = self.find(known.id)
                    && let Some(shape) = self.shapes.tables.get(known.id.table)
                {
                    *value = to_value(shape, row);
                }
            }
        }
    }

    /// A node or an edge in `value`, however deep, that was deleted.
    pub(super) fn deleted_in(&self, value: &CypherValue) -> Option<Known> {
        match value {
            CypherValue::Scalar(_) => None,
            CypherValue::List(items) => items.iter().find_map(|item| self.deleted_in(item)),
            CypherValue::Map(entries) => entries.values().find_map(|item| self.deleted_in(item)),
            CypherValue::Node(_) | CypherValue::Edge(_) => {
                self.changed_one(value).filter(|known| self.is_deleted(known))
            }
        }
    }

    /// The node or edge, if something was done that may concern it.
    fn changed_one(&self, value: &CypherValue) -> Option<Known> {
        let (label, is_edge) = match value {
            CypherValue::Node(node) => (&node.label, false),
            CypherValue::Edge(edge) => (&edge.label, true),
            _ => return None,
        };
        let table = self.shapes.by_name(label)?;
        let concerned = self.changed.contains(&table) || (is_edge && !self.detached.is_empty());
        if concerned { known(&self.shapes, value) } else { None }
    }

    /// Ends the statement: its operations in order, and what in its text asked for each.
    pub(super) fn finish(self) -> (Vec<TypedOperation>, Vec<Span>) {
        self.operations.into_iter().map(|operation| (operation.what, operation.span)).unzip()
    }
}

/// Rows to be looked up: by table, the keys that nothing is known of yet.
#[derive(Debug, Default)]
pub(super) struct Wanted(pub(super) BTreeMap<usize, HashMap<RowId, Vec<Value>>>);

impl Wanted {
    /// Asks for the row of a key, unless something is known of it.
    pub(super) fn add(&mut self, overlay: &Overlay, id: RowId, key: impl FnOnce() -> Vec<Value>) {
        if !overlay.rows.contains_key(&id) {
            self.0.entry(id.table).or_default().entry(id).or_insert_with(key);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
