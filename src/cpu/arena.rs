//! The program's activations: one allocation, buffers at planned places.

use super::huge;
use crate::Result;
use crate::step::{Buffer, BufferId, Schedule};

/// Rows of all buffers of a schedule for up to `max_rows` rows. Workers write disjoint rows or
/// columns of a step's outputs while they read its inputs, which the planner keeps apart.
#[derive(Debug)]
pub struct Arena {
    /// In huge pages: a tile's results go to a row each, far apart.
    memory: huge::Buffer,
    max_rows: usize,
}

/// A view that workers share.
#[derive(Clone, Copy)]
pub struct ArenaView<'a> {
    start: *mut f32,
    len: usize,
    max_rows: usize,
    schedule: &'a Schedule,
}

// SAFETY: all access goes through `row` and `write`, whose contracts keep workers apart.
unsafe impl Sync for ArenaView<'_> {}
// SAFETY: as above.
unsafe impl Send for ArenaView<'_> {}

impl Arena {
    /// Room for `max_rows` rows.
    pub fn new(width: usize, max_rows: usize) -> Result<Arena> {
        Ok(Arena {
            memory: huge::Buffer::new(width * max_rows * size_of::<f32>())?,
            max_rows,
        })
    }

    /// The view for one run.
    pub fn view<'a>(&'a mut self, schedule: &'a Schedule) -> ArenaView<'a> {
        let len = self.memory.len() / size_of::<f32>();
        ArenaView {
            start: self.memory.as_ptr().cast(),
            len,
            max_rows: self.max_rows,
            schedule,
        }
    }
}

impl ArenaView<'_> {
    fn at(&self, id: BufferId, row: usize, column: usize, len: usize) -> usize {
        let Buffer { width, offset, .. } = self.schedule.buffers[id.0];
        assert!(
            row < self.max_rows && column + len <= width,
            "outside the arena"
        );
        let at = offset * self.max_rows + row * width + column;
        assert!(at + len <= self.len, "outside the arena");
        at
    }

    /// Columns of a buffer.
    pub fn width(&self, id: BufferId) -> usize {
        self.schedule.buffers[id.0].width
    }

    /// The first `bytes` of a buffer, to read.
    ///
    /// # Safety
    /// Nobody may write these meanwhile.
    pub unsafe fn bytes(&self, id: BufferId, bytes: usize) -> &[u8] {
        let start = self.whole(id, bytes);
        // SAFETY: `whole` checked the range; unshared by contract.
        unsafe { std::slice::from_raw_parts(start, bytes) }
    }

    /// The first `bytes` of a buffer, to write.
    ///
    /// # Safety
    /// Nobody else may use these meanwhile.
    #[allow(clippy::mut_from_ref)] // as `write`
    pub unsafe fn bytes_mut(&self, id: BufferId, bytes: usize) -> &mut [u8] {
        let start = self.whole(id, bytes);
        // SAFETY: `whole` checked the range; exclusive by contract.
        unsafe { std::slice::from_raw_parts_mut(start, bytes) }
    }

    fn whole(&self, id: BufferId, bytes: usize) -> *mut u8 {
        let Buffer { width, offset, .. } = self.schedule.buffers[id.0];
        assert!(
            bytes <= width * self.max_rows * size_of::<f32>(),
            "outside the arena"
        );
        let at = offset * self.max_rows;
        assert!(
            at + bytes.div_ceil(size_of::<f32>()) <= self.len,
            "outside the arena"
        );
        // SAFETY: `at` lies inside the memory.
        unsafe { self.start.add(at).cast() }
    }

    /// One row.
    ///
    /// # Safety
    /// Nobody may write this row meanwhile.
    pub unsafe fn row(&self, id: BufferId, row: usize) -> &[f32] {
        let width = self.width(id);
        // SAFETY: `at` checked the range; unshared by contract.
        unsafe { std::slice::from_raw_parts(self.start.add(self.at(id, row, 0, width)), width) }
    }

    /// `len` columns of a row, to write.
    ///
    /// # Safety
    /// Nobody else may use these places meanwhile.
    #[allow(clippy::mut_from_ref)] // workers share the view and write disjoint places
    pub unsafe fn write(&self, id: BufferId, row: usize, column: usize, len: usize) -> &mut [f32] {
        // SAFETY: `at` checked the range; exclusive by contract.
        unsafe {
            std::slice::from_raw_parts_mut(self.start.add(self.at(id, row, column, len)), len)
        }
    }
}
