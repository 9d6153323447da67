//! Discrete Fourier and Hadamard transforms.

use super::{invalid, known};
use crate::Result;
use crate::array::Array;
use crate::cpu::ops::hadamard_fits;
use crate::ir::{Dtype, Fft, FftNorm, Kind, Number, Op, ScatterReduce, Shape, SliceSpec};
use smallvec::smallvec;

impl Array {
    /// Discrete Fourier transforms along axes: `fftn`, `ifftn` (`inverse`), `rfftn` (`real`) and `irfftn`. No
    /// axes means all, no sizes those of the array (of `irfftn`'s last axis twice one less). What is shorter
    /// than its size is padded with zeros, what is longer is cut.
    ///
    /// # Errors
    /// `InvalidArgument` for scalars, axes that are not there or named twice, and sizes of 0.
    pub fn fftn(
        &self,
        sizes: Option<&[i64]>,
        axes: Option<&[i64]>,
        inverse: bool,
        real: bool,
    ) -> Result<Array> {
        self.fft_normed(sizes, axes, (inverse, real), FftNorm::Backward)
    }

    /// The same (`(inverse, real)`), divided by its size as `norm` says.
    ///
    /// # Errors
    /// As [`Array::fftn`].
    pub fn fft_normed(
        &self,
        sizes: Option<&[i64]>,
        axes: Option<&[i64]>,
        (inverse, real): (bool, bool),
        norm: FftNorm,
    ) -> Result<Array> {
        let name = "fftn";
        let own = known(name, self)?;
        if own.is_empty() {
            return Err(invalid(name, "a scalar has no axis"));
        }
        let all: Vec<i64> = match (axes, sizes) {
            (Some(axes), _) => axes.to_vec(),
            (None, Some(sizes)) => (-(sizes.len() as i64)..0).collect(),
            (None, None) => (0..own.len() as i64).collect(),
        };
        let axes = self.shape().axes(name, &all)?;
        let Some(&last) = axes.last() else {
            return Ok(self.clone());
        };
        let wanted: Vec<i64> = match sizes {
            Some(sizes) => sizes.to_vec(),
            None => {
                let size = |&axis: &usize| match real && inverse && axis == last {
                    true => (own[axis] as i64 - 1) * 2,
                    false => own[axis] as i64,
                };
                axes.iter().map(size).collect()
            }
        };
        if wanted.len() != axes.len() || wanted.iter().any(|&n| !(1..1 << 31).contains(&n)) {
            return Err(invalid(
                name,
                format!("sizes {wanted:?} of {} axes", axes.len()),
            ));
        }
        let mut from = own.clone();
        for (&axis, &size) in axes.iter().zip(&wanted) {
            from[axis] = size as usize;
        }
        let mut to = from.clone();
        if real {
            let (full, half) = (from[last], from[last] / 2 + 1);
            (from[last], to[last]) = match inverse {
                true => (half, full),
                false => (full, half),
            };
        }
        let (input, output) = match (real, inverse) {
            (true, false) => (Dtype::F32, Dtype::C64),
            (true, true) => (Dtype::C64, Dtype::F32),
            (false, _) => (Dtype::C64, Dtype::C64),
        };
        let x = self.fitted(&from)?.astype(input);
        let op = Op::Fft(Fft {
            axes,
            inverse,
            real,
            norm,
        });
        Ok(Array::one(op, [x], output, Shape::new(to)))
    }

    /// The transform along one axis; of `irfft` a size of the result.
    ///
    /// # Errors
    /// As [`Array::fftn`].
    pub fn fft(&self, size: Option<i64>, axis: i64, inverse: bool, real: bool) -> Result<Array> {
        let size = size.map(|size| [size]);
        self.fftn(
            size.as_ref().map(|size| &size[..]),
            Some(&[axis]),
            inverse,
            real,
        )
    }

