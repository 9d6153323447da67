//! Inputs of any layout, read as blocks of their elements row after row.

use crate::cpu::ops::View;
use bytemuck::Pod;
use smallvec::SmallVec;

/// An input's elements: axes that lie as one are one.
pub struct Source<'a, T> {
    numbers: &'a [T],
    offset: usize,
    sizes: SmallVec<[usize; 4]>,
    strides: SmallVec<[isize; 4]>,
}

impl<'a, T: Pod> Source<'a, T> {
    /// Of a view whose elements have T's size; `None` if they are not aligned.
    pub fn of(view: &View<'a>) -> Option<Source<'a, T>> {
        assert_eq!(
            size_of::<T>(),
            view.dtype().size(),
            "a view of another size"
        );
        let layout = view.layout();
        let (mut sizes, mut strides) = (SmallVec::new(), SmallVec::<[isize; 4]>::new());
        for (&size, &stride) in layout.sizes.iter().zip(&layout.strides) {
            match (sizes.last_mut(), strides.last_mut()) {
                _ if size == 1 => {}
                (Some(run), Some(step)) if *step == stride * size as isize => {
                    *run *= size;
                    *step = stride;
                }
                _ => {
                    sizes.push(size);
                    strides.push(stride);
                }
            }
        }
        Some(Source {
            numbers: view.all()?,
            offset: layout.offset,
            sizes,
            strides,
        })
    }

    /// The elements where they lie row after row.
    pub fn rows(&self) -> Option<&'a [T]> {
        match (&self.sizes[..], &self.strides[..]) {
            ([], _) => self.numbers.get(self.offset..self.offset + 1),
            ([count], [1]) => self.numbers.get(self.offset..self.offset + count),
            _ => None,
        }
    }

    /// Elements `start..start + len` row after row: where they lie, or copied to `room`.
    #[inline]
    pub fn block<'s>(&'s self, start: usize, len: usize, room: &'s mut [T]) -> &'s [T] {
        match (&self.sizes[..], &self.strides[..]) {
            ([_], [1]) => &self.numbers[self.offset + start..][..len],
            ([], _) | ([_], [0]) => {
                room[..len].fill(self.numbers[self.offset]);
                &room[..len]
            }
            ([.., last], [.., 1]) if start % last + len <= *last => self.row_part(start, len),
            _ => {
                self.copy(start, &mut room[..len]);
                &room[..len]
            }
        }
    }

    /// Elements that lie side by side in one row of the last axis.
    fn row_part(&self, start: usize, len: usize) -> &[T] {
        let (mut left, mut at) = (start, self.offset as isize);
        for (&size, &stride) in self.sizes.iter().zip(&self.strides).rev() {
            at += (left % size) as isize * stride;
            left /= size;
        }
        &self.numbers[at as usize..][..len]
    }

    /// Copies elements from `start` on.
    pub fn copy(&self, start: usize, to: &mut [T]) {
        let Some((&last, outer)) = self.sizes.split_last() else {
            return to.fill(self.numbers[self.offset]);
        };
        let step = self.strides[outer.len()];
        let mut index: SmallVec<[usize; 8]> = SmallVec::from_elem(0, outer.len());
        let (mut left, mut at) = (start / last, self.offset as isize);
        for axis in (0..outer.len()).rev() {
            index[axis] = left % outer[axis];
            left /= outer[axis];
            at += index[axis] as isize * self.strides[axis];
        }
        let (mut column, mut to) = (start % last, to);
        loop {
            let count = (last - column).min(to.len());
            let (run, rest) = to.split_at_mut(count);
            let from = at + column as isize * step;
            match step {
                1 => run.copy_from_slice(&self.numbers[from as usize..][..count]),
                0 if count > 0 => run.fill(self.numbers[from as usize]),
                _ => {
                    for (i, to) in run.iter_mut().enumerate() {
                        *to = self.numbers[(from + i as isize * step) as usize];
                    }
                }
            }
            if rest.is_empty() {
                return;
            }
            (to, column) = (rest, 0);
            // The next row.
            for axis in (0..outer.len()).rev() {
                index[axis] += 1;
                at += self.strides[axis];
                if index[axis] < outer[axis] {
                    break;
                }
                at -= self.strides[axis] * outer[axis] as isize;
                index[axis] = 0;
            }
        }
    }

    /// Sizes and strides of the axes that are left.
    pub fn axes(&self) -> (&[usize], &[isize]) {
        (&self.sizes, &self.strides)
    }

    /// The buffer, and the place of the first element in it.
    pub fn buffer(&self) -> (&'a [T], usize) {
        (self.numbers, self.offset)
    }
}
