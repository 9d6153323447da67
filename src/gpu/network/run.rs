//! Runs: memory of batches, recorded launches, inputs in and outputs out.

use super::launches::Batch;
use super::{Input, Network, Precision};
use crate::gpu::{Args, Device, DeviceBuffer, PinnedBuffer, Program, Range, Stream};
use crate::{Error, Result};
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Threads of a block of the kernels that move numbers.
const THREADS: u32 = 256;

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

/// What is given for an input, part by part.
fn parts<'a>(input: &Input<'a>) -> SmallVec<[&'a [u8]; 2]> {
    match input {
        Input::Numbers(numbers) => smallvec![bytemuck::cast_slice(numbers)],
        Input::Planes { masks, values } => {
            smallvec![bytemuck::cast_slice(masks), bytemuck::cast_slice(values)]
        }
    }
}

/// The bytes that a part of `items` items takes with room for `size` of them.
fn room_of(part: &[u8], items: usize, size: usize) -> usize {
    (part.len() / items * size).next_multiple_of(16)
}

impl Runner {
    /// Without memory yet.
    pub fn new(device: &Arc<Device>) -> Result<Runner> {
        Ok(Runner {
            stream: device.stream()?,
            room: None,
        })
    }

    /// As [`Network::run`].
    pub fn run(
        &mut self,
        network: &Network,
        items: usize,
        inputs: &[Input<'_>],
        outputs: &mut [&mut [f32]],
    ) -> Result<()> {
        let plan = &network.plan;
        let counts = |buffers: &[usize]| -> Vec<usize> {
            buffers.iter().map(|&buffer| plan.counts[buffer]).collect()
        };
        let (of_inputs, of_outputs) = (counts(&plan.inputs), counts(&plan.outputs));
        let fits = |input: &Input<'_>, count: usize| match input {
            Input::Numbers(numbers) => numbers.len() == count * items,
            Input::Planes { masks, values } => {
                masks.len() * 64 == count * items && masks.len() == values.len()
            }
        };
        let given = inputs.len() == of_inputs.len()
            && inputs
                .iter()
                .zip(&of_inputs)
                .all(|(input, &count)| fits(input, count));
        let asked = outputs.len() == of_outputs.len()
            && outputs
                .iter()
                .zip(&of_outputs)
                .all(|(output, count)| output.len() == count * items);
        if !given || !asked || items == 0 {
            return Err(Error::Internal(
                "a network with inputs or outputs of other sizes".into(),
            ));
        }
        let size = bucket(items);
        if self.room.as_ref().is_none_or(|room| room.items < size) {
            // The old one goes first.
            self.room = None;
            self.room = Some(Room::new(network, size, inputs, items)?);
        }
        let Some(room) = &mut self.room else {
            return Err(Error::Internal("a network without memory".into()));
        };
        // Items that a batch is rounded up by are zeros.
        let mut at = 0;
        let to = room.given.as_mut_slice();
        for part in inputs.iter().flat_map(parts) {
            let end = at + room_of(part, items, size);
            if let Some(to) = to.get_mut(at..end) {
                to[..part.len()].copy_from_slice(part);
                to[part.len()..].fill(0);
            }
            at = end;
        }
        let given = at as u64;
        self.stream
            .copy_from_pinned(&room.inputs, 0, &room.given, 0, given)?;
        room.take_inputs(network, &self.stream, size, inputs, items)?;
        if !room.programs.contains_key(&size) {
            let program = room.record(network, size)?;
            room.programs.insert(size, program);
        }
        if let Some(program) = room.programs.get(&size) {
            program.run(&self.stream)?;
        }
        let numbers: usize = of_outputs.iter().map(|count| count * size).sum();
        self.stream
            .copy_to_pinned(&room.outputs, 0, &room.results, 0, (numbers * 4) as u64)?;
        network.device.wait_step(&self.stream)?;
        let results: &[f32] = bytemuck::cast_slice(room.results.as_slice());
        let mut at = 0;
        for (output, count) in outputs.iter_mut().zip(&of_outputs) {
            output.copy_from_slice(&results[at..at + output.len()]);
            at += count * size;
        }
        Ok(())
    }
}

