//! A net's results for a text that is cut into steps.
#![allow(dead_code)] // each test program uses a part

use mlxrocm::Result;
use mlxrocm::cpu::{CpuExecutor, CpuWeights, ThreadPool};
use mlxrocm::graph::Rules;
use mlxrocm::model::weights::Source;
use mlxrocm::model::{KvType, Slice, Wanted, families};
use std::path::Path;
use std::sync::Arc;

/// A net on the CPU, for steps of up to 64 tokens, with four KV pages. Every tensor of its file is used.
pub fn executor(path: &Path, rules: Rules, threads: usize) -> CpuExecutor {
    let source = Source::open(path).unwrap();
    let (bound, schedule) = families::schedule(&source, rules).unwrap();
    assert_eq!(source.unused(), Vec::<String>::new());
    let mut pool = ThreadPool::new(threads);
    let weights = CpuWeights::new(bound.matrices, bound.vectors, &mut pool, &mut |_| Ok(()));
    let weights = Arc::new(weights.unwrap());
    CpuExecutor::new(weights, schedule, 64, 4, KvType::F16, threads).unwrap()
}

/// What `run` gives for all tokens, in steps of these sizes, then one by one; on the KV pages 2 and 0 unless it says
/// otherwise.
pub fn in_steps(
    tokens: &[u32],
    steps: &[usize],
    mut run: impl FnMut(Slice<'_>, &mut Vec<f32>) -> Result<()>,
) -> Result<Vec<f32>> {
    let (mut all, mut some, mut start) = (Vec::new(), Vec::new(), 0);
    let mut steps = steps.iter().copied();
    while start < tokens.len() {
        let end = (start + steps.next().unwrap_or(1)).min(tokens.len());
        let slice = Slice {
            tokens: &tokens[start..end],
            start,
            pages: &[2, 0],
            wanted: Wanted::All,
            slot: 0,
        };
        run(slice, &mut some)?;
        all.extend_from_slice(&some);
        start = end;
    }
    Ok(all)
}
