//! A gated delta net.

use super::super::latent::parts;
use super::{Shared, States, channels, next};
use crate::array::Array;
use crate::ir::{Binary, Dim, GatedDelta, Number, Shape, ShortConv, Symbol, Unary};
use crate::model::bind::{Bound, Linear};
use crate::model::config::Delta;
use crate::model::weights::Source;
use crate::{Error, Result};

/// ε of the lengths of q and k.
const LENGTH_EPS: f64 = 1e-6;

pub(super) struct DeltaNet {
    project: Projections,
    /// Of each part that `project` gives.
    convolutions: Vec<(ShortConv, Array)>,
    /// `−exp(A_log)`.
    rate: Array,
    dt_bias: Array,
    zeros: Array,
    norm: Array,
    out: Linear,
    state: usize,
}

/// q, k, v, z, b and a of the tokens.
struct Projections {
    qkvz: Qkvz,
    ba: Ba,
}

enum Qkvz {
    /// Key head by key head: its q and k, v and z of its value heads.
    Together(Linear),
    /// q, k and v one after the other, and z.
    Apart { qkv: Linear, z: Linear },
}

enum Ba {
    /// Key head by key head: b and a of its value heads.
    Together(Linear),
    Apart {
        b: Linear,
        a: Linear,
    },
}

impl DeltaNet {
    pub(super) fn bind(
        source: &Source,
        d: &Delta,
        path: &str,
        states: &mut States,
        bound: &mut Bound,
    ) -> Result<DeltaNet> {
        let path = |name: &str| format!("{path}.{name}");
        let hidden = source.config().hidden_size;
        let (keys, values) = (d.key_heads * d.key_dim, d.value_heads * d.value_dim);
        let mut linear = |name: &str, out, width| bound.linear(source, &path(name), out, width);
        let qkvz = match source.has(&path("in_proj_qkvz"))? {
            true => Qkvz::Together(linear("in_proj_qkvz", 2 * (keys + values), hidden)?),
            false => Qkvz::Apart {
                qkv: linear("in_proj_qkv", 2 * keys + values, hidden)?,
                z: linear("in_proj_z", values, hidden)?,
            },
        };
        let ba = match source.has(&path("in_proj_ba"))? {
            true => Ba::Together(linear("in_proj_ba", 2 * d.value_heads, hidden)?),
            false => Ba::Apart {
                b: linear("in_proj_b", d.value_heads, hidden)?,
                a: linear("in_proj_a", d.value_heads, hidden)?,
            },
        };
        let out = linear("out_proj", hidden, values)?;
        let (weight, _) = source.short_conv(&path("conv1d"), channels(d), d.taps)?;
        let widths = match qkvz {
            Qkvz::Together(_) => vec![keys, keys, values],
            Qkvz::Apart { .. } => vec![2 * keys + values],
        };
        let mut first = 0;
        let convolutions = widths.into_iter().map(|channels| {
            let rows = &weight[first * d.taps..][..channels * d.taps];
            first += channels;
            // Tap by tap.
            let taps = (0..d.taps).flat_map(|tap| rows.iter().skip(tap).step_by(d.taps));
            let shape = ShortConv {
                state: next(&mut states.recurrent),
                channels,
                taps: d.taps,
                silu: true,
            };
            (shape, bound.vector(taps.copied().collect()))
        });
        let convolutions = convolutions.collect();
        let rate = source.numbers(&path("A_log"), d.value_heads)?;
        let rate = match d.exponentiated {
            true => rate,
            false => rate.into_iter().map(|a| -a.exp()).collect(),
        };
        Ok(DeltaNet {
            project: Projections { qkvz, ba },
            convolutions,
            rate: bound.vector(rate),
            dt_bias: bound.vector(source.numbers(&path("dt_bias"), d.value_heads)?),
            zeros: bound.vector(vec![0.0; d.value_heads]),
            norm: bound.norm(source, &path("norm"), d.value_dim)?,
            out,
            state: next(&mut states.recurrent),
        })
    }

