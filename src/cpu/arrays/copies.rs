//! Copies of elements that lie otherwise: runs, or tiles where rows become columns.

use super::blocks::parts;
use super::source::Source;
use crate::cpu::ops::{Out, View};
use crate::cpu::shared::SharedSlice;
use crate::cpu::threads::{ThreadPool, spread};
use bytemuck::Pod;

/// Elements of a worker's share.
const SHARE: usize = 1 << 15;
/// Sides of a tile.
const TILE: usize = 16;
/// Rows and columns of a worker's share of tiles.
const STRIP: usize = 128;

/// The elements row after row.
pub fn copy<T: Pod + Send + Sync>(x: &Source<'_, T>, out: &mut [T], pool: Option<&mut ThreadPool>) {
    if out.is_empty() {
        return;
    }
    if let Some((outer, rows, columns)) = turned(x) {
        return tiles(x, (outer, rows, columns), out, pool);
    }
    parts(out, 1, SHARE, pool, &|start, out| x.copy(start, out));
}

/// The axes of an array whose last axis is not the one that lies side by side: that one, and how many are before it.
fn turned<T: Pod>(x: &Source<'_, T>) -> Option<(usize, usize, usize)> {
    let (sizes, strides) = x.axes();
    let (&columns, outer) = sizes.split_last()?;
    let dense = strides.iter().position(|&stride| stride == 1)?;
    (dense < outer.len() && columns >= TILE && sizes[dense] >= TILE)
        .then(|| (dense, sizes[dense], columns))
}

/// Tiles of rows (the axis that lies side by side in x) by columns (the one that does in the result).
fn tiles<T: Pod + Send + Sync>(
    x: &Source<'_, T>,
    (dense, rows, columns): (usize, usize, usize),
    out: &mut [T],
    pool: Option<&mut ThreadPool>,
) {
    let (sizes, strides) = x.axes();
    let last = sizes.len() - 1;
    let (numbers, offset) = x.buffer();
    let step = strides[last];
    // Elements of the result from one row to the next.
    let out_step: usize = sizes[dense + 1..].iter().product();
    let others: Vec<usize> = (0..last).filter(|&axis| axis != dense).collect();
    let matrices: usize = others.iter().map(|&axis| sizes[axis]).product();
    let (down, across) = (rows.div_ceil(STRIP), columns.div_ceil(STRIP));
    let out = SharedSlice::new(out);
    spread(pool, matrices * down * across, &|_, chunk| {
        let (matrix, strip) = (chunk / (down * across), chunk % (down * across));
        let (mut left, mut from, mut to) = (matrix, offset as isize, 0);
        for &axis in others.iter().rev() {
            let at = left % sizes[axis];
            left /= sizes[axis];
            from += at as isize * strides[axis];
            to += at * sizes[axis + 1..].iter().product::<usize>();
        }
        let of_rows = strip / across * STRIP..((strip / across + 1) * STRIP).min(rows);
        let of_columns = strip % across * STRIP..((strip % across + 1) * STRIP).min(columns);
        for column in of_columns.clone().step_by(TILE) {
            let width = TILE.min(of_columns.end - column);
            for row in of_rows.clone().step_by(TILE) {
                let height = TILE.min(of_rows.end - row);
                let mut tile = [[T::zeroed(); TILE]; TILE];
                for (i, tile) in tile.iter_mut().enumerate().take(width) {
                    let at = from + (column + i) as isize * step + row as isize;
                    tile[..height].copy_from_slice(&numbers[at as usize..][..height]);
                }
                for j in 0..height {
                    let at = to + (row + j) * out_step + column;
                    // SAFETY: tiles have elements of their own.
                    let out = unsafe { out.part(at..at + width).write() };
                    for (to, tile) in out.iter_mut().zip(&tile) {
                        *to = tile[j];
                    }
                }
            }
        }
    });
}

/// The elements of a view row after row; false if they are not aligned.
pub fn copy_view(x: &View<'_>, out: &mut [u8], pool: Option<&mut ThreadPool>) -> bool {
    fn of<T: Pod + Send + Sync>(
        x: &View<'_>,
        out: &mut [u8],
        pool: Option<&mut ThreadPool>,
    ) -> bool {
        match (Source::<T>::of(x), bytemuck::try_cast_slice_mut(out)) {
            (Some(x), Ok(out)) => copy(&x, out, pool),
            _ => return false,
        }
        true
    }
    match x.dtype().size() {
        1 => of::<u8>(x, out, pool),
        2 => of::<u16>(x, out, pool),
        4 => of::<u32>(x, out, pool),
        _ => of::<u64>(x, out, pool),
    }
}

/// Copies; false: elements are not aligned.
pub fn run(inputs: &[View<'_>], out: &mut Out<'_>, pool: Option<&mut ThreadPool>) -> bool {
    match inputs {
        [x] if x.dtype() == out.dtype() => copy_view(x, out.bytes(), pool),
        _ => false,
    }
}
