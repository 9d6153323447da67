//! Building graphs: nodes and dependencies.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

use super::copy::End;
use super::entry::{hip_functions, write_out};
use super::error::{Error, Outcome};
use super::faults::Site;
use super::graph_node::{Arguments, KernelNode, KernelNodeParams, MemsetParams, Node, NodeWork};
use super::handles::HandleKind;
use super::host_read;
use super::launch::{Geometry, pack};
use super::operation::{CopyCall, FillCall, Source};
use super::runtime::runtime;
use super::state::State;

/// A graph: nodes by handle, in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Its nodes.
    pub nodes: BTreeMap<u64, Node>,
}

impl State {
    /// The graph that a handle names.
    ///
    /// # Errors
    /// A handle that names no live graph.
    pub fn graph(&mut self, graph: *mut c_void) -> Outcome<&mut Graph> {
        let handle = graph as u64;
        if !self.graphs.contains_key(&handle) {
            return Err(self.bad_handle(HandleKind::Graph, handle));
        }
        self.graphs.get_mut(&handle).ok_or(Error::INVALID_HANDLE)
    }

    /// Adds a node to a graph.
    ///
    /// # Errors
    /// `hipErrorInvalidValue` for dependencies that are not nodes of the graph.
    pub fn add_node(&mut self, graph: u64, work: NodeWork, after: Vec<u64>) -> Outcome<u64> {
        let handle = self.new_handle(HandleKind::Node);
        let graph = self.graphs.get_mut(&graph).ok_or(Error::INVALID_HANDLE)?;
        if after.iter().any(|before| !graph.nodes.contains_key(before)) {
            return Err(Error::INVALID_VALUE);
        }
        graph.nodes.insert(handle, Node { work, after });
        Ok(handle)
    }

    /// The kernel node that `params` describes.
    ///
    /// # Errors
    /// An unknown function; `hipErrorInvalidConfiguration` for an empty or too large launch (HIP
    /// refuses nodes with a zero dimension); unreadable arguments.
    pub fn kernel_node(&mut self, params: *const KernelNodeParams) -> Outcome<KernelNode> {
        if params.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        // SAFETY: not null; HIP's contract gives a whole structure.
        let params = unsafe { params.read() };
        let kernel = self.function_kernel(params.function, None)?;
        let geometry = Geometry {
            grid: params.grid,
            block: params.block,
            dynamic_lds: params.dynamic_lds,
        };
        if let Err(message) = geometry.check(&kernel) {
            return Err(self.refuse_launch(&kernel, Error::INVALID_CONFIGURATION, &message));
        }
        let (array, extra) = (params.params as u64, params.extra as u64);
        let seen = match pack(&kernel, array, extra) {
            Ok(seen) => seen,
            Err(message) => {
                return Err(self.refuse_launch(&kernel, Error::INVALID_VALUE, &message));
            }
        };
        let arguments = Arguments::Pointed {
            params: array,
            extra,
            seen,
        };
        Ok(KernelNode {
            function: params.function as u64,
            kernel,
            geometry,
            arguments,
        })
    }

    /// The fill that `params` describes.
    ///
    /// # Errors
    /// Element sizes other than 1, 2, 4; rows with gaps; memory that is not the device's.
    pub fn fill_node(&mut self, params: *const MemsetParams) -> Outcome<FillCall> {
        if params.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        // SAFETY: not null; HIP's contract gives a whole structure.
        let params = unsafe { params.read() };
        let element = u64::from(params.element);
        let row = params.width as u64 * element;
        let gaps = params.height > 1 && params.pitch as u64 != row;
        let count = params.width as u64 * params.height as u64;
        if !matches!(element, 1 | 2 | 4) || count == 0 || gaps || params.to.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        let to = params.to as u64;
        self.copy_end(to, count * element, "destination of a fill node")?;
        Ok(FillCall {
            to,
            value: params.value,
            element,
            count,
        })
    }

    /// The copy of a 1D copy node.
    ///
    /// # Errors
    /// As for `hipMemcpy`.
    pub fn copy_node(
        &mut self,
        to: u64,
        from: u64,
        bytes: usize,
        kind: c_int,
    ) -> Outcome<CopyCall> {
        if to == 0 || from == 0 || bytes == 0 {
            return Err(Error::INVALID_VALUE);
        }
        let (to_end, from_end) = self.copy_ends(to, from, bytes as u64, kind)?;
        if to_end == End::Pageable || from_end == End::Pageable {
            let message = format!(
                "copy node from {from:#x} to {to:#x}: pageable memory must stay where it is for every launch"
            );
            self.report.violation("graph_pageable_copy", message);
        }
        Ok(CopyCall {
            to,
            from: Source::Address(from),
            bytes: bytes as u64,
        })
    }
}

