//! Where the elements of an array lie: strides over a buffer, and the views that only change these.

use super::{Op, Shape, SliceSpec};
use smallvec::{SmallVec, smallvec};

/// Strides (in elements) and the first element's place in a buffer. Sizes are numbers here: layouts are
/// made when symbols have values.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Sizes.
    pub sizes: SmallVec<[usize; 4]>,
    /// Elements from one to the next along each axis.
    pub strides: SmallVec<[isize; 4]>,
    /// Elements before the first.
    pub offset: usize,
}

/// The elements of a buffer that a layout touches: from the first to one past the last; none where the
/// array has no elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reach {
    /// The lowest.
    pub from: usize,
    /// One past the highest.
    pub to: usize,
}

impl Layout {
    /// Row after row from the buffer's begin.
    pub fn rows(sizes: &[usize]) -> Layout {
        let mut strides: SmallVec<[isize; 4]> = smallvec![0; sizes.len()];
        let mut step = 1isize;
        for (stride, &size) in strides.iter_mut().zip(sizes).rev() {
            *stride = step;
            step = step.saturating_mul(size.max(1) as isize);
        }
        Layout {
            sizes: sizes.into(),
            strides,
            offset: 0,
        }
    }

    /// The same from the buffer's begin.
    pub fn from_start(&self) -> Layout {
        Layout {
            offset: 0,
            ..self.clone()
        }
    }

    /// Elements.
    pub fn count(&self) -> usize {
        self.sizes.iter().product()
    }

    /// Whether the elements lie row after row without gaps.
    pub fn is_rows(&self) -> bool {
        let mut step = 1isize;
        if self.sizes.contains(&0) {
            return true;
        }
        for (&stride, &size) in self.strides.iter().zip(&self.sizes).rev() {
            if size != 1 && stride != step {
                return false;
            }
            step *= size as isize;
        }
        true
    }

    /// What it touches; `None` if that is below 0 or too far to count.
    pub fn reach(&self) -> Option<Reach> {
        if self.sizes.contains(&0) {
            return Some(Reach { from: 0, to: 0 });
        }
        let (mut low, mut high) = (self.offset as i128, self.offset as i128);
        for (&stride, &size) in self.strides.iter().zip(&self.sizes) {
            let way = stride as i128 * (size as i128 - 1);
            if way < 0 {
                low += way;
            } else {
                high += way;
            }
        }
        Some(Reach {
            from: usize::try_from(low).ok()?,
            to: usize::try_from(high + 1).ok()?,
        })
    }

    /// Where the matrices of the last two axes begin, and how the first of them lies; `None` without two axes.
    pub fn matrices(&self) -> Option<(Layout, Layout)> {
        let outer = self.sizes.len().checked_sub(2)?;
        let part = |range: std::ops::Range<usize>| Layout {
            sizes: self.sizes[range.clone()].into(),
            strides: self.strides[range].into(),
            offset: self.offset,
        };
        Some((part(0..outer), part(outer..outer + 2)))
    }

    /// The layout of a view that `op` makes of an array that lies as this one; `shape` is the view's.
    /// `None` if the operation is no view or the elements have to be moved.
    pub fn view(&self, op: &Op, shape: &Shape) -> Option<Layout> {
        let sizes: SmallVec<[usize; 4]> = shape.numbers()?;
        match op {
            Op::Reshape | Op::Flatten | Op::Unflatten | Op::ExpandDims | Op::Squeeze => {
                self.reshape(&sizes)
            }
            Op::Broadcast => self.broadcast(&sizes),
            Op::Transpose(axes) => Some(Layout {
                sizes,
                strides: axes.iter().map(|&axis| self.strides[axis]).collect(),
                offset: self.offset,
            }),
            Op::Slice(spec) => Some(self.slice(spec, sizes)),
            Op::Split { axis, at } => {
                let mut offset = self.offset;
                if !sizes.contains(&0) {
                    offset = offset.checked_add_signed(self.strides[*axis] * *at as isize)?;
                }
                Some(Layout {
                    sizes,
                    strides: self.strides.clone(),
                    offset,
                })
            }
            Op::AsStrided { strides, offset } => Some(Layout {
                sizes,
                strides: strides.clone(),
                offset: self.offset + offset,
            })
            .filter(|_| self.is_rows()),
            Op::StopGradient | Op::Depends => Some(self.clone()),
            _ => None,
        }
    }

