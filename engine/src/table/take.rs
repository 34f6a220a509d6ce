//! Reading rows by their addresses: the columns that are asked for, of the rows that are asked for.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use futures::{StreamExt, future, stream};
use roaring::{RoaringBitmap, RoaringTreemap};

use super::deletions::{physical_rows, removed_rows};
use super::mapping::ROW_ADDRESS;
use super::scan::Shape;
use super::{BatchStream, Scan, Table, TableError};
use crate::schema::Type;

/// Bytes that a batch should have at most; one row may have more.
const BATCH_BYTES: u64 = 4 << 20;
/// Rows that a batch has at most.
const BATCH_ROWS: u64 = 8192;
/// Batches whose reads may be in flight at once.
const PARALLEL: usize = 64;
/// The same where rows are wide.
const PARALLEL_WIDE: usize = 8;
/// Bytes of a row from which on it is wide.
const WIDE: u64 = 1024;

impl Table {
    /// Reads the rows at `addresses`: the layout's columns `columns`, then `_rowaddr`. Batches come in no promised order, the rows of
    /// one in that of their addresses.
    ///
    /// An address that names no row ends the stream with [`TableError::NoSuchRow`].
    pub(crate) fn take(&self, columns: Vec<usize>, addresses: &RoaringTreemap) -> BatchStream {
        let table = self.clone();
        let scan = Scan { columns, addresses: true, ..Scan::default() };
        let shape = match Shape::new(self, &scan) {
            Ok(shape) => Arc::new(shape),
            Err(error) => return stream::once(future::ready(Err(error))).boxed(),
        };
        let width = self.width(&scan.columns);
        let rows = usize::try_from((BATCH_BYTES / width).clamp(16, BATCH_ROWS)).unwrap_or(16);
        let mut parts: Vec<(u32, RoaringBitmap)> = Vec::new();
        for (fragment, offsets) in addresses.bitmaps() {
            let offsets: Vec<u32> = offsets.iter().collect();
            parts.extend(offsets.chunks(rows).map(|part| (fragment, part.iter().copied().collect())));
        }
        let parallel = if width >= WIDE { PARALLEL_WIDE } else { PARALLEL };
        let columns = Arc::new(scan.columns);
        stream::iter(parts)
            .map(move |(fragment, offsets)| {
                let (table, columns, shape) = (table.clone(), columns.clone(), shape.clone());
                async move { shape.arrange(&table.take_part(fragment, &offsets, &columns).await?) }
            })
            .buffer_unordered(parallel)
            .boxed()
    }

    /// Rows of one fragment, as Lance has them, with their addresses.
    async fn take_part(&self, id: u32, offsets: &RoaringBitmap, columns: &[usize]) -> Result<RecordBatch, TableError> {
        let table = self.layout.table.id;
        let address = |offset: u32| u64::from(id) << 32 | u64::from(offset);
        let no_such =
            |offset: u32| TableError::NoSuchRow { table, version: self.version.version, address: address(offset) };
        let fragment = self.dataset.get_fragment(id as usize);
        let fragment = fragment.ok_or_else(|| no_such(offsets.min().unwrap_or_default()))?;
        let rows = physical_rows(table, fragment.metadata())?;
        let gone = removed_rows(table, &self.dataset, fragment.metadata()).await?;
        if let Some(offset) = offsets.iter().find(|offset| *offset >= rows || gone.contains(*offset)) {
            return Err(no_such(offset));
        }
        let stored = self.mapping.stored_ids(columns);
        let addresses: ArrayRef = Arc::new(UInt64Array::from_iter_values(offsets.iter().map(address)));
        let (mut fields, mut arrays) = (Vec::new(), Vec::new());
        if !stored.is_empty() {
            // Lance counts the rows that are left.
            let live: Vec<u32> =
                offsets.iter().map(|offset| offset - u32::try_from(gone.rank(offset)).unwrap_or(u32::MAX)).collect();
            let projection = self.dataset.schema().project_by_ids(&stored, true);
            let batch = fragment.take(&live, &projection).await.map_err(|error| TableError::from_rows(table, error))?;
            if batch.num_rows() != addresses.len() {
                let problem = format!("Lance returned {} rows in place of {}", batch.num_rows(), addresses.len());
                return Err(TableError::Damaged { table, problem });
            }
            fields.extend(batch.schema().fields().iter().cloned());
            arrays.extend(batch.columns().iter().cloned());
        }
        fields.push(Arc::new(Field::new(ROW_ADDRESS, DataType::UInt64, false)));
        let options = RecordBatchOptions::new().with_row_count(Some(addresses.len()));
        arrays.push(addresses);
        RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
            .map_err(|error| TableError::Damaged { table, problem: error.to_string() })
    }

    /// The bytes that a row of these columns may well have.
    fn width(&self, columns: &[usize]) -> u64 {
        let types = columns.iter().filter_map(|column| self.layout.columns.get(*column));
        let bytes = types.map(|column| match &column.ty {
            Some(Type::Vector(length)) => 4 * u64::from(*length),
            Some(Type::List(_) | Type::Blob | Type::Json) => 256,
            Some(Type::String) => 64,
            _ => 16,
        });
        bytes.sum::<u64>().max(1)
    }
}
