//! Chains of functions as `hip/ops/network/chain.hip` takes them.

use super::launches::{Batch, THREADS};
use super::steps::VectorId;
use super::{missing, uploaded};
use crate::gpu::Args;
use crate::step::{Argument, Call, Chain, Function, ItemSource};
use crate::{Error, Result};

/// The most functions of a chain (`MOST_CALLS` of `hip/ops/network/chain.hip`).
const MOST_CALLS: usize = 24;

/// `TANGENT` of `enum Function` of `hip/ops/network/chain.hip`.
const TANGENT: u32 = 11;

/// `enum Function` of `hip/ops/network/chain.hip`.
fn function_number(function: Function) -> u32 {
    match function {
        Function::Add => 0,
        Function::Subtract => 1,
        Function::Multiply => 2,
        Function::Divide => 3,
        Function::Maximum => 4,
        Function::Minimum => 5,
        Function::Exp => 6,
        Function::Expm1 => 7,
        Function::Negative => 8,
        Function::Sigmoid => 9,
        Function::Square => 10,
    }
}

impl Batch<'_> {
    /// The hyperbolic tangent of each element.
    pub(super) fn tangent(&mut self, x: &ItemSource, out: usize) -> Result<()> {
        let call = Call {
            function: Function::Square,
            arguments: [
                Argument::Buffer(x.clone(), x.layout.count()),
                Argument::Number(0.0),
            ],
            out: Some(out),
        };
        let words = self.words(&call, &[None, None], Some(TANGENT))?;
        self.chain_launch(&words, 1, x.layout.count(), &[x.buffer], &[out])
    }

    /// Functions of each element that follow each other.
    pub(super) fn chain(
        &mut self,
        calls: &[Call],
        count: usize,
        vectors: &[[Option<VectorId>; 2]],
    ) -> Result<()> {
        if calls.len() > MOST_CALLS {
            return Err(missing("a chain of more than 24 functions"));
        }
        let mut words = Vec::new();
        for (call, vectors) in calls.iter().zip(vectors) {
            words.extend(self.words(call, vectors, None)?);
        }
        let chain = Chain {
            calls: calls.to_vec(),
            count,
        };
        let writes: Vec<usize> = calls.iter().filter_map(|call| call.out).collect();
        self.chain_launch(&words, calls.len(), count, &chain.read(), &writes)
    }

    fn chain_launch(
        &mut self,
        words: &[u32],
        calls: usize,
        count: usize,
        reads: &[usize],
        writes: &[usize],
    ) -> Result<()> {
        let words = uploaded(&self.network.device, bytemuck::cast_slice(words))?;
        let args = Args::new()
            .buffer(self.arena, 0)
            .buffer(&self.network.packed.vectors, 0)
            .buffer(&words, 0)
            .u32(calls as u32)
            .u32(count as u32);
        let grid = [(count as u32).div_ceil(THREADS), self.items as u32, 1];
        let kernel = self.kernel("chain")?;
        self.launch(&kernel, grid, (THREADS, 0), args, reads, writes)
    }

    /// A call as `hip/ops/network/chain.hip` has it.
    fn words(
        &self,
        call: &Call,
        vectors: &[Option<VectorId>; 2],
        function: Option<u32>,
    ) -> Result<Vec<u32>> {
        let plan = &self.network.plan;
        let halves = |at: u64| [at as u32, (at >> 32) as u32];
        let start = |buffer: usize| (plan.offsets[buffer] * self.items) as u64;
        let item = |buffer: usize| plan.counts[buffer] as u32;
        let mut words = vec![function.unwrap_or(function_number(call.function))];
        words.push(u32::from(call.out.is_some()));
        words.extend(halves(call.out.map_or(0, start)));
        words.push(call.out.map_or(0, item));
        for (argument, vector) in call.arguments.iter().zip(vectors) {
            let (kind, cycle, first, of_item, number) = match argument {
                Argument::Number(number) => (0, 1, 0, 0, number.to_bits()),
                Argument::Known(numbers) => {
                    let vector = vector.ok_or_else(|| {
                        Error::Internal("a chain without one of its vectors".into())
                    })?;
                    (1, numbers.len(), vector.first as u64, 0, 0)
                }
                Argument::Buffer(source, cycle) => {
                    let first = start(source.buffer) + source.layout.offset as u64;
                    (2, *cycle, first, item(source.buffer), 0)
                }
                Argument::Made(earlier) => (3, 1, 0, 0, *earlier as u32),
            };
            words.extend([kind, cycle.max(1) as u32]);
            words.extend(halves(first));
            words.extend([of_item, number]);
        }
        Ok(words)
    }
}
