//! Graphs that come again: their launches are recorded once, with memory of their own, and replayed as one program.

use super::chains::ChainKernel;
use super::joined::{Joined, joined};
use super::results::{Results, SMALL};
use super::{Elements, Place};
use crate::gpu::{Args, DeviceBuffer, Encoder, Kernel, LaunchOptions, Program, Range};
use crate::ir::{Dtype, Graph, Layout};
use crate::log::{self, Level};
use crate::{Error, Result};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

/// Most bytes of what a program has of its own: larger graphs gain nothing by a replay.
const MOST_OWN: u64 = 64 << 20;
/// Most bytes that are copied into and out of a program.
const MOST_MOVED: usize = 4 << 20;

/// Launches that a program has at least for each copy of a result out of it, small ones aside: with fewer, launching them one
/// by one, each beginning under the one before, takes less.
const LAUNCHES_A_COPY: usize = 2;

/// What launches on this thread go to, while a graph is recorded.
struct Recorder {
    encoder: Encoder,
    /// Memory that the recorded launches write: made meanwhile, or given to them.
    own: Vec<DeviceBuffer>,
    /// Where that of the operation at hand begins: it writes no other.
    first: usize,
    /// Where the operation at hand puts its results, if they are small outputs of the graph.
    results: Vec<DeviceBuffer>,
    bytes: u64,
    launches: usize,
    /// Blocks of the last launch.
    blocks: u64,
}

thread_local! {
    static RECORDER: RefCell<Option<Recorder>> = const { RefCell::new(None) };
}

/// Ends the recording, however it goes.
struct Recording;

impl Drop for Recording {
    fn drop(&mut self) {
        RECORDER.take();
    }
}

/// Records a launch if this thread records; false if it does not.
pub(super) fn record(
    kernel: &Kernel,
    grid: [u32; 3],
    (block, shared): ([u32; 3], u32),
    args: &Args,
    options: LaunchOptions,
) -> Result<bool> {
    RECORDER.with_borrow_mut(|recorder| {
        let Some(recorder) = recorder else {
            return Ok(false);
        };
        let (mut reads, mut writes): (Vec<Range>, Vec<Range>) = (Vec::new(), Vec::new());
        let own = &recorder.own[recorder.first..];
        for buffer in args.buffers() {
            reads.push(buffer.whole());
            if own.iter().any(|own| own.address() == buffer.address()) {
                writes.push(buffer.whole());
            }
        }
        recorder.launches += 1;
        recorder.blocks = grid.iter().map(|&size| u64::from(size)).product();
        let encoder = &mut recorder.encoder;
        encoder.launch_with(
            kernel,
            grid,
            block,
            shared,
            args.clone(),
            &reads,
            &writes,
            options,
        )?;
        Ok(true)
    })
}

/// Notes memory that a recorded launch will write.
pub(super) fn note(buffer: &DeviceBuffer) -> Result<()> {
    RECORDER.with_borrow_mut(|recorder| {
        let Some(recorder) = recorder else {
            return Ok(());
        };
        recorder.bytes += buffer.len();
        if recorder.bytes > MOST_OWN {
            return Err(Error::Unsupported(
                "a graph too large to be recorded".into(),
            ));
        }
        recorder.own.push(buffer.clone());
        Ok(())
    })
}

/// Notes memory that the operation at hand was given and writes into.
pub(super) fn note_written(buffer: &DeviceBuffer) {
    RECORDER.with_borrow_mut(|recorder| {
        if let Some(recorder) = recorder {
            recorder.own.push(buffer.clone());
        }
    });
}

/// Whether nothing of the program that is recorded writes these; false if none is.
pub(super) fn stay(elements: &[&Elements]) -> bool {
    RECORDER.with_borrow(|recorder| {
        let written = |x: &&Elements| {
            let mut own = recorder.iter().flat_map(|recorder| &recorder.own);
            own.any(|own| own.address() == x.buffer().address())
        };
        recorder.is_some() && !elements.iter().any(written)
    })
}

