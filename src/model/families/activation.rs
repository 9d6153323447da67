//! The functions between the products of an MLP.

use crate::array::Array;
use crate::ir::{Binary, Unary};
use crate::model::bind::Bound;
use crate::model::config::Activation;
use crate::model::weights::Source;
use crate::{Error, Result};
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// One MLP's function, with its numbers.
pub struct Function {
    kind: Activation,
    numbers: Vec<Array>,
}

impl Function {
    /// Binds the function of the MLP at `path`.
    ///
    /// # Errors
    /// `InvalidFile` where it has learned numbers and they are missing.
    pub fn bind(source: &Source, path: &str, bound: &mut Bound) -> Result<Function> {
        let kind = source.config().form.activation;
        let tanh = 2.0 * (2.0 / PI).sqrt();
        let numbers: Vec<f64> = match kind {
            Activation::Silu => Vec::new(),
            Activation::Gelu => vec![FRAC_1_SQRT_2, 0.5],
            Activation::GeluTanh => vec![0.044715 * tanh, tanh],
            Activation::ReluSquared => vec![0.0],
            Activation::Xielu => {
                let path = format!("{path}.act_fn");
                let number = |part: &str| Ok::<_, Error>(source.part(&path, part, 1)?[0]);
                let softplus = |x: f32| f64::from(x).exp().ln_1p();
                let optional = |part: &str, otherwise: f64| -> Result<f64> {
                    match source.has_part(&path, part)? {
                        true => Ok(number(part)?.into()),
                        false => Ok(otherwise),
                    }
                };
                let (beta, eps) = (optional("beta", 0.5)?, optional("eps", -1e-6)?);
                // All models have -1e-6: what that adds above 0 is left out.
                if !(-1e-5..=0.0).contains(&eps) {
                    return Err(Error::Unsupported(format!(
                        "{}: {path}.eps is {eps}; numbers from -1e-5 to 0 are supported",
                        source.path().display()
                    )));
                }
                let (positive, negative) = (number("alpha_p")?, number("alpha_n")?);
                vec![
                    0.0,
                    softplus(positive),
                    eps,
                    beta + softplus(negative),
                    beta,
                ]
            }
        };
        let number = |value: &f64| bound.number(*value as f32);
        Ok(Function {
            kind,
            numbers: numbers.iter().map(number).collect(),
        })
    }

    /// The function of each element.
    ///
    /// # Errors
    /// Those of the operations.
    pub fn of(&self, x: &Array) -> Result<Array> {
        match (self.kind, self.numbers.as_slice()) {
            // x · Φ(x) = x · (erf(x / √2) / 2 + 1/2)
            (Activation::Gelu, [inverse, half]) => {
                let erf = x.times(inverse)?.unary(Unary::Erf)?;
                x.times(&erf.times(half)?.plus(half)?)
            }
            // (1 + tanh(z)) / 2 = sigmoid(2z)
            (Activation::GeluTanh, [cubic, linear]) => {
                let z = x.unary(Unary::Square)?.times(cubic)?.plus(linear)?;
                x.times(&x.times(&z)?.unary(Unary::Sigmoid)?)
            }
            (Activation::ReluSquared, [zero]) => {
                x.binary(Binary::Maximum, zero)?.unary(Unary::Square)
            }
            (Activation::Xielu, [zero, positive, eps, negative, beta]) => {
                let above = x.binary(Binary::Maximum, zero)?.unary(Unary::Square)?;
                let below = x.binary(Binary::Minimum, eps)?.unary(Unary::Expm1)?;
                let below = below.binary(Binary::Subtract, &x.binary(Binary::Minimum, zero)?)?;
                let curved = above.times(positive)?.plus(&below.times(negative)?)?;
                curved.plus(&x.times(beta)?)
            }
            _ => x.silu(),
        }
    }
}