/// Reads an array of node handles.
///
/// # Errors
/// [`Error::INVALID_VALUE`] for a null array with a count.
pub fn read_nodes(nodes: *const *mut c_void, count: usize) -> Outcome<Vec<u64>> {
    if count > 1 << 20 {
        return Err(Error::INVALID_VALUE);
    }
    (0..count)
        .map(|index| {
            host_read::read_u64(nodes as u64 + 8 * index as u64).ok_or(Error::INVALID_VALUE)
        })
        .collect()
}

/// Adds the node that `make` describes; writes its handle.
fn add(
    node: *mut *mut c_void,
    graph: *mut c_void,
    dependencies: *const *mut c_void,
    count: usize,
    make: impl FnOnce(&mut State) -> Outcome<NodeWork>,
) -> Outcome {
    if node.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    let after = read_nodes(dependencies, count)?;
    let mut state = runtime().lock();
    state.graph(graph)?;
    let work = make(&mut state)?;
    let handle = state.add_node(graph as u64, work, after)?;
    drop(state);
    write_out(node, handle as *mut c_void)
}

hip_functions! {
    /// Creates an empty graph.
    fn hipGraphCreate(graph: *mut *mut c_void, flags: c_uint) {
        if graph.is_null() || flags != 0 {
            return Err(Error::INVALID_VALUE);
        }
        let mut state = runtime().lock();
        state.usable_device()?;
        if state.faults.strikes(Site::Graph) {
            return Err(Error::OUT_OF_MEMORY);
        }
        let handle = state.new_handle(HandleKind::Graph);
        state.graphs.insert(handle, Graph::default());
        drop(state);
        write_out(graph, handle as *mut c_void)
    }

    /// Destroys a graph; executables made from it stay.
    fn hipGraphDestroy(graph: *mut c_void) {
        let mut state = runtime().lock();
        state.graph(graph)?;
        state.graphs.remove(&(graph as u64));
        Ok(())
    }

    /// Adds a kernel node. Its arguments stay where they are: see the module's comment.
    fn hipGraphAddKernelNode(
        node: *mut *mut c_void,
        graph: *mut c_void,
        dependencies: *const *mut c_void,
        count: usize,
        params: *const KernelNodeParams,
    ) {
        add(node, graph, dependencies, count, |state| state.kernel_node(params).map(NodeWork::Kernel))
    }

    /// Adds a copy node.
    fn hipGraphAddMemcpyNode1D(
        node: *mut *mut c_void,
        graph: *mut c_void,
        dependencies: *const *mut c_void,
        count: usize,
        to: *mut c_void,
        from: *const c_void,
        bytes: usize,
        kind: c_int,
    ) {
        add(node, graph, dependencies, count, |state| {
            state.copy_node(to as u64, from as u64, bytes, kind).map(NodeWork::Copy)
        })
    }

    /// Adds a fill node.
    fn hipGraphAddMemsetNode(
        node: *mut *mut c_void,
        graph: *mut c_void,
        dependencies: *const *mut c_void,
        count: usize,
        params: *const MemsetParams,
    ) {
        add(node, graph, dependencies, count, |state| state.fill_node(params).map(NodeWork::Fill))
    }

    /// Adds a node that does nothing.
    fn hipGraphAddEmptyNode(
        node: *mut *mut c_void,
        graph: *mut c_void,
        dependencies: *const *mut c_void,
        count: usize,
    ) {
        add(node, graph, dependencies, count, |_| Ok(NodeWork::Empty))
    }

    /// Adds a copy of another graph as a node.
    fn hipGraphAddChildGraphNode(
        node: *mut *mut c_void,
        graph: *mut c_void,
        dependencies: *const *mut c_void,
        count: usize,
        child: *mut c_void,
    ) {
        add(node, graph, dependencies, count, |state| {
            Ok(NodeWork::Child(Box::new(state.graph(child)?.clone())))
        })
    }

    /// Adds dependencies: each `to` comes after its `from`.
    fn hipGraphAddDependencies(
        graph: *mut c_void,
        from: *const *mut c_void,
        to: *const *mut c_void,
        count: usize,
    ) {
        let from = read_nodes(from, count)?;
        let to = read_nodes(to, count)?;
        let mut state = runtime().lock();
        let graph = state.graph(graph)?;
        for (from, to) in from.iter().zip(&to) {
            if from == to || !graph.nodes.contains_key(from) {
                return Err(Error::INVALID_VALUE);
            }
            let node = graph.nodes.get_mut(to).ok_or(Error::INVALID_VALUE)?;
            if !node.after.contains(from) {
                node.after.push(*from);
            }
        }
        Ok(())
    }

    /// Handles of a graph's nodes; with a null array only their number.
    fn hipGraphGetNodes(graph: *mut c_void, nodes: *mut *mut c_void, count: *mut usize) {
        if count.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        let mut state = runtime().lock();
        let handles: Vec<u64> = state.graph(graph)?.nodes.keys().copied().collect();
        drop(state);
        if nodes.is_null() {
            return write_out(count, handles.len());
        }
        // SAFETY: not null; HIP's contract gives the capacity in `count`.
        let room = unsafe { count.read() };
        for (index, handle) in handles.iter().take(room).enumerate() {
            // SAFETY: index is below the capacity of the array.
            unsafe { nodes.add(index).write(*handle as *mut c_void) };
        }
        write_out(count, handles.len().min(room))
    }

    /// Kind of a node.
    fn hipGraphNodeGetType(node: *mut c_void, kind: *mut c_int) {
        let mut state = runtime().lock();
        let handle = node as u64;
        let found = state.graphs.values().find_map(|graph| graph.nodes.get(&handle));
        let Some(number) = found.map(|node| node.work.kind()) else {
            return Err(state.bad_handle(HandleKind::Node, handle));
        };
        drop(state);
        write_out(kind, number)
    }

    /// Replaces a kernel node's parameters in its graph (executables keep theirs).
    fn hipGraphKernelNodeSetParams(node: *mut c_void, params: *const KernelNodeParams) {
        let mut state = runtime().lock();
        let fresh = state.kernel_node(params)?;
        let handle = node as u64;
        let found = state.graphs.values_mut().find_map(|graph| graph.nodes.get_mut(&handle));
        match found {
            Some(Node { work: NodeWork::Kernel(kernel), .. }) => {
                *kernel = fresh;
                Ok(())
            }
            Some(_) => Err(Error::INVALID_VALUE),
            None => Err(state.bad_handle(HandleKind::Node, handle)),
        }
    }
}

