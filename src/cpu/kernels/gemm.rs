//! Products of f32 matrices: a few rows by one or two panels of columns, the sums in registers.

use super::vector::Vector;

/// Columns of a panel: two vectors of AVX2, one of AVX-512.
pub const GEMM_COLUMNS: usize = 16;
/// Rows of a tile whose sums, two vectors each, fill AVX2's 16 registers.
pub const GEMM_ROWS: usize = 6;
/// As many whose sums, one vector each, hide the latency of AVX-512's multiplications; no level has more.
/// (By two panels six rows do, and a cache of eight ways holds these if they begin in the same set: rows of 1,024
/// numbers go half as fast twelve at a time.)
pub const GEMM_ROWS_MOST: usize = 12;
/// Numbers that a few rows' columns are asked for ahead, a page: the CPU's own prefetching ends at each.
const AHEAD: usize = 1024;

/// `out[row][column] = Σ_k rows[row][k] · panel[k][column]`.
#[derive(Clone, Copy)]
pub struct GemmTile {
    /// `count` rows of `inner` numbers, `stride` from one to the next.
    pub rows: *const f32,
    pub stride: usize,
    /// 1 to the level's `gemm_rows` of as many panels.
    pub count: usize,
    /// `[panels][inner][GEMM_COLUMNS]`
    pub panel: *const f32,
    /// 1, or 2 or 4 if the level has such tiles.
    pub panels: usize,
    pub inner: usize,
    /// `count` rows of `panels · GEMM_COLUMNS` numbers, `out_stride` from one to the next.
    pub out: *mut f32,
    pub out_stride: usize,
}

/// A tile of up to [`GEMM_ROWS`] rows, whose columns are `V` vectors.
///
/// # Safety
/// The pointers reach what [`GemmTile`] says; nobody else uses `out`; the CPU has the level of `T`.
#[inline(always)]
pub unsafe fn gemm_tile<T: Vector, const V: usize>(tile: &GemmTile) {
    // SAFETY: the caller's promise.
    unsafe {
        match tile.count {
            1 => rows::<T, V, 1>(tile),
            2 => rows::<T, V, 2>(tile),
            3 => rows::<T, V, 3>(tile),
            4 => rows::<T, V, 4>(tile),
            5 => rows::<T, V, 5>(tile),
            _ => rows::<T, V, 6>(tile),
        }
    }
}

/// Of two vectors a panel, in 16 registers: a row by four panels, up to three by two, up to [`GEMM_ROWS`] by one.
///
/// # Safety
/// As [`gemm_tile`].
#[inline(always)]
pub unsafe fn gemm_half_tile<T: Vector>(tile: &GemmTile) {
    // SAFETY: the caller's promise.
    unsafe {
        match (tile.panels, tile.count) {
            (4, _) => rows::<T, 8, 1>(tile),
            (2, 1) => rows::<T, 4, 1>(tile),
            (2, 2) => rows::<T, 4, 2>(tile),
            (2, _) => rows::<T, 4, 3>(tile),
            _ => gemm_tile::<T, 2>(tile),
        }
    }
}

/// Of a vector a panel, in 32 registers: up to three rows by four panels, up to [`GEMM_ROWS`] by two, up to
/// [`GEMM_ROWS_MOST`] by one.
///
/// # Safety
/// As [`gemm_tile`].
#[inline(always)]
pub unsafe fn gemm_whole_tile<T: Vector>(tile: &GemmTile) {
    // SAFETY: the caller's promise.
    unsafe {
        match (tile.panels, tile.count) {
            (4, 1) => rows::<T, 4, 1>(tile),
            (4, 2) => rows::<T, 4, 2>(tile),
            (4, _) => rows::<T, 4, 3>(tile),
            (2, _) => gemm_tile::<T, 2>(tile),
            (_, 7) => rows::<T, 1, 7>(tile),
            (_, 8) => rows::<T, 1, 8>(tile),
            (_, 9) => rows::<T, 1, 9>(tile),
            (_, 10) => rows::<T, 1, 10>(tile),
            (_, 11) => rows::<T, 1, 11>(tile),
            (_, 12) => rows::<T, 1, 12>(tile),
            _ => gemm_tile::<T, 1>(tile),
        }
    }
}

#[inline(always)]
unsafe fn rows<T: Vector, const V: usize, const R: usize>(tile: &GemmTile) {
    debug_assert!(T::LANES * V == tile.panels * GEMM_COLUMNS && tile.count >= R);
    let (numbers, stride) = (tile.rows, tile.stride);
    // From the first vector of columns to another one.
    let step = |v: usize| {
        let column = v * T::LANES;
        column / GEMM_COLUMNS * tile.inner * GEMM_COLUMNS + column % GEMM_COLUMNS
    };
    // SAFETY: R rows of `inner` numbers, `inner` rows of each panel, R rows of results.
    unsafe {
        let mut sums = [[T::splat(0.0); V]; R];
        for k in 0..tile.inner {
            let columns = tile.panel.add(k * GEMM_COLUMNS);
            // More rows come to the same columns again.
            if R <= 4 {
                for v in (0..V).step_by(GEMM_COLUMNS / T::LANES) {
                    T::prefetch(columns.wrapping_add(step(v) + AHEAD));
                }
            }
            let columns: [T; V] = std::array::from_fn(|v| T::load(columns.add(step(v))));
            for (row, sums) in sums.iter_mut().enumerate() {
                let x = T::splat(*numbers.add(row * stride + k));
                for (sum, &column) in sums.iter_mut().zip(&columns) {
                    *sum = x.multiply_add(column, *sum);
                }
            }
        }
        for (row, sums) in sums.iter().enumerate() {
            for (v, sum) in sums.iter().enumerate() {
                sum.store(tile.out.add(row * tile.out_stride + v * T::LANES));
            }
        }
    }
}
