//! A graph becomes a program: constants are computed and packed, elementwise operations that follow each other
//! become chains, every result gets its place.

use super::chain::{Argument, Call, Chain, Cycle, cycle};
use super::run::refused;
use super::{Attention, Buffer, Input, Program, Source, Step, Work};
use crate::Result;
use crate::cpu::elements::Elements;
use crate::cpu::evaluate::results;
use crate::cpu::kernels::Function;
use crate::cpu::products::Panels;
use crate::cpu::scores::Sizes;
use crate::cpu::winograd::Winograd;
use crate::ir::{Binary, Conv, Dtype, Graph, Layout, Node, NodeId, Op, Reduce, Type, Unary, Value};
use crate::step::place;
use std::collections::HashMap;

/// What is known of a value.
#[derive(Clone)]
enum Known {
    /// Its elements.
    Elements(Elements),
    /// Where each item has it.
    Item(Source),
}

struct Planner<'a> {
    graph: &'a Graph,
    values: HashMap<Value, Known>,
    buffers: Vec<Buffer>,
    steps: Vec<Step>,
    chain: Open,
}

/// The chain that operations are added to.
#[derive(Default)]
struct Open {
    calls: Vec<Call>,
    count: usize,
}

impl Program {
    /// Of a graph of one item whose leaves are `leaves`; those named by `inputs` are given anew for each run.
    ///
    /// # Errors
    /// `Internal` for inputs and results that a program has no place for; those of constants' operations.
    pub fn new(graph: &Graph, leaves: &[Elements], inputs: &[usize]) -> Result<Program> {
        let mut planner = Planner {
            graph,
            values: HashMap::new(),
            buffers: Vec::new(),
            steps: Vec::new(),
            chain: Open::default(),
        };
        let mut given = vec![0; inputs.len()];
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
                Some(input) => given[input] = planner.make(value)?,
                None => {
                    let elements = leaves.get(leaf).cloned();
                    let elements = elements.ok_or_else(|| refused("a leaf without elements"))?;
                    planner.values.insert(value, Known::Elements(elements));
                }
            }
        }
        planner.close();
        let outputs = graph.outputs.iter().map(|&value| planner.whole(value));
        let outputs = outputs.collect::<Result<Vec<usize>>>()?;
        let Planner {
            mut buffers,
            mut steps,
            ..
        } = planner;
        // What only its own chain reads needs no buffer.
        let mut uses = vec![0; buffers.len()];
        let touched = steps.iter().flat_map(Step::touched);
        touched
            .chain(outputs.iter().copied())
            .for_each(|id| uses[id] += 1);
        for step in &mut steps {
            if let Work::Chain(chain) = &mut step.work {
                chain.keep(|buffer| uses[buffer] > 1);
            }
        }
        let mut lives = vec![None; buffers.len()];
        let mut touch = |buffer: usize, step: usize| {
            let life: &mut Option<(usize, usize)> = &mut lives[buffer];
            *life = Some((life.map_or(step, |life| life.0), step));
        };
        given.iter().for_each(|&input| touch(input, 0));
        for (at, step) in steps.iter().enumerate() {
            step.touched().into_iter().for_each(|id| touch(id, at));
        }
        outputs.iter().for_each(|&id| touch(id, steps.len()));
        let widths: Vec<usize> = buffers.iter().map(|buffer| buffer.count).collect();
        let (offsets, width) = place(&lives, &widths);
        for (buffer, offset) in buffers.iter_mut().zip(offsets) {
            buffer.offset = offset;
        }
        Ok(Program {
            steps,
            buffers,
            width,
            inputs: given,
            outputs,
        })
    }
}

impl Step {
    /// The buffers that it reads or writes.
    fn touched(&self) -> Vec<usize> {
        let mut touched = self.outputs.clone();
        match &self.work {
            Work::Chain(chain) => touched = chain.touched(),
            Work::Copy(x)
            | Work::Product(x, _)
            | Work::Winograd(x, _)
            | Work::LayerNorm(x, ..)
            | Work::Softmax(x, _)
            | Work::Sums(x)
            | Work::Take(x, _) => touched.push(x.buffer),
            Work::Attention(of) => {
                touched.extend(of.sides.iter().chain(&of.mask).map(|source| source.buffer));
            }
            Work::Call(_, inputs, _) => touched.extend(inputs.iter().filter_map(|x| match x {
                Input::Item(source) => Some(source.buffer),
                Input::Known(_) => None,
            })),
        }
        touched
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
        _ => return None,
    })
}

