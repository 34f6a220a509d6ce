//! Changing the schema of a branch: planned against its rows, published as one commit.
//!
//! Invariants
//! 1. A step that touches no row writes no file of its table: versions are read under whatever schema a commit has, by column number.
//! 2. A new rule holds for all rows before the schema that has it is published: what was read to find that out is in the request's read
//!    set, so that a head on which it was not found out is evaluated anew.
//! 3. What goes is told before it does, and goes only if the caller allows it.
//! 4. A refusal writes nothing.
//!
//! Order of effects: plan on the head · read the rows that new rules or lost values concern · pass the schema gate alone · stage the
//! catalog, new tables and rewritten ones, side by side · publish. If another head is found, all of it begins anew behind the gate.
//!
//! What a crash leaves behind: what a publish does; a catalog that no record names is there for whoever asks for the same.

mod error;
mod graph;
mod report;
mod rewrite;
mod rules;
mod survey;
mod work;

pub use error::EvolveError;
pub use report::{PlannedSchema, PlannedStep, SchemaDiff, SchemaDifference, SchemaOptions, SchemaReport};
