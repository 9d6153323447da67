//! Chains: functions of elements one after the other, a block at a time, so that what is between them stays in the first
//! cache.

use super::blocks::{BLOCK, Narrow, Widen, parts, round};
use super::functions::{Apply, Function};
use super::level::{Float, at_best};
use super::source::Source;
use crate::cpu::ops::{Out, View};
use crate::cpu::threads::ThreadPool;
use crate::ir::{Binary, Dtype, Op, Unary};
use half::{bf16, f16};
use smallvec::SmallVec;

/// What a function of a chain takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    /// A block of an input.
    Input(usize),
    /// What an earlier call of the chain made.
    Made(usize),
}

/// A call of a chain; of functions of one element both arguments are it.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    pub function: Function,
    pub arguments: [Argument; 2],
}

/// Functions of elements one after the other; the last one's result is the chain's.
#[derive(Debug, Clone)]
pub struct Chain {
    steps: SmallVec<[Call; 1]>,
    /// Where each step's result is while it is needed.
    slots: SmallVec<[usize; 1]>,
    count: usize,
}

impl Chain {
    /// Of steps that each are asked for by a later one, but for the last.
    pub fn new(steps: SmallVec<[Call; 1]>) -> Chain {
        let mut last: SmallVec<[usize; 1]> = SmallVec::from_elem(usize::MAX, steps.len());
        for (place, step) in steps.iter().enumerate() {
            for argument in step.arguments {
                if let Argument::Made(made) = argument {
                    last[made] = place;
                }
            }
        }
        let mut free: Vec<usize> = Vec::new();
        let (mut slots, mut count) = (SmallVec::new(), 0);
        for place in 0..steps.len() {
            // A result is not written where its arguments are.
            slots.push(free.pop().unwrap_or_else(|| {
                count += 1;
                count - 1
            }));
            free.extend(
                (0..place)
                    .filter(|&made| last[made] == place)
                    .map(|made| slots[made]),
            );
        }
        Chain {
            steps,
            slots,
            count,
        }
    }

    /// A single function.
    pub fn one(function: Function) -> Chain {
        let second = match function {
            Function::One(_) => 0,
            Function::Two(_) => 1,
        };
        let arguments = [Argument::Input(0), Argument::Input(second)];
        let step = Call {
            function,
            arguments,
        };
        Chain::new(SmallVec::from_elem(step, 1))
    }

    /// Runs it on inputs of the result's shape.
    pub fn run<T: Float>(
        &self,
        inputs: &[Source<'_, T>],
        out: &mut [T],
        pool: Option<&mut ThreadPool>,
    ) {
        parts(out, 1, 32 * BLOCK, pool, &|start, out| {
            let block = BLOCK.min(out.len());
            let mut numbers = vec![0f32; (inputs.len() + self.count) * block];
            let mut elements = match T::as_singles(&[]) {
                Some(_) => Vec::new(),
                None => vec![T::zeroed(); block],
            };
            for (place, out) in out.chunks_mut(block).enumerate() {
                let start = start + place * block;
                self.block(inputs, start, block, &mut numbers, &mut elements, out);
            }
        });
    }

    fn block<T: Float>(
        &self,
        inputs: &[Source<'_, T>],
        start: usize,
        block: usize,
        numbers: &mut [f32],
        elements: &mut [T],
        out: &mut [T],
    ) {
        let len = out.len();
        let (of_inputs, made) = numbers.split_at_mut(inputs.len() * block);
        let mut read: SmallVec<[&[f32]; 4]> = SmallVec::new();
        for (input, room) in inputs.iter().zip(of_inputs.chunks_exact_mut(block)) {
            read.push(match T::as_singles_mut(&mut []) {
                // Elements that are f32 may stay where they are.
                Some(_) => {
                    let room: &mut [T] = bytemuck::cast_slice_mut(room);
                    bytemuck::cast_slice(input.block(start, len, room))
                }
                None => {
                    at_best(Widen(input.block(start, len, elements), &mut room[..len]));
                    &room[..len]
                }
            });
        }
        for (place, step) in self.steps.iter().enumerate() {
            let is_last = place + 1 == self.steps.len();
            let at = self.slots[place] * block;
            // The result's slot lies between those that are read.
            let (before, rest) = made.split_at_mut(at);
            let (slot, behind) = rest.split_at_mut(block);
            let side = |argument: Argument| match argument {
                Argument::Input(input) => read[input],
                Argument::Made(earlier) => {
                    let from = self.slots[earlier] * block;
                    match from < at {
                        true => &before[from..][..len],
                        false => &behind[from - at - block..][..len],
                    }
                }
            };
            let (a, b) = (side(step.arguments[0]), side(step.arguments[1]));
            let to = match T::as_singles_mut(out) {
                Some(out) if is_last => out,
                _ => &mut slot[..len],
            };
            at_best(Apply {
                function: step.function,
                a,
                b,
                out: to,
            });
            if !is_last {
                round::<T>(&mut slot[..len]);
            } else if T::as_singles(&[]).is_none() {
                at_best(Narrow(&slot[..len], out));
            }
        }
    }
}

/// The function of an operation on floats that chains have, if it is one: of this dtype, and rounded once.
pub fn function(op: &Op, dtype: Dtype) -> Option<Function> {
    let half = matches!(dtype, Dtype::F16 | Dtype::Bf16);
    if !half && dtype != Dtype::F32 {
        return None;
    }
    let function = match op {
        Op::Unary(Unary::LogicalNot) => return None,
        Op::Unary(kind) => Function::One(*kind),
        // The quotient of 16-bit numbers is rounded before it is rounded down.
        Op::Binary(Binary::FloorDivide) if half => return None,
        Op::Binary(kind) if !kind.is_comparison() => Function::Two(*kind),
        _ => return None,
    };
    function.is_known().then_some(function)
}

/// The inputs as sources; `None` if one is not aligned.
pub fn sources<'a, T: Float>(inputs: &[View<'a>]) -> Option<SmallVec<[Source<'a, T>; 2]>> {
    inputs.iter().map(Source::of).collect()
}

/// Runs a chain on inputs of a dtype; false if one is not aligned.
pub fn run_chain(
    chain: &Chain,
    inputs: &[View<'_>],
    out: &mut Out<'_>,
    pool: Option<&mut ThreadPool>,
) -> bool {
    macro_rules! of {
        ($t:ty) => {
            match sources::<$t>(inputs) {
                Some(inputs) => chain.run(&inputs, out.values::<$t>(), pool),
                None => return false,
            }
        };
    }
    match out.dtype() {
        Dtype::F32 => of!(f32),
        Dtype::F16 => of!(f16),
        Dtype::Bf16 => of!(bf16),
        _ => return false,
    }
    true
}
