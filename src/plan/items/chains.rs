//! Elementwise operations that follow each other become chains.

use super::{Known, Planner};
use crate::Result;
use crate::ir::{Binary, Layout, Node, NodeId, Op, Unary, Value};
use crate::step::{Argument, Call, Chain, Function, ItemStep, ItemWork};

/// The chain that operations are added to.
#[derive(Default)]
pub(super) struct Open {
    pub(super) calls: Vec<Call>,
    pub(super) count: usize,
}

pub(super) fn function(op: &Op) -> Option<Function> {
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

/// How an argument's elements follow from the result's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cycle {
    /// The same element for all.
    One,
    /// The first so many elements again and again.
    Every(usize),
}

/// The cycle of an array of this layout; `None`: it lies another way.
pub(super) fn cycle(layout: &Layout) -> Option<Cycle> {
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

impl Planner<'_> {
    /// Adds a function of each element to the chain, or begins one with it.
    pub(super) fn element(&mut self, id: NodeId, node: &Node, function: Function) -> Result<()> {
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

    /// Ends the chain.
    pub(super) fn close(&mut self) {
        let Open { calls, count, .. } = std::mem::take(&mut self.chain);
        if !calls.is_empty() {
            self.items.steps.push(ItemStep {
                work: ItemWork::Chain(Chain { calls, count }),
                outputs: Vec::new(),
            });
        }
    }
}
