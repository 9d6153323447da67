//! Graph nodes: what they do, and kernel arguments that are kept by pointer.
//!
//! HIP does not copy a kernel node's arguments: the executable graph reads them through the pointers
//! of `hipKernelNodeParams` when it is launched. An engine that lets the argument pack die, or writes
//! into it, gets wrong results on some runtimes. So the bytes at the time of the call are kept too,
//! and every later difference is reported.

use std::ffi::c_void;
use std::sync::Arc;

use super::graph::Graph;
use super::launch::{Geometry, pack};
use super::operation::{CopyCall, FillCall, KernelCall, Work};
use crate::isa::Kernel;

/// `hipKernelNodeParams`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KernelNodeParams {
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// List of packed arguments, or null.
    pub extra: *mut *mut c_void,
    /// The kernel's `hipFunction_t`.
    pub function: *mut c_void,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Array of pointers to arguments, or null.
    pub params: *mut *mut c_void,
    /// Dynamic LDS bytes.
    pub dynamic_lds: u32,
}

/// `hipMemsetParams`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MemsetParams {
    /// First address.
    pub to: *mut c_void,
    /// Bytes of an element: 1, 2 or 4.
    pub element: u32,
    /// Rows.
    pub height: usize,
    /// Bytes from row to row; unused for one row.
    pub pitch: usize,
    /// The element.
    pub value: u32,
    /// Elements of a row.
    pub width: usize,
}

/// Where a kernel node's arguments are.
#[derive(Clone, Debug)]
pub enum Arguments {
    /// In the program's memory.
    Pointed {
        /// Address of the array of pointers, or 0.
        params: u64,
        /// Address of the `extra` list, or 0.
        extra: u64,
        /// The packed arguments when the node was made or set.
        seen: Vec<u8>,
    },
    /// In the node (captured launches).
    Copied(Vec<u8>),
}

/// A kernel node.
#[derive(Clone, Debug)]
pub struct KernelNode {
    /// Handle of its function.
    pub function: u64,
    /// The code.
    pub kernel: Arc<Kernel>,
    /// Blocks, threads, LDS.
    pub geometry: Geometry,
    /// Its arguments.
    pub arguments: Arguments,
}

impl KernelNode {
    /// The arguments as a launch now finds them, and what is wrong with them.
    pub fn read_arguments(&self) -> (Vec<u8>, Option<String>) {
        let (params, extra, seen) = match &self.arguments {
            Arguments::Copied(bytes) => return (bytes.clone(), None),
            Arguments::Pointed {
                params,
                extra,
                seen,
            } => (*params, *extra, seen),
        };
        match pack(&self.kernel, params, extra) {
            Err(message) => (
                seen.clone(),
                Some(format!("its arguments are gone: {message}")),
            ),
            Ok(now) if now == *seen => (now, None),
            Ok(now) => {
                let at = now
                    .iter()
                    .zip(seen)
                    .position(|(now, seen)| now != seen)
                    .unwrap_or(0);
                let index = self
                    .kernel
                    .args
                    .iter()
                    .position(|arg| (at as u32) < arg.offset + arg.size)
                    .unwrap_or(0);
                let message = format!(
                    "its argument {index} was changed or freed after the node was made (HIP reads arguments through the pointer at launch)"
                );
                (now, Some(message))
            }
        }
    }
}

/// What a node does.
#[derive(Clone, Debug)]
pub enum NodeWork {
    /// A kernel.
    Kernel(KernelNode),
    /// A copy.
    Copy(CopyCall),
    /// A fill.
    Fill(FillCall),
    /// Nothing.
    Empty,
    /// A copy of another graph, as it was when the node was added.
    Child(Box<Graph>),
}

impl NodeWork {
    /// The node for captured work.
    pub fn captured(work: Work, function: u64) -> NodeWork {
        match work {
            Work::Kernel(KernelCall {
                kernel,
                grid,
                block,
                dynamic_lds,
                kernarg,
            }) => NodeWork::Kernel(KernelNode {
                function,
                kernel,
                geometry: Geometry {
                    grid,
                    block,
                    dynamic_lds,
                },
                arguments: Arguments::Copied(kernarg),
            }),
            Work::Copy(call) => NodeWork::Copy(call),
            Work::Fill(call) => NodeWork::Fill(call),
            // Products are refused while a stream captures.
            Work::Product(_) | Work::Empty => NodeWork::Empty,
        }
    }

    /// `hipGraphNodeType` of the node (HIP 5.3 and later count from 0).
    pub fn kind(&self) -> i32 {
        match self {
            NodeWork::Kernel(_) => 0,
            NodeWork::Copy(_) => 1,
            NodeWork::Fill(_) => 2,
            NodeWork::Child(_) => 4,
            NodeWork::Empty => 5,
        }
    }

    /// The work of one launch, and what is wrong with the node.
    pub fn work(&self) -> (Work, Option<String>) {
        match self {
            NodeWork::Kernel(node) => {
                let (kernarg, problem) = node.read_arguments();
                let Geometry {
                    grid,
                    block,
                    dynamic_lds,
                } = node.geometry;
                let kernel = node.kernel.clone();
                (
                    Work::Kernel(KernelCall {
                        kernel,
                        grid,
                        block,
                        dynamic_lds,
                        kernarg,
                    }),
                    problem,
                )
            }
            NodeWork::Copy(call) => (Work::Copy(call.clone()), None),
            NodeWork::Fill(call) => (Work::Fill(*call), None),
            NodeWork::Empty | NodeWork::Child(_) => (Work::Empty, None),
        }
    }
}

/// A node of a graph.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it does.
    pub work: NodeWork,
    /// Nodes that must be done before.
    pub after: Vec<u64>,
}
