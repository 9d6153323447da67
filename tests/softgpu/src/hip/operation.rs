//! What streams hold: kernels, copies, fills, products, event records, host functions and graph runs.

use std::collections::BTreeSet;
use std::ffi::c_void;
use std::sync::Arc;
use std::time::Instant;

use super::order::{Ancestors, Clock};
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

/// A product by the stand-in's BLAS: `c[n][m] = Σ_k a[m][k] · b[n][k]`, f16 to f32, with numbers from row to
/// row.
#[derive(Clone, Copy, Debug)]
pub struct ProductCall {
    pub a: u64,
    pub b: u64,
    pub c: u64,
    pub m: u64,
    pub n: u64,
    pub k: u64,
    pub lda: u64,
    pub ldb: u64,
    pub ldc: u64,
    /// Its last sum comes out wrong.
    pub wrong: bool,
    /// It ends in an illegal address.
    pub fails: bool,
}

impl ProductCall {
    /// The memory of its matrices: address, bytes, what it is. The last one is written.
    pub fn ends(&self) -> [(u64, u64, &'static str); 3] {
        let bytes = |rows: u64, stride, cols, size| ((rows - 1) * stride + cols) * size;
        [
            (
                self.a,
                bytes(self.m, self.lda, self.k, 2),
                "weights of a product",
            ),
            (self.b, bytes(self.n, self.ldb, self.k, 2), "x of a product"),
            (
                self.c,
                bytes(self.n, self.ldc, self.m, 4),
                "result of a product",
            ),
        ]
    }
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
    /// A product by a BLAS.
    Product(ProductCall),
    /// Nothing (an empty node).
    Empty,
}

/// How an operation uses memory, for messages.
#[derive(Clone, Debug)]
pub enum Role {
    /// A pointer argument of a kernel, by position.
    Argument(usize, Arc<Kernel>),
    /// An end of a copy or fill.
    End(&'static str),
}

impl std::fmt::Display for Role {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Role::Argument(index, kernel) => {
                write!(out, "argument {index} of kernel {}", kernel.name)
            }
            Role::End(words) => out.write_str(words),
        }
    }
}

/// Memory that an operation is known to touch.
#[derive(Clone, Debug)]
pub struct Use {
    /// First address.
    pub address: u64,
    /// Bytes; `None` for a kernel's pointer, whose extent only the kernel knows.
    pub bytes: Option<u64>,
    /// How.
    pub role: Role,
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
            Work::Product(call) => format!("product of {} x {} x {}", call.m, call.n, call.k),
            Work::Empty => "empty node".to_owned(),
        }
    }

    /// The kind under which the report counts it.
    pub fn kind(&self) -> &'static str {
        match self {
            Work::Kernel(_) => "kernels",
            Work::Copy(_) => "copies",
            Work::Fill(_) => "fills",
            Work::Product(_) => "products",
            Work::Empty => "empty_nodes",
        }
    }

    /// The memory it is known to touch.
    pub fn uses(&self) -> Vec<Use> {
        let end = |address, bytes, words| Use {
            address,
            bytes: Some(bytes),
            role: Role::End(words),
        };
        match self {
            Work::Kernel(call) => call
                .pointers()
                .map(|(index, address)| Use {
                    address,
                    bytes: None,
                    role: Role::Argument(index, Arc::clone(&call.kernel)),
                })
                .collect(),
            Work::Copy(call) => {
                let mut uses = vec![end(call.to, call.bytes, "destination of a copy")];
                if let Source::Address(address) = call.from {
                    uses.push(end(address, call.bytes, "source of a copy"));
                }
                uses
            }
            Work::Fill(call) => {
                vec![end(
                    call.to,
                    call.count * call.element,
                    "destination of a fill",
                )]
            }
            Work::Product(call) => call
                .ends()
                .map(|(address, bytes, what)| end(address, bytes, what))
                .into(),
            Work::Empty => Vec::new(),
        }
    }
}

/// The order of a graph's nodes.
#[derive(Debug, Default)]
pub struct Shape {
    /// Indices of the nodes that come directly after each node.
    pub dependents: Vec<Vec<usize>>,
    /// Which nodes come before which.
    pub ancestors: Arc<Ancestors>,
}

/// One launch of an executable graph.
#[derive(Debug)]
pub struct GraphRun {
    /// Handle of the executable.
    pub executable: u64,
    /// What its nodes do.
    pub steps: Vec<Arc<Work>>,
    /// The order of its nodes.
    pub shape: Arc<Shape>,
    /// How many nodes each still waits for.
    missing: Vec<usize>,
    /// Nodes that may begin now.
    ready: BTreeSet<usize>,
    /// Nodes that are not done.
    left: usize,
}

impl GraphRun {
    /// A run of `steps` in the order that `shape` gives.
    pub fn new(executable: u64, steps: Vec<Arc<Work>>, shape: Arc<Shape>) -> GraphRun {
        let mut missing = vec![0; steps.len()];
        for index in shape.dependents.iter().flatten() {
            if let Some(count) = missing.get_mut(*index) {
                *count += 1;
            }
        }
        let free = missing.iter().enumerate().filter(|(_, count)| **count == 0);
        let ready = free.map(|(index, _)| index).collect();
        GraphRun {
            executable,
            left: steps.len(),
            steps,
            shape,
            missing,
            ready,
        }
    }

    /// Indices of the nodes that may begin now.
    pub fn ready(&self) -> impl Iterator<Item = usize> + '_ {
        self.ready.iter().copied()
    }

    /// No node is done.
    pub fn is_new(&self) -> bool {
        self.left == self.steps.len()
    }

    /// Nodes that are not done.
    pub fn left(&self) -> usize {
        self.left
    }

    /// A node begins.
    pub fn begin(&mut self, index: usize) {
        self.ready.remove(&index);
    }

    /// A node is done.
    pub fn end(&mut self, index: usize) {
        self.left = self.left.saturating_sub(1);
        for after in self.shape.dependents.get(index).into_iter().flatten() {
            if let Some(count) = self.missing.get_mut(*after) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    self.ready.insert(*after);
                }
            }
        }
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
    /// What comes before it.
    pub clock: Arc<Clock>,
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
