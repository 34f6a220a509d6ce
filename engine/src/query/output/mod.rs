//! What a query gives its caller: record batches with columns that a stranger can read, values, and values as JSON.

mod columns;
mod json;
mod looks;

pub(crate) use columns::Columns;
pub(crate) use looks::Looks;
