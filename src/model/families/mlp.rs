//! What follows attention in a block: `down(act(gate(x)) · up(x))`, `down(act(up(x)))`, or a mixture of experts of that form.

use super::activation::Function;
use super::latent::parts;
use crate::array::Array;
use crate::ir::{Factor, Route, Unary};
use crate::model::Config;
use crate::model::bind::{Bound, Linear};
use crate::model::config::{Activation, Correction, Experts, Feed};
use crate::model::weights::Source;
use crate::{Error, Result};

/// Rows of a matrix that are packed together: an expert's must be whole tiles.
const TILE_ROWS: usize = 16;

/// The most experts, and the most of a row, beside which a shared one may be one more: devices have such limits.
const MOST_JOINED: usize = 512;
const MOST_CHOSEN: usize = 32;

/// One block's.
pub enum Mlp {
    /// One for all tokens.
    Dense(Dense),
    /// Each token's own.
    Experts(Box<Mixture>),
}

/// `down(act(gate(x)) · up(x))`.
pub struct Dense {
    /// `None`: the function is of up alone.
    gate: Option<Linear>,
    up: Linear,
    down: Linear,
    function: Function,
}

/// The matrices of experts.
pub struct Stacks {
    inner: Inner,
    down: Factor,
    function: Function,
    /// Whether the function is that of one operation with both products.
    fused: bool,
    experts: Experts,
    /// Columns of what experts take and give.
    width: usize,
}

/// What experts make of x.
enum Inner {
    /// `act(gate(x)) · up(x)`.
    Gated([Factor; 2]),
    /// The same, gate and up of an expert one after the other in one matrix.
    Together(Factor),
    /// `act(up(x))`.
    Up(Factor),
}

/// Experts, chosen by `router`.
pub struct Mixture {
    router: Linear,
    correction: Option<Array>,
    stacks: Stacks,
    experts: Experts,
    /// To those columns and back, where they are not the model's.
    latent: Option<[Linear; 2]>,
    shared: Option<Shared>,
    /// The shared one is the last of `stacks`, its scale the last row of `router`.
    joins: bool,
}

/// What every token goes through beside its experts, times `sigmoid(scale(x))` where there is one.
pub struct Shared {
    scale: Option<Linear>,
    mlp: Dense,
}

impl Mlp {
    /// Binds what follows attention in a layer, at `path`; none where nothing does.
    ///
    /// # Errors
    /// `InvalidFile` for missing or other tensors; `Unsupported` for experts of odd widths.
    pub fn bind(
        source: &Source,
        layer: usize,
        path: &str,
        bound: &mut Bound,
    ) -> Result<Option<Mlp>> {
        let c = source.config();
        Ok(match (c.parts(layer).mlp, c.experts) {
            (Feed::None, _) => None,
            (Feed::Experts, Some(experts)) => {
                let mixture = Mixture::bind(source, c, experts, path, bound)?;
                Some(Mlp::Experts(Box::new(mixture)))
            }
            (Feed::Experts, None) => return Err(Error::Internal("experts of no number".into())),
            (Feed::Dense(width), _) => Some(Mlp::Dense(Dense::bind(source, path, width, bound)?)),
        })
    }

    /// Its function.
    pub fn function(&self) -> &Function {
        match self {
            Mlp::Dense(dense) => &dense.function,
            Mlp::Experts(mixture) => &mixture.stacks.function,
        }
    }

    /// The MLP of `x` `[rows, hidden]`.
    ///
    /// # Errors
    /// Those of the operations.
    pub fn of(&self, x: &Array) -> Result<Array> {
        match self {
            Mlp::Dense(dense) => dense.of(x),
            Mlp::Experts(mixture) => mixture.of(x),
        }
    }
}

impl Dense {
    fn bind(source: &Source, path: &str, width: usize, bound: &mut Bound) -> Result<Dense> {
        let c = source.config();
        let hidden = c.hidden_size;
        let mut linear =
            |name: &str, out, width| bound.linear(source, &format!("{path}.{name}"), out, width);
        let (gate, up) = if c.form.gate_up {
            let path = format!("{path}.gate_up_proj");
            let [gate, up] = bound.linears(source, &path, [width; 2], hidden)?;
            (Some(gate), up)
        } else {
            let gate = c.form.gated.then(|| linear("gate_proj", width, hidden));
            (gate.transpose()?, linear("up_proj", width, hidden)?)
        };
        Ok(Dense {
            gate,
            up,
            down: bound.linear(source, &format!("{path}.down_proj"), hidden, width)?,
            function: Function::bind(source, path, bound)?,
        })
    }

