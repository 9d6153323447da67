//! How much of a device's memory a model's weights take. Where nobody says, all of them lie there if a session fits
//! beside them; else as many as leave room for one, and the rest in host memory.

use super::beside::{Memory, beside, fits_beside, of_session};
use super::groups::{groups, items};
use super::matrices::Key;
use super::placement::{Item, Placement};
use super::product_outputs::outputs;
use super::staging::Load;
use super::state_bytes::StateBytes;
use crate::driver;
use crate::formats::Weight;
use crate::gpu::Device;
use crate::gpu::allocator::{MemoryCounters, size_class};
use crate::step::{Epilogue, Schedule, StateSize, Step};
use crate::{Error, Result, log};
use std::sync::Arc;

/// How much of a device's memory weights may take.
#[derive(Debug, Clone, Copy)]
pub enum Room {
    /// All of it: what does not fit is refused.
    All,
    /// So many bytes; the rest of the weights lies in host memory.
    Bytes(u64),
    /// All of it if a forward state of this size fits beside them, else what that leaves, if of what a token reads no
    /// more than so many percent come over the bus. Otherwise as `All`.
    Beside(StateSize, u64),
}

/// What a model's weights take.
pub struct Needs {
    items: Vec<(Key, Item)>,
    /// Bytes of vectors, which are always on the device.
    others: u64,
    /// The most columns of an up projection that is not fused with its gate.
    pub up_columns: usize,
    load: Load,
}

impl Needs {
    /// Of the weights that `schedule` uses, loaded so.
    pub fn new(
        device: &Arc<Device>,
        schedule: &Schedule,
        matrices: &[Weight],
        vectors: &[Vec<f32>],
        load: Load,
    ) -> Result<Needs> {
        let (items, biases) = items(schedule, matrices, outputs(device.facts()))?;
        let of_vector = |v: &Vec<f32>| size_class((v.len().max(1) * 4) as u64).unwrap_or(u64::MAX);
        Ok(Needs {
            items,
            others: vectors.iter().map(of_vector).sum::<u64>() + biases,
            up_columns: up_columns(schedule, matrices)?,
            load,
        })
    }

    /// Whether all of the weights fit on the device beside a forward state of this size, or none of them can be elsewhere.
    pub fn fit_beside(
        &self,
        device: &Arc<Device>,
        schedule: &Schedule,
        state: &StateSize,
    ) -> Result<bool> {
        let memory = self.memory(device, &device.memory()?, schedule, state)?;
        Ok(memory.is_shared || fits_beside(&self.items, self.others, &memory))
    }

    /// Where the matrices lie.
    ///
    /// # Errors
    /// `OutOfMemory` if the weights that go to the device do not fit it.
    pub fn place(
        &self,
        device: &Arc<Device>,
        schedule: &Schedule,
        room: Room,
    ) -> Result<Placement> {
        let counters = device.memory()?;
        let name = &device.facts().name;
        let most = match room {
            Room::Bytes(most) => Some(most),
            _ => None,
        };
        let whole = || Placement::new(&self.items, most, self.others);
        let Room::Beside(state, percent) = room else {
            let placement = whole()?;
            fits(name, &counters, placement.device_bytes, "")?;
            return Ok(placement);
        };
        let memory = self.memory(device, &counters, schedule, &state)?;
        let whole = whole()?;
        if fits_beside(&self.items, self.others, &memory) {
            return Ok(whole);
        }
        let mib = |bytes: u64| bytes.div_ceil(1 << 20);
        let room = memory.left.min(memory.free);
        let needed = format!(
            "{name}: the weights need {} MiB and a session of {} tokens {} MiB, {} MiB are free",
            mib(whole.device_bytes),
            state.context,
            mib(memory.session),
            room >> 20
        );
        match beside(&self.items, self.others, &memory, percent) {
            Ok(placement) => {
                log::write(log::Level::Warn, || {
                    format!(
                        "{needed}: {} MiB of weights stay in host memory (gpu_weight_bytes says how much lies on the GPU)",
                        mib(placement.host_bytes)
                    )
                });
                Ok(placement)
            }
            Err(why) => {
                let why = format!("; none stays in host memory by itself: {why}");
                fits(name, &counters, whole.device_bytes, &why)?;
                log::write(log::Level::Info, || format!("{needed}{why}"));
                Ok(whole)
            }
        }
    }

    /// What there is for the weights and a session.
    fn memory(
        &self,
        device: &Arc<Device>,
        counters: &MemoryCounters,
        schedule: &Schedule,
        state: &StateSize,
    ) -> Result<Memory> {
        let bytes = StateBytes::new(device, schedule, state, self.up_columns)?;
        let (own, cache) = bytes.totals(device, schedule, state)?;
        let own = own.saturating_add(bytes.more_logits(state.sequences));
        Ok(Memory {
            left: counters.limit.saturating_sub(counters.active),
            free: counters.free.saturating_add(counters.cache),
            // Where the system does not say, the allocation will.
            host: driver::system_memory("MemAvailable:").unwrap_or(u64::MAX),
            is_shared: device.facts().integrated,
            // There is no session while weights are loaded.
            session: of_session(own, cache).max(self.load.device_bytes()),
        })
    }
}

/// Whether the device has room for the weights, about: under its limit and beside other programs. `more` is said besides.
fn fits(name: &str, memory: &MemoryCounters, needed: u64, more: &str) -> Result<()> {
    let left = memory.limit.saturating_sub(memory.active);
    let free = memory.free.saturating_add(memory.cache);
    if needed > left.min(free) {
        return Err(Error::OutOfMemory(format!(
            "the weights need {} MiB, {name} has {} MiB free and {} MiB of its limit of {} MiB left: use a \
             smaller model or quantization, the CPU, or leave a part in host memory (gpu_weight_bytes){more}",
            needed >> 20,
            free >> 20,
            left >> 20,
            memory.limit >> 20
        )));
    }
    Ok(())
}

/// Bytes of the device's memory that a new forward state of this size takes: for tests.
#[doc(hidden)]
pub fn state_bytes(
    device: &Arc<Device>,
    schedule: &Schedule,
    matrices: &[Weight],
    size: &StateSize,
) -> Result<u64> {
    let bytes = StateBytes::new(device, schedule, size, up_columns(schedule, matrices)?)?;
    let (own, cache) = bytes.totals(device, schedule, size)?;
    Ok(own + cache)
}

/// The most columns of an up projection that is not fused with its gate; 0: there is none.
fn up_columns(schedule: &Schedule, matrices: &[Weight]) -> Result<usize> {
    let mut most = 0;
    for step in &schedule.steps {
        if let Step::Matmul {
            products,
            epilogue: Epilogue::SwiGlu,
            ..
        } = step
            && groups(matrices, step, products.len())?
                .iter()
                .any(|group| !group.silu)
            && let Some(out) = products.first().and_then(|p| p.out)
        {
            most = most.max(schedule.buffers[out.0].width);
        }
    }
    Ok(most)
}
