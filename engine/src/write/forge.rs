//! Rows for tests that go around the rules.

use std::sync::Arc;

use arrow_array::RecordBatch;

use crate::ids::ChangeId;
use crate::write::chunk::Chunk;
use crate::write::facts::What;
use crate::write::jsonl::{EdgeIds, LineParser};
use crate::write::shape::Shapes;
use crate::write::spool::split_lines;
use crate::write::violation::Violations;

/// The rows of `lines`, whatever rules they break.
pub(crate) fn rows(shapes: &Shapes, lines: &str, change: ChangeId) -> Vec<RecordBatch> {
    let source: Arc<str> = "forged".into();
    let parser = LineParser { shapes, source: &source, ids: EdgeIds::new(ulid::Ulid(7)) };
    let mut chunk = Chunk::default();
    for (number, line) in (1..).zip(lines.lines()) {
        let parsed = parser.parse(number, line.as_bytes(), &mut Violations::default()).unwrap();
        chunk.add(shapes, number, What::Insert, &parsed, change);
    }
    let batches = chunk.take_batches(shapes).unwrap().into_iter();
    batches.map(|(table, batch)| split_lines(&batch, &shapes.tables[table].layout.arrow).unwrap().0).collect()
}
