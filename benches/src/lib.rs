//! What the benchmarks share: inputs made from a seed, and figures of the process.

pub mod figures;
pub mod input;
pub mod place;
pub mod process;
