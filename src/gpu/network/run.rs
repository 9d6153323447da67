//! Runs: memory of batches, recorded launches, inputs in and outputs out.

use super::launches::{Batch, SQUARES};
use super::{Network, Planes};
use crate::gpu::{Device, DeviceBuffer, PinnedBuffer, Program, Stream};
use crate::{Error, Result};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Memory for batches and their recorded launches. One thread at a time.
pub struct Runner {
    stream: Stream,
    room: Option<Room>,
}

/// Memory for so many items.
struct Room {
    items: usize,
    arena: DeviceBuffer,
    /// What was given, as it was given.
    inputs: DeviceBuffer,
    given: PinnedBuffer,
    /// f32.
    outputs: DeviceBuffer,
    results: PinnedBuffer,
    /// By the items that they are for.
    programs: BTreeMap<usize, Program>,
}

/// Batches are rounded up to these sizes, each with recorded launches of its own: at most a quarter more.
fn bucket(items: usize) -> usize {
    let step = (items.next_power_of_two() / 8).max(1);
    items.next_multiple_of(step)
}

/// Where the masks and the values of an input of `planes` planes lie from `at` on, and where they end.
fn places(at: u64, planes: usize) -> ([u64; 2], u64) {
    let (masks, values) = ((planes * 8) as u64, (planes * 4) as u64);
    let first = (at + masks).next_multiple_of(16);
    ([at, first], (first + values).next_multiple_of(16))
}

impl Runner {
    /// Without memory yet.
    pub fn new(device: &Arc<Device>) -> Result<Runner> {
        Ok(Runner {
            stream: device.stream()?,
            room: None,
        })
    }

    /// Queues a run for `items` items, whose inputs were checked.
    ///
    /// # Errors
    /// `OutOfMemory`, `DeviceLost`.
    pub fn start(&mut self, network: &Network, items: usize, inputs: &[Planes<'_>]) -> Result<()> {
        let size = bucket(items);
        if self.room.as_ref().is_none_or(|room| room.items < size) {
            // The old one goes first.
            self.room = None;
            self.room = Some(Room::new(network, size)?);
        }
        let Some(room) = &mut self.room else {
            return Err(Error::Internal("a network without memory".into()));
        };
        let given = room.fill(size, items, inputs);
        self.stream
            .copy_from_pinned(&room.inputs, 0, &room.given, 0, given)?;
        if !room.programs.contains_key(&size) {
            let program = room.record(network, &self.stream, size)?;
            room.programs.insert(size, program);
        }
        if let Some(program) = room.programs.get(&size) {
            program.run(&self.stream)?;
        }
        let plan = &network.plan;
        let of_outputs: usize = plan.outputs.iter().map(|&buffer| plan.counts[buffer]).sum();
        let bytes = (of_outputs * size * 4) as u64;
        self.stream
            .copy_to_pinned(&room.outputs, 0, &room.results, 0, bytes)
    }

    /// Waits for what was queued last, for `items` items.
    ///
    /// # Errors
    /// `DeviceLost`.
    pub fn finish(
        &self,
        network: &Network,
        items: usize,
        outputs: &mut [&mut [f32]],
    ) -> Result<()> {
        let Some(room) = &self.room else {
            return Err(Error::Internal("a network that was not started".into()));
        };
        network.device.wait_step(&self.stream)?;
        let results: &[f32] = bytemuck::cast_slice(room.results.as_slice());
        let mut at = 0;
        for (output, &buffer) in outputs.iter_mut().zip(&network.plan.outputs) {
            output.copy_from_slice(&results[at..at + output.len()]);
            at += network.plan.counts[buffer] * bucket(items);
        }
        Ok(())
    }
}

impl Room {
    fn new(network: &Network, items: usize) -> Result<Room> {
        let (plan, device) = (&network.plan, &network.device);
        let too_many = || Error::OutOfMemory(format!("a network for {items} items is too large"));
        let arena = plan.width.checked_mul(items);
        let arena = arena.and_then(|numbers| numbers.checked_mul(network.precision.size()));
        let arena = arena.ok_or_else(too_many)?;
        let planes = |&buffer: &usize| plan.counts[buffer] / SQUARES as usize * items;
        let inputs = plan.inputs.iter().map(planes);
        let of_inputs = inputs.fold(0, |at, planes| places(at, planes).1);
        let of_outputs: usize = plan.outputs.iter().map(|&buffer| plan.counts[buffer]).sum();
        let of_outputs = (of_outputs * items * 4) as u64;
        Ok(Room {
            items,
            arena: device.alloc(arena as u64)?,
            inputs: device.alloc(of_inputs)?,
            given: device.alloc_pinned(of_inputs)?,
            outputs: device.alloc(of_outputs)?,
            results: device.alloc_pinned(of_outputs)?,
            programs: BTreeMap::new(),
        })
    }

    /// What is given, where the launches of `size` items look for it; the bytes that it takes.
    fn fill(&mut self, size: usize, items: usize, inputs: &[Planes<'_>]) -> u64 {
        let to = self.given.as_mut_slice();
        let mut at = 0;
        for input in inputs {
            let (starts, end) = places(at, input.masks.len() / items * size);
            let parts: [&[u8]; 2] = [
                bytemuck::cast_slice(input.masks),
                bytemuck::cast_slice(input.values),
            ];
            for ((part, start), end) in parts.iter().zip(starts).zip([starts[1], end]) {
                if let Some(to) = to.get_mut(start as usize..end as usize) {
                    to[..part.len()].copy_from_slice(part);
                    // Items that a batch is rounded up by.
                    to[part.len()..].fill(0);
                }
            }
            at = end;
        }
        at
    }

    /// The launches of a batch of `items` items.
    fn record(&self, network: &Network, stream: &Stream, items: usize) -> Result<Program> {
        let plan = &network.plan;
        network.device.record(|encoder| {
            let mut batch = Batch {
                network,
                encoder,
                stream,
                arena: &self.arena,
                items,
            };
            let mut at = 0;
            for &input in &plan.inputs {
                let (starts, end) = places(at, plan.counts[input] / SQUARES as usize * items);
                batch.planes(input, &self.inputs, starts)?;
                at = end;
            }
            for step in &plan.steps {
                batch.step(step)?;
            }
            let mut at = 0;
            for &output in &plan.outputs {
                at += batch.output(output, &self.outputs, at)?;
            }
            Ok(())
        })
    }
}
