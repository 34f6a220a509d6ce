//! The variables that a place of a statement sees.

use crate::query::bound::VarId;

/// Names and the columns they stand for, in the order in which they came up.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Scope {
    names: Vec<(String, VarId)>,
}

impl Scope {
    pub(super) fn get(&self, name: &str) -> Option<VarId> {
        self.names.iter().find(|(known, _)| known == name).map(|(_, var)| *var)
    }

    /// Adds a name, in place of the same one.
    pub(super) fn set(&mut self, name: &str, var: VarId) {
        match self.names.iter_mut().find(|(known, _)| known == name) {
            Some(entry) => entry.1 = var,
            None => self.names.push((name.to_owned(), var)),
        }
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|(name, _)| name.as_str())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, VarId)> {
        self.names.iter().map(|(name, var)| (name.as_str(), *var))
    }

    pub(super) fn vars(&self) -> Vec<VarId> {
        self.names.iter().map(|(_, var)| *var).collect()
    }

    /// The names of both; of one that is in both, that of `self`.
    pub(super) fn over(&self, outer: &Self) -> Self {
        let mut both = outer.clone();
        for (name, var) in &self.names {
            both.set(name, *var);
        }
        both
    }
}
