//! Chains: functions of each element that follow each other, a block of elements at a time, so that what is
//! between them never leaves the cache.

use super::{Memory, Source};
use crate::cpu::kernels::{Function, Kernels, Side};
use crate::ir::Layout;

/// Elements of a block: what a chain makes of one stays in the first cache.
const BLOCK: usize = 512;

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

/// What a function of a chain takes.
#[derive(Debug, Clone)]
pub enum Argument {
    /// A number.
    Number(f32),
    /// Numbers that are known; their count is the cycle.
    Known(Vec<f32>),
    /// Numbers of a buffer, so many of them again and again.
    Buffer(Source, usize),
    /// The result of an earlier function.
    Made(usize),
}

/// A function of a chain.
#[derive(Debug, Clone)]
pub struct Call {
    /// Which.
    pub function: Function,
    /// Its arguments; functions of one element do not look at the second.
    pub arguments: [Argument; 2],
    /// The buffer of its result, unless only the chain reads it.
    pub out: Option<usize>,
}

/// A chain that is ready to run.
pub struct Chain {
    calls: Vec<Call>,
    /// Elements of an item.
    count: usize,
    block: usize,
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Chain {
    /// Of functions of `count` elements each; every one is asked for, by another or by a buffer.
    pub fn new(mut calls: Vec<Call>, count: usize) -> Chain {
        let arguments = || calls.iter().flat_map(|call| &call.arguments);
        let cycles: Vec<usize> = arguments()
            .filter_map(|argument| match argument {
                Argument::Known(numbers) => Some(numbers.len()),
                Argument::Buffer(_, cycle) => Some(*cycle),
                _ => None,
            })
            .filter(|&cycle| cycle != count)
            .collect();
        // A block begins where every cycle does, or lies within one.
        let unit = cycles.iter().copied().fold(0, gcd);
        let block = match unit {
            0 => BLOCK.min(count),
            unit => {
                let fits = |block: usize| {
                    cycles
                        .iter()
                        .all(|&cycle| cycle.is_multiple_of(block) || block.is_multiple_of(cycle))
                };
                let many = (1..=(BLOCK / unit).max(1)).rev();
                many.map(|n| n * unit)
                    .find(|&block| fits(block))
                    .unwrap_or(unit)
            }
        };
        // What is known is repeated once for all.
        for argument in calls.iter_mut().flat_map(|call| &mut call.arguments) {
            if let Argument::Known(numbers) = argument
                && numbers.len() < block
            {
                let cycle = std::mem::take(numbers);
                *numbers = cycle.into_iter().cycle().take(block).collect();
            }
        }
        Chain {
            calls,
            count,
            block,
        }
    }

    /// Elements of an item.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The buffers that it touches, each once.
    pub fn touched(&self) -> Vec<usize> {
        let read = self.calls.iter().flat_map(|call| &call.arguments);
        let read = read.filter_map(|argument| match argument {
            Argument::Buffer(source, _) => Some(source.buffer),
            _ => None,
        });
        let written = self.calls.iter().filter_map(|call| call.out);
        let mut touched: Vec<usize> = read.chain(written).collect();
        touched.sort_unstable();
        touched.dedup();
        touched
    }

    /// Lets go of buffers of results that nobody else reads.
    pub fn keep(&mut self, is_read: impl Fn(usize) -> bool) {
        for call in &mut self.calls {
            call.out = call.out.filter(|&buffer| is_read(buffer));
        }
    }

    /// Numbers of scratch memory that a worker needs: a block for each result, and for each cycle that is
    /// repeated.
    pub fn scratch(&self) -> usize {
        3 * self.calls.len() * self.block
    }

    /// Runs one item.
    ///
    /// # Safety
    /// Nobody else uses this item's part of the buffers; `scratch` is this call's.
    pub unsafe fn run(
        &self,
        kernels: &Kernels,
        memory: &Memory<'_>,
        item: usize,
        scratch: &mut [f32],
    ) {
        let block = self.block;
        let (results, repeated) = scratch.split_at_mut(self.calls.len() * block);
        for (call, repeated) in self.calls.iter().zip(repeated.chunks_exact_mut(2 * block)) {
            for (argument, to) in call.arguments.iter().zip(repeated.chunks_exact_mut(block)) {
                if let Argument::Buffer(source, cycle) = argument
                    && *cycle < block
                {
                    // SAFETY: the caller's promise; nothing writes what a chain reads from outside.
                    let from = unsafe { memory.numbers(source, item, *cycle) };
                    to.chunks_exact_mut(*cycle)
                        .for_each(|to| to.copy_from_slice(from));
                }
            }
        }
        for start in (0..self.count).step_by(block) {
            let len = block.min(self.count - start);
            for (place, call) in self.calls.iter().enumerate() {
                let (made, rest) = results.split_at_mut(place * block);
                let side = |of: usize| match &call.arguments[of] {
                    Argument::Number(number) => Side::Number(*number),
                    Argument::Known(numbers) => {
                        Side::Numbers(&numbers[start % numbers.len()..][..len])
                    }
                    Argument::Buffer(_, cycle) if *cycle < block => {
                        Side::Numbers(&repeated[(2 * place + of) * block..][..len])
                    }
                    Argument::Buffer(source, cycle) => {
                        // SAFETY: as above.
                        let numbers = unsafe { memory.numbers(source, item, *cycle) };
                        Side::Numbers(&numbers[start % cycle..][..len])
                    }
                    Argument::Made(earlier) => match self.calls[*earlier].out {
                        // SAFETY: this call wrote it, and nothing writes it again.
                        Some(buffer) => Side::Numbers(unsafe {
                            &memory.item(buffer, item).read()[start..start + len]
                        }),
                        None => Side::Numbers(&made[earlier * block..][..len]),
                    },
                };
                let out = match call.out {
                    // SAFETY: the caller's promise; the planner keeps results apart from arguments.
                    Some(buffer) => unsafe {
                        memory.item(buffer, item).part(start..start + len).write()
                    },
                    None => &mut rest[..len],
                };
                // SAFETY: the table is one that this CPU can run.
                unsafe { (kernels.elements)(call.function, side(0), side(1), out) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_of_layouts() {
        let of = |sizes: &[usize], strides: &[isize]| {
            cycle(&Layout {
                sizes: sizes.into(),
                strides: strides.into(),
                offset: 7,
            })
        };
        assert_eq!(of(&[2, 3, 4], &[12, 4, 1]), Some(Cycle::Every(24)));
        assert_eq!(of(&[2, 3, 4], &[0, 4, 1]), Some(Cycle::Every(12)));
        assert_eq!(of(&[2, 1, 4], &[0, 9, 1]), Some(Cycle::Every(4)));
        assert_eq!(of(&[2, 3], &[0, 0]), Some(Cycle::One));
        assert_eq!(of(&[], &[]), Some(Cycle::One));
        assert_eq!(of(&[2, 3], &[1, 0]), None);
        assert_eq!(of(&[2, 3], &[1, 2]), None);
    }
}
