//! What of two schemas cannot be brought together.

use crate::error::{Conflict, ConflictKind, SchemaClash, SchemaConflict};
use crate::ids::{PropertyId, TableId};
use crate::merge::row::Side;

/// A table, or one of its properties, by what its id stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::merge) struct Subject {
    /// The table.
    pub(in crate::merge) table: TableId,
    /// The property; none: the table itself.
    pub(in crate::merge) property: Option<PropertyId>,
}

/// Something that one side dropped and the other has as the base had it: whether the other side changed rows of it decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::merge) struct Dropped {
    /// What was dropped.
    pub(in crate::merge) subject: Subject,
    /// By whom.
    pub(in crate::merge) by: Side,
}

/// One conflict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::merge) struct Clash {
    /// What it is about.
    pub(in crate::merge) subject: Subject,
    /// What it is called: on the target, else on the source, else before.
    pub(in crate::merge) name: (String, Option<String>),
    /// What stands against what.
    pub(in crate::merge) reason: SchemaClash,
    /// Rows that the other side changed, where something was dropped.
    pub(in crate::merge) rows: Option<u64>,
    /// What base, source and target say, as text.
    pub(in crate::merge) told: [Option<String>; 3],
}

impl Clash {
    /// As people are told.
    pub(in crate::merge) fn conflict(&self) -> Conflict {
        let json = |text: &Option<String>| {
            let text = text.as_ref().map(|text| serde_json::Value::from(text.as_str()).to_string());
            Some(text.unwrap_or_else(|| "null".to_owned()))
        };
        let [base, source, target] = &self.told;
        Conflict {
            property: self.name.1.clone(),
            base: json(base),
            source: json(source),
            target: json(target),
            schema: Some(SchemaConflict { reason: self.reason, rows: self.rows }),
            ..Conflict::of_table(ConflictKind::Schema, self.name.0.clone())
        }
    }
}
