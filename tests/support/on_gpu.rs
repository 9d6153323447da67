//! Models on a GPU beside the CPU: what tests of them share. Needs the module `gpu` beside it.

#[path = "in_steps.rs"]
mod in_steps;

use crate::gpu;
use in_steps::in_steps;
use mlxrocm::Result;
use mlxrocm::model::{DeviceChoice, Forward, KvType, LoadOptions, Model, Slice};
use std::path::Path;
use std::sync::Arc;

/// How far logits of random models (of about ±3) may be from the CPU's: the GPU rounds activations to
/// f16, and in products of many rows the weights too.
pub const TOLERANCE: f32 = 0.03;

/// Tokens of a vocabulary of 96.
pub const fn tokens<const N: usize>() -> [u32; N] {
    let mut tokens = [0; N];
    let mut i = 0;
    while i < N {
        tokens[i] = (i as u32 * 37 + 11) % 96;
        i += 1;
    }
    tokens
}

/// A fresh software GPU of a target, or this machine's GPU.
pub fn device(target: &str) -> gpu::Gpu {
    match gpu::is_real() {
        true => gpu::gpu(),
        false => gpu::soft(&format!("devices={target};vram_mib=4096")),
    }
}

pub fn load(path: &Path, device: DeviceChoice) -> Arc<Model> {
    let options = LoadOptions {
        device,
        ..LoadOptions::default()
    };
    Model::load(path, &options, None).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Logits of up to 64 tokens, in steps of these sizes, then one by one.
pub fn logits(model: &Arc<Model>, tokens: &[u32], steps: &[usize]) -> Result<Vec<f32>> {
    rows(model, tokens, steps, |forward, slice, rows| {
        forward.forward(&[slice], rows)
    })
}

/// The same of hidden states.
pub fn hidden(model: &Arc<Model>, tokens: &[u32], steps: &[usize]) -> Result<Vec<f32>> {
    rows(model, tokens, steps, |forward, slice, rows| {
        forward.hidden(&[slice], rows)
    })
}

fn rows(
    model: &Arc<Model>,
    tokens: &[u32],
    steps: &[usize],
    run: impl Fn(&mut dyn Forward, Slice<'_>, &mut Vec<f32>) -> Result<()>,
) -> Result<Vec<f32>> {
    let mut forward = model.new_forward(2, 64, KvType::F16)?;
    in_steps(tokens, steps, |slice, rows| {
        run(
            forward.as_mut(),
            Slice {
                pages: &[1, 0],
                ..slice
            },
            rows,
        )
    })
}

/// The largest difference of two lists; a NaN is infinitely far.
pub fn farthest(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    let difference = |(a, b): (&f32, &f32)| match (a - b).abs() {
        d if d.is_nan() => f32::INFINITY,
        d => d,
    };
    a.iter().zip(b).map(difference).fold(0.0, f32::max)
}
