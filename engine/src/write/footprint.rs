//! What an evaluation looked at and what it changes: by this it is told whether several requests can share one commit.
//!
//! A request that reads nothing of what those before it write comes to the same on the head that they were evaluated on as it would after
//! them. Whatever is written is also read, where its outcome depends on what was there; what is only marked as written, such as an edge
//! at a node, may be written by several.

use std::collections::HashMap;

use crate::ids::Digest;
use crate::write::facts::What;
use crate::write::input::Input;
use crate::write::shape::Shapes;

/// Reads, writes, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Mode(u8);

impl Mode {
    pub(crate) const READS: Self = Self(1);
    pub(crate) const WRITES: Self = Self(2);
    pub(crate) const BOTH: Self = Self(3);

    const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether `later` reads what `self` writes.
    const fn disturbs(self, later: Self) -> bool {
        self.0 & Self::WRITES.0 != 0 && later.0 & Self::READS.0 != 0
    }
}

/// What was touched: tuples of spaces (keys, unique values, ends of edges), present or absent, and whole tables.
#[derive(Debug, Clone, Default)]
pub(crate) struct Footprint {
    tuples: HashMap<(usize, Digest), Mode>,
    /// Whole tables, by index.
    whole: HashMap<usize, Mode>,
    /// All tuples of each table together.
    any: HashMap<usize, Mode>,
    /// More than is told.
    unbounded: bool,
}

impl Footprint {
    /// One that nothing else is independent of.
    pub(crate) fn unbounded() -> Self {
        Self { unbounded: true, ..Self::default() }
    }

    /// Marks a tuple of a space.
    pub(crate) fn tuple(&mut self, shapes: &Shapes, space: usize, digest: Digest, mode: Mode) {
        let Some(table) = shapes.spaces.get(space).map(|space| space.table) else { return };
        let known = self.tuples.entry((space, digest)).or_default();
        *known = known.and(mode);
        let any = self.any.entry(table).or_default();
        *any = any.and(mode);
    }

    /// Marks a whole table as read.
    pub(crate) fn whole(&mut self, table: usize) {
        let known = self.whole.entry(table).or_default();
        *known = known.and(Mode::READS);
    }

    /// What is left of it where nothing is written after all.
    pub(crate) fn only_reads(mut self) -> Self {
        let modes = self.tuples.values_mut().chain(self.whole.values_mut()).chain(self.any.values_mut());
        modes.for_each(|mode| mode.0 &= Mode::READS.0);
        self
    }

    /// Whether `later` comes to the same whether this was published before or not.
    pub(crate) fn leaves_alone(&self, later: &Self, shapes: &Shapes) -> bool {
        if self.unbounded || later.unbounded {
            return false;
        }
        let table_of = |space: usize| shapes.spaces.get(space).map_or(usize::MAX, |space| space.table);
        let of = |modes: &HashMap<usize, Mode>, table: usize| modes.get(&table).copied().unwrap_or_default();
        let tuples = later.tuples.iter().any(|(tuple, mode)| {
            let same = self.tuples.get(tuple).copied().unwrap_or_default();
            same.and(of(&self.whole, table_of(tuple.0))).disturbs(*mode)
        });
        let whole = || {
            later.whole.iter().any(|(table, mode)| of(&self.any, *table).and(of(&self.whole, *table)).disturbs(*mode))
        };
        !tuples && !whole()
    }

    /// Takes another in.
    pub(crate) fn add(&mut self, other: Self) {
        let unite = |into: &mut HashMap<usize, Mode>, from: HashMap<usize, Mode>| {
            for (table, mode) in from {
                let known = into.entry(table).or_default();
                *known = known.and(mode);
            }
        };
        for (tuple, mode) in other.tuples {
            let known = self.tuples.entry(tuple).or_default();
            *known = known.and(mode);
        }
        unite(&mut self.whole, other.whole);
        unite(&mut self.any, other.any);
        self.unbounded |= other.unbounded;
    }

    /// What an input touches by itself, whatever is stored.
    ///
    /// # Errors
    /// If its facts cannot be read.
    pub(crate) fn of(input: &Input) -> std::io::Result<Self> {
        let shapes = &input.shapes;
        let mut print = Self::default();
        for (space, facts) in &input.facts {
            facts.for_each(|fact| match fact.what {
                What::InputNeeds => {
                    print.tuple(shapes, *space, fact.digest, Mode::READS);
                    let ends = shapes.tables.get(usize::from(fact.table)).and_then(|edge| edge.ends);
                    if let Some(ends) = ends {
                        let end = if fact.side == 0 { ends.from } else { ends.to };
                        print.tuple(shapes, end.space, fact.digest, Mode::WRITES);
                    }
                }
                // A node without its edges, or with them: either way it depends on all that it has.
                what if what.is_delete() => {
                    print.tuple(shapes, *space, fact.digest, Mode::BOTH);
                    for end in shapes.ends_at(usize::from(fact.table)) {
                        print.tuple(shapes, end, fact.digest, Mode::BOTH);
                    }
                }
                _ => print.tuple(shapes, *space, fact.digest, Mode::BOTH),
            })?;
        }
        if !input.overwrite.is_empty() {
            print.unbounded = true;
        }
        Ok(print)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::digest;
    use crate::write::tests::shapes;

    fn print(touch: impl FnOnce(&mut Footprint, &Shapes)) -> Footprint {
        let mut print = Footprint::default();
        touch(&mut print, &shapes());
        print
    }

    fn of(space: usize, number: u64, mode: Mode) -> Footprint {
        print(|print, shapes| print.tuple(shapes, space, digest(number), mode))
    }

    #[test]
    fn what_is_read_after_it_was_written_is_not_independent() {
        let shapes = shapes();
        let alone = |one: &Footprint, later: &Footprint| one.leaves_alone(later, &shapes);
        let (read, write, both) = (of(0, 1, Mode::READS), of(0, 1, Mode::WRITES), of(0, 1, Mode::BOTH));
        assert!(!alone(&both, &both) && !alone(&both, &read) && !alone(&write, &both) && !alone(&write, &read));
        assert!(alone(&read, &read) && alone(&read, &both), "what was read before it is written stays as it was read");
        assert!(alone(&write, &write), "marks meet");
        assert!(alone(&both, &of(0, 2, Mode::BOTH)) && alone(&both, &of(1, 1, Mode::BOTH)));
        assert!(alone(&both.clone().only_reads(), &both));
        let mut all = of(0, 2, Mode::BOTH);
        all.add(both.clone());
        assert!(!alone(&all, &read) && alone(&all, &of(0, 3, Mode::BOTH)));
        assert!(!alone(&Footprint::unbounded(), &Footprint::default()));
        assert!(!alone(&Footprint::default(), &Footprint::unbounded()));
    }

    #[test]
    fn a_table_that_was_read_whole_depends_on_each_of_its_rows() {
        let shapes = shapes();
        let table = shapes.spaces[0].table;
        let whole = print(|print, _| print.whole(table));
        assert!(!of(0, 1, Mode::BOTH).leaves_alone(&whole, &shapes));
        assert!(of(0, 1, Mode::READS).leaves_alone(&whole, &shapes));
        assert!(whole.leaves_alone(&of(0, 1, Mode::BOTH), &shapes));
        let elsewhere = shapes.spaces.iter().position(|space| space.table != table).unwrap();
        assert!(of(elsewhere, 1, Mode::BOTH).leaves_alone(&whole, &shapes));
    }
}
