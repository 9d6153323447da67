//! Networks: a graph of one item (a position of chess, say) that runs for batches of items on a GPU. Products go
//! through the matrix units in f16, or in f32 one by one; the launches of a batch are recorded once and replayed.

mod activations;
mod chains;
mod fuse;
mod launches;
mod pack;
mod products;
mod run;
mod steps;

use crate::gpu::Device;
use crate::ir::Layout;
use crate::step::Items;
use crate::{Error, Result};
use launches::SQUARES;
use pack::Packed;
use parking_lot::Mutex;
use run::Runner;
use std::sync::Arc;
use steps::Plan;

/// What a network computes with. Sums are f32 either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// Weights and what lies between layers in f16, by the matrix units.
    #[default]
    F16,
    /// All in f32.
    F32,
}

impl Precision {
    /// Bytes of a number.
    fn size(self) -> usize {
        match self {
            Precision::F16 => 2,
            Precision::F32 => 4,
        }
    }

    /// What ends the names of kernels.
    fn name(self) -> &'static str {
        match self {
            Precision::F16 => "f16",
            Precision::F32 => "f32",
        }
    }
}

/// A constant of a graph: f32 numbers and how they lie from the first one of the slice on. No numbers: it has
/// another dtype.
#[derive(Clone, Copy)]
pub struct Constant<'a> {
    /// The buffer's.
    pub numbers: &'a [f32],
    /// Where in it.
    pub layout: &'a Layout,
}

/// An input of all items of a batch: bit masks of 64 places and the value of set bits, item after item. The graph's
/// input is `[64, masks of an item]`.
#[derive(Debug, Clone, Copy)]
pub struct Planes<'a> {
    /// Bit s: place s.
    pub masks: &'a [u64],
    /// One a mask.
    pub values: &'a [f32],
}

/// A network on a GPU. Internally locked: any thread.
pub struct Network {
    device: Arc<Device>,
    plan: Plan,
    packed: Packed,
    precision: Precision,
    /// Memory and recorded launches of runs that have ended, for the next ones.
    runners: Mutex<Vec<Runner>>,
}

impl Network {
    /// Items that keep a GPU busy. Of larger batches as many run at once: while one part runs, results of the part before are
    /// copied, and where its launches have few blocks those of the next one find room.
    pub const AT_ONCE: usize = 256;

    /// Of the steps of a graph of one item.
    ///
    /// # Errors
    /// `Unsupported` for operations that networks on GPUs have no form of, or if there are no kernels for this
    /// GPU; `OutOfMemory`, `DeviceLost`.
    pub fn new(
        device: &Arc<Device>,
        items: &Items,
        constants: &[Constant<'_>],
        precision: Precision,
    ) -> Result<Network> {
        let plan = fuse::plan(items, constants, precision)?;
        let squares = |&input: &usize| plan.counts[input].is_multiple_of(SQUARES as usize);
        if !plan.inputs.iter().all(squares) {
            return Err(missing("an input other than planes of 64 places"));
        }
        let packed = Packed::new(device, &plan, constants, precision)?;
        Ok(Network {
            device: device.clone(),
            plan,
            packed,
            precision,
            runners: Mutex::default(),
        })
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Runs for `items` items, and waits. An item gets the same bits in any batch.
    ///
    /// - `inputs`: as many as the graph has.
    /// - `outputs`: as many as the graph has, item after item; an empty one is not asked for.
    ///
    /// # Errors
    /// `Internal` for other sizes; `OutOfMemory`, `DeviceLost`.
    pub fn run(
        &self,
        items: usize,
        inputs: &[Planes<'_>],
        outputs: &mut [&mut [f32]],
    ) -> Result<()> {
        self.check(items, inputs, outputs)?;
        let size = items.div_ceil(items.div_ceil(Network::AT_ONCE));
        let mut left: Vec<&mut [f32]> = outputs.iter_mut().map(|output| &mut **output).collect();
        let mut queued: Option<(Runner, usize)> = None;
        for first in (0..items).step_by(size) {
            let count = size.min(items - first);
            let part = inputs.iter().map(|planes| {
                let each = planes.masks.len() / items;
                let part = first * each..(first + count) * each;
                Planes {
                    masks: &planes.masks[part.clone()],
                    values: &planes.values[part],
                }
            });
            let part: Vec<Planes<'_>> = part.collect();
            let mut runner = self.runner()?;
            runner.start(self, count, &part)?;
            if let Some((runner, count)) = queued.replace((runner, count)) {
                self.finish(runner, count, &mut left)?;
            }
        }
        match queued {
            Some((runner, count)) => self.finish(runner, count, &mut left),
            None => Ok(()),
        }
    }

    fn check(&self, items: usize, inputs: &[Planes<'_>], outputs: &[&mut [f32]]) -> Result<()> {
        let plan = &self.plan;
        let fits = |(input, &buffer): (&Planes<'_>, &usize)| {
            let planes = plan.counts[buffer] / SQUARES as usize * items;
            input.masks.len() == planes && input.values.len() == planes
        };
        let has_room = |(output, &buffer): (&&mut [f32], &usize)| {
            output.is_empty() || output.len() == plan.counts[buffer] * items
        };
        let given = inputs.len() == plan.inputs.len() && inputs.iter().zip(&plan.inputs).all(fits);
        let asked =
            outputs.len() == plan.outputs.len() && outputs.iter().zip(&plan.outputs).all(has_room);
        match given && asked && items > 0 {
            true => Ok(()),
            false => Err(Error::Internal(
                "a network with inputs or outputs of other sizes".into(),
            )),
        }
    }

    fn runner(&self) -> Result<Runner> {
        let kept = self.runners.lock().pop();
        kept.map_or_else(|| Runner::new(&self.device), Ok)
    }

    /// Waits for a run's results, which are the first ones of what is left of the outputs. A runner whose work has failed is
    /// not kept.
    fn finish(&self, runner: Runner, items: usize, left: &mut [&mut [f32]]) -> Result<()> {
        let mut now: Vec<&mut [f32]> = Vec::new();
        for (left, &buffer) in left.iter_mut().zip(&self.plan.outputs) {
            let count = (self.plan.counts[buffer] * items).min(left.len());
            let (first, rest) = std::mem::take(left).split_at_mut(count);
            now.push(first);
            *left = rest;
        }
        runner.finish(self, items, &mut now)?;
        self.runners.lock().push(runner);
        Ok(())
    }
}

/// The refusal of what networks on GPUs have no form of.
fn missing(what: impl std::fmt::Display) -> Error {
    Error::Unsupported(format!(
        "networks on GPUs: {what} has no form there; the CPU has all"
    ))
}
