//! Macro-benchmarks.

fn main() {}
