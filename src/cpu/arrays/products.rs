//! Products and convolutions of floats through panels of f32 (see `cpu::products`): a row gives the same bits in any
//! batch.

use super::blocks::{BLOCK, Narrow, Widen, blocks, of_one, parts, singles};
use super::copies;
use super::level::{Float, Level, Work, at_best};
use super::source::Source;
use crate::cpu::kernels::{GEMM_COLUMNS, kernels};
use crate::cpu::ops::{Out, View};
use crate::cpu::products::{self, LEAST, Panels, Rows, multiply};
use crate::cpu::shared::SharedSlice;
use crate::cpu::threads::{ThreadPool, spread};
use crate::ir::{Dtype, Layout, Op};
use half::{bf16, f16};
use std::borrow::Cow;

/// Rows that are multiplied by a panel as soon as it is made.
const FEW: usize = 64;
/// Panels of a worker's share.
const PANELS: usize = 4;

/// One panel of up to 16 columns of a matrix: `[inner][GEMM_COLUMNS]`, zeros behind the last one.
pub struct Pack<'a, T> {
    /// From the panel's first element on.
    pub from: &'a [T],
    pub inner: usize,
    pub width: usize,
    /// From a row to the next, from a column to the next; one of them is 1.
    pub strides: (usize, usize),
    pub to: &'a mut [f32],
}

impl<T: Float> Work for Pack<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run<L: Level>(self) {
        const N: usize = GEMM_COLUMNS;
        let (width, (down, across)) = (self.width, self.strides);
        let (to, _) = self.to[..self.inner * N].as_chunks_mut::<N>();
        if across == 1 {
            for (k, to) in to.iter_mut().enumerate() {
                if width == N {
                    T::widen::<L>(&self.from[k * down..][..N], to);
                } else {
                    T::widen::<L>(&self.from[k * down..][..width], &mut to[..width]);
                    to[width..].fill(0.0);
                }
            }
            return;
        }
        const DEEP: usize = 64;
        let mut columns = [[0f32; DEEP]; N];
        for (block, to) in to.chunks_mut(DEEP).enumerate() {
            for (n, column) in columns.iter_mut().enumerate().take(width) {
                let from = &self.from[n * across + block * DEEP..][..to.len()];
                T::widen::<L>(from, &mut column[..to.len()]);
            }
            for (k, to) in to.iter_mut().enumerate() {
                for (to, column) in to.iter_mut().zip(&columns) {
                    *to = column[k];
                }
            }
        }
    }
}

/// `rows [count][inner]` by a matrix whose panels `pack(first column, columns, to)` makes, to `out [count][columns]`.
pub fn by_panels(
    rows: &[f32],
    inner: usize,
    columns: usize,
    pack: &(dyn Fn(usize, usize, &mut [f32]) + Sync),
    out: &mut [f32],
    mut pool: Option<&mut ThreadPool>,
) {
    let count = rows.len() / inner;
    let panels = columns.div_ceil(GEMM_COLUMNS);
    let size = inner * GEMM_COLUMNS;
    let kernels = kernels();
    if count > FEW {
        let mut numbers = vec![0f32; panels * size];
        parts(
            &mut numbers,
            size,
            PANELS * size,
            pool.as_deref_mut(),
            &|start, to| {
                for (place, to) in to.chunks_exact_mut(size).enumerate() {
                    let first = (start / size + place) * GEMM_COLUMNS;
                    pack(first, GEMM_COLUMNS.min(columns - first), to);
                }
            },
        );
        return Panels::packed(numbers, inner, columns).multiply(kernels, rows, out, pool);
    }
    let out = SharedSlice::new(out);
    spread(pool, panels.div_ceil(PANELS), &|_, share| {
        let mut panel = vec![0f32; size];
        for place in share * PANELS..((share + 1) * PANELS).min(panels) {
            let first = place * GEMM_COLUMNS;
            let range = first..(first + GEMM_COLUMNS).min(columns);
            pack(first, range.len(), &mut panel);
            let rows = Rows {
                numbers: rows,
                stride: inner,
                count,
            };
            // SAFETY: columns are one worker's.
            unsafe { multiply(kernels, rows, (&panel, range), inner, out.as_ptr(), columns) };
        }
    });
}

