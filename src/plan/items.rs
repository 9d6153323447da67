//! A graph of one item becomes steps that run for any number of items: constants are computed, elementwise
//! operations that follow each other become chains, every result gets its place.

mod chains;
mod forms;
#[cfg(test)]
mod tests;

use chains::{Open, function};

use crate::cpu::{Elements, results};
use crate::ir::{Dtype, Graph, Layout, Node, NodeId, Op, Type, Value};
use crate::step::{ItemBuffer, ItemInput, ItemSource, ItemStep, ItemWork, Items};
use crate::{Error, Result};
use std::collections::HashMap;

/// What is known of a value.
#[derive(Clone)]
enum Known {
    /// Its elements.
    Elements(Elements),
    /// Where each item has it.
    Item(ItemSource),
}

struct Planner<'a> {
    graph: &'a Graph,
    values: HashMap<Value, Known>,
    items: Items,
    constants: Vec<Elements>,
    chain: Open,
}

/// The steps of a graph of one item whose leaves are `leaves`, and its constants. Leaves named by `inputs` are given
/// anew for each run.
///
/// # Errors
/// `Internal` for inputs and results that steps have no place for; those of constants' operations.
pub fn items(
    graph: &Graph,
    leaves: &[Elements],
    inputs: &[usize],
) -> Result<(Items, Vec<Elements>)> {
    let mut planner = Planner {
        graph,
        values: HashMap::new(),
        items: Items::default(),
        constants: Vec::new(),
        chain: Open::default(),
    };
    planner.items.inputs = vec![0; inputs.len()];
    for (place, node) in graph.nodes.iter().enumerate() {
        let id = NodeId(place);
        let Op::Leaf(leaf) = node.op else {
            planner.lower(id, node)?;
            continue;
        };
        let value = Value {
            node: id,
            output: 0,
        };
        match inputs.iter().position(|&input| input == leaf) {
            Some(input) => planner.items.inputs[input] = planner.make(value)?,
            None => {
                let elements = leaves.get(leaf).cloned();
                let elements = elements.ok_or_else(|| refused("a leaf without elements"))?;
                planner.values.insert(value, Known::Elements(elements));
            }
        }
    }
    planner.close();
    let outputs = graph.outputs.iter().map(|&value| planner.whole(value));
    planner.items.outputs = outputs.collect::<Result<Vec<usize>>>()?;
    let Planner {
        mut items,
        constants,
        ..
    } = planner;
    items.drop_inner_results();
    items.place();
    Ok((items, constants))
}

/// The refusal of what steps of items cannot hold.
fn refused(what: &str) -> Error {
    Error::Internal(format!("a program met {what}"))
}

