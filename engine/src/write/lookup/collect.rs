//! From the rows of a scan to facts: each row is looked at for those inputs that asked for it.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;

use arrow_array::{FixedSizeBinaryArray, RecordBatch};

use super::{Before, Found, Lookup, MOST_BEFORE, Purpose, Removed, addresses, digest_at};
use crate::ids::Digest;
use crate::record::EncodedKey;
use crate::table::Role;
use crate::value::encode;
use crate::write::chunk::Probes;
use crate::write::facts::{Bloom, Fact, Facts, What};
use crate::write::input::Input;
use crate::write::row::Row;
use crate::write::shape::{Shapes, TableShape};

/// Gathers what a scan finds.
pub(super) struct Collector<'a> {
    shapes: &'a Shapes,
    shape: &'a TableShape,
    columns: &'a [usize],
    table: usize,
    /// Whether to tell what rows have been.
    tells_before: bool,
    askers: Vec<Asker<'a>>,
    interest: Interest,
}

/// An input that asked for rows of the table.
struct Asker<'a> {
    /// Its place among the inputs.
    place: usize,
    input: &'a Input,
    purposes: &'a [Purpose],
    found: Found,
}

/// Which askers to show a row to, by its tuples.
#[derive(Default)]
struct Interest {
    /// By space and digest.
    tuples: HashMap<(usize, Digest), Vec<usize>>,
    /// The spaces of those tuples.
    spaces: Vec<usize>,
    /// Those that asked for more than they name.
    all: Vec<usize>,
}

/// A scanned row.
struct Scanned {
    row: Row,
    address: u64,
    hash: Option<Digest>,
}

impl<'a> Collector<'a> {
    pub(super) fn new(
        lookup: &'a Lookup,
        shapes: &'a Shapes,
        shape: &'a TableShape,
        columns: &'a [usize],
        inputs: &'a [Arc<Input>],
    ) -> Self {
        let askers = lookup.asked.iter().filter_map(|(place, purposes)| {
            Some(Asker { place: *place, input: inputs.get(*place)?, purposes, found: Found::default() })
        });
        let askers: Vec<Asker<'a>> = askers.collect();
        let interest = Interest::of(&askers);
        let tells_before = inputs.len() > 1;
        Self { shapes, shape, columns, table: lookup.table, tells_before, askers, interest }
    }

