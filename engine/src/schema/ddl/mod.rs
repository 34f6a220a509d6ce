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
mod wanted;

use std::collections::HashSet;

pub use print::print_ddl;

pub(super) use literal::from_json as literal_text;
pub(super) use print::{multiplicity_word, policy_word, with_current_names};
pub(super) use wanted::{PropertyPlaces, TablePlaces, Wanted, parse_wanted};

use super::error::ddl_error;
use super::{Catalog, SchemaError};
use crate::clock::Clock;
use crate::syntax::Finding;

/// Reads DDL into a catalog with fresh ids drawn from `clock`.
///
/// Ids of tables rise in the order of declaration, which is therefore the order of the catalog.
///
/// # Errors
/// [`SchemaError::Ddl`] with everything that is wrong.
pub fn parse_ddl(text: &str, clock: &Clock) -> Result<Catalog, SchemaError> {
    let (tables, mut findings) = parser::parse(text);
    validate::validate(&tables, &mut findings);
    let renamed =
        tables.iter().flat_map(|table| table.renamed.iter().chain(table.columns.iter().flat_map(|c| &c.renamed)));
    findings.extend(renamed.map(|name| {
        Finding::new(name.span, format!("there is nothing yet that was called `{}`", name.value))
            .with_help("leave RENAMED FROM out of the first schema of a graph")
    }));
    if findings.is_empty() { Ok(build::build(&tables, HashSet::new(), clock)) } else { Err(ddl_error(text, findings)) }
}

#[cfg(test)]
mod tests;
