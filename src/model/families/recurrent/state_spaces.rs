//! State space models: one decay for each head, or one for each number.

use super::super::latent::parts;
use super::{Bind, Conv, rows, shaped, softplus};
use crate::array::Array;
use crate::ir::{Binary, Dim, GatedDelta, Shape, Symbol, Unary};
use crate::model::bind::Linear;
use crate::model::config::{GateNorm, Recurrent, StateSpace};
use crate::{Error, Result};

/// A state space model whose heads decay as one: with `Δ = softplus(dt + bias)` within limits,
/// `S ← exp(−exp(A_log)·Δ)·S + Δ·x·Bᵀ`, `y = S·C + D·x`.
pub struct Heads {
    space: StateSpace,
    input: Linear,
    conv: Conv,
    dt_bias: Array,
    zeros: Array,
    limits: [Option<Array>; 2],
    rate: Array,
    skip: Array,
    norm: Option<Array>,
    eps: f64,
    out: Linear,
    state: usize,
}

impl Heads {
    pub(super) fn bind(bind: &mut Bind, space: StateSpace) -> Result<Heads> {
        let (hidden, width, heads) = (bind.hidden(), space.width(), space.heads);
        let channels = space.widths().iter().sum();
        let input = bind.linear("in_proj", width + channels + heads, hidden)?;
        let conv = bind.conv("conv1d", [channels, space.taps], space.conv_bias, true)?;
        let mut rate = bind.numbers("A_log", heads)?;
        if !space.exponentiated {
            rate.iter_mut().for_each(|a| *a = -a.exp());
        }
        let (least, most) = space.steps;
        let norm = match space.norm {
            GateNorm::None => None,
            // So they lie in files of llama.cpp.
            GateNorm::After(groups) if space.exponentiated && groups > 1 => {
                let path = bind.at("norm");
                let weight = bind.source.table(&path, "weight", groups, width / groups)?;
                Some(bind.bound.vector(weight))
            }
            _ => Some(bind.norm("norm", width)?),
        };
        Ok(Heads {
            space,
            input,
            conv,
            dt_bias: bind.vector("dt_bias", heads)?,
            zeros: bind.bound.vector(vec![0.0; heads]),
            limits: [
                (least > 0.0).then(|| bind.bound.number(least)),
                most.is_finite().then(|| bind.bound.number(most)),
            ],
            rate: bind.bound.vector(rate),
            skip: {
                let skip = bind.vector("D", heads)?;
                skip.reshape(Shape::new([heads, 1]))?
            },
            norm,
            eps: space.eps.into(),
            out: bind.linear("out_proj", hidden, width)?,
            state: bind.state(),
        })
    }

    pub(super) fn of(&self, x: &Array, chosen: Option<&Array>) -> Result<Array> {
        let space = &self.space;
        let (width, heads) = (space.width(), space.heads);
        let channels = space.widths().iter().sum();
        let [z, xbc, dt] = parts(&self.input.of(x)?, [width, channels, heads])?;
        let [x, b, c] = parts(&self.conv.of(&xbc)?, space.widths())?;
        let mut steps = softplus(&dt.plus(&self.dt_bias)?, &self.zeros)?;
        if let Some(least) = &self.limits[0] {
            steps = steps.binary(Binary::Maximum, least)?;
        }
        if let Some(most) = &self.limits[1] {
            steps = steps.binary(Binary::Minimum, most)?;
        }
        let decay = steps.times(&self.rate)?.unary(Unary::Exp)?;
        let shape = GatedDelta {
            state: self.state,
            key_heads: space.groups,
            value_heads: heads,
            key_dim: space.state,
            value_dim: space.dim,
            tiled: false,
            eps: None,
            corrects: false,
            columnwise: false,
            gates: false,
            columns: [0; 3],
        };
        let y = c.gated_delta(&b, &x, &decay, &steps, shape)?;
        let [y, x, z] = [y, x, z].map(|array| rows(array, chosen));
        let (y, x, z) = (y?, x?, z?);
        let skipped = shaped(&x, &[heads, space.dim])?.times(&self.skip)?;
        let y = y.plus(&shaped(&skipped, &[width])?)?;
        let y = match (space.norm, &self.norm) {
            (GateNorm::After(count), Some(weight)) => {
                let y = shaped(&z.silu()?.times(&y)?, &[count, width / count])?;
                shaped(&y.rms_norm(None, self.eps)?, &[width])?.times(weight)?
            }
            (GateNorm::Before, Some(weight)) => {
                z.silu()?.times(&y.rms_norm(Some(weight), self.eps)?)?
            }
            _ => z.silu()?.times(&y)?,
        };
        self.out.of(&y)
    }
}

