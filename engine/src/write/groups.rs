//! Facts brought together by digest, in bounded memory however many there are and however many of one digest.

use std::io;

use crate::ids::Digest;
use crate::write::external::{Item, Sorted, Sorter};
use crate::write::facts::{Fact, Facts, PARTITIONS, SIZE};
use crate::write::pool::Pool;

/// The least memory that is sorted in, whatever the bound on what is held.
const LEAST: usize = 4 * 1024;

/// A fact in the order of groups: by digest; within one what is stored, then what the input does by line.
#[derive(Debug, PartialEq, Eq)]
struct Grouped(Fact);

impl Grouped {
    fn order(&self) -> (Digest, u8, u16, u64, u8) {
        let Fact { digest, what, table, at, side, .. } = self.0;
        (digest, what.rank(), table, at, side)
    }
}

impl Ord for Grouped {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order().cmp(&other.order())
    }
}

impl PartialOrd for Grouped {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Item for Grouped {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0.bytes());
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        let (fact, rest) = bytes.split_first_chunk::<SIZE>()?;
        *bytes = rest;
        Some(Self(Fact::read(fact)))
    }

    fn held(&self) -> usize {
        0
    }
}

/// The facts of one digest that are no needs, one after another.
pub(crate) struct Group<'a> {
    digest: Digest,
    stream: &'a mut Stream,
}

impl Group<'_> {
    /// Their digest.
    pub(crate) fn digest(&self) -> Digest {
        self.digest
    }
}

impl Iterator for Group<'_> {
    type Item = Fact;

    fn next(&mut self) -> Option<Fact> {
        let fact = self.stream.head.filter(|fact| fact.digest == self.digest)?;
        self.stream.advance();
        Some(fact)
    }
}

/// The facts of a partition in order. It seems to end where it cannot be read on: whoever drains it asks for the error.
struct Stream {
    sorted: Sorted<Grouped>,
    head: Option<Fact>,
    error: Option<io::Error>,
}

impl Stream {
    fn advance(&mut self) {
        self.head = match self.sorted.next() {
            Ok(next) => next.map(|fact| fact.0),
            Err(error) => {
                self.error = Some(error);
                None
            }
        };
    }
}

/// The memory that one part of a grouping may take.
fn bound(pool: &Pool) -> usize {
    (pool.budget() / 2).max(LEAST)
}

/// Visits all facts of `sources` that are no needs, grouped by digest; within a group by what they say, then by line or address. What a
/// visitor leaves of its group is skipped.
pub(crate) fn for_each_group<'a>(
    sources: impl IntoIterator<Item = &'a Facts>,
    mut visit: impl FnMut(&mut Group<'_>),
) -> io::Result<()> {
    let sources: Vec<_> = sources.into_iter().collect();
    (0..PARTITIONS).try_for_each(|partition| groups_of(&sources, partition, &mut visit))
}

