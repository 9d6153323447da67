//! Programs: recorded launches that are replayed.

use super::buffer::{DeviceBuffer, Range};
use super::device::Device;
use super::graph;
use super::graveyard::Remains;
use super::hazards::Part;
use super::module::Kernel;
use super::policy::Policy;
use super::probation;
use super::stream::Stream;
use super::uses::{Mark, Uses};
use super::verdict::Verdict;
use crate::driver::{ExecutableHandle, Launch, Overlap, Packed, Product};
use crate::{Error, Result, log};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How a program is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramMode {
    /// One launch after another on the stream.
    Direct,
    /// One graph launch (or one a segment).
    Graph,
}

/// Why a program runs the way it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModeReason {
    /// [`Device::set_graph_policy`] or `MLXROCM_GRAPHS` say so.
    Policy,
    /// Graphs were compared with direct launches on this device.
    Verdict(Verdict),
    /// Graphs were not compared on this device yet: a run of a program of 8 nodes or more does.
    NotJudged,
    /// The driver does not build a graph of this program.
    NotBuilt,
}

/// What one recorded node does.
pub(super) enum Operation {
    Launch {
        launch: Launch,
        args: Packed,
        kernel: Kernel,
    },
    Copy {
        target: u64,
        source: u64,
        bytes: usize,
    },
    Fill {
        target: u64,
        value: u8,
        bytes: usize,
    },
    /// A product by the vendor's BLAS.
    Multiply(Product),
}

impl Operation {
    /// What it does, for messages.
    fn words(&self) -> String {
        match self {
            Operation::Launch { kernel, .. } => format!("launching '{}'", kernel.name()),
            Operation::Copy { bytes, .. } => format!("copying {bytes} bytes on the device"),
            Operation::Fill { bytes, .. } => format!("filling {bytes} bytes"),
            Operation::Multiply(_) => "multiplying".into(),
        }
    }
}

/// One recorded node and the earlier ones that it follows.
pub(super) struct Node {
    pub operation: Operation,
    pub after: Vec<u32>,
}

/// A recorded list of launches at fixed addresses. Owns its argument packs and keeps its buffers
/// alive. Internally locked: any thread; runs of one program follow each other on any streams.
pub struct Program {
    device: Arc<Device>,
    nodes: Vec<Node>,
    buffers: Vec<DeviceBuffer>,
    /// What a run writes; `None` if a launch did not say.
    written: Option<Vec<Part>>,
    /// Whether there are products by the vendor's BLAS.
    multiplies: bool,
    /// What it is known by on probation: its launches, whatever their sizes.
    structure: u64,
    /// It had its turn there, or needs none.
    settled: AtomicBool,
    uses: Uses,
    state: Mutex<State>,
}

/// What changes.
#[derive(Default)]
struct State {
    /// The last run.
    last: Option<Mark>,
    /// Executable graphs, one a segment, once a run needed them.
    executables: Option<Vec<ExecutableHandle>>,
    /// Graphs cannot be built for this program.
    no_graph: bool,
}

impl Drop for Program {
    fn drop(&mut self) {
        let marks = self.uses.take();
        for buffer in &self.buffers {
            buffer.uses().merge(&marks);
        }
        let packs = self
            .nodes
            .drain(..)
            .filter_map(|node| match node.operation {
                Operation::Launch { args, kernel, .. } => {
                    if let Some(uses) = kernel.uses() {
                        uses.merge(&marks);
                    }
                    Some(args)
                }
                _ => None,
            });
        let remains = Remains {
            packs: packs.collect(),
            executables: self.state.get_mut().executables.take().unwrap_or_default(),
            ..Remains::default()
        };
        self.device.graveyard.bury(&self.device, marks, remains);
    }
}

/// A hash (FNV-1a) of the kernels' names and of what else there is, in order.
fn structure(nodes: &[Node]) -> u64 {
    let name = |node: &Node| match &node.operation {
        Operation::Launch { kernel, .. } => kernel.name().to_owned(),
        Operation::Copy { .. } => "a copy".into(),
        Operation::Fill { .. } => "a fill".into(),
        Operation::Multiply(_) => "a product".into(),
    };
    let step = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let names = nodes
        .iter()
        .flat_map(|node| (name(node) + ";").into_bytes());
    names.fold(0xcbf2_9ce4_8422_2325, step)
}

