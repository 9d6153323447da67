//! The layers that bodies and heads are made of: weights out of the file, operations on arrays.

use super::File;
use super::format::Activation;
use crate::Result;
use crate::array::Array;
use crate::array::ops::ConvOptions;
use crate::cpu::Elements;
use crate::ir::{Binary, Dtype, Shape, Unary};

/// Squares of the board.
pub const SQUARES: usize = 64;

/// Under the root of batch norms.
const BATCH_NORM_EPS: f64 = 1e-5;

/// An f32 array of numbers.
pub fn array(numbers: &[f32], sizes: &[usize]) -> Result<Array> {
    let elements = Elements::from_slice(numbers, Dtype::F32, sizes)?;
    Ok(Array::from_elements(elements))
}

/// A scalar.
fn scalar(x: f64) -> Result<Array> {
    Array::number(x, Dtype::F32)
}

/// The sizes of an array of which all are known here.
pub fn sizes(x: &Array) -> Vec<usize> {
    x.shape().dims().iter().map(|dim| dim.multiple()).collect()
}

impl Activation {
    /// The function of each element (softmax: over the last axis).
    ///
    /// # Errors
    /// Those of operations on arrays.
    pub fn apply(self, x: &Array) -> Result<Array> {
        let positive = || x.binary(Binary::Maximum, &scalar(0.0)?);
        match self {
            Activation::None => Ok(x.clone()),
            Activation::Relu => positive(),
            Activation::ReluSquared => positive()?.unary(Unary::Square),
            Activation::Tanh => x.unary(Unary::Tanh),
            Activation::Sigmoid => x.unary(Unary::Sigmoid),
            Activation::Swish => x.silu(),
            Activation::Softmax => x.softmax(Some(&[-1]), true),
            // x · tanh(ln(1 + eˣ)) = x · n / (n + 2) where n = eˣ · (eˣ + 2); from x = 20 on that is x.
            Activation::Mish => {
                let power = x.binary(Binary::Minimum, &scalar(20.0)?)?;
                let power = power.unary(Unary::Exp)?;
                let n = power.times(&power.plus(&scalar(2.0)?)?)?;
                let quotient = n.binary(Binary::Divide, &n.plus(&scalar(2.0)?)?)?;
                x.times(&quotient)
            }
            Activation::Selu => {
                let (scale, alpha) = (1.050_700_98, 1.673_263_24);
                let low = x.binary(Binary::Minimum, &scalar(0.0)?)?;
                let low = low.unary(Unary::Expm1)?.times(&scalar(scale * alpha)?)?;
                low.plus(&positive()?.times(&scalar(scale)?)?)
            }
        }
    }
}

/// `x · Wᵀ + b` of the last axis.
pub struct Dense {
    /// `[out, in]`
    w: Array,
    b: Option<Array>,
    /// Sizes.
    pub inputs: usize,
    pub outputs: usize,
}

impl Dense {
    /// A layer of `{path}_w` and `{path}_b` for `inputs` numbers; as many results as there are biases.
    ///
    /// # Errors
    /// `InvalidFile` if one is absent or of another size.
    pub fn read(file: &File, path: &str, inputs: usize) -> Result<Dense> {
        Dense::named(file, &format!("{path}_w"), &format!("{path}_b"), inputs)
    }

    /// As [`Dense::read`], with both names.
    ///
    /// # Errors
    /// As [`Dense::read`].
    pub fn named(file: &File, w: &str, b: &str, inputs: usize) -> Result<Dense> {
        let biases = file.layer(b)?;
        let mut dense = Dense::without_bias(file, w, inputs, biases.len())?;
        dense.b = Some(array(&biases, &[biases.len()])?);
        Ok(dense)
    }

    /// A layer that only multiplies.
    ///
    /// # Errors
    /// As [`Dense::read`].
    pub fn without_bias(file: &File, w: &str, inputs: usize, outputs: usize) -> Result<Dense> {
        let Some(count) = inputs.checked_mul(outputs) else {
            return Err(file.wrong(w, format!("{inputs} by {outputs} numbers are too many")));
        };
        let weights = file.exactly(w, count)?;
        Ok(Dense {
            w: array(&weights, &[outputs, inputs])?,
            b: None,
            inputs,
            outputs,
        })
    }

    /// The product, for every row of x.
    ///
    /// # Errors
    /// Those of operations on arrays.
    pub fn apply(&self, x: &Array) -> Result<Array> {
        let mut shape = sizes(x);
        let rows: usize = shape.iter().rev().skip(1).product();
        let flat = x.reshape(Shape::new([rows, self.inputs]))?;
        let mut y = flat.matmul(&self.w.swapaxes(0, 1)?)?;
        if let Some(b) = &self.b {
            y = y.plus(b)?;
        }
        if let Some(last) = shape.last_mut() {
            *last = self.outputs;
        }
        y.reshape(Shape::new(shape))
    }
}

