//! The bytes of a tensor's arrays, some rows at a time.

use super::tensor::{Change, Tensor, dtype};
use crate::cpu::ops::{Out, View, run};
use crate::formats::ScalarType;
use crate::ir::Op;
use crate::{Error, Result};
use half::{bf16, f16};
use std::ops::Range;

/// The bytes of some rows of each array that the tensor becomes, in the order of [`Tensor::parts`].
pub(super) fn convert(tensor: &Tensor, rows: Range<usize>) -> Result<Vec<Vec<u8>>> {
    let sizes = [rows.len(), tensor.columns];
    let mut bytes = gather(tensor, rows)?;
    if let Change::Add(number) = tensor.change {
        add(&mut bytes, tensor.from, f32::from(number));
    }
    if tensor.from != tensor.to {
        let mut cast = zeros(sizes[0] * sizes[1] * dtype(tensor.to).size());
        let view = View::rows(&bytes, dtype(tensor.from), &sizes)?;
        let out = Out::new(
            bytemuck::cast_slice_mut(&mut cast),
            dtype(tensor.to),
            &sizes,
        )?;
        run(&Op::AsType, &[view], &mut [out])?;
        bytes = taken(&cast, sizes[0] * sizes[1] * dtype(tensor.to).size());
    }
    let Some(q) = tensor.quantization else {
        return Ok(vec![bytes]);
    };
    let parts = tensor.parts();
    let shapes: Vec<[usize; 2]> = parts
        .iter()
        .map(|part| [sizes[0], part.row_bytes / part.dtype.size()])
        .collect();
    let mut buffers: Vec<Vec<u64>> = parts
        .iter()
        .map(|part| zeros(part.row_bytes * sizes[0]))
        .collect();
    let mut outs = Vec::with_capacity(parts.len());
    for ((part, buffer), shape) in parts.iter().zip(&mut buffers).zip(&shapes) {
        outs.push(Out::new(
            bytemuck::cast_slice_mut(buffer),
            part.dtype,
            shape,
        )?);
    }
    let view = View::rows(&bytes, dtype(tensor.to), &sizes)?;
    run(&Op::Quantize(q), &[view], &mut outs)?;
    drop(outs);
    let made = parts.iter().zip(&buffers);
    Ok(made
        .map(|(part, buffer)| taken(buffer, part.row_bytes * sizes[0]))
        .collect())
}

/// Room for so many bytes, aligned for every dtype.
fn zeros(bytes: usize) -> Vec<u64> {
    vec![0; bytes.div_ceil(8)]
}

fn taken(buffer: &[u64], bytes: usize) -> Vec<u8> {
    bytemuck::cast_slice(buffer)[..bytes].to_vec()
}

/// The rows as they lie in the source, row after row.
fn gather(tensor: &Tensor, rows: Range<usize>) -> Result<Vec<u8>> {
    let row_bytes = tensor.columns * dtype(tensor.from).size();
    let mut bytes = Vec::with_capacity(rows.len() * row_bytes);
    let mut place = (0, 0); // a piece and its first row
    for row in rows {
        let row = match tensor.change {
            Change::Pairs(head) => {
                let (first, at) = (row / head * head, row % head);
                first + at % (head / 2) * 2 + at / (head / 2)
            }
            _ => row,
        };
        if row < place.1 {
            place = (0, 0);
        }
        while let Some(piece) = tensor.pieces.get(place.0)
            && row >= place.1 + piece.rows
        {
            place = (place.0 + 1, place.1 + piece.rows);
        }
        let start = (row - place.1) * row_bytes;
        let piece = tensor.pieces.get(place.0);
        let found = piece.and_then(|piece| piece.data.get(start..start + row_bytes));
        let Some(found) = found else {
            return Err(Error::Internal(format!("{}: no row {row}", tensor.name)));
        };
        bytes.extend_from_slice(found);
    }
    Ok(bytes)
}

/// Adds a number, rounding to the type.
fn add(bytes: &mut [u8], scalar: ScalarType, number: f32) {
    match scalar {
        ScalarType::F32 => {
            for x in bytes.as_chunks_mut().0 {
                *x = (f32::from_le_bytes(*x) + number).to_le_bytes();
            }
        }
        ScalarType::F16 => {
            for x in bytes.as_chunks_mut().0 {
                *x = f16::from_f32(f16::from_le_bytes(*x).to_f32() + number).to_le_bytes();
            }
        }
        ScalarType::BF16 => {
            for x in bytes.as_chunks_mut().0 {
                *x = bf16::from_f32(bf16::from_le_bytes(*x).to_f32() + number).to_le_bytes();
            }
        }
    }
}
