//! A fused graph of a model becomes the steps that devices execute.

use super::memory;
use crate::ir::{
    Attend, Ending, Experts, Factor, GatedDelta, GatedNorm, Gathered, Graph, Input, Node, NodeId,
    Norm, Op, Products, ShortConv, Turn, Type, Value, VectorId,
};
use crate::step::{
    self, Buffer, BufferId, Epilogue, Place, Product, Rope, Rows, Schedule, Source, Step,
};
use crate::{Error, Result};
use std::collections::HashMap;

/// Orders and places a graph whose one output is the logits, `[wanted, vocab]` f32. `vectors` are the
/// model's.
///
/// # Errors
/// `Internal` for a graph that no forward pass has.
pub fn schedule(graph: &Graph, vectors: &[Vec<f32>]) -> Result<Schedule> {
    let &[logits] = graph.outputs.as_slice() else {
        return Err(internal("a forward pass with more than one result"));
    };
    let mut planner = Planner {
        graph,
        vectors,
        logits,
        buffers: Vec::new(),
        places: HashMap::new(),
        steps: Vec::new(),
        ropes: Vec::new(),
        turns: Vec::new(),
        states: Vec::new(),
        recurrent: Vec::new(),
    };
    for place in 0..graph.nodes.len() {
        planner.lower(NodeId(place))?;
    }
    if let Some(Place::Buffer(x)) = planner.places.get(&logits).copied() {
        planner.steps.push(Step::Logits { x });
    }
    let vocab = graph
        .ty(logits)
        .shape
        .dims()
        .last()
        .and_then(|dim| dim.number());
    let Planner {
        mut buffers,
        steps,
        ropes,
        turns,
        states,
        recurrent,
        ..
    } = planner;
    let states: Option<Vec<_>> = states.into_iter().collect();
    let recurrent: Option<Vec<_>> = recurrent.into_iter().collect();
    let width = memory::plan(&steps, &mut buffers);
    Ok(Schedule {
        hidden: None,
        steps,
        buffers,
        width,
        ropes,
        turns,
        vocab_size: vocab.ok_or_else(|| internal("logits without columns"))?,
        states: states.ok_or_else(|| internal("a layer without attention"))?,
        recurrent: recurrent.ok_or_else(|| internal("a recurrent state that no layer has"))?,
    })
}

fn internal(what: &str) -> Error {
    Error::Internal(format!("the planner met {what}"))
}

struct Planner<'a> {
    graph: &'a Graph,
    vectors: &'a [Vec<f32>],
    logits: Value,
    buffers: Vec<Buffer>,
    /// Where values are.
    places: HashMap<Value, Place>,
    steps: Vec<Step>,
    ropes: Vec<Rope>,
    /// What each rope was made of.
    turns: Vec<Turn>,
    states: Vec<Option<step::Attention>>,
    recurrent: Vec<Option<usize>>,
}

