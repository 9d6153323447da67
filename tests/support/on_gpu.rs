//! Models on a GPU beside the CPU: what tests of them share. Needs the module `gpu` beside it.

use crate::gpu;
use mlxrocm::model::{DeviceChoice, LoadOptions, Model};
use std::path::Path;
use std::sync::Arc;

/// How far logits of random models (of about ±3) may be from the CPU's: the GPU rounds activations to
/// f16, and in products of many rows the weights too.
pub const TOLERANCE: f32 = 0.03;

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

/// The largest difference of two lists; a NaN is infinitely far.
pub fn farthest(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    let difference = |(a, b): (&f32, &f32)| match (a - b).abs() {
        d if d.is_nan() => f32::INFINITY,
        d => d,
    };
    a.iter().zip(b).map(difference).fold(0.0, f32::max)
}
