//! Products of one row with codes that become one launch: those of the same row, the row's norm in front of them, and
//! what is added to the one, or the gate of the two (`hip/ops/arrays/product_one_warps.hip`). Where there is no such kernel the operations run
//! one after the other, with the same bits.

use super::chains::{Chain, ChainKernel};
use super::joined::{Found, Part, Parts};
use super::matrices::suffix;
use super::products::{ROW_THREADS, warps_shared};
use super::replay;
use super::rows::lanes_of;
use super::{Elements, Place};
use crate::Result;
use crate::driver::Platform;
use crate::gpu::Args;
use crate::gpu::constants::arrays_product_one_warps::STAGES;
use crate::ir::{
    Binary, Dtype, Graph, Node, NodeId, Number, Op, QuantMode, Quantization, Type, Value,
};
use std::sync::Arc;

/// Most matrices of a launch.
const MOST: usize = 3;
/// The names of their arguments.
const NAMES: [[&str; 5]; MOST] = [
    ["words_a", "scales_a", "biases_a", "out_a", "n_a"],
    ["words_b", "scales_b", "biases_b", "out_b", "n_b"],
    ["words_c", "scales_c", "biases_c", "out_c", "n_c"],
];

/// Products of one row. Inputs: x, the norm's weight, what is added, then codes, scales and biases of each matrix.
pub struct Siblings {
    quantization: Quantization,
    /// In front of them.
    norm: Option<(Number, Type)>,
    /// Whether something is added to the result of the one.
    has_plus: bool,
    /// What makes the silu of the first product's result times the second's.
    gate: Option<Arc<Chain>>,
    /// The products' results.
    types: Vec<Type>,
}

/// A product of one row with affine codes of 4 bits that are leaves.
fn product<'a>(graph: &'a Graph, node: &'a Node) -> Option<(&'a Quantization, [Value; 4])> {
    let (
        Op::QuantizedMatmul {
            quantization,
            transpose: true,
        },
        &[x, codes, scales, biases],
    ) = (&node.op, node.inputs.as_slice())
    else {
        return None;
    };
    let sizes = graph.ty(x).shape.numbers()?;
    let (_, outer) = sizes.split_last()?;
    let matrix = [codes, scales, biases];
    let fits = outer.iter().all(|&size| size == 1)
        && quantization.mode == QuantMode::Affine
        && quantization.bits == 4
        && graph.ty(codes).shape.rank() == 2
        && node.outputs[0].dtype == graph.ty(x).dtype
        && matrix
            .iter()
            .all(|value| matches!(graph.op(*value), Op::Leaf(_)));
    fits.then_some((quantization, [x, codes, scales, biases]))
}

/// What can be joined, where some nodes are parts already.
pub(super) fn find(graph: &Graph, parts: &Parts) -> Vec<Found> {
    let readers = graph.readers();
    let is_part = |id: NodeId| parts.contains_key(&id);
    let mut taken = vec![false; graph.nodes.len()];
    let mut all = Vec::new();
    for place in 0..graph.nodes.len() {
        let Some((quantization, [x, ..])) = product(graph, &graph.nodes[place]) else {
            continue;
        };
        if taken[place] {
            continue;
        }
        let alike = |id: &NodeId| {
            let of_other = product(graph, graph.node(*id));
            id.0 >= place
                && !taken[id.0]
                && of_other.is_some_and(|(other, [y, ..])| other == quantization && x == y)
        };
        let mut members: Vec<NodeId> = readers[x.node.0].iter().copied().filter(alike).collect();
        members.dedup();
        members.truncate(MOST);
        let norm = norm_of(graph, &readers, x, &members).filter(|_| !is_part(x.node));
        let plus = match members.as_slice() {
            // Of two products that are added one takes the other.
            [one] => {
                plus_of(graph, &readers, *one).filter(|(add, _)| !is_part(*add) && !taken[add.0])
            }
            _ => None,
        };
        if members.len() == 1 && norm.is_none() && plus.is_none() {
            continue;
        }
        let gate = gate_of(graph, &readers, parts, &members);
        let results = match (plus, &gate) {
            (Some((add, _)), _) => vec![add],
            (None, Some((last, both, _))) => {
                members = both.to_vec();
                vec![*last]
            }
            (None, None) => members.clone(),
        };
        let mut inputs = match norm {
            Some((_, [x, weight])) => vec![x, weight],
            None => vec![x],
        };
        inputs.extend(plus.map(|(_, value)| value));
        let types = members.iter().map(|id| graph.node(*id).outputs[0].clone());
        let part = Siblings {
            quantization: *quantization,
            norm: norm.map(|(eps, _)| (eps, graph.ty(x).clone())),
            has_plus: plus.is_some(),
            gate: gate.as_ref().map(|(.., chain)| chain.clone()),
            types: types.collect(),
        };
        for member in &members {
            taken[member.0] = true;
            inputs.extend_from_slice(&graph.node(*member).inputs[1..]);
        }
        members.extend(norm.map(|_| x.node));
        if let Some((add, _)) = plus {
            taken[add.0] = true;
            members.push(add);
        }
        members.extend(gate.map(|(last, ..)| last));
        let value = |node| Value { node, output: 0 };
        all.push(Found {
            place: results[0],
            inputs,
            results: results.into_iter().map(value).collect(),
            members,
            part: Part::Siblings(Arc::new(part)),
        });
    }
    all
}