    /// The rows `chosen` of the net of `h`, which are all tokens' rows.
    pub(super) fn of(&self, h: &Array, chosen: Option<&Array>, s: &Shared) -> Result<Array> {
        let d = s.d;
        let (parts, z) = self.project.qkvz(h, d)?;
        let (b, a) = self.project.ba(h, d)?;
        let parts = parts.iter().zip(&self.convolutions);
        let parts = parts.map(|(x, (shape, weight))| x.short_conv(weight, *shape));
        let parts = parts.collect::<Result<Vec<_>>>()?;
        let softplus = a.plus(&self.dt_bias)?;
        let softplus = softplus.binary(Binary::LogAddExp, &self.zeros)?;
        let decay = softplus.times(&self.rate)?.unary(Unary::Exp)?;
        let beta = b.unary(Unary::Sigmoid)?;
        let shape = GatedDelta {
            state: self.state,
            key_heads: d.key_heads,
            value_heads: d.value_heads,
            key_dim: d.key_dim,
            value_dim: d.value_dim,
            tiled: d.tiled,
            eps: Some(Number::new(LENGTH_EPS)),
            corrects: true,
            columnwise: false,
            gates: false,
            columns: [0; 3],
        };
        let [q, k, v] = match parts.as_slice() {
            [q, k, v] => [q.clone(), k.clone(), v.clone()],
            [qkv] => super::super::latent::parts(qkv, shape.widths())?,
            _ => return Err(Error::Internal("a delta net without q, k and v".into())),
        };
        let mut y = q.gated_delta(&k, &v, &decay, &beta, shape)?;
        let mut z = z;
        if let Some(chosen) = chosen {
            (y, z) = (y.take(chosen, 0)?, z.take(chosen, 0)?);
        }
        let width = y.shape().clone();
        let rows = width.dims()[0];
        let heads = Shape::new([rows, d.value_heads.into(), d.value_dim.into()]);
        let y = y.reshape(heads)?;
        let y = y.rms_norm(Some(&self.norm), s.c.norm_eps.into())?;
        self.out.of(&y.reshape(width)?.times(&z.silu()?)?)
    }
}

impl Projections {
    /// What the convolutions see, and z.
    fn qkvz(&self, h: &Array, d: &Delta) -> Result<(Vec<Array>, Array)> {
        let together = match &self.qkvz {
            Qkvz::Apart { qkv, z } => return Ok((vec![qkv.of(h)?], z.of(h)?)),
            Qkvz::Together(together) => together.of(h)?,
        };
        let values = d.value_heads / d.key_heads * d.value_dim;
        let widths = [d.key_dim, d.key_dim, values, values];
        let [q, k, v, z] = of_key_heads(&together, d, widths)?;
        Ok((vec![q, k, v], z))
    }

    fn ba(&self, h: &Array, d: &Delta) -> Result<(Array, Array)> {
        match &self.ba {
            Ba::Apart { b, a } => Ok((b.of(h)?, a.of(h)?)),
            Ba::Together(together) => {
                let together = together.of(h)?;
                let widths = [d.value_heads / d.key_heads; 2];
                let [b, a] = of_key_heads(&together, d, widths)?;
                Ok((b, a))
            }
        }
    }
}

/// Columns that lie key head by key head, in parts of these widths: each part of all heads.
fn of_key_heads<const N: usize>(x: &Array, d: &Delta, widths: [usize; N]) -> Result<[Array; N]> {
    let tokens = Dim::from(Symbol::Tokens);
    let heads = Shape::new([
        tokens,
        d.key_heads.into(),
        widths.iter().sum::<usize>().into(),
    ]);
    let mut all = parts(&x.reshape(heads)?, widths)?;
    for (part, width) in all.iter_mut().zip(widths) {
        *part = part.reshape(Shape::new([tokens, (d.key_heads * width).into()]))?;
    }
    Ok(all)
}
