//! Reading the values of a query from arrays.

use arrow_array::cast::AsArray as _;
use arrow_array::types::UInt16Type;
use arrow_array::{Array, ListArray, StructArray, UInt16Array};
use arrow_buffer::ArrowNativeType as _;
use datafusion::error::{DataFusionError, Result};

use super::type_of;
use crate::ids::EdgeId;
use crate::query::bound::Form;
use crate::query::kind::Kind;
use crate::query::layout::{EntityLayout, Layouts, TABLE, TableFields};
use crate::query::value::{CypherValue, EdgeValue, NodeValue};
use crate::table::Role;
use crate::value::{ColumnReader, Value};

/// One array, told its kind once and then read row by row.
pub(crate) struct Reader<'a> {
    array: &'a dyn Array,
    values: Values<'a>,
}

enum Values<'a> {
    Scalar(ColumnReader<'a>),
    List(&'a ListArray, Box<Reader<'a>>),
    Map(Vec<(String, Reader<'a>)>),
    Entity { form: Form, table: &'a UInt16Array, tables: Vec<TableReader<'a>> },
}

/// The part of an entity's struct that bears the rows of one table.
struct TableReader<'a> {
    label: &'a str,
    fields: Vec<(Part<'a>, Reader<'a>)>,
}

/// What a field of an entity is.
enum Part<'a> {
    From,
    To,
    EdgeId,
    Property(&'a str),
}

impl<'a> Reader<'a> {
    /// Reads `array` as a column of `kind`.
    ///
    /// # Errors
    /// An internal one if the array is not as [`Layouts::data_type`] has it.
    pub(crate) fn new(array: &'a dyn Array, kind: &Kind, layouts: &'a Layouts) -> Result<Self> {
        let values = match kind {
            Kind::List(element) => {
                let list = array.as_list_opt::<i32>().ok_or_else(|| mismatch(array, kind))?;
                Values::List(list, Box::new(Self::new(list.values(), element, layouts)?))
            }
            Kind::Map(entries) => {
                let structs = array.as_struct_opt().ok_or_else(|| mismatch(array, kind))?;
                let entry = |(name, kind): &(String, Kind)| {
                    let column = structs.column_by_name(name).ok_or_else(|| mismatch(array, kind))?;
                    Ok((name.clone(), Self::new(column, kind, layouts)?))
                };
                Values::Map(entries.iter().map(entry).collect::<Result<_>>()?)
            }
            Kind::Entity(id) => {
                let layout = layouts.entity(*id).ok_or_else(|| mismatch(array, kind))?;
                let structs = array.as_struct_opt().ok_or_else(|| mismatch(array, kind))?;
                entity(structs, layout, layouts)?
            }
            scalar => {
                let ty = type_of(scalar).ok_or_else(|| mismatch(array, kind))?;
                Values::Scalar(ColumnReader::new(array, &ty).map_err(|_| mismatch(array, kind))?)
            }
        };
        Ok(Self { array, values })
    }

    /// The value of a row; a null list, map, node or edge is null.
    ///
    /// # Panics
    /// If the array has no such row.
    pub(crate) fn value(&self, row: usize) -> CypherValue {
        if self.array.is_null(row) {
            return CypherValue::NULL;
        }
        match &self.values {
            Values::Scalar(reader) => CypherValue::from(reader.value(row)),
            Values::List(list, items) => {
                let offsets = list.value_offsets();
                let elements = offsets[row].as_usize()..offsets[row + 1].as_usize();
                CypherValue::List(elements.map(|element| items.value(element)).collect())
            }
            Values::Map(entries) => {
                CypherValue::Map(entries.iter().map(|(name, values)| (name.clone(), values.value(row))).collect())
            }
            Values::Entity { form, table, tables } => {
                if table.is_null(row) {
                    return CypherValue::NULL;
                }
                tables.get(usize::from(table.value(row))).map_or(CypherValue::NULL, |table| table.value(*form, row))
            }
        }
    }
}

fn entity<'a>(structs: &'a StructArray, layout: &'a EntityLayout, layouts: &'a Layouts) -> Result<Values<'a>> {
    let wrong = || DataFusionError::Internal(format!("a node or an edge is not laid out as {:?}", layout.fields));
    let table = structs.column_by_name(TABLE).and_then(|column| column.as_primitive_opt::<UInt16Type>());
    let table = table.ok_or_else(wrong)?;
    let reader = |fields: &'a TableFields| {
        let readers = fields.fields.iter().map(|field| {
            let array = structs.columns().get(field.field).ok_or_else(wrong)?;
            let column = fields.layout.columns.get(field.column).ok_or_else(wrong)?;
            let part = match column.role {
                Role::From(_) => Part::From,
                Role::To(_) => Part::To,
                Role::Property(at) => {
                    let property = fields.layout.table.properties.get(at).ok_or_else(wrong)?;
                    Part::Property(&property.name)
                }
                Role::EdgeId | Role::Hash | Role::Change => Part::EdgeId,
            };
            Ok((part, Reader::new(array, &field.kind, layouts)?))
        });
        Ok(TableReader { label: &fields.layout.table.name, fields: readers.collect::<Result<_>>()? })
    };
    let tables = layout.tables.iter().map(reader).collect::<Result<_>>()?;
    Ok(Values::Entity { form: layout.form, table, tables })
}

impl TableReader<'_> {
    fn value(&self, form: Form, row: usize) -> CypherValue {
        let (mut from, mut to, mut id, mut properties) = (Vec::new(), Vec::new(), None, Vec::new());
        for (part, reader) in &self.fields {
            match (part, reader.value(row)) {
                (Part::From, CypherValue::Scalar(value)) => from.push(value),
                (Part::To, CypherValue::Scalar(value)) => to.push(value),
                (Part::EdgeId, CypherValue::Scalar(Value::Uuid(bytes))) => {
                    id = Some(EdgeId::from_bytes(bytes).to_string());
                }
                (Part::Property(name), value) if !value.is_null() => {
                    properties.push(((*name).to_owned(), value));
                }
                _ => {}
            }
        }
        let (label, properties) = (self.label.to_owned(), properties.into_iter().collect());
        match form {
            Form::Node => CypherValue::Node(Box::new(NodeValue { label, properties })),
            Form::Edge => CypherValue::Edge(Box::new(EdgeValue { label, from, to, id, properties })),
        }
    }
}

fn mismatch(array: &dyn Array, kind: &Kind) -> DataFusionError {
    DataFusionError::Internal(format!("a column of {kind:?} is stored as {}", array.data_type()))
}
