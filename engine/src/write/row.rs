//! One row in memory, and the digests by which it is compared with others.

use arrow_array::RecordBatch;

use crate::ids::{Digest, EdgeId};
use crate::table::Role;
use crate::value::{Value, digest_values, hash_row, read_value, write_json};
use crate::write::shape::{Shapes, TableShape};

/// A node or an edge.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Row {
    /// The key of the start node; edges only.
    pub from: Vec<Value>,
    /// The key of the end node; edges only.
    pub to: Vec<Value>,
    /// The hidden identity, as a value; `MULTI` edges only.
    pub edge_id: Option<Value>,
    /// One value per property, in table order, as they are stored.
    pub properties: Vec<Value>,
}

impl Row {
    /// An empty row of a table.
    pub(crate) fn empty(shape: &TableShape) -> Self {
        Self { properties: vec![Value::Null; shape.properties.len()], ..Self::default() }
    }

    /// Reads row `at` of a batch whose columns are the layout's columns `columns`; what they leave out stays null.
    pub(crate) fn read(shape: &TableShape, columns: &[usize], batch: &RecordBatch, at: usize) -> Self {
        let mut row = Self::empty(shape);
        for (array, column) in batch.columns().iter().zip(columns) {
            let Some(definition) = shape.layout.columns.get(*column) else { continue };
            let value = || read_value(array.as_ref(), at, shape.type_of(*column));
            match definition.role {
                Role::Hash | Role::Change => {}
                Role::EdgeId => row.edge_id = Some(value()),
                Role::From(_) => row.from.push(value()),
                Role::To(_) => row.to.push(value()),
                Role::Property(i) => {
                    if let Some(slot) = row.properties.get_mut(i) {
                        *slot = value();
                    }
                }
            }
        }
        row
    }

    /// The value in a layout column.
    pub(crate) fn cell<'a>(&'a self, shape: &'a TableShape, column: usize) -> &'a Value {
        let value = match shape.layout.columns.get(column).map(|column| column.role) {
            Some(Role::EdgeId) => self.edge_id.as_ref(),
            Some(Role::From(part)) => self.from.get(part),
            Some(Role::To(part)) => self.to.get(part),
            Some(Role::Property(i)) => self.properties.get(i).map(|value| meaning(shape, i, value)),
            Some(Role::Hash | Role::Change) | None => None,
        };
        value.unwrap_or(&Value::Null)
    }

    /// The values of a space's columns.
    pub(crate) fn tuple(&self, shapes: &Shapes, shape: &TableShape, space: usize) -> Vec<Value> {
        shapes.columns_of(space).iter().map(|column| self.cell(shape, *column).clone()).collect()
    }

    /// The digest of the values of a space's columns; `None` if one of them is null.
    pub(crate) fn digest(&self, shapes: &Shapes, shape: &TableShape, space: usize) -> Option<Digest> {
        let cells =
            || shapes.columns_of(space).iter().map(|column| (self.cell(shape, *column), shape.type_of(*column)));
        if cells().any(|(value, _)| *value == Value::Null) {
            return None;
        }
        Some(digest_values(cells()))
    }

    /// `_hash`: equal exactly for rows that mean the same.
    pub(crate) fn hash(&self, shape: &TableShape) -> Digest {
        let cells = |wanted: fn(Role) -> bool| {
            let columns = shape.layout.columns.iter().enumerate().filter(move |(_, column)| wanted(column.role));
            columns.map(|(i, _)| (self.cell(shape, i), shape.type_of(i)))
        };
        let ends = cells(|role| matches!(role, Role::From(_) | Role::To(_)));
        let ends = ends.chain(cells(|role| role == Role::EdgeId));
        let properties = shape.properties.iter().zip(&self.properties);
        hash_row(ends, properties.map(|(shape, value)| (shape.def.id, value, &shape.def.ty, shape.fill.as_ref())))
    }

    /// All properties as readers see them: fill values put in.
    pub(crate) fn meant(&self, shape: &TableShape) -> Vec<Value> {
        self.properties.iter().enumerate().map(|(i, value)| meaning(shape, i, value).clone()).collect()
    }

    /// The values of a space's columns for people: `7`, or `[7,"a"]`.
    pub(crate) fn text(&self, shapes: &Shapes, shape: &TableShape, space: usize) -> String {
        let mut out = Vec::new();
        let columns = shapes.columns_of(space);
        if columns.len() != 1 {
            out.push(b'[');
        }
        for (i, column) in columns.iter().enumerate() {
            if i > 0 {
                out.push(b',');
            }
            write_cell(self.cell(shape, *column), shape, *column, &mut out);
        }
        if columns.len() != 1 {
            out.push(b']');
        }
        String::from_utf8_lossy(&out).into_owned()
    }
}

/// Writes the value of a layout column as JSON; an edge id as its text.
pub(crate) fn write_cell(value: &Value, shape: &TableShape, column: usize, out: &mut Vec<u8>) {
    match (shape.layout.columns.get(column).map(|column| column.role), value) {
        (Some(Role::EdgeId), Value::Uuid(bytes)) => {
            out.push(b'"');
            out.extend_from_slice(EdgeId::from_bytes(*bytes).to_string().as_bytes());
            out.push(b'"');
        }
        _ => write_json(value, shape.type_of(column), out),
    }
}

/// What a stored value of property `i` means: a null stands for the fill value, where there is one.
fn meaning<'a>(shape: &'a TableShape, i: usize, value: &'a Value) -> &'a Value {
    match (value, shape.properties.get(i).and_then(|property| property.fill.as_ref())) {
        (Value::Null, Some(fill)) => fill,
        _ => value,
    }
}
