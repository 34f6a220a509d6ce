//! One unnamed temporary file for everything that outgrows memory; the system removes it, whatever becomes of the process.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A file that blocks are appended to, made when the first one comes, and the count of what its users hold in memory.
#[derive(Debug)]
pub(crate) struct Spill {
    bound: usize,
    held: AtomicUsize,
    end: AtomicU64,
    file: Mutex<Option<Arc<File>>>,
}

/// Where a block lies in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block {
    offset: u64,
    len: usize,
}

impl Spill {
    /// A spill whose users should hold `bound` bytes in memory at most.
    pub(crate) fn new(bound: usize) -> Arc<Self> {
        Arc::new(Self { bound, held: AtomicUsize::new(0), end: AtomicU64::new(0), file: Mutex::new(None) })
    }

    /// The bytes that its users should hold in memory at most.
    pub(crate) fn bound(&self) -> usize {
        self.bound
    }

    /// Notes that `bytes` more are held; tells whether that is too much.
    pub(crate) fn hold(&self, bytes: usize) -> bool {
        self.held.fetch_add(bytes, Ordering::Relaxed) + bytes > self.bound
    }

    /// Notes that `bytes` are no longer held.
    pub(crate) fn let_go(&self, bytes: usize) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
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
        let spill = Spill::new(0);
        let a = spill.append(b"first").unwrap();
        let b = spill.append(b"second one").unwrap();
        assert_eq!(spill.read(b).unwrap(), b"second one");
        assert_eq!(spill.read(a).unwrap(), b"first");
    }

    #[test]
    fn the_bound_is_told() {
        let spill = Spill::new(10);
        assert!(!spill.hold(10));
        assert!(spill.hold(1));
        spill.let_go(5);
        assert!(!spill.hold(4));
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
