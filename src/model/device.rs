//! Which device a model runs on, and its weights there.

use super::families::dense::Bound;
use super::load::LoadOptions;
use crate::cpu::{CpuWeights, ThreadPool, simd_level};
use crate::gpu::Device;
use crate::gpu::model::GpuWeights;
use crate::log::{self, Level};
use crate::step::Schedule;
use crate::{Error, Result};
use std::sync::Arc;

/// Which device runs a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The first GPU that takes the model, else the CPU.
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
            DeviceChoice::Gpu(ordinal) => gpu(ordinal, options, schedule, &bound, report),
            DeviceChoice::Auto => {
                let devices = Device::list();
                if devices.found.is_empty() {
                    log::write(Level::Info, || {
                        let reasons = devices.missing.iter().map(|(_, reason)| reason.to_string());
                        let reasons = reasons.collect::<Vec<_>>().join("; ");
                        format!("the model runs on the CPU: {reasons}")
                    });
                    return cpu(options, bound, report);
                }
                match gpu(0, options, schedule, &bound, report) {
                    Err(error) if !matches!(error, Error::Cancelled(_)) => {
                        log::write(Level::Warn, || {
                            format!("the GPU cannot run the model ({error}): using the CPU")
                        });
                        cpu(options, bound, report)
                    }
                    result => result,
                }
            }
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
    ordinal: usize,
    options: &LoadOptions,
    schedule: &Schedule,
    bound: &Bound,
    report: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<Weights> {
    let device = Device::open(ordinal)?;
    let (matrices, vectors) = (&bound.matrices, &bound.vectors);
    let weights = GpuWeights::new(
        &device,
        schedule,
        matrices,
        vectors,
        options.threads,
        report,
    )?;
    Ok(Weights::Gpu(Arc::new(weights)))
}
