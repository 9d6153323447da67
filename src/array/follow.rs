//! A graph compared with one that is known, part by part, without being built: a step of a loop that was planned costs no
//! memory of its own.

use super::Array;
use super::collect::Parts;
use super::home::{Data, Home};
use crate::ir::{Graph, LeafForm, Node, NodeId, Op, Type, Value};

/// What differs from one run of a graph to the next.
#[derive(Default)]
pub(super) struct Found {
    pub leaves: Vec<Data>,
    /// The array of each output.
    pub arrays: Vec<Array>,
}

/// The known graph, and how far it was followed.
pub(super) struct Follower<'a> {
    graph: &'a Graph,
    leaves: &'a [LeafForm],
    /// Where its operations are computed; views on the way there may be on the CPU.
    home: &'a Home,
    at: usize,
    found: &'a mut Found,
}

impl<'a> Follower<'a> {
    /// Before the first part.
    pub fn new(
        graph: &'a Graph,
        leaves: &'a [LeafForm],
        home: &'a Home,
        found: &'a mut Found,
    ) -> Self {
        found.leaves.clear();
        found.arrays.clear();
        found.leaves.reserve(leaves.len());
        Follower {
            graph,
            leaves,
            home,
            at: 0,
            found,
        }
    }

    /// Whether it was followed to its end.
    pub fn is_at_end(&self) -> bool {
        let outputs = self.found.arrays.len();
        self.at == self.graph.nodes.len() && outputs == self.graph.outputs.len()
    }

    /// The node that comes next.
    fn next(&mut self, is_it: impl FnOnce(&Node) -> bool) -> Option<usize> {
        self.graph.nodes.get(self.at).filter(|node| is_it(node))?;
        self.at += 1;
        Some(self.at - 1)
    }
}

/// How a leaf lies.
pub(super) fn form(leaf: &Data) -> LeafForm {
    match leaf {
        Data::Host(elements) => LeafForm {
            on_device: false,
            layout: elements.layout().clone(),
            is_given: false,
        },
        Data::Device(elements) => LeafForm {
            on_device: true,
            layout: elements.layout().clone(),
            is_given: elements.is_given(),
        },
    }
}

fn has_form(leaf: &Data, form: &LeafForm) -> bool {
    match leaf {
        Data::Host(elements) => !form.on_device && *elements.layout() == form.layout,
        Data::Device(elements) => {
            form.on_device
                && elements.is_given() == form.is_given
                && *elements.layout() == form.layout
        }
    }
}

impl Parts for Follower<'_> {
    fn leaf(&mut self, array: &Array, data: Data) -> Option<usize> {
        let number = self.found.leaves.len();
        let form = self.leaves.get(number)?;
        let node = self.next(|node| {
            node.op == Op::Leaf(number)
                && node.outputs.first() == Some(&array.0.ty)
                && has_form(&data, form)
        });
        // Kept even if it is another: to drop it may call the application.
        self.found.leaves.push(data);
        node
    }

    fn call(&mut self, op: &Op, home: &Home, inputs: &[Value], outputs: &[Type]) -> Option<usize> {
        let (graph, place) = (self.graph, NodeId(self.at));
        let is_here = home == self.home
            || (*home == Home::Cpu && op.may_be_view() && !graph.is_output(place));
        self.next(|node| {
            is_here && node.op == *op && node.inputs == inputs && node.outputs == outputs
        })
    }

    fn output(&mut self, array: &Array, value: Value) -> Option<()> {
        let number = self.found.arrays.len();
        self.found.arrays.push(array.clone());
        (*self.graph.outputs.get(number)? == value).then_some(())
    }
}
