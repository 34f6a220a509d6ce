//! All integration tests, in one binary: linking a second one would cost more than it tells.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, in its helpers too")]

mod budgets;
mod chaos;
mod cli;
mod durability;
mod files;
mod fsck;
mod history;
mod lane;
mod load;
mod log;
mod memory;
mod merge;
mod optimize;
mod proxy;
mod query;
mod s3;
mod schema;
mod store;
mod write;
