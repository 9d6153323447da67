//! Vectors and slices whose disjoint parts different workers write at the same time.

use std::cell::UnsafeCell;
use std::marker::PhantomData;
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

/// A slice of numbers that workers share.
#[derive(Debug, Clone, Copy)]
pub struct SharedSlice<'a, T = f32> {
    start: *mut T,
    len: usize,
    owner: PhantomData<&'a mut [T]>,
}

// SAFETY: all access is by the unsafe functions below, whose contracts keep writers apart.
unsafe impl<T: Send + Sync> Sync for SharedSlice<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Send for SharedSlice<'_, T> {}

impl<'a, T: Copy> SharedSlice<'a, T> {
    /// Of a slice that nobody else uses meanwhile.
    pub fn new(slice: &'a mut [T]) -> SharedSlice<'a, T> {
        SharedSlice {
            start: slice.as_mut_ptr(),
            len: slice.len(),
            owner: PhantomData,
        }
    }

    /// Numbers.
    pub fn len(self) -> usize {
        self.len
    }

    /// A part.
    pub fn part(self, range: Range<usize>) -> SharedSlice<'a, T> {
        assert!(range.start <= range.end && range.end <= self.len, "outside");
        SharedSlice {
            // SAFETY: within the slice.
            start: unsafe { self.start.add(range.start) },
            len: range.len(),
            owner: PhantomData,
        }
    }

    /// The first number.
    pub fn as_ptr(self) -> *mut T {
        self.start
    }

    /// To read.
    ///
    /// # Safety
    /// Nobody writes it meanwhile.
    pub unsafe fn read(self) -> &'a [T] {
        // SAFETY: alive for 'a; unwritten by contract.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }

    /// To write.
    ///
    /// # Safety
    /// Nobody else uses it meanwhile.
    pub unsafe fn write(self) -> &'a mut [T] {
        // SAFETY: alive for 'a; exclusive by contract.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }
}
