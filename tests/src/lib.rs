//! What the integration tests share.

pub mod cli;
pub mod conformance;
pub mod graphs;
pub mod world;
