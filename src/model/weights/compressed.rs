//! compressed-tensors' packed weights: integers of 4 and 8 bits around a fixed zero or zero points of their own, and
//! 4-bit floats whose scales a number of the whole matrix divides.

use super::folder::FolderTensors;
use super::published::FLOATS;
use crate::Result;
use crate::formats::mapped::MappedFile;
use crate::formats::safetensors::{Dtype, Tensor};
use crate::formats::{Format, ScalarType, Weight};

impl FolderTensors {
    /// The shape of packed integers, and their scales.
    fn packed<'a>(
        &'a self,
        module: &str,
        name: &str,
        packed: &Tensor,
        (bits, group): (u8, u16),
    ) -> Result<(usize, usize, &'a Tensor, ScalarType)> {
        let (rows, words) = self.words(name, packed)?;
        let cols = self.eight(name, words)? / usize::from(bits / 4);
        let part = format!("{module}.weight_scale");
        let scales = self.part(name, &part, &FLOATS)?;
        let Dtype::Float(scale) = scales.dtype else {
            return Err(self.bad(name, "its scales are no floats"));
        };
        self.check(name, &part, scales, &[rows, cols / usize::from(group)])?;
        Ok((rows, cols, scales, scale))
    }

    pub(super) fn centered(
        &self,
        module: &str,
        name: &str,
        packed: &Tensor,
        bits: u8,
        group: u16,
    ) -> Result<Weight> {
        let (rows, cols, scales, scale) = self.packed(module, name, packed, (bits, group))?;
        let zeros = format!("{module}.weight_zero_point");
        if self.folder.tensor(&zeros).is_some() {
            return Err(self.bad(
                name,
                format_args!("{zeros} stands beside weights that the config calls symmetric"),
            ));
        }
        let format = Format::Centered { bits, group, scale };
        let (data, scales) = (packed.data.clone(), scales.data.clone());
        self.weight(name, format, (1, rows, cols), data, Some(scales), None)
    }

    /// `w = scale·(q − zero)`, zero points packed along the rows. As `scale·q + bias` with both in f32 it is the same to
    /// the bit: scales have 11 bits at most, codes and zero points 8.
    pub(super) fn around_zeros(
        &self,
        module: &str,
        name: &str,
        packed: &Tensor,
        bits: u8,
        group: u16,
    ) -> Result<Weight> {
        let (rows, cols, scales, scale) = self.packed(module, name, packed, (bits, group))?;
        let (groups, a_word) = (cols / usize::from(group), 32 / usize::from(bits));
        if scale == ScalarType::F32 {
            return Err(crate::Error::Unsupported(format!(
                "{}: tensor {name}: zero points beside scales of F32 are not supported",
                self.file(name).display()
            )));
        }
        let part = format!("{module}.weight_zero_point");
        let zeros = self.part(name, &part, &[Dtype::I32, Dtype::U32])?;
        self.check(name, &part, zeros, &[rows.div_ceil(a_word), groups])?;
        let dense = Format::Dense(scale);
        let shape = (1, rows, groups);
        let stored = self.weight(name, dense, shape, scales.data.clone(), None, None)?;
        let (mut all, mut biases) = (vec![0.0; rows * groups], vec![0.0; rows * groups]);
        let (words, _) = zeros.data.as_chunks::<4>();
        let parts = all.chunks_mut(groups).zip(biases.chunks_mut(groups));
        for (row, (scales, biases)) in parts.enumerate() {
            stored.dequantize_row(row, scales)?;
            let words = words.iter().skip(row / a_word * groups);
            for ((scale, bias), word) in scales.iter().zip(biases).zip(words) {
                let from = row % a_word * usize::from(bits);
                let zero = u32::from_le_bytes(*word) >> from & ((1 << bits) - 1);
                *bias = -scale * zero as f32;
            }
        }
        let path = self.file(name);
        let made = |numbers: &[f32]| MappedFile::made_of(path, numbers).map(Some);
        let format = Format::Affine {
            bits,
            group,
            scale: ScalarType::F32,
        };
        let data = packed.data.clone();
        let shape = (1, rows, cols);
        self.weight(name, format, shape, data, made(&all)?, made(&biases)?)
    }

    /// 4-bit floats, two a byte, a scale (E4M3) for 16, which `weight_global_scale` divides.
    pub(super) fn nvfp4(&self, module: &str, name: &str, packed: &Tensor) -> Result<Weight> {
        let (Dtype::U8, [rows, bytes]) = (&packed.dtype, &packed.shape[..]) else {
            return Err(self.bad(
                name,
                format_args!(
                    "{} of shape {:?} where a matrix of U8 is needed",
                    packed.dtype, packed.shape
                ),
            ));
        };
        let part = format!("{module}.weight_scale");
        let scales = self.part(name, &part, &[Dtype::E4M3])?;
        self.check(name, &part, scales, &[*rows, bytes / 8])?;
        let part = format!("{module}.weight_global_scale");
        let divisor = self.part(name, &part, &[Dtype::Float(ScalarType::F32)])?;
        let number = divisor.data.first_chunk::<4>().copied();
        let number = number.map(f32::from_le_bytes);
        let number = match (&divisor.shape[..], number) {
            ([] | [1], Some(number)) if number.is_finite() && number > 0.0 => number,
            _ => {
                return Err(self.bad(name, format_args!("{part} is not one number above 0")));
            }
        };
        let Some(cols) = bytes.checked_mul(2) else {
            return Err(self.bad(name, "its shape overflows"));
        };
        let (data, scales) = (packed.data.clone(), scales.data.clone());
        let shape = (1, *rows, cols);
        let weight = self.weight(name, Format::Nvfp4, shape, data, Some(scales), None)?;
        Ok(weight.divided(number))
    }
}
