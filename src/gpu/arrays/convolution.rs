//! Convolutions and Hadamard transforms: `hip/ops/arrays/convolution*.hip`, `hadamard.hip`.

use super::numbers::{CAST, is_float, suffix};
use super::run::THREADS;
use super::{Elements, Place};
use crate::Result;
use crate::gpu::Args;
use crate::gpu::constants::{arrays_convolution_depthwise as kernels, arrays_hadamard};
use crate::ir::{Conv, Dtype, Number};
use std::sync::Arc;

/// Rows and columns of a block.
const SIDE: usize = 64;
/// Groups with fewer results are made one by one.
const NARROW: usize = 8;
/// Results of a group from which on warpgroups make them, though they make 128 columns at least.
const WIDE: usize = 24;
/// The longest row of a Hadamard transform.
const LONGEST: usize = arrays_hadamard::MOST;

/// Three numbers, with `other` for dimensions that are not there.
fn three<T: Copy>(list: &[T], other: T) -> [T; 3] {
    let mut all = [other; 3];
    for (to, &from) in all.iter_mut().zip(list) {
        *to = from;
    }
    all
}

/// Which kernel of `convolution_depthwise.hip`, and its blocks; `None` if none takes these.
fn by_channels(
    conv: &Conv,
    (x, w, out): (&Elements, &Elements, &Elements),
    (x_space, taps, space): (&[usize], &[usize], &[usize]),
    batch: usize,
) -> Option<(&'static str, [u32; 3])> {
    let width = 16 / x.dtype().size();
    let channels = |x: &Elements| x.layout().sizes.last().copied();
    let single = channels(x)? == conv.groups && channels(out)? == conv.groups;
    let whole = conv.groups.is_multiple_of(width) && x.is_aligned(16) && out.is_aligned(16);
    let few = taps.iter().product::<usize>() <= kernels::MOST_TAPS && channels(w)? == 1;
    let no_gaps = conv.input_dilation.iter().all(|&gap| gap == 1);
    // Places count in 32 bits.
    let rows = batch * space.iter().product::<usize>();
    let small = x_space.iter().product::<usize>() < 1 << 31 && rows < 1 << 31;
    let across = conv.groups.div_ceil(32 * width);
    if !(is_float(x.dtype()) && single && whole && few && no_gaps && small && across <= 65_535) {
        return None;
    }
    let by_ones = conv
        .stride
        .iter()
        .chain(&conv.kernel_dilation)
        .all(|&x| x == 1);
    let (name, blocks) = match (taps, space) {
        ([2..=kernels::MOST_LINE_TAPS], [line]) if by_ones => {
            ("line", batch * line.div_ceil(8 * kernels::LINE_ROWS))
        }
        _ => ("depthwise", rows.div_ceil(8 * kernels::ROWS_EACH)),
    };
    Some((name, [blocks as u32, across as u32, 1]))
}

