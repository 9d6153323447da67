//! From recorded nodes to executable graphs.
//!
//! What others learned of HIP's graphs is designed out: argument packs live as long as the
//! executable, there are no child graphs, no updates, no host functions, and a graph can be cut into
//! segments.
//!
//! On NVIDIA a kernel that waits itself (`grid_dependency_wait`) begins while the kernels that it follows drain: when each
//! of their blocks has let it (`grid_dependency_launch`, by the first of its threads that gets there) or ended. So when it
//! begins, all that come before it in the graph have begun, and
//!
//! - after it has waited, what it follows has ended, and what that follows, too, if some thread of each launch waits: else
//!   edges that others imply would be missing;
//! - before, it may read what no kernel of the program writes (weights), and what a kernel writes before it lets others
//!   begin, behind a fence and a barrier of the block, or what is written before a kernel that waits and only then lets
//!   others begin;
//! - before, it writes nothing.
//!
//! `waits_tests.rs` has what each kernel does.

use super::device::Device;
use super::program::{Node, Operation};
use crate::driver::{ExecutableHandle, GraphHandle, NodeHandle, Overlap};
use crate::{Error, Result};

/// Builds one executable a segment.
pub(super) fn build(device: &Device, nodes: &[Node]) -> Result<Vec<ExecutableHandle>> {
    device.enter()?;
    let length = match device.graphs.segment() {
        0 => nodes.len().max(1),
        length => length,
    };
    let mut executables = Vec::new();
    for (i, segment) in nodes.chunks(length).enumerate() {
        match build_segment(device, segment, i * length) {
            Ok(executable) => executables.push(executable),
            Err(error) => {
                for executable in executables {
                    // SAFETY: just made and never launched.
                    unsafe { device.api.executable_destroy(executable) };
                }
                return Err(error);
            }
        }
    }
    Ok(executables)
}

fn build_segment(device: &Device, nodes: &[Node], first: usize) -> Result<ExecutableHandle> {
    let graph = device.api.graph_create()?;
    // SAFETY: the graph was just made.
    let executable = add_nodes(device, graph, nodes, first)
        .and_then(|()| unsafe { device.api.graph_instantiate(graph) });
    // SAFETY: the executable does not need it.
    unsafe { device.api.graph_destroy(graph) };
    executable
}

fn add_nodes(device: &Device, graph: GraphHandle, nodes: &[Node], first: usize) -> Result<()> {
    let api = device.api;
    let mut made: Vec<NodeHandle> = Vec::with_capacity(nodes.len());
    for (i, node) in nodes.iter().enumerate() {
        // Nodes of earlier segments come before by the stream's order.
        let mut after = Vec::with_capacity(node.after.len());
        let mut under = Vec::new();
        for earlier in &node.after {
            let Some(place) = (*earlier as usize).checked_sub(first) else {
                continue;
            };
            let handle = made
                .get(place)
                .ok_or_else(|| Error::Internal("a graph node follows a later one".into()))?;
            if overlaps(device, node, nodes.get(place), place + 1 == i) {
                under.push(*handle);
            } else {
                after.push(*handle);
            }
        }
        // SAFETY: the graph is live; the program keeps arguments, kernels and buffers as long as the
        // executable.
        let handle = unsafe {
            match &node.operation {
                Operation::Launch { launch, args, .. } => {
                    api.graph_add_kernel(graph, &after, launch, args)?
                }
                Operation::Copy {
                    target,
                    source,
                    bytes,
                } => api.graph_add_copy(graph, &after, *target, *source, *bytes, device.context)?,
                Operation::Fill {
                    target,
                    value,
                    bytes,
                } => api.graph_add_fill(graph, &after, *target, *value, *bytes, device.context)?,
                Operation::Multiply(_) => {
                    return Err(Error::Internal("a graph of a product by a BLAS".into()));
                }
            }
        };
        for under in under {
            // SAFETY: both are kernel nodes of this graph.
            unsafe { api.graph_add_overlap(graph, under, handle)? };
        }
        made.push(handle);
    }
    Ok(())
}

/// Whether a node may begin while an earlier one that it follows, or the last one, drains.
fn overlaps(device: &Device, node: &Node, before: Option<&Node>, is_last: bool) -> bool {
    let Operation::Launch { launch, .. } = &node.operation else {
        return false;
    };
    let wants = match launch.overlap {
        Overlap::None => false,
        Overlap::Last => is_last,
        Overlap::All => true,
    };
    let kernel = before.is_some_and(|n| matches!(n.operation, Operation::Launch { .. }));
    wants && kernel && device.api.overlaps_in_graphs()
}
