//! Looking for the rows of a table that have the keys of some rows of a plan.

use arrow_array::{Array as _, ArrayRef, RecordBatch, StructArray};
use arrow_buffer::BooleanBuffer;
use arrow_schema::DataType;
use datafusion::common::plan_err;
use datafusion::error::DataFusionError;
use datafusion::logical_expr::Expr;

use super::keys::{KeyBytes, KeyIndex, Part, Parts, key_filter, read_parts};
use super::reader::Structs;
use crate::query::layout::EntityLayout;
use crate::query::plan::expand::{Arm, ExpandSpec, Guard};

/// Different keys that are looked for by a filter.
const FEW_KEYS: usize = 1_000;

/// The rows of one arm's keys, to be held against a table.
pub(super) struct Search {
    parts: Parts,
    index: KeyIndex,
    bytes: KeyBytes,
    /// The fields that are held against the keys, with the names and types of their stored columns.
    probe: Vec<(usize, String, DataType)>,
    unless_equal: Option<Ends>,
}

/// The fields that bear the keys of both ends of edges of which those from a node to itself are left out.
struct Ends {
    left: Vec<usize>,
    right: Vec<usize>,
    bytes: KeyBytes,
}

impl Search {
    pub(super) fn new(
        spec: &ExpandSpec,
        arm: &Arm,
        probe: &[usize],
        unless_equal: Option<&(Vec<usize>, Vec<usize>)>,
        rows: &RecordBatch,
    ) -> Result<Self, DataFusionError> {
        let Some((_, table)) = spec.entity.of_table(arm.table) else {
            return plan_err!("an arm leads to a table that its entity does not have");
        };
        let stored = |field: usize| {
            let described = table.fields.iter().find(|described| described.field == field)?;
            let column = table.layout.columns.get(described.column)?;
            Some((field, column.name.clone(), table.layout.arrow.field(described.column).data_type().clone()))
        };
        let Some(probe) = probe.iter().map(|field| stored(*field)).collect::<Option<Vec<_>>>() else {
            return plan_err!("an arm asks for a field that its table does not have");
        };
        let parts = guarded(arm, rows)?;
        let bytes = KeyBytes::new(types_of(&spec.entity, probe.iter().map(|(field, ..)| *field)))?;
        let index = KeyIndex::new(&parts, &bytes)?;
        let unless_equal = match unless_equal.cloned() {
            None => None,
            Some((left, right)) => {
                let bytes = KeyBytes::new(types_of(&spec.entity, left.iter().copied()))?;
                Some(Ends { left, right, bytes })
            }
        };
        Ok(Self { parts, index, bytes, probe, unless_equal })
    }

    /// How many different keys there are.
    pub(super) fn keys(&self) -> usize {
        self.index.len()
    }

    /// Bytes that it holds, about.
    pub(super) const fn held(&self) -> usize {
        self.index.held()
    }

    /// Begins to read what may have the keys.
    pub(super) fn read(&self, spec: &ExpandSpec, arm: &Arm, filter: Option<Expr>) -> Result<Structs, DataFusionError> {
        let by_key = if self.index.len() <= FEW_KEYS {
            let columns: Vec<_> = self.probe.iter().map(|(_, name, ty)| (name.clone(), ty.clone())).collect();
            key_filter(&self.index, &self.parts, &columns)?
        } else {
            None
        };
        let filter = match (by_key, filter) {
            (Some(by_key), Some(filter)) => Some(by_key.and(filter)),
            (by_key, filter) => by_key.or(filter),
        };
        Ok(spec.reader.read(&spec.entity, arm.table, filter, None))
    }

    /// Which rows belong to which of what was read.
    pub(super) fn pairs(&self, structs: &StructArray) -> Result<(Vec<u32>, Vec<u32>), DataFusionError> {
        let columns = |fields: &mut dyn Iterator<Item = usize>| -> Vec<ArrayRef> {
            fields.filter_map(|field| structs.columns().get(field).cloned()).collect()
        };
        let keys = columns(&mut self.probe.iter().map(|(field, ..)| *field));
        let keys = self.bytes.rows(&keys)?;
        let excepted = match &self.unless_equal {
            None => None,
            Some(Ends { left, right, bytes }) => Some((
                bytes.rows(&columns(&mut left.iter().copied()))?,
                bytes.rows(&columns(&mut right.iter().copied()))?,
            )),
        };
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for row in 0..structs.len() {
            if excepted.as_ref().is_some_and(|(a, b)| a.row(row) == b.row(row)) {
                continue;
            }
            let Ok(number) = u32::try_from(row) else { break };
            for of in self.index.rows_of(keys.row(row).data()) {
                left.push(of);
                right.push(number);
            }
        }
        Ok((left, right))
    }
}

/// The keys of the rows that an arm is for.
pub(super) fn guarded(arm: &Arm, rows: &RecordBatch) -> Result<Parts, DataFusionError> {
    let mut parts = read_parts(rows, &arm.source)?;
    for guard in &arm.guards {
        parts.present = &parts.present & &holds(guard, rows)?;
    }
    Ok(parts)
}

/// Which rows a guard lets pass. A row that lacks one of the keys passes if they must differ.
pub(crate) fn holds(guard: &Guard, rows: &RecordBatch) -> Result<BooleanBuffer, DataFusionError> {
    let read = |parts: &[Part]| read_parts(rows, parts);
    let (left, right) = (read(&guard.left)?, read(&guard.right)?);
    let types = |parts: &Parts| parts.arrays.iter().map(|array| array.data_type().clone()).collect::<Vec<_>>();
    if left.arrays.is_empty() || types(&left) != types(&right) {
        return Ok(if guard.equal {
            BooleanBuffer::new_unset(rows.num_rows())
        } else {
            BooleanBuffer::new_set(rows.num_rows())
        });
    }
    let bytes = KeyBytes::new(types(&left))?;
    let (a, b) = (bytes.rows(&left.arrays)?, bytes.rows(&right.arrays)?);
    let both = &left.present & &right.present;
    Ok(BooleanBuffer::collect_bool(rows.num_rows(), |row| (both.value(row) && a.row(row) == b.row(row)) == guard.equal))
}

fn types_of(entity: &EntityLayout, fields: impl Iterator<Item = usize>) -> Vec<DataType> {
    fields.filter_map(|field| entity.fields.get(field)).map(|field| field.data_type().clone()).collect()
}
