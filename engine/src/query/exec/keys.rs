//! Keys of rows as bytes: read from what a plan has, to be held against the keys of a table.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use arrow_array::cast::AsArray as _;
use arrow_array::types::UInt16Type;
use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_buffer::BooleanBuffer;
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType};
use datafusion::arrow::row::{RowConverter, SortField};
use datafusion::common::{Column as ColumnName, ScalarValue};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::{Expr, lit};

/// One part of a key, as a plan's rows have it: a column, or a field of a node or an edge.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Part {
    pub column: String,
    /// Of a node or an edge: which table's rows have it, and in which field.
    pub within: Option<(u16, usize)>,
}

/// The parts of the keys of some rows.
pub(crate) struct Parts {
    pub arrays: Vec<ArrayRef>,
    /// Which rows have a key: those that are of the table in question, without a null in any part.
    pub present: BooleanBuffer,
}

/// Reads the parts of a batch's keys.
pub(crate) fn read_parts(batch: &RecordBatch, parts: &[Part]) -> Result<Parts, ArrowError> {
    let missing = |part: &Part| ArrowError::SchemaError(format!("the plan lost the column {}", part.column));
    let mut present = BooleanBuffer::new_set(batch.num_rows());
    let mut arrays = Vec::with_capacity(parts.len());
    for part in parts {
        let column = batch.column_by_name(&part.column).ok_or_else(|| missing(part))?;
        let array = match part.within {
            None => column.clone(),
            Some((table, field)) => {
                let rows = column.as_struct_opt().ok_or_else(|| missing(part))?;
                let tables = rows.columns().first().and_then(|array| array.as_primitive_opt::<UInt16Type>());
                let tables = tables.ok_or_else(|| missing(part))?;
                let of_table = BooleanBuffer::collect_bool(rows.len(), |row| {
                    rows.is_valid(row) && tables.is_valid(row) && tables.value(row) == table
                });
                present = &present & &of_table;
                rows.columns().get(field).ok_or_else(|| missing(part))?.clone()
            }
        };
        if let Some(nulls) = array.logical_nulls() {
            present = &present & nulls.inner();
        }
        arrays.push(array);
    }
    Ok(Parts { arrays, present })
}

/// Puts keys in bytes: equal keys are equal bytes.
pub(crate) struct KeyBytes(RowConverter);

impl KeyBytes {
    pub(crate) fn new(types: impl IntoIterator<Item = DataType>) -> Result<Self, ArrowError> {
        Ok(Self(RowConverter::new(types.into_iter().map(SortField::new).collect())?))
    }

    /// The bytes of each row's key.
    pub(crate) fn rows(&self, arrays: &[ArrayRef]) -> Result<datafusion::arrow::row::Rows, ArrowError> {
        self.0.convert_columns(arrays)
    }
}

/// Which rows have a key: from its bytes.
#[derive(Debug, Default)]
pub(crate) struct KeyIndex {
    /// The last row of each key.
    last: HashMap<Box<[u8]>, u32>,
    /// For each row the one before it with the same key.
    before: Vec<Option<u32>>,
    bytes: usize,
}

impl KeyIndex {
    /// Indexes the rows that have a key. The parts must be of the types that `bytes` was made for.
    pub(crate) fn new(parts: &Parts, bytes: &KeyBytes) -> Result<Self, ArrowError> {
        let rows = bytes.rows(&parts.arrays)?;
        let mut index = Self { before: vec![None; parts.present.len()], ..Self::default() };
        for row in parts.present.set_indices() {
            let Ok(number) = u32::try_from(row) else { break };
            match index.last.entry(rows.row(row).data().into()) {
                Entry::Occupied(mut entry) => index.before[row] = Some(entry.insert(number)),
                Entry::Vacant(entry) => {
                    // The map's own room, and the bytes it points to.
                    index.bytes += entry.key().len() + 48;
                    entry.insert(number);
                }
            }
        }
        index.bytes += index.before.len() * size_of::<Option<u32>>();
        Ok(index)
    }

    /// How many different keys there are.
    pub(crate) fn len(&self) -> usize {
        self.last.len()
    }

    /// Bytes that it holds, about.
    pub(crate) const fn held(&self) -> usize {
        self.bytes
    }

    /// The rows with a key.
    pub(crate) fn rows_of(&self, key: &[u8]) -> impl Iterator<Item = u32> + '_ {
        let mut next = self.last.get(key).copied();
        std::iter::from_fn(move || {
            let row = next?;
            next = self.before.get(row as usize).copied().flatten();
            Some(row)
        })
    }

    /// One row for each key.
    fn representatives(&self) -> impl Iterator<Item = usize> + '_ {
        self.last.values().map(|row| *row as usize)
    }
}

/// True for stored rows that have one of the index's keys, and perhaps for others that mix their parts. `columns` are the names and stored
/// types of the columns that the parts are held against.
pub(crate) fn key_filter(
    index: &KeyIndex,
    parts: &Parts,
    columns: &[(String, DataType)],
) -> Result<Option<Expr>, DataFusionError> {
    let mut filter: Option<Expr> = None;
    let rows: Vec<usize> = index.representatives().collect();
    for (array, (name, stored)) in parts.arrays.iter().zip(columns) {
        // What the stored type cannot hold, no stored row has.
        let options = CastOptions { safe: true, ..CastOptions::default() };
        let array = cast_with_options(array, stored, &options)?;
        let mut values = Vec::with_capacity(rows.len());
        let mut seen = std::collections::HashSet::with_capacity(rows.len());
        for row in &rows {
            let value = ScalarValue::try_from_array(&array, *row)?;
            if !value.is_null() && seen.insert(value.clone()) {
                values.push(value);
            }
        }
        // In one order, so that equal look-ups are equal requests.
        values.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
        let name = Expr::Column(ColumnName::new_unqualified(name.clone()));
        let mut literals: Vec<Expr> = values.into_iter().map(lit).collect();
        let is_in = match (literals.len(), literals.pop()) {
            (_, None) => lit(false),
            (1, Some(literal)) => name.eq(literal),
            (_, Some(literal)) => {
                literals.push(literal);
                name.in_list(literals, false)
            }
        };
        filter = Some(match filter.take() {
            Some(others) => others.and(is_in),
            None => is_in,
        });
    }
    Ok(filter)
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
