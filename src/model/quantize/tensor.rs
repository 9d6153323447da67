//! A tensor that will be written, and where its numbers come from.

use crate::formats::{Bytes, ScalarType};
use crate::ir::{Dtype, QuantMode, Quantization};
use crate::{Error, Result};

/// Some rows of a tensor of the source.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    /// Row after row.
    pub(super) data: Bytes,
    pub(super) rows: usize,
}

/// What is done to the numbers besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    None,
    /// This is added, in the source's own type: norms that are kept as differences from 1.
    Add(i8),
    /// Heads of so many rows whose pairs (i, i + half) lie beside each other, as converters to GGUF put them.
    Pairs(usize),
}

/// A tensor under MLX's name.
#[derive(Debug, Clone)]
pub(super) struct Tensor {
    pub(super) name: String,
    pub(super) shape: Vec<usize>,
    /// Its numbers as rows, which the pieces have one after another.
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) from: ScalarType,
    pub(super) to: ScalarType,
    pub(super) pieces: Vec<Piece>,
    pub(super) change: Change,
    pub(super) quantization: Option<Quantization>,
}

/// One of the arrays that a tensor becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) dtype: Dtype,
    pub(super) shape: Vec<usize>,
    /// Bytes that a row of the tensor takes in it.
    pub(super) row_bytes: usize,
}

/// The library's name for a type of files.
pub(super) fn dtype(scalar: ScalarType) -> Dtype {
    match scalar {
        ScalarType::F32 => Dtype::F32,
        ScalarType::F16 => Dtype::F16,
        ScalarType::BF16 => Dtype::Bf16,
    }
}

impl Tensor {
    /// A tensor of one piece that is written as it is.
    ///
    /// # Errors
    /// `InvalidFile` if it is empty.
    pub(super) fn new(
        name: impl Into<String>,
        shape: Vec<usize>,
        from: ScalarType,
        data: Bytes,
    ) -> Result<Tensor> {
        let name = name.into();
        let count: usize = shape.iter().product();
        if count == 0 {
            let path = data.path().display();
            return Err(Error::InvalidFile(format!(
                "{path}: tensor {name} is empty"
            )));
        }
        // Vectors are one row, so that no row is too small to be worth its while.
        let columns = shape.last().copied().unwrap_or(1);
        let rows = count / columns;
        Ok(Tensor {
            name,
            shape,
            rows,
            columns,
            from,
            to: from,
            pieces: vec![Piece { data, rows }],
            change: Change::None,
            quantization: None,
        })
    }

    /// Bytes of the source.
    pub(super) fn source_bytes(&self) -> u64 {
        self.pieces
            .iter()
            .map(|piece| piece.data.len() as u64)
            .sum()
    }

    /// The arrays that it becomes: itself, or codes, scales and biases.
    pub(super) fn parts(&self) -> Vec<Part> {
        let last = |columns: usize| {
            let outer = &self.shape[..self.shape.len().saturating_sub(1)];
            outer.iter().copied().chain([columns]).collect::<Vec<_>>()
        };
        let Some(q) = self.quantization else {
            return vec![Part {
                name: self.name.clone(),
                dtype: dtype(self.to),
                shape: self.shape.clone(),
                row_bytes: self.columns * dtype(self.to).size(),
            }];
        };
        let module = self.name.strip_suffix(".weight").unwrap_or(&self.name);
        let (words, groups) = (self.columns * q.bits / 32, self.columns / q.group);
        let part = |name: &str, dtype: Dtype, columns: usize| Part {
            name: format!("{module}.{name}"),
            dtype,
            shape: last(columns),
            row_bytes: columns * dtype.size(),
        };
        let codes = part("weight", Dtype::U32, words);
        match q.mode {
            QuantMode::Affine => vec![
                codes,
                part("scales", dtype(self.to), groups),
                part("biases", dtype(self.to), groups),
            ],
            _ => vec![codes, part("scales", Dtype::U8, groups)],
        }
    }
}
