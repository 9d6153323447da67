//! Norms of the residual stream.

use crate::Result;
use crate::array::Array;
use crate::model::bind::Bound;
use crate::model::config::NormKind;
use crate::model::weights::Source;

/// One norm.
pub struct Norm {
    kind: NormKind,
    eps: f64,
    weight: Array,
    bias: Option<Array>,
}

impl Norm {
    /// The norm at `path`, its results multiplied by `factor`.
    ///
    /// # Errors
    /// Those of [`Source::norm`].
    pub fn bind(source: &Source, bound: &mut Bound, path: &str, factor: f32) -> Result<Norm> {
        let c = source.config();
        let scaled = |values: Vec<f32>, offset: f32| -> Vec<f32> {
            values.iter().map(|v| (v + offset) * factor).collect()
        };
        let weight = source.norm(path, c.hidden_size)?;
        let weight = bound.vector(scaled(weight, c.form.norm_offset));
        let bias = match c.form.norm {
            NormKind::LayerBias | NormKind::RmsBias => {
                let bias = source.part(path, "bias", c.hidden_size)?;
                Some(bound.vector(scaled(bias, 0.0)))
            }
            _ => None,
        };
        Ok(Norm {
            kind: c.form.norm,
            eps: c.norm_eps.into(),
            weight,
            bias,
        })
    }

    /// The norm of `x` `[rows, width]`.
    ///
    /// # Errors
    /// Those of the operations.
    pub fn of(&self, x: &Array) -> Result<Array> {
        match self.kind {
            NormKind::Rms | NormKind::RmsBias => {
                let y = x.rms_norm(Some(&self.weight), self.eps)?;
                match &self.bias {
                    Some(bias) => y.plus(bias),
                    None => Ok(y),
                }
            }
            NormKind::Layer | NormKind::LayerBias => {
                x.layer_norm(Some(&self.weight), self.bias.as_ref(), self.eps)
            }
        }
    }
}
