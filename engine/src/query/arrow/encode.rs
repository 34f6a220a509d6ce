//! Writing the values of a query into arrays.

use std::sync::Arc;

use arrow_array::{
    Array as _, ArrayRef, BooleanArray, ListArray, StructArray, UInt16Array, UInt64Array, new_null_array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{Field, Fields};
use datafusion::common::ScalarValue;

use super::type_of;
use crate::ids::EdgeId;
use crate::query::eval::{Unfit, coerce, needs_coercion};
use crate::query::kind::Kind;
use crate::query::layout::{EntityLayout, Layouts, TableFields};
use crate::query::value::CypherValue;
use crate::table::Role;
use crate::value::{ColumnBuilder, Value, narrow};

/// The bytes of text, and the elements of lists, that one array can hold.
const MOST: usize = i32::MAX as usize;

/// An array of `kind` with these values, numbers brought to it. Of nodes and edges, the address is not known and left null.
///
/// # Errors
/// If a value is not of the kind, or all of them are more than an array can hold.
pub(crate) fn encode(values: &[CypherValue], kind: &Kind, layouts: &Layouts) -> Result<ArrayRef, Unfit> {
    let values: Vec<&CypherValue> = values.iter().collect();
    array(&values, kind, layouts)
}

/// One value, as a constant of a plan.
pub(crate) fn scalar(value: &CypherValue, kind: &Kind, layouts: &Layouts) -> Result<ScalarValue, Unfit> {
    let array = array(&[value], kind, layouts)?;
    // All types that kinds are stored as have scalars.
    ScalarValue::try_from_array(&array, 0).map_err(|_| Unfit::wrong_type(value, kind))
}

fn array(values: &[&CypherValue], kind: &Kind, layouts: &Layouts) -> Result<ArrayRef, Unfit> {
    match kind {
        Kind::Null => match values.iter().find(|value| !value.is_null()) {
            Some(value) => Err(Unfit::wrong_type(value, kind)),
            None => Ok(Arc::new(BooleanArray::new_null(values.len()))),
        },
        Kind::List(element) => list(values, kind, element, layouts),
        Kind::Map(entries) => map(values, kind, entries, layouts),
        Kind::Entity(id) => {
            let Some(layout) = layouts.entity(*id) else { return Err(Unfit::wrong_type(&CypherValue::NULL, kind)) };
            entity(values, kind, layout, layouts)
        }
        scalar => scalars(values, scalar),
    }
}

fn scalars(values: &[&CypherValue], kind: &Kind) -> Result<ArrayRef, Unfit> {
    let Some(ty) = type_of(kind) else { return Err(Unfit::wrong_type(&CypherValue::NULL, kind)) };
    let mut builder = ColumnBuilder::new(&ty, values.len());
    let mut bytes = 0_usize;
    for value in values {
        if needs_coercion(value, kind) {
            let coerced = coerce((*value).clone(), kind)?;
            push(&coerced, &mut builder);
            continue;
        }
        if let CypherValue::Scalar(Value::String(text) | Value::Json(text)) = value {
            bytes = bytes.saturating_add(text.len());
        } else if let CypherValue::Scalar(Value::Blob(blob)) = value {
            bytes = bytes.saturating_add(blob.len());
        }
        if bytes > MOST {
            return Err(Unfit::too_much(kind));
        }
        push(value, &mut builder);
    }
    Ok(builder.finish())
}

/// Appends a value of the builder's kind.
fn push(value: &CypherValue, builder: &mut ColumnBuilder) {
    match value {
        CypherValue::Scalar(value) => builder.push(value),
        CypherValue::List(items) => {
            let component = |item: &CypherValue| match item {
                CypherValue::Scalar(Value::Float(value)) => Some(narrow(*value)),
                _ => None,
            };
            builder.push(&Value::Vector(items.iter().filter_map(component).collect()));
        }
        _ => builder.push(&Value::Null),
    }
}

fn list(values: &[&CypherValue], kind: &Kind, element: &Kind, layouts: &Layouts) -> Result<ArrayRef, Unfit> {
    let (mut offsets, mut items, mut valid) = (vec![0], Vec::new(), Vec::with_capacity(values.len()));
    for value in values {
        match value {
            CypherValue::List(list) => items.extend(list),
            value if value.is_null() => {}
            other => return Err(Unfit::wrong_type(other, kind)),
        }
        valid.push(!value.is_null());
        offsets.push(i32::try_from(items.len()).map_err(|_| Unfit::too_much(kind))?);
    }
    let items = array(&items, element, layouts)?;
    let field = Arc::new(Field::new("item", items.data_type().clone(), true));
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    Ok(Arc::new(ListArray::new(field, offsets, items, nulls(valid))))
}

fn map(values: &[&CypherValue], kind: &Kind, entries: &[(String, Kind)], layouts: &Layouts) -> Result<ArrayRef, Unfit> {
    let mut valid = Vec::with_capacity(values.len());
    for value in values {
        if !matches!(value, CypherValue::Map(_)) && !value.is_null() {
            return Err(Unfit::wrong_type(value, kind));
        }
        valid.push(!value.is_null());
    }
    let column = |(name, kind): &(String, Kind)| {
        let of_row = |value: &&'_ CypherValue| match value {
            CypherValue::Map(map) => map.get(name).unwrap_or(&CypherValue::NULL).clone(),
            _ => CypherValue::NULL,
        };
        let column: Vec<CypherValue> = values.iter().map(of_row).collect();
        encode(&column, kind, layouts)
    };
    let columns = entries.iter().map(column).collect::<Result<Vec<_>, _>>()?;
    let fields = entries.iter().map(|(name, kind)| Field::new(name, layouts.data_type(kind), true)).collect();
    Ok(structs(fields, columns, valid))
}

