//! Counting through arrays of the same sizes: `Index` of `hip/ops/arrays/dtype.h`.

use crate::gpu::Args;
use crate::ir::Layout;
use smallvec::SmallVec;

/// Axes that kernels count through.
const AXES: usize = 6;

/// How kernels count through arrays of the same sizes: axes that lie as one in all of them are one.
pub(super) struct Walk {
    sizes: [u32; AXES],
    strides: SmallVec<[[i32; AXES]; 3]>,
}

impl Walk {
    /// `None` if there are more axes, elements or longer steps than kernels take.
    pub fn of_layouts(arrays: &[&Layout]) -> Option<Walk> {
        let axes = merged(&arrays.first()?.sizes, arrays);
        let front = AXES.checked_sub(axes.len())?;
        let mut walk = Walk {
            sizes: [1; AXES],
            strides: SmallVec::from_elem([0; AXES], arrays.len()),
        };
        for (place, (size, strides)) in axes.iter().enumerate() {
            walk.sizes[front + place] = u32::try_from(*size).ok()?;
            for (to, &stride) in walk.strides.iter_mut().zip(strides) {
                to[front + place] = i32::try_from(stride).ok()?;
            }
        }
        Some(walk)
    }

    /// Sizes and strides as arguments; `names` are what the kernel calls the arrays, in one letter.
    pub fn add(&self, args: Args, names: impl IntoIterator<Item = &'static str>) -> Args {
        const AXIS: [&str; AXES] = ["0", "1", "2", "3", "4", "5"];
        let sizes = AXIS.iter().zip(self.sizes).skip(1);
        let args = sizes.fold(args, |args, (axis, size)| args.u32(("s", *axis), size));
        let arrays = names.into_iter().zip(&self.strides);
        arrays.fold(args, |args, (name, strides)| {
            let strides = AXIS.iter().zip(strides);
            strides.fold(args, |args, (axis, &step)| args.i32((name, *axis), step))
        })
    }
}

/// Arrays of the same sizes as parts of which kernels take each: they are apart along the shortest axes.
pub(super) fn parts(arrays: &[&Layout]) -> Vec<SmallVec<[Layout; 2]>> {
    let axes = match arrays.first() {
        Some(first) => merged(&first.sizes, arrays),
        None => return Vec::new(),
    };
    let mut by_size: SmallVec<[usize; 8]> = (0..axes.len()).collect();
    by_size.sort_by_key(|&axis| axes[axis].0);
    let outer = &by_size[..axes.len().saturating_sub(AXES)];
    let kept = (0..axes.len()).filter(|axis| !outer.contains(axis));
    let kept: SmallVec<[usize; 8]> = kept.collect();
    let mut all = vec![SmallVec::<[Layout; 2]>::new()];
    for (number, array) in arrays.iter().enumerate() {
        let part = Layout {
            sizes: kept.iter().map(|&axis| axes[axis].0).collect(),
            strides: kept.iter().map(|&axis| axes[axis].1[number]).collect(),
            offset: array.offset,
        };
        all[0].push(part);
    }
    for &axis in outer {
        let (size, strides) = &axes[axis];
        let at = |layouts: &SmallVec<[Layout; 2]>, place: usize| -> SmallVec<[Layout; 2]> {
            let moved = layouts.iter().zip(strides).map(|(layout, stride)| Layout {
                offset: (layout.offset as isize + stride * place as isize).unsigned_abs(),
                ..layout.clone()
            });
            moved.collect()
        };
        let places = |layouts: &SmallVec<[Layout; 2]>| -> Vec<_> {
            (0..*size).map(|place| at(layouts, place)).collect()
        };
        all = all.iter().flat_map(places).collect();
    }
    all
}

/// Whether arrays of the same sizes have more axes than kernels count through.
pub(super) fn has_many_axes(arrays: &[&Layout]) -> bool {
    let of = |first: &&&Layout| first.sizes.len() > AXES;
    let first = arrays.first().filter(of);
    first.is_some_and(|first| merged(&first.sizes, arrays).len() > AXES)
}

/// A size, and the strides of each array.
pub(in crate::gpu) type Axis = (usize, SmallVec<[isize; 3]>);

/// Sizes and each array's strides, without axes of size 1 and with neighbours that lie as one made one.
pub(in crate::gpu) fn merged(sizes: &[usize], arrays: &[&Layout]) -> SmallVec<[Axis; 6]> {
    let mut axes: SmallVec<[Axis; 6]> = SmallVec::new();
    for (axis, &size) in sizes.iter().enumerate().filter(|(_, size)| **size != 1) {
        let strides: SmallVec<[isize; 3]> = arrays.iter().map(|x| x.strides[axis]).collect();
        match axes.last_mut() {
            Some((count, last))
                if last
                    .iter()
                    .zip(&strides)
                    .all(|(&l, &s)| l == s.saturating_mul(size as isize)) =>
            {
                *count *= size;
                *last = strides;
            }
            _ => axes.push((size, strides)),
        }
    }
    axes
}