/// Elements as f32: where they lie if they are f32, row after row.
pub fn wide<'a, T: Float>(
    x: &View<'a>,
    mut pool: Option<&mut ThreadPool>,
) -> Option<Cow<'a, [f32]>> {
    let source = Source::<T>::of(x)?;
    if let Some(rows) = source.rows().and_then(T::as_singles) {
        return Some(Cow::Borrowed(rows));
    }
    let mut numbers = vec![0f32; x.layout().count()];
    match T::as_singles_mut(&mut []) {
        Some(_) => copies::copy(&source, bytemuck::cast_slice_mut(&mut numbers), pool.take()),
        None => of_one(&source, &mut numbers, pool, |x, to| at_best(Widen(x, to))),
    }
    Some(Cow::Owned(numbers))
}

/// Calls `make` with room for the result in f32, then rounds it to the result's dtype.
pub fn narrowed<T: Float>(
    out: &mut [T],
    mut pool: Option<&mut ThreadPool>,
    make: impl FnOnce(&mut [f32], Option<&mut ThreadPool>),
) {
    if let Some(out) = T::as_singles_mut(out) {
        return make(out, pool);
    }
    let mut numbers = vec![0f32; out.len()];
    make(&mut numbers, pool.as_deref_mut());
    blocks(out, pool, &|start, out| {
        at_best(Narrow(&numbers[start..][..out.len()], out));
    });
}

/// `alpha · a · b + beta · c`; without c the product alone.
fn matmul<T: Float>(
    [a, b]: [&View<'_>; 2],
    add: Option<(&View<'_>, f64, f64)>,
    out: &mut Out<'_>,
    mut pool: Option<&mut ThreadPool>,
) -> Option<()> {
    let (&[.., inner, columns], &[.., rows, _]) = (b.sizes(), a.sizes()) else {
        return None;
    };
    if inner * columns < LEAST || inner == 0 {
        return None;
    }
    // If there is no room for that, `evaluate` says so.
    a.can_be_copied().ok()?;
    let a = wide::<T>(a, pool.as_deref_mut())?;
    let (all, _) = Source::<T>::of(b)?.buffer();
    let (outer, of_matrix) = b.layout().matrices()?;
    // Where each batch's matrix begins. Neighbours that have the same one are rows of one product.
    let mut places = Vec::new();
    b.with(outer).each(|place| places.push(place));
    let straight = match of_matrix.strides[..] {
        [k, n] if k > 0 && n > 0 && (k == 1 || n == 1) => Some((k as usize, n as usize)),
        _ => None,
    };
    let add = match add {
        Some((c, ..)) if c.sizes() != out.sizes() => return None,
        Some((c, alpha, beta)) => Some((Source::<T>::of(c)?, alpha, beta)),
        None => None,
    };
    let mut copied = Vec::new();
    narrowed(out.values::<T>(), pool, |out, mut pool| {
        let mut batch = 0;
        for same in places.chunk_by(|one, next| one == next) {
            // A matrix as it lies or turned over is packed from where it is.
            let (b, strides) = match straight {
                Some(strides) => (&all[same[0]..], strides),
                None => {
                    copied.resize(inner * columns, T::zeroed());
                    let matrix = b.with(Layout {
                        offset: same[0],
                        ..of_matrix.clone()
                    });
                    // Aligned as b is.
                    if let Some(matrix) = Source::<T>::of(&matrix) {
                        copies::copy(&matrix, &mut copied, pool.as_deref_mut());
                    }
                    (&copied[..], (columns, 1))
                }
            };
            let pack = |first: usize, width: usize, to: &mut [f32]| {
                at_best(Pack {
                    from: &b[first * strides.1..],
                    inner,
                    width,
                    strides,
                    to,
                });
            };
            let rows = batch * rows..(batch + same.len()) * rows;
            let a = &a[rows.start * inner..rows.end * inner];
            let out = &mut out[rows.start * columns..rows.end * columns];
            by_panels(a, inner, columns, &pack, out, pool.as_deref_mut());
            batch += same.len();
        }
        if let Some((c, alpha, beta)) = &add {
            blocks(out, pool, &|start, out| {
                let (mut elements, mut room) = ([T::zeroed(); BLOCK], [0f32; BLOCK]);
                let c = singles(c.block(start, out.len(), &mut elements), &mut room);
                for (x, &c) in out.iter_mut().zip(c) {
                    *x = (f64::from(*x) * alpha + beta * f64::from(c)) as f32;
                }
            });
        }
    });
    Some(())
}

/// `[taps]` of every channel by itself, in f64.
struct Taps<'a> {
    /// The channels under each tap, and the tap's weights.
    x: &'a [&'a [f32]],
    w: &'a [&'a [f32]],
    out: &'a mut [f32],
}

