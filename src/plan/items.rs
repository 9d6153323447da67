//! A graph of one item becomes steps that run for any number of items: constants are computed, elementwise
//! operations that follow each other become chains, every result gets its place.

#[cfg(test)]
mod tests;

use crate::cpu::{Elements, results};
use crate::ir::{Binary, Conv, Dtype, Graph, Layout, Node, NodeId, Op, Reduce, Type, Unary, Value};
use crate::step::{
    Argument, AttentionSizes, Call, Chain, Function, ItemAttention, ItemBuffer, ItemInput,
    ItemSource, ItemStep, ItemWork, Items,
};
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

/// The chain that operations are added to.
#[derive(Default)]
struct Open {
    calls: Vec<Call>,
    count: usize,
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

/// How an argument's elements follow from the result's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cycle {
    /// The same element for all.
    One,
    /// The first so many elements again and again.
    Every(usize),
}

/// The cycle of an array of this layout; `None`: it lies another way.
pub fn cycle(layout: &Layout) -> Option<Cycle> {
    let axes = layout.sizes.iter().zip(&layout.strides);
    let mut axes = axes.rev().filter(|&(&size, _)| size != 1).peekable();
    let mut period = 1;
    while let Some((&size, _)) = axes.next_if(|&(_, &stride)| stride == period as isize) {
        period *= size;
    }
    match (axes.all(|(_, &stride)| stride == 0), period) {
        (false, _) => None,
        (true, 1) => Some(Cycle::One),
        (true, period) => Some(Cycle::Every(period)),
    }
}