impl Planner<'_> {
    /// A buffer for a result.
    fn buffer(&mut self, ty: &Type) -> Result<usize> {
        let count = ty.shape.count().filter(|_| ty.dtype.size() == 4);
        self.items.buffers.push(ItemBuffer {
            dtype: ty.dtype,
            count: count.ok_or_else(|| refused(&format!("a result {} {}", ty.dtype, ty.shape)))?,
            offset: 0,
        });
        Ok(self.items.buffers.len() - 1)
    }

    /// The same, of a value.
    fn make(&mut self, value: Value) -> Result<usize> {
        let ty = self.graph.ty(value);
        let sizes = ty.shape.numbers();
        let sizes = sizes.ok_or_else(|| refused("a size that is not known"))?;
        let buffer = self.buffer(ty)?;
        let layout = Layout::rows(&sizes);
        self.values
            .insert(value, Known::Item(ItemSource { buffer, layout }));
        Ok(buffer)
    }

    fn known(&self, value: Value) -> Result<&Known> {
        let known = self.values.get(&value);
        known.ok_or_else(|| refused("a value before its operation"))
    }

    /// Adds a step that makes a node's results.
    fn push(&mut self, id: NodeId, work: ItemWork) -> Result<()> {
        self.close();
        let outputs = (0..self.graph.node(id).outputs.len())
            .map(|output| self.make(Value { node: id, output }));
        let outputs = outputs.collect::<Result<_>>()?;
        self.items.steps.push(ItemStep { work, outputs });
        Ok(())
    }

    /// Where a value lies row after row: where it is, or in a copy.
    fn rows(&mut self, value: Value) -> Result<ItemSource> {
        let source = match self.known(value)? {
            Known::Item(source) if source.layout.is_rows() => return Ok(source.clone()),
            Known::Item(source) => source.clone(),
            Known::Elements(_) => return Err(refused("a constant where an item's value is")),
        };
        self.close();
        let buffer = self.buffer(self.graph.ty(value))?;
        let layout = Layout::rows(&source.layout.sizes);
        self.items.steps.push(ItemStep {
            work: ItemWork::Copy(source),
            outputs: vec![buffer],
        });
        let copy = ItemSource { buffer, layout };
        self.values.insert(value, Known::Item(copy.clone()));
        Ok(copy)
    }

    /// A buffer that is this value and nothing else.
    fn whole(&mut self, value: Value) -> Result<usize> {
        let source = self.rows(value)?;
        match self.items.buffers[source.buffer].count == source.layout.count() {
            true => Ok(source.buffer),
            false => Err(refused("a result that is part of another")),
        }
    }

    fn lower(&mut self, id: NodeId, node: &Node) -> Result<()> {
        let known = node.inputs.iter().map(|&input| self.known(input));
        let known = known.collect::<Result<Vec<_>>>()?;
        let constants: Option<Vec<&Elements>> = known
            .iter()
            .map(|known| match known {
                Known::Elements(elements) => Some(elements),
                Known::Item(_) => None,
            })
            .collect();
        if let Some(constants) = constants {
            for (output, elements) in results(node, &constants)?.into_iter().enumerate() {
                let value = Value { node: id, output };
                self.values.insert(value, Known::Elements(elements));
            }
            return Ok(());
        }
        if node.op.may_be_view() && self.view(id, node)? {
            return Ok(());
        }
        let f32s = |value: &Value| self.graph.ty(*value).dtype == Dtype::F32;
        if !node.inputs.iter().all(f32s) || node.outputs.iter().any(|ty| ty.dtype != Dtype::F32) {
            return match self.take(id, node)? {
                true => Ok(()),
                false => self.call(id, node),
            };
        }
        if let Some(function) = function(&node.op) {
            return self.element(id, node, function);
        }
        match self.fast(node)? {
            Some(work) => self.push(id, work),
            None => self.call(id, node),
        }
    }

    /// Another layout of the same elements, if it can be.
    fn view(&mut self, id: NodeId, node: &Node) -> Result<bool> {
        let (Some(&x), [ty]) = (node.inputs.first(), node.outputs.as_slice()) else {
            return Ok(false);
        };
        let Known::Item(source) = self.known(x)?.clone() else {
            return Ok(false);
        };
        let mut view = source.layout.view(&node.op, &ty.shape);
        let mut buffer = source.buffer;
        if view.is_none() && !source.layout.is_rows() {
            let rows = self.rows(x)?;
            (buffer, view) = (rows.buffer, rows.layout.view(&node.op, &ty.shape));
        }
        let Some(layout) = view else {
            return Ok(false);
        };
        let value = Value {
            node: id,
            output: 0,
        };
        self.values
            .insert(value, Known::Item(ItemSource { buffer, layout }));
        Ok(true)
    }

    /// Keeps a constant; its number.
    fn keep(&mut self, elements: Elements) -> usize {
        self.constants.push(elements);
        self.constants.len() - 1
    }

    /// Any operation, as arrays compute it.
    fn call(&mut self, id: NodeId, node: &Node) -> Result<()> {
        let mut input = |&value: &Value| {
            Ok(match self.known(value)?.clone() {
                Known::Elements(elements) => ItemInput::Known(self.keep(elements)),
                Known::Item(source) => ItemInput::Item(source),
            })
        };
        let inputs = node
            .inputs
            .iter()
            .map(&mut input)
            .collect::<Result<Vec<_>>>()?;
        let sizes: Option<Vec<_>> = node.outputs.iter().map(|ty| ty.shape.numbers()).collect();
        let sizes = sizes.ok_or_else(|| refused("a size that is not known"))?;
        self.push(id, ItemWork::Call(node.op.clone(), inputs, sizes))
    }
}