impl Planner<'_> {
    /// A buffer for a result.
    fn buffer(&mut self, ty: &Type) -> Result<usize> {
        let count = ty.shape.count().filter(|_| ty.dtype.size() == 4);
        self.buffers.push(Buffer {
            dtype: ty.dtype,
            count: count.ok_or_else(|| refused(&format!("a result {} {}", ty.dtype, ty.shape)))?,
            offset: 0,
        });
        Ok(self.buffers.len() - 1)
    }

    /// The same, of a value.
    fn make(&mut self, value: Value) -> Result<usize> {
        let ty = self.graph.ty(value);
        let sizes = ty.shape.numbers();
        let sizes = sizes.ok_or_else(|| refused("a size that is not known"))?;
        let buffer = self.buffer(ty)?;
        let layout = Layout::rows(&sizes);
        self.values
            .insert(value, Known::Item(Source { buffer, layout }));
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
            self.steps.push(Step {
                work: Work::Chain(Chain::new(calls, count)),
                outputs: Vec::new(),
            });
        }
    }

    /// Adds a step that makes a node's results.
    fn push(&mut self, id: NodeId, work: Work) -> Result<()> {
        self.close();
        let outputs = (0..self.graph.node(id).outputs.len())
            .map(|output| self.make(Value { node: id, output }));
        let outputs = outputs.collect::<Result<_>>()?;
        self.steps.push(Step { work, outputs });
        Ok(())
    }

    /// Where a value lies row after row: where it is, or in a copy.
    fn rows(&mut self, value: Value) -> Result<Source> {
        let source = match self.known(value)? {
            Known::Item(source) if source.layout.is_rows() => return Ok(source.clone()),
            Known::Item(source) => source.clone(),
            Known::Elements(_) => return Err(refused("a constant where an item's value is")),
        };
        self.close();
        let buffer = self.buffer(self.graph.ty(value))?;
        let layout = Layout::rows(&source.layout.sizes);
        self.steps.push(Step {
            work: Work::Copy(source),
            outputs: vec![buffer],
        });
        let copy = Source { buffer, layout };
        self.values.insert(value, Known::Item(copy.clone()));
        Ok(copy)
    }

    /// A buffer that is this value and nothing else.
    fn whole(&mut self, value: Value) -> Result<usize> {
        let source = self.rows(value)?;
        match self.buffers[source.buffer].count == source.layout.count() {
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
            .insert(value, Known::Item(Source { buffer, layout }));
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
    fn fast(&mut self, node: &Node) -> Result<Option<Work>> {
        let inputs = node.inputs.as_slice();
        let sizes = |value: Value| self.graph.ty(value).shape.numbers().unwrap_or_default();
        Ok(match (&node.op, inputs) {
            (Op::Matmul, &[a, b]) => {
                let (Known::Elements(elements), &[inner, columns]) =
                    (self.known(b)?, sizes(b).as_slice())
                else {
                    return Ok(None);
                };
                let layout = elements.layout();
                let numbers: &[f32] = bytemuck::cast_slice(&elements.bytes()[layout.offset * 4..]);
                let (k, n) = (layout.strides[0], layout.strides[1]);
                if k < 0 || n < 0 || inner * columns == 0 {
                    return Ok(None);
                }
                let panels = Panels::pack(numbers, inner, columns, (k as usize, n as usize));
                Some(Work::Product(self.rows(a)?, panels))
            }
            (Op::Convolution(conv), &[x, w]) => self.convolution(conv, x, w)?,
            (Op::LayerNorm { eps, .. }, &[x, weight, bias]) => {
                let vectors = (self.constant(weight), self.constant(bias));
                let (Some(weight), Some(bias)) = vectors else {
                    return Ok(None);
                };
                let eps = eps.get() as f32;
                Some(Work::LayerNorm(self.rows(x)?, [weight, bias], eps))
            }
            (Op::Softmax { .. }, &[x]) => match sizes(x).last() {
                Some(&row) if row > 0 => Some(Work::Softmax(self.rows(x)?, row)),
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
                    true => Some(Work::Sums(self.rows(x)?)),
                    false => None,
                }
            }
            (op @ Op::ScaledDotProductAttention { .. }, &[q, k, v, ref mask @ ..]) => {
                let Some(of) = Sizes::of(op, &sizes(q), &sizes(k), &sizes(v)) else {
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
                Some(Work::Attention(Box::new(Attention {
                    sizes: of,
                    sides,
                    mask,
                })))
            }
            _ => None,
        })
    }

    /// A convolution of boards by 3×3, or one that looks at single places and so is a product.
    fn convolution(&mut self, conv: &Conv, x: Value, w: Value) -> Result<Option<Work>> {
        let sizes = |value: Value| self.graph.ty(value).shape.numbers().unwrap_or_default();
        let (x_sizes, w_sizes) = (sizes(x), sizes(w));
        let Some(weights) = self.constant(w) else {
            return Ok(None);
        };
        if let Some(winograd) = Winograd::prepare(conv, &x_sizes, &w_sizes, &weights) {
            return Ok(Some(Work::Winograd(self.board(x)?, winograd)));
        }
        let around = conv.low.iter().chain(&conv.high).all(|&n| n == 0);
        let single = around && conv.groups == 1 && conv.stride.iter().all(|&n| n == 1);
        let dilated = conv.input_dilation.iter().any(|&n| n != 1);
        Ok(match w_sizes.as_slice() {
            &[outputs, 1, 1, inputs] if single && !dilated && inputs * outputs > 0 => {
                let panels = Panels::pack(&weights, inputs, outputs, (1, inputs));
                Some(Work::Product(self.rows(x)?, panels))
            }
            _ => None,
        })
    }

    /// As [`Planner::rows`], in a buffer that is nothing else.
    fn board(&mut self, value: Value) -> Result<Source> {
        let source = self.rows(value)?;
        match self.buffers[source.buffer].count == source.layout.count() {
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
        self.push(id, Work::Take(x, places))?;
        Ok(true)
    }

    /// Any operation, as arrays compute it.
    fn call(&mut self, id: NodeId, node: &Node) -> Result<()> {
        let input = |&value: &Value| {
            Ok(match self.known(value)?.clone() {
                Known::Elements(elements) => Input::Known(elements),
                Known::Item(source) => Input::Item(source),
            })
        };
        let inputs = node.inputs.iter().map(input).collect::<Result<Vec<_>>>()?;
        let sizes: Option<Vec<_>> = node.outputs.iter().map(|ty| ty.shape.numbers()).collect();
        let sizes = sizes.ok_or_else(|| refused("a size that is not known"))?;
        self.push(id, Work::Call(node.op.clone(), inputs, sizes))
    }
}
