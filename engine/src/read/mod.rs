//! Reading whole rows: one by its key, or all of them as JSON Lines.

mod error;
mod export;
mod get;
mod line;
mod sort;

pub use error::ReadError;

pub(crate) use line::{write_line, write_properties};
