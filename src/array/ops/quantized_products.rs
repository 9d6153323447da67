//! Products with quantized numbers, in MLX's modes.

use super::matmul::{ended, gathered, outer};
use super::quantized::{global, packed, with_last};
use super::{invalid, known};
use crate::Result;
use crate::array::Array;
use crate::ir::{Dtype, Kind, Op, QuantMode, Quantization, Shape};
use smallvec::{SmallVec, smallvec};

impl Array {
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
