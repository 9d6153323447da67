//! Discrete Fourier transforms.

use super::{Out, View, input, missing, output};
use crate::Result;
use crate::ir::{Layout, Op};
use num_complex::Complex;
use rustfft::{FftDirection, FftPlanner};

type C32 = Complex<f32>;

/// Transforms along several axes; with real numbers on one side only half of the last one's frequencies
/// are there.
pub fn run(op: &Op, inputs: &[View<'_>], outputs: &mut [Out<'_>]) -> Result<()> {
    let Op::Fft(fft) = op else {
        return Err(missing(op));
    };
    let x = input(op, inputs, 0)?;
    let out = output(op, outputs)?;
    let Some((&last, others)) = fft.axes.split_last() else {
        return Err(missing(op));
    };
    if out.sizes().contains(&0) {
        return Ok(());
    }
    let mut planner = FftPlanner::new();
    let mut line = |values: &mut [C32]| {
        let direction = match fft.inverse {
            true => FftDirection::Inverse,
            false => FftDirection::Forward,
        };
        planner.plan_fft(values.len(), direction).process(values);
        let scale = fft.scale(values.len()) as f32;
        if scale != 1.0 {
            values.iter_mut().for_each(|z| *z *= scale);
        }
    };
    let mut sizes = x.sizes().to_vec();
    match (fft.real, fft.inverse) {
        (false, _) => {
            let mut values = x.values::<C32>().into_owned();
            for &axis in &fft.axes {
                along(&sizes, axis, &mut values, &mut line);
            }
            out.values::<C32>().copy_from_slice(&values);
        }
        (true, false) => {
            let x = x.values::<f32>();
            let half = out.sizes()[last];
            let mut values = Vec::with_capacity(out.sizes().iter().product());
            let mut full = vec![C32::default(); sizes[last]];
            let stride = Layout::rows(&sizes).strides[last] as usize;
            let lines = starts(&sizes, last);
            sizes[last] = half;
            values.resize(sizes.iter().product(), C32::default());
            let out_stride = Layout::rows(&sizes).strides[last] as usize;
            for (from, to) in lines.into_iter().zip(starts(&sizes, last)) {
                for (i, z) in full.iter_mut().enumerate() {
                    *z = C32::new(x[from + i * stride], 0.0);
                }
                line(&mut full);
                for (i, &z) in full[..half].iter().enumerate() {
                    values[to + i * out_stride] = z;
                }
            }
            for &axis in others {
                along(&sizes, axis, &mut values, &mut line);
            }
            out.values::<C32>().copy_from_slice(&values);
        }
        (true, true) => {
            let mut values = x.values::<C32>().into_owned();
            for &axis in others {
                along(&sizes, axis, &mut values, &mut line);
            }
            let count = out.sizes()[last];
            let stride = Layout::rows(&sizes).strides[last] as usize;
            let out_stride = Layout::rows(out.sizes()).strides[last] as usize;
            let to = starts(out.sizes(), last);
            let mut full = vec![C32::default(); count];
            let out = out.values::<f32>();
            for (from, to) in starts(&sizes, last).into_iter().zip(to) {
                // The other half is the mirror of this one.
                for (i, z) in full.iter_mut().enumerate() {
                    *z = match i <= count / 2 {
                        true => values[from + i * stride],
                        false => values[from + (count - i) * stride].conj(),
                    };
                }
                line(&mut full);
                for (i, z) in full.iter().enumerate() {
                    out[to + i * out_stride] = z.re;
                }
            }
        }
    }
    Ok(())
}

/// The first element of every line along an axis.
fn starts(sizes: &[usize], axis: usize) -> Vec<usize> {
    let inner: usize = sizes[axis + 1..].iter().product();
    let outer: usize = sizes[..axis].iter().product();
    let start = |outer: usize| (0..inner).map(move |i| outer * sizes[axis] * inner + i);
    (0..outer).flat_map(start).collect()
}

/// Transforms every line along an axis in place.
fn along(sizes: &[usize], axis: usize, values: &mut [C32], line: &mut dyn FnMut(&mut [C32])) {
    let stride: usize = sizes[axis + 1..].iter().product();
    let mut buffer = vec![C32::default(); sizes[axis]];
    for start in starts(sizes, axis) {
        for (i, z) in buffer.iter_mut().enumerate() {
            *z = values[start + i * stride];
        }
        line(&mut buffer);
        for (i, &z) in buffer.iter().enumerate() {
            values[start + i * stride] = z;
        }
    }
}
