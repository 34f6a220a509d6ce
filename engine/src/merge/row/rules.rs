//! What a row's merge has to know of its table.

use super::Place;
use crate::schema::{MergePolicy, TableDef, TableKind, Type};

/// The places of a table's rows, in the order in which their conflicts are told, and how each is merged.
#[derive(Debug)]
pub(crate) struct RowRules<'a> {
    pub(super) places: Vec<PlaceRule<'a>>,
}

/// How one place is merged.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlaceRule<'a> {
    pub place: Place,
    /// The declared policy and the type of the property it is declared for.
    pub policy: Option<(MergePolicy, &'a Type)>,
}

impl<'a> RowRules<'a> {
    /// The rules of `table`, as the merged schema has it: the ends where they are no part of the key, then all properties outside the
    /// key in the order of declaration.
    pub(crate) fn new(table: &'a TableDef) -> Self {
        let ends = matches!(table.kind, TableKind::Edge { multi: true, .. })
            .then_some(PlaceRule { place: Place::Ends, policy: None });
        let properties = table.properties.iter().filter(|property| !table.key.contains(&property.id));
        let properties = properties.map(|property| PlaceRule {
            place: Place::Property(property.id),
            policy: property.merge.map(|policy| (policy, &property.ty)),
        });
        Self { places: ends.into_iter().chain(properties).collect() }
    }

    /// Whether a row that both sides have alike may still have to change: `sum` adds up what both added.
    pub(crate) fn judges_equal_rows(&self) -> bool {
        self.places.iter().any(|rule| matches!(rule.policy, Some((MergePolicy::Sum, _))))
    }
}
