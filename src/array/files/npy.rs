//! One array in an npy file.

use super::{bytes_of, mapped};
use crate::array::Array;
use crate::cpu::Elements;
use crate::formats::npy::{Npy, header};
use crate::formats::write_whole;
use crate::ir::{Dtype, Shape};
use crate::{Error, Result};
use std::path::Path;

/// Most axes that numpy reads.
const MAX_RANK: usize = 64;

/// Numpy's name of a dtype, without the byte order. bfloat16, which numpy has not, is two bytes of nothing, as
/// MLX writes it.
fn kind(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::Bool => "b1",
        Dtype::U8 => "u1",
        Dtype::U16 => "u2",
        Dtype::U32 => "u4",
        Dtype::U64 => "u8",
        Dtype::I8 => "i1",
        Dtype::I16 => "i2",
        Dtype::I32 => "i4",
        Dtype::I64 => "i8",
        Dtype::F16 => "f2",
        Dtype::F32 => "f4",
        Dtype::F64 => "f8",
        Dtype::Bf16 => "V2",
        Dtype::C64 => "c8",
    }
}

impl Array {
    /// The array of an npy file: the elements stay in the file, mapped, where they are little-endian.
    ///
    /// # Errors
    /// `Io`, `InvalidFile`; `Unsupported` for element types that are no dtype; `OutOfMemory`.
    pub fn load_npy(path: &Path) -> Result<Array> {
        let file = Npy::open(path)?;
        let name = path.display();
        let dtype = Dtype::ALL.into_iter().find(|&d| kind(d) == file.kind);
        let Some(dtype) = dtype else {
            let what = crate::formats::brief(&file.kind);
            return Err(Error::Unsupported(format!(
                "{name}: elements of numpy's type {what:?}, which no dtype is"
            )));
        };
        let count = Shape::new(file.shape.iter().copied()).count();
        let size = count.and_then(|count| count.checked_mul(dtype.size()));
        let data = size.and_then(|size| file.data.part(0..size));
        let Some(data) = data else {
            return Err(Error::InvalidFile(format!(
                "{name}: {} bytes of data for a shape {:?} of {dtype}; the file is truncated",
                file.data.len(),
                file.shape
            )));
        };
        let mut sizes = file.shape;
        if file.fortran {
            sizes.reverse();
        }
        let width = match dtype {
            // Two numbers each.
            Dtype::C64 => 4,
            dtype => dtype.size(),
        };
        let array = match file.big_endian && width > 1 {
            true => {
                let mut bytes = data.to_vec();
                for number in bytes.chunks_exact_mut(width) {
                    number.reverse();
                }
                Array::from_elements(Elements::from_slice(&bytes, dtype, &sizes)?)
            }
            false => mapped(&data, dtype, &sizes)?,
        };
        let array = match dtype {
            // Bytes of a file may be anything.
            Dtype::Bool => array.view(Dtype::U8)?.astype(Dtype::Bool),
            _ => array,
        };
        match file.fortran {
            true => array.transpose_all(),
            false => Ok(array),
        }
    }

    /// Saves the array as an npy file, which is there whole or not at all.
    ///
    /// # Errors
    /// Those of computing it; `InvalidArgument` for more than 64 axes, which numpy has not; `Io`.
    pub fn save_npy(&self, path: &Path) -> Result<()> {
        let sizes = self.shape().numbers().unwrap_or_default();
        if sizes.len() > MAX_RANK {
            return Err(Error::InvalidArgument(format!(
                "save: {} axes, numpy has at most {MAX_RANK}",
                sizes.len()
            )));
        }
        let bytes = bytes_of(self)?;
        write_whole(path, |file| {
            let head = file.write_all(&header(kind(self.dtype()), &sizes));
            Ok(head.and_then(|()| file.write_all(&bytes)))
        })
    }
}
