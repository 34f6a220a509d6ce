//! What the caller of a merge says of conflicts of the schemas.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use super::error::MergeError;
use super::plan::Sides;
use super::report::{Choice, MergeSide, Resolution, Strategy};
use super::row::Side;
use super::schema::{Identities, Subject};
use crate::schema::{Catalog, TableDef};

/// Resolutions without a key, and strategies.
#[derive(Debug)]
pub(super) struct SchemaAnswers<'a> {
    strategies: &'a [Strategy],
    resolutions: &'a [Resolution],
    /// The numbers of resolutions that settled something.
    used: Mutex<BTreeSet<usize>>,
}

impl<'a> SchemaAnswers<'a> {
    /// Those of a merge.
    pub(super) fn new(strategies: &'a [Strategy], resolutions: &'a [Resolution]) -> Self {
        Self { strategies, resolutions, used: Mutex::default() }
    }

    /// None.
    #[cfg(test)]
    pub(super) fn none() -> Self {
        Self::new(&[], &[])
    }

    /// The side that settles a conflict about `subject`; `dropped` by that side, if it is about that. The narrowest counts.
    pub(super) fn to(&self, sides: &Sides, ids: &Identities, subject: Subject, dropped: Option<Side>) -> Option<Side> {
        let means = |table: &str, property: Option<&str>| means(sides, ids, subject, table, property);
        for (number, resolution) in self.resolutions.iter().enumerate() {
            if resolution.key.is_some() || !means(&resolution.table, resolution.property.as_deref()) {
                continue;
            }
            let side = match (&resolution.choice, dropped) {
                (Choice::Side(side), _) => Some((*side).into()),
                (Choice::Drop, Some(by)) => Some(by),
                (Choice::Keep, Some(by)) => Some(by.other()),
                (Choice::Drop | Choice::Keep, None) | (Choice::Value(_), _) => None,
            };
            if side.is_some() {
                self.used.lock().unwrap_or_else(PoisonError::into_inner).insert(number);
                return side;
            }
        }
        let wins = |wanted: &dyn Fn(&Strategy) -> bool| {
            self.strategies.iter().rev().find(|strategy| wanted(strategy)).map(|strategy| strategy.side)
        };
        let in_table = |strategy: &Strategy| {
            strategy.table.as_deref().is_some_and(|table| means_table(sides, ids, subject, table))
        };
        let of_property = |strategy: &Strategy| {
            strategy.property.is_some()
                && strategy.table.as_deref().is_some_and(|table| means(table, strategy.property.as_deref()))
        };
        let side = wins(&|strategy| subject.property.is_some() && of_property(strategy))
            .or_else(|| wins(&|strategy| strategy.property.is_none() && in_table(strategy)))
            .or_else(|| wins(&|strategy| strategy.table.is_none()));
        side.map(|side: MergeSide| side.into())
    }

    /// Refuses resolutions of the schema that settled nothing.
    ///
    /// # Errors
    /// [`MergeError::Resolution`] if there is one.
    pub(super) fn all_used(&self) -> Result<(), MergeError> {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let unused =
            self.resolutions.iter().enumerate().find(|(number, it)| it.key.is_none() && !used.contains(number));
        let Some((number, resolution)) = unused else { return Ok(()) };
        let reason = match resolution.choice {
            Choice::Value(_) => "a value needs the key of a row",
            Choice::Side(_) | Choice::Keep | Choice::Drop => {
                "there is nothing of the schema to resolve there: a resolution of a row has a key"
            }
        };
        Err(MergeError::Resolution { number: number + 1, reason: reason.to_owned() })
    }
}

fn all(sides: &Sides) -> impl Iterator<Item = &Catalog> {
    [&sides.target, &sides.source].into_iter().chain(&sides.bases).map(|at| at.catalog.as_ref())
}

/// The tables that are one with the subject's, wherever they are.
fn tables<'a>(sides: &'a Sides, ids: &'a Identities, subject: Subject) -> impl Iterator<Item = &'a TableDef> {
    all(sides).filter_map(move |catalog| ids.table_in(catalog, subject.table))
}

fn means_table(sides: &Sides, ids: &Identities, subject: Subject, table: &str) -> bool {
    tables(sides, ids, subject).any(|known| known.name == table)
}

/// Whether a name is one that what a conflict is about has anywhere.
fn means(sides: &Sides, ids: &Identities, subject: Subject, table: &str, property: Option<&str>) -> bool {
    if !means_table(sides, ids, subject, table) {
        return false;
    }
    match (subject.property, property) {
        (None, None) => true,
        (Some(wanted), Some(name)) => tables(sides, ids, subject)
            .filter_map(|table| ids.property_in(table, wanted))
            .any(|known| known.name == name),
        (None, Some(_)) | (Some(_), None) => false,
    }
}
