//! Writes by key.

mod concurrent;
mod constraints;
mod faults;
mod keyed;
mod model;
mod reopen;
