//! Loading and exporting.

mod defaults;
mod input;
mod modes;
mod round_trip;
mod types;