impl Place {
    /// `(x [batch, …, in], w [out, …, in / groups])`.
    pub(super) fn convolution(
        self: &Arc<Self>,
        conv: &Conv,
        inputs: &[&Elements],
        sizes: &[usize],
    ) -> Result<Option<Elements>> {
        let [x, w] = inputs else {
            return Ok(None);
        };
        let dtype = x.dtype();
        let (Some(x), Some(w)) = (self.rows(x)?, self.rows(w)?) else {
            return Ok(None);
        };
        let ([_, x_space @ .., channels], [_, taps @ .., _], [batch, space @ .., width]) = (
            x.layout().sizes.as_slice(),
            w.layout().sizes.as_slice(),
            sizes,
        ) else {
            return Ok(None);
        };
        if !(is_float(dtype) || dtype == Dtype::F64)
            || w.dtype() != dtype
            || space.len() > 3
            || conv.groups == 0
        {
            return Ok(None);
        }
        let Some((out, count)) = self.new_rows(sizes, dtype)? else {
            return Ok(None);
        };
        if count == 0 {
            return Ok(Some(out));
        }
        let rows = batch * space.iter().product::<usize>();
        let of_group = width / conv.groups;
        let across = of_group.div_ceil(SIDE);
        let small = |x: &[usize]| x.iter().all(|&x| x < 1 << 24);
        let fits = [x_space, taps, space, &conv.stride, &conv.kernel_dilation];
        let low: Option<Vec<i32>> = conv.low.iter().map(|&x| i32::try_from(x).ok()).collect();
        let (true, Some(low), true) = (
            fits.into_iter().all(small),
            low,
            rows.div_ceil(SIDE) <= 65_535 && of_group > 0,
        ) else {
            return Ok(None);
        };
        let args = |across: usize| {
            let mut args = Args::new()
                .buffer("x", x.buffer(), x.offset())
                .buffer("w", w.buffer(), w.offset())
                .buffer("out", out.buffer(), 0)
                .u32("rows", rows as u32)
                .u32("across", across as u32)
                .u32("dtype", dtype as u32);
            const AXIS: [&str; 3] = ["0", "1", "2"];
            let numbers = |args: Args, name, list: &[usize]| {
                let list = AXIS.into_iter().zip(three(list, 1));
                list.fold(args, |args, (axis, x)| args.u32((name, axis), x as u32))
            };
            args = numbers(args, "x", x_space);
            args = args.u32("channels", *channels as u32);
            args = numbers(args, "k", taps);
            args = numbers(args, "o", space);
            args = numbers(args, "s", &conv.stride);
            for (axis, x) in AXIS.into_iter().zip(three(&low, 0)) {
                args = args.i32(("l", axis), x);
            }
            args = numbers(args, "d", &conv.kernel_dilation);
            args = numbers(args, "g", &conv.input_dilation);
            args.u32("flip", conv.flip.into())
                .u32("groups", conv.groups as u32)
                .u32("width", *width as u32)
        };
        // As convolution_warpgroup.hip says.
        let pieces = (channels / conv.groups).is_multiple_of(8) && of_group.is_multiple_of(8);
        let of_axes: usize = three(taps, 1).iter().sum();
        let well = pieces && x.is_aligned(16) && w.is_aligned(16) && x.count() < 1 << 31;
        let no_gaps = conv.input_dilation.iter().all(|&gap| gap == 1) && of_axes <= 32;
        let large = rows > SIDE && of_group >= WIDE && self.has_warpgroups(dtype);
        if well && no_gaps && large {
            let of = |columns: usize| {
                let name = format!("convolution_warpgroup_{columns}_");
                (name, args(of_group.div_ceil(columns)))
            };
            if self.by_tiles(of, (rows, of_group, conv.groups), dtype)? {
                return Ok(Some(out));
            }
        }
        let spaces = (x_space, taps, space);
        if let Some((name, blocks)) = by_channels(conv, (&x, &w, &out), spaces, *batch) {
            let kernel = format!("mlxrocm_array_convolution_{name}_{}", suffix(dtype));
            self.launch(&kernel, blocks, &args(across))?;
            return Ok(Some(out));
        }
        let tiles = [(across * conv.groups) as u32, rows.div_ceil(SIDE) as u32, 1];
        let (kernel, grid) = match dtype {
            Dtype::F64 => (
                "mlxrocm_array_f64_convolution",
                [count.div_ceil(THREADS), 1, 1],
            ),
            _ if of_group < NARROW => (
                "mlxrocm_array_convolution_direct",
                [count.div_ceil(THREADS), 1, 1],
            ),
            Dtype::F16 => ("mlxrocm_array_convolution_f16", tiles),
            Dtype::Bf16 => ("mlxrocm_array_convolution_bf16", tiles),
            _ => ("mlxrocm_array_convolution_f32", tiles),
        };
        self.launch(kernel, grid, &args(across))?;
        Ok(Some(out))
    }

    /// The transform of the last axis.
    pub(super) fn hadamard(
        self: &Arc<Self>,
        x: &Elements,
        scale: Number,
    ) -> Result<Option<Elements>> {
        if x.dtype() == Dtype::F64 {
            // In f32, as on the CPU.
            let Some(single) = self.unary(CAST, x, Dtype::F32)? else {
                return Ok(None);
            };
            return match self.hadamard(&single, scale)? {
                Some(made) => self.unary(CAST, &made, Dtype::F64),
                None => Ok(None),
            };
        }
        let columns = x.layout().sizes.last().copied().unwrap_or(1);
        let power = |odd: &usize| columns.is_multiple_of(*odd) && (columns / odd).is_power_of_two();
        let odd = [1, 12, 20, 28].into_iter().find(power);
        let (Some(odd), Some(x), true) = (
            odd,
            self.rows(x)?,
            is_float(x.dtype()) && columns <= LONGEST,
        ) else {
            return Ok(None);
        };
        let Some((out, count)) = self.new_rows(&x.layout().sizes, x.dtype())? else {
            return Ok(None);
        };
        if count == 0 {
            return Ok(Some(out));
        }
        let args = Args::new()
            .buffer("x", x.buffer(), x.offset())
            .buffer("out", out.buffer(), 0)
            .u32("columns", columns as u32)
            .u32("odd", odd as u32)
            .u32("dtype", x.dtype() as u32)
            .f32("scale", scale.get() as f32);
        let rows = count / columns as u32;
        self.launch("mlxrocm_array_hadamard", [rows, 1, 1], &args)?;
        Ok(Some(out))
    }
}
