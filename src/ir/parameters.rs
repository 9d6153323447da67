//! Parameters of operations: what they need besides their inputs and the types of their results.

use crate::{Error, Result};
use smallvec::SmallVec;

/// A number among an operation's parameters, compared by its bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Number(u64);

impl Number {
    /// The number.
    pub fn new(value: f64) -> Number {
        Number(value.to_bits())
    }

    /// The number.
    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl std::fmt::Debug for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(&self.get(), f)
    }
}

/// First element and step along every axis; the sizes are the type's.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SliceSpec {
    /// The first element, from 0.
    pub start: SmallVec<[i64; 4]>,
    /// From one element to the next; negative: backwards.
    pub step: SmallVec<[i64; 4]>,
}

/// How numbers are quantized (MLX's modes).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QuantMode {
    /// `scale · q + bias`.
    Affine,
    /// E2M1 codes, E8M0 scales.
    Mxfp4,
    /// E4M3 codes, E8M0 scales.
    Mxfp8,
    /// E2M1 codes, E4M3 scales.
    Nvfp4,
}

/// A quantization of the last axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Quantization {
    /// Elements that share a scale.
    pub group: usize,
    /// Bits of a code.
    pub bits: usize,
    /// What codes mean.
    pub mode: QuantMode,
}

/// A convolution over `[batch, …, channels]`; every list has a number for each spatial axis.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Conv {
    /// Steps of the kernel.
    pub stride: SmallVec<[usize; 3]>,
    /// Zeros before.
    pub low: SmallVec<[i64; 3]>,
    /// Zeros behind.
    pub high: SmallVec<[i64; 3]>,
    /// Distance of the kernel's elements.
    pub kernel_dilation: SmallVec<[usize; 3]>,
    /// Distance of the input's elements (transposed convolutions).
    pub input_dilation: SmallVec<[usize; 3]>,
    /// Parts of the channels that do not see each other.
    pub groups: usize,
    /// The kernel is turned round.
    pub flip: bool,
}

/// A discrete Fourier transform.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Fft {
    /// Axes, the last one transformed first if forward.
    pub axes: SmallVec<[usize; 4]>,
    /// Backwards.
    pub inverse: bool,
    /// From, or to, real numbers.
    pub real: bool,
    /// What results are multiplied by.
    pub norm: FftNorm,
}

/// Which way a transform is divided by its size n.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum FftNorm {
    /// Inverse ones by n.
    #[default]
    Backward,
    /// Both by the root of n.
    Ortho,
    /// Forward ones by n.
    Forward,
}

impl FftNorm {
    /// MLX's and numpy's names: "backward", "ortho", "forward".
    ///
    /// # Errors
    /// `InvalidArgument` for others.
    pub fn named(name: &str) -> Result<FftNorm> {
        match name {
            "backward" => Ok(FftNorm::Backward),
            "ortho" => Ok(FftNorm::Ortho),
            "forward" => Ok(FftNorm::Forward),
            _ => Err(Error::InvalidArgument(format!(
                "norm {name:?} of a Fourier transform: there are \"backward\", \"ortho\" and \"forward\""
            ))),
        }
    }
}

impl Fft {
    /// What results of a transform of `size` numbers are multiplied by.
    pub fn scale(&self, size: usize) -> f64 {
        match (self.norm, self.inverse) {
            (FftNorm::Ortho, _) => 1.0 / (size as f64).sqrt(),
            (FftNorm::Backward, true) | (FftNorm::Forward, false) => 1.0 / size as f64,
            _ => 1.0,
        }
    }
}

/// fp8 numbers, kept as u8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fp8 {
    /// To E4M3.
    To,
    /// From E4M3.
    From,
}

/// Rotary position embedding of MLX (`fast.rope`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rope {
    /// Rotated dimensions of a head.
    pub dims: usize,
    /// Pairs are (2i, 2i+1) instead of (i, i + dims/2).
    pub traditional: bool,
    /// Base of the frequencies; `None`: they are the third input.
    pub base: Option<Number>,
    /// Positions are multiplied by this.
    pub scale: Number,
}

/// The operations of LAPACK.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // names of the field
pub enum LinearAlgebra {
    Qrf,
    Svd { vectors: bool },
    Inverse { triangular: bool, upper: bool },
    Cholesky { upper: bool },
    Eig { vectors: bool },
    Eigh { vectors: bool, upper: bool },
    Luf,
}
