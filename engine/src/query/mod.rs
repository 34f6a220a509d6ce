//! The query language: from a text to rows, and to changes.
//!
//! text → [`crate::syntax`] (its tree) → `bind` (names resolved, kinds known: [`bound`]) → `plan` (a `DataFusion` plan, patterns by operators of
//! our own) → `exec` (record batches) → `output`. Updates read by the same road, then work row by row in `update`.
//!
//! Invariants
//! 1. A statement sees one commit, and nothing of its own changes until its reads are over.
//! 2. A filter that is pushed into a table only leaves out rows that the condition, evaluated as Cypher has it, would leave out too.
//! 3. What is not supported is refused by the binder, by name and position; no later stage guesses.

pub(crate) mod arrow;
pub(crate) mod bind;
pub(crate) mod bound;
pub(crate) mod compile;
mod error;
pub(crate) mod eval;
pub(crate) mod exec;
pub(crate) mod fault;
pub(crate) mod kind;
pub(crate) mod layout;
pub(crate) mod memory;
mod output;
mod params;
mod plan;
mod properties;
mod run;
#[cfg(test)]
pub(crate) mod testing;
mod update;
mod value;
mod walk;

pub use error::QueryError;
pub use exec::error::QueryRunError;
pub use params::Params;
pub use properties::Properties;
pub use run::{QueryColumn, QueryRows};
pub use update::{RunReport, UpdateError};
pub use value::{CypherValue, EdgeValue, NodeValue};
