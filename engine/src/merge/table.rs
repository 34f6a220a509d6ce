//! What a merge makes of one table, judged by the versions alone.

use super::choice::{Choice, choose, is_unmoved};
use crate::ids::TableId;
use crate::publish::Snapshot;
use crate::schema::TableDef;
use crate::table::TableVersion;

/// What one commit says of one table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TableState<'a> {
    /// The rows.
    pub(super) version: &'a TableVersion,
    /// What they mean and which rules they keep.
    pub(super) definition: &'a TableDef,
}

/// What a commit says of a table; nothing where its schema has no such table.
pub(super) fn state(at: &Snapshot, id: TableId) -> Option<TableState<'_>> {
    Some(TableState { version: at.table_version(id)?, definition: at.catalog.table_by_id(id)? })
}

/// What a merge makes of one table.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TableMerge {
    /// The target's version stays. `unmoved`: the source has what every base has, so the target's rows do not matter.
    Keep {
        /// Whether the source left the table as it was.
        unmoved: bool,
    },
    /// The source's version, as it is; none if the source dropped the table.
    TakeSource(Option<TableVersion>),
    /// Both sides changed the table: its rows are compared.
    BothMoved,
}

impl TableMerge {
    /// Decides on one table.
    pub(super) fn decide(source: &Snapshot, target: &Snapshot, bases: &[Snapshot], id: TableId) -> Self {
        let (s, t) = (state(source, id), state(target, id));
        let b: Vec<_> = bases.iter().map(|base| state(base, id)).collect();
        let version = |state: Option<TableState<'_>>| state.map(|state| state.version.clone());
        match choose(&s, &t, &b) {
            Choice::Keep => Self::Keep { unmoved: is_unmoved(&s, &b) },
            Choice::TakeSource => Self::TakeSource(version(s)),
            Choice::BothMoved => Self::BothMoved,
        }
    }
}
