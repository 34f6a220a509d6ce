//! Stored rows as the one column that a plan has for them: a struct laid out by the entity.

use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef, BooleanArray, RecordBatch, Scalar, StructArray, UInt16Array, new_null_array};
use arrow_schema::{ArrowError, Fields};
use arrow_select::zip::zip;

use crate::ids::TableId;
use crate::query::layout::{ADDRESS, EntityLayout, TABLE};
use crate::table::{Layout, Role};
use crate::value::{ColumnBuilder, parse_json};

/// Makes structs of one entity from rows of one table.
#[derive(Debug, Clone)]
pub(crate) struct Packer {
    /// The fields of the struct.
    fields: Fields,
    /// What [`TABLE`] says.
    table: u16,
    /// The columns of the table that the struct has.
    columns: Vec<Packed>,
}

#[derive(Debug, Clone)]
struct Packed {
    /// Index into the layout's columns.
    column: usize,
    /// Index into the struct's fields.
    field: usize,
    /// What a physical null means, one row long.
    fill: Option<ArrayRef>,
}

impl Packer {
    /// `None` if the entity never stands for rows of the table.
    pub(crate) fn new(entity: &EntityLayout, table: TableId) -> Option<Self> {
        let (index, described) = entity.of_table(table)?;
        let columns = described.fields.iter().map(|field| Packed {
            column: field.column,
            field: field.field,
            fill: fill_of(&described.layout, field.column),
        });
        Some(Self { fields: entity.fields.clone(), table: index, columns: columns.collect() })
    }

    /// The columns to read, in the order that [`Self::pack`] expects, before the row's address.
    pub(crate) fn columns(&self) -> Vec<usize> {
        self.columns.iter().map(|packed| packed.column).collect()
    }

    /// Packs rows that were read with addresses.
    pub(crate) fn pack(&self, batch: &RecordBatch) -> Result<StructArray, ArrowError> {
        let rows = batch.num_rows();
        let Some((addresses, columns)) = batch.columns().split_last() else {
            return Err(ArrowError::InvalidArgumentError("rows were read without addresses".to_owned()));
        };
        let given = self.columns.iter().zip(columns).map(|(packed, array)| {
            let mut array = arrow_cast::cast(array, self.fields[packed.field].data_type())?;
            if let (Some(fill), 1..) = (&packed.fill, array.null_count()) {
                let filled = arrow_cast::cast(fill, array.data_type())?;
                let present: BooleanArray = (0..rows).map(|row| Some(array.is_valid(row))).collect();
                array = zip(&present, &array, &Scalar::new(filled))?;
            }
            Ok((packed.field, array))
        });
        self.assemble(rows, addresses, given.collect::<Result<_, ArrowError>>()?)
    }

    /// Makes rows of which no more is known than some fields: they have no address.
    pub(crate) fn pack_key(&self, rows: usize, given: Vec<(usize, ArrayRef)>) -> Result<StructArray, ArrowError> {
        let addresses = new_null_array(&arrow_schema::DataType::UInt64, rows);
        self.assemble(rows, &addresses, given)
    }

    fn assemble(
        &self,
        rows: usize,
        addresses: &ArrayRef,
        given: Vec<(usize, ArrayRef)>,
    ) -> Result<StructArray, ArrowError> {
        let mut arrays: Vec<Option<ArrayRef>> = vec![None; self.fields.len()];
        for (field, array) in given {
            arrays[field] = Some(array);
        }
        let arrays = self.fields.iter().zip(arrays).map(|(field, array)| match (field.name().as_str(), array) {
            (TABLE, _) => Arc::new(UInt16Array::from_value(self.table, rows)) as ArrayRef,
            (ADDRESS, _) => addresses.clone(),
            (_, Some(array)) => array,
            (_, None) => new_null_array(field.data_type(), rows),
        });
        StructArray::try_new_with_length(self.fields.clone(), arrays.collect(), None, rows)
    }
}

/// What a physical null in a column means.
fn fill_of(layout: &Layout, column: usize) -> Option<ArrayRef> {
    let described = layout.columns.get(column)?;
    let Role::Property(index) = described.role else { return None };
    let property = layout.table.properties.get(index)?;
    // A load refuses a schema whose fill is none of the type, so that a text that cannot be read does not get here.
    let value = parse_json(property.fill.as_ref()?.raw(), &property.ty).ok()?;
    let mut builder = ColumnBuilder::new(&property.ty, 1);
    builder.push(&value);
    Some(builder.finish())
}
