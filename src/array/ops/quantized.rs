//! Quantized numbers, in MLX's modes.

use super::{invalid, known};
use crate::array::Array;
use crate::ir::{Dtype, Fp8, Kind, Op, QuantMode, Quantization, Shape, Type};
use crate::{Error, Result};

impl Quantization {
    /// A quantization of a mode; group and bits not given are the mode's usual ones.
    ///
    /// # Errors
    /// `InvalidArgument` for groups and bits that the mode does not know.
    pub fn new(mode: QuantMode, group: Option<usize>, bits: Option<usize>) -> Result<Quantization> {
        let (groups, widths): (&[usize], &[usize]) = match mode {
            QuantMode::Affine => (&[64, 32, 128], &[4, 2, 3, 5, 6, 8]),
            QuantMode::Mxfp4 => (&[32], &[4]),
            QuantMode::Mxfp8 => (&[32], &[8]),
            QuantMode::Nvfp4 => (&[16], &[4]),
        };
        let q = Quantization {
            group: group.unwrap_or(groups[0]),
            bits: bits.unwrap_or(widths[0]),
            mode,
        };
        match groups.contains(&q.group) && widths.contains(&q.bits) {
            true => Ok(q),
            false => Err(Error::InvalidArgument(format!(
                "quantization: {mode:?} has no groups of {} and {} bits; groups {groups:?}, bits \
                 {widths:?}",
                q.group, q.bits
            ))),
        }
    }

    /// A quantization of a mode's name (MLX's); 0 for group and bits: the mode's usual ones.
    ///
    /// # Errors
    /// As [`Quantization::new`], and for names that there are not.
    pub fn named(mode: &str, group: i64, bits: i64) -> Result<Quantization> {
        let mode = match mode {
            "affine" => QuantMode::Affine,
            "mxfp4" => QuantMode::Mxfp4,
            "mxfp8" => QuantMode::Mxfp8,
            "nvfp4" => QuantMode::Nvfp4,
            mode => {
                return Err(Error::InvalidArgument(format!(
                    "quantization: there is no mode \"{mode}\"; affine, mxfp4, mxfp8 and nvfp4 are"
                )));
            }
        };
        let given = |n: i64| (n != 0).then(|| usize::try_from(n).unwrap_or(0));
        Quantization::new(mode, given(group), given(bits))
    }

    /// Elements of packed rows of `words` 32-bit words.
    pub(super) fn elements(&self, words: usize) -> usize {
        words * 32 / self.bits
    }
}

/// Checks codes against scales (and biases); the columns that they stand for.
pub(super) fn packed(
    name: &str,
    q: &Quantization,
    codes: &Array,
    scales: &Array,
    biases: Option<&Array>,
) -> Result<usize> {
    let sizes = known(name, codes)?;
    let of_scales = known(name, scales)?;
    if codes.dtype() != Dtype::U32 || sizes.len() < 2 {
        return Err(invalid(
            name,
            format!("codes {codes:?} are no uint32 matrix"),
        ));
    }
    match (q.mode, biases) {
        (QuantMode::Affine, None) => return Err(invalid(name, "affine without biases")),
        (QuantMode::Affine, Some(biases)) => {
            let dtype = scales.dtype().promote(biases.dtype());
            if dtype.kind() != Kind::Float || biases.shape() != scales.shape() {
                return Err(invalid(
                    name,
                    format!("scales {scales:?} with biases {biases:?}"),
                ));
            }
        }
        (mode, Some(_)) => return Err(invalid(name, format!("biases in mode {mode:?}"))),
        (mode, None) if scales.dtype() != Dtype::U8 => {
            let what = format!("{mode:?} scales of {}, not uint8", scales.dtype());
            return Err(invalid(name, what));
        }
        _ => {}
    }
    let columns = q.elements(*sizes.last().unwrap_or(&0));
    let groups = of_scales.last().copied().unwrap_or(0);
    let outer = sizes.len() - 1;
    let alike = of_scales.len() == sizes.len() && of_scales[..outer] == sizes[..outer];
    if !alike || groups * q.group != columns {
        let what = format!(
            "codes of shape {} with scales of {} in groups of {} and {} bits",
            codes.shape(),
            scales.shape(),
            q.group,
            q.bits
        );
        return Err(invalid(name, what));
    }
    Ok(columns)
}

