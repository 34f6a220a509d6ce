//! What a merge makes of one table, judged by the versions and definitions alone.

use super::plan::Sides;
use super::schemas::{Schemas, TableState};
use crate::schema::TableDef;
use crate::table::TableVersion;

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
    /// Both sides changed the table, or the rows of a side have to be looked at under a definition that is not their own: they are compared.
    BothMoved,
}

impl TableMerge {
    /// Decides on one table of the merged schema.
    pub(super) fn decide(sides: &Sides, schemas: &Schemas, merged: &TableDef) -> Self {
        let state = |at| schemas.state(at, merged.id);
        let bases: Vec<Option<TableState<'_>>> = sides.bases.iter().map(state).collect();
        let (source, target) = match (state(&sides.source), state(&sides.target)) {
            (Some(source), Some(target)) => (source, target),
            (Some(source), None) => return Self::TakeSource(Some(source.version.clone())),
            (None, _) => return Self::Keep { unmoved: !bases.is_empty() && bases.iter().all(Option::is_none) },
        };
        let unmoved = |side: TableState<'_>| {
            !bases.is_empty() && bases.iter().all(|base| base.is_some_and(|base| base.same_rows(side)))
        };
        let reading = |side: TableState<'_>| schemas.reading(merged, side.definition);
        let (theirs, ours) = (reading(source), reading(target));
        let as_declared = unmoved(source) && merged == target.definition;
        let are_the_same = source.same_rows(target) && (theirs.alike || ours.alike);
        if are_the_same || (unmoved(source) && ours.alike && ours.vouches) {
            Self::Keep { unmoved: as_declared }
        } else if unmoved(target) && theirs.alike && theirs.vouches {
            Self::TakeSource(Some(source.version.clone()))
        } else {
            Self::BothMoved
        }
    }
}