/// A state space model whose every number decays on its own, with norms of Δ, B and C.
pub struct Channels {
    width: usize,
    columns: usize,
    rank: usize,
    input: Linear,
    conv: Conv,
    steps: Linear,
    norms: [Array; 3],
    wide: Linear,
    zeros: Array,
    /// `−exp(A_log)`: `[1, width, columns]`.
    rate: Array,
    ones: Array,
    skip: Array,
    eps: f64,
    out: Linear,
    state: usize,
}

impl Channels {
    pub(super) fn bind(bind: &mut Bind, kind: Recurrent) -> Result<Channels> {
        let Recurrent::Channels {
            width,
            state: columns,
            taps,
            rank,
            conv_bias,
            exponentiated,
            ..
        } = kind
        else {
            return Err(Error::Internal("channels of another kind".into()));
        };
        let hidden = bind.hidden();
        let mut rate = bind.source.table(&bind.at("A_log"), "", width, columns)?;
        if !exponentiated {
            rate.iter_mut().for_each(|a| *a = -a.exp());
        }
        let rate = bind.bound.vector(rate);
        Ok(Channels {
            width,
            columns,
            rank,
            input: bind.linear("in_proj", 2 * width, hidden)?,
            conv: bind.conv("conv1d", [width, taps], conv_bias, true)?,
            steps: bind.linear("x_proj", rank + 2 * columns, width)?,
            norms: [
                bind.norm("dt_layernorm", rank)?,
                bind.norm("b_layernorm", columns)?,
                bind.norm("c_layernorm", columns)?,
            ],
            wide: bind.linear("dt_proj", width, rank)?,
            zeros: bind.bound.vector(vec![0.0; width]),
            rate: rate.reshape(Shape::new([1, width, columns]))?,
            ones: bind.bound.number(1.0),
            skip: bind.vector("D", width)?,
            eps: bind.source.config().norm_eps.into(),
            out: bind.linear("out_proj", hidden, width)?,
            state: bind.state(),
        })
    }

    pub(super) fn of(&self, x: &Array, chosen: Option<&Array>) -> Result<Array> {
        let (width, columns) = (self.width, self.columns);
        let [x, z] = parts(&self.input.of(x)?, [width; 2])?;
        let x = self.conv.of(&x)?;
        let made = parts(&self.steps.of(&x)?, [self.rank, columns, columns])?;
        let [dt, b, c] = [0, 1, 2].map(|i| made[i].rms_norm(Some(&self.norms[i]), self.eps));
        let (dt, b, c) = (dt?, b?, c?);
        let steps = softplus(&self.wide.of(&dt)?, &self.zeros)?;
        let decay = shaped(&steps, &[width, 1])?.times(&self.rate)?;
        let decay = shaped(&decay.unary(Unary::Exp)?, &[width * columns])?;
        let shape = GatedDelta {
            state: self.state,
            key_heads: 1,
            value_heads: width,
            key_dim: columns,
            value_dim: 1,
            tiled: false,
            eps: None,
            corrects: false,
            columnwise: true,
            gates: false,
            columns: [0; 3],
        };
        let tokens = Shape::new([Symbol::Tokens.into(), Dim::fixed(width)]);
        let ones = self.ones.broadcast_to(tokens)?;
        let y = c.gated_delta(&b, &steps.times(&x)?, &decay, &ones, shape)?;
        let [y, x, z] = [y, x, z].map(|array| rows(array, chosen));
        let (y, x, z) = (y?, x?, z?);
        let y = y.plus(&x.times(&self.skip)?)?;
        self.out.of(&z.silu()?.times(&y)?)
    }
}
