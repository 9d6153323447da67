//! A model's weights as kernels of the CPU take them.

use super::packed::{PackedWeight, TILE_ROWS};
use super::threads::ThreadPool;
use crate::formats::{Bytes, Format, MappedFile, ScalarType, Weight};
use crate::{Error, Result};

/// An unquantized matrix, used where it lies in the file.
#[derive(Debug, Clone)]
pub struct DenseMatrix {
    pub ty: ScalarType,
    pub rows: usize,
    pub cols: usize,
    pub data: Bytes,
}

/// A weight matrix as the kernels take it.
#[derive(Debug, Clone)]
pub enum CpuMatrix {
    /// Quantized.
    Packed(PackedWeight),
    /// Unquantized.
    Dense(DenseMatrix),
}

impl CpuMatrix {
    pub fn rows(&self) -> usize {
        match self {
            CpuMatrix::Packed(w) => w.rows,
            CpuMatrix::Dense(w) => w.rows,
        }
    }

    pub fn tiles(&self) -> usize {
        self.rows().div_ceil(TILE_ROWS)
    }
}

/// A model's weights on the CPU. Immutable: any thread.
#[derive(Debug)]
pub struct CpuWeights {
    pub(super) matrices: Vec<CpuMatrix>,
    /// Tables that are gathered by token, as the file has them.
    pub(super) tables: Vec<Weight>,
    pub(super) vectors: Vec<Vec<f32>>,
}

impl CpuWeights {
    /// Packs the quantized ones of `matrices`; `vectors` are norm weights and biases. The places in
    /// both lists are the ids that programs use. `progress(bytes)` is called for each weight.
    pub fn new(
        matrices: Vec<Weight>,
        vectors: Vec<Vec<f32>>,
        pool: &mut ThreadPool,
        progress: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<CpuWeights> {
        let quantized: Vec<&Weight> = matrices
            .iter()
            .filter(|w| w.format.group_form().is_some())
            .collect();
        let mut packed = PackedWeight::pack_all(&quantized, pool, progress)?.into_iter();
        let mut list = Vec::with_capacity(matrices.len());
        for weight in &matrices {
            list.push(match weight.format {
                Format::Dense(ty) => {
                    progress(weight.byte_len() as u64)?;
                    CpuMatrix::Dense(DenseMatrix {
                        ty,
                        rows: weight.rows,
                        cols: weight.cols,
                        data: rows_together(weight)?,
                    })
                }
                _ => CpuMatrix::Packed(packed.next().ok_or_else(|| {
                    Error::Internal(format!("{}: a packed weight is missing", weight.name))
                })?),
            });
        }
        Ok(CpuWeights {
            matrices: list,
            tables: matrices,
            vectors,
        })
    }
}

/// The rows of an unquantized weight, one after the other: where they lie, or, of rows by turns, copied.
fn rows_together(weight: &Weight) -> Result<Bytes> {
    if weight.turns == 1 {
        return Ok(weight.data.clone());
    }
    let mut rows = Vec::with_capacity(weight.byte_len());
    for row in 0..weight.rows {
        rows.extend_from_slice(weight.row(row)?[0]);
    }
    MappedFile::made_of(weight.data.path(), &rows)
}