    fn of(&self, x: &Array) -> Result<Array> {
        let inner = match &self.gate {
            Some(gate) => self.function.of(&gate.of(x)?)?.times(&self.up.of(x)?)?,
            None => self.function.of(&self.up.of(x)?)?,
        };
        self.down.of(&inner)
    }
}

impl Mixture {
    fn bind(
        source: &Source,
        c: &Config,
        experts: Experts,
        path: &str,
        bound: &mut Bound,
    ) -> Result<Mixture> {
        let (count, hidden) = (experts.count, c.hidden_size);
        let at = |name: &str| format!("{path}.{name}");
        if let Some(joined) = Mixture::joined(source, experts, path, bound)? {
            return Ok(joined);
        }
        let router = bound.linear(source, &at("gate"), count, hidden)?;
        let correction = match experts.correction {
            Correction::Never => false,
            Correction::Maybe => source.has_part(&at("correction"), "")?,
            Correction::Always => true,
        };
        let correction = match correction {
            true => Some(bound.vector(source.numbers(&at("correction"), count)?)),
            false => None,
        };
        let stacks = Stacks::bind(source, experts, path, bound)?;
        let latent = match experts.latent {
            0 => None,
            columns => Some([
                bound.linear(source, &at("latent_in"), columns, hidden)?,
                bound.linear(source, &at("latent_out"), hidden, columns)?,
            ]),
        };
        let shared = match experts.shared {
            0 => None,
            width => {
                let scale = match experts.shared_gate {
                    true => Some(bound.linear(source, &at("shared_expert_gate"), 1, hidden)?),
                    false => None,
                };
                let mlp = Dense::bind(source, &at("shared_expert"), width, bound)?;
                Some(Shared { scale, mlp })
            }
        };
        Ok(Mixture {
            router,
            correction,
            stacks,
            experts,
            latent,
            shared,
            joins: false,
        })
    }

    /// A mixture whose shared expert is of the others' size and format: it becomes one of them, which every row chooses.
    fn joined(
        source: &Source,
        experts: Experts,
        path: &str,
        bound: &mut Bound,
    ) -> Result<Option<Mixture>> {
        let c = source.config();
        let Experts { count, width, .. } = experts;
        let is_usual = experts.shared == width
            && experts.shared_gate
            && experts.correction == Correction::Never
            && experts.latent == 0
            && !experts.weighted_input
            && !experts.biases
            && experts.limit.is_none()
            && experts.route() == Route::softmax(experts.chosen, experts.normalize)
            && (c.form.gated && !c.form.gate_up && c.form.activation == Activation::Silu)
            && count.is_multiple_of(TILE_ROWS)
            && count < MOST_JOINED
            && experts.chosen < MOST_CHOSEN;
        if !is_usual || source.has(&format!("{path}.switch_mlp.gate_up_proj"))? {
            return Ok(None);
        }
        let hidden = c.hidden_size;
        let join = |name: &str, out: usize, cols: usize| {
            let stack = source.stack(&format!("{path}.switch_mlp.{name}"), count, out, cols)?;
            let shared = source.linear(&format!("{path}.shared_expert.{name}"), out, cols)?;
            let joined = stack.followed_by(shared.weight);
            Ok::<_, Error>(joined.filter(|_| shared.bias.is_none()))
        };
        let stacks = [
            join("gate_proj", width, hidden)?,
            join("up_proj", width, hidden)?,
            join("down_proj", hidden, width)?,
        ];
        let [Some(gate), Some(up), Some(down)] = stacks else {
            return Ok(None);
        };
        let router = source.linear(&format!("{path}.gate"), count, hidden)?;
        let scale = source.linear(&format!("{path}.shared_expert_gate"), 1, hidden)?;
        if router.bias.is_some() || scale.bias.is_some() {
            return Ok(None);
        }
        let Some(router) = source.joined(router.weight, scale.weight)? else {
            return Ok(None);
        };
        let all = Experts {
            count: count + 1,
            chosen: experts.chosen + 1,
            ..experts
        };
        let inner = Inner::Gated([bound.factor(gate), bound.factor(up)]);
        let router = bound.matrix(router);
        Ok(Some(Mixture {
            router: Linear::shared(router, count + 1),
            correction: None,
            stacks: Stacks {
                inner,
                down: bound.factor(down),
                function: Function::bind(source, path, bound)?,
                fused: true,
                experts: all,
                width: hidden,
            },
            experts,
            latent: None,
            shared: None,
            joins: true,
        }))
    }