impl Program {
    pub(super) fn new(
        device: Arc<Device>,
        nodes: Vec<Node>,
        buffers: Vec<DeviceBuffer>,
        written: Option<Vec<Part>>,
    ) -> Self {
        let is_product = |node: &Node| matches!(node.operation, Operation::Multiply(_));
        let multiplies = nodes.iter().any(is_product);
        Program {
            device,
            buffers,
            written,
            multiplies,
            structure: structure(&nodes),
            settled: AtomicBool::new(false),
            nodes,
            uses: Uses::default(),
            // What a BLAS launches is known to it alone.
            state: Mutex::new(State {
                no_graph: multiplies,
                ..State::default()
            }),
        }
    }

    /// Queues one run. The first run on a device whose graphs are not yet judged compares both modes
    /// (and waits for them), and so do the first of a few more programs; every later one queues and returns, without an
    /// allocation.
    ///
    /// # Errors
    /// Driver errors; what was queued before the failed launch still runs.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        self.run_touching(stream, &[])
    }

    /// [`Self::run`], of whose writes more is known than was recorded: of each buffer in `touched`, a run writes
    /// nothing else. So a program can be judged that may write anywhere in a large buffer.
    pub(super) fn run_touching(&self, stream: &Stream, touched: &[Range]) -> Result<()> {
        let mode = match self.device.graphs.policy() {
            Policy::Off => ProgramMode::Direct,
            Policy::On => ProgramMode::Graph,
            Policy::Auto if self.is_awaited() => {
                return probation::run(&self.device, self, stream, touched);
            }
            Policy::Auto => match self.device.graphs.verdict() {
                Some(verdict) => verdict.mode(),
                None => ProgramMode::Direct,
            },
        };
        self.run_as(stream, mode)
    }

    /// Notes the runs so far as uses of the buffers that they touch. Otherwise these learn of them when the program is
    /// dropped, which keeps them until then.
    pub fn note_uses(&self) {
        let runs = self.uses.so_far();
        for buffer in &self.buffers {
            buffer.uses().merge(&runs);
        }
    }

    /// Whether the next run compares both modes, and waits.
    pub(super) fn is_awaited(&self) -> bool {
        let graphs = &self.device.graphs;
        if graphs.policy() != Policy::Auto || self.settled.load(Ordering::Relaxed) {
            return false;
        }
        let awaited = graphs.awaits(self);
        // More is compared by and by, never less.
        let settled = !awaited && graphs.verdict().is_some();
        self.settled.store(settled, Ordering::Relaxed);
        awaited
    }

    pub(super) fn structure(&self) -> u64 {
        self.structure
    }

    /// Queues one run in the given mode. If the driver cannot build a graph of it, it runs directly.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_as(&self, stream: &Stream, mode: ProgramMode) -> Result<()> {
        if !Arc::ptr_eq(&self.device, stream.device()) {
            return Err(Error::InvalidArgument(
                "a program cannot run on a stream of another device".into(),
            ));
        }
        self.device.enter()?;
        let mut state = self.state.lock();
        self.follow_last(&state, stream)?;
        let mark = match mode {
            ProgramMode::Graph if self.build(&mut state).is_some() => {
                self.run_graph(&state, stream)?
            }
            _ => self.run_direct(stream)?,
        };
        if let Some(mark) = mark {
            state.last = Some(mark);
        }
        Ok(())
    }

    /// How the next run would go, and why.
    pub fn mode(&self) -> (ProgramMode, ModeReason) {
        let (mode, reason) = match self.device.graphs.policy() {
            Policy::Off => (ProgramMode::Direct, ModeReason::Policy),
            Policy::On => (ProgramMode::Graph, ModeReason::Policy),
            Policy::Auto => match self.device.graphs.verdict() {
                Some(verdict) => (verdict.mode(), ModeReason::Verdict(verdict)),
                None => (ProgramMode::Direct, ModeReason::NotJudged),
            },
        };
        if mode == ProgramMode::Graph && self.state.lock().no_graph {
            return (ProgramMode::Direct, ModeReason::NotBuilt);
        }
        (mode, reason)
    }

    /// The device that it runs on.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Whether the driver builds a graph of it; built now if it was not.
    pub(super) fn has_graph(&self) -> bool {
        self.build(&mut self.state.lock()).is_some()
    }

    /// Whether there are products by the vendor's BLAS in it: it is never a graph.
    pub(super) fn multiplies(&self) -> bool {
        self.multiplies
    }

    /// The number of launches, copies, fills and products.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether it does nothing.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The edges between the recorded nodes: (earlier, later), without those that others imply.
    pub fn edges(&self) -> Vec<(usize, usize)> {
        let edges = self.nodes.iter().enumerate();
        edges
            .flat_map(|(to, node)| node.after.iter().map(move |from| (*from as usize, to)))
            .collect()
    }

    /// What a run writes; `None` if a launch did not say.
    pub(super) fn written(&self) -> Option<&[Part]> {
        self.written.as_deref()
    }

    pub(super) fn buffer(&self, address: u64) -> Option<&DeviceBuffer> {
        self.buffers.iter().find(|b| b.address() == address)
    }

    /// Runs of one program use the same memory and the same executable graph, so one on another
    /// stream waits for the last one.
    fn follow_last(&self, state: &State, stream: &Stream) -> Result<()> {
        match state.last {
            Some(last) => stream.follow(&last.into()),
            None => Ok(()),
        }
    }

    fn run_graph(&self, state: &State, stream: &Stream) -> Result<Option<Mark>> {
        let mut mark = None;
        for executable in state.executables.iter().flatten() {
            // SAFETY: the executable is this program's, which keeps what its kernels use until the
            // marked work is done.
            let code = unsafe {
                self.device
                    .api
                    .executable_launch(*executable, stream.handle())
            };
            let queued = stream.queued(code, || "launching a program's graph".into())?;
            self.uses.add(queued);
            mark = Some(queued);
        }
        Ok(mark)
    }

    fn run_direct(&self, stream: &Stream) -> Result<Option<Mark>> {
        let mut mark = None;
        for (index, node) in self.nodes.iter().enumerate() {
            let queued = self.queue(&node.operation, index == 0, stream)?;
            // At once: a later part may fail.
            self.uses.add(queued);
            mark = Some(queued);
        }
        Ok(mark)
    }

    /// The first one begins when all that was queued before has ended: its kernels may read what no other of the program
    /// writes before they wait.
    fn queue(&self, operation: &Operation, is_first: bool, stream: &Stream) -> Result<Mark> {
        let (api, handle) = (self.device.api, stream.handle());
        // SAFETY: recorded with checked ranges; the program keeps kernels and buffers until the
        // marked work is done. That arguments fit their kernels is the recorder's.
        let code = unsafe {
            match operation {
                Operation::Launch { launch, args, .. } if is_first => {
                    let overlap = Overlap::None;
                    let launch = Launch { overlap, ..*launch };
                    api.launch(&launch, args, handle)
                }
                Operation::Launch { launch, args, .. } => api.launch(launch, args, handle),
                Operation::Copy {
                    target,
                    source,
                    bytes,
                } => api.copy_on_device(*target, *source, *bytes, handle),
                Operation::Fill {
                    target,
                    value,
                    bytes,
                } => api.fill(*target, *value, *bytes, handle),
                Operation::Multiply(product) => return stream.multiply(product),
            }
        };
        stream.queued(code, || operation.words())
    }

    /// The executable graphs, built at the first need; `None` if the driver does not build them.
    fn build<'a>(&self, state: &'a mut State) -> Option<&'a [ExecutableHandle]> {
        if state.executables.is_none() && !state.no_graph {
            match graph::build(&self.device, &self.nodes) {
                Ok(executables) => state.executables = Some(executables),
                Err(error) => {
                    state.no_graph = true;
                    log::write(log::Level::Warn, || {
                        format!(
                            "a program of {} launches runs directly: {error}",
                            self.nodes.len()
                        )
                    });
                }
            }
        }
        state.executables.as_deref()
    }
}
