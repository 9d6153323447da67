//! Recurrent layers in place of attention, or beside it: gated short convolutions, state space models, Kimi's delta
//! rule. Each is a convolution over few tokens, then a state that a token's outer product joins.

mod delta_rule;
mod state_spaces;

use super::latent::parts;
use crate::array::Array;
use crate::ir::{Binary, Dim, Shape, ShortConv};
use crate::model::bind::{Bound, Linear};
use crate::model::config::{Recurrent, StateSpace};
use crate::model::weights::Source;
use crate::{Error, Result};
use delta_rule::Delta;
use state_spaces::{Channels, Heads};

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
