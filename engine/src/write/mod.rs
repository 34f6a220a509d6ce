//! Writing: loads and writes by key, judged by all rules of the schema before anything is staged.
//!
//! An input is read once into typed rows and small *facts* about them (a row has this key, an edge needs this node). An evaluation
//! looks up what a snapshot says about the same digests, groups all facts by digest and decides on the groups. The same path serves
//! one row and a hundred million, and a node with all their edges: facts and rows go to temporary files when they outgrow memory.

pub(crate) mod chunk;
mod decide;
mod error;
mod evaluate;
pub(crate) mod external;
pub(crate) mod facts;
mod findings;
pub(crate) mod footprint;
#[cfg(test)]
pub(crate) mod forge;
pub(crate) mod groups;
mod hashed;
pub(crate) mod input;
mod jsonl;
mod keyed;
mod load;
pub(crate) mod lookup;
mod outcome;
pub(crate) mod pool;
pub(crate) mod row;
pub(crate) mod shape;
pub(crate) mod spill;
mod spool;
mod stage;
#[cfg(test)]
mod tests;
mod typed;
pub(crate) mod violation;

pub use error::WriteError;
pub use keyed::{Write, WriteReport};
pub use load::{LoadMode, LoadReport, Progress};
use outcome::Outcome;
pub use violation::{Reason, Violation, Violations};

pub(crate) use chunk::rows_of_changes;
pub(crate) use evaluate::{Counts, Refused, Verdict, judge, read_set};
pub(crate) use jsonl::{EdgeIds, broken_checks};
pub(crate) use keyed::read_key;
pub(crate) use stage::stage_all;
pub(crate) use typed::{TypedOperation, typed_input};
