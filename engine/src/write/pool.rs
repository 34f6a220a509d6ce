//! Buffers of many small collections within one budget of memory: when all of them together outgrow it, the largest go to a
//! temporary file.
//!
//! # Invariants
//! 1. The room that the buffers hold is never above the budget, however many there are.
//! 2. A buffer is a sequence of bytes that only grows: what of it lies in the file comes before what is in memory, so that a reader's
//!    place stays true while the buffer is written out.
//! 3. No lock is held while a reader looks at bytes: it may fill other buffers meanwhile.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::write::spill::{Block, Spill};

/// The smallest budget that is kept to: room for some items whatever was asked for.
const LEAST: usize = 16 * 1024;
/// Bytes that a buffer makes room for at first.
const FIRST: usize = 256;
/// Bytes that are copied out for a reader at a time.
const PIECE: usize = 64 * 1024;
/// Small buffers are written to the file together, about this many bytes at once.
const WRITTEN_AT_ONCE: usize = 1024 * 1024;

/// The buffers of one piece of work.
#[derive(Debug)]
pub(crate) struct Pool {
    budget: usize,
    spill: Arc<Spill>,
    buffers: Mutex<Buffers>,
}

/// A buffer of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BufferId(usize);

#[derive(Debug, Default)]
struct Buffers {
    /// Room of all buffers in memory, used or not.
    held: usize,
    all: Vec<Buffer>,
    free: Vec<usize>,
}

#[derive(Debug, Default)]
struct Buffer {
    blocks: Vec<Block>,
    memory: Vec<u8>,
}

impl Pool {
    /// A pool whose buffers hold at most `budget` bytes of memory, or a few where that is less.
    pub(crate) fn new(budget: usize) -> Arc<Self> {
        Arc::new(Self { budget: budget.max(LEAST), spill: Spill::new(), buffers: Mutex::default() })
    }

    /// Bytes of memory that the buffers hold at most.
    pub(crate) fn budget(&self) -> usize {
        self.budget
    }

    /// Where buffers go that outgrow the budget.
    pub(crate) fn spill(&self) -> &Arc<Spill> {
        &self.spill
    }

    /// A new, empty buffer.
    pub(crate) fn create(&self) -> BufferId {
        let mut buffers = self.lock();
        if let Some(free) = buffers.free.pop() {
            return BufferId(free);
        }
        buffers.all.push(Buffer::default());
        BufferId(buffers.all.len() - 1)
    }

    /// Lets go of a buffer. Its bytes in the file stay until the pool is gone.
    pub(crate) fn discard(&self, BufferId(id): BufferId) {
        let mut buffers = self.lock();
        if let Some(buffer) = buffers.all.get_mut(id) {
            let Buffer { memory, .. } = std::mem::take(buffer);
            buffers.held -= memory.capacity();
            buffers.free.push(id);
        }
    }

    /// Appends a few bytes to a buffer. They may be parted from those before them where the buffer was written out, but are not
    /// parted themselves.
    ///
    /// # Errors
    /// If the temporary file cannot be written.
    pub(crate) fn append(&self, BufferId(id): BufferId, bytes: &[u8]) -> io::Result<()> {
        let mut buffers = self.lock();
        let room = |buffers: &Buffers| match buffers.all.get(id).map(|buffer| &buffer.memory) {
            Some(memory) if memory.capacity() - memory.len() >= bytes.len() => 0,
            Some(memory) => memory.capacity().max(FIRST).max(bytes.len()),
            None => 0,
        };
        let mut more = room(&buffers);
        if more > 0 && buffers.held + more > self.budget {
            buffers.write_largest(self.budget / 2, &self.spill)?;
            more = room(&buffers);
        }
        let Buffers { held, all, .. } = &mut *buffers;
        if let Some(Buffer { memory, .. }) = all.get_mut(id) {
            let before = memory.capacity();
            memory.reserve_exact(if more > 0 { before - memory.len() + more } else { 0 });
            *held += memory.capacity() - before;
            memory.extend_from_slice(bytes);
        }
        Ok(())
    }

    /// Whether nothing was appended to a buffer.
    pub(crate) fn is_empty(&self, BufferId(id): BufferId) -> bool {
        let buffers = self.lock();
        buffers.all.get(id).is_none_or(|buffer| buffer.blocks.is_empty() && buffer.memory.is_empty())
    }