fn entity(values: &[&CypherValue], kind: &Kind, layout: &EntityLayout, layouts: &Layouts) -> Result<ArrayRef, Unfit> {
    let (mut tables, mut valid) = (Vec::with_capacity(values.len()), Vec::with_capacity(values.len()));
    for value in values {
        let label = match value {
            CypherValue::Node(node) => Some(&node.label),
            CypherValue::Edge(edge) => Some(&edge.label),
            value if value.is_null() => None,
            other => return Err(Unfit::wrong_type(other, kind)),
        };
        let table = label.map(|label| {
            let at = layout.tables.iter().position(|table| table.layout.table.name == *label);
            at.ok_or_else(|| Unfit::wrong_type(value, kind))
        });
        tables.push(table.transpose()?);
        valid.push(!value.is_null());
    }
    let mut columns: Vec<ArrayRef> =
        layout.fields.iter().map(|field| new_null_array(field.data_type(), values.len())).collect();
    for (at, table) in layout.tables.iter().enumerate() {
        for (index, field) in table.fields.iter().enumerate() {
            let of_row = |(value, of): (&&CypherValue, &Option<usize>)| {
                if *of == Some(at) { part(value, table, index) } else { CypherValue::NULL }
            };
            let column: Vec<CypherValue> = values.iter().zip(&tables).map(of_row).collect();
            if let Some(slot) = columns.get_mut(field.field) {
                *slot = encode(&column, &field.kind, layouts)?;
            }
        }
    }
    let tables: UInt16Array = tables.iter().map(|table| table.and_then(|table| u16::try_from(table).ok())).collect();
    for (slot, column) in
        columns.iter_mut().zip([Arc::new(tables) as ArrayRef, Arc::new(UInt64Array::new_null(values.len()))])
    {
        *slot = column;
    }
    Ok(structs(layout.fields.clone(), columns, valid))
}

/// The value of one field of a node or an edge.
fn part(value: &CypherValue, table: &TableFields, index: usize) -> CypherValue {
    let Some(field) = table.fields.get(index) else { return CypherValue::NULL };
    let role = table.layout.columns.get(field.column).map(|column| column.role);
    let found = match (value, role) {
        (CypherValue::Node(node), Some(Role::Property(at))) => {
            table.layout.table.properties.get(at).and_then(|property| node.properties.get(&property.name).cloned())
        }
        (CypherValue::Edge(edge), Some(Role::Property(at))) => {
            table.layout.table.properties.get(at).and_then(|property| edge.properties.get(&property.name).cloned())
        }
        (CypherValue::Edge(edge), Some(Role::From(at))) => edge.from.get(at).cloned().map(CypherValue::Scalar),
        (CypherValue::Edge(edge), Some(Role::To(at))) => edge.to.get(at).cloned().map(CypherValue::Scalar),
        (CypherValue::Edge(edge), Some(Role::EdgeId)) => {
            let id = edge.id.as_ref().and_then(|id| id.parse::<EdgeId>().ok());
            id.map(|id| CypherValue::Scalar(Value::Uuid(id.to_bytes())))
        }
        _ => None,
    };
    found.unwrap_or(CypherValue::NULL)
}

/// A column of structs; one of no fields needs to be told its length.
fn structs(fields: Fields, columns: Vec<ArrayRef>, valid: Vec<bool>) -> ArrayRef {
    let length = valid.len();
    let nulls = nulls(valid);
    Arc::new(if fields.is_empty() {
        StructArray::new_empty_fields(length, nulls)
    } else {
        StructArray::new(fields, columns, nulls)
    })
}

fn nulls(valid: Vec<bool>) -> Option<NullBuffer> {
    let nulls = NullBuffer::from(valid);
    (nulls.null_count() > 0).then_some(nulls)
}
