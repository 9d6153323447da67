//! Constants of a network in device memory, as its kernels take them.

use super::fuse::ALIGNED;
use super::steps::{Matrix, Plan, Step};
use super::{Constant, Precision, missing};
use crate::gpu::constants::{network_product, network_product_f32};
use crate::gpu::{Device, DeviceBuffer, Uploader};
use crate::{Error, Result};
use half::f16;
use std::collections::HashMap;
use std::sync::Arc;

/// Columns of y and of x of a tile of f16, and its bytes.
pub const TILE_COLUMNS: usize = TILE_BYTES / TILE_INNER / 2;
pub const TILE_INNER: usize = network_product::STEP_COLS;
const TILE_BYTES: usize = network_product::TILE_BYTES;
/// Columns of y that f32 matrices are rounded up to.
const SIDE: usize = network_product_f32::SIDE;

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
        let mut uploader = device.uploader()?;
        let mut matrices = vec![None; plan.matrices.len()];
        let used = plan.steps.iter().flat_map(Step::products);
        let used = used.map(|product| product.matrix);
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
                    uploaded(device, &mut uploader, &bytes)?
                }
            };
            same.insert(key, buffer.clone());
            matrices[number] = Some(buffer);
        }
        let mut vectors = plan.vectors.clone();
        vectors.resize(vectors.len().max(1).next_multiple_of(ALIGNED), 0.0);
        let mut uploaded = |numbers| uploaded(device, &mut uploader, numbers);
        let places = plan.places.iter();
        let places = places.map(|places| uploaded(bytemuck::cast_slice(places)));
        let places = places.collect::<Result<_>>()?;
        let vectors = uploaded(bytemuck::cast_slice(&vectors))?;
        uploader.finish()?;
        Ok(Packed {
            matrices,
            vectors,
            places,
        })
    }
}

/// Bytes as a device buffer, once the uploader has ended.
fn uploaded(device: &Arc<Device>, uploader: &mut Uploader, bytes: &[u8]) -> Result<DeviceBuffer> {
    let buffer = device.alloc(bytes.len().max(16) as u64)?;
    let mut left = bytes;
    uploader.write(&buffer, 0, bytes.len() as u64, |piece| {
        let (now, rest) = left.split_at(piece.len().min(left.len()));
        piece[..now.len()].copy_from_slice(now);
        left = rest;
        Ok(())
    })?;
    Ok(buffer)
}

/// Calls `put(tap, column of y, numbers of the columns of x)` for every row of a matrix.
fn each_row(
    matrix: &Matrix,
    parts: &[Constant<'_>],
    mut put: impl FnMut(usize, usize, &[f32]),
) -> Result<()> {
    let mut before = 0;
    let mut row = vec![0.0; matrix.inner];
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
                let numbers = part.numbers[start..].iter().step_by(steps[1].max(1));
                for (to, &number) in row.iter_mut().zip(numbers) {
                    *to = number;
                }
                put(tap, before + y, &row);
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
    each_row(matrix, parts, |tap, y, numbers| {
        let row = y % TILE_COLUMNS;
        let first = y / TILE_COLUMNS * steps + tap * across;
        for (tile, numbers) in numbers.chunks(TILE_INNER).enumerate() {
            let start = (first + tile) * TILE_BYTES + row * TILE_INNER * 2;
            let to = &mut bytes[start..start + TILE_INNER * 2];
            for (piece, numbers) in numbers.chunks(8).enumerate() {
                let to = to[(piece ^ (row % 8)) * 16..].chunks_exact_mut(2);
                for (to, number) in to.zip(numbers) {
                    let number = number.clamp(f16::MIN.to_f32(), f16::MAX.to_f32());
                    to.copy_from_slice(&f16::from_f32(number).to_le_bytes());
                }
            }
        }
    })?;
    Ok(bytes)
}

/// f32 rows: see `hip/ops/network/product_f32.hip`.
fn rows(matrix: &Matrix, parts: &[Constant<'_>]) -> Result<Vec<u8>> {
    let stride = matrix.columns.next_multiple_of(SIDE);
    let mut rows = vec![0.0f32; matrix.taps * matrix.inner * stride];
    each_row(matrix, parts, |tap, y, numbers| {
        let of_tap = &mut rows[tap * matrix.inner * stride..];
        for (to, &number) in of_tap.iter_mut().skip(y).step_by(stride).zip(numbers) {
            *to = number;
        }
    })?;
    Ok(bytemuck::cast_slice(&rows).to_vec())
}
