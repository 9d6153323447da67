//! Products of f32 matrices: a few rows by a panel of columns, the sums in registers.

use super::vector::Vector;

/// Columns of a panel: two vectors of AVX2, one of AVX-512.
pub const GEMM_COLUMNS: usize = 16;
/// Rows of a tile whose sums, two vectors each, fill AVX2's 16 registers.
pub const GEMM_ROWS: usize = 6;
/// As many whose sums, one vector each, hide the latency of AVX-512's multiplications; no level has more.
pub const GEMM_ROWS_MOST: usize = 12;

/// `out[row][column] = Σ_k rows[row][k] · panel[k][column]`.
#[derive(Clone, Copy)]
pub struct GemmTile {
    /// `count` rows of `inner` numbers, `stride` from one to the next.
    pub rows: *const f32,
    pub stride: usize,
    /// 1 to the level's `gemm_rows`.
    pub count: usize,
    /// `[inner][GEMM_COLUMNS]`
    pub panel: *const f32,
    pub inner: usize,
    /// `count` rows of `GEMM_COLUMNS` numbers, `out_stride` from one to the next.
    pub out: *mut f32,
    pub out_stride: usize,
}

/// A tile of up to [`GEMM_ROWS`] rows, in `V` vectors of columns.
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

/// A tile of up to [`GEMM_ROWS_MOST`] rows.
///
/// # Safety
/// As [`gemm_tile`].
#[inline(always)]
pub unsafe fn gemm_tall_tile<T: Vector, const V: usize>(tile: &GemmTile) {
    // SAFETY: the caller's promise.
    unsafe {
        match tile.count {
            7 => rows::<T, V, 7>(tile),
            8 => rows::<T, V, 8>(tile),
            9 => rows::<T, V, 9>(tile),
            10 => rows::<T, V, 10>(tile),
            11 => rows::<T, V, 11>(tile),
            12 => rows::<T, V, 12>(tile),
            _ => gemm_tile::<T, V>(tile),
        }
    }
}

#[inline(always)]
unsafe fn rows<T: Vector, const V: usize, const R: usize>(tile: &GemmTile) {
    debug_assert!(T::LANES * V == GEMM_COLUMNS && tile.count >= R);
    let (numbers, stride) = (tile.rows, tile.stride);
    // SAFETY: R rows of `inner` numbers, `inner` rows of a panel, R rows of results.
    unsafe {
        let mut sums = [[T::splat(0.0); V]; R];
        for k in 0..tile.inner {
            let columns = tile.panel.add(k * GEMM_COLUMNS);
            let columns: [T; V] = std::array::from_fn(|v| T::load(columns.add(v * T::LANES)));
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
