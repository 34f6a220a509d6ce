//! The keys of one table on which the sides of a merge differ, and what becomes of each.
//!
//! # Invariants
//! 1. A key without a case is the same on both sides, and stays as it is.
//! 2. Rows are read only of keys that both sides changed and of what rules tie to a change.

use std::collections::BTreeMap;

use roaring::RoaringTreemap;

use super::keys::{Place, Versions};
use super::origin::Origins;
use super::row::{RowConflict, Side};
use crate::ids::{ChangeId, Digest, TableId};
use crate::record::{MergeCounts, SideCounts};
use crate::table::{Spot, TableError};
use crate::write::row::Row;
use crate::write::shape::{Shapes, TableShape};

/// One key.
#[derive(Debug, Clone)]
pub(super) struct Case {
    /// The digest of the key.
    pub(super) key: Digest,
    /// What the source has.
    pub(super) source: Option<Place>,
    /// What the target has.
    pub(super) target: Option<Place>,
    /// Who changed it: against all bases, if there are several.
    pub(super) moved: Moved,
    /// What becomes of it.
    pub(super) fate: Fate,
    /// What is left to people of it.
    pub(super) open: Vec<RowConflict>,
    /// Whether one side changed the row that the other deleted, settled or not.
    pub(super) clash: bool,
    /// Whether it is part of a conflict over a deleted node.
    pub(super) detached: bool,
}

/// Who changed a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moved {
    /// The source alone.
    Source,
    /// The target alone.
    Target,
    /// Both.
    Both,
}

/// What becomes of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is as that side has it, be it gone.
    As(Side),
    /// It becomes this one of the rows that are written.
    Written(usize),
}

impl Case {
    /// What a side has.
    pub(super) fn on(&self, side: Side) -> Option<Place> {
        match side {
            Side::Source => self.source,
            Side::Target => self.target,
        }
    }

    /// Whether people have to decide on it: what it comes to is not known.
    pub(super) fn is_open(&self) -> bool {
        self.detached || !self.open.is_empty()
    }

    /// Whether the result has a row of this key.
    pub(super) fn stands(&self) -> bool {
        match self.fate {
            Fate::As(side) => self.on(side).is_some(),
            Fate::Written(_) => true,
        }
    }

    /// The side that deleted the row, if it is gone by that or people have to say whether it is.
    pub(super) fn deleted_by(&self) -> Option<Side> {
        let absent = match (self.source, self.target) {
            (None, Some(_)) => Side::Source,
            (Some(_), None) => Side::Target,
            _ => return None,
        };
        (self.clash || !self.stands()).then_some(absent)
    }
}

/// A row that neither side has, or one that a side has otherwise than it would have to lie in the result.
#[derive(Debug, Clone)]
pub(super) struct Written {
    /// All of it.
    pub(super) row: Row,
    /// The spaces of unique tuples in which it has one that no side that keeps the rule has at its key.
    pub(super) novel: Vec<usize>,
    /// The change that wrote it; none: the merge.
    pub(super) change: Option<ChangeId>,
}

impl Written {
    /// One that was made of what the sides have; `sides`: as far as they keep all rules.
    pub(super) fn new(shapes: &Shapes, shape: &TableShape, row: Row, sides: [Option<&Row>; 2]) -> Self {
        let is_novel = |space: &usize| {
            let own = row.digest(shapes, shape, *space);
            own.is_some() && sides.iter().flatten().all(|side| side.digest(shapes, shape, *space) != own)
        };
        let novel = shape.unique.iter().copied().filter(is_novel).collect();
        Self { row, novel, change: None }
    }
}

/// All cases of one table.
pub(super) struct Cases {
    /// The table.
    pub(super) table: TableId,
    /// Its index in the shapes of the merged schema.
    pub(super) index: usize,
    /// Its versions.
    pub(super) versions: Versions,
    /// In the order of keys.
    pub(super) all: Vec<Case>,
    /// Rows that neither side has.
    pub(super) written: Vec<Written>,
    /// Rows of a side whose definition is not the merged one, in the merged form: those that have to be written to be taken, or that have to be
    /// judged since their side does not keep all rules.
    pub(super) own: BTreeMap<(usize, Side), Written>,
    /// What each side had changed.
    pub(super) moved: (SideCounts, SideCounts),
}

