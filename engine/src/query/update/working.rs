//! The rows that an updating statement works on: one value for each variable.

use std::collections::HashMap;

use crate::query::CypherValue;
use crate::query::bound::VarId;
use crate::query::memory::weight;

use super::overlay::Overlay;

/// Rows and the variables that are their columns.
#[derive(Debug, Default)]
pub(super) struct Working {
    columns: usize,
    places: HashMap<VarId, usize>,
    rows: Vec<Row>,
    /// What was put into rows after they were made.
    bytes: usize,
}

#[derive(Debug)]
struct Row {
    values: Vec<CypherValue>,
    /// Up to which change of the overlay its nodes and edges are up to date.
    seen: u64,
}

impl Working {
    /// `rows` have one value for each of `columns`, in order.
    pub(super) fn new(columns: &[VarId], rows: Vec<Vec<CypherValue>>) -> Self {
        let places = columns.iter().enumerate().map(|(place, var)| (*var, place)).collect();
        let rows = rows.into_iter().map(|values| Row { values, seen: 0 }).collect();
        Self { columns: columns.len(), places, rows, bytes: 0 }
    }

    /// About how many bytes were put into rows after they were made; it never grows less.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The value of a variable in row `at`; null for one that the row does not have.
    pub(super) fn value(&self, at: usize, var: VarId) -> &CypherValue {
        let value = self.places.get(&var).and_then(|place| self.rows.get(at)?.values.get(*place));
        value.unwrap_or(&CypherValue::NULL)
    }

    /// Gives a variable its value in row `at`; in other rows one that is new is null until it is set there.
    pub(super) fn set(&mut self, at: usize, var: VarId, value: CypherValue) {
        let columns = &mut self.columns;
        let place = *self.places.entry(var).or_insert_with(|| {
            *columns += 1;
            *columns - 1
        });
        let Some(Row { values, .. }) = self.rows.get_mut(at) else { return };
        if values.len() <= place {
            values.resize(place + 1, CypherValue::NULL);
        }
        if let Some(slot) = values.get_mut(place) {
            self.bytes += weight(&value);
            *slot = value;
        }
    }

    /// Brings the nodes and edges of row `at` to what has become of them.
    pub(super) fn refresh(&mut self, at: usize, overlay: &Overlay) {
        if let Some(row) = self.rows.get_mut(at)
            && row.seen < overlay.changes()
        {
            row.values.iter_mut().for_each(|value| overlay.refresh(value, row.seen));
            row.seen = overlay.changes();
        }
    }

    /// The rows with these columns alone.
    pub(super) fn into_rows(self, columns: &[VarId]) -> Vec<Vec<CypherValue>> {
        let places: Vec<Option<usize>> = columns.iter().map(|column| self.places.get(column).copied()).collect();
        let take = |mut row: Row| {
            let value = |place: &Option<usize>| {
                let slot = place.and_then(|place| row.values.get_mut(place));
                slot.map_or(CypherValue::NULL, |slot| std::mem::replace(slot, CypherValue::NULL))
            };
            places.iter().map(value).collect()
        };
        self.rows.into_iter().map(take).collect()
    }
}
