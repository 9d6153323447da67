//! Constants of a network in device memory, as its kernels take them.

use super::fuse::ALIGNED;
use super::steps::{Matrix, Plan, Step};
use super::{Constant, Precision, missing, uploaded};
use crate::gpu::{Device, DeviceBuffer};
use crate::{Error, Result};
use half::f16;
use std::collections::HashMap;
use std::sync::Arc;

/// Columns of y and of x of a tile, and its bytes (`TILE_BYTES` of `hip/ops/network/product.h`).
pub const TILE_COLUMNS: usize = 128;
pub const TILE_INNER: usize = 64;
const TILE_BYTES: usize = TILE_COLUMNS * TILE_INNER * 2;
/// Columns of y that f32 matrices are rounded up to (`SIDE` of `hip/ops/network/product_f32.hip`).
const SIDE: usize = 64;

/// The constants.
pub struct Packed {
    /// Of products, by their number; those that no step has any more are none.
    pub matrices: Vec<Option<DeviceBuffer>>,
    pub vectors: DeviceBuffer,
    pub places: Vec<DeviceBuffer>,
}

impl Packed {
    /// Packs and uploads; equal matrices once.
    pub fn new(
        device: &Arc<Device>,
        plan: &Plan,
        constants: &[Constant<'_>],
        precision: Precision,
    ) -> Result<Packed> {
        let mut same: HashMap<Vec<(usize, Vec<isize>)>, DeviceBuffer> = HashMap::new();
        let mut matrices = vec![None; plan.matrices.len()];
        let used = plan.steps.iter().filter_map(|step| match step {
            Step::Product(product) => Some(product.matrix),
            _ => None,
        });
        for number in used {
            let Some(matrix) = plan.matrices.get(number) else {
                return Err(Error::Internal("a product without its matrix".into()));
            };
            let parts = matrix
                .parts
                .iter()
                .map(|&part| constants.get(part).copied());
            let parts: Option<Vec<Constant<'_>>> = parts.collect();
            let parts = parts.ok_or_else(|| Error::Internal("a matrix without a part".into()))?;
            // The same numbers in memory are the same matrix: encoders share some.
            let key = parts.iter().map(|part| {
                let first = part.numbers.as_ptr() as usize + part.layout.offset * size_of::<f32>();
                (first, part.layout.strides.to_vec())
            });
            let key: Vec<_> = key.collect();
            let buffer = match same.get(&key) {
                Some(buffer) => buffer.clone(),
                None => {
                    let bytes = match precision {
                        Precision::F16 => tiles(matrix, &parts)?,
                        Precision::F32 => rows(matrix, &parts)?,
                    };
                    uploaded(device, &bytes)?
                }
            };
            same.insert(key, buffer.clone());
            matrices[number] = Some(buffer);
        }
        let mut vectors = plan.vectors.clone();
        vectors.resize(vectors.len().max(1).next_multiple_of(ALIGNED), 0.0);
        let places = plan.places.iter();
        let places = places.map(|places| uploaded(device, bytemuck::cast_slice(places)));
        Ok(Packed {
            matrices,
            vectors: uploaded(device, bytemuck::cast_slice(&vectors))?,
            places: places.collect::<Result<_>>()?,
        })
    }
}

/// Calls `put(tap, column of x, column of y, number)` for every number of a matrix.
fn each(
    matrix: &Matrix,
    parts: &[Constant<'_>],
    mut put: impl FnMut(usize, usize, usize, f32),
) -> Result<()> {
    let mut before = 0;
    for part in parts {
        let strides: Vec<usize> = part
            .layout
            .strides
            .iter()
            .map(|s| s.unsigned_abs())
            .collect();
        let negative = part.layout.strides.iter().any(|&stride| stride < 0);
        // Of a tap, a column of x, a column of y.
        let (columns, steps) = match (part.layout.sizes.as_slice(), strides.as_slice()) {
            (&[_, columns], &[x, y]) if matrix.taps == 1 => (columns, [0, x, y]),
            (&[columns, 3, 3, _], &[y, row, x_step, x]) if row == 3 * x_step => {
                (columns, [x_step, x, y])
            }
            _ => return Err(missing("a matrix that lies another way")),
        };
        let last = part.layout.offset
            + (matrix.taps - 1) * steps[0]
            + matrix.inner.saturating_sub(1) * steps[1]
            + columns.saturating_sub(1) * steps[2];
        if negative || last >= part.numbers.len() {
            return Err(missing("a matrix that lies another way"));
        }
        for y in 0..columns {
            for tap in 0..matrix.taps {
                let start = part.layout.offset + tap * steps[0] + y * steps[2];
                for x in 0..matrix.inner {
                    put(tap, x, before + y, part.numbers[start + x * steps[1]]);
                }
            }
        }
        before += columns;
    }
    Ok(())
}

/// f16 tiles: see `hip/ops/network/product.h`.
fn tiles(matrix: &Matrix, parts: &[Constant<'_>]) -> Result<Vec<u8>> {
    let across = matrix.inner.div_ceil(TILE_INNER);
    let steps = matrix.taps * across;
    let mut bytes = vec![0; matrix.columns.div_ceil(TILE_COLUMNS) * steps * TILE_BYTES];
    each(matrix, parts, |tap, x, y, number| {
        let tile = y / TILE_COLUMNS * steps + tap * across + x / TILE_INNER;
        let (row, column) = (y % TILE_COLUMNS, x % TILE_INNER);
        let piece = (column / 8) ^ (row % 8);
        let at = tile * TILE_BYTES + row * TILE_INNER * 2 + piece * 16 + column % 8 * 2;
        let number = number.clamp(f16::MIN.to_f32(), f16::MAX.to_f32());
        if let Some(to) = bytes.get_mut(at..at + 2) {
            to.copy_from_slice(&f16::from_f32(number).to_le_bytes());
        }
    })?;
    Ok(bytes)
}

/// f32 rows: see `hip/ops/network/product_f32.hip`.
fn rows(matrix: &Matrix, parts: &[Constant<'_>]) -> Result<Vec<u8>> {
    let stride = matrix.columns.next_multiple_of(SIDE);
    let mut bytes = vec![0; matrix.taps * matrix.inner * stride * 4];
    each(matrix, parts, |tap, x, y, number| {
        let at = ((tap * matrix.inner + x) * stride + y) * 4;
        if let Some(to) = bytes.get_mut(at..at + 4) {
            to.copy_from_slice(&number.to_le_bytes());
        }
    })?;
    Ok(bytes)
}