/// Normalization of the last axis.
pub struct Norm {
    gammas: Array,
    betas: Array,
    eps: f64,
}

impl Norm {
    /// A norm of `{path}_gammas` and `{path}_betas`.
    ///
    /// # Errors
    /// `InvalidFile` if one is absent or of another size.
    pub fn read(file: &File, path: &str, size: usize, eps: f64) -> Result<Norm> {
        let vector = |name: &str| {
            let numbers = file.exactly(&format!("{path}_{name}"), size)?;
            array(&numbers, &[size])
        };
        Ok(Norm {
            gammas: vector("gammas")?,
            betas: vector("betas")?,
            eps,
        })
    }

    /// The normalized x.
    ///
    /// # Errors
    /// Those of operations on arrays.
    pub fn apply(&self, x: &Array) -> Result<Array> {
        x.layer_norm(Some(&self.gammas), Some(&self.betas), self.eps)
    }
}

/// A convolution of `[batch, 8, 8, in]`, batch norm folded into it.
pub struct Conv {
    /// `[out, side, side, in]`
    w: Array,
    b: Array,
    side: usize,
    /// Channels.
    pub outputs: usize,
}

impl Conv {
    /// The convolution at `path` for `inputs` channels, with a kernel of `side` by `side`.
    ///
    /// # Errors
    /// `InvalidFile` if it is absent or sizes do not fit.
    pub fn read(file: &File, path: &str, inputs: usize, side: usize) -> Result<Conv> {
        let weights_at = format!("{path}.weights");
        let weights = file.layer(&weights_at)?;
        let of_one = inputs * side * side;
        if of_one == 0 || !weights.len().is_multiple_of(of_one) {
            let what = format!(
                "{} numbers for {side}×{side} kernels over {inputs} channels",
                weights.len()
            );
            return Err(file.wrong(&weights_at, what));
        }
        let outputs = weights.len() / of_one;
        // An absent vector is one of its neutral numbers.
        let vector = |name: &str, neutral: f32| -> Result<Vec<f32>> {
            let at = format!("{path}.{name}");
            match file.has(&at) {
                true => file.exactly(&at, outputs),
                false => Ok(vec![neutral; outputs]),
            }
        };
        let mut biases = vector("biases", 0.0)?;
        let mut scales = vec![1.0; outputs];
        if file.has(&format!("{path}.bn_means")) {
            let (means, variances) = (vector("bn_means", 0.0)?, vector("bn_stddivs", 1.0)?);
            let (gammas, betas) = (vector("bn_gammas", 1.0)?, vector("bn_betas", 0.0)?);
            for out in 0..outputs {
                let root = (f64::from(variances[out]) + BATCH_NORM_EPS).sqrt();
                let scale = f64::from(gammas[out]) / root;
                if !scale.is_finite() {
                    let what = format!("variance {} of channel {out}", variances[out]);
                    return Err(file.wrong(&format!("{path}.bn_stddivs"), what));
                }
                let shift = f64::from(means[out]) - f64::from(biases[out]);
                biases[out] = (f64::from(betas[out]) - scale * shift) as f32;
                scales[out] = scale;
            }
        }
        // From [out][in][row][column] to channels last.
        let mut turned = vec![0.0; weights.len()];
        for (at, &weight) in weights.iter().enumerate() {
            let (out, input) = (at / of_one, at / (side * side) % inputs);
            let tap = at % (side * side);
            turned[(out * side * side + tap) * inputs + input] =
                (f64::from(weight) * scales[out]) as f32;
        }
        Ok(Conv {
            w: array(&turned, &[outputs, side, side, inputs])?,
            b: array(&biases, &[outputs])?,
            side,
            outputs,
        })
    }

    /// The convolution with zeros around the board.
    ///
    /// # Errors
    /// Those of operations on arrays.
    pub fn apply(&self, x: &Array) -> Result<Array> {
        let around = (self.side / 2) as i64;
        let options = ConvOptions {
            low: vec![around],
            high: vec![around],
            ..ConvOptions::default()
        };
        x.conv_general(&self.w, &options)?.plus(&self.b)
    }
}

/// `[batch, 8, 8, channels]` to `[batch, channels · 64]`, channel by channel, as the matrices after
/// convolutions expect it.
pub fn by_channel(x: &Array) -> Result<Array> {
    let [batch, _, _, channels] = sizes(x)[..] else {
        return Err(crate::Error::Internal("a board of another rank".into()));
    };
    let x = x.reshape(Shape::new([batch, SQUARES, channels]))?;
    x.swapaxes(1, 2)?
        .reshape(Shape::new([batch, channels * SQUARES]))
}