fn groups_of(sources: &[&Facts], partition: usize, mut visit: impl FnMut(&mut Group<'_>)) -> io::Result<()> {
    let Some(pool) = sources.first().map(|source| source.pool()) else { return Ok(()) };
    let mut sorter = Sorter::new(pool.spill(), bound(pool));
    for source in sources {
        source.rows(partition, |fact| sorter.push(Grouped(fact)))?;
    }
    let mut stream = Stream { sorted: sorter.finish()?, head: None, error: None };
    stream.advance();
    while let Some(first) = stream.head {
        let mut group = Group { digest: first.digest, stream: &mut stream };
        visit(&mut group);
        group.for_each(drop);
    }
    stream.error.map_or(Ok(()), Err)
}

/// Visits those needs of `sources` whose node is not there, in any order. `is_there` tells of the other facts of a node whether it is; one
/// of which there are none is not.
pub(crate) fn for_each_unmet<'a>(
    sources: impl IntoIterator<Item = &'a Facts>,
    mut is_there: impl FnMut(&mut Group<'_>) -> bool,
    mut visit: impl FnMut(&Fact),
) -> io::Result<()> {
    let sources: Vec<_> = sources.into_iter().collect();
    let Some(pool) = sources.first().map(|source| source.pool()) else { return Ok(()) };
    let most = bound(pool) / size_of::<Digest>();
    for partition in 0..PARTITIONS {
        if !sources.iter().any(|source| source.has_needs(partition)) {
            continue;
        }
        // Digests come in order: needs are compared with as many as memory holds, then with the next ones.
        let mut window = Window { there: Vec::new(), after: None };
        let mut failed = Ok(());
        groups_of(&sources, partition, |group| {
            if failed.is_err() || !is_there(group) {
                return;
            }
            window.there.push(group.digest());
            if window.there.len() >= most {
                failed = window.unmet(&sources, partition, Some(group.digest()), &mut visit);
                window = Window { there: Vec::new(), after: Some(group.digest()) };
            }
        })?;
        failed?;
        window.unmet(&sources, partition, None, &mut visit)?;
    }
    Ok(())
}

/// The nodes that are there of those whose digests come after `after`, in order.
struct Window {
    there: Vec<Digest>,
    after: Option<Digest>,
}

impl Window {
    /// Visits the needs up to `last` that are unmet.
    fn unmet(
        &self,
        sources: &[&Facts],
        partition: usize,
        last: Option<Digest>,
        visit: &mut impl FnMut(&Fact),
    ) -> io::Result<()> {
        let concerned =
            |digest: Digest| self.after.is_none_or(|after| digest > after) && last.is_none_or(|last| digest <= last);
        for source in sources {
            source.needs(partition, |need| {
                if concerned(need.digest) && self.there.binary_search(&need.digest).is_err() {
                    visit(&need);
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::testing::digest;
    use crate::write::facts::What;

    fn groups(bound: usize) -> BTreeMap<Digest, Vec<(What, u64)>> {
        let pool = Pool::new(bound);
        let (mut a, mut b) = (Facts::new(&pool), Facts::new(&pool));
        // The last fifth has one digest.
        for n in 0..200_000_u64 {
            let fact = Fact::new(digest(if n < 160_000 { n % 70_000 } else { 7 }), What::Insert, 0, n);
            if n % 2 == 0 { a.push(&fact).unwrap() } else { b.push(&fact).unwrap() }
        }
        b.push(&Fact::new(digest(5), What::Stored, 0, 77)).unwrap();
        b.push(&Fact::new(digest(5), What::InputNeeds, 0, 78)).unwrap();
        let mut groups = BTreeMap::new();
        for_each_group([&a, &b], |group| {
            let digest = group.digest();
            let facts = group.map(|fact| (fact.what, fact.at)).collect();
            assert!(groups.insert(digest, facts).is_none(), "a digest comes once");
        })
        .unwrap();
        groups
    }

    #[test]
    fn groups_are_whole_and_ordered_in_memory_and_spilled() {
        let groups_in_memory = groups(usize::MAX);
        assert_eq!(groups_in_memory.len(), 70_000);
        assert_eq!(
            groups_in_memory[&digest(5)],
            [(What::Stored, 77), (What::Insert, 5), (What::Insert, 70_005), (What::Insert, 140_005)]
        );
        assert_eq!(groups_in_memory[&digest(7)].len(), 40_003);
        // A partition has about 2,500 facts, one of them 40,000 more; in memory there is room for less than 100.
        assert_eq!(groups(0), groups_in_memory);
    }

    #[test]
    fn what_a_visitor_leaves_is_skipped() {
        let mut facts = Facts::new(&Pool::new(usize::MAX));
        (0..100).for_each(|n| facts.push(&Fact::new(digest(n % 10), What::Insert, 0, n)).unwrap());
        let mut first = BTreeSet::new();
        for_each_group([&facts], |group| assert!(first.insert(group.next().unwrap().at))).unwrap();
        assert_eq!(first, (0..10).collect());
    }

    /// The lines whose need is unmet: nodes of even numbers are there, those of odd numbers are mentioned at most; each is needed by
    /// one line, and one that is not there by 50,000.
    fn unmet(bound: usize) -> BTreeSet<u64> {
        let pool = Pool::new(bound);
        let (mut nodes, mut edges) = (Facts::new(&pool), Facts::new(&pool));
        let hub = 1;
        for n in 0..100_000_u64 {
            if n % 10 != 9 {
                nodes.push(&Fact::new(digest(n), What::Stored, 0, n)).unwrap();
            }
            edges.push(&Fact::new(digest(n), What::InputNeeds, 1, n)).unwrap();
        }
        (0..50_000).for_each(|n| edges.push(&Fact::new(digest(hub), What::StoredNeeds, 1, 1_000_000 + n)).unwrap());
        let mut unmet = BTreeSet::new();
        let is_there = |group: &mut Group<'_>| group.any(|fact| fact.at % 2 == 0);
        for_each_unmet([&nodes, &edges], is_there, |need| assert!(unmet.insert(need.at), "a need comes once")).unwrap();
        unmet
    }

    #[test]
    fn needs_are_met_or_not_whatever_the_memory() {
        let in_memory = unmet(usize::MAX);
        let expected = (0..100_000).filter(|n| n % 2 == 1).chain(1_000_000..1_050_000).collect();
        assert_eq!(in_memory, expected);
        // A partition has about 780 nodes that are there, a window has room for 256.
        assert_eq!(unmet(0), in_memory);
    }
}
