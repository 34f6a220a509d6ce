//! The schema language: `CREATE NODE TABLE` and `CREATE REL TABLE`, as the state that is wanted.

mod ast;
mod build;
mod item;
mod literal;
mod names;
mod parser;
mod print;
mod typ;
mod validate;

pub use print::print_ddl;

use super::error::ddl_error;
use super::{Catalog, SchemaError};
use crate::clock::Clock;

/// Reads DDL into a catalog with fresh ids drawn from `clock`.
///
/// Ids of tables rise in the order of declaration, which is therefore the order of the catalog.
///
/// # Errors
/// [`SchemaError::Ddl`] with everything that is wrong.
pub fn parse_ddl(text: &str, clock: &Clock) -> Result<Catalog, SchemaError> {
    let (tables, mut findings) = parser::parse(text);
    validate::validate(&tables, &mut findings);
    if findings.is_empty() { Ok(build::build(&tables, clock)) } else { Err(ddl_error(text, findings)) }
}

#[cfg(test)]
mod tests;