/// The norm that x is, if only these products read it.
fn norm_of(
    graph: &Graph,
    readers: &[Vec<NodeId>],
    x: Value,
    members: &[NodeId],
) -> Option<(Number, [Value; 2])> {
    let node = graph.node(x.node);
    let (Op::RmsNorm(eps), &[from, weight]) = (&node.op, node.inputs.as_slice()) else {
        return None;
    };
    let fits = graph.ty(x).dtype == Dtype::F32
        && graph.ty(from).dtype == Dtype::F32
        && matches!(graph.op(weight), Op::Leaf(_))
        && !graph.is_output(x.node)
        && readers[x.node.0]
            .iter()
            .all(|reader| members.contains(reader));
    fits.then_some((*eps, [from, weight]))
}

/// The operation that adds something to a product which nothing else reads, and what it adds.
fn plus_of(graph: &Graph, readers: &[Vec<NodeId>], product: NodeId) -> Option<(NodeId, Value)> {
    let &[add] = readers[product.0].as_slice() else {
        return None;
    };
    let node = graph.node(add);
    let (Op::Binary(Binary::Add), &[a, b]) = (&node.op, node.inputs.as_slice()) else {
        return None;
    };
    let other = if a.node == product { b } else { a };
    let fits = graph.ty(other) == &node.outputs[0]
        && graph.node(product).outputs == node.outputs
        && !graph.is_output(product);
    fits.then_some((add, other))
}

/// The chain that makes silu(first) · second of two products that nothing else reads, and these two.
fn gate_of(
    graph: &Graph,
    readers: &[Vec<NodeId>],
    parts: &Parts,
    products: &[NodeId],
) -> Option<(NodeId, [NodeId; 2], Arc<Chain>)> {
    let &[first, _] = products else {
        return None;
    };
    let &[last] = readers[first.0].as_slice() else {
        return None;
    };
    let Some(Part::Chain(chain)) = parts.get(&last) else {
        return None;
    };
    let node = graph.node(last);
    let both = chain.silu_gate()?.map(|at| node.inputs[at].node);
    let alike = |id: &NodeId| {
        products.contains(id)
            && readers[id.0].as_slice() == [last]
            && !graph.is_output(*id)
            && graph.node(*id).outputs == node.outputs
    };
    let fits = node.inputs.len() == 2 && both.iter().all(alike);
    fits.then(|| (last, both, chain.clone()))
}

/// What products of one row are given.
struct Given<'a, 'b> {
    x: &'b Elements,
    /// Of the norm.
    weight: Option<&'b Elements>,
    plus: Option<&'b Elements>,
    /// Codes, scales and biases of each.
    matrices: &'a [&'b Elements],
}

impl Siblings {
    fn given<'a, 'b>(&self, inputs: &'a [&'b Elements]) -> Option<Given<'a, 'b>> {
        let mut inputs = inputs.iter();
        let x = inputs.next()?;
        let weight = self.norm.as_ref().and_then(|_| inputs.next());
        let plus = self.has_plus.then(|| inputs.next()).flatten();
        let matrices = inputs.as_slice();
        let fits = matrices.len() == 3 * self.types.len()
            && weight.is_some() == self.norm.is_some()
            && plus.is_some() == self.has_plus;
        fits.then_some(Given {
            x,
            weight: weight.copied(),
            plus: plus.copied(),
            matrices,
        })
    }
}

