//! One weight tensor of a file: shape, format and the mapped bytes that hold it.

use super::{Bytes, Format, RowGroups, quantization};
use crate::{Error, Result};

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
    /// A weight whose parts have exactly the sizes that `format` and the shape ask for.
    ///
    /// `scales` and `biases` are given for affine formats and for no other. The error names the
    /// tensor and the part; the caller adds the file.
    pub fn new(
        name: impl Into<String>,
        format: Format,
        rows: usize,
        cols: usize,
        data: Bytes,
        scales: Option<Bytes>,
        biases: Option<Bytes>,
    ) -> Result<Weight> {
        let name = name.into();
        fn bad<T>(name: &str, what: String) -> Result<T> {
            Err(Error::InvalidFile(format!("tensor {name}: {what}")))
        }
        if rows == 0 || cols == 0 {
            return bad(&name, format!("empty shape [{rows}, {cols}]"));
        }
        let (block, _) = format.block();
        if !format.is_valid() {
            return bad(&name, format!("{format} is not an affine format"));
        }
        let Some(row_bytes) = format.row_bytes(cols) else {
            return bad(
                &name,
                format!(
                    "rows of {cols} weights do not form whole blocks of {block} weights of {format}"
                ),
            );
        };
        let check = |part: &str, bytes: &Bytes, row_bytes: usize| {
            let needed = rows.checked_mul(row_bytes);
            if needed != Some(bytes.len()) {
                return bad(
                    &name,
                    format!(
                        "{part} of a {format} weight [{rows}, {cols}] must have {rows}·{row_bytes} \
                     bytes, the file has {}",
                        bytes.len()
                    ),
                );
            }
            Ok(())
        };
        check("data", &data, row_bytes)?;
        match (format, &scales, &biases) {
            (Format::Affine { group, scale, .. }, Some(scales), Some(biases)) => {
                let row_bytes = cols / usize::from(group) * scale.bytes();
                check("scales", scales, row_bytes)?;
                check("biases", biases, row_bytes)?;
            }
            (Format::Affine { .. }, _, _) => {
                return bad(&name, format!("{format} needs scales and biases"));
            }
            (_, None, None) => {}
            _ => return bad(&name, format!("{format} has no separate scales or biases")),
        }
        Ok(Weight {
            name,
            format,
            rows,
            cols,
            data,
            scales,
            biases,
        })
    }

    /// Dequantizes one row in f32, bit-exact with the format's definition. `out.len() == cols`.
    pub fn dequantize_row(&self, row: usize, out: &mut [f32]) -> Result<()> {
        if out.len() != self.cols {
            return Err(Error::InvalidArgument(format!(
                "tensor {}: a row has {} weights, the output {}",
                self.name,
                self.cols,
                out.len()
            )));
        }
        let (data, scales, biases) = self.row(row)?;
        quantization::dequantize(self.format, data, scales, biases, out);
        Ok(())
    }

    /// Takes one row apart into its group form. Error for dense weights.
    pub fn read_groups(&self, row: usize, out: &mut RowGroups) -> Result<()> {
        let (data, scales, biases) = self.row(row)?;
        if quantization::read_groups(self.format, data, scales, biases, out) {
            return Ok(());
        }
        Err(Error::InvalidArgument(format!(
            "tensor {}: {} weights have no groups",
            self.name, self.format
        )))
    }

    /// The bytes of one row: data, scales, biases (empty where the format has none).
    fn row(&self, row: usize) -> Result<(&[u8], &[u8], &[u8])> {
        if row >= self.rows {
            return Err(Error::InvalidArgument(format!(
                "tensor {}: row {row} of {}",
                self.name, self.rows
            )));
        }
        // The parts were checked by `new`; fields are public, so they are not trusted blindly.
        let parts = row_of(&self.data, row, self.rows)
            .filter(|data| self.format.row_bytes(self.cols) == Some(data.len()))
            .and_then(|data| {
                Some((
                    data,
                    row_of_part(&self.scales, row, self.rows)?,
                    row_of_part(&self.biases, row, self.rows)?,
                ))
            });
        parts.ok_or_else(|| {
            Error::InvalidFile(format!("tensor {}: parts do not fit its shape", self.name))
        })
    }

    /// Gives the mapped pages back to the system; they are read from the file again when touched.
    pub fn release(&self) {
        for bytes in [Some(&self.data), self.scales.as_ref(), self.biases.as_ref()]
            .into_iter()
            .flatten()
        {
            bytes.release();
        }
    }

    /// Bytes of the file that hold this weight.
    pub fn byte_len(&self) -> usize {
        self.data.len()
            + self.scales.as_ref().map_or(0, |b| b.len())
            + self.biases.as_ref().map_or(0, |b| b.len())
    }
}

/// Row `row` of a part that holds `rows` rows of equal length.
fn row_of(bytes: &Bytes, row: usize, rows: usize) -> Option<&[u8]> {
    let len = bytes.len() / rows;
    bytes.get(row * len..(row + 1) * len)
}

/// As [`row_of`]; an absent part has empty rows.
fn row_of_part(part: &Option<Bytes>, row: usize, rows: usize) -> Option<&[u8]> {
    match part {
        Some(bytes) => row_of(bytes, row, rows),
        None => Some(&[]),
    }
}
