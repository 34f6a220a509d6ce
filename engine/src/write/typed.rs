//! Writes whose rows are typed already: what a statement of the query language came to.

use std::sync::Arc;

use crate::error::Error;
use crate::ids::ChangeId;
use crate::value::Value;
use crate::write::WriteError;
use crate::write::chunk::Chunk;
use crate::write::facts::What;
use crate::write::input::{Input, InputBuilder, Numbering};
use crate::write::jsonl::{Parsed, break_rules_alone};
use crate::write::row::Row;
use crate::write::shape::Shapes;

/// Rows that are turned into columns at a time.
const ROWS_AT_A_TIME: usize = 8 * 1024;

/// One operation on one row. They take effect one after another, as those of a [`Write`](crate::Write) do.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TypedOperation {
    /// Puts a row.
    Put {
        /// The index of its table.
        table: usize,
        /// All of it.
        row: Row,
        /// Refused if its key exists by then; else the row replaces the one with its key.
        new: bool,
        /// Its edge id was drawn just now: no stored row can have it.
        fresh: bool,
    },
    /// Deletes the row with this key, if there is one by then.
    Delete {
        /// The index of the table.
        table: usize,
        /// One value for each key column.
        key: Vec<Value>,
        /// Of a node: with all edges that it has by then.
        detach: bool,
    },
    /// Does nothing; keeps the numbers of the others.
    Nothing,
}

/// Operations as an input: the same however often it is evaluated. The line of a violation is the number of the operation, counted from 1.
///
/// # Errors
/// If temporary files cannot be written.
pub(crate) async fn typed_input(
    shapes: &Arc<Shapes>,
    source: &str,
    change: ChangeId,
    operations: Vec<TypedOperation>,
) -> Result<Arc<Input>, Error> {
    let builder = InputBuilder::new(shapes.clone(), source.into(), change);
    let source: Arc<str> = source.into();
    let gathering = tokio::task::spawn_blocking(move || gather(builder, &source, change, operations));
    let died = |e: tokio::task::JoinError| WriteError::BrokenOff {
        source_name: "the statement".into(),
        reason: e.to_string(),
    };
    Ok(Arc::new(gathering.await.map_err(died)??))
}

fn gather(
    mut builder: InputBuilder,
    source: &Arc<str>,
    change: ChangeId,
    operations: Vec<TypedOperation>,
) -> Result<Input, WriteError> {
    let shapes = builder.shapes().clone();
    let mut chunk = Chunk::default();
    let mut rows = 0;
    for (number, operation) in (1..).zip(operations) {
        match operation {
            TypedOperation::Put { table, row, new, fresh } => {
                let Some(shape) = shapes.tables.get(table) else { continue };
                break_rules_alone(source, number, shape, &row, &mut chunk.violations);
                let what = if new { What::Insert } else { What::Upsert };
                chunk.add(&shapes, number, what, &Parsed { table, row, fresh }, change);
            }
            TypedOperation::Delete { table, key, detach } => chunk.delete(&shapes, number, table, &key, detach),
            TypedOperation::Nothing => {}
        }
        rows += 1;
        if rows >= ROWS_AT_A_TIME {
            builder.add(std::mem::take(&mut chunk))?;
            rows = 0;
        }
    }
    builder.add(chunk)?;
    builder.finish_numbered(false, Numbering::Statement)
}
