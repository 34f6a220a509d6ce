//! One unnamed temporary file for everything that outgrows memory; the system removes it, whatever becomes of the process.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A file that blocks are appended to, made when the first one comes.
#[derive(Debug)]
pub(crate) struct Spill {
    end: AtomicU64,
    file: Mutex<Option<Arc<File>>>,
}

/// Where a block lies in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block {
    offset: u64,
    len: usize,
}

impl Block {
    /// At most `len` bytes of it, after its first `skip` ones.
    pub(crate) fn part(self, skip: usize, len: usize) -> Self {
        let skip = skip.min(self.len);
        Self { offset: self.offset + skip as u64, len: len.min(self.len - skip) }
    }

    /// How many bytes it has.
    pub(crate) fn len(self) -> usize {
        self.len
    }

    /// Whether it has none.
    pub(crate) fn is_empty(self) -> bool {
        self.len == 0
    }
}

impl Spill {
    /// Nothing yet.
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { end: AtomicU64::new(0), file: Mutex::new(None) })
    }

    fn file(&self) -> io::Result<Arc<File>> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        match &*file {
            Some(file) => Ok(file.clone()),
            None => Ok(file.insert(Arc::new(tempfile::tempfile()?)).clone()),
        }
    }

    /// Appends a block.
    pub(crate) fn append(&self, bytes: &[u8]) -> io::Result<Block> {
        let file = self.file()?;
        let offset = self.end.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        file.write_all_at(bytes, offset)?;
        Ok(Block { offset, len: bytes.len() })
    }

    /// Appends blocks side by side, in one go.
    pub(crate) fn append_all<'a>(&self, parts: impl Iterator<Item = &'a [u8]>) -> io::Result<Vec<Block>> {
        let (mut bytes, mut lengths) = (Vec::new(), Vec::new());
        for part in parts {
            bytes.extend_from_slice(part);
            lengths.push(part.len());
        }
        let whole = self.append(&bytes)?;
        let mut skip = 0;
        let blocks = lengths.into_iter().map(|len| {
            let block = whole.part(skip, len);
            skip += len;
            block
        });
        Ok(blocks.collect())
    }

    /// Reads a block.
    pub(crate) fn read(&self, block: Block) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; block.len];
        self.file()?.read_exact_at(&mut bytes, block.offset)?;
        Ok(bytes)
    }
}

/// Reads a file from its beginning (or a part of it) without moving anybody else's position.
#[derive(Debug)]
pub(crate) struct ReadAt {
    file: Arc<File>,
    at: u64,
    end: u64,
}

impl ReadAt {
    /// The bytes from `at` to `end`.
    pub(crate) fn new(file: Arc<File>, at: u64, end: u64) -> Self {
        Self { file, at, end }
    }
}

impl Read for ReadAt {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let into = match into.get_mut(..left) {
            Some(part) => part,
            None => into,
        };
        let read = self.file.read_at(into, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_back_in_any_order() {
        let spill = Spill::new();
        let a = spill.append(b"first").unwrap();
        let b = spill.append(b"second one").unwrap();
        assert_eq!(spill.read(b).unwrap(), b"second one");
        assert_eq!(spill.read(a).unwrap(), b"first");
    }

    #[test]
    fn blocks_written_in_one_go_are_apart_and_have_parts() {
        let spill = Spill::new();
        spill.append(b"before").unwrap();
        let blocks = spill.append_all([b"one".as_slice(), b"", b"three"].into_iter()).unwrap();
        let read: Vec<_> = blocks.iter().map(|block| spill.read(*block).unwrap()).collect();
        assert_eq!(read, [b"one".as_slice(), b"", b"three"]);
        let part = |skip, len| spill.read(blocks[2].part(skip, len)).unwrap();
        assert_eq!((part(1, 2), part(3, 9)), (b"hr".to_vec(), b"ee".to_vec()));
        assert!(blocks[2].part(5, 1).is_empty());
    }

    #[test]
    fn two_readers_do_not_disturb_each_other() {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(b"0123456789", 0).unwrap();
        let file = Arc::new(file);
        let (mut a, mut b) = (ReadAt::new(file.clone(), 0, 10), ReadAt::new(file, 4, 8));
        let (mut left, mut right) = (String::new(), String::new());
        let mut four = [0; 4];
        a.read_exact(&mut four).unwrap();
        b.read_to_string(&mut right).unwrap();
        a.read_to_string(&mut left).unwrap();
        assert_eq!((left.as_str(), right.as_str()), ("456789", "4567"));
    }
}
