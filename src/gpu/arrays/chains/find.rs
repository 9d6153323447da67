//! Chains in a graph.

use super::super::Elements;
use super::super::joined::{Joined, Part, Parts};
use super::super::numbers::{binary_number, is_known, unary_number};
use super::kernels::ChainKernel;
use super::source::Form;
use crate::Result;
use crate::ir::{Binary, Dtype, Graph, Node, NodeId, Op, Type, Unary, Value};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

/// Most operations and inputs of a chain: more take long to compile, or more arguments than kernels have.
const MOST: usize = 50;
const INPUTS: usize = 14;

/// Where an operation of a chain finds an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reads {
    /// An input of the chain.
    Input(usize),
    /// A result of an earlier operation of it.
    Member(usize),
}

#[derive(Debug)]
pub(super) struct Member {
    pub op: Op,
    pub inputs: Vec<Reads>,
    pub ty: Type,
}

/// Elementwise operations of which only the last one's result is asked for.
pub struct Chain {
    pub(super) members: Vec<Member>,
    /// Dtypes of the inputs.
    pub(super) inputs: Vec<Dtype>,
    ty: Type,
    /// The kernel of the form that was asked for first: inputs lie alike from then on, but for views that others took.
    kernel: OnceLock<(Form, Arc<ChainKernel>)>,
}

/// Whether kernels have a form of it that chains can take.
fn is_link(graph: &Graph, node: &Node) -> bool {
    let known = |value: &Value| is_known(graph.ty(*value).dtype);
    let types = node.outputs.len() == 1
        && is_known(node.outputs[0].dtype)
        && !node.inputs.is_empty()
        && node.inputs.iter().all(known)
        && node.outputs[0].shape.numbers().is_some();
    types
        && match &node.op {
            Op::Unary(function) => unary_number(*function).is_some(),
            Op::Binary(function) => {
                let [a, b] = node.inputs.as_slice() else {
                    return false;
                };
                binary_number(*function).is_some() && graph.ty(*a).dtype == graph.ty(*b).dtype
            }
            Op::AsType => true,
            Op::Select => node
                .inputs
                .first()
                .is_some_and(|c| graph.ty(*c).dtype == Dtype::Bool),
            _ => false,
        }
}

pub(super) fn chained(graph: &Graph, parts: &Parts) -> Option<Joined> {
    let nodes = graph.nodes.iter().enumerate();
    let links: Vec<bool> = nodes
        .map(|(place, node)| is_link(graph, node) && !parts.contains_key(&NodeId(place)))
        .collect();
    let readers = graph.readers();
    let mut taken = vec![false; graph.nodes.len()];
    let mut members_of: HashMap<usize, BTreeSet<usize>> = HashMap::new();
    for root in (0..graph.nodes.len()).rev() {
        if !links[root] || taken[root] {
            continue;
        }
        let mut members = BTreeSet::from([root]);
        // The latest first: all that reads it is decided then.
        let mut left: BTreeSet<usize> = graph.nodes[root].inputs.iter().map(|v| v.node.0).collect();
        while let Some(candidate) = left.pop_last() {
            let inner = readers[candidate]
                .iter()
                .all(|reader| members.contains(&reader.0));
            let fits = links[candidate]
                && !taken[candidate]
                && inner
                && members.len() < MOST
                && !graph.is_output(NodeId(candidate));
            if !fits {
                continue;
            }
            members.insert(candidate);
            if inputs(graph, &members).len() > INPUTS {
                members.remove(&candidate);
                continue;
            }
            left.extend(graph.nodes[candidate].inputs.iter().map(|v| v.node.0));
        }
        if members.len() > 1 {
            for &member in &members {
                taken[member] = true;
            }
            members_of.insert(root, members);
        }
    }
    if members_of.is_empty() {
        return None;
    }
    let mut new = vec![NodeId(0); graph.nodes.len()];
    let mut made = Graph::default();
    let mut made_parts = Parts::new();
    for (place, node) in graph.nodes.iter().enumerate() {
        let members = members_of.get(&place);
        if taken[place] && members.is_none() {
            continue;
        }
        let mut node = node.clone();
        if let Some(members) = members {
            node.inputs = inputs(graph, members);
            let chain = Arc::new(chain(graph, members, &node.inputs));
            made_parts.insert(NodeId(made.nodes.len()), Part::Chain(chain));
        }
        if let Some(part) = parts.get(&NodeId(place)) {
            made_parts.insert(NodeId(made.nodes.len()), part.clone());
        }
        for input in &mut node.inputs {
            input.node = new[input.node.0];
        }
        new[place] = made.push(node);
    }
    made.outputs = graph.outputs.clone();
    for output in &mut made.outputs {
        output.node = new[output.node.0];
    }
    Some(Joined {
        graph: made,
        parts: made_parts,
    })
}

