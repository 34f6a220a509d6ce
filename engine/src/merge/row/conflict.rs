//! What a row's merge leaves to people.

use super::{Place, Row};
use crate::error::ConflictKind;
use crate::value::Value;

/// Something of a row that both sides changed incompatibly.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RowConflict {
    /// `BothChanged`, `BothAdded` (both of one place) or `ChangedAndDeleted` (of the row).
    pub kind: ConflictKind,
    /// What of the row; `None` is the row itself.
    pub place: Option<Place>,
    /// What the merge bases have there.
    pub base: Seen,
    /// What the source has there.
    pub source: Seen,
    /// What the target has there.
    pub target: Seen,
}

/// What stands at the place of a conflict.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Seen {
    /// The merge bases contradict each other, or have no common base of their own.
    Unknown,
    /// There is no row.
    Absent,
    /// A value, null included.
    Value(Value),
    /// A whole row. Of a base, places on which merge bases contradict each other are left out.
    Row(Row),
}
