//! The one module that knows Lance: immutable table versions, staged side by side, named by records alone.

mod combine;
mod commit_handler;
mod compact;
mod create;
mod deletions;
mod delta;
mod error;
mod fold;
mod layout;
mod mapping;
mod open;
mod provider;
mod scan;
mod stage;
mod take;
#[cfg(test)]
pub(crate) mod tests;
mod verify;
mod warm;

use std::fmt;
use std::sync::Arc;

use arrow_array::RecordBatch;
use futures::stream::BoxStream;
use lance::Dataset;
use serde::{Deserialize, Serialize};

pub(crate) use combine::Combination;
pub(crate) use compact::Compaction;
pub(crate) use delta::{Delta, Spot};
#[cfg(test)]
pub(crate) use delta::{DeltaKind, KeyChange};
pub(crate) use error::TableError;
pub(crate) use layout::{Column, Layout, Role};
pub(crate) use open::Tables;
pub(crate) use scan::Scan;
pub(crate) use stage::{StagedVersion, TableWrite};

/// One immutable version of one table, as a record names it. What an older version of Pleach does not know of it must not be
/// lost when that version carries it on to the next record, so unknown fields are refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableVersion {
    /// Lance's detached version number, at least 2^63; a string in JSON.
    #[serde(with = "crate::record::u64_string")]
    pub version: u64,
    /// Bytes of the manifest.
    pub size: u64,
    /// The manifest's e-tag: one constant text per version.
    pub e_tag: String,
    /// Live rows.
    pub rows: u64,
}

/// Rows as they are read or written.
pub(crate) type BatchStream = BoxStream<'static, Result<RecordBatch, TableError>>;

/// An open table version, read and written under one layout. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Table {
    tables: Tables,
    layout: Arc<Layout>,
    version: TableVersion,
    dataset: Arc<Dataset>,
    mapping: Arc<mapping::Mapping>,
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Table({}, version {})", self.layout.table.id, self.version.version)
    }
}

impl Table {
    /// The column of a property in the layout that the table was opened with.
    pub(crate) fn column_of(&self, property: crate::ids::PropertyId) -> Option<usize> {
        self.layout.property(property)
    }

    /// Live rows.
    pub(crate) fn rows(&self) -> u64 {
        self.version.rows
    }
}

#[cfg(test)]
impl Table {
    /// The layout that the table was opened with.
    fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// The version, as the record names it.
    fn version(&self) -> &TableVersion {
        &self.version
    }
}
