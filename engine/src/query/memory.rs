//! Memory that no operator of a plan counts: the values that expressions make, the rows that a statement changes. All of it comes out of
//! what the graph's queries may have together, and there is an error where that does not suffice.

use std::sync::Arc;

use datafusion::error::DataFusionError;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};

use super::value::CypherValue;
use crate::value::Value;
use crate::write::row::Row;

/// Bytes that need not be accounted for at once: asking the pool takes a lock that all threads share.
const STEP: usize = 256 << 10;

/// The memory that queries have together.
#[derive(Debug, Clone)]
pub(crate) struct Memory(Arc<dyn MemoryPool>);

impl Memory {
    pub(crate) fn new(pool: Arc<dyn MemoryPool>) -> Self {
        Self(pool)
    }

    /// An empty account for `what`.
    pub(crate) fn account(&self, what: &str) -> Account {
        Account { reservation: MemoryConsumer::new(what).register(&self.0), pending: 0 }
    }
}

/// What is held for one purpose; all of it is given back when this is dropped.
#[derive(Debug)]
pub(crate) struct Account {
    reservation: MemoryReservation,
    /// Held, but not told the pool yet.
    pending: usize,
}

impl Account {
    /// Holds so many bytes more.
    ///
    /// # Errors
    /// [`DataFusionError::ResourcesExhausted`] if there is not as much memory.
    pub(crate) fn hold(&mut self, bytes: usize) -> Result<(), DataFusionError> {
        self.pending = self.pending.saturating_add(bytes);
        if self.pending >= STEP {
            self.reservation.try_grow(std::mem::take(&mut self.pending))?;
        }
        Ok(())
    }
}

/// About how many bytes a value takes in memory.
pub(crate) fn weight(value: &CypherValue) -> usize {
    let inner = match value {
        CypherValue::Scalar(value) => return size_of::<CypherValue>() + beside(value),
        CypherValue::List(items) => items.iter().map(weight).sum(),
        CypherValue::Map(entries) => entries.iter().map(|(name, value)| name_weight(name) + weight(value)).sum(),
        CypherValue::Node(node) => {
            name_weight(&node.label)
                + node.properties.iter().map(|(name, value)| name_weight(name) + weight(value)).sum::<usize>()
        }
        CypherValue::Edge(edge) => {
            let ends = edge.from.iter().chain(&edge.to).map(value_weight).sum::<usize>();
            let properties = edge.properties.iter().map(|(name, value)| name_weight(name) + weight(value));
            name_weight(&edge.label) + ends + properties.sum::<usize>()
        }
    };
    size_of::<CypherValue>() + inner
}

/// About how many bytes rows of values take in memory.
pub(crate) fn rows_weight(rows: &[Vec<CypherValue>]) -> usize {
    rows.iter().map(|row| size_of::<Vec<CypherValue>>() + row.iter().map(weight).sum::<usize>()).sum()
}

/// About how many bytes a row of a table takes in memory.
pub(crate) fn row_weight(row: &Row) -> usize {
    let values = row.from.iter().chain(&row.to).chain(&row.edge_id).chain(&row.properties);
    size_of::<Row>() + values.map(value_weight).sum::<usize>()
}

fn name_weight(name: &str) -> usize {
    size_of::<String>() + name.len()
}

fn value_weight(value: &Value) -> usize {
    size_of::<Value>() + beside(value)
}

/// What a value takes beside itself.
fn beside(value: &Value) -> usize {
    match value {
        Value::String(text) | Value::Json(text) => text.len(),
        Value::Blob(bytes) => bytes.len(),
        Value::List(items) => items.iter().map(value_weight).sum(),
        Value::Vector(items) => size_of_val(items.as_slice()),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use datafusion::execution::memory_pool::GreedyMemoryPool;

    use super::*;

    #[test]
    fn what_is_held_comes_out_of_the_pool_and_is_given_back() {
        let pool: Arc<dyn MemoryPool> = Arc::new(GreedyMemoryPool::new(4 * STEP));
        let memory = Memory::new(pool.clone());
        let mut one = memory.account("one");
        one.hold(STEP / 2).unwrap();
        assert_eq!(pool.reserved(), 0, "little is not told");
        one.hold(STEP).unwrap();
        assert_eq!(pool.reserved(), 3 * STEP / 2);
        let refused = memory.account("other").hold(4 * STEP).unwrap_err();
        assert!(matches!(refused, DataFusionError::ResourcesExhausted(_)), "{refused}");
        drop(one);
        assert_eq!(pool.reserved(), 0);
    }

    #[test]
    fn a_value_weighs_at_least_what_it_holds() {
        let text = CypherValue::from("x".repeat(1000));
        assert!(weight(&text) >= 1000);
        let list = CypherValue::List(vec![text; 10]);
        assert!(weight(&list) >= 10_000 && rows_weight(&[vec![list.clone(), list]]) >= 20_000);
        let row = Row { properties: vec![Value::Vector(vec![0.0; 100])], ..Row::default() };
        assert!(row_weight(&row) >= 400);
    }
}
