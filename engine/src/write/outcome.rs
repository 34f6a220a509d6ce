//! What a write or a load came to, now or when its request was sent before.

use crate::graph::ChangeInfo;

use super::Counts;

/// What happened to each table, and whether it had happened before.
pub(super) struct Outcome {
    pub(super) tables: Counts,
    pub(super) repeated: bool,
}

impl Outcome {
    /// What was just done.
    pub(super) const fn now(tables: Counts) -> Self {
        Self { tables, repeated: false }
    }

    /// What an earlier request of the same id did.
    pub(super) fn before(change: &ChangeInfo) -> Self {
        Self { tables: change.tables.clone(), repeated: true }
    }
}
