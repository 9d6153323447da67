//! A vector whose disjoint parts different workers write at the same time.

use std::cell::UnsafeCell;
use std::ops::Range;

/// A growing vector of plain values behind shared references.
#[derive(Debug)]
pub struct SharedVec<T> {
    cells: Vec<UnsafeCell<T>>,
}

// SAFETY: all access through shared references is by the unsafe functions below, whose contracts
// keep writers apart.
unsafe impl<T: Send + Sync> Sync for SharedVec<T> {}

impl<T> Default for SharedVec<T> {
    fn default() -> Self {
        SharedVec { cells: Vec::new() }
    }
}

impl<T: Copy + Default> SharedVec<T> {
    /// At least `len` elements.
    pub fn grow(&mut self, len: usize) {
        if self.cells.len() < len {
            self.cells
                .resize_with(len, || UnsafeCell::new(T::default()));
        }
    }

    fn start(&self, range: &Range<usize>) -> *mut T {
        UnsafeCell::raw_get(self.cells[range.clone()].as_ptr())
    }

    /// Elements to read.
    ///
    /// # Safety
    /// Nobody writes them meanwhile.
    pub unsafe fn read(&self, range: Range<usize>) -> &[T] {
        // SAFETY: `start` checked the range; unwritten by contract.
        unsafe { std::slice::from_raw_parts(self.start(&range), range.len()) }
    }

    /// Elements to write.
    ///
    /// # Safety
    /// Nobody else uses them meanwhile.
    #[allow(clippy::mut_from_ref)] // what the type is for
    pub unsafe fn write(&self, range: Range<usize>) -> &mut [T] {
        // SAFETY: `start` checked the range; exclusive by contract.
        unsafe { std::slice::from_raw_parts_mut(self.start(&range), range.len()) }
    }

    /// A pointer to an element and how many follow it, itself included.
    pub fn from(&self, index: usize) -> (*mut T, usize) {
        let range = index..self.cells.len();
        (self.start(&range), range.len())
    }
}
