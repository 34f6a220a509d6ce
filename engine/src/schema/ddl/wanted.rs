//! A schema text as the state that an existing schema is to get: with the names that its parts had before, and where they stand.

use std::collections::HashSet;

use super::ast::{At, Column, Name, Table};
use super::{build, parser, validate};
use crate::clock::Clock;
use crate::ids::FieldId;
use crate::schema::error::ddl_error;
use crate::schema::{Catalog, SchemaError};
use crate::syntax::Span;

/// What a text asks for. All ids are new; which of them stand for what is there already is not known yet.
#[derive(Debug)]
pub(in crate::schema) struct Wanted {
    pub catalog: Catalog,
    /// For each table of the catalog.
    pub tables: Vec<TablePlaces>,
}

/// Where the parts of a table stand.
#[derive(Debug)]
pub(in crate::schema) struct TablePlaces {
    pub name: Span,
    /// What it is called now, and where that stands.
    pub renamed: Option<(String, Span)>,
    /// Its key, or else its name.
    pub key: Span,
    /// Its ends, or else its name.
    pub ends: Span,
    /// For each property of the table.
    pub properties: Vec<PropertyPlaces>,
}

/// Where the parts of a property stand.
#[derive(Debug)]
pub(in crate::schema) struct PropertyPlaces {
    /// What it is called now, and where that stands.
    pub renamed: Option<(String, Span)>,
    pub ty: Span,
}

/// Reads a text. No physical column gets a number of `taken`.
///
/// # Errors
/// [`SchemaError::Ddl`] with everything that is wrong.
pub(in crate::schema) fn parse_wanted(
    text: &str,
    taken: HashSet<FieldId>,
    clock: &Clock,
) -> Result<Wanted, SchemaError> {
    let (tables, mut findings) = parser::parse(text);
    validate::validate(&tables, &mut findings);
    if !findings.is_empty() {
        return Err(ddl_error(text, findings));
    }
    Ok(Wanted { catalog: build::build(&tables, taken, clock), tables: tables.iter().map(places).collect() })
}

fn places(table: &Table) -> TablePlaces {
    let or_name = |span: Option<Span>| span.unwrap_or(table.name.span);
    TablePlaces {
        name: table.name.span,
        renamed: before(table.renamed.as_ref()),
        key: or_name(table.keys.first().map(|key| key.span)),
        ends: or_name(table.ends.first().map(|ends| ends.span)),
        properties: table.columns.iter().filter_map(property).collect(),
    }
}

fn property(column: &Column) -> Option<PropertyPlaces> {
    let ty = column.ty.as_ref()?.span;
    Some(PropertyPlaces { renamed: before(column.renamed.as_ref()), ty })
}

fn before(name: Option<&Name>) -> Option<(String, Span)> {
    name.map(|At { value, span }| (value.clone(), *span))
}