fn function(op: &Op) -> Option<Function> {
    Some(match op {
        Op::Binary(Binary::Add) => Function::Add,
        Op::Binary(Binary::Subtract) => Function::Subtract,
        Op::Binary(Binary::Multiply) => Function::Multiply,
        Op::Binary(Binary::Divide) => Function::Divide,
        Op::Binary(Binary::Maximum) => Function::Maximum,
        Op::Binary(Binary::Minimum) => Function::Minimum,
        Op::Unary(Unary::Exp) => Function::Exp,
        Op::Unary(Unary::Expm1) => Function::Expm1,
        Op::Unary(Unary::Negative) => Function::Negative,
        Op::Unary(Unary::Sigmoid) => Function::Sigmoid,
        Op::Unary(Unary::Square) => Function::Square,
        Op::Unary(Unary::Tanh) => Function::Tanh,
        _ => return None,
    })
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

    /// Ends the chain.
    fn close(&mut self) {
        let Open { calls, count, .. } = std::mem::take(&mut self.chain);
        if !calls.is_empty() {
            self.items.steps.push(ItemStep {
                work: ItemWork::Chain(Chain { calls, count }),
                outputs: Vec::new(),
            });
        }
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

    /// The elements of a constant row after row.
    fn constant(&self, value: Value) -> Option<Vec<f32>> {
        match self.values.get(&value) {
            Some(Known::Elements(elements)) if elements.dtype() == Dtype::F32 => {
                Some(elements.to_vec())
            }
            _ => None,
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

    /// Adds a function of each element to the chain, or begins one with it.
    fn element(&mut self, id: NodeId, node: &Node, function: Function) -> Result<()> {
        let value = Value {
            node: id,
            output: 0,
        };
        let count = self.graph.ty(value).shape.count().unwrap_or_default();
        if self.chain.count != count {
            self.close();
        }
        let mut arguments = [Argument::Number(0.0), Argument::Number(0.0)];
        for (argument, &input) in arguments.iter_mut().zip(&node.inputs) {
            *argument = self.argument(input, count)?;
        }
        // A copy on the way has closed the chain: what it made lies in buffers now.
        for (argument, &input) in arguments.iter_mut().zip(&node.inputs) {
            if self.chain.calls.is_empty() && matches!(argument, Argument::Made(_)) {
                *argument = self.argument(input, count)?;
            }
        }
        self.chain.count = count;
        let out = self.make(value)?;
        self.chain.calls.push(Call {
            function,
            arguments,
            out: Some(out),
        });
        Ok(())
    }

    fn argument(&mut self, value: Value, count: usize) -> Result<Argument> {
        let source = match self.known(value)?.clone() {
            Known::Elements(elements) => {
                let (numbers, cycle) = (elements.to_vec::<f32>(), cycle(elements.layout()));
                return Ok(match (numbers.first(), cycle) {
                    (Some(&number), Some(Cycle::One)) => Argument::Number(number),
                    (_, Some(Cycle::Every(period))) => Argument::Known(numbers[..period].to_vec()),
                    _ => Argument::Known(numbers),
                });
            }
            Known::Item(source) => source,
        };
        let made = |call: &Call| call.out == Some(source.buffer);
        let earlier = self.chain.calls.iter().position(made);
        let cycle = match cycle(&source.layout) {
            Some(Cycle::One) if count > 1 => Some(1),
            Some(Cycle::One) => Some(count),
            Some(Cycle::Every(period)) => Some(period),
            None => None,
        };
        match (earlier, cycle) {
            (Some(call), Some(cycle)) if cycle == count && source.layout.offset == 0 => {
                Ok(Argument::Made(call))
            }
            (Some(_), Some(cycle)) => {
                self.close();
                Ok(Argument::Buffer(source, cycle))
            }
            (None, Some(cycle)) => Ok(Argument::Buffer(source, cycle)),
            (_, None) => Ok(Argument::Buffer(self.rows(value)?, count)),
        }
    }

    /// A form of an f32 operation that programs have.
    fn fast(&mut self, node: &Node) -> Result<Option<ItemWork>> {
        let inputs = node.inputs.as_slice();
        let sizes = |value: Value| self.graph.ty(value).shape.numbers().unwrap_or_default();
        Ok(match (&node.op, inputs) {
            (Op::Matmul, &[a, b]) => {
                let (Known::Elements(elements), &[inner, columns]) =
                    (self.known(b)?, sizes(b).as_slice())
                else {
                    return Ok(None);
                };
                let negative = elements.layout().strides.iter().any(|&stride| stride < 0);
                if negative || inner * columns == 0 {
                    return Ok(None);
                }
                let matrix = self.keep(elements.clone());
                Some(ItemWork::Product(self.rows(a)?, matrix))
            }
            (Op::Convolution(conv), &[x, w]) => {
                let result = node.outputs.first().and_then(|ty| ty.shape.numbers());
                self.convolution(conv, (x, w), &result.unwrap_or_default())?
            }
            (Op::LayerNorm { eps, .. }, &[x, weight, bias]) => {
                let vectors = (self.constant(weight), self.constant(bias));
                let (Some(weight), Some(bias)) = vectors else {
                    return Ok(None);
                };
                Some(ItemWork::LayerNorm(self.rows(x)?, [weight, bias], *eps))
            }
            (Op::Softmax { .. }, &[x]) => match sizes(x).last() {
                Some(&row) if row > 0 => Some(ItemWork::Softmax(self.rows(x)?, row)),
                _ => None,
            },
            (Op::Reduce(Reduce::Sum, axes), &[x]) => {
                // All axes but the last one, and others of size 1.
                let sizes = sizes(x);
                let columns = *sizes.last().unwrap_or(&0);
                let kept = (0..sizes.len()).filter(|axis| !axes.contains(axis));
                let kept: usize = kept.map(|axis| sizes[axis]).product();
                let last = sizes.len().checked_sub(1);
                let fits = last.is_some_and(|last| !axes.contains(&last)) && kept == columns;
                match fits && columns > 0 {
                    true => Some(ItemWork::Sums(self.rows(x)?)),
                    false => None,
                }
            }
            (op @ Op::ScaledDotProductAttention { .. }, &[q, k, v, ref mask @ ..]) => {
                let Some(of) = AttentionSizes::of(op, &sizes(q), &sizes(k), &sizes(v)) else {
                    return Ok(None);
                };
                // Queries' columns are neighbours; keys and values may lie in any way.
                let mut side = |value: Value| match self.known(value)? {
                    Known::Item(source) if source.layout.strides[3] == 1 => Ok(source.clone()),
                    _ => self.rows(value),
                };
                let sides = [side(q)?, side(k)?, side(v)?];
                let mask = match mask.first() {
                    Some(&mask) => Some(self.rows(mask)?),
                    None => None,
                };
                Some(ItemWork::Attention(Box::new(ItemAttention {
                    sizes: of,
                    sides,
                    mask,
                })))
            }
            _ => None,
        })
    }

    /// A convolution by a constant; one that looks at single places is a product.
    fn convolution(
        &mut self,
        conv: &Conv,
        (x, w): (Value, Value),
        result: &[usize],
    ) -> Result<Option<ItemWork>> {
        let Known::Elements(weights) = self.known(w)? else {
            return Ok(None);
        };
        let around = conv.low.iter().chain(&conv.high).all(|&n| n == 0);
        let single = around && conv.groups == 1 && conv.stride.iter().all(|&n| n == 1);
        let dilated = conv.input_dilation.iter().any(|&n| n != 1);
        let sizes = weights.layout().sizes.clone();
        if let &[outputs, 1, 1, inputs] = sizes.as_slice()
            && single
            && !dilated
            && inputs * outputs > 0
        {
            let rows = match weights.layout().is_rows() {
                true => weights.clone(),
                false => Elements::from_slice(&weights.to_vec::<f32>(), Dtype::F32, &sizes)?,
            };
            let turned = Layout {
                sizes: [inputs, outputs].into_iter().collect(),
                strides: [1, inputs as isize].into_iter().collect(),
                offset: rows.layout().offset,
            };
            let matrix = rows.with(Dtype::F32, turned)?;
            let matrix = self.keep(matrix);
            return Ok(Some(ItemWork::Product(self.rows(x)?, matrix)));
        }
        let weights = weights.clone();
        let weights = self.keep(weights);
        Ok(Some(ItemWork::Convolution {
            conv: conv.clone(),
            x: self.board(x)?,
            w: weights,
            sizes: result.into(),
        }))
    }

    /// Keeps a constant; its number.
    fn keep(&mut self, elements: Elements) -> usize {
        self.constants.push(elements);
        self.constants.len() - 1
    }

    /// As [`Planner::rows`], in a buffer that is nothing else.
    fn board(&mut self, value: Value) -> Result<ItemSource> {
        let source = self.rows(value)?;
        match self.items.buffers[source.buffer].count == source.layout.count() {
            true => Ok(source),
            false => Err(refused("a convolution of part of a buffer")),
        }
    }

    /// Elements of a row at places that are known.
    fn take(&mut self, id: NodeId, node: &Node) -> Result<bool> {
        let (Op::Gather { axes, sizes }, &[x, index]) = (&node.op, node.inputs.as_slice()) else {
            return Ok(false);
        };
        let Known::Elements(places) = self.known(index)? else {
            return Ok(false);
        };
        let row = self.graph.ty(x).shape.numbers().unwrap_or_default();
        let (&[1, count], [1], [1, 1], Dtype::U32) = (
            row.as_slice(),
            axes.as_slice(),
            sizes.as_slice(),
            places.dtype(),
        ) else {
            return Ok(false);
        };
        let places = places.to_vec::<u32>();
        if places.iter().any(|&place| place as usize >= count) || self.graph.ty(x).dtype.size() != 4
        {
            return Ok(false);
        }
        let x = self.rows(x)?;
        self.push(id, ItemWork::Take(x, places))?;
        Ok(true)
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
