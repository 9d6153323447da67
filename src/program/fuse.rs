//! Fusion: graph nodes to steps. Every fusion lives here; models stay plain.
//!
//! - a norm whose readers are all products moves into them;
//! - products of the same input become one step (q, k, v; gate, up);
//! - `silu(gate) · up` and `residual + product` become epilogues;
//! - head norms, RoPE and the cache write move into the attention.

use super::graph::{Graph, NodeId, Op};
use super::plan::plan;
use crate::step::{Attend, Buffer, BufferId, Epilogue, Norm, Product, Schedule, Step};
use crate::{Error, Result};
use std::collections::HashMap;

struct Fuser<'a> {
    graph: &'a Graph,
    uses: Vec<usize>,
    buffers: Vec<Buffer>,
    placed: HashMap<NodeId, BufferId>,
    steps: Vec<Step>,
}

/// Fuses and plans a traced forward pass.
pub fn compile(graph: &Graph) -> Result<Schedule> {
    let mut uses = vec![0; graph.nodes.len()];
    for node in &graph.nodes {
        for input in node.op.inputs() {
            uses[input.0] += 1;
        }
    }
    let mut fuser = Fuser {
        graph,
        uses,
        buffers: Vec::new(),
        placed: HashMap::new(),
        steps: Vec::new(),
    };
    let mut layers = 0;
    let mut attention = None;
    for (index, node) in graph.nodes.iter().enumerate() {
        fuser.lower(NodeId(index))?;
        if let Op::Attention(_, layer, shape) = node.op {
            layers = layers.max(layer + 1);
            attention = Some(shape);
        }
    }
    let last = graph
        .nodes
        .last()
        .ok_or_else(|| internal("an empty graph"))?;
    let (Some(rope), Some(attention)) = (graph.rope.clone(), attention) else {
        return Err(internal("a graph without attention"));
    };
    let Fuser {
        mut buffers, steps, ..
    } = fuser;
    let width = plan(&steps, &mut buffers);
    Ok(Schedule {
        steps,
        buffers,
        width,
        rope,
        vocab_size: last.width,
        layers,
        attention,
    })
}

fn internal(what: &str) -> Error {
    Error::Internal(format!("the program compiler met {what}"))
}

