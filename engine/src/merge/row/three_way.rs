//! The three-way merge of one row, and what it proposes.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::base::{Cells, Known};
use super::property::{BaseValue, Merged, merge_value};
use super::settle::Resolution;
use super::{Base, Place, Row, RowConflict, RowRules, Seen, Side};
use crate::error::ConflictKind;
use crate::value::Value;

/// What two states over a third come to.
pub(super) enum Draft<'a> {
    /// One of the two is unknown itself.
    Unknown,
    /// No row.
    Absent,
    /// One side has no row, the other one that is not the base's.
    ChangedAndDeleted,
    /// A row; `None` at a place is a conflict.
    Row(BTreeMap<Place, Option<Cow<'a, Value>>>),
}

/// Merges two states of a key.
pub(super) fn three_way<'a>(
    rules: &RowRules<'_>,
    base: &Known<'_>,
    source: &'a Known<'_>,
    target: &'a Known<'_>,
    later: Side,
) -> Draft<'a> {
    match (source, target) {
        (Known::Unknown, _) | (_, Known::Unknown) => Draft::Unknown,
        (Known::Absent, Known::Absent) => Draft::Absent,
        (Known::Row(left), Known::Absent) | (Known::Absent, Known::Row(left)) => match base {
            Known::Absent => Draft::Row(taken(rules, left)),
            Known::Row(base) if is_same(rules, base, left) => Draft::Absent,
            Known::Row(_) | Known::Unknown => Draft::ChangedAndDeleted,
        },
        (Known::Row(source), Known::Row(target)) => {
            let places = rules.places.iter().map(|rule| {
                // Where a side is itself a merge of bases and unknown, so is what it comes to.
                let merged = source.get(rule.place).zip(target.get(rule.place)).and_then(|(source, target)| {
                    let base = match base {
                        Known::Unknown => BaseValue::Unknown,
                        Known::Absent => BaseValue::NoRow,
                        Known::Row(base) => base.get(rule.place).map_or(BaseValue::Unknown, BaseValue::Is),
                    };
                    Some(match merge_value(rule, base, source, target, later)? {
                        Merged::Of(Side::Source) => Cow::Borrowed(source),
                        Merged::Of(Side::Target) => Cow::Borrowed(target),
                        Merged::New(value) => Cow::Owned(value),
                    })
                });
                (rule.place, merged)
            });
            Draft::Row(places.collect())
        }
    }
}

fn taken<'a>(rules: &RowRules<'_>, cells: &'a Cells<'_>) -> BTreeMap<Place, Option<Cow<'a, Value>>> {
    rules.places.iter().map(|rule| (rule.place, cells.get(rule.place).map(Cow::Borrowed))).collect()
}

/// Whether two rows are known to be the same.
fn is_same(rules: &RowRules<'_>, a: &Cells<'_>, b: &Cells<'_>) -> bool {
    let places = rules.places.iter().map(|rule| rule.place);
    places.map(|place| a.get(place).zip(b.get(place))).all(|pair| pair.is_some_and(|(a, b)| a.is_same(b)))
}

/// What becomes of a key.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Decision {
    /// The target stays as it is.
    Keep,
    /// The target gets the source's row.
    Take,
    /// The target's row goes.
    Delete,
    /// The target gets a row that neither side has.
    Write(Row),
}

/// A merged row, conflicts and all.
#[derive(Debug)]
pub(crate) struct Proposal<'a> {
    rules: &'a RowRules<'a>,
    source: Option<&'a Row>,
    target: Option<&'a Row>,
    /// `None`: no row. While conflicts are open, the target's values stand in their places.
    result: Option<Row>,
    conflicts: Vec<RowConflict>,
}

/// Merges one row. `later` is the side with the later head; `rules` are those of the merged schema.
pub(crate) fn merge_row<'a>(
    rules: &'a RowRules<'a>,
    base: &Base,
    source: Option<&'a Row>,
    target: Option<&'a Row>,
    later: Side,
) -> Proposal<'a> {
    let base = base.resolve(rules);
    let (known_source, known_target) = (Known::of(source), Known::of(target));
    let mut conflicts = Vec::new();
    let result = match three_way(rules, &base, &known_source, &known_target, later) {
        Draft::Absent => None,
        // The sides themselves are never unknown.
        Draft::Unknown | Draft::ChangedAndDeleted => {
            conflicts.push(RowConflict {
                kind: ConflictKind::ChangedAndDeleted,
                place: None,
                base: base.seen(),
                source: known_source.seen(),
                target: known_target.seen(),
            });
            target.cloned()
        }
        Draft::Row(drafts) => {
            let kind = if matches!(base, Known::Absent) { ConflictKind::BothAdded } else { ConflictKind::BothChanged };
            let at = |row: Option<&Row>, place| row.map_or(&Value::Null, |row| row.get(place)).clone();
            let mut row = Row::default();
            for rule in &rules.places {
                let place = rule.place;
                let value = if let Some(Some(value)) = drafts.get(&place) {
                    value.as_ref().clone()
                } else {
                    conflicts.push(RowConflict {
                        kind,
                        place: Some(place),
                        base: base.seen_at(place),
                        source: Seen::Value(at(source, place)),
                        target: Seen::Value(at(target, place)),
                    });
                    at(target, place)
                };
                row.0.insert(place, value);
            }
            Some(row)
        }
    };
    Proposal { rules, source, target, result, conflicts }
}

impl Proposal<'_> {
    /// Whether one side changed the row that the other deleted.
    pub(crate) fn is_clash(&self) -> bool {
        self.conflicts.iter().any(|conflict| conflict.kind == ConflictKind::ChangedAndDeleted)
    }

    /// What is in conflict, in the order of the table's places.
    #[cfg(test)]
    pub(crate) fn conflicts(&self) -> &[RowConflict] {
        &self.conflicts
    }

    /// Settles what `settlement` has an answer for, and decides; what it has none for is left in the list. While it is not empty the
    /// decision means nothing.
    pub(crate) fn settle(
        mut self,
        mut settlement: impl FnMut(&RowConflict) -> Option<Resolution>,
    ) -> (Decision, Vec<RowConflict>) {
        let mut open = Vec::new();
        for conflict in std::mem::take(&mut self.conflicts) {
            match (settlement(&conflict), conflict.place) {
                (Some(Resolution::Choose(Side::Target)), _) => {}
                (Some(Resolution::Choose(Side::Source)), None) => self.result = self.source.cloned(),
                (Some(Resolution::Choose(Side::Source)), Some(place)) => {
                    self.put(place, self.source.map_or(&Value::Null, |row| row.get(place)).clone());
                }
                (Some(Resolution::Value(value)), Some(place)) => self.put(place, value),
                // A value is no answer to the question of whether there is to be a row.
                (Some(Resolution::Value(_)), None) | (None, _) => open.push(conflict),
            }
        }
        (self.decide(), open)
    }

    fn put(&mut self, place: Place, value: Value) {
        if let Some(row) = &mut self.result {
            row.0.insert(place, value);
        }
    }

    fn decide(self) -> Decision {
        let same = |a: Option<&Row>, b: Option<&Row>| match (a, b) {
            (None, None) => true,
            (Some(a), Some(b)) => self.rules.places.iter().all(|rule| a.get(rule.place).is_same(b.get(rule.place))),
            _ => false,
        };
        if same(self.result.as_ref(), self.target) {
            return Decision::Keep;
        }
        match self.result {
            None => Decision::Delete,
            Some(row) if same(Some(&row), self.source) => Decision::Take,
            Some(row) => Decision::Write(row),
        }
    }
}
