//! A second opinion on queries: a small graph in memory, a small language over it, and an evaluator that does everything the simple way.
//!
//! It shares nothing with the engine but the JSON spelling of values. [`statement`] draws a query as a tree, which is written
//! as openCypher; [`evaluate`] answers it by trying all combinations.

mod dice;
mod evaluate;
mod generate;
mod graph;
mod syntax;
mod value;

pub use dice::Dice;
pub use evaluate::{Answer, evaluate};
pub use generate::statement;
pub use graph::{DDL, Edge, Node, SmallGraph};
pub use syntax::Query;
pub use value::Val;
