//! What follows attention in a block: `down(act(gate(x)) · up(x))`, `down(act(up(x)))`, or a mixture of experts of that form.

use super::activation::Function;
use crate::array::Array;
use crate::ir::{Factor, Route, Unary};
use crate::model::Config;
use crate::model::bind::{Bound, Linear};
use crate::model::config::Experts;
use crate::model::weights::Source;
use crate::{Error, Result};

/// Rows of a matrix that are packed together: an expert's must be whole tiles.
const TILE_ROWS: usize = 16;

/// One block's.
pub enum Mlp {
    /// One for all tokens.
    Dense {
        /// `None`: the function is of up alone.
        gate: Option<Linear>,
        up: Linear,
        down: Linear,
        function: Function,
    },
    /// Each token's own, chosen by `router`.
    Experts {
        router: Linear,
        gate: Factor,
        up: Factor,
        down: Factor,
        experts: Experts,
        hidden: usize,
        shared: Option<Shared>,
    },
}

/// What every token goes through beside its experts: `sigmoid(scale(x)) · down(silu(gate(x)) · up(x))`.
pub struct Shared {
    scale: Linear,
    gate: Linear,
    up: Linear,
    down: Linear,
}

impl Mlp {
    /// Binds the MLP of a block at `path`.
    ///
    /// # Errors
    /// `InvalidFile` for missing or other tensors; `Unsupported` for experts of odd widths.
    pub fn bind(source: &Source, c: &Config, path: &str, bound: &mut Bound) -> Result<Mlp> {
        let hidden = c.hidden_size;
        let Some(experts) = c.experts else {
            let mlp = c.intermediate_size;
            let mut linear = |name: &str, out, width| {
                bound.linear(source, &format!("{path}.{name}"), out, width)
            };
            let (gate, up) = if c.form.gate_up {
                let path = format!("{path}.gate_up_proj");
                let [gate, up] = bound.linears(source, &path, [mlp; 2], hidden)?;
                (Some(gate), up)
            } else {
                let gate = c.form.gated.then(|| linear("gate_proj", mlp, hidden));
                (gate.transpose()?, linear("up_proj", mlp, hidden)?)
            };
            let path_of = |name: &str| format!("{path}.{name}");
            return Ok(Mlp::Dense {
                gate,
                up,
                down: bound.linear(source, &path_of("down_proj"), hidden, mlp)?,
                function: Function::bind(source, path, bound)?,
            });
        };
        let Experts { count, width, .. } = experts;
        if !width.is_multiple_of(TILE_ROWS) || !hidden.is_multiple_of(TILE_ROWS) {
            return Err(Error::Unsupported(format!(
                "{}: experts of width {width} in a model of width {hidden}: both must be multiples of {TILE_ROWS}",
                source.path().display()
            )));
        }
        let router = bound.linear(source, &format!("{path}.gate"), count, hidden)?;
        let mut stack = |name: &str, out, cols| {
            let path = format!("{path}.switch_mlp.{name}");
            bound.stack(source, &path, [count, out, cols], experts.biases)
        };
        let stacks = [
            stack("gate_proj", width, hidden)?,
            stack("up_proj", width, hidden)?,
            stack("down_proj", hidden, width)?,
        ];
        let shared = match experts.shared {
            0 => None,
            width => {
                let mut linear = |name: &str, out, width| {
                    bound.linear(source, &format!("{path}.{name}"), out, width)
                };
                Some(Shared {
                    scale: linear("shared_expert_gate", 1, hidden)?,
                    gate: linear("shared_expert.gate_proj", width, hidden)?,
                    up: linear("shared_expert.up_proj", width, hidden)?,
                    down: linear("shared_expert.down_proj", hidden, width)?,
                })
            }
        };
        let [gate, up, down] = stacks;
        Ok(Mlp::Experts {
            router,
            gate,
            up,
            down,
            experts,
            hidden,
            shared,
        })
    }

    /// The MLP of `x` `[rows, hidden]`.
    ///
    /// # Errors
    /// Those of the operations.
    pub fn of(&self, x: &Array) -> Result<Array> {
        match self {
            Mlp::Dense {
                gate: Some(gate),
                up,
                down,
                function,
            } => down.of(&function.of(&gate.of(x)?)?.times(&up.of(x)?)?),
            Mlp::Dense {
                gate: None,
                up,
                down,
                function,
            } => down.of(&function.of(&up.of(x)?)?),
            Mlp::Experts {
                router,
                gate,
                up,
                down,
                experts,
                hidden,
                shared,
            } => {
                let Experts {
                    count,
                    chosen,
                    width,
                    normalize,
                    limit,
                    ..
                } = *experts;
                let (index, weight) = router.of(x)?.route(Route { chosen, normalize })?;
                let y = x.experts_swiglu(&index, [*gate, *up], count, width, limit)?;
                let y = y.experts_sum(&index, &weight, *down, count, *hidden)?;
                let Some(shared) = shared else {
                    return Ok(y);
                };
                let scale = shared.scale.of(x)?.unary(Unary::Sigmoid)?;
                let one = shared.gate.of(x)?.silu()?.times(&shared.up.of(x)?)?;
                y.plus(&scale.times(&shared.down.of(&one)?)?)
            }
        }
    }
}
