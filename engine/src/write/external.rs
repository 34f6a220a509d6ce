//! Sorting more than memory holds: sorted runs in a temporary file, merged a bounded number at a time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::sync::Arc;

use crate::write::spill::{Block, Spill};

/// Runs that are merged at once. Each is read through a buffer of one block.
const FAN_IN: usize = 64;
/// Bytes of a block: of all buffers of a merge together no more than the bound, within these limits.
const SMALLEST_BLOCK: usize = 4 * 1024;
const LARGEST_BLOCK: usize = 256 * 1024;
/// Items that room is made for at first.
const FEW: usize = 4;

/// What can be sorted.
pub(crate) trait Item: Ord + Sized {
    /// Appends the item's bytes.
    fn write(&self, out: &mut Vec<u8>);

    /// Takes an item off the front of `bytes`; `None` if there is no whole one.
    fn read(bytes: &mut &[u8]) -> Option<Self>;

    /// Bytes of memory that it holds besides its own.
    fn held(&self) -> usize;
}

/// Items to be sorted.
#[derive(Debug)]
pub(crate) struct Sorter<T> {
    spill: Arc<Spill>,
    bound: usize,
    items: Vec<T>,
    /// What `items` hold besides their own room.
    held: usize,
    /// Blocks of each run that was spilled.
    runs: Vec<Vec<Block>>,
}

impl<T: Item> Sorter<T> {
    /// A sorter that holds about `bound` bytes in memory, and puts the rest into `spill`.
    pub(crate) fn new(spill: &Arc<Spill>, bound: usize) -> Self {
        Self { spill: spill.clone(), bound, items: Vec::new(), held: 0, runs: Vec::new() }
    }

    /// Takes an item in.
    pub(crate) fn push(&mut self, item: T) -> io::Result<()> {
        let room = self.items.capacity();
        let room = if self.items.len() < room { room } else { room.saturating_mul(2).max(FEW) };
        let would_hold = room.saturating_mul(size_of::<T>()).saturating_add(self.held).saturating_add(item.held());
        if would_hold > self.bound && !self.items.is_empty() {
            self.end_run()?;
        }
        if self.items.len() == self.items.capacity() {
            self.items.reserve_exact(self.items.len().max(FEW));
        }
        self.held += item.held();
        self.items.push(item);
        Ok(())
    }

    fn end_run(&mut self) -> io::Result<()> {
        // The room goes too: made for many small items, it would leave none for large ones.
        let mut items = std::mem::take(&mut self.items);
        self.held = 0;
        items.sort_unstable();
        let mut run = self.new_run();
        items.iter().try_for_each(|item| run.push(item))?;
        self.runs.push(run.finish()?);
        Ok(())
    }

    fn new_run(&self) -> NewRun {
        let block = (self.bound / FAN_IN).clamp(SMALLEST_BLOCK, LARGEST_BLOCK);
        NewRun { spill: self.spill.clone(), block, bytes: Vec::new(), blocks: Vec::new() }
    }

    /// All items in order.
    pub(crate) fn finish(mut self) -> io::Result<Sorted<T>> {
        if self.runs.is_empty() {
            self.items.sort_unstable();
            return Ok(Sorted::Memory(self.items.into_iter()));
        }
        if !self.items.is_empty() {
            self.end_run()?;
        }
        while self.runs.len() > FAN_IN {
            let some: Vec<_> = self.runs.drain(..FAN_IN).collect();
            let mut merge = Merge::<T>::new(&self.spill, some)?;
            let mut run = self.new_run();
            while let Some(item) = merge.next()? {
                run.push(&item)?;
            }
            self.runs.push(run.finish()?);
        }
        Ok(Sorted::Merge(Merge::new(&self.spill, self.runs)?))
    }
}

/// Sorted items, to be taken one by one.
#[derive(Debug)]
pub(crate) enum Sorted<T> {
    /// All of them fitted.
    Memory(std::vec::IntoIter<T>),
    /// From runs.
    Merge(Merge<T>),
}

impl<T: Item> Sorted<T> {
    /// The next item.
    pub(crate) fn next(&mut self) -> io::Result<Option<T>> {
        match self {
            Self::Memory(items) => Ok(items.next()),
            Self::Merge(merge) => merge.next(),
        }
    }
}

/// A run being written.
struct NewRun {
    spill: Arc<Spill>,
    block: usize,
    bytes: Vec<u8>,
    blocks: Vec<Block>,
}

impl NewRun {
    fn push(&mut self, item: &impl Item) -> io::Result<()> {
        item.write(&mut self.bytes);
        if self.bytes.len() >= self.block { self.end_block() } else { Ok(()) }
    }

    fn end_block(&mut self) -> io::Result<()> {
        self.blocks.push(self.spill.append(&self.bytes)?);
        self.bytes.clear();
        Ok(())
    }

    fn finish(mut self) -> io::Result<Vec<Block>> {
        if !self.bytes.is_empty() {
            self.end_block()?;
        }
        Ok(self.blocks)
    }
}

