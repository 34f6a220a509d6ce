//! The rows of an input, kept until their publish is over and readable any number of times: small inputs in memory, larger
//! ones in temporary files.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Write as _};
use std::sync::Arc;

use arrow_array::{Array as _, RecordBatch, UInt64Array};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

use crate::write::WriteError;
use crate::write::spill::ReadAt;

/// Bytes of rows that stay in memory.
const IN_MEMORY: usize = 16 * 1024 * 1024;
/// Bytes that are gathered for a file before they are written; each table of the input has a file.
const GATHERED: usize = 64 * 1024;
/// The column that bears the line of each row.
const LINE: &str = "_line";

/// The schema of spooled batches: the table's columns, then the line of each row.
pub(crate) fn spooled_schema(table: &SchemaRef) -> SchemaRef {
    let mut fields: Vec<_> = table.fields().iter().cloned().collect();
    fields.push(Arc::new(Field::new(LINE, DataType::UInt64, false)));
    Arc::new(Schema::new_with_metadata(fields, table.metadata().clone()))
}

/// Splits a spooled batch into its rows and their lines.
pub(crate) fn split_lines(batch: &RecordBatch, table: &SchemaRef) -> Result<(RecordBatch, UInt64Array), ArrowError> {
    let mut columns = batch.columns().to_vec();
    let lines = columns.pop().and_then(|lines| lines.as_any().downcast_ref::<UInt64Array>().cloned());
    let lines = lines.ok_or_else(|| ArrowError::SchemaError(format!("spooled rows lack {LINE}")))?;
    Ok((RecordBatch::try_new(table.clone(), columns)?, lines))
}

/// Takes rows in.
pub(crate) struct SpoolWriter {
    bound: usize,
    bytes: usize,
    memory: BTreeMap<usize, Vec<RecordBatch>>,
    files: Option<BTreeMap<usize, Option<StreamWriter<BufWriter<File>>>>>,
}

/// The rows of one table, in the order they came.
#[derive(Debug, Clone)]
pub(crate) enum Spooled {
    /// As batches.
    Memory(Vec<RecordBatch>),
    /// As one Arrow IPC stream of `len` bytes.
    File {
        /// Unnamed: gone with its last user.
        file: Arc<File>,
        /// Its size.
        len: u64,
    },
}

impl Default for SpoolWriter {
    fn default() -> Self {
        Self::with_bound(IN_MEMORY)
    }
}

impl SpoolWriter {
    /// A spool that keeps `bound` bytes in memory.
    pub(crate) fn with_bound(bound: usize) -> Self {
        Self { bound, bytes: 0, memory: BTreeMap::new(), files: None }
    }

    /// Takes rows of a table in.
    pub(crate) fn push(&mut self, table: usize, batch: RecordBatch) -> Result<(), WriteError> {
        if self.files.is_some() {
            return self.write(table, &batch);
        }
        self.bytes += batch.get_array_memory_size();
        self.memory.entry(table).or_default().push(batch);
        if self.bytes > self.bound {
            self.files = Some(BTreeMap::new());
            for (table, batches) in std::mem::take(&mut self.memory) {
                batches.iter().try_for_each(|batch| self.write(table, batch))?;
            }
        }
        Ok(())
    }

    fn write(&mut self, table: usize, batch: &RecordBatch) -> Result<(), WriteError> {
        let slot = self.files.get_or_insert_default().entry(table).or_default();
        if let Some(writer) = slot {
            return writer.write(batch).map_err(broken);
        }
        let file = tempfile::tempfile().map_err(|source| WriteError::Temporary { source })?;
        let lz4 = Some(arrow_ipc::CompressionType::LZ4_FRAME);
        let options = IpcWriteOptions::default().try_with_compression(lz4).map_err(broken)?;
        let buffer = BufWriter::with_capacity(GATHERED, file);
        let writer = StreamWriter::try_new_with_options(buffer, &batch.schema(), options).map_err(broken)?;
        slot.insert(writer).write(batch).map_err(broken)
    }

    /// Ends the writing.
    pub(crate) fn finish(self) -> Result<BTreeMap<usize, Spooled>, WriteError> {
        let mut tables: BTreeMap<_, _> =
            self.memory.into_iter().map(|(table, batches)| (table, Spooled::Memory(batches))).collect();
        for (table, writer) in self.files.unwrap_or_default() {
            let Some(writer) = writer else { continue };
            let mut buffer = writer.into_inner().map_err(broken)?;
            let io = |source| WriteError::Temporary { source };
            buffer.flush().map_err(io)?;
            let file = buffer.into_inner().map_err(|e| io(e.into_error()))?;
            let len = file.metadata().map_err(io)?.len();
            tables.insert(table, Spooled::File { file: Arc::new(file), len });
        }
        Ok(tables)
    }
}

impl Spooled {
    /// The rows from the first on; may be called any number of times, also at once.
    pub(crate) fn batches(
        &self,
    ) -> Result<Box<dyn Iterator<Item = Result<RecordBatch, WriteError>> + Send>, WriteError> {
        Ok(match self {
            Self::Memory(batches) => Box::new(batches.clone().into_iter().map(Ok)),
            Self::File { file, len } => {
                let bytes = BufReader::with_capacity(1024 * 1024, ReadAt::new(file.clone(), 0, *len));
                let reader = StreamReader::try_new(bytes, None).map_err(broken)?;
                Box::new(reader.map(|batch| batch.map_err(broken)))
            }
        })
    }
}

fn broken(source: ArrowError) -> WriteError {
    match source {
        ArrowError::IoError(_, source) => WriteError::Temporary { source },
        other => WriteError::Temporary { source: std::io::Error::other(other) },
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{Int64Array, StringArray};

    use super::*;

    fn batch(from: i64, rows: i64) -> RecordBatch {
        let table =
            Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, true), Field::new("s", DataType::Utf8, true)]));
        let numbers = Int64Array::from_iter_values(from..from + rows);
        let texts: StringArray = (from..from + rows).map(|n| (n % 3 != 0).then(|| format!("text {n}"))).collect();
        let lines = UInt64Array::from_iter_values((from..from + rows).map(i64::unsigned_abs));
        RecordBatch::try_new(spooled_schema(&table), vec![Arc::new(numbers), Arc::new(texts), Arc::new(lines)]).unwrap()
    }

    fn fill(bound: usize) -> BTreeMap<usize, Spooled> {
        let mut spool = SpoolWriter::with_bound(bound);
        for i in 0..20 {
            spool.push(usize::from(i % 4 == 0), batch(i * 100, 100)).unwrap();
        }
        spool.finish().unwrap()
    }

    #[test]
    fn rows_come_back_the_same_from_memory_and_from_files_any_number_of_times() {
        let (memory, files) = (fill(usize::MAX), fill(30_000));
        for table in [0, 1] {
            assert!(matches!(memory[&table], Spooled::Memory(_)) && matches!(files[&table], Spooled::File { .. }));
            let wanted: Vec<_> = memory[&table].batches().unwrap().map(Result::unwrap).collect();
            for _ in 0..2 {
                let read: Vec<_> = files[&table].batches().unwrap().map(Result::unwrap).collect();
                assert_eq!(read, wanted);
            }
        }
    }

    #[test]
    fn rows_are_parted_from_their_lines() {
        let whole = batch(5, 3);
        let table = Arc::new(whole.schema().project(&[0, 1]).unwrap());
        let (rows, lines) = split_lines(&whole, &table).unwrap();
        assert_eq!((rows.num_columns(), rows.schema()), (2, table));
        assert_eq!(lines.values().as_ref(), &[5, 6, 7]);
    }
}
