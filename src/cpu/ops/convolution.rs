//! Convolutions of one to three dimensions. Sums are taken in f64 and rounded once.

use super::numbers::{Number, reals};
use super::{Out, View, input, missing, output};
use crate::ir::{Conv, Op};
use crate::{Error, Result};

/// `(x [batch, …, in], w [out, …, in / groups])` to `[batch, …, out]`.
pub fn run(op: &Op, inputs: &[View<'_>], outputs: &mut [Out<'_>]) -> Result<()> {
    let Op::Convolution(conv) = op else {
        return Err(missing(op));
    };
    let (x, w) = (input(op, inputs, 0)?, input(op, inputs, 1)?);
    let out = output(op, outputs)?;
    let (Some(x_space), Some(w_space), Some(space)) = (
        Space::of(x.sizes()),
        Space::of(w.sizes()),
        Space::of(out.sizes()),
    ) else {
        return Err(Error::Internal("convolution of other ranks".into()));
    };
    if out.sizes().contains(&0) {
        return Ok(());
    }
    let kernel = by_place(&reals(w), &w_space, conv.groups);
    let x = reals(x);
    let (channels, width) = (x_space.channels, space.channels);
    let mut sums = vec![0.0; width];
    let places = space.count();
    for place in 0..space.batch * places {
        sums.fill(0.0);
        let (image, at) = (place / places, space.place(place % places));
        for tap in 0..w_space.count() {
            let Some(from) = source(conv, &x_space, &w_space, at, w_space.place(tap)) else {
                continue;
            };
            let x = &x[(image * x_space.count() + from) * channels..][..channels];
            let kernel = &kernel[tap * w_space.channels * width..][..w_space.channels * width];
            add(&mut sums, x, kernel, conv.groups);
        }
        f64::write(out, place * width, &sums);
    }
    Ok(())
}

/// Adds one tap's products of all channels; the kernel is `[groups, in / groups, out / groups]`.
fn add(sums: &mut [f64], x: &[f64], kernel: &[f64], groups: usize) {
    let (channels, width) = (x.len() / groups, sums.len() / groups);
    if channels == 0 || width == 0 {
        return;
    }
    let kernels = kernel.chunks_exact(channels * width);
    let parts = x.chunks_exact(channels).zip(sums.chunks_exact_mut(width));
    for ((x, sums), kernel) in parts.zip(kernels) {
        for (&x, kernel) in x.iter().zip(kernel.chunks_exact(width)) {
            for (sum, &k) in sums.iter_mut().zip(kernel) {
                *sum += x * k;
            }
        }
    }
}

/// The sizes of a batch of images, with ones for dimensions that are not there.
pub struct Space {
    batch: usize,
    sizes: [usize; 3],
    /// The last size.
    pub channels: usize,
}

impl Space {
    /// Of an array of this shape.
    pub fn of(sizes: &[usize]) -> Option<Space> {
        let [batch, space @ .., channels] = sizes else {
            return None;
        };
        let mut padded = [1; 3];
        padded.get_mut(..space.len())?.copy_from_slice(space);
        Some(Space {
            batch: *batch,
            sizes: padded,
            channels: *channels,
        })
    }

    /// Places of an image.
    pub fn count(&self) -> usize {
        self.sizes.iter().product()
    }

    /// A place, axis by axis.
    pub fn place(&self, index: usize) -> [usize; 3] {
        let [_, b, c] = self.sizes;
        [index / (b * c), index / c % b, index % c]
    }
}

/// The kernel as `[taps, groups, in / groups, out / groups]`.
fn by_place(w: &[f64], space: &Space, groups: usize) -> Vec<f64> {
    let (taps, channels) = (space.count(), space.channels);
    let width = space.batch / groups.max(1);
    let mut kernel = vec![0.0; w.len()];
    for (at, &value) in w.iter().enumerate() {
        let (out, tap, channel) = (at / (taps * channels), at / channels % taps, at % channels);
        let group = out / width;
        kernel[((tap * groups + group) * channels + channel) * width + out % width] = value;
    }
    kernel
}

/// The element of x that a tap of the kernel meets at a place of the result.
pub fn source(conv: &Conv, x: &Space, w: &Space, at: [usize; 3], tap: [usize; 3]) -> Option<usize> {
    let mut from = 0;
    for axis in 0..3 {
        let number = |list: &[usize]| list.get(axis).copied().unwrap_or(1) as i64;
        let tap = match conv.flip {
            true => w.sizes[axis] - 1 - tap[axis],
            false => tap[axis],
        };
        // A flipped kernel meets the same elements, its taps in the other order.
        let low = conv.low.get(axis).copied().unwrap_or(0);
        let place = at[axis] as i64 * number(&conv.stride) - low
            + tap as i64 * number(&conv.kernel_dilation);
        let gap = number(&conv.input_dilation);
        if place < 0 || place % gap != 0 || place / gap >= x.sizes[axis] as i64 {
            return None;
        }
        from = from * x.sizes[axis] + (place / gap) as usize;
    }
    Some(from)
}