/// Runs being read side by side.
#[derive(Debug)]
pub(crate) struct Merge<T> {
    runs: Vec<Run>,
    heads: BinaryHeap<Reverse<(T, usize)>>,
}

impl<T: Item> Merge<T> {
    fn new(spill: &Arc<Spill>, runs: Vec<Vec<Block>>) -> io::Result<Self> {
        let runs: Vec<Run> = runs.into_iter().map(|blocks| Run::new(spill, blocks)).collect();
        let mut merge = Self { heads: BinaryHeap::with_capacity(runs.len()), runs };
        (0..merge.runs.len()).try_for_each(|run| merge.refill(run))?;
        Ok(merge)
    }

    fn refill(&mut self, run: usize) -> io::Result<()> {
        let Some(open) = self.runs.get_mut(run) else { return Ok(()) };
        self.heads.extend(open.next()?.map(|item| Reverse((item, run))));
        Ok(())
    }

    fn next(&mut self) -> io::Result<Option<T>> {
        let Some(Reverse((item, run))) = self.heads.pop() else { return Ok(None) };
        self.refill(run)?;
        Ok(Some(item))
    }
}

/// A run being read.
#[derive(Debug)]
struct Run {
    spill: Arc<Spill>,
    blocks: std::vec::IntoIter<Block>,
    block: Vec<u8>,
    at: usize,
}

impl Run {
    fn new(spill: &Arc<Spill>, blocks: Vec<Block>) -> Self {
        Self { spill: spill.clone(), blocks: blocks.into_iter(), block: Vec::new(), at: 0 }
    }

    fn next<T: Item>(&mut self) -> io::Result<Option<T>> {
        if self.at >= self.block.len() {
            match self.blocks.next() {
                Some(block) => self.block = self.spill.read(block)?,
                None => return Ok(None),
            }
            self.at = 0;
        }
        let mut rest = self.block.get(self.at..).unwrap_or_default();
        let item = T::read(&mut rest).ok_or_else(|| io::Error::other("a spilled run is cut off"))?;
        self.at = self.block.len() - rest.len();
        Ok(Some(item))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight bytes, and room that it does not use.
    #[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
    struct Sample(u64, Vec<u8>);

    impl Sample {
        fn new(n: u64, room: usize) -> Self {
            Self(n, Vec::with_capacity(room))
        }
    }

    impl Item for Sample {
        fn write(&self, out: &mut Vec<u8>) {
            out.extend_from_slice(&self.0.to_be_bytes());
        }

        fn read(bytes: &mut &[u8]) -> Option<Self> {
            let (n, rest) = bytes.split_first_chunk()?;
            *bytes = rest;
            Some(Self::new(u64::from_be_bytes(*n), 0))
        }

        fn held(&self) -> usize {
            self.1.capacity()
        }
    }

    /// Items out of order, some of them twice.
    fn sorter(bound: usize, items: u64, room: usize) -> Sorter<Sample> {
        let mut sorter = Sorter::new(&Spill::new(), bound);
        for n in 0..items {
            sorter.push(Sample::new(n.wrapping_mul(2_654_435_761) % 40_009, room)).unwrap();
            assert!(sorter.items.len() <= FEW || sorter.held + sorter.items.capacity() * size_of::<Sample>() <= bound);
        }
        sorter
    }

    fn drained(mut sorted: Sorted<Sample>) -> Vec<u64> {
        std::iter::from_fn(|| sorted.next().unwrap()).map(|item| item.0).collect()
    }

    #[test]
    fn any_number_of_runs_is_merged_a_few_at_a_time() {
        let in_memory = drained(sorter(usize::MAX, 50_000, 0).finish().unwrap());
        assert_eq!(in_memory.len(), 50_000);
        assert!(in_memory.is_sorted());
        let many = sorter(FEW * size_of::<Sample>(), 50_000, 0);
        assert!(many.runs.len() > FAN_IN * FAN_IN, "{} runs", many.runs.len());
        let sorted = many.finish().unwrap();
        assert!(matches!(&sorted, Sorted::Merge(merge) if merge.runs.len() <= FAN_IN));
        assert_eq!(drained(sorted), in_memory);
    }

    #[test]
    fn what_items_hold_counts_whether_they_use_it_or_not() {
        assert!(sorter(100_000, 500, 0).runs.is_empty());
        assert!(sorter(100_000, 500, 1_000).runs.len() >= 5);
    }

    #[test]
    fn large_items_after_many_small_ones_share_runs() {
        // Room for 2,048 small items takes nearly all of the bound.
        let mut sorter = sorter(66_000, 3_000, 0);
        let before = sorter.runs.len();
        (0..100).for_each(|n| sorter.push(Sample::new(n, 1_000)).unwrap());
        assert!(sorter.runs.len() <= before + 5, "{} runs more", sorter.runs.len() - before);
    }

    #[test]
    fn nothing_is_sorted_to_nothing() {
        assert!(drained(Sorter::new(&Spill::new(), 0).finish().unwrap()).is_empty());
    }
}