impl Work for Taps<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Level>(self) {
        const WIDTH: usize = 64;
        for (block, out) in self.out.chunks_mut(WIDTH).enumerate() {
            let mut sums = [0f64; WIDTH];
            let len = out.len();
            for (x, w) in self.x.iter().zip(self.w) {
                let (x, w) = (&x[block * WIDTH..][..len], &w[block * WIDTH..][..len]);
                for ((sum, &x), &w) in sums.iter_mut().zip(x).zip(w) {
                    *sum += f64::from(x) * f64::from(w);
                }
            }
            for (to, sum) in out.iter_mut().zip(sums) {
                *to = sum as f32;
            }
        }
    }
}

fn convolution<T: Float>(
    op: &Op,
    [x, w]: [&View<'_>; 2],
    out: &mut Out<'_>,
    mut pool: Option<&mut ThreadPool>,
) -> Option<()> {
    use crate::cpu::ops::{Space, source};
    let Op::Convolution(conv) = op else {
        return None;
    };
    let (from, kernel, to) = (
        Space::of(x.sizes())?,
        Space::of(w.sizes())?,
        Space::of(out.sizes())?,
    );
    let depthwise = conv.groups == from.channels && conv.groups == to.channels;
    let dense = conv.groups == 1 && kernel.count() * from.channels * to.channels >= LEAST;
    if !(dense || (depthwise && conv.groups > 1)) {
        return None;
    }
    let sizes = out.sizes().to_vec();
    let (x_sizes, w_sizes) = (x.sizes().to_vec(), w.sizes().to_vec());
    let x = wide::<T>(x, pool.as_deref_mut())?;
    let w = wide::<T>(w, pool.as_deref_mut())?;
    if dense {
        let view = |numbers, sizes: &[usize]| {
            View::whole(
                bytemuck::cast_slice(numbers),
                Dtype::F32,
                Layout::rows(sizes),
            )
        };
        let views = [view(&x[..], &x_sizes), view(&w[..], &w_sizes)];
        let mut done = false;
        narrowed(out.values::<T>(), pool, |out, pool| {
            if let Ok(out) = Out::new(bytemuck::cast_slice_mut(out), Dtype::F32, &sizes) {
                done = products::run(op, &views, &mut [out], pool);
            }
        });
        return done.then_some(());
    }
    let channels = from.channels;
    let taps = kernel.count();
    // The weights of a tap side by side.
    let mut turned = vec![0f32; w.len()];
    for (at, &weight) in w.iter().enumerate() {
        turned[at % taps * channels + at / taps] = weight;
    }
    narrowed(out.values::<T>(), pool, |out, pool| {
        parts(out, channels, 1 << 15, pool, &|start, out| {
            let (mut of_x, mut of_w) = (Vec::new(), Vec::new());
            for (place, out) in out.chunks_exact_mut(channels).enumerate() {
                let place = start / channels + place;
                let (image, at) = (place / to.count(), to.place(place % to.count()));
                of_x.clear();
                of_w.clear();
                for tap in 0..taps {
                    if let Some(at) = source(conv, &from, &kernel, at, kernel.place(tap)) {
                        of_x.push(&x[(image * from.count() + at) * channels..][..channels]);
                        of_w.push(&turned[tap * channels..][..channels]);
                    }
                }
                at_best(Taps {
                    x: &of_x,
                    w: &of_w,
                    out,
                });
            }
        });
    });
    Some(())
}

/// Runs a product or a convolution of floats of one dtype; false: there is no fast form of it.
pub fn run(op: &Op, inputs: &[View<'_>], out: &mut Out<'_>, pool: Option<&mut ThreadPool>) -> bool {
    let (a, b, add) = match (op, inputs) {
        // A factor of 0 means that its term is not looked at.
        (Op::AddMm { alpha, beta }, [c, a, b]) if alpha.get() != 0.0 && beta.get() != 0.0 => {
            (a, b, Some((c, alpha.get(), beta.get())))
        }
        (Op::Matmul | Op::Convolution(_), [a, b]) => (a, b, None),
        _ => return false,
    };
    if inputs.iter().any(|x| x.dtype() != out.dtype()) || a.sizes().contains(&0) {
        return false;
    }
    macro_rules! of {
        ($t:ty) => {
            match op {
                Op::Convolution(_) => convolution::<$t>(op, [a, b], out, pool),
                _ => matmul::<$t>([a, b], add, out, pool),
            }
            .is_some()
        };
    }
    match out.dtype() {
        Dtype::F32 => of!(f32),
        Dtype::F16 => of!(f16),
        Dtype::Bf16 => of!(bf16),
        _ => false,
    }
}
