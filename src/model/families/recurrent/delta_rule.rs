//! Kimi's delta rule.

use super::{Bind, Conv, rows, shaped, softplus};
use crate::array::Array;
use crate::ir::{GatedDelta, Number, Unary};
use crate::model::bind::Linear;
use crate::model::config::Recurrent;
use crate::{Error, Result};

/// ε of the lengths of q and k.
const LENGTH_EPS: f64 = 1e-6;

/// Kimi's delta rule: q, k and v have convolutions of their own, each column of the state a decay of its own.
pub struct Delta {
    heads: usize,
    dim: usize,
    qkv: [(Linear, Conv); 3],
    decay: [Linear; 2],
    gate: [Linear; 2],
    beta: Linear,
    dt_bias: Array,
    zeros: Array,
    rate: Array,
    norm: Array,
    eps: f64,
    out: Linear,
    state: usize,
}

impl Delta {
    pub(super) fn bind(bind: &mut Bind, kind: Recurrent) -> Result<Delta> {
        let Recurrent::Delta {
            heads,
            dim,
            taps,
            exponentiated,
        } = kind
        else {
            return Err(Error::Internal("a delta rule of another kind".into()));
        };
        let (hidden, width) = (bind.hidden(), heads * dim);
        let mut side = |product: &str, conv: &str| {
            let product = bind.linear(product, width, hidden)?;
            Ok::<_, Error>((product, bind.conv(conv, [width, taps], false, true)?))
        };
        let qkv = [
            side("q_proj", "q_conv.conv")?,
            side("k_proj", "k_conv.conv")?,
            side("v_proj", "v_conv.conv")?,
        ];
        let mut rate = bind.numbers("A_log", heads)?;
        if !exponentiated {
            rate.iter_mut().for_each(|a| *a = -a.exp());
        }
        let rate = rate.iter().flat_map(|a| std::iter::repeat_n(*a, dim));
        Ok(Delta {
            heads,
            dim,
            qkv,
            decay: [
                bind.linear("f_a_proj", dim, hidden)?,
                bind.linear("f_b_proj", width, dim)?,
            ],
            gate: [
                bind.linear("g_a_proj", dim, hidden)?,
                bind.linear("g_b_proj", width, dim)?,
            ],
            beta: bind.linear("b_proj", heads, hidden)?,
            dt_bias: bind.vector("dt_bias", width)?,
            zeros: bind.bound.vector(vec![0.0; width]),
            rate: bind.bound.vector(rate.collect()),
            norm: bind.norm("o_norm", dim)?,
            eps: bind.source.config().norm_eps.into(),
            out: bind.linear("o_proj", hidden, width)?,
            state: bind.state(),
        })
    }

    pub(super) fn of(&self, x: &Array, chosen: Option<&Array>) -> Result<Array> {
        let (heads, dim) = (self.heads, self.dim);
        let [q, k, v] = [0, 1, 2].map(|i| {
            let (product, conv) = &self.qkv[i];
            conv.of(&product.of(x)?)
        });
        let steps = self.decay[1].of(&self.decay[0].of(x)?)?;
        let steps = softplus(&steps.plus(&self.dt_bias)?, &self.zeros)?;
        let decay = steps.times(&self.rate)?.unary(Unary::Exp)?;
        let beta = self.beta.of(x)?.unary(Unary::Sigmoid)?;
        let shape = GatedDelta {
            state: self.state,
            key_heads: heads,
            value_heads: heads,
            key_dim: dim,
            value_dim: dim,
            tiled: false,
            eps: Some(Number::new(LENGTH_EPS)),
            corrects: true,
            columnwise: true,
            gates: false,
            columns: [0; 3],
        };
        let y = q?.gated_delta(&k?, &v?, &decay, &beta, shape)?;
        let y = shaped(&rows(y, chosen)?, &[heads, dim])?;
        let y = shaped(&y.rms_norm(Some(&self.norm), self.eps)?, &[heads * dim])?;
        let gate = self.gate[1].of(&self.gate[0].of(&rows(x.clone(), chosen)?)?)?;
        self.out.of(&y.times(&gate.unary(Unary::Sigmoid)?)?)
    }
}
