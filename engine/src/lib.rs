//! Pleach: a branching property-graph store with concurrent merges, on object storage.

mod admission;
pub mod branch;
pub mod clock;
mod error;
mod evolve;
mod fsck;
mod graph;
pub mod ids;
mod lane;
pub mod log;
mod merge;
mod optimize;
mod publish;
mod query;
mod read;
pub mod record;
pub mod schema;
pub mod store;
mod syntax;
mod table;
#[cfg(test)]
mod testing;
pub mod value;
mod write;

pub use admission::{AdmissionError, Fullness, Occupancy};
pub use error::{Conflict, ConflictKind, Error, ErrorKind, RowName, SchemaClash, SchemaConflict};
pub use evolve::{EvolveError, PlannedSchema, PlannedStep, SchemaDiff, SchemaDifference, SchemaOptions, SchemaReport};
pub use fsck::{FsckProblem, FsckReport};
pub use graph::*;
pub use lane::LaneStats;
pub use merge::{
    Choice, MergeError, MergeOptions, MergeOutcome, MergePlan, MergeReport, MergeSide, MergeTimings, MergedTable,
    Resolution, Strategy,
};
pub use optimize::{OptimizeOptions, OptimizeReport, OptimizedTable};
pub use publish::PublishError;
pub use query::{
    CypherValue, EdgeValue, NodeValue, Params, Properties, QueryColumn, QueryError, QueryRows, QueryRunError,
    RunReport, UpdateError,
};
pub use read::ReadError;
pub use write::{LoadMode, LoadReport, Progress, Reason, Violation, Violations, Write, WriteError, WriteReport};

/// The guide for embedding; its example is a test.
#[cfg(doctest)]
#[doc = include_str!("../../docs/library.md")]
struct Guide;