    fn slice(&self, spec: &SliceSpec, sizes: SmallVec<[usize; 4]>) -> Layout {
        let mut offset = self.offset as isize;
        let mut strides = self.strides.clone();
        for (axis, stride) in strides.iter_mut().enumerate() {
            offset += *stride * spec.start[axis] as isize;
            *stride *= spec.step[axis] as isize;
        }
        // Of an array without elements nothing is read, wherever it begins.
        let offset = if sizes.contains(&0) { 0 } else { offset.max(0) };
        Layout {
            sizes,
            strides,
            offset: offset as usize,
        }
    }

    fn broadcast(&self, sizes: &[usize]) -> Option<Layout> {
        let mut strides: SmallVec<[isize; 4]> = smallvec![0; sizes.len()];
        let missing = sizes.len().checked_sub(self.sizes.len())?;
        for (axis, (&size, &stride)) in self.sizes.iter().zip(&self.strides).enumerate() {
            if size == sizes[missing + axis] {
                strides[missing + axis] = stride;
            }
        }
        Some(Layout {
            sizes: sizes.into(),
            strides,
            offset: self.offset,
        })
    }

    /// The same elements in the same order with other sizes, where strides can say that: each run of
    /// axes that lie as one is cut anew.
    pub fn reshape(&self, sizes: &[usize]) -> Option<Layout> {
        if sizes.contains(&0) {
            return Some(Layout::rows(sizes));
        }
        // Axes of size 1 say nothing; neighbours that lie as one become one.
        let mut runs: SmallVec<[(usize, isize); 4]> = SmallVec::new();
        for (&size, &stride) in self.sizes.iter().zip(&self.strides) {
            match runs.last_mut() {
                _ if size == 1 => {}
                Some((count, step)) if *step == stride * size as isize => {
                    *count *= size;
                    *step = stride;
                }
                _ => runs.push((size, stride)),
            }
        }
        let mut strides: SmallVec<[isize; 4]> = smallvec![0; sizes.len()];
        let mut runs = runs.into_iter().rev();
        let (mut left, mut step) = runs.next().unwrap_or((1, 1));
        for (stride, &size) in strides.iter_mut().zip(sizes).rev() {
            if size == 1 {
                *stride = step;
                continue;
            }
            if left == 1 {
                (left, step) = runs.next()?;
            }
            if !left.is_multiple_of(size) {
                return None;
            }
            *stride = step;
            step *= size as isize;
            left /= size;
        }
        Some(Layout {
            sizes: sizes.into(),
            strides,
            offset: self.offset,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(layout: &Layout) -> Vec<isize> {
        let mut all = vec![layout.offset as isize];
        for (&size, &stride) in layout.sizes.iter().zip(&layout.strides) {
            let next = all
                .iter()
                .flat_map(|&at| (0..size).map(move |i| at + i as isize * stride));
            all = next.collect();
        }
        all
    }

    #[test]
    fn reshapes_keep_the_order_or_are_refused() {
        let rows = Layout::rows(&[4, 6]);
        let split = rows.reshape(&[2, 2, 3, 2]).unwrap();
        assert_eq!(elements(&split), (0..24).collect::<Vec<_>>());
        let turned = rows.view(&Op::Transpose(smallvec![1, 0]), &Shape::new([6, 4]));
        let turned = turned.unwrap();
        assert!(turned.reshape(&[24]).is_none());
        let cut = turned.reshape(&[2, 3, 4, 1]).unwrap();
        assert_eq!(elements(&cut), elements(&turned));
        assert!(turned.reshape(&[3, 8]).is_none());
        assert!(Layout::rows(&[0, 3]).reshape(&[3, 0, 7]).is_some());
        assert!(Layout::rows(&[]).reshape(&[1, 1]).is_some());
        assert!(Layout::rows(&[1, 1]).reshape(&[]).is_some());
    }

    #[test]
    fn slices_with_negative_steps_reach_down_to_their_first_element() {
        let rows = Layout::rows(&[5]);
        let spec = SliceSpec {
            start: smallvec![4],
            step: smallvec![-2],
        };
        let back = rows.view(&Op::Slice(spec), &Shape::new([3])).unwrap();
        assert_eq!(elements(&back), [4, 2, 0]);
        assert_eq!(back.reach(), Some(Reach { from: 0, to: 5 }));
    }
}