/// The nodes of a graph in one list, child graphs taken apart.
pub fn flatten(graph: &Graph) -> Outcome<Vec<Flat>> {
    let mut list = Vec::new();
    flatten_into(graph, &[], false, &mut list)?;
    Ok(list)
}

/// A node in a flat list.
#[derive(Clone, Debug)]
pub struct Flat {
    /// Handle of the node it was made from.
    pub origin: u64,
    /// What it does.
    pub work: NodeWork,
    /// Indices of the nodes that must be done before.
    pub after: Arc<[usize]>,
    /// It came from a child graph, which updates do not refresh.
    pub child: bool,
}

/// Appends a graph whose roots come after `before`; gives the indices that its end consists of.
fn flatten_into(
    graph: &Graph,
    before: &[usize],
    child: bool,
    list: &mut Vec<Flat>,
) -> Outcome<Vec<usize>> {
    // Ends of each node in the list: one index, or the leaves of a child graph.
    let mut ends: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    let mut left: Vec<u64> = graph.nodes.keys().copied().collect();
    while !left.is_empty() {
        let count = left.len();
        let mut later = Vec::new();
        for handle in left {
            let Some(node) = graph.nodes.get(&handle) else {
                continue;
            };
            if node.after.iter().any(|needed| !ends.contains_key(needed)) {
                later.push(handle);
                continue;
            }
            let mut after: Vec<usize> = node
                .after
                .iter()
                .filter_map(|needed| ends.get(needed))
                .flatten()
                .copied()
                .collect();
            if node.after.is_empty() {
                after.extend(before);
            }
            let end = match &node.work {
                NodeWork::Child(inner) if !inner.nodes.is_empty() => {
                    flatten_into(inner, &after, true, list)?
                }
                work => {
                    list.push(Flat {
                        origin: handle,
                        work: work.clone(),
                        after: after.into(),
                        child,
                    });
                    vec![list.len() - 1]
                }
            };
            ends.insert(handle, end);
        }
        if later.len() == count {
            return Err(Error::INVALID_VALUE); // the dependencies have a cycle
        }
        left = later;
    }
    let needed: Vec<u64> = graph
        .nodes
        .values()
        .flat_map(|node| node.after.clone())
        .collect();
    Ok(ends
        .into_iter()
        .filter(|(handle, _)| !needed.contains(handle))
        .flat_map(|(_, end)| end)
        .collect())
}
