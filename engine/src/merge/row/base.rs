//! The base of a key: of one merge base what it has, of several their own three-way merge.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::three_way::{Draft, three_way};
use super::{Place, Row, RowRules, Seen, Side};
use crate::value::Value;

/// What the merge bases say of a key. Several merge bases are a tree: the first two merged over their own base, the result with the
/// third over the base of both, and so on.
///
/// (A key that merely "differs from every base" would lose deletions after a criss-cross: one base has the row, the other has not,
/// and whichever the target has, it equals a base.)
#[derive(Debug, Clone)]
pub(crate) enum Base {
    /// What one merge base has; `None`: no row of this key.
    State(Option<Row>),
    /// The state cannot be known any more.
    Gone,
    /// Two merge bases over a base of theirs.
    Merged {
        /// One of them.
        first: Box<Base>,
        /// The other one.
        second: Box<Base>,
        /// The base of both.
        over: Box<Base>,
        /// Whether the second was committed later, for `last_writer`.
        second_is_later: bool,
    },
}

/// What is known of a key at a base or on a side.
#[derive(Debug, Clone)]
pub(super) enum Known<'a> {
    /// Nothing.
    Unknown,
    /// There is no row.
    Absent,
    /// There is one.
    Row(Cells<'a>),
}

/// The places of a row that are not null; those of a merged base may be unknown.
#[derive(Debug, Clone, Default)]
pub(super) struct Cells<'a>(pub BTreeMap<Place, Cell<'a>>);

#[derive(Debug, Clone)]
pub(super) enum Cell<'a> {
    Unknown,
    Is(Cow<'a, Value>),
}

impl Base {
    /// Brings several merge bases down to one.
    pub(super) fn resolve(&self, rules: &RowRules<'_>) -> Known<'_> {
        match self {
            Self::State(row) => Known::of(row.as_ref()),
            Self::Gone => Known::Unknown,
            Self::Merged { first, second, over, second_is_later } => {
                let (first, second, over) = (first.resolve(rules), second.resolve(rules), over.resolve(rules));
                let later = if *second_is_later { Side::Target } else { Side::Source };
                match three_way(rules, &over, &first, &second, later) {
                    Draft::Unknown | Draft::ChangedAndDeleted => Known::Unknown,
                    Draft::Absent => Known::Absent,
                    Draft::Row(drafts) => {
                        let cells = drafts.into_iter().map(|(place, draft)| {
                            (place, draft.map_or(Cell::Unknown, |value| Cell::Is(Cow::Owned(value.into_owned()))))
                        });
                        Known::Row(Cells(cells.collect()))
                    }
                }
            }
        }
    }
}

impl<'a> Known<'a> {
    /// What a row on a side is.
    pub(super) fn of(row: Option<&'a Row>) -> Self {
        row.map_or(Self::Absent, |row| {
            Self::Row(Cells(row.0.iter().map(|(place, value)| (*place, Cell::Is(Cow::Borrowed(value)))).collect()))
        })
    }

    /// The row, for people.
    pub(super) fn seen(&self) -> Seen {
        match self {
            Self::Unknown => Seen::Unknown,
            Self::Absent => Seen::Absent,
            Self::Row(cells) => {
                let known = cells.0.iter().filter_map(|(place, cell)| match cell {
                    Cell::Is(value) => Some((*place, value.as_ref().clone())),
                    Cell::Unknown => None,
                });
                Seen::Row(Row(known.collect()))
            }
        }
    }

    /// One place of it, for people.
    pub(super) fn seen_at(&self, place: Place) -> Seen {
        match self {
            Self::Unknown => Seen::Unknown,
            Self::Absent => Seen::Absent,
            Self::Row(cells) => cells.get(place).map_or(Seen::Unknown, |value| Seen::Value(value.clone())),
        }
    }
}

impl Cells<'_> {
    /// The value at a place; `None` is unknown.
    pub(super) fn get(&self, place: Place) -> Option<&Value> {
        match self.0.get(&place) {
            None => Some(&Value::Null),
            Some(Cell::Is(value)) => Some(value.as_ref()),
            Some(Cell::Unknown) => None,
        }
    }
}