impl Planner<'_> {
    /// A new buffer for a result.
    fn make(&mut self, value: Value) -> Result<BufferId> {
        let ty = self.graph.ty(value);
        let elements = ty
            .shape
            .elements()
            .ok_or_else(|| internal(&format!("a result of shape {}", ty.shape)))?;
        let id = BufferId(self.buffers.len());
        self.buffers.push(Buffer {
            rows: Rows::from(elements.symbol()),
            width: (elements.multiple() * ty.dtype.size()).div_ceil(4),
            offset: 0,
        });
        self.places.insert(value, Place::Buffer(id));
        Ok(id)
    }

    fn place(&self, value: Value) -> Result<Place> {
        self.places.get(&value).copied().ok_or_else(|| {
            internal(&format!(
                "{} where no step takes it",
                self.graph.op(value).name()
            ))
        })
    }

    /// The buffer of a value that a step reads.
    fn buffer(&self, value: Value) -> Result<BufferId> {
        match self.place(value)? {
            Place::Buffer(id) => Ok(id),
            place => Err(internal(&format!("{place:?} where a step needs a buffer"))),
        }
    }

    /// The vector of the model that a step reads.
    fn vector(&self, value: Value) -> Result<VectorId> {
        match self.place(value)? {
            Place::Vector(id) => Ok(id),
            place => Err(internal(&format!("{place:?} where a step needs a vector"))),
        }
    }

    fn lower(&mut self, id: NodeId) -> Result<()> {
        let graph = self.graph;
        let node = graph.node(id);
        let result = Value {
            node: id,
            output: 0,
        };
        match &node.op {
            Op::Input(input) => {
                self.places.insert(result, Place::Input(*input));
            }
            Op::Vector(vector) => {
                self.places.insert(result, Place::Vector(*vector));
            }
            // Results lie row after row, so these have the same elements at the same places.
            Op::Reshape | Op::Flatten | Op::Unflatten | Op::ExpandDims | Op::Squeeze => {
                let place = self.place(node.inputs[0])?;
                self.places.insert(result, place);
            }
            Op::Embedding(table) => {
                if self.place(node.inputs[0])? != Place::Input(Input::Tokens) {
                    return Err(internal("an embedding of something that is no token"));
                }
                let out = self.make(result)?;
                self.steps.push(Step::Embed { table: *table, out });
            }
            Op::Gather { .. } if self.is_selection(node) => {
                let x = self.buffer(node.inputs[0])?;
                let out = self.make(result)?;
                self.steps.push(Step::SelectWanted { x, out });
            }
            Op::Products(products) => self.products(id, node, products)?,
            Op::Experts(experts) => self.experts(result, node, experts)?,
            Op::Attend(attend) => self.attend(result, node, attend)?,
            Op::ShortConv(shape) => self.short_conv(result, node, *shape)?,
            Op::GatedDelta(shape) => self.gated_delta(result, node, *shape)?,
            Op::GatedNorm(shape) => self.gated_norm(result, node, *shape)?,
            op => {
                if let (Op::Rotary(rotary), Some(Place::Vector(frequencies))) =
                    (op, node.inputs.get(2).and_then(|f| self.places.get(f)))
                {
                    let (rotary, frequencies) = (*rotary, *frequencies);
                    self.rope(Turn {
                        frequencies,
                        rotary,
                    })?;
                }
                let inputs = node.inputs.iter().map(|&value| {
                    Ok(Source {
                        place: self.place(value)?,
                        ty: graph.ty(value).clone(),
                    })
                });
                let inputs = inputs.collect::<Result<_>>()?;
                let outputs = node.outputs.iter().enumerate().map(|(output, ty)| {
                    let out = self.make(Value { node: id, output })?;
                    Ok((out, ty.clone()))
                });
                let outputs = outputs.collect::<Result<Vec<(BufferId, Type)>>>()?;
                self.steps.push(Step::Plain {
                    op: op.clone(),
                    inputs,
                    outputs,
                });
            }
        }
        Ok(())
    }

    /// Whether a gather takes the wanted rows of a buffer.
    fn is_selection(&self, node: &Node) -> bool {
        let [x, index] = node.inputs.as_slice() else {
            return false;
        };
        let x_type = self.graph.ty(*x);
        self.places.get(index) == Some(&Place::Input(Input::Wanted))
            && matches!(self.places.get(x), Some(Place::Buffer(_)))
            && x_type.shape.rank() == 2
            && x_type.dtype.size() == 4
            && matches!(&node.op, Op::Gather { axes, sizes }
                if axes.as_slice() == [0] && x_type.shape.dims()[1].number() == sizes.get(1).copied())
    }

    fn products(&mut self, id: NodeId, node: &Node, products: &Products) -> Result<()> {
        let x = self.buffer(node.inputs[0])?;
        let epilogue = match (products.ending, node.inputs.get(1)) {
            (Ending::Store, _) => Epilogue::Store,
            (Ending::Add, Some(&residual)) => Epilogue::Add(self.buffer(residual)?),
            (Ending::Add, None) => return Err(internal("a sum with nothing")),
            (Ending::SwiGlu, _) => Epilogue::SwiGlu,
        };
        let mut outs = Vec::with_capacity(products.factors.len());
        for output in 0..node.outputs.len() {
            let value = Value { node: id, output };
            // The logits have a place of their own.
            let is_logits = value == self.logits && node.outputs.len() == 1;
            outs.push(match is_logits && epilogue == Epilogue::Store {
                true => None,
                false => Some(self.make(value)?),
            });
        }
        let products_of = |(place, factor): (usize, &Factor)| Product {
            weight: factor.weight,
            bias: factor.bias,
            // Gate and up have one result.
            out: outs.get(place).or(outs.first()).copied().flatten(),
        };
        self.steps.push(Step::Matmul {
            x,
            norm: products.norm,
            products: products
                .factors
                .iter()
                .enumerate()
                .map(products_of)
                .collect(),
            epilogue,
        });
        Ok(())
    }

    fn experts(&mut self, result: Value, node: &Node, experts: &Experts) -> Result<()> {
        let (x, index) = match node.inputs.as_slice() {
            &[x, index, ..] => (self.buffer(x)?, self.buffer(index)?),
            _ => return Err(internal("experts without an index")),
        };
        let limit = match experts.gathered {
            Gathered::SwiGlu { limit } => limit.map(|limit| limit.get() as f32),
            Gathered::Sum | Gathered::Each => None,
        };
        let (weights, residual) = match (experts.gathered, node.inputs.get(2..)) {
            (Gathered::SwiGlu { .. } | Gathered::Each, Some([])) => (None, None),
            (Gathered::Sum, Some(&[weights])) => (Some(self.buffer(weights)?), None),
            (Gathered::Sum, Some(&[weights, residual])) => {
                (Some(self.buffer(weights)?), Some(self.buffer(residual)?))
            }
            _ => return Err(internal("experts with other inputs")),
        };
        let chosen = self.graph.ty(node.inputs[1]).shape.dims().last();
        let chosen = chosen.and_then(|dim| dim.number());
        let out = self.make(result)?;
        let product = |factor: &Factor| Product {
            weight: factor.weight,
            bias: factor.bias,
            out: Some(out),
        };
        self.steps.push(Step::Experts(step::ExpertProducts {
            x,
            norm: experts.norm,
            index,
            own: !matches!(experts.gathered, Gathered::SwiGlu { .. }),
            weights,
            residual,
            products: experts.factors.iter().map(product).collect(),
            limit,
            experts: experts.experts,
            chosen: chosen.ok_or_else(|| internal("experts of unknown number"))?,
            out,
        }));
        Ok(())
    }

    fn attend(&mut self, result: Value, node: &Node, attend: &Attend) -> Result<()> {
        let (&[q, k, v] | &[q, k, v, _]) = node.inputs.as_slice() else {
            return Err(internal("an attention without queries, keys and values"));
        };
        let sinks = node.inputs.get(3).map(|&sinks| self.vector(sinks));
        let sinks = sinks.transpose()?;
        let (q, k, v) = (self.buffer(q)?, self.buffer(k)?, self.buffer(v)?);
        let rope = match attend.turn {
            Some(turn) => Some(self.rope(turn)?),
            None => None,
        };
        if self.states.len() <= attend.state {
            self.states.resize(attend.state + 1, None);
        }
        if self.states[attend.state].replace(attend.shape).is_some() {
            return Err(internal("two attentions over one layer's cache"));
        }
        let out = self.make(result)?;
        self.steps.push(Step::Attend(step::Attend {
            q,
            k,
            v,
            out,
            q_norm: attend.q_norm,
            k_norm: attend.k_norm,
            sinks,
            rope,
            state: attend.state,
            shape: attend.shape,
        }));
        Ok(())
    }

    fn short_conv(&mut self, result: Value, node: &Node, shape: ShortConv) -> Result<()> {
        let &[x, weight] = node.inputs.as_slice() else {
            return Err(internal("a convolution without x and a weight"));
        };
        let weight = self.vector(weight)?;
        let x = self.buffer(x)?;
        self.keep(shape.state, shape.floats())?;
        let out = self.make(result)?;
        self.steps.push(Step::ShortConv(step::ShortConv {
            x,
            weight,
            out,
            shape,
        }));
        Ok(())
    }

    fn gated_delta(&mut self, result: Value, node: &Node, shape: GatedDelta) -> Result<()> {
        let Some((&[q, k, v, decay, beta], gates)) = node.inputs.split_first_chunk::<5>() else {
            return Err(internal("a gated delta rule with other inputs"));
        };
        let gates = match (shape.gates, gates) {
            (false, []) => None,
            (true, &[rate, floor]) => Some([self.vector(rate)?, self.vector(floor)?]),
            _ => return Err(internal("a gated delta rule with other gates")),
        };
        let qkv = [self.buffer(q)?, self.buffer(k)?, self.buffer(v)?];
        let (decay, beta) = (self.buffer(decay)?, self.buffer(beta)?);
        self.keep(shape.state, shape.floats())?;
        let out = self.make(result)?;
        self.steps.push(Step::GatedDelta(step::GatedDelta {
            qkv,
            decay,
            beta,
            gates,
            out,
            shape,
        }));
        Ok(())
    }

    fn gated_norm(&mut self, result: Value, node: &Node, shape: GatedNorm) -> Result<()> {
        let &[x, weight, z] = node.inputs.as_slice() else {
            return Err(internal("a gated norm with other inputs"));
        };
        let (x, weight, z) = (self.buffer(x)?, self.vector(weight)?, self.buffer(z)?);
        let eps = shape.eps.get() as f32;
        let out = self.make(result)?;
        self.steps.push(Step::GatedNorm(step::GatedNorm {
            x,
            norm: Norm { weight, eps },
            z,
            out,
            dim: shape.dim,
        }));
        Ok(())
    }

    /// Notes a recurrent state of so many numbers.
    fn keep(&mut self, state: usize, floats: usize) -> Result<()> {
        if self.recurrent.len() <= state {
            self.recurrent.resize(state + 1, None);
        }
        match self.recurrent[state].replace(floats) {
            None => Ok(()),
            Some(_) => Err(internal("two layers over one recurrent state")),
        }
    }

    /// The place of a rotation among the schedule's.
    fn rope(&mut self, turn: Turn) -> Result<usize> {
        if let Some(place) = self.turns.iter().position(|other| *other == turn) {
            return Ok(place);
        }
        let VectorId(vector) = turn.frequencies;
        let frequencies = self.vectors.get(vector);
        self.ropes.push(Rope {
            inv_freq: frequencies
                .ok_or_else(|| internal("a rotation without frequencies"))?
                .clone(),
            interleaved: turn.rotary.interleaved,
            magnitude: turn.rotary.magnitude.get() as f32,
        });
        self.turns.push(turn);
        Ok(self.turns.len() - 1)
    }
}
