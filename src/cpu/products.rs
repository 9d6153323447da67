//! Products and convolutions of f32 arrays, fast: blocks of rows by panels of columns, in SIMD kernels, by all
//! workers. Every element is a sum in the order of the inner places whatever the other sizes are, so that a
//! row gives the same bits alone and in a batch. Sums are f32; small products stay with the plain form.

use super::kernels::{GEMM_COLUMNS, GEMM_ROWS, GEMM_ROWS_MOST, GemmTile, Kernels, kernels};
use super::ops::{Out, Space, View, source};
use super::shared::SharedSlice;
use super::threads::{ThreadPool, spread};
use crate::ir::{Conv, Dtype, Op};
use std::borrow::Cow;
use std::ops::Range;

/// Products of smaller matrices on the right are not worth it. (Rows on the left do not count: how a row is
/// computed must not depend on them.)
pub const LEAST: usize = 1 << 10;
/// Multiplications below which other workers would take longer to wake than to help.
pub const WORTH_SHARING: usize = 1 << 17;
/// Rows of a chunk of work: whole tiles on every level.
const CHUNK: usize = 48;
/// Panels of a chunk of work.
const CHUNK_PANELS: usize = 8;

/// Rows of numbers, the left side of a product.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    /// From the first one on.
    pub numbers: &'a [f32],
    /// Numbers from one row to the next.
    pub stride: usize,
    /// How many.
    pub count: usize,
}

/// The right side of a product: panels of columns, `[panel][inner][GEMM_COLUMNS]`, zeros behind the last one.
pub struct Panels {
    numbers: Vec<f32>,
    inner: usize,
    columns: usize,
}

impl Panels {
    /// Of `[inner, columns]`, whose element (k, n) is at `k · strides.0 + n · strides.1`.
    pub fn pack(b: &[f32], inner: usize, columns: usize, strides: (usize, usize)) -> Panels {
        let mut numbers = vec![0.0; Panels::room(inner, columns)];
        pack(&mut numbers, b, inner, columns, strides);
        Panels {
            numbers,
            inner,
            columns,
        }
    }

    /// Of numbers that lie as [`Panels::pack`] lays them.
    pub fn packed(numbers: Vec<f32>, inner: usize, columns: usize) -> Panels {
        assert!(
            numbers.len() == Panels::room(inner, columns),
            "panels of another size"
        );
        Panels {
            numbers,
            inner,
            columns,
        }
    }

    /// Numbers of the panels of a matrix.
    pub fn room(inner: usize, columns: usize) -> usize {
        columns.div_ceil(GEMM_COLUMNS) * inner * GEMM_COLUMNS
    }

    /// `[rows][inner]` times this, to `[rows][columns]`, by all workers.
    pub fn multiply(
        &self,
        kernels: &Kernels,
        rows: &[f32],
        out: &mut [f32],
        pool: Option<&mut ThreadPool>,
    ) {
        let (inner, columns) = (self.inner, self.columns);
        let count = out.len().checked_div(columns).unwrap_or(0);
        let panels = columns.div_ceil(GEMM_COLUMNS);
        let pool = pool.filter(|_| count * inner * columns >= WORTH_SHARING);
        // One worker packs its caches best by going through all panels with the same rows.
        let width = match pool {
            Some(_) => CHUNK_PANELS,
            None => panels.max(1),
        };
        let across = panels.div_ceil(width);
        let out = SharedSlice::new(out);
        spread(pool, count.div_ceil(CHUNK) * across, &|_, chunk| {
            let first = chunk / across * CHUNK;
            let rows = Rows {
                numbers: &rows[first * inner..],
                stride: inner,
                count: CHUNK.min(count - first),
            };
            let from = chunk % across * width;
            let range = from..(from + width).min(panels);
            let out = out.part(first * columns..(first + rows.count) * columns);
            // SAFETY: chunks have rows or columns of their own.
            unsafe { multiply(kernels, rows, self.of(range), inner, out.as_ptr(), columns) };
        });
    }

    /// Some panels, with the columns they have together.
    fn of(&self, range: Range<usize>) -> (&[f32], Range<usize>) {
        let size = self.inner * GEMM_COLUMNS;
        let columns = range.start * GEMM_COLUMNS..(range.end * GEMM_COLUMNS).min(self.columns);
        (&self.numbers[range.start * size..range.end * size], columns)
    }
}

