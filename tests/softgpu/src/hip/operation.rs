//! What streams hold: kernels, copies, fills, event records, host functions and graph runs.

use std::ffi::c_void;
use std::sync::Arc;
use std::time::Instant;

use crate::isa::{ArgKind, Kernel};

/// Identifies an operation; never used twice.
pub type OperationId = u64;

/// A kernel with everything a launch needs.
#[derive(Clone, Debug)]
pub struct KernelCall {
    /// The code.
    pub kernel: Arc<Kernel>,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Dynamic LDS bytes.
    pub dynamic_lds: u32,
    /// The explicit arguments, packed.
    pub kernarg: Vec<u8>,
}

impl KernelCall {
    /// Values of the pointer arguments with their positions.
    pub fn pointers(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.kernel
            .args
            .iter()
            .enumerate()
            .filter_map(|(index, arg)| {
                if arg.kind != ArgKind::Pointer {
                    return None;
                }
                let at = arg.offset as usize;
                let bytes = self.kernarg.get(at..at + 8)?;
                let address = u64::from_ne_bytes(bytes.try_into().ok()?);
                (address != 0).then_some((index, address))
            })
    }
}

/// Where a copy reads.
#[derive(Clone, Debug)]
pub enum Source {
    /// At an address, when the copy is executed.
    Address(u64),
    /// From bytes taken when the copy was called (pageable memory).
    Staged(Arc<[u8]>),
}

/// A copy.
#[derive(Clone, Debug)]
pub struct CopyCall {
    /// First address written.
    pub to: u64,
    /// What is read.
    pub from: Source,
    /// Bytes.
    pub bytes: u64,
}

/// A fill with a repeated element.
#[derive(Clone, Copy, Debug)]
pub struct FillCall {
    /// First address written.
    pub to: u64,
    /// The element, in its lowest `element` bytes.
    pub value: u32,
    /// Bytes of an element: 1, 2 or 4.
    pub element: u64,
    /// Elements.
    pub count: u64,
}

/// Device work: what a stream operation or a graph node does.
#[derive(Clone, Debug)]
pub enum Work {
    /// A kernel.
    Kernel(KernelCall),
    /// A copy.
    Copy(CopyCall),
    /// A fill.
    Fill(FillCall),
    /// Nothing (an empty node).
    Empty,
}

/// Memory that an operation is known to touch.
#[derive(Clone, Debug)]
pub struct Use {
    /// First address.
    pub address: u64,
    /// Bytes; `None` for a kernel's pointer, whose extent only the kernel knows.
    pub bytes: Option<u64>,
    /// Words for messages, for example `argument 2 of kernel vadd`.
    pub what: String,
}

impl Work {
    /// A short name for messages and the order list.
    pub fn name(&self) -> String {
        match self {
            Work::Kernel(call) => format!("kernel {}", call.kernel.name),
            Work::Copy(call) => format!("copy of {} bytes to {:#x}", call.bytes, call.to),
            Work::Fill(call) => {
                format!(
                    "fill of {} bytes at {:#x}",
                    call.count * call.element,
                    call.to
                )
            }
            Work::Empty => "empty node".to_owned(),
        }
    }

    /// The kind under which the report counts it.
    pub fn kind(&self) -> &'static str {
        match self {
            Work::Kernel(_) => "kernels",
            Work::Copy(_) => "copies",
            Work::Fill(_) => "fills",
            Work::Empty => "empty_nodes",
        }
    }

    /// The memory it is known to touch.
    pub fn uses(&self) -> Vec<Use> {
        match self {
            Work::Kernel(call) => call
                .pointers()
                .map(|(index, address)| Use {
                    address,
                    bytes: None,
                    what: format!("argument {index} of kernel {}", call.kernel.name),
                })
                .collect(),
            Work::Copy(call) => {
                let mut uses = vec![Use {
                    address: call.to,
                    bytes: Some(call.bytes),
                    what: "destination of a copy".to_owned(),
                }];
                if let Source::Address(address) = call.from {
                    uses.push(Use {
                        address,
                        bytes: Some(call.bytes),
                        what: "source of a copy".to_owned(),
                    });
                }
                uses
            }
            Work::Fill(call) => vec![Use {
                address: call.to,
                bytes: Some(call.count * call.element),
                what: "destination of a fill".to_owned(),
            }],
            Work::Empty => Vec::new(),
        }
    }
}

/// How far a node of a graph run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepState {
    /// Not begun.
    Waiting,
    /// Being executed.
    Running,
    /// Executed.
    Done,
}

/// One node of a graph run.
#[derive(Clone, Debug)]
pub struct Step {
    /// What it does.
    pub work: Arc<Work>,
    /// Indices of the nodes that must be done before.
    pub after: Arc<[usize]>,
    /// How far it is.
    pub state: StepState,
}

/// One launch of an executable graph.
#[derive(Debug)]
pub struct GraphRun {
    /// Handle of the executable.
    pub executable: u64,
    /// Its nodes.
    pub steps: Vec<Step>,
}

impl GraphRun {
    /// Indices of the nodes that may begin now.
    pub fn ready(&self) -> impl Iterator<Item = usize> + '_ {
        let done = |index: &usize| {
            self.steps
                .get(*index)
                .is_none_or(|step| step.state == StepState::Done)
        };
        self.steps
            .iter()
            .enumerate()
            .filter(move |(_, step)| {
                step.state == StepState::Waiting && step.after.iter().all(done)
            })
            .map(|(index, _)| index)
    }

    /// Nodes that are not done.
    pub fn left(&self) -> usize {
        self.steps
            .iter()
            .filter(|step| step.state != StepState::Done)
            .count()
    }
}

/// A host function in a stream.
#[derive(Clone, Copy, Debug)]
pub struct HostCall {
    /// The function.
    pub function: unsafe extern "C" fn(*mut c_void),
    /// Its argument.
    pub user_data: *mut c_void,
}

// SAFETY: HIP's contract is that the function and its data may be used from a runtime thread.
unsafe impl Send for HostCall {}

/// What an operation is.
#[derive(Debug)]
pub enum What {
    /// Device work launched directly.
    Work(Arc<Work>),
    /// The record of an event (handle).
    Record(u64),
    /// A wait: done as soon as what it comes after is done.
    Wait,
    /// A host function.
    Host(HostCall),
    /// A graph launch.
    Graph(GraphRun),
}

/// An operation in a stream's queue.
#[derive(Debug)]
pub struct Operation {
    /// Its id.
    pub id: OperationId,
    /// Operations outside the stream that must be done before.
    pub after: Vec<OperationId>,
    /// What it does.
    pub what: What,
    /// Memory it is known to touch.
    pub uses: Vec<Use>,
    /// Never ends (an injected fault).
    pub hung: bool,
    /// When it was enqueued.
    pub enqueued: Instant,
}

impl Operation {
    /// A short name for messages.
    pub fn name(&self) -> String {
        match &self.what {
            What::Work(work) => work.name(),
            What::Record(_) => "event record".to_owned(),
            What::Wait => "wait for an event".to_owned(),
            What::Host(_) => "host function".to_owned(),
            What::Graph(run) => format!("graph launch of {} nodes", run.steps.len()),
        }
    }
}