impl Cases {
    /// Finds them, and decides those that one side alone changed. `judges_equal_rows`: keys that both sides changed alike are cases as well.
    ///
    /// # Errors
    /// If versions contradict each other.
    pub(super) fn find(
        (table, index): (TableId, usize),
        versions: Versions,
        origins: &Origins,
        judges_equal_rows: bool,
    ) -> Result<Self, TableError> {
        let mut all = Vec::new();
        let mut counts = (SideCounts::default(), SideCounts::default());
        for key in versions.changed_keys() {
            let (source, target) = (versions.on(Side::Source, key)?, versions.on(Side::Target, key)?);
            let bases: Vec<Option<Place>> = (0..origins.bases).map(|base| versions.at(base, key, source)).collect();
            let unmoved = |side: Option<Place>| bases.iter().all(|base| Place::same(*base, side));
            let (source_moved, target_moved) = (!unmoved(source), !unmoved(target));
            for (moved, side, counts) in [(source_moved, source, &mut counts.0), (target_moved, target, &mut counts.1)]
            {
                if moved {
                    count(counts, bases.iter().any(Option::is_some), side.is_some());
                }
            }
            let moved = match (source_moved, target_moved) {
                (true, false) => Moved::Source,
                (false, true) => Moved::Target,
                (true, true) => Moved::Both,
                (false, false) => continue,
            };
            let equal = Place::same(source, target);
            if equal && !(judges_equal_rows && moved == Moved::Both && source.is_some()) {
                continue;
            }
            let fate = Fate::As(if moved == Moved::Source { Side::Source } else { Side::Target });
            all.push(Case { key, source, target, moved, fate, open: Vec::new(), clash: false, detached: false });
        }
        Ok(Self { table, index, versions, all, written: Vec::new(), own: BTreeMap::new(), moved: counts })
    }

    /// The case of a key.
    pub(super) fn of(&self, key: Digest) -> Option<&Case> {
        self.place_of(key).and_then(|at| self.all.get(at))
    }

    /// The number of a key's case.
    pub(super) fn place_of(&self, key: Digest) -> Option<usize> {
        self.all.binary_search_by_key(&key, |case| case.key).ok()
    }

    /// What is to be done to a side's version: addresses on the other side of rows to take, addresses on this one of rows to remove.
    pub(super) fn moves(&self, upon: Side) -> (RoaringTreemap, RoaringTreemap) {
        let (mut take, mut remove) = (RoaringTreemap::new(), RoaringTreemap::new());
        let address = |place: Option<Place>| place.map(|Place { spot: Spot { address, .. }, .. }| address);
        for case in &self.all {
            match case.fate {
                Fate::As(side) if side == upon => {}
                Fate::As(other) => {
                    take.extend(address(case.on(other)));
                    remove.extend(address(case.on(upon)));
                }
                Fate::Written(_) => remove.extend(address(case.on(upon))),
            }
        }
        (take, remove)
    }

    /// Those of the rows that are written which are still wanted, in the order of keys. `besides`: the side whose rows cannot be taken as they
    /// lie.
    pub(super) fn written(&self, besides: Option<Side>) -> impl Iterator<Item = &Written> {
        self.all.iter().enumerate().filter_map(move |(at, case)| match case.fate {
            Fate::Written(row) => self.written.get(row),
            Fate::As(side) if Some(side) == besides => self.own.get(&(at, side)),
            Fate::As(_) => None,
        })
    }

    /// Whether a side keeps all rules of the merged definition.
    pub(super) fn vouches(&self, side: Side) -> bool {
        self.versions.lenses.of(side).is_none_or(|lens| lens.reading.vouches)
    }

    /// The row of a case that has to be judged by itself: one that is written, or of a side that does not keep all rules.
    pub(super) fn judged(&self, at: usize) -> Option<&Written> {
        match self.all.get(at)?.fate {
            Fate::Written(row) => self.written.get(row),
            Fate::As(side) if self.vouches(side) => None,
            Fate::As(side) => self.own.get(&(at, side)),
        }
    }

    /// The sides that have the whole result as it is.
    pub(super) fn sides(&self) -> impl Iterator<Item = Side> {
        let all_as = |side| {
            self.all.iter().all(|case| match case.fate {
                Fate::As(fate) => fate == side || Place::same(case.source, case.target),
                Fate::Written(_) => false,
            })
        };
        [Side::Target, Side::Source].into_iter().filter(move |side| all_as(*side))
    }

    /// The account of the table, given the rows of target and result.
    pub(super) fn counts(&self, before: u64, result: u64) -> MergeCounts {
        let (source, target) = self.moved;
        let mut counts = MergeCounts { before, result, source, target, ..MergeCounts::default() };
        for case in &self.all {
            match (case.target.is_some(), case.stands()) {
                (false, true) => counts.added += 1,
                (true, false) => counts.removed += 1,
                _ => {}
            }
        }
        counts
    }
}

fn count(counts: &mut SideCounts, was: bool, is: bool) {
    match (was, is) {
        (false, _) => counts.inserted += 1,
        (true, true) => counts.updated += 1,
        (true, false) => counts.removed += 1,
    }
}