/// Fills panels (see [`Panels::pack`]); `numbers` are [`Panels::room`], zeros where no column is.
pub fn pack(numbers: &mut [f32], b: &[f32], inner: usize, columns: usize, strides: (usize, usize)) {
    let of_one = (inner * GEMM_COLUMNS).max(1);
    for (panel, to) in numbers.chunks_exact_mut(of_one).enumerate() {
        let first = panel * GEMM_COLUMNS;
        let count = GEMM_COLUMNS.min(columns - first);
        if strides.1 == 1 {
            for (k, to) in to.chunks_exact_mut(GEMM_COLUMNS).enumerate() {
                to[..count].copy_from_slice(&b[k * strides.0 + first..][..count]);
            }
            continue;
        }
        for n in 0..count {
            let from = (first + n) * strides.1;
            for (k, to) in to[n..].iter_mut().step_by(GEMM_COLUMNS).enumerate() {
                *to = b[from + k * strides.0];
            }
        }
    }
}

/// Rows of a tile where one has so many at most: of eight rows four and four, not six and two.
pub fn rows_a_tile(count: usize, most: usize) -> usize {
    count.div_ceil(count.div_ceil(most))
}

/// Rows times panels that stand for these columns of the result; `out` is the result's first number, its rows
/// are `stride` apart.
///
/// # Safety
/// `out` reaches `rows.count` rows; nobody else uses these columns of them.
pub unsafe fn multiply(
    kernels: &Kernels,
    rows: Rows<'_>,
    (panels, columns): (&[f32], Range<usize>),
    inner: usize,
    out: *mut f32,
    stride: usize,
) {
    if rows.count == 0 {
        return;
    }
    let [single, pair, four] = kernels.gemm_rows;
    assert!(inner > 0 && single <= GEMM_ROWS_MOST && columns.end <= stride);
    // The widest tiles that hold all rows, or many: few rows by few panels wait for each addition.
    let wanted = rows.count.min(GEMM_ROWS);
    let tiles = [(4, four), (2, pair)];
    let tiles = tiles.into_iter().filter(|&(_, most)| most >= wanted);
    assert!(rows.numbers.len() >= (rows.count - 1) * rows.stride + inner);
    let size = inner * GEMM_COLUMNS;
    let (mut place, all) = (0, panels.len() / size);
    while place < all {
        let first = columns.start + place * GEMM_COLUMNS;
        let left = columns.end - first;
        let fits =
            |&(count, _): &(usize, usize)| place + count <= all && left >= count * GEMM_COLUMNS;
        let (count, most) = tiles.clone().find(fits).unwrap_or((1, single));
        let panel = &panels[place * size..(place + count) * size];
        let width = left.min(count * GEMM_COLUMNS);
        let most = rows_a_tile(rows.count, most);
        for row in (0..rows.count).step_by(most) {
            // SAFETY: rows that are there.
            let out = unsafe { out.add(row * stride + first) };
            let mut tile = GemmTile {
                rows: rows.numbers[row * rows.stride..].as_ptr(),
                stride: rows.stride,
                count: most.min(rows.count - row),
                panel: panel.as_ptr(),
                panels: count,
                inner,
                out,
                out_stride: stride,
            };
            if width == count * GEMM_COLUMNS {
                // SAFETY: the table is one that this CPU can run; the lengths were asserted.
                unsafe { (kernels.gemm_tile)(&tile) };
                continue;
            }
            let mut sums = [0.0; GEMM_ROWS_MOST * GEMM_COLUMNS];
            (tile.out, tile.out_stride) = (sums.as_mut_ptr(), GEMM_COLUMNS);
            // SAFETY: as above.
            unsafe { (kernels.gemm_tile)(&tile) };
            for (row, sums) in sums.chunks_exact(GEMM_COLUMNS).take(tile.count).enumerate() {
                // SAFETY: the columns that are left, of a row that is there.
                let out = unsafe { std::slice::from_raw_parts_mut(out.add(row * stride), width) };
                out.copy_from_slice(&sums[..width]);
            }
        }
        place += count;
    }
}

