//! How conflicts are settled: by strategies for whole tables or properties, by resolutions for single ones.

use std::collections::{BTreeMap, BTreeSet};

use super::{Place, RowConflict, Side};
use crate::ids::{PropertyId, TableId};
use crate::value::Value;

/// How one conflict is settled.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Resolution {
    /// As that side has it.
    Choose(Side),
    /// With this value, of the property's type or null.
    Value(Value),
}

/// Which side wins where both changed something; the narrowest rule counts. Policies that the schema declares come first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Strategies {
    /// Everywhere.
    pub all: Option<Side>,
    /// In these tables.
    pub tables: BTreeMap<TableId, Side>,
    /// For these properties; that a row was changed here and deleted there is no matter of a property.
    pub properties: BTreeMap<(TableId, PropertyId), Side>,
}

impl Strategies {
    /// The side that wins a conflict in `table`.
    pub(crate) fn side(&self, table: TableId, conflict: &RowConflict) -> Option<Side> {
        let property = property_of(conflict).and_then(|property| self.properties.get(&(table, property)));
        property.or_else(|| self.tables.get(&table)).copied().or(self.all)
    }
}

/// What single conflicts are to come to, and which of that was asked for. `K` is the identity of a row in its table.
#[derive(Debug, Clone)]
pub(crate) struct Resolutions<K> {
    given: BTreeMap<Target<K>, Resolution>,
    used: BTreeSet<Target<K>>,
}

/// A row, or one of its properties.
type Target<K> = (TableId, K, Option<PropertyId>);

/// Why resolutions cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ResolutionProblem {
    /// The same thing is settled twice.
    #[error("the same conflict is resolved twice")]
    Twice,
    /// A value without a property.
    #[error("a value needs a property; a row is resolved by choosing a side")]
    ValueOfRow,
}

impl<K> Default for Resolutions<K> {
    fn default() -> Self {
        Self { given: BTreeMap::new(), used: BTreeSet::new() }
    }
}

impl<K: Ord + Clone> Resolutions<K> {
    /// Adds one. Without a property it stands for every conflict of the row that has none of its own: for whether there is a row, for
    /// its ends, for its properties.
    ///
    /// # Errors
    /// If the same thing has a resolution, or a row is to become a value.
    pub(crate) fn add(
        &mut self,
        table: TableId,
        key: K,
        property: Option<PropertyId>,
        resolution: Resolution,
    ) -> Result<(), ResolutionProblem> {
        if property.is_none() && matches!(resolution, Resolution::Value(_)) {
            return Err(ResolutionProblem::ValueOfRow);
        }
        match self.given.entry((table, key, property)) {
            std::collections::btree_map::Entry::Occupied(_) => Err(ResolutionProblem::Twice),
            std::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert(resolution);
                Ok(())
            }
        }
    }

    /// What settles a conflict of a row: its own resolution, the row's, or else the strategies.
    pub(crate) fn settlement(
        &mut self,
        strategies: &Strategies,
        table: TableId,
        key: &K,
        conflict: &RowConflict,
    ) -> Option<Resolution> {
        let own = property_of(conflict).map(|property| (table, key.clone(), Some(property)));
        for target in own.into_iter().chain([(table, key.clone(), None)]) {
            if let Some(resolution) = self.given.get(&target) {
                self.used.insert(target);
                return Some(resolution.clone());
            }
        }
        strategies.side(table, conflict).map(Resolution::Choose)
    }

    /// Whether there is one of its own for a row or a property.
    pub(crate) fn is_given(&self, table: TableId, key: &K, property: Option<PropertyId>) -> bool {
        self.given.contains_key(&(table, key.clone(), property))
    }

    /// Whether there is one for a row or any of its properties.
    pub(crate) fn concern(&self, table: TableId, key: &K) -> bool {
        let first = (table, key.clone(), None);
        self.given.range(first..).next().is_some_and(|((at, of, _), _)| *at == table && of == key)
    }

    /// Those that settled nothing so far.
    pub(crate) fn unused(&self) -> impl Iterator<Item = (&Target<K>, &Resolution)> {
        self.given.iter().filter(|(target, _)| !self.used.contains(*target))
    }

    /// Notes that one settled something else than a conflict of a row.
    pub(crate) fn mark_used(&mut self, table: TableId, key: K, property: Option<PropertyId>) {
        self.used.insert((table, key, property));
    }
}

fn property_of(conflict: &RowConflict) -> Option<PropertyId> {
    match conflict.place {
        Some(Place::Property(property)) => Some(property),
        Some(Place::Ends) | None => None,
    }
}
