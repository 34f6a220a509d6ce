//! The columns of a result, from what a plan makes to what a caller reads: names as the statement gives them, and nodes and edges as structs of
//! their properties.
//!
//! A node is `Struct{_table, properties…}`, an edge `Struct{_table, _from_0…, _to_0…, properties…}`, `_id` after the ends if it is of a
//! `MULTI` table. Where a variable stands for rows of several tables, properties of one name and type share a field; of others of the same name
//! the field is called `table.property`. A property that a row's table lacks is null.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::UInt16Type;
use arrow_array::{
    Array as _, ArrayRef, BooleanArray, ListArray, RecordBatch, RecordBatchOptions, StringArray, StructArray,
};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};
use arrow_select::zip::zip;

use crate::ids::EdgeId;
use crate::query::kind::Kind;
use crate::query::layout::{EntityLayout, Layouts};
use crate::table::Role;

/// How the columns of a result are made.
pub(crate) struct Columns {
    /// For each, the plan's column.
    sources: Vec<(String, Kind)>,
    layouts: Arc<Layouts>,
    schema: SchemaRef,
}

impl Columns {
    /// For each column its name, the plan's column and its kind.
    pub(crate) fn new(columns: Vec<(String, String, Kind)>, layouts: Arc<Layouts>) -> Self {
        let fields: Vec<Field> =
            columns.iter().map(|(name, _, kind)| Field::new(name, type_of(kind, &layouts), true)).collect();
        let sources = columns.into_iter().map(|(_, source, kind)| (source, kind)).collect();
        Self { sources, layouts, schema: Arc::new(Schema::new(fields)) }
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    pub(crate) fn layouts(&self) -> &Layouts {
        &self.layouts
    }

    /// The plan's columns with their kinds, in the order of the result.
    pub(crate) fn sources(&self) -> Vec<(String, &Kind)> {
        self.sources.iter().map(|(source, kind)| (source.clone(), kind)).collect()
    }

    /// A batch of the result.
    pub(crate) fn present(&self, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let columns = self.sources.iter().map(|(source, kind)| {
            let missing = || ArrowError::SchemaError(format!("the plan lost the column {source}"));
            present(batch.column_by_name(source).ok_or_else(missing)?, kind, &self.layouts)
        });
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(self.schema.clone(), columns.collect::<Result<_, _>>()?, &options)
    }
}

/// The Arrow type that a caller sees.
fn type_of(kind: &Kind, layouts: &Layouts) -> DataType {
    match kind {
        Kind::Entity(id) => layouts.entity(*id).map_or(DataType::Null, |entity| {
            DataType::Struct(Shown::of(entity).into_iter().map(|shown| shown.field).collect())
        }),
        Kind::List(element) => DataType::List(Arc::new(Field::new("item", type_of(element, layouts), true))),
        Kind::Map(entries) => DataType::Struct(
            entries.iter().map(|(name, kind)| Field::new(name, type_of(kind, layouts), true)).collect(),
        ),
        scalar => layouts.data_type(scalar),
    }
}

fn present(array: &ArrayRef, kind: &Kind, layouts: &Layouts) -> Result<ArrayRef, ArrowError> {
    let wrong = || ArrowError::SchemaError(format!("a column is not laid out as expected: {}", array.data_type()));
    match kind {
        Kind::Entity(id) => match layouts.entity(*id) {
            Some(entity) => present_entity(array.as_struct_opt().ok_or_else(wrong)?, entity),
            None => Ok(array.clone()),
        },
        Kind::List(element) => {
            let list = array.as_list_opt::<i32>().ok_or_else(wrong)?;
            let values = present(list.values(), element, layouts)?;
            let field = Arc::new(Field::new("item", type_of(element, layouts), true));
            Ok(Arc::new(ListArray::try_new(field, list.offsets().clone(), values, list.nulls().cloned())?))
        }
        Kind::Map(entries) => {
            let map = array.as_struct_opt().ok_or_else(wrong)?;
            let values = entries.iter().zip(map.columns()).map(|((_, kind), value)| present(value, kind, layouts));
            let fields =
                entries.iter().map(|(name, kind)| Field::new(name, type_of(kind, layouts), true)).collect::<Fields>();
            let values = values.collect::<Result<Vec<_>, _>>()?;
            Ok(Arc::new(StructArray::try_new_with_length(fields, values, map.nulls().cloned(), map.len())?))
        }
        _ => Ok(array.clone()),
    }
}

/// One field of a node or an edge as a caller sees it.
struct Shown {
    field: Field,
    source: Source,
}

enum Source {
    /// The name of the table.
    Table(Vec<String>),
    /// Fields of the struct; at most one of them is not null in a row.
    Fields(Vec<usize>),
    /// The same, of the 16 bytes of a hidden id, which are shown as a ULID.
    Ids(Vec<usize>),
}

impl Shown {
    fn of(entity: &EntityLayout) -> Vec<Self> {
        let names = entity.tables.iter().map(|table| table.layout.table.name.clone()).collect();
        let mut shown = vec![Self { field: Field::new("_table", DataType::Utf8, true), source: Source::Table(names) }];
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        let mut ids = Vec::new();
        let mut rest = Vec::new();
        for table in &entity.tables {
            for described in &table.fields {
                let Some(column) = table.layout.columns.get(described.column) else { continue };
                let property = match column.role {
                    Role::EdgeId => {
                        ids.push(described.field);
                        continue;
                    }
                    Role::Property(index) => table.layout.table.properties.get(index),
                    _ => None,
                };
                let name = property.map_or(&column.name, |property| &property.name);
                rest.push((property.is_some(), name.clone(), &table.layout.table.name, described.field));
            }
        }
        // Ends come before properties, whatever their table.
        for wanted in [false, true] {
            for (_, name, table, field) in rest.iter().filter(|(is_property, ..)| *is_property == wanted) {
                let ty = entity.fields.get(*field).map_or(DataType::Null, |field| field.data_type().clone());
                let fits = |place: &usize| shown.get(*place).is_some_and(|other: &Self| *other.field.data_type() == ty);
                let (known, name) = match places.get(name) {
                    Some(place) if fits(place) => (Some(*place), name.clone()),
                    Some(_) => (None, format!("{table}.{name}")),
                    None => (None, name.clone()),
                };
                let known = known.and_then(|place| shown.get_mut(place));
                if let Some(Self { source: Source::Fields(fields), .. }) = known {
                    fields.push(*field);
                } else {
                    places.insert(name.clone(), shown.len());
                    shown.push(Self { field: Field::new(name, ty, true), source: Source::Fields(vec![*field]) });
                }
            }
            if !wanted && !ids.is_empty() {
                let field = Field::new("_id", DataType::Utf8, true);
                shown.push(Self { field, source: Source::Ids(std::mem::take(&mut ids)) });
            }
        }
        shown
    }
}

fn present_entity(rows: &StructArray, entity: &EntityLayout) -> Result<ArrayRef, ArrowError> {
    let wrong = || ArrowError::SchemaError("nodes or edges are not laid out as expected".to_owned());
    let shown = Shown::of(entity);
    let arrays = shown.iter().map(|shown| match &shown.source {
        Source::Table(names) => {
            let tables = rows.columns().first().and_then(|array| array.as_primitive_opt::<UInt16Type>());
            let name = |index: Option<u16>| index.and_then(|index| names.get(usize::from(index)));
            Ok(Arc::new(tables.ok_or_else(wrong)?.iter().map(name).collect::<StringArray>()) as ArrayRef)
        }
        Source::Fields(fields) => united(rows, fields),
        Source::Ids(fields) => {
            let ids = united(rows, fields)?;
            let ids = ids.as_fixed_size_binary_opt().ok_or_else(wrong)?;
            let text = |bytes: Option<&[u8]>| Some(EdgeId::from_bytes(bytes?.try_into().ok()?).to_string());
            Ok(Arc::new(ids.iter().map(text).collect::<StringArray>()) as ArrayRef)
        }
    });
    let arrays = arrays.collect::<Result<Vec<_>, ArrowError>>()?;
    let fields: Fields = shown.into_iter().map(|shown| shown.field).collect();
    Ok(Arc::new(StructArray::try_new_with_length(fields, arrays, rows.nulls().cloned(), rows.len())?))
}

/// Fields of which at most one is not null in a row, as one.
fn united(rows: &StructArray, fields: &[usize]) -> Result<ArrayRef, ArrowError> {
    let missing = || ArrowError::SchemaError("a node or an edge lacks a field".to_owned());
    let mut arrays = fields.iter().map(|field| rows.columns().get(*field).ok_or_else(missing));
    let mut all = arrays.next().ok_or_else(missing)??.clone();
    for array in arrays {
        let array = array?;
        let present: BooleanArray = (0..array.len()).map(|row| Some(array.is_valid(row))).collect();
        all = zip(&present, array, &all)?;
    }
    Ok(all)
}