impl Room {
    fn new(
        network: &Network,
        items: usize,
        inputs: &[Input<'_>],
        given_items: usize,
    ) -> Result<Room> {
        let (plan, device) = (&network.plan, &network.device);
        let too_many = || Error::OutOfMemory(format!("a network for {items} items is too large"));
        let arena = plan.width.checked_mul(items);
        let arena = arena.and_then(|numbers| numbers.checked_mul(network.precision.size()));
        let arena = arena.ok_or_else(too_many)?;
        let parts = inputs.iter().flat_map(parts);
        let of_inputs: usize = parts.map(|part| room_of(part, given_items, items)).sum();
        let of_outputs: usize = plan.outputs.iter().map(|&buffer| plan.counts[buffer]).sum();
        let of_outputs = (of_outputs * items * 4) as u64;
        Ok(Room {
            items,
            arena: device.alloc(arena as u64)?,
            inputs: device.alloc(of_inputs as u64)?,
            given: device.alloc_pinned(of_inputs as u64)?,
            outputs: device.alloc(of_outputs)?,
            results: device.alloc_pinned(of_outputs)?,
            programs: BTreeMap::new(),
        })
    }

    /// What was given becomes the network's numbers.
    fn take_inputs(
        &self,
        network: &Network,
        stream: &Stream,
        size: usize,
        inputs: &[Input<'_>],
        items: usize,
    ) -> Result<()> {
        let plan = &network.plan;
        let name = network.precision.name();
        let mut at = 0;
        for (input, &buffer) in inputs.iter().zip(&plan.inputs) {
            let count = plan.counts[buffer] as u32;
            let place = (plan.offsets[buffer] * size * network.precision.size()) as u64;
            let grid = [count.div_ceil(THREADS), size as u32, 1];
            let mut args = Args::new();
            for part in parts(input) {
                args = args.buffer(&self.inputs, at);
                at += room_of(part, items, size) as u64;
            }
            let args = args.buffer(&self.arena, place);
            let (kernel, args) = match (input, network.precision) {
                (Input::Numbers(_), Precision::F16) => {
                    let args = rows_of_items(args, count, count);
                    ("mlxrocm_network_copy_f32_f16".to_string(), args)
                }
                (Input::Numbers(_), Precision::F32) => {
                    let args = rows_of_items(args, count, count);
                    ("mlxrocm_network_copy_f32".to_string(), args)
                }
                (Input::Planes { .. }, _) => (
                    format!("mlxrocm_network_planes_{name}"),
                    args.u32(count / 64),
                ),
            };
            let kernel = network.device.kernel(&kernel)?;
            stream.launch(&kernel, grid, [THREADS, 1, 1], 0, &args)?;
        }
        Ok(())
    }

    /// The launches of a batch of `items` items.
    fn record(&self, network: &Network, items: usize) -> Result<Program> {
        let plan = &network.plan;
        network.device.record(|encoder| {
            let mut batch = Batch {
                network,
                encoder,
                arena: &self.arena,
                items,
            };
            for step in &plan.steps {
                batch.step(step)?;
            }
            let kernel = match network.precision {
                Precision::F16 => "mlxrocm_network_copy_f16_f32",
                Precision::F32 => "mlxrocm_network_copy_f32",
            };
            let kernel = network.device.kernel(kernel)?;
            let mut at = 0;
            for &buffer in &plan.outputs {
                let count = plan.counts[buffer];
                let size = network.precision.size();
                let place = (plan.offsets[buffer] * items * size) as u64;
                let args = Args::new().buffer(&self.arena, place);
                let args = args.buffer(&self.outputs, at);
                let args = rows_of_items(args, count as u32, count as u32);
                let bytes = (count * items * 4) as u64;
                let reads: [Range; 1] = [self.arena.range(place, (count * items * size) as u64)];
                let writes = [self.outputs.range(at, bytes)];
                let grid = [(count as u32).div_ceil(THREADS), items as u32, 1];
                encoder.launch(&kernel, grid, [THREADS, 1, 1], 0, args, &reads, &writes)?;
                at += bytes;
            }
            Ok(())
        })
    }
}

/// The arguments of a copy of items whose numbers follow each other.
fn rows_of_items(args: Args, count: u32, item: u32) -> Args {
    let args = args.u32(count).u32(item).u32(0).u32(item).u32(0);
    let args = args.u32(1).u32(1).u32(1).u32(count);
    let args = args.u32(0).u32(0).u32(0).u32(1);
    args.u32(0).u32(0).u32(0).u32(1)
}
