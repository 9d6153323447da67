//! Which device a model runs on, and its weights there.

use super::bind::Bound;
use super::load::LoadOptions;
use crate::cpu::{CpuWeights, ThreadPool, simd_level};
use crate::driver::DeviceFacts;
use crate::gpu::model::GpuWeights;
use crate::gpu::{Device, selftest};
use crate::log::{self, Level};
use crate::step::Schedule;
use crate::{Error, Result};
use std::cmp::Reverse;
use std::sync::Arc;

/// Which device runs a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The best GPU that passes the short self-test and takes the model, else the CPU.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// A GPU by its place in the list of devices; an error if it cannot run the model.
    Gpu(usize),
}

/// A model's weights on its device.
pub(super) enum Weights {
    Cpu(Arc<CpuWeights>),
    Gpu(Arc<GpuWeights>),
}

impl Weights {
    /// Puts `bound` on the device that `options` ask for.
    pub fn new(
        options: &LoadOptions,
        schedule: &Schedule,
        bound: Bound,
        report: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<Weights> {
        match options.device {
            DeviceChoice::Cpu => cpu(options, bound, report),
            DeviceChoice::Gpu(ordinal) => {
                let device = Device::open(ordinal)?;
                gpu(&device, options, schedule, &bound, report)
            }
            DeviceChoice::Auto => auto(options, schedule, bound, report),
        }
    }

    /// Bytes of matrices in a GPU's memory, and in host memory that a GPU reads.
    pub fn placed(&self) -> (u64, u64) {
        match self {
            Weights::Cpu(_) => (0, 0),
            Weights::Gpu(weights) => weights.placed(),
        }
    }

    /// What to call the device.
    pub fn device_name(&self) -> String {
        match self {
            Weights::Cpu(_) => format!("the CPU ({})", simd_level().name()),
            Weights::Gpu(weights) => weights.device_name(),
        }
    }
}

/// GPUs with their places in the list, the best first: those with memory of their own, then those
/// with more of it.
fn by_preference(found: &[DeviceFacts]) -> Vec<(usize, &DeviceFacts)> {
    let mut order: Vec<_> = found.iter().enumerate().collect();
    // Stable: equal ones stay in the driver's order.
    order.sort_by_key(|(_, facts)| (facts.integrated, Reverse(facts.memory_total)));
    order
}

/// The best GPU that can, else the CPU.
fn auto(
    options: &LoadOptions,
    schedule: &Schedule,
    bound: Bound,
    report: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<Weights> {
    let devices = Device::list();
    for (ordinal, facts) in by_preference(&devices.found) {
        let name = || {
            format!(
                "GPU {} ({}, PCI {})",
                facts.name, facts.target, facts.pci_id
            )
        };
        let device = Device::open(ordinal).and_then(|device| {
            selftest::brief(&device)?;
            Ok(device)
        });
        let device = match device {
            Ok(device) => device,
            Err(error) => {
                let how = match error {
                    Error::SelfTestFailed(_) => "its self-test failed: ",
                    _ => "",
                };
                log::write(Level::Warn, || {
                    format!("{} is not used: {how}{error}", name())
                });
                continue;
            }
        };
        match gpu(&device, options, schedule, &bound, report) {
            Err(error) if !matches!(error, Error::Cancelled(_)) => {
                log::write(Level::Warn, || {
                    format!("{} cannot run the model: {error}", name())
                });
            }
            result => {
                if result.is_ok() {
                    log::write(Level::Info, || format!("the model runs on {}", name()));
                }
                return result;
            }
        }
    }
    log::write(Level::Info, || {
        let missing = devices.missing.iter().map(|(_, reason)| reason.to_string());
        let reason = match devices.found.len() {
            0 => missing.collect::<Vec<_>>().join("; "),
            count => format!("none of {count} GPUs can run it"),
        };
        format!("the model runs on the CPU: {reason}")
    });
    cpu(options, bound, report)
}

fn cpu(
    options: &LoadOptions,
    bound: Bound,
    report: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<Weights> {
    let mut pool = ThreadPool::new(options.threads);
    let weights = CpuWeights::new(bound.matrices, bound.vectors, &mut pool, report)?;
    Ok(Weights::Cpu(Arc::new(weights)))
}

fn gpu(
    device: &Arc<Device>,
    options: &LoadOptions,
    schedule: &Schedule,
    bound: &Bound,
    report: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<Weights> {
    let (matrices, vectors) = (&bound.matrices, &bound.vectors);
    let (threads, most) = (options.threads, options.gpu_weight_bytes);
    let weights = GpuWeights::new(device, schedule, matrices, vectors, threads, most, report)?;
    Ok(Weights::Gpu(Arc::new(weights)))
}
