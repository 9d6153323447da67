//! Recurrent layers in place of attention, or beside it: gated short convolutions, state space models, Kimi's delta
//! rule. Each is a convolution over few tokens, then a state that a token's outer product joins.

use super::latent::parts;
use crate::array::Array;
use crate::ir::{Binary, Dim, GatedDelta, Number, Shape, ShortConv, Symbol, Unary};
use crate::model::bind::{Bound, Linear};
use crate::model::config::{GateNorm, Recurrent, StateSpace};
use crate::model::weights::Source;
use crate::{Error, Result};

/// ε of the lengths of q and k.
const LENGTH_EPS: f64 = 1e-6;

/// The recurrent layer of one block.
pub enum Layer {
    Conv(GatedConv),
    Heads(Box<Heads>),
    Channels(Box<Channels>),
    Delta(Box<Delta>),
}

impl Layer {
    /// Binds the layer of a block at `path`; `states` counts those that were given out.
    ///
    /// # Errors
    /// `InvalidFile` for missing or other tensors.
    pub fn bind(
        source: &Source,
        path: &str,
        states: &mut usize,
        bound: &mut Bound,
    ) -> Result<Layer> {
        let Some(kind) = source.config().recurrent else {
            return Err(Error::Internal("a recurrent layer of no kind".into()));
        };
        let mut bind = Bind {
            source,
            path,
            states,
            bound,
        };
        Ok(match kind {
            Recurrent::Conv { taps, bias } => Layer::Conv(GatedConv::bind(&mut bind, taps, bias)?),
            Recurrent::Heads(space) => Layer::Heads(Box::new(Heads::bind(&mut bind, space)?)),
            Recurrent::Channels { .. } => {
                Layer::Channels(Box::new(Channels::bind(&mut bind, kind)?))
            }
            Recurrent::Delta { .. } => Layer::Delta(Box::new(Delta::bind(&mut bind, kind)?)),
        })
    }

    /// The layer of `x` `[tokens, hidden]`, of these rows or all.
    ///
    /// # Errors
    /// Those of the operations.
    pub fn of(&self, x: &Array, chosen: Option<&Array>) -> Result<Array> {
        match self {
            Layer::Conv(layer) => layer.of(x, chosen),
            Layer::Heads(layer) => layer.of(x, chosen),
            Layer::Channels(layer) => layer.of(x, chosen),
            Layer::Delta(layer) => layer.of(x, chosen),
        }
    }
}

/// Where a layer's weights are.
struct Bind<'a> {
    source: &'a Source,
    path: &'a str,
    states: &'a mut usize,
    bound: &'a mut Bound,
}

impl Bind<'_> {
    fn at(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }

    fn hidden(&self) -> usize {
        self.source.config().hidden_size
    }

    fn linear(&mut self, name: &str, out: usize, width: usize) -> Result<Linear> {
        let path = self.at(name);
        self.bound.linear(self.source, &path, out, width)
    }

    fn norm(&mut self, name: &str, len: usize) -> Result<Array> {
        let path = self.at(name);
        self.bound.norm(self.source, &path, len)
    }

    fn numbers(&mut self, name: &str, len: usize) -> Result<Vec<f32>> {
        self.source.numbers(&self.at(name), len)
    }

    fn vector(&mut self, name: &str, len: usize) -> Result<Array> {
        let numbers = self.numbers(name, len)?;
        Ok(self.bound.vector(numbers))
    }

    fn state(&mut self) -> usize {
        *self.states += 1;
        *self.states - 1
    }

    /// The convolution at `name`, its SiLU behind it or not.
    fn conv(
        &mut self,
        name: &str,
        [channels, taps]: [usize; 2],
        bias: bool,
        silu: bool,
    ) -> Result<Conv> {
        let path = self.at(name);
        let (rows, published) = self.source.short_conv(&path, channels, taps)?;
        let kind = self.source.config().recurrent;
        if published
            && matches!(
                kind,
                Some(Recurrent::Heads(StateSpace {
                    converted: true,
                    ..
                }))
            )
        {
            return Err(Error::Unsupported(format!(
                "{}: {path} is as its makers publish it, and multipliers of config.json are not in the weights; convert \
                 the folder with mlx-lm",
                self.source.path().display()
            )));
        }
        // Tap by tap.
        let weight = (0..taps).flat_map(|tap| rows.iter().skip(tap).step_by(taps));
        let weight = self.bound.vector(weight.copied().collect());
        let bias = match bias {
            true => Some(
                self.bound
                    .vector(self.source.part(&path, "bias", channels)?),
            ),
            false => None,
        };
        let shape = ShortConv {
            state: self.state(),
            channels,
            taps,
            silu: silu && bias.is_none(),
        };
        Ok(Conv {
            shape,
            weight,
            bias,
            silu,
        })
    }
}

/// A convolution of each channel over few tokens.
struct Conv {
    shape: ShortConv,
    weight: Array,
    bias: Option<Array>,
    silu: bool,
}

impl Conv {
    fn of(&self, x: &Array) -> Result<Array> {
        let y = x.short_conv(&self.weight, self.shape)?;
        match (&self.bias, self.silu) {
            (None, _) => Ok(y),
            (Some(bias), true) => y.plus(bias)?.silu(),
            (Some(bias), false) => y.plus(bias),
        }
    }
}

/// These rows of `x`, or all.
fn rows(x: Array, chosen: Option<&Array>) -> Result<Array> {
    match chosen {
        Some(chosen) => x.take(chosen, 0),
        None => Ok(x),
    }
}

/// `x` `[rows, …]` as `[rows, sizes…]`.
fn shaped(x: &Array, sizes: &[usize]) -> Result<Array> {
    let rows = x.shape().dims()[0];
    let sizes = sizes.iter().map(|&size| Dim::fixed(size));
    x.reshape(Shape::new([rows].into_iter().chain(sizes)))
}

/// `ln(1 + eˣ)`; `zeros` has the width of x.
fn softplus(x: &Array, zeros: &Array) -> Result<Array> {
    x.binary(Binary::LogAddExp, zeros)
}

/// `out(c · conv(b · x))`.
pub struct GatedConv {
    input: Linear,
    conv: Conv,
    out: Linear,
    width: usize,
}

impl GatedConv {
    fn bind(bind: &mut Bind, taps: usize, bias: bool) -> Result<GatedConv> {
        let width = bind.hidden();
        Ok(GatedConv {
            input: bind.linear("in_proj", 3 * width, width)?,
            conv: bind.conv("conv", [width, taps], bias, false)?,
            out: bind.linear("out_proj", width, width)?,
            width,
        })
    }

    fn of(&self, x: &Array, chosen: Option<&Array>) -> Result<Array> {
        let [b, c, x] = parts(&self.input.of(x)?, [self.width; 3])?;
        let y = c.times(&self.conv.of(&b.times(&x)?)?)?;
        self.out.of(&rows(y, chosen)?)
    }
}

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
    fn bind(bind: &mut Bind, space: StateSpace) -> Result<Heads> {
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

    fn of(&self, x: &Array, chosen: Option<&Array>) -> Result<Array> {
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
    fn bind(bind: &mut Bind, kind: Recurrent) -> Result<Channels> {
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

    fn of(&self, x: &Array, chosen: Option<&Array>) -> Result<Array> {
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
    fn bind(bind: &mut Bind, kind: Recurrent) -> Result<Delta> {
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

    fn of(&self, x: &Array, chosen: Option<&Array>) -> Result<Array> {
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