/// Runs an operation if there is a fast form of it; false: there is none.
pub fn run(
    op: &Op,
    inputs: &[View<'_>],
    outputs: &mut [Out<'_>],
    pool: Option<&mut ThreadPool>,
) -> bool {
    let ([a, b], [out]) = (inputs, outputs) else {
        return false;
    };
    let all = [a.dtype(), b.dtype(), out.dtype()];
    if all != [Dtype::F32; 3] || out.sizes().contains(&0) {
        return false;
    }
    match op {
        Op::Matmul => matmul(a, b, out, pool),
        Op::Convolution(conv) => convolution(conv, a, b, out, pool),
        _ => false,
    }
}

/// Calls `work(chunk, its part of out)` for parts of `size`, by all workers.
pub fn chunks(
    out: &mut [f32],
    size: usize,
    pool: Option<&mut ThreadPool>,
    work: &(dyn Fn(usize, &mut [f32]) + Sync),
) {
    let len = out.len();
    let parts = SharedSlice::new(out);
    spread(pool, len.div_ceil(size), &|_, chunk| {
        let part = parts.part(chunk * size..((chunk + 1) * size).min(len));
        // SAFETY: each part is one worker's.
        work(chunk, unsafe { part.write() });
    });
}

fn matmul(
    a: &View<'_>,
    b: &View<'_>,
    out: &mut Out<'_>,
    mut pool: Option<&mut ThreadPool>,
) -> bool {
    let (&[.., inner, columns], Some(&rows)) = (b.sizes(), a.sizes().iter().rev().nth(1)) else {
        return false;
    };
    if inner * columns < LEAST || inner == 0 {
        return false;
    }
    let batches = out.sizes().iter().rev().skip(2).product::<usize>();
    let (a, kernels) = (a.values::<f32>(), kernels());
    let out = out.values::<f32>();
    // A matrix as it lies or turned over is packed from where it is.
    let layout = b.layout();
    let steps = &layout.strides[layout.strides.len() - 2..];
    let whole = match (batches, steps, b.buffer::<f32>()) {
        (1, &[k, n], Some(numbers)) if k >= 0 && n >= 0 => {
            Some((Cow::Borrowed(numbers), (k as usize, n as usize)))
        }
        _ => None,
    };
    let (numbers, strides) = whole.unwrap_or_else(|| (b.values::<f32>(), (columns, 1)));
    for batch in 0..batches {
        let b = &numbers[batch * inner * columns..];
        let panels = Panels::pack(b, inner, columns, strides);
        let a = &a[batch * rows * inner..][..rows * inner];
        let out = &mut out[batch * rows * columns..][..rows * columns];
        panels.multiply(kernels, a, out, pool.as_deref_mut());
    }
    true
}

/// A convolution as a product: the elements under the kernel at each place of the result are a row.
fn convolution(
    conv: &Conv,
    x: &View<'_>,
    w: &View<'_>,
    out: &mut Out<'_>,
    pool: Option<&mut ThreadPool>,
) -> bool {
    let (Some(from), Some(kernel), Some(to)) = (
        Space::of(x.sizes()),
        Space::of(w.sizes()),
        Space::of(out.sizes()),
    ) else {
        return false;
    };
    let channels = from.channels;
    let inner = kernel.count() * channels;
    if conv.groups != 1 || inner * to.channels < LEAST {
        return false;
    }
    let (x, w, kernels) = (x.values::<f32>(), w.values::<f32>(), kernels());
    let panels = Panels::pack(&w, inner, to.channels, (1, inner));
    let out = out.values::<f32>();
    chunks(out, CHUNK * to.channels, pool, &|chunk, out| {
        let count = out.len() / to.channels;
        let mut rows = vec![0.0; count * inner];
        for (row, taps) in rows.chunks_exact_mut(inner).enumerate() {
            let place = chunk * CHUNK + row;
            let (image, at) = (place / to.count(), to.place(place % to.count()));
            for (tap, to) in taps.chunks_exact_mut(channels).enumerate() {
                if let Some(place) = source(conv, &from, &kernel, at, kernel.place(tap)) {
                    let first = (image * from.count() + place) * channels;
                    to.copy_from_slice(&x[first..first + channels]);
                }
            }
        }
        panels.multiply(kernels, &rows, out, None);
    });
    true
}

#[cfg(test)]
pub mod tests;
