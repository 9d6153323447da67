//! What one launch did to the dwords of a region: blocks of cells for those that were touched. Blocks of finished launches
//! are used again: new memory would cost a page fault for each of them.

use parking_lot::Mutex;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

/// Dwords of a block.
pub const BLOCK: usize = 256;

/// The last writer and the last reader of each dword of a block; 0 is nobody.
pub struct Block {
    pub writers: [AtomicU64; BLOCK],
    pub readers: [AtomicU64; BLOCK],
    has_writers: AtomicBool,
}

impl Block {
    fn new() -> Block {
        Block {
            writers: [const { AtomicU64::new(0) }; BLOCK],
            readers: [const { AtomicU64::new(0) }; BLOCK],
            has_writers: AtomicBool::new(false),
        }
    }

    /// Whether a dword may have a writer.
    pub fn has_writers(&self) -> bool {
        self.has_writers.load(Ordering::Relaxed)
    }

    /// To be called before a dword gets a writer.
    pub fn note_writer(&self) {
        if !self.has_writers() {
            self.has_writers.store(true, Ordering::Relaxed);
        }
    }

    /// Writers, if a dword has one, and readers.
    pub fn cells(&mut self) -> (Option<&[u64]>, &[u64]) {
        let has_writers = *self.has_writers.get_mut();
        let writers = has_writers.then(|| &*plain(&mut self.writers));
        (writers, plain(&mut self.readers))
    }

    fn clear(&mut self) {
        if std::mem::take(self.has_writers.get_mut()) {
            plain(&mut self.writers).fill(0);
        }
        plain(&mut self.readers).fill(0);
    }
}

fn plain(cells: &mut [AtomicU64]) -> &mut [u64] {
    // SAFETY: nobody else has them; AtomicU64 has the size, alignment and valid bits of u64.
    unsafe { &mut *(ptr::from_mut(cells) as *mut [u64]) }
}

/// Blocks of finished launches, cleared.
static FREE: Mutex<Vec<Box<Block>>> = Mutex::new(Vec::new());
/// Of so many at most: 256 MB.
const FREE_MOST: usize = 64 << 10;

/// Memory that comes zeroed, of which pages that nobody touches cost nothing.
fn nulls(count: usize) -> Vec<AtomicPtr<Block>> {
    let mut plain = std::mem::ManuallyDrop::new(vec![ptr::null_mut::<Block>(); count]);
    // SAFETY: the same allocation; AtomicPtr has the size, alignment and valid bits of a pointer.
    unsafe { Vec::from_raw_parts(plain.as_mut_ptr().cast(), plain.len(), plain.capacity()) }
}

/// The shadow of one region.
pub struct Shadow {
    /// Those that were touched; others are null.
    blocks: Vec<AtomicPtr<Block>>,
    /// Their numbers, in the order in which they came.
    touched: Mutex<Vec<usize>>,
}

impl Shadow {
    /// Of a region of so many bytes that need not begin at a dword.
    pub fn new(bytes: usize) -> Shadow {
        let blocks = (bytes / 4 + 2).div_ceil(BLOCK);
        Shadow {
            blocks: nulls(blocks),
            touched: Mutex::default(),
        }
    }

    /// A block of the region; `None` behind its end.
    pub fn block(&self, number: usize) -> Option<&Block> {
        let place = self.blocks.get(number)?;
        let block = place.load(Ordering::Acquire);
        let block = if block.is_null() {
            self.touch(place, number)
        } else {
            block
        };
        // SAFETY: who set it left it there, until the shadow is drained or dropped, which nobody else has then.
        Some(unsafe { &*block })
    }

    fn touch(&self, place: &AtomicPtr<Block>, number: usize) -> *mut Block {
        let mut touched = self.touched.lock();
        let there = place.load(Ordering::Acquire);
        if !there.is_null() {
            return there;
        }
        let free = FREE.lock().pop();
        let block = Box::into_raw(free.unwrap_or_else(|| Box::new(Block::new())));
        touched.push(number);
        place.store(block, Ordering::Release);
        block
    }

    /// Calls `take` with each block that was touched and its number, in ascending order; none is left.
    pub fn drain(&mut self, mut take: impl FnMut(usize, &mut Block)) {
        let mut touched = std::mem::take(self.touched.get_mut());
        touched.sort_unstable();
        let mut cleared = Vec::with_capacity(touched.len());
        for number in touched {
            let place = self.blocks.get_mut(number).map(AtomicPtr::get_mut);
            let Some(block) = place.map(|block| std::mem::replace(block, ptr::null_mut())) else {
                continue;
            };
            // SAFETY: `touch` made it of a box, and nobody else has it.
            let mut block = unsafe { Box::from_raw(block) };
            take(number, &mut block);
            block.clear();
            cleared.push(block);
        }
        let mut free = FREE.lock();
        let room = FREE_MOST.saturating_sub(free.len());
        free.extend(cleared.into_iter().take(room));
    }
}

impl Drop for Shadow {
    fn drop(&mut self) {
        self.drain(|_, _| {});
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_back_empty() {
        for round in 0..3 {
            let mut shadow = Shadow::new(5000);
            assert!(shadow.block(5).is_none());
            for number in [4, 1] {
                let block = shadow.block(number).unwrap();
                assert!(!block.has_writers(), "{round}");
                for cells in [&block.writers, &block.readers] {
                    assert!(cells.iter().all(|cell| cell.load(Ordering::Relaxed) == 0));
                }
                block.readers[7].store(3, Ordering::Relaxed);
                if number == 4 {
                    block.note_writer();
                    block.writers[7].store(3, Ordering::Relaxed);
                }
                assert!(ptr::eq(block, shadow.block(number).unwrap()));
            }
            let mut seen = Vec::new();
            shadow.drain(|number, block| {
                let (writers, readers) = block.cells();
                seen.push((number, writers.map(|writers| writers[7]), readers[7]));
            });
            assert_eq!(seen, [(1, None, 3), (4, Some(3), 3)]);
        }
    }
}
