//! What the integration tests share.

pub mod cli;
pub mod conformance;
pub mod gateway;
pub mod graphs;
pub mod http;
pub mod oracle;
pub mod proxy;
pub mod rig;
pub mod world;
