//! From one schema to the next: which table and property of a text is which of the present schema, and what that changes.
//!
//! Pure decisions; nothing here knows of rows but how many a table has. The wanted text is a state, so what is to be done is what differs
//! between two catalogs, told by identity: [`compare_schemas`] finds it between any two of them.

mod adopt;
mod change;
mod compare;
mod describe;
mod items;
mod rename;
#[cfg(test)]
mod tests;
mod widen;

use std::collections::HashSet;

pub use change::{PropertyName, SchemaChange, SchemaStep, StepClass};
pub use compare::compare_schemas;
pub(crate) use items::tokens as check_words;
pub(crate) use widen::{Fit, fit, widened};

use super::ddl::parse_wanted;
use super::error::change_error;
use super::{Catalog, SchemaError, TableKind};
use crate::clock::Clock;
use crate::ids::{FieldId, TableId};

/// How a schema becomes the one that a text asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaPlan {
    /// What changes, in the order it is told: tables of the new schema in its order, then tables that go. Empty: nothing does.
    pub steps: Vec<SchemaStep>,
    /// The schema afterwards.
    pub schema: Catalog,
}

/// Plans how `current` becomes what `text` asks for. `rows` tells how many rows a table has; ids of what is new are drawn from
/// `clock`.
///
/// # Errors
/// [`SchemaError::Ddl`] for a text that is no schema, [`SchemaError::Change`] for changes that cannot be done in place, all of them.
pub fn plan_schema(
    current: &Catalog,
    text: &str,
    rows: impl Fn(TableId) -> u64,
    clock: &Clock,
) -> Result<SchemaPlan, SchemaError> {
    let wanted = parse_wanted(text, columns(current), clock)?;
    let schema = adopt::adopt(current, wanted, &rows).map_err(|findings| change_error(text, findings))?;
    let steps = compare_schemas(current, &schema);
    // A text that only spells it otherwise leaves the schema as it is, to the byte.
    let schema = if steps.is_empty() { current.clone() } else { schema };
    Ok(SchemaPlan { steps, schema })
}

/// The numbers of all physical columns.
fn columns(catalog: &Catalog) -> HashSet<FieldId> {
    let mut columns = HashSet::new();
    for table in &catalog.tables {
        columns
            .extend(table.properties.iter().flat_map(|property| [Some(property.field), property.item_field]).flatten());
        if let TableKind::Edge { from_fields, to_fields, .. } = &table.kind {
            columns.extend(from_fields.iter().chain(to_fields));
        }
    }
    columns
}
