//! A model of branches and merges that does all of it the simple way: whole states in memory, history as a list of commits.

pub(crate) mod history;
pub(crate) mod schema;
pub(crate) mod state;
pub(crate) mod three_way;

pub(crate) use history::History;
pub(crate) use state::{Conflict, Key, Kind, PROPERTIES, Row, SCHEMA, State};
