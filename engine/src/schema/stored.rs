//! The stored form of a catalog: canonical JSON, named by its sha256.
//!
//! Equal catalogs have equal bytes, and only those bytes are read back, so a hash names one catalog.

use serde::{Deserialize, Serialize};

use super::{Catalog, SchemaError, SchemaHash, TableDef, TableKind};

/// The format that is written, and the only one that is read.
const FORMAT: u64 = 1;

#[derive(Serialize)]
struct Written<'a> {
    format: u64,
    tables: &'a [TableDef],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    #[serde(rename = "format")]
    _format: u64,
    tables: Vec<TableDef>,
}

/// Only what tells whether the rest can be understood.
#[derive(Deserialize)]
struct Probe {
    format: u64,
}

/// The stored form of a catalog and its name.
///
/// # Panics
/// Never: a catalog has nothing that JSON could not spell.
#[must_use]
pub fn encode_catalog(catalog: &Catalog) -> (Vec<u8>, SchemaHash) {
    let bytes = serde_json::to_vec(&Written { format: FORMAT, tables: &catalog.tables })
        .expect("strings, numbers and lists always serialize");
    let hash = SchemaHash::of(&bytes);
    (bytes, hash)
}

/// Reads the stored form of a catalog.
///
/// # Errors
/// [`SchemaError::Format`] for another format, [`SchemaError::Decode`] for anything unknown or missing,
/// [`SchemaError::Damaged`] for bytes that `encode_catalog` would not write.
pub fn decode_catalog(bytes: &[u8]) -> Result<Catalog, SchemaError> {
    let decode = |source| SchemaError::Decode { source };
    let probe: Probe = serde_json::from_slice(bytes).map_err(decode)?;
    if probe.format != FORMAT {
        return Err(SchemaError::Format { found: probe.format, known: FORMAT });
    }
    let read: Read = serde_json::from_slice(bytes).map_err(decode)?;
    let catalog = Catalog { tables: read.tables };
    if encode_catalog(&catalog).0 != bytes {
        return Err(damaged("it is not written in the canonical form"));
    }
    check_references(&catalog)?;
    Ok(catalog)
}

fn damaged(reason: impl Into<String>) -> SchemaError {
    SchemaError::Damaged { reason: reason.into() }
}

/// Whether every id that is mentioned is defined, and the tables stand in the order of their ids.
fn check_references(catalog: &Catalog) -> Result<(), SchemaError> {
    if !catalog.tables.is_sorted_by(|a, b| a.id < b.id) {
        return Err(damaged("its tables are not in the order of their ids"));
    }
    for table in &catalog.tables {
        let mentioned = table
            .key
            .iter()
            .chain(table.unique.iter().flatten())
            .chain(table.checks.iter().flat_map(|check| &check.properties));
        for property in mentioned {
            if table.property_by_id(*property).is_none() {
                return Err(damaged(format!("table `{}` mentions a property {property} that it lacks", table.name)));
            }
        }
        if let TableKind::Edge { from, to, from_fields, to_fields, .. } = &table.kind {
            for (end, fields) in [(from, from_fields), (to, to_fields)] {
                match catalog.table_by_id(*end) {
                    Some(node) if node.is_node() && node.key.len() == fields.len() => {}
                    _ => return Err(damaged(format!("an end of edge table `{}` is no node table", table.name))),
                }
            }
        }
    }
    Ok(())
}