    /// Zero frequencies from the first place of axes to their middle (`inverse`: back); no axes means all.
    ///
    /// # Errors
    /// `InvalidArgument` for axes that are not there.
    pub fn fftshift(&self, axes: Option<&[i64]>, inverse: bool) -> Result<Array> {
        let name = if inverse { "ifftshift" } else { "fftshift" };
        let sizes = known(name, self)?;
        let axes: Vec<i64> = match axes {
            Some(axes) => axes.to_vec(),
            None => (0..sizes.len() as i64).collect(),
        };
        let places = self.shape().axes(name, &axes)?;
        let half = |&axis: &usize| (sizes[axis] / 2) as i64 * if inverse { -1 } else { 1 };
        let shifts: Vec<i64> = places.iter().map(half).collect();
        match shifts.is_empty() {
            true => Ok(self.clone()),
            false => self.roll(&shifts, Some(&axes)),
        }
    }

    /// The frequencies of a transform's results, of `n` samples `d` apart; `real`: of those that `rfft` gives.
    ///
    /// # Errors
    /// `InvalidArgument` for no samples.
    pub fn fftfreq(n: i64, d: f64, real: bool) -> Result<Array> {
        let name = if real { "rfftfreq" } else { "fftfreq" };
        if !(1..1 << 31).contains(&n) {
            return Err(invalid(name, format!("{n} samples")));
        }
        let range =
            |start: i64, stop: i64| Array::arange(start as f64, stop as f64, 1.0, Dtype::F32);
        let whole = match real {
            true => range(0, n / 2 + 1)?,
            false => Array::concatenate(&[range(0, (n - 1) / 2 + 1)?, range(-(n / 2), 0)?], 0)?,
        };
        whole.times(&Array::number(1.0 / (n as f64 * d), Dtype::F32)?)
    }

    /// Cut, or padded with zeros behind, to these sizes.
    fn fitted(&self, to: &[usize]) -> Result<Array> {
        let own = known("fftn", self)?;
        let cut: Vec<usize> = own.iter().zip(to).map(|(&a, &b)| a.min(b)).collect();
        let spec = SliceSpec {
            start: smallvec![0; to.len()],
            step: smallvec![1; to.len()],
        };
        let mut x = self.clone();
        if cut[..] != own[..] {
            let op = Op::Slice(spec.clone());
            x = Array::one(op, [x], self.dtype(), Shape::new(cut.iter().copied()));
        }
        if cut[..] != to[..] {
            let zeros = Array::zeros(Shape::new(to.iter().copied()), self.dtype())?;
            let op = Op::SliceUpdate(spec, ScatterReduce::None);
            x = Array::one(
                op,
                vec![zeros, x],
                self.dtype(),
                Shape::new(to.iter().copied()),
            );
        }
        Ok(x)
    }

    /// The Walsh–Hadamard transform of the last axis, times `scale` (one by the root of its size if not given).
    ///
    /// # Errors
    /// `InvalidArgument` for arrays without elements and sizes that are not m·2^k, m = 1, 12, 20 or 28.
    pub fn hadamard_transform(&self, scale: Option<f64>) -> Result<Array> {
        let name = "hadamard_transform";
        let sizes = known(name, self)?;
        let size = sizes.last().copied().unwrap_or(1);
        if sizes.contains(&0) || !hadamard_fits(size) {
            let what = format!("there is no such transform of shape {}", self.shape());
            return Err(invalid(name, what));
        }
        let scale = scale.map_or(1.0 / (size as f32).sqrt(), |scale| scale as f32);
        let dtype = match self.dtype().kind() {
            Kind::Float => self.dtype(),
            _ => Dtype::F32,
        };
        if size == 1 {
            return match scale == 1.0 {
                true => Ok(self.clone()),
                false => self.times(&Array::number(scale.into(), dtype)?),
            };
        }
        let op = Op::Hadamard(Number::new(scale.into()));
        let shape = self.shape().clone();
        Ok(Array::one(op, [self.astype(dtype)], dtype, shape))
    }
}
