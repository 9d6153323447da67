//! Programs: recorded launches that are replayed.

mod run;

use super::buffer::DeviceBuffer;
use super::device::Device;
use super::graveyard::Remains;
use super::hazards::Part;
use super::module::Kernel;
use super::uses::{Mark, Uses};
use super::verdict::Verdict;
use crate::driver::{ExecutableHandle, Launch, Packed, Product};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

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

    /// Notes the runs so far as uses of the buffers that they touch. Otherwise these learn of them when the program is
    /// dropped, which keeps them until then.
    pub fn note_uses(&self) {
        let runs = self.uses.so_far();
        for buffer in &self.buffers {
            buffer.uses().merge(&runs);
        }
    }

    pub(super) fn structure(&self) -> u64 {
        self.structure
    }

    /// The device that it runs on.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
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

    /// Blocks of each launch: for tests.
    #[doc(hidden)]
    pub fn grids(&self) -> Vec<[u32; 3]> {
        let grid = |node: &Node| match &node.operation {
            Operation::Launch { launch, .. } => Some(launch.grid),
            _ => None,
        };
        self.nodes.iter().filter_map(grid).collect()
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
}
