//! The three-way merge of one row: pure, over values alone, without I/O.
//!
//! # How a row is merged
//! 1. Its base is what the merge bases say of the key; several are merged first, each over its own base ([`Base`]). Where they
//!    disagree the base is unknown, and both sides count as changed.
//! 2. A side that left the row as the base has it yields to the other. One changed what the other deleted: a conflict.
//! 3. Both have the row: property by property. A property that one side changed is taken from it. What both changed goes by the
//!    property's policy, is agreed if equal, and is a conflict otherwise.
//! 4. Strategies and resolutions settle conflicts ([`Resolutions`]); what is left is told, in order, with all three values.
//!
//! # Invariants
//! 1. Swapping source and target swaps the roles in the result and changes nothing else.
//! 2. A row that comes out equal to the target's is kept, one equal to the source's is taken, so that neither is written again.
//! 3. No value is lost in silence: it stands in the result, was replaced by a side that alone changed it, by a policy that the
//!    schema declares or a resolution that a person gave, or it is in a conflict.

mod base;
mod conflict;
mod detach;
mod policy;
mod property;
mod rules;
mod settle;
#[cfg(test)]
mod tests;
mod three_way;

use std::collections::BTreeMap;

pub(crate) use base::Base;
pub(crate) use conflict::{RowConflict, Seen};
pub(crate) use detach::{DetachConflict, EdgeChange, EdgeFate, NodeDeletion, declared_winner, detach_conflicts};
pub(crate) use rules::RowRules;
pub(crate) use settle::{Resolution, ResolutionProblem, Resolutions, Strategies};
pub(crate) use three_way::{Decision, merge_row};

use crate::ids::PropertyId;
use crate::value::Value;

/// One of the two sides of a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Side {
    /// What is merged.
    Source,
    /// What it is merged into.
    Target,
}

impl Side {
    /// The other one.
    pub(crate) const fn other(self) -> Self {
        match self {
            Self::Source => Self::Target,
            Self::Target => Self::Source,
        }
    }
}

/// What of a row a value belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Place {
    /// Both ends of an edge, as one list: the parts of the start node's key, then those of the end node's. Only of `MULTI` tables: in
    /// others the ends are the key. They are one thing, since an edge from the one side's start to the other side's end would be one
    /// that nobody made.
    Ends,
    /// A property that is no part of the key.
    Property(PropertyId),
}

/// A row without its key, as readers see it: fill values put in, by the properties of the merged schema. A place that is not there
/// is null.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Row(pub BTreeMap<Place, Value>);

impl Row {
    /// The value at a place.
    pub(crate) fn get(&self, place: Place) -> &Value {
        self.0.get(&place).unwrap_or(&Value::Null)
    }
}
