//! Between the values of a statement and typed rows: who a node or an edge is, and what it looks like.

use crate::ids::{Digest, EdgeId};
use crate::query::{CypherValue, EdgeValue, NodeValue};
use crate::value::Value;
use crate::write::row::Row;
use crate::write::shape::{Shapes, TableShape};

use super::property::to_property;

/// Which row: its table, by index, and the digest of its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct RowId {
    /// The index of its table.
    pub table: usize,
    /// The digest of its key.
    pub key: Digest,
}

impl RowId {
    /// Who `row` is; `None` if a part of its key is null.
    pub(super) fn of_row(shapes: &Shapes, table: usize, row: &Row) -> Option<Self> {
        let shape = shapes.tables.get(table)?;
        Some(Self { table, key: row.digest(shapes, shape, shape.key)? })
    }

    /// Who the start or the end of an edge is.
    pub(super) fn of_end(shapes: &Shapes, table: usize, row: &Row, start: bool) -> Option<Self> {
        let shape = shapes.tables.get(table)?;
        let ends = shape.ends?;
        let end = if start { ends.from } else { ends.to };
        Some(Self { table: end.node, key: row.digest(shapes, shape, end.space)? })
    }
}

/// Which node or edge a value is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Known {
    /// Who it is.
    pub id: RowId,
    /// Its key, and the ends of an edge; all other properties are null.
    pub row: Row,
}

/// Which node or edge a value is; `None` for all other values.
pub(super) fn known(shapes: &Shapes, value: &CypherValue) -> Option<Known> {
    let (table, row) = row_of(shapes, value, true)?;
    Some(Known { id: RowId::of_row(shapes, table, &row)?, row })
}

/// The row that a node or an edge is, if the value has all of its properties.
pub(super) fn whole_row(shapes: &Shapes, value: &CypherValue) -> Option<Row> {
    row_of(shapes, value, false).map(|(_, row)| row)
}

fn row_of(shapes: &Shapes, value: &CypherValue, key_only: bool) -> Option<(usize, Row)> {
    let (label, properties) = match value {
        CypherValue::Node(node) => (&node.label, &node.properties),
        CypherValue::Edge(edge) => (&edge.label, &edge.properties),
        _ => return None,
    };
    let table = shapes.by_name(label)?;
    let shape = shapes.tables.get(table)?;
    let mut row = Row::empty(shape);
    for (slot, property) in row.properties.iter_mut().zip(&shape.properties) {
        if key_only && !shape.layout.table.key.contains(&property.def.id) {
            continue;
        }
        // What was read of a property is a value of it.
        *slot = match properties.get(&property.def.name) {
            Some(read) => to_property(read, &property.def.ty).ok()?,
            None => Value::Null,
        };
    }
    if !key_only {
        // What was read as null may be stored as one that stands for another value.
        row.properties = row.meant(shape);
    }
    if let CypherValue::Edge(edge) = value {
        row.from.clone_from(&edge.from);
        row.to.clone_from(&edge.to);
        let id = edge.id.as_ref().and_then(|text| text.parse::<EdgeId>().ok());
        row.edge_id = id.map(|id| Value::Uuid(id.to_bytes()));
    }
    Some((table, row))
}

/// The values of a row's key, one for each key column.
pub(super) fn key_of(shapes: &Shapes, table: usize, row: &Row) -> Vec<Value> {
    shapes.tables.get(table).map(|shape| row.tuple(shapes, shape, shape.key)).unwrap_or_default()
}

/// A row as the node or edge that expressions work with.
pub(super) fn to_value(shape: &TableShape, row: &Row) -> CypherValue {
    let named = shape.properties.iter().zip(row.meant(shape));
    let properties = named
        .filter(|(_, value)| !value.is_null())
        .map(|(property, value)| (property.def.name.clone(), CypherValue::from(value)))
        .collect();
    let label = shape.name().to_owned();
    if shape.ends.is_none() {
        return CypherValue::Node(Box::new(NodeValue { label, properties }));
    }
    let id = match &row.edge_id {
        Some(Value::Uuid(bytes)) => Some(EdgeId::from_bytes(*bytes).to_string()),
        _ => None,
    };
    let (from, to) = (row.from.clone(), row.to.clone());
    CypherValue::Edge(Box::new(EdgeValue { label, from, to, id, properties }))
}

/// The key of a row for people: `1`, or `[1,"a"]`.
pub(super) fn key_text(shapes: &Shapes, table: usize, row: &Row) -> String {
    shapes.tables.get(table).map(|shape| row.text(shapes, shape, shape.key)).unwrap_or_default()
}

/// Whether a property is a part of the key of its table.
pub(super) fn is_key(shape: &TableShape, property: usize) -> bool {
    shape.properties.get(property).is_some_and(|property| shape.layout.table.key.contains(&property.def.id))
}
