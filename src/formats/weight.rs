//! One weight tensor of a file: shape, format and the mapped bytes that hold it.

use super::{Bytes, Format, RowGroups};
use crate::Result;

/// A weight matrix `[rows, cols]` (or a vector: `rows == 1`) inside mapped files.
///
/// Immutable: any thread. Keeps its files mapped.
#[derive(Debug, Clone)]
pub struct Weight {
    /// The tensor's name in the file, for messages.
    pub name: String,
    /// How the numbers are stored.
    pub format: Format,
    /// Output features (or vocabulary).
    pub rows: usize,
    /// Input features; the direction of the groups.
    pub cols: usize,
    /// Dense values, GGUF blocks, or packed affine codes.
    pub data: Bytes,
    /// Affine scales `[rows, cols/group]`.
    pub scales: Option<Bytes>,
    /// Affine biases `[rows, cols/group]`.
    pub biases: Option<Bytes>,
}

impl Weight {
    /// Dequantizes one row in f32, bit-exact with the format's definition. `out.len() == cols`.
    pub fn dequantize_row(&self, row: usize, out: &mut [f32]) -> Result<()> {
        let _ = (row, out);
        Err(crate::Error::Unsupported("dequantize_row".into()))
    }

    /// Takes one row apart into its group form. Error for dense weights.
    pub fn read_groups(&self, row: usize, out: &mut RowGroups) -> Result<()> {
        let _ = (row, out);
        Err(crate::Error::Unsupported("read_groups".into()))
    }

    /// Bytes of the file that hold this weight.
    pub fn byte_len(&self) -> usize {
        self.data.len()
            + self.scales.as_ref().map_or(0, |b| b.len())
            + self.biases.as_ref().map_or(0, |b| b.len())
    }
}