impl Fuser<'_> {
    fn op(&self, id: NodeId) -> &Op {
        &self.graph.nodes[id.0].op
    }

    fn used_once(&self, id: NodeId) -> bool {
        self.uses[id.0] == 1
    }

    fn new_buffer(&mut self, id: NodeId) -> BufferId {
        let node = &self.graph.nodes[id.0];
        let buffer = BufferId(self.buffers.len());
        self.buffers.push(Buffer {
            rows: node.rows,
            width: node.width,
            offset: 0,
        });
        self.placed.insert(id, buffer);
        buffer
    }

    fn buffer(&self, id: NodeId) -> Result<BufferId> {
        self.placed
            .get(&id)
            .copied()
            .ok_or_else(|| internal(&format!("{:?} where no step takes it", self.op(id))))
    }

    fn lower(&mut self, id: NodeId) -> Result<()> {
        match *self.op(id) {
            Op::Embedding(table) => {
                let out = self.new_buffer(id);
                self.steps.push(Step::Embed { table, out });
            }
            Op::SelectWanted(x) => {
                let x = self.buffer(x)?;
                let out = self.new_buffer(id);
                self.steps.push(Step::SelectWanted { x, out });
            }
            Op::Linear(x, weight, bias) => {
                // A product that an epilogue takes is lowered with that epilogue.
                if self.epilogue_takes(id) {
                    return Ok(());
                }
                let is_logits = id.0 + 1 == self.graph.nodes.len();
                let out = if is_logits {
                    None
                } else {
                    Some(self.new_buffer(id))
                };
                self.push_product(x, Product { weight, bias, out })?;
            }
            Op::Add(residual, product) => {
                let Op::Linear(x, weight, bias) = *self.op(product) else {
                    return Err(internal("a sum that is not residual + product"));
                };
                let residual_buffer = self.buffer(residual)?;
                let out = self.new_buffer(id);
                let (x, norm) = self.input(x)?;
                self.steps.push(Step::Matmul {
                    x,
                    norm,
                    products: vec![Product {
                        weight,
                        bias,
                        out: Some(out),
                    }],
                    epilogue: Epilogue::Add(residual_buffer),
                });
            }
            Op::Mul(silu, up) => {
                let (Op::Silu(gate), Op::Linear(x_up, up, up_bias)) = (self.op(silu), self.op(up))
                else {
                    return Err(internal("a product that is not silu(gate) · up"));
                };
                let (x_up, up, up_bias) = (*x_up, *up, *up_bias);
                let Op::Linear(x, gate, bias) = *self.op(*gate) else {
                    return Err(internal("a silu of something that is not a product"));
                };
                if x != x_up {
                    return Err(internal("gate and up of different inputs"));
                }
                let out = self.new_buffer(id);
                let (x, norm) = self.input(x)?;
                self.steps.push(Step::Matmul {
                    x,
                    norm,
                    products: vec![
                        Product {
                            weight: gate,
                            bias,
                            out: Some(out),
                        },
                        Product {
                            weight: up,
                            bias: up_bias,
                            out: Some(out),
                        },
                    ],
                    epilogue: Epilogue::SwiGlu,
                });
            }
            Op::Attention([q, k, v], layer, shape) => {
                let (q, q_norm) = self.head_input(q)?;
                let (k, k_norm) = self.head_input(k)?;
                let v = self.buffer(v)?;
                let out = self.new_buffer(id);
                self.steps.push(Step::Attend(Attend {
                    q,
                    k,
                    v,
                    out,
                    q_norm,
                    k_norm,
                    layer,
                    shape,
                }));
            }
            // Lowered with their readers.
            Op::RmsNorm(..) | Op::HeadNorm(..) | Op::Rope(_) | Op::Silu(_) => {}
        }
        Ok(())
    }

    /// Whether the only reader of product `id` is a sum or a SwiGLU that takes it as an epilogue.
    fn epilogue_takes(&self, id: NodeId) -> bool {
        self.used_once(id)
            && self.graph.nodes.iter().any(|node| match node.op {
                Op::Add(_, product) => product == id,
                Op::Mul(silu, up) => up == id || *self.op(silu) == Op::Silu(id),
                _ => false,
            })
    }

    /// The buffer a product reads, with the norm in front of it.
    fn input(&self, x: NodeId) -> Result<(BufferId, Option<Norm>)> {
        match *self.op(x) {
            Op::RmsNorm(x, norm) => Ok((self.buffer(x)?, Some(norm))),
            _ => Ok((self.buffer(x)?, None)),
        }
    }

    /// The buffer of q or k under its RoPE and head norm.
    fn head_input(&self, id: NodeId) -> Result<(BufferId, Option<Norm>)> {
        let Op::Rope(x) = *self.op(id) else {
            return Err(internal("attention over q or k without RoPE"));
        };
        match *self.op(x) {
            Op::HeadNorm(x, norm, _) => Ok((self.buffer(x)?, Some(norm))),
            _ => Ok((self.buffer(x)?, None)),
        }
    }

    /// Adds a product, to the step before when that has the same input and stores plainly.
    fn push_product(&mut self, x: NodeId, product: Product) -> Result<()> {
        let (x, norm) = self.input(x)?;
        if let Some(Step::Matmul {
            x: before,
            norm: norm_before,
            products,
            epilogue,
        }) = self.steps.last_mut()
            && (*before, *norm_before, *epilogue) == (x, norm, Epilogue::Store)
            && product.out.is_some()
        {
            products.push(product);
        } else {
            self.steps.push(Step::Matmul {
                x,
                norm,
                products: vec![product],
                epilogue: Epilogue::Store,
            });
        }
        Ok(())
    }
}
