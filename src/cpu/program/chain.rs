//! Chains: functions of each element that follow each other, a block of elements at a time, so that what is
//! between them never leaves the cache.

use super::Memory;
use crate::cpu::kernels::{Kernels, Side};
use crate::step::{self, Argument, Call};

/// Elements of a block: what a chain makes of one stays in the first cache.
const BLOCK: usize = 512;

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
    pub fn new(chain: &step::Chain) -> Chain {
        let (mut calls, count) = (chain.calls.clone(), chain.count);
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
