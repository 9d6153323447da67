//! Quantized numbers and products with them, in MLX's modes.

use super::matmul::{ended, gathered, outer};
use super::{invalid, known};
use crate::array::Array;
use crate::ir::{Dtype, Fp8, Kind, Op, QuantMode, Quantization, Shape, Type};
use crate::{Error, Result};
use smallvec::{SmallVec, smallvec};

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
    fn elements(&self, words: usize) -> usize {
        words * 32 / self.bits
    }
}

/// Checks codes against scales (and biases); the columns that they stand for.
fn packed(
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
fn global(name: &str, q: &Quantization, scale: Option<&Array>) -> Result<()> {
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
fn with_last(sizes: &[usize], last: usize) -> Shape {
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

    /// `self · wᵀ` (`transpose`) or `self · w` with a quantized w; outer axes are broadcast together where both
    /// have some.
    ///
    /// # Errors
    /// `InvalidArgument` for shapes and dtypes that do not fit.
    pub fn quantized_matmul(
        &self,
        w: &Array,
        scales: &Array,
        biases: Option<&Array>,
        transpose: bool,
        quantization: Quantization,
    ) -> Result<Array> {
        let name = "quantized_matmul";
        let (dtype, out) = self.meets(name, w, scales, biases, transpose, &quantization)?;
        let sizes = known(name, self)?;
        let x = match sizes.len() {
            1 => self.reshape(Shape::new([1, sizes[0]]))?,
            _ => self.clone(),
        };
        let mut inputs: SmallVec<[Array; 4]> =
            smallvec![x.astype(dtype), w.clone(), scales.clone()];
        inputs.extend(biases.cloned());
        if w.rank() > 2 {
            if x.rank() < 3 {
                let what = format!("{self:?} by matrices {w:?}: there is one x for several w");
                return Err(invalid(name, what));
            }
            let common = outer(&x).broadcast(&outer(w), name)?;
            inputs = inputs
                .iter()
                .map(|x| x.spread(&ended(&common, x)))
                .collect();
        }
        let shape = with_last(&known(name, &inputs[0])?, out);
        let op = Op::QuantizedMatmul {
            quantization,
            transpose,
        };
        let product = Array::one(op, inputs, dtype, shape);
        match sizes.len() {
            1 => product.squeeze(&[0]),
            _ => Ok(product),
        }
    }

    /// Quantized products by index: result i is matrix `left[i]` of self by matrix `right[i]` of w.
    ///
    /// # Errors
    /// As [`Array::quantized_matmul`]; when evaluated, for places that are not there.
    #[allow(clippy::too_many_arguments)] // MLX's
    pub fn gather_qmm(
        &self,
        w: &Array,
        scales: &Array,
        biases: Option<&Array>,
        left: Option<&Array>,
        right: Option<&Array>,
        transpose: bool,
        quantization: Quantization,
    ) -> Result<Array> {
        if left.is_none() && right.is_none() {
            return self.quantized_matmul(w, scales, biases, transpose, quantization);
        }
        let name = "gather_qmm";
        let (dtype, out) = self.meets(name, w, scales, biases, transpose, &quantization)?;
        if self.rank() < 2 {
            return Err(invalid(name, format!("{self:?} is no matrix")));
        }
        let (left, right) = gathered(name, (self, left), (w, right))?;
        let rows = self.shape().dims()[self.rank() - 2];
        let dims = left.shape().dims().iter().copied();
        let shape = Shape::new(dims.chain([rows, out.into()]));
        let mut inputs = vec![self.astype(dtype), w.clone(), scales.clone()];
        inputs.extend(biases.cloned());
        inputs.extend([left, right]);
        let op = Op::GatherQmm {
            quantization,
            transpose,
        };
        Ok(Array::one(op, inputs, dtype, shape))
    }

    /// The dtype of a quantized product, and its columns.
    fn meets(
        &self,
        name: &str,
        w: &Array,
        scales: &Array,
        biases: Option<&Array>,
        transpose: bool,
        q: &Quantization,
    ) -> Result<(Dtype, usize)> {
        let columns = packed(name, q, w, scales, biases)?;
        let sizes = known(name, w)?;
        let rows = sizes[sizes.len() - 2];
        let (inner, out) = match transpose {
            true => (columns, rows),
            false => (rows, columns),
        };
        if known(name, self)?.last() != Some(&inner) {
            let what = format!(
                "x of shape {} by a quantized matrix of {rows} rows and {columns} columns, {}transposed",
                self.shape(),
                if transpose { "" } else { "not " }
            );
            return Err(invalid(name, what));
        }
        let dtype = match biases {
            Some(biases) => self.dtype().promote(scales.dtype()).promote(biases.dtype()),
            None => self.dtype(),
        };
        match dtype.kind() {
            Kind::Float => Ok((dtype, out)),
            _ => Err(invalid(name, format!("x of {}", self.dtype()))),
        }
    }

    /// `self · wᵀ`, both quantized in the same mode: self on the way, w if it has no scales yet. Global scales
    /// (nvfp4) are given for both or neither.
    ///
    /// # Errors
    /// `InvalidArgument` for shapes and dtypes that do not fit, and for the affine mode.
    pub fn qqmm(
        &self,
        w: &Array,
        scales: Option<&Array>,
        q: Quantization,
        global_scales: Option<(&Array, &Array)>,
    ) -> Result<Array> {
        let name = "qqmm";
        let sizes = known(name, self)?;
        let (dtype, out) = self.both(name, w, scales, &q, global_scales)?;
        if w.rank() != 2 {
            return Err(invalid(name, format!("w {w:?} is not one matrix")));
        }
        let Some((&inner, rows)) = sizes.split_last() else {
            return Err(invalid(name, "x is a scalar"));
        };
        let x = self.reshape(Shape::new([rows.iter().product(), inner]))?;
        let mut inputs = vec![x, w.clone()];
        inputs.extend(scales.cloned());
        inputs.extend(
            global_scales
                .into_iter()
                .flat_map(|(x, w)| [x.clone(), w.clone()]),
        );
        let shape = Shape::new([rows.iter().product::<usize>(), out]);
        let product = Array::one(Op::QqMatmul(q), inputs, dtype, shape);
        product.reshape(with_last(&sizes, out))
    }

    /// As [`Array::qqmm`] by index: result i is matrix `left[i]` of self by matrix `right[i]` of w.
    ///
    /// # Errors
    /// As [`Array::qqmm`]; when evaluated, for places that are not there.
    pub fn gather_qqmm(
        &self,
        w: &Array,
        scales: Option<&Array>,
        (left, right): (Option<&Array>, Option<&Array>),
        q: Quantization,
        global_scales: Option<(&Array, &Array)>,
    ) -> Result<Array> {
        let name = "gather_qqmm";
        let (dtype, out) = self.both(name, w, scales, &q, global_scales)?;
        if self.rank() < 2 || w.rank() < 2 {
            return Err(invalid(
                name,
                format!("{self:?} by {w:?}: not two matrices"),
            ));
        }
        let (left, right) = gathered(name, (self, left), (w, right))?;
        let rows = self.shape().dims()[self.rank() - 2];
        let dims = left.shape().dims().iter().copied();
        let shape = Shape::new(dims.chain([rows, out.into()]));
        let mut inputs = vec![self.clone(), w.clone()];
        inputs.extend(scales.cloned());
        inputs.extend(
            global_scales
                .into_iter()
                .flat_map(|(x, w)| [x.clone(), w.clone()]),
        );
        inputs.extend([left, right]);
        Ok(Array::one(Op::GatherQqmm(q), inputs, dtype, shape))
    }

    /// The dtype of a product with both sides quantized, and its columns.
    fn both(
        &self,
        name: &str,
        w: &Array,
        scales: Option<&Array>,
        q: &Quantization,
        global_scales: Option<(&Array, &Array)>,
    ) -> Result<(Dtype, usize)> {
        if q.mode == QuantMode::Affine {
            return Err(invalid(name, "x cannot be quantized in mode Affine"));
        }
        for scale in global_scales.into_iter().flat_map(|(x, w)| [x, w]) {
            global(name, q, Some(scale))?;
        }
        let number = |x: &Array| x.dtype().kind() == Kind::Float && x.dtype() != Dtype::F64;
        let (from, to) = (known(name, self)?, known(name, w)?);
        let (columns, fits) = match scales {
            Some(scales) => (packed(name, q, w, scales, None)?, true),
            None => (to.last().copied().unwrap_or(0), number(w)),
        };
        let inner = from.last().copied().unwrap_or(0);
        if !fits || !number(self) || to.len() < 2 || columns != inner || inner % q.group != 0 {
            let what = format!("x {self:?} by w {w:?} in groups of {}", q.group);
            return Err(invalid(name, what));
        }
        Ok((self.dtype(), to[to.len() - 2]))
    }
}
