//! Statements that change the graph: their effects are done row by row over a layer of changes, then judged and written as any other write.

mod apply;
mod assign;
mod create;
mod error;
mod evaluator;
mod fault;
mod fetch;
mod overlay;
mod property;
mod reads;
mod rows;
mod run;
#[cfg(test)]
mod tests;
mod uses;
mod work;
mod working;

pub use error::UpdateError;
pub use run::RunReport;
