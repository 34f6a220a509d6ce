//! What a query gives its caller: record batches with columns that a stranger can read, values, and values as JSON.

mod columns;
mod json;

pub(crate) use columns::Columns;
