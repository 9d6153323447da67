//! Chains of functions as `hip/ops/network/chain.hip` takes them.

use super::launches::{Batch, THREADS};
use super::missing;
use super::steps::VectorId;
use crate::driver::Platform;
use crate::gpu::Args;
use crate::gpu::constants::network_chain as constants;
use crate::step::{Argument, Call, Chain, Function};
use crate::{Error, Result};

/// Elements that keep a large device busy, one a thread.
const LONG_ELEMENTS: usize = 1 << 17;

/// `enum Function` of `hip/ops/network/chain.hip`.
fn function_number(function: Function) -> u32 {
    match function {
        Function::Add => constants::ADD,
        Function::Subtract => constants::SUBTRACT,
        Function::Multiply => constants::MULTIPLY,
        Function::Divide => constants::DIVIDE,
        Function::Maximum => constants::LARGER,
        Function::Minimum => constants::SMALLER,
        Function::Exp => constants::EXP,
        Function::Expm1 => constants::EXPM1,
        Function::Negative => constants::NEGATIVE,
        Function::Sigmoid => constants::LOGISTIC,
        Function::Square => constants::SQUARE,
        Function::Tanh => constants::TANGENT,
    }
}

impl Batch<'_> {
    /// Functions of each element that follow each other.
    pub(super) fn chain(&mut self, chain: &Chain, vectors: &[[Option<VectorId>; 2]]) -> Result<()> {
        let Chain { calls, count } = chain;
        if calls.len() > constants::MOST_CALLS {
            return Err(missing("a chain of that many functions"));
        }
        let mut words = Vec::new();
        for (call, vectors) in calls.iter().zip(vectors) {
            words.extend(self.words(call, vectors)?);
        }
        let bytes: &[u8] = bytemuck::cast_slice(&words);
        let words = self.network.device.alloc(bytes.len() as u64)?;
        self.stream.copy_to_device(&words, 0, bytes)?;
        let count = *count as u32;
        let args = Args::new()
            .buffer("arena", self.arena, 0)
            .buffer("constants", &self.network.packed.vectors, 0)
            .buffer("calls", &words, 0)
            .u32("call_count", calls.len() as u32)
            .u32("count", count);
        // As many blocks as a large device has room for, or an element a thread.
        let is_long = self.network.device.facts().platform == Platform::Cuda
            && calls.len() <= constants::LONG_CALLS
            && count as usize * self.items >= constants::LONG_EACH * LONG_ELEMENTS;
        let (kernel, of_block) = match is_long {
            true => ("chain_long", THREADS * constants::LONG_EACH as u32),
            false => ("chain", THREADS),
        };
        let grid = [count.div_ceil(of_block), self.items as u32, 1];
        let kernel = self.kernel(kernel)?;
        let writes: Vec<usize> = calls.iter().filter_map(|call| call.out).collect();
        self.launch(&kernel, grid, (THREADS, 0), args, &chain.read(), &writes)
    }

    /// A call as `hip/ops/network/chain.hip` has it.
    fn words(&self, call: &Call, vectors: &[Option<VectorId>; 2]) -> Result<Vec<u32>> {
        let plan = &self.network.plan;
        let halves = |at: u64| [at as u32, (at >> 32) as u32];
        // A wide buffer's place counts f32 numbers.
        let each = |buffer: usize| if plan.wide[buffer] { 2 } else { 1 };
        let start = |buffer: usize| (plan.offsets[buffer] * self.items / each(buffer)) as u64;
        let item = |buffer: usize| plan.counts[buffer] as u32;
        let mut words = vec![function_number(call.function)];
        words.push(call.out.map_or(0, |out| each(out) as u32));
        words.extend(halves(call.out.map_or(0, start)));
        words.push(call.out.map_or(0, item));
        for (argument, vector) in call.arguments.iter().zip(vectors) {
            let (kind, cycle, first, of_item, number) = match argument {
                Argument::Number(number) => (constants::NUMBER, 1, 0, 0, number.to_bits()),
                Argument::Known(numbers) => {
                    let vector = vector.ok_or_else(|| {
                        Error::Internal("a chain without one of its vectors".into())
                    })?;
                    let first = vector.first as u64;
                    (constants::CONSTANTS, numbers.len(), first, 0, 0)
                }
                Argument::Buffer(source, cycle) => {
                    let first = start(source.buffer) + source.layout.offset as u64;
                    let kind = match plan.wide[source.buffer] {
                        true => constants::WIDE,
                        false => constants::ELEMENTS,
                    };
                    (kind, *cycle, first, item(source.buffer), 0)
                }
                Argument::Made(earlier) => (constants::MADE, 1, 0, 0, *earlier as u32),
            };
            words.extend([kind, cycle.max(1) as u32]);
            words.extend(halves(first));
            words.extend([of_item, number]);
        }
        Ok(words)
    }
}
