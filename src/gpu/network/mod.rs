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
        let kept = self.runners.lock().pop();
        let mut runner = match kept {
            Some(runner) => runner,
            None => Runner::new(&self.device)?,
        };
        // A runner whose work has failed is not kept.
        runner.run(self, items, inputs, outputs)?;
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