    pub(super) fn collect(&mut self, batch: &RecordBatch) -> io::Result<()> {
        let Some(addresses) = addresses(batch) else { return Ok(()) };
        let is_hash = |column: &usize| self.shape.layout.columns.get(*column).is_some_and(|c| c.role == Role::Hash);
        let hashes = self.columns.iter().position(is_hash);
        let hashes = hashes.and_then(|place| batch.column(place).as_any().downcast_ref::<FixedSizeBinaryArray>());
        // The whole row was asked for then.
        let stale = self.shape.has_stale_hashes();
        let mut concerned = Vec::new();
        for (at, address) in addresses.values().iter().enumerate() {
            let row = Row::read(self.shape, self.columns, batch, at);
            self.interest.concerned(self.shapes, self.shape, &row, &mut concerned);
            let hash = hashes.map(|hashes| if stale { row.hash(self.shape) } else { digest_at(hashes, at) });
            let scanned = Scanned { row, address: *address, hash };
            for asker in &concerned {
                if let Some(asker) = self.askers.get_mut(*asker) {
                    asker.take(self.shape, self.table, &scanned, self.tells_before)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn finish(self) -> BTreeMap<usize, Found> {
        self.askers.into_iter().map(|asker| (asker.place, asker.found)).collect()
    }
}

impl Interest {
    fn of(askers: &[Asker<'_>]) -> Self {
        let mut interest = Self::default();
        // One that asks alone is shown all that the filter lets pass.
        if askers.len() == 1 {
            interest.all.push(0);
            return interest;
        }
        for (number, asker) in askers.iter().enumerate() {
            let listed: Option<Vec<_>> = asker.purposes.iter().map(|purpose| purpose.listed(asker.input)).collect();
            let Some(listed) = listed else {
                interest.all.push(number);
                continue;
            };
            for (space, tuples) in listed {
                for digest in tuples.keys() {
                    let those = interest.tuples.entry((space, *digest)).or_default();
                    if those.last() != Some(&number) {
                        those.push(number);
                    }
                }
                if !interest.spaces.contains(&space) {
                    interest.spaces.push(space);
                }
            }
        }
        interest
    }

    /// Puts the askers that a row concerns, each once, into `concerned`.
    fn concerned(&self, shapes: &Shapes, shape: &TableShape, row: &Row, concerned: &mut Vec<usize>) {
        concerned.clear();
        concerned.extend_from_slice(&self.all);
        for space in &self.spaces {
            let digest = row.digest(shapes, shape, *space);
            concerned.extend(digest.and_then(|digest| self.tuples.get(&(*space, digest))).into_iter().flatten());
        }
        concerned.sort_unstable();
        concerned.dedup();
    }
}

impl Purpose {
    /// The space and the tuples that an input names for it; `None` if it asks for more.
    fn listed<'a>(&self, input: &'a Input) -> Option<(usize, &'a HashMap<Digest, Vec<crate::value::Value>>)> {
        let (space, probes) = match self {
            Self::Tuple { space, .. } => (*space, input.probes.get(space)?),
            Self::Needs { of: Removed::All, .. } => return None,
            Self::Needs { end, of: Removed::Deleted, .. } => (end.space, &input.deleted.get(&end.node)?.0),
        };
        match probes {
            Probes::Few(few) => Some((space, few)),
            Probes::Many => None,
        }
    }
}

impl Asker<'_> {
    /// Looks at a row.
    fn take(&mut self, shape: &TableShape, table: usize, scanned: &Scanned, tells_before: bool) -> io::Result<()> {
        let Scanned { row, address, hash } = scanned;
        let (input, purposes) = (self.input, self.purposes);
        let cut = self.cut(shape, row);
        let is_asked_for = self.is_asked_for(shape, row);
        if let Some(line) = cut {
            if is_asked_for {
                self.found.cuts.insert(*address, line);
            } else {
                self.found.detached.insert(*address);
            }
        }
        if tells_before && (cut.is_some() || is_asked_for) {
            self.tell_before(shape, *address, row);
        }
        let facts = &mut self.found.facts;
        let mut push =
            |space: usize, fact: &Fact| facts.entry(space).or_insert_with(|| Facts::new(&input.pool)).push(fact);
        for purpose in purposes {
            match purpose {
                Purpose::Tuple { space, hash: with_hash } => {
                    let Some(digest) = row.digest(&input.shapes, shape, *space) else { continue };
                    if input.blooms.get(space).is_some_and(|bloom| bloom.may_contain(digest)) {
                        let mut fact = Fact::new(digest, What::Stored, table, *address);
                        if let (true, Some(hash)) = (*with_hash, hash) {
                            fact.hash = *hash;
                        }
                        push(*space, &fact)?;
                    }
                }
                // It goes with an end, and needs nothing more.
                Purpose::Needs { .. } if cut.is_some() => {}
                Purpose::Needs { side, end, of } => {
                    let Some(digest) = row.digest(&input.shapes, shape, end.space) else { continue };
                    let deleted = input.deleted.get(&end.node);
                    let concerned = match of {
                        Removed::All => true,
                        Removed::Deleted => deleted.is_some_and(|(_, bloom): &(_, Bloom)| bloom.may_contain(digest)),
                    };
                    if let (true, Some(node)) = (concerned, input.shapes.tables.get(end.node)) {
                        let fact = Fact::new(digest, What::StoredNeeds, table, *address);
                        push(node.key, &Fact { side: *side, ..fact })?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The line of the first deletion of an end of an edge together with its edges.
    fn cut(&self, shape: &TableShape, row: &Row) -> Option<u64> {
        let ends = self.purposes.iter().filter_map(|purpose| match purpose {
            Purpose::Needs { end, .. } => Some((end, self.input.detached.get(&end.node)?)),
            Purpose::Tuple { .. } => None,
        });
        ends.filter_map(|(end, keys)| {
            keys.get(&row.digest(&self.input.shapes, shape, end.space)?).and_then(|lines| lines.first()).copied()
        })
        .min()
    }

    /// Whether a fact tells of the row's key.
    fn is_asked_for(&self, shape: &TableShape, row: &Row) -> bool {
        let is_key = |purpose: &Purpose| matches!(purpose, Purpose::Tuple { space, .. } if *space == shape.key);
        self.purposes.iter().any(is_key)
            && row
                .digest(&self.input.shapes, shape, shape.key)
                .is_some_and(|digest| self.input.blooms.get(&shape.key).is_some_and(|bloom| bloom.may_contain(digest)))
    }

    fn tell_before(&mut self, shape: &TableShape, address: u64, row: &Row) {
        if self.found.before.len() >= MOST_BEFORE {
            self.found.too_many = true;
            return;
        }
        let shapes = &self.input.shapes;
        let Some(digest) = row.digest(shapes, shape, shape.key) else { return };
        let mut key = Vec::new();
        row.tuple(shapes, shape, shape.key).iter().for_each(|part| encode(part, &mut key));
        let ends = shape.ends.iter().flat_map(|ends| [ends.from.space, ends.to.space]);
        let spaces = std::iter::once(shape.key).chain(shape.unique.iter().copied()).chain(ends);
        let tuples = spaces.filter_map(|space| Some((space, row.digest(shapes, shape, space)?))).collect();
        self.found.before.insert(address, Before { key: EncodedKey(key), digest, tuples });
    }
}