    fn of(&self, x: &Array) -> Result<Array> {
        let logits = self.router.of(x)?;
        let route = Route {
            shared: self.joins,
            ..self.experts.route()
        };
        let (index, weight) = logits.route(route, self.correction.as_ref())?;
        let mut own = match &self.latent {
            Some([narrow, _]) => narrow.of(x)?,
            None => x.clone(),
        };
        if self.experts.weighted_input {
            own = own.times(&weight)?;
        }
        let mut y = self.stacks.of(&own, &index, &weight)?;
        if let Some([_, wide]) = &self.latent {
            y = wide.of(&y)?;
        }
        let Some(shared) = &self.shared else {
            return Ok(y);
        };
        match &shared.scale {
            Some(scale) => {
                let scale = scale.of(x)?.unary(Unary::Sigmoid)?;
                y.plus(&scale.times(&shared.mlp.of(x)?)?)
            }
            None => y.plus(&shared.mlp.of(x)?),
        }
    }
}

impl Stacks {
    /// Binds the matrices of experts at `path`.
    ///
    /// # Errors
    /// `InvalidFile` for missing or other tensors; `Unsupported` for experts of odd widths.
    pub fn bind(
        source: &Source,
        experts: Experts,
        path: &str,
        bound: &mut Bound,
    ) -> Result<Stacks> {
        let c = source.config();
        let Experts { count, width, .. } = experts;
        let hidden = c.hidden_size;
        let columns = if experts.latent > 0 {
            experts.latent
        } else {
            hidden
        };
        if !width.is_multiple_of(TILE_ROWS) || !columns.is_multiple_of(TILE_ROWS) {
            return Err(Error::Unsupported(format!(
                "{}: experts of width {width} in a model of width {columns}: both must be multiples of {TILE_ROWS}",
                source.path().display()
            )));
        }
        let mut stack = |name: &str, out, cols| {
            let path = format!("{path}.switch_mlp.{name}");
            bound.stack(source, &path, [count, out, cols], experts.biases)
        };
        let together = source.has(&format!("{path}.switch_mlp.gate_up_proj"))?;
        let inner = match c.form.gated {
            true if together && experts.limit.is_none() => {
                Inner::Together(stack("gate_up_proj", 2 * width, columns)?)
            }
            true => Inner::Gated([
                stack("gate_proj", width, columns)?,
                stack("up_proj", width, columns)?,
            ]),
            false => Inner::Up(stack("up_proj", width, columns)?),
        };
        let down = stack("down_proj", columns, width)?;
        let silu = c.form.activation == Activation::Silu;
        Ok(Stacks {
            inner,
            down,
            function: Function::bind(source, path, bound)?,
            fused: silu || experts.limit.is_some(),
            experts,
            width: columns,
        })
    }

    /// The sum over each row's experts of what they make of `x`.
    ///
    /// # Errors
    /// Those of the operations.
    pub fn of(&self, x: &Array, index: &Array, weight: &Array) -> Result<Array> {
        let Experts {
            count,
            width,
            limit,
            chosen,
            weighted_input,
            ..
        } = self.experts;
        let products = |factor: Factor, out: usize| {
            let rows = x.shape().dims()[0];
            let each = crate::ir::Shape::new([rows, chosen.into(), self.width.into()]);
            let x = x.expand_dims(&[1])?.broadcast_to(each)?;
            x.stack_products(index, factor, count, out)
        };
        let inner = match self.inner {
            Inner::Gated(factors) if self.fused => {
                x.experts_swiglu(index, factors, count, width, limit)?
            }
            Inner::Gated([gate, up]) => {
                let up = products(up, width)?;
                self.function.of(&products(gate, width)?)?.times(&up)?
            }
            Inner::Together(both) => {
                let [gate, up] = parts(&products(both, 2 * width)?, [width; 2])?;
                self.function.of(&gate)?.times(&up)?
            }
            Inner::Up(up) => self.function.of(&products(up, width)?)?,
        };
        if weighted_input {
            let y = inner.stack_products(index, self.down, count, self.width)?;
            return y.reshape(x.shape().clone());
        }
        inner.experts_sum(index, weight, self.down, count, self.width)
    }
}
