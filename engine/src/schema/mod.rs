//! Schemas: types, the catalog, the language they are written in and the conditions they set.

mod catalog;
mod check;
mod ddl;
mod error;
mod evolve;
mod hash;
mod json_text;
mod stored;
mod types;

pub use catalog::{Catalog, CheckDef, MergePolicy, Multiplicity, OnMerge, PropertyDef, TableDef, TableKind};
pub(crate) use check::Check;
pub use ddl::{parse_ddl, print_ddl};
pub use error::SchemaError;
pub(crate) use evolve::{Fit, check_words, fit, widened};
pub use evolve::{PropertyName, SchemaChange, SchemaPlan, SchemaStep, StepClass, compare_schemas, plan_schema};
pub use hash::SchemaHash;
pub use json_text::JsonText;
pub use stored::{decode_catalog, encode_catalog};
pub use types::Type;

pub use crate::syntax::Problem;

#[cfg(test)]
mod tests;
