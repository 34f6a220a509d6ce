//! Sorting lines by a key in bounded memory.

use std::io::{self, Write};

use crate::write::external::{Item, Sorter};
use crate::write::spill::Spill;

/// Bytes of lines that are sorted in memory.
const RUN: usize = 64 * 1024 * 1024;
/// What the allocator holds for the two parts of a line besides what they ask for, about.
const OVERHEAD: usize = 32;

/// Lines to be sorted.
#[derive(Debug)]
pub(crate) struct LineSorter(Sorter<Line>);

/// A line and what it is sorted by. The order of lines with equal keys is theirs.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Line {
    key: Vec<u8>,
    text: Vec<u8>,
}

impl Item for Line {
    fn write(&self, out: &mut Vec<u8>) {
        for part in [&self.key, &self.text] {
            out.extend_from_slice(&(part.len() as u64).to_le_bytes());
            out.extend_from_slice(part);
        }
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        Some(Self { key: part(bytes)?, text: part(bytes)? })
    }

    fn held(&self) -> usize {
        self.key.capacity() + self.text.capacity() + OVERHEAD
    }
}

fn part(bytes: &mut &[u8]) -> Option<Vec<u8>> {
    let (len, rest) = bytes.split_first_chunk::<8>()?;
    let (part, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*len)).ok()?)?;
    *bytes = rest;
    Some(part.to_vec())
}

impl Default for LineSorter {
    fn default() -> Self {
        Self::with_bound(RUN)
    }
}

impl LineSorter {
    /// A sorter that holds `bound` bytes in memory.
    pub(crate) fn with_bound(bound: usize) -> Self {
        Self(Sorter::new(&Spill::new(), bound))
    }

    /// Takes a line in.
    pub(crate) fn push(&mut self, key: Vec<u8>, text: Vec<u8>) -> io::Result<()> {
        self.0.push(Line { key, text })
    }

    /// Writes all lines in the order of their keys, each with its end.
    pub(crate) fn finish(self, mut out: impl Write) -> Result<(), SortError> {
        let mut lines = self.0.finish().map_err(SortError::Temporary)?;
        while let Some(line) = lines.next().map_err(SortError::Temporary)? {
            out.write_all(&line.text).and_then(|()| out.write_all(b"\n")).map_err(SortError::Output)?;
        }
        Ok(())
    }
}

/// Which side failed.
#[derive(Debug)]
pub(crate) enum SortError {
    /// A temporary file.
    Temporary(io::Error),
    /// The output.
    Output(io::Error),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(bound: usize) -> Vec<u8> {
        let mut sorter = LineSorter::with_bound(bound);
        for n in 0_u32..5_000 {
            let n = n.wrapping_mul(2_654_435_761) % 5_003;
            sorter.push(n.to_be_bytes().to_vec(), format!("line {n}").into_bytes()).unwrap();
        }
        let mut out = Vec::new();
        sorter.finish(&mut out).unwrap();
        out
    }

    #[test]
    fn spilled_runs_merge_to_what_memory_sorts() {
        let in_memory = sorted(usize::MAX);
        let text = String::from_utf8(in_memory.clone()).unwrap();
        let numbers: Vec<u32> = text.lines().map(|line| line[5..].parse().unwrap()).collect();
        assert_eq!(numbers.len(), 5_000);
        assert!(numbers.is_sorted());
        for bound in [0, 1_000, 10_000] {
            assert_eq!(sorted(bound), in_memory);
        }
    }
}
