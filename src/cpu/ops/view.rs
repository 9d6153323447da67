//! What plain forms read and write: strided inputs, results row after row.

use crate::cpu::Elements;
use crate::ir::{Dtype, Layout};
use crate::{Error, Result};
use bytemuck::Pod;
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;

/// An input of any layout.
#[derive(Debug, Clone)]
pub struct View<'a> {
    bytes: &'a [u8],
    dtype: Dtype,
    layout: Layout,
}

impl<'a> View<'a> {
    /// Elements of an array.
    pub fn of(elements: &'a Elements) -> View<'a> {
        View {
            bytes: elements.bytes(),
            dtype: elements.dtype(),
            layout: elements.layout().clone(),
        }
    }

    /// Numbers that lie row after row.
    ///
    /// # Errors
    /// `Internal` if there are too few.
    pub fn rows(bytes: &'a [u8], dtype: Dtype, sizes: &[usize]) -> Result<View<'a>> {
        let layout = Layout::rows(sizes);
        if layout.count() * dtype.size() > bytes.len() {
            return Err(Error::Internal("an operation's input is too short".into()));
        }
        Ok(View {
            bytes,
            dtype,
            layout,
        })
    }

    /// A layout that lies within `bytes`.
    pub(in crate::cpu) fn whole(bytes: &'a [u8], dtype: Dtype, layout: Layout) -> View<'a> {
        View {
            bytes,
            dtype,
            layout,
        }
    }

    /// The same bytes in another layout, one that reaches no further.
    pub(in crate::cpu) fn with(&self, layout: Layout) -> View<'a> {
        View {
            layout,
            ..self.clone()
        }
    }

    /// The bytes of the elements row after row.
    pub(in crate::cpu) fn row_bytes(&self) -> Vec<u8> {
        match self.dtype.size() {
            1 => self.values::<u8>().into_owned(),
            2 => bytemuck::cast_slice(&self.values::<u16>()).to_vec(),
            4 => bytemuck::cast_slice(&self.values::<u32>()).to_vec(),
            _ => bytemuck::cast_slice(&self.values::<u64>()).to_vec(),
        }
    }

    /// The buffer from the first element on, whatever lies between elements; `None` if it is not aligned.
    pub(in crate::cpu) fn buffer<T: Pod>(&self) -> Option<&'a [T]> {
        let size = size_of::<T>();
        let end = self.bytes.len() / size * size;
        bytemuck::try_cast_slice(self.bytes.get(self.layout.offset * size..end)?).ok()
    }

    /// The bytes of the elements row after row in memory that every dtype is aligned in.
    pub(in crate::cpu) fn aligned(&self) -> Vec<u64> {
        let bytes = self.row_bytes();
        let mut words = vec![0u64; bytes.len().div_ceil(8)];
        bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(&bytes);
        words
    }

    /// The whole buffer; `None` if it is not aligned.
    pub(in crate::cpu) fn all<T: Pod>(&self) -> Option<&'a [T]> {
        let end = self.bytes.len() / size_of::<T>() * size_of::<T>();
        bytemuck::try_cast_slice(&self.bytes[..end]).ok()
    }

    /// Dtype.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// Sizes.
    pub fn sizes(&self) -> &[usize] {
        &self.layout.sizes
    }

    /// How the elements lie.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The elements row after row: where they lie if they lie so, else copied. `T` has the dtype's size.
    pub fn values<T: Pod>(&self) -> Cow<'a, [T]> {
        assert_eq!(size_of::<T>(), self.dtype.size(), "a view of another size");
        let count = self.layout.count();
        if count == 0 {
            return Cow::Borrowed(&[]);
        }
        let size = size_of::<T>();
        if self.layout.is_rows() {
            let bytes = &self.bytes[self.layout.offset * size..][..count * size];
            if let Ok(values) = bytemuck::try_cast_slice(bytes) {
                return Cow::Borrowed(values);
            }
        }
        let mut values = Vec::with_capacity(count);
        self.each(|at| values.push(self.at(at)));
        Cow::Owned(values)
    }

    /// Whether [`View::values`] has room for a copy, if it makes one.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn can_be_copied(&self) -> Result<()> {
        let bytes = self.layout.count().checked_mul(self.dtype.size());
        let fits = |bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok();
        if self.layout.is_rows() || bytes.is_some_and(fits) {
            return Ok(());
        }
        Err(Error::OutOfMemory(format!(
            "a copy of {} {:?} does not fit the memory",
            self.dtype, self.layout.sizes
        )))
    }

    /// The element at a place in the buffer (in elements). `T` has the dtype's size.
    pub(in crate::cpu) fn at<T: Pod>(&self, at: usize) -> T {
        let size = size_of::<T>();
        bytemuck::pod_read_unaligned(&self.bytes[at * size..][..size])
    }

    /// Calls `take` with the place in the buffer (in elements) of each element, row after row.
    pub fn each(&self, mut take: impl FnMut(usize)) {
        let (sizes, strides) = (&self.layout.sizes, &self.layout.strides);
        if self.layout.count() == 0 {
            return;
        }
        let Some((&last, outer)) = sizes.split_last() else {
            return take(self.layout.offset);
        };
        let step = strides[outer.len()];
        let mut index: SmallVec<[usize; 8]> = smallvec![0; outer.len()];
        let mut start = self.layout.offset as isize;
        loop {
            for i in 0..last {
                take((start + i as isize * step) as usize);
            }
            // The next row.
            let mut axis = outer.len();
            loop {
                if axis == 0 {
                    return;
                }
                axis -= 1;
                index[axis] += 1;
                start += strides[axis];
                if index[axis] < outer[axis] {
                    break;
                }
                start -= strides[axis] * outer[axis] as isize;
                index[axis] = 0;
            }
        }
    }
}

/// A result: row after row.
#[derive(Debug)]
pub struct Out<'a> {
    bytes: &'a mut [u8],
    dtype: Dtype,
    sizes: &'a [usize],
}

impl<'a> Out<'a> {
    /// A result in `bytes`.
    ///
    /// # Errors
    /// `Internal` if there are too few.
    pub fn new(bytes: &'a mut [u8], dtype: Dtype, sizes: &'a [usize]) -> Result<Out<'a>> {
        let needed = sizes.iter().product::<usize>() * dtype.size();
        match bytes.get_mut(..needed) {
            Some(bytes) => Ok(Out {
                bytes,
                dtype,
                sizes,
            }),
            None => Err(Error::Internal("an operation's result is too short".into())),
        }
    }

    /// Dtype.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// Sizes.
    pub fn sizes(&self) -> &'a [usize] {
        self.sizes
    }

    /// The bytes.
    pub(in crate::cpu) fn bytes(&mut self) -> &mut [u8] {
        self.bytes
    }

    /// Makes every byte of truth values 0 or 1.
    pub(in crate::cpu) fn truths(&mut self) {
        self.bytes
            .iter_mut()
            .for_each(|byte| *byte = u8::from(*byte != 0));
    }

    /// The elements. `T` has the dtype's size.
    pub fn values<T: Pod>(&mut self) -> &mut [T] {
        assert_eq!(
            size_of::<T>(),
            self.dtype.size(),
            "a result of another size"
        );
        bytemuck::cast_slice_mut(self.bytes)
    }
}