/// What members read that is none of them, each once.
fn inputs(graph: &Graph, members: &BTreeSet<usize>) -> Vec<Value> {
    let mut inputs: Vec<Value> = Vec::new();
    for &member in members {
        for value in &graph.nodes[member].inputs {
            if !members.contains(&value.node.0) && !inputs.contains(value) {
                inputs.push(*value);
            }
        }
    }
    inputs
}

fn chain(graph: &Graph, members: &BTreeSet<usize>, inputs: &[Value]) -> Chain {
    let order: Vec<usize> = members.iter().copied().collect();
    let from = |value: &Value| {
        let member = order.iter().position(|&member| member == value.node.0);
        let input = || inputs.iter().position(|input| input == value).unwrap_or(0);
        member.map_or_else(|| Reads::Input(input()), Reads::Member)
    };
    let member = |&place: &usize| {
        let node = &graph.nodes[place];
        Member {
            op: node.op.clone(),
            inputs: node.inputs.iter().map(from).collect(),
            ty: node.outputs[0].clone(),
        }
    };
    let members: Vec<Member> = order.iter().map(member).collect();
    let last = order.last().map_or(0, |&last| last);
    Chain {
        members,
        inputs: inputs.iter().map(|value| graph.ty(*value).dtype).collect(),
        ty: graph.nodes[last].outputs[0].clone(),
        kernel: OnceLock::new(),
    }
}

impl Chain {
    /// Of its result.
    pub fn ty(&self) -> &Type {
        &self.ty
    }

    /// The kernel of a form, which `make` finds or begins to compile.
    pub(super) fn kernel(
        &self,
        form: Form,
        make: impl Fn() -> Arc<ChainKernel>,
    ) -> Arc<ChainKernel> {
        match self.kernel.get_or_init(|| (form, make())) {
            (first, kernel) if *first == form => kernel.clone(),
            _ => make(),
        }
    }

    /// The inputs whose silu(first) · second it is: `(first · sigmoid(first)) · second`, all of one type.
    pub(in super::super) fn silu_gate(&self) -> Option<[usize; 2]> {
        let [sigmoid, silu, last] = self.members.as_slice() else {
            return None;
        };
        let (Op::Unary(Unary::Sigmoid), &[Reads::Input(gate)]) =
            (&sigmoid.op, sigmoid.inputs.as_slice())
        else {
            return None;
        };
        let times = |member: &Member, one: Reads| match (&member.op, member.inputs.as_slice()) {
            (Op::Binary(Binary::Multiply), &[a, b]) if a == one => Some(b),
            (Op::Binary(Binary::Multiply), &[a, b]) if b == one => Some(a),
            _ => None,
        };
        let same = self.members.iter().all(|member| member.ty == self.ty)
            && self.inputs.iter().all(|dtype| *dtype == self.ty.dtype);
        match (times(silu, Reads::Member(0)), times(last, Reads::Member(1))) {
            (Some(Reads::Input(first)), Some(Reads::Input(up))) if first == gate && up != gate => {
                same.then_some([gate, up])
            }
            _ => None,
        }
    }

    /// Operations.
    pub fn operations(&self) -> usize {
        self.members.len()
    }

    /// Each operation by itself; `None` if `run` has no form of one.
    ///
    /// # Errors
    /// Those of `run`.
    pub(super) fn one_by_one(
        &self,
        inputs: &[&Elements],
        mut run: impl FnMut(&Op, &[&Elements], &Type) -> Result<Option<Elements>>,
    ) -> Result<Option<Elements>> {
        let mut made: Vec<Option<Elements>> = Vec::with_capacity(self.members.len());
        for (place, member) in self.members.iter().enumerate() {
            let find = |from: &Reads| match from {
                Reads::Input(at) => inputs.get(*at).copied(),
                Reads::Member(at) => made.get(*at).and_then(Option::as_ref),
            };
            let given: Option<Vec<&Elements>> = member.inputs.iter().map(find).collect();
            let Some(result) = (match given {
                Some(given) => run(&member.op, &given, &member.ty)?,
                None => None,
            }) else {
                return Ok(None);
            };
            made.push(Some(result));
            // What nobody reads any more is let go.
            for from in &member.inputs {
                let Reads::Member(at) = *from else { continue };
                let later = &self.members[place + 1..];
                if !later.iter().any(|member| member.inputs.contains(from)) {
                    made[at] = None;
                }
            }
        }
        Ok(made.pop().flatten())
    }
}