/// Checks a global scale.
pub(super) fn global(name: &str, q: &Quantization, scale: Option<&Array>) -> Result<()> {
    match scale {
        None => Ok(()),
        Some(_) if q.mode != QuantMode::Nvfp4 => Err(invalid(
            name,
            format!("a global scale in mode {:?}", q.mode),
        )),
        Some(scale) if scale.dtype() == Dtype::F32 && scale.shape().count() == Some(1) => Ok(()),
        Some(scale) => Err(invalid(name, format!("global scale {scale:?}"))),
    }
}

/// The last size replaced.
pub(super) fn with_last(sizes: &[usize], last: usize) -> Shape {
    let outer = &sizes[..sizes.len().saturating_sub(1)];
    Shape::new(outer.iter().copied().chain([last]))
}

impl Array {
    /// Codes, scales and (affine) biases of the numbers' groups along the last axis.
    ///
    /// # Errors
    /// `InvalidArgument` for arrays that are no matrices of f32, f16 or bf16, or rows that are no whole groups.
    pub fn quantize(&self, q: Quantization, global_scale: Option<&Array>) -> Result<Vec<Array>> {
        let name = "quantize";
        let sizes = known(name, self)?;
        let dtype = self.dtype();
        if dtype.kind() != Kind::Float || dtype == Dtype::F64 {
            return Err(invalid(name, format!("numbers of {dtype}")));
        }
        let last = sizes.last().copied().unwrap_or(0);
        if sizes.len() < 2 || last % q.group != 0 {
            let what = format!("shape {} in groups of {}", self.shape(), q.group);
            return Err(invalid(name, what));
        }
        global(name, &q, global_scale)?;
        let ty = |dtype: Dtype, last: usize| Type {
            dtype,
            shape: with_last(&sizes, last),
        };
        let mut outputs = vec![ty(Dtype::U32, last * q.bits / 32)];
        let groups = last / q.group;
        match q.mode {
            QuantMode::Affine => outputs.extend([ty(dtype, groups), ty(dtype, groups)]),
            _ => outputs.push(ty(Dtype::U8, groups)),
        }
        let inputs = [self].into_iter().chain(global_scale).cloned();
        Ok(Array::call(Op::Quantize(q), inputs, outputs))
    }

    /// The numbers of these codes; of dtype `dtype`, or the scales' (bf16 where these are codes too).
    ///
    /// # Errors
    /// `InvalidArgument` for shapes and dtypes that [`Array::quantize`] does not give.
    pub fn dequantize(
        &self,
        scales: &Array,
        biases: Option<&Array>,
        q: Quantization,
        global_scale: Option<&Array>,
        dtype: Option<Dtype>,
    ) -> Result<Array> {
        let name = "dequantize";
        let columns = packed(name, &q, self, scales, biases)?;
        global(name, &q, global_scale)?;
        let own = match biases {
            Some(biases) => scales.dtype().promote(biases.dtype()),
            None => Dtype::Bf16,
        };
        let dtype = dtype.unwrap_or(own);
        if dtype.kind() != Kind::Float {
            return Err(invalid(name, format!("numbers of {dtype}")));
        }
        let inputs = [self, scales].into_iter().chain(biases).chain(global_scale);
        let shape = with_last(&known(name, self)?, columns);
        let inputs = inputs.cloned();
        match biases {
            Some(_) => Ok(Array::one(Op::Dequantize(q), inputs, own, shape).astype(dtype)),
            None => Ok(Array::one(Op::Dequantize(q), inputs, dtype, shape)),
        }
    }

    /// E4M3 codes of numbers, u8.
    ///
    /// # Errors
    /// `InvalidArgument` for dtypes that are not floating point.
    pub fn to_fp8(&self) -> Result<Array> {
        if self.dtype().kind() != Kind::Float {
            return Err(invalid("to_fp8", format!("numbers of {}", self.dtype())));
        }
        let op = Op::ConvertFp8(Fp8::To);
        Ok(Array::one(
            op,
            vec![self.clone()],
            Dtype::U8,
            self.shape().clone(),
        ))
    }

    /// The numbers of E4M3 codes.
    ///
    /// # Errors
    /// `InvalidArgument` for codes that are not u8, and results that are not floating point.
    pub fn from_fp8(&self, dtype: Dtype) -> Result<Array> {
        if self.dtype() != Dtype::U8 || dtype.kind() != Kind::Float {
            return Err(invalid("from_fp8", format!("{} to {dtype}", self.dtype())));
        }
        let op = Op::ConvertFp8(Fp8::From);
        Ok(Array::one(
            op,
            vec![self.clone()],
            dtype,
            self.shape().clone(),
        ))
    }
}