    /// Visits the bytes of a buffer from the first on, in pieces of whole items of `item` bytes, as they were appended. `visit` may fill
    /// other buffers.
    ///
    /// # Errors
    /// If the temporary file cannot be read, or those of `visit`.
    pub(crate) fn read(
        &self,
        BufferId(id): BufferId,
        item: usize,
        mut visit: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        // The place: so many blocks, and so many bytes of what comes after them, wherever that is by then.
        let (mut blocks, mut bytes) = (0, 0);
        let most = (PIECE / item).max(1) * item;
        loop {
            let next = {
                let buffers = self.lock();
                let Some(buffer) = buffers.all.get(id) else { return Ok(()) };
                if let Some(block) = buffer.blocks.get(blocks) {
                    Err(*block)
                } else {
                    let rest = buffer.memory.get(bytes..).unwrap_or_default();
                    Ok(rest.get(..most).unwrap_or(rest).to_vec())
                }
            };
            match next {
                Ok(piece) if piece.is_empty() => return Ok(()),
                Ok(piece) => {
                    bytes += piece.len();
                    visit(&piece)?;
                }
                Err(block) => {
                    let piece = block.part(bytes, most);
                    if piece.is_empty() {
                        (blocks, bytes) = (blocks + 1, 0);
                        continue;
                    }
                    bytes += piece.len();
                    visit(&self.spill.read(piece)?)?;
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Buffers> {
        // What a panic could leave half-done is only ever read by the work that panicked.
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes of memory that the buffers hold.
    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.lock().held
    }
}

impl Buffers {
    /// Writes the largest buffers to the file until no more than `left` bytes are held.
    fn write_largest(&mut self, left: usize, spill: &Spill) -> io::Result<()> {
        let mut sizes: Vec<(usize, usize)> =
            self.all.iter().map(|buffer| buffer.memory.capacity()).zip(0..).filter(|(size, _)| *size > 0).collect();
        sizes.sort_unstable_by(|one, other| other.cmp(one));
        let (mut chosen, mut bytes, mut held) = (Vec::new(), 0, self.held);
        for (size, id) in sizes {
            if held <= left {
                break;
            }
            held -= size;
            bytes += size;
            chosen.push(id);
            if bytes >= WRITTEN_AT_ONCE {
                self.write(&std::mem::take(&mut chosen), spill)?;
                bytes = 0;
            }
        }
        self.write(&chosen, spill)
    }

    /// Writes some buffers to the file, side by side.
    fn write(&mut self, chosen: &[usize], spill: &Spill) -> io::Result<()> {
        let memories = chosen.iter().filter_map(|id| self.all.get(*id)).map(|buffer| buffer.memory.as_slice());
        let blocks = spill.append_all(memories)?;
        for (id, block) in chosen.iter().zip(blocks) {
            if let Some(Buffer { blocks, memory }) = self.all.get_mut(*id) {
                self.held -= std::mem::take(memory).capacity();
                blocks.push(block);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(pool: &Pool, id: BufferId) -> Vec<u8> {
        let mut all = Vec::new();
        pool.read(id, 8, |bytes| {
            assert!(!bytes.is_empty() && bytes.len().is_multiple_of(8), "pieces are whole items");
            all.extend_from_slice(bytes);
            Ok(())
        })
        .unwrap();
        all
    }

    fn numbers(range: std::ops::Range<u64>) -> Vec<u8> {
        range.flat_map(u64::to_le_bytes).collect()
    }

    #[test]
    fn any_number_of_small_buffers_keeps_the_budget() {
        let pool = Pool::new(1 << 20);
        let ids: Vec<BufferId> = (0..10_000).map(|_| pool.create()).collect();
        for n in 0..60_u64 {
            for id in &ids {
                pool.append(*id, &n.to_le_bytes()).unwrap();
            }
            assert!(pool.held() <= pool.budget(), "{} bytes", pool.held());
        }
        for id in ids.iter().step_by(97) {
            assert_eq!(contents(&pool, *id), numbers(0..60));
        }
    }

    #[test]
    fn the_largest_goes_first_and_small_ones_stay() {
        let pool = Pool::new(1 << 20);
        let small: Vec<BufferId> = (0..100).map(|_| pool.create()).collect();
        for id in &small {
            pool.append(*id, &7_u64.to_le_bytes()).unwrap();
        }
        let large = pool.create();
        (0..500_000_u64).for_each(|n| pool.append(large, &n.to_le_bytes()).unwrap());
        let in_file = |id: BufferId| pool.lock().all[id.0].blocks.len();
        assert!(in_file(large) > 0 && small.iter().all(|id| in_file(*id) == 0));
        assert!(pool.held() <= pool.budget());
        assert_eq!(contents(&pool, large), numbers(0..500_000));
    }

    #[test]
    fn what_is_written_out_while_it_is_read_is_read_once() {
        let pool = Pool::new(1 << 20);
        let (read, other) = (pool.create(), pool.create());
        (0..70_000_u64).for_each(|n| pool.append(read, &n.to_le_bytes()).unwrap());
        assert!(pool.lock().all[read.0].blocks.is_empty());
        let mut all = Vec::new();
        pool.read(read, 8, |bytes| {
            all.extend_from_slice(bytes);
            (0..100_u64).try_for_each(|n| pool.append(other, &n.to_le_bytes()))
        })
        .unwrap();
        assert!(!pool.lock().all[read.0].blocks.is_empty(), "the other one pushed it out");
        assert_eq!(all, numbers(0..70_000));
    }

    #[test]
    fn what_is_discarded_is_no_longer_held_and_its_place_is_used_again() {
        let pool = Pool::new(1 << 20);
        let first = pool.create();
        pool.append(first, &[1; 8]).unwrap();
        assert!(pool.held() > 0 && !pool.is_empty(first));
        pool.discard(first);
        assert_eq!(pool.held(), 0);
        let second = pool.create();
        assert_eq!(second, first);
        assert!(pool.is_empty(second));
    }
}