impl Place {
    /// Queues products of one row; `None` if an operation has no form here. Kernels of chains that are not compiled yet
    /// are added to `waiting`.
    pub(super) fn siblings(
        self: &Arc<Self>,
        siblings: &Siblings,
        inputs: &[&Elements],
        waiting: &mut Vec<Arc<ChainKernel>>,
    ) -> Result<Option<Vec<Elements>>> {
        let Some(given) = siblings.given(inputs) else {
            return Ok(None);
        };
        let norm = siblings.norm.as_ref().zip(given.weight);
        // A norm that products cannot make themselves is a launch of its own.
        let within = norm.filter(|(_, weight)| self.lanes_of_norm(given.x, weight).is_some());
        let within = within.map(|((eps, _), weight)| (eps.get() as f32, weight));
        let made = match within {
            Some(_) => self.joined_products(siblings, &given, within)?,
            None => None,
        };
        if let Some(made) = made {
            return self.gated(siblings, made, waiting);
        }
        let normed = match norm {
            Some(((eps, ty), weight)) => {
                match self.run_one(&Op::RmsNorm(*eps), &[given.x, weight], ty)? {
                    Some(made) => made,
                    None => return Ok(None),
                }
            }
            None => given.x.clone(),
        };
        let given = Given {
            x: &normed,
            ..given
        };
        let made = match self.joined_products(siblings, &given, None)? {
            Some(made) => Some(made),
            None => self.single_products(siblings, &given)?,
        };
        match made {
            Some(made) => self.gated(siblings, made, waiting),
            None => Ok(None),
        }
    }

    /// What the gate makes of the products' results, if they are not gated by now.
    fn gated(
        self: &Arc<Self>,
        siblings: &Siblings,
        made: Vec<Elements>,
        waiting: &mut Vec<Arc<ChainKernel>>,
    ) -> Result<Option<Vec<Elements>>> {
        let (Some(chain), [gate, up]) = (&siblings.gate, made.as_slice()) else {
            return Ok(Some(made));
        };
        let inputs = match chain.silu_gate() {
            Some([0, 1]) => [gate, up],
            _ => [up, gate],
        };
        let made = self.chain(chain, &inputs, waiting)?;
        Ok(made.map(|made| vec![made]))
    }

    /// Products of a row that is normed by now, one after the other.
    fn single_products(
        self: &Arc<Self>,
        siblings: &Siblings,
        given: &Given<'_, '_>,
    ) -> Result<Option<Vec<Elements>>> {
        let op = Op::QuantizedMatmul {
            quantization: siblings.quantization,
            transpose: true,
        };
        let mut all = Vec::with_capacity(siblings.types.len());
        for (ty, matrix) in siblings.types.iter().zip(given.matrices.chunks(3)) {
            let mut made = self.run_one(&op, &[&[given.x], matrix].concat(), ty)?;
            if let (Some(product), Some(plus)) = (&made, given.plus) {
                made = self.run_one(&Op::Binary(Binary::Add), &[product, plus], ty)?;
            }
            match made {
                Some(made) => all.push(made),
                None => return Ok(None),
            }
        }
        Ok(Some(all))
    }

    /// Threads that share a row whose norm products may make themselves.
    fn lanes_of_norm(&self, x: &Elements, weight: &Elements) -> Option<u32> {
        let lies_well = |x: &Elements| x.dtype() == Dtype::F32 && x.layout().is_rows();
        let columns = x.layout().sizes.last().copied()?;
        let weight = [Some(weight.clone())];
        let fits = lies_well(x) && weight.iter().flatten().all(lies_well);
        lanes_of(x, columns, &weight).filter(|_| fits)
    }