/// Blocks of the launch in front of the next one of the program that is recorded; `None` if there is none.
pub(super) fn blocks_in_front() -> Option<u64> {
    RECORDER.with_borrow(|recorder| {
        let blocks = recorder.as_ref().map(|recorder| recorder.blocks);
        blocks.filter(|&blocks| blocks > 0)
    })
}

/// The next operation begins, whose results go there.
fn begin_operation(results: Vec<DeviceBuffer>) {
    RECORDER.with_borrow_mut(|recorder| {
        if let Some(recorder) = recorder {
            recorder.first = recorder.own.len();
            recorder.results = results;
        }
    });
}

/// The room for a result of so many bytes of the operation that is recorded, if there is one.
pub(super) fn room_of_result(bytes: u64) -> Option<DeviceBuffer> {
    RECORDER.with_borrow_mut(|recorder| {
        let results = &mut recorder.as_mut()?.results;
        let place = results.iter().position(|room| room.len() == bytes)?;
        Some(results.swap_remove(place))
    })
}

/// A leaf of a graph.
pub enum Leaf<'a> {
    /// In host memory: its bytes, and how its elements lie in them.
    Host(&'a [u8], Dtype, &'a Layout),
    /// At this place.
    Device(Cow<'a, Elements>),
}

impl Leaf<'_> {
    /// Where it lies on the GPU; 0 in host memory.
    pub fn address(&self) -> u64 {
        match self {
            Leaf::Host(..) => 0,
            Leaf::Device(elements) => elements.buffer().address(),
        }
    }
}

/// Elements of a program. Not [`Elements`], which keep the place that keeps the program.
struct Own {
    buffer: DeviceBuffer,
    dtype: Dtype,
    layout: Layout,
}

impl Own {
    fn of(elements: &Elements) -> Own {
        Own {
            buffer: elements.buffer().clone(),
            dtype: elements.dtype(),
            layout: elements.layout().clone(),
        }
    }
}

/// Where a program finds a leaf.
enum Input {
    /// Where it was before: in memory of this address.
    Same(u64),
    /// In memory of the program, into which it is copied.
    Slot {
        slot: DeviceBuffer,
        /// What was copied there last, of small leaves of the host.
        sent: Vec<u8>,
    },
}

/// Leaves of the host up to this size are compared with what was sent before.
const COMPARED: usize = 256;

/// A graph's plan: its recorded launches, or what is too large to be recorded with what is joined in it. One thread at a
/// time.
pub struct Replay {
    /// `None`: it is not recorded, and operations are joined.
    program: Option<Program>,
    joined: Option<Arc<Joined>>,
    /// Kernels that were not compiled yet when the launches were recorded.
    waiting: Vec<Arc<ChainKernel>>,
    inputs: Vec<Input>,
    /// The results: of the program's memory, or (the leaf's place) of a leaf's.
    outputs: Vec<(Own, Option<usize>)>,
    /// The memory of small results, which are copied out together.
    small: Option<Results>,
}

impl Replay {
    /// A graph that is not recorded, only joined; `None` if nothing in it is.
    fn unrecorded(joined: Option<Arc<Joined>>) -> Option<Replay> {
        joined.map(|joined| Replay {
            program: None,
            joined: Some(joined),
            waiting: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            small: None,
        })
    }

    /// A graph that is not recorded, with what is joined in it.
    pub fn joined(&self) -> Option<&Arc<Joined>> {
        self.joined.as_ref()
    }

