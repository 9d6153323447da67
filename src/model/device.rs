//! Which device a model runs on, and its weights there.

use super::bind::Bound;
use super::load::LoadOptions;
use super::usual::usual_state;
use crate::cpu::{CpuWeights, ThreadPool, simd_level};
use crate::driver::{DeviceFacts, Platform};
use crate::gpu::model::{GpuWeights, Room};
use crate::gpu::{Device, selftest};
use crate::log::{self, Level};
use crate::step::{Schedule, StateSize};
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
    /// Puts `bound` on the device that `options` ask for; the model was trained for `trained` tokens.
    pub fn new(
        options: &LoadOptions,
        schedule: &Schedule,
        trained: usize,
        bound: Bound,
        report: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<Weights> {
        let load = Load {
            options,
            schedule,
            trained,
            bound: &bound,
        };
        let on_gpu = match options.device {
            DeviceChoice::Cpu => None,
            DeviceChoice::Gpu(ordinal) => {
                // Whoever names it wants it, however slow the bus is.
                Some(load.on(&Device::open(ordinal)?, 100, report)?)
            }
            DeviceChoice::Auto => load.on_the_best(report)?,
        };
        match on_gpu {
            Some(weights) => Ok(Weights::Gpu(Arc::new(weights))),
            None => cpu(options, bound, report),
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

/// A model that is being loaded to a GPU.
struct Load<'a> {
    options: &'a LoadOptions,
    schedule: &'a Schedule,
    /// Tokens of context that it was trained for.
    trained: usize,
    bound: &'a Bound,
}

impl Load<'_> {
    /// On the best GPU that can take all of it; else on the best one that reads little of a token's weights over the
    /// bus; `None`: on the CPU.
    fn on_the_best(&self, report: &mut dyn FnMut(u64) -> Result<()>) -> Result<Option<GpuWeights>> {
        let devices = Device::list();
        let mut larger_than = Vec::new();
        for (ordinal, facts) in by_preference(&devices.found) {
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
                        format!("{} is not used: {how}{error}", name(facts))
                    });
                    continue;
                }
            };
            match self.fits(&device) {
                Ok(false) => larger_than.push((facts, device)),
                result => {
                    let weights = result.and_then(|_| self.on(&device, BUS_PERCENT, report));
                    if let Some(weights) = taken(facts, weights)? {
                        return Ok(Some(weights));
                    }
                }
            }
        }
        for (facts, device) in larger_than {
            let weights = self.on(&device, BUS_PERCENT, report);
            if let Some(weights) = taken(facts, weights)? {
                return Ok(Some(weights));
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
        Ok(None)
    }

    /// Whether nothing has to be left in host memory by itself.
    fn fits(&self, device: &Arc<Device>) -> Result<bool> {
        if self.options.gpu_weight_bytes.is_some() {
            return Ok(true);
        }
        let (matrices, vectors) = (&self.bound.matrices, &self.bound.vectors);
        let (threads, state) = (self.options.threads, self.state(device));
        GpuWeights::fit_beside(device, self.schedule, matrices, vectors, threads, &state)
    }

    /// On a device, where so many percent of what a token reads may come over the bus if nobody says what lies where.
    fn on(
        &self,
        device: &Arc<Device>,
        percent: u64,
        report: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<GpuWeights> {
        let room = match self.options.gpu_weight_bytes {
            Some(most) => Room::Bytes(most),
            None => Room::Beside(self.state(device), percent),
        };
        let (matrices, vectors) = (&self.bound.matrices, &self.bound.vectors);
        let threads = self.options.threads;
        GpuWeights::new(
            device,
            self.schedule,
            matrices,
            vectors,
            threads,
            room,
            report,
        )
    }

    /// What room is left for.
    fn state(&self, device: &Arc<Device>) -> StateSize {
        let is_cuda = device.facts().platform == Platform::Cuda;
        usual_state(self.schedule, is_cuda, self.trained)
    }
}

/// Of what a token reads of the weights so many percent may come over the bus where no device was named: then that takes a
/// GPU about as long as reading all of them from memory takes a CPU. (A bus of 25 to 45 GB/s has a fifth to a half of the
/// rate of two to eight channels of memory.)
const BUS_PERCENT: u64 = 25;

/// What a log line calls a GPU.
fn name(facts: &DeviceFacts) -> String {
    format!(
        "GPU {} ({}, PCI {})",
        facts.name, facts.target, facts.pci_id
    )
}

/// What was loaded to a GPU, if it could; the log says which.
///
/// # Errors
/// `Cancelled`.
fn taken(facts: &DeviceFacts, weights: Result<GpuWeights>) -> Result<Option<GpuWeights>> {
    match weights {
        Ok(weights) => {
            log::write(Level::Info, || format!("the model runs on {}", name(facts)));
            Ok(Some(weights))
        }
        Err(Error::Cancelled(why)) => Err(Error::Cancelled(why)),
        Err(error) => {
            log::write(Level::Warn, || {
                format!("{} cannot run the model: {error}", name(facts))
            });
            Ok(None)
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