    /// All in one launch, gated where it can be; `None` if there is no kernel for it.
    fn joined_products(
        self: &Arc<Self>,
        siblings: &Siblings,
        given: &Given<'_, '_>,
        norm: Option<(f32, &Elements)>,
    ) -> Result<Option<Vec<Elements>>> {
        let &Given {
            x, plus, matrices, ..
        } = given;
        let (q, dtype) = (&siblings.quantization, x.dtype());
        let facts = self.device.facts();
        let k = x.count();
        let Some(of_scales) = matrices.get(1).map(|scales| scales.dtype()) else {
            return Ok(None);
        };
        let Some(shared) = warps_shared(q, k, of_scales) else {
            return Ok(None);
        };
        let of_scales_fits = match dtype {
            Dtype::F32 => matches!(of_scales, Dtype::F32 | Dtype::F16 | Dtype::Bf16),
            Dtype::F16 | Dtype::Bf16 => of_scales == dtype,
            _ => false,
        };
        let lies_well = |x: &&Elements| x.layout().is_rows();
        let whole = matrices.chunks(3).all(|matrix| match matrix {
            [codes, scales, biases] => {
                codes.dtype() == Dtype::U32
                    && codes.is_aligned(16)
                    && [scales, biases].iter().all(|x| x.dtype() == of_scales)
                    && matrix.iter().all(lies_well)
            }
            _ => false,
        });
        let others = [Some(x), plus];
        let others = others.iter().flatten().all(lies_well);
        if facts.platform != Platform::Cuda || !of_scales_fits || !whole || !others {
            return Ok(None);
        }
        let mut name = format!("mlxrocm_array_products_warps_codes_{}", suffix(dtype));
        if of_scales != dtype {
            name = format!("{name}_{}", suffix(of_scales));
        }
        let Ok(kernel) = self.device.kernel(&name) else {
            return Ok(None);
        };
        let mut columns = [0; MOST];
        let counts = siblings.types.iter().map(|ty| ty.shape.numbers());
        for (to, sizes) in columns.iter_mut().zip(counts) {
            *to = sizes.map_or(0, |sizes| sizes.iter().product());
        }
        let gate = siblings.gate.as_ref();
        let gate = gate.filter(|_| columns[0].is_multiple_of(8));
        let mut made = Vec::with_capacity(siblings.types.len());
        for ty in siblings.types.iter().take(gate.map_or(MOST, |_| 1)) {
            let Some(sizes) = ty.shape.numbers() else {
                return Ok(None);
            };
            match self.new_rows(&sizes, dtype)? {
                Some((out, count)) if count > 0 => made.push(out),
                _ => return Ok(None),
            }
        }
        let mut args = Args::new().buffer("x", x.buffer(), x.offset());
        for (name, x) in [("weight", norm.map(|(_, weight)| weight)), ("plus", plus)] {
            args = args.buffer_or_null(name, x.map(|x| (x.buffer(), x.offset())));
        }
        // What is not there has no columns.
        for (place, [codes, scales, biases, out, _]) in NAMES.iter().enumerate() {
            let all = [codes, scales, biases];
            for (name, at) in all.into_iter().zip(3 * place..) {
                let x = matrices.get(at);
                args = args.buffer_or_null(*name, x.map(|x| (x.buffer(), x.offset())));
            }
            let out_of = made.get(place);
            args = args.buffer_or_null(*out, out_of.map(|x| (x.buffer(), 0)));
        }
        let mut tiles = 0;
        for ([.., n], columns) in NAMES.iter().zip(columns) {
            tiles += columns.div_ceil(16);
            args = args.u32(*n, columns as u32);
        }
        let across = tiles.min((facts.compute_units as usize).max(1));
        let weight = norm.map(|(_, weight)| weight);
        let stays = replay::stay(matrices) && weight.is_none_or(|weight| replay::stay(&[weight]));
        // Behind a launch that leaves multiprocessors free blocks wait long enough for all stages.
        let units = facts.compute_units as u64;
        let early = match replay::blocks_in_front() {
            Some(blocks) if 2 * blocks <= units => STAGES as u32,
            _ => 1,
        };
        let lanes = norm.and_then(|(_, weight)| self.lanes_of_norm(x, weight));
        let args = args
            .u32("k", k as u32)
            .u32("group", q.group as u32)
            .u32("across", across as u32)
            .u32("lanes", lanes.unwrap_or(0))
            .f32("eps", norm.map_or(0.0, |(eps, _)| eps))
            .u32("early", early)
            .u32("stays", stays.into())
            .u32("gated", gate.is_some().into());
        let block = ([ROW_THREADS, 1, 1], shared as u32);
        self.launch_blocks(&kernel, [across as u32, 1, 1], block, &args)?;
        super::joined::count(
            siblings.types.len()
                + usize::from(norm.is_some())
                + usize::from(plus.is_some())
                + gate.map_or(0, |chain| chain.operations()),
        );
        Ok(Some(made))
    }
}