    /// The addresses of leaves that lie where they lay when this was recorded; 0 for others.
    pub fn staying(&self, leaves: &[Leaf<'_>]) -> Vec<u64> {
        let pairs = self.inputs.iter().zip(leaves);
        let address = |(input, leaf): (&Input, &Leaf<'_>)| match input {
            Input::Same(address) if *address == leaf.address() => *address,
            _ => 0,
        };
        pairs.map(address).collect()
    }
}

/// The part of a buffer that elements touch, in bytes.
fn part(dtype: Dtype, layout: &Layout) -> (u64, u64) {
    let size = dtype.size() as u64;
    let reach = layout.reach();
    reach.map_or((0, 0), |r| {
        (r.from as u64 * size, (r.to - r.from) as u64 * size)
    })
}

impl Place {
    /// Records a graph whose leaves are like these. Leaves that lie where `before` says are read there, others are
    /// copied in on every run. `None` if an operation has no form here, or too much would be copied.
    ///
    /// # Errors
    /// `OutOfMemory`, `DeviceLost`.
    pub fn replay(
        self: &Arc<Self>,
        graph: &Graph,
        leaves: &[Leaf<'_>],
        before: &[u64],
    ) -> Result<Option<Replay>> {
        let joined = joined(graph);
        let graph = joined.as_ref().map_or(graph, |joined| &joined.graph);
        let mut elements = Vec::with_capacity(leaves.len());
        let mut inputs = Vec::with_capacity(leaves.len());
        let mut moved = 0;
        for (place, leaf) in leaves.iter().enumerate() {
            match leaf {
                Leaf::Device(x) if x.is_given() || before.get(place) == Some(&leaf.address()) => {
                    inputs.push(Input::Same(leaf.address()));
                    elements.push(x.clone().into_owned());
                    continue;
                }
                Leaf::Device(x) => {
                    let (_, bytes) = part(x.dtype(), x.layout());
                    moved += bytes as usize;
                    elements.push(self.room(x.dtype(), x.layout())?);
                }
                Leaf::Host(_, dtype, layout) => {
                    let slot = self.room(*dtype, layout)?;
                    moved += part(*dtype, layout).1 as usize;
                    elements.push(slot);
                }
            }
            let slot = elements[place].buffer().clone();
            let sent = Vec::new();
            inputs.push(Input::Slot { slot, sent });
        }
        if moved > MOST_MOVED {
            return Ok(Replay::unrecorded(joined));
        }
        let mut waiting = Vec::new();
        let small = Results::of(self, graph)?;
        let rooms = |node| small.iter().flat_map(|small| small.rooms(node)).collect();
        let recorder = Recorder {
            encoder: self.device.encoder()?,
            own: Vec::new(),
            first: 0,
            results: Vec::new(),
            bytes: 0,
            launches: 0,
            blocks: 0,
        };
        RECORDER.set(Some(recorder));
        let _recording = Recording;
        let made = graph.compute(&elements, |id, inputs| {
            let node = graph.node(id);
            begin_operation(rooms(id));
            let made = match joined.as_ref().and_then(|joined| joined.part(id)) {
                Some(part) => self.part(part, inputs, &mut waiting)?,
                None => self.run(&node.op, inputs, &node.outputs)?,
            };
            made.ok_or_else(|| Error::Unsupported(node.op.name().to_string()))
        });
        let Some(recorder) = RECORDER.take() else {
            return Ok(None);
        };
        let made = match made {
            Ok(made) => made,
            Err(error) => {
                log::write(Level::Debug, || {
                    format!("a graph of arrays that comes again is not recorded: {error}")
                });
                return Ok(Replay::unrecorded(joined));
            }
        };
        let leaf_at = |(place, leaf): (usize, &Elements)| (leaf.buffer().address(), place);
        let leaf_at: HashMap<u64, usize> = elements.iter().enumerate().map(leaf_at).collect();
        let outputs: Vec<(Own, Option<usize>)> = made
            .iter()
            .map(|output| {
                let leaf = leaf_at.get(&output.buffer().address());
                (Own::of(output), leaf.copied())
            })
            .collect();
        let small = small.filter(|small| outputs.iter().any(|(own, _)| small.has(&own.buffer)));
        let stays = |leaf: usize| matches!(inputs[leaf], Input::Same(_));
        let copied = outputs.iter().filter(|(_, leaf)| !leaf.is_some_and(stays));
        let copied: Vec<u64> = copied
            .map(|(own, _)| part(own.dtype, &own.layout).1)
            .collect();
        let bytes: u64 = copied.iter().sum();
        let copies = copied.iter().filter(|&&bytes| bytes > SMALL).count();
        if bytes as usize > MOST_MOVED || LAUNCHES_A_COPY * copies > recorder.launches {
            return Ok(Replay::unrecorded(joined));
        }
        Ok(Some(Replay {
            outputs,
            program: Some(recorder.encoder.finish()),
            joined: None,
            waiting,
            inputs,
            small,
        }))
    }

    /// Room for elements that lie so.
    fn room(self: &Arc<Self>, dtype: Dtype, layout: &Layout) -> Result<Elements> {
        let reach = layout.reach();
        let (from, to) = reach.map_or((0, 0), |reach| (reach.from, reach.to));
        let layout = Layout {
            offset: layout.offset.saturating_sub(from),
            ..layout.clone()
        };
        Elements::new(self.clone(), self.memory(to - from, dtype)?, dtype, layout)
    }

    /// Queues a run with these leaves; `None` if one does not lie where it was.
    ///
    /// # Errors
    /// `OutOfMemory`, `DeviceLost`.
    pub fn run_replay(
        self: &Arc<Self>,
        replay: &mut Replay,
        leaves: &[Leaf<'_>],
    ) -> Result<Option<Vec<Elements>>> {
        let is_there = |(input, leaf): (&Input, &Leaf<'_>)| match input {
            Input::Same(address) => *address == leaf.address(),
            Input::Slot { .. } => true,
        };
        // What was recorded without kernels that are there now is recorded anew.
        let all_done = replay.waiting.iter().all(|kernel| kernel.is_done());
        let is_old = all_done && replay.waiting.iter().any(|kernel| kernel.is_there());
        if all_done {
            replay.waiting.clear();
        }
        if is_old || !replay.inputs.iter().zip(leaves).all(is_there) {
            return Ok(None);
        }
        for (input, leaf) in replay.inputs.iter_mut().zip(leaves) {
            let Input::Slot { slot, sent } = input else {
                continue;
            };
            match leaf {
                Leaf::Device(x) => {
                    let (from, bytes) = part(x.dtype(), x.layout());
                    self.stream
                        .copy_on_device(x.buffer(), from, slot, 0, bytes)?;
                }
                Leaf::Host(bytes, dtype, layout) => {
                    let reach = layout.reach().map_or(0..0, |reach| reach.from..reach.to);
                    let size = dtype.size();
                    let bytes = bytes.get(reach.start * size..reach.end * size);
                    let bytes = bytes.unwrap_or_default();
                    if bytes.is_empty() || (bytes == sent && bytes.len() <= COMPARED) {
                        continue;
                    }
                    self.stream.copy_to_device(slot, 0, bytes)?;
                    if bytes.len() <= COMPARED {
                        sent.clear();
                        sent.extend_from_slice(bytes);
                    }
                }
            }
        }
        if let Some(program) = &mut replay.program {
            program.run(&self.stream)?;
        }
        let small = replay.small.as_ref();
        let small = small.map(|small| Ok((small, small.copied(self)?)));
        let small = small.transpose()?;
        let mut results = Vec::with_capacity(replay.outputs.len());
        for (output, leaf) in &replay.outputs {
            let of_copy = |(small, copy): &(&Results, _)| small.of_copy(copy, &output.buffer);
            if let Some(buffer) = small.as_ref().and_then(of_copy) {
                let layout = output.layout.clone();
                let result = Elements::new(self.clone(), buffer, output.dtype, layout)?;
                results.push(result.queued());
                continue;
            }
            // A view of a leaf that was not copied in.
            if let Some(Leaf::Device(x)) = leaf.and_then(|leaf| leaves.get(leaf))
                && x.buffer().address() == output.buffer.address()
            {
                results.push(x.with(output.dtype, output.layout.clone())?.queued());
                continue;
            }
            let (from, bytes) = part(output.dtype, &output.layout);
            let result = self.room(output.dtype, &output.layout)?;
            self.stream
                .copy_on_device(&output.buffer, from, result.buffer(), 0, bytes)?;
            results.push(result.queued());
        }
        Ok(Some(results))
    }
}
