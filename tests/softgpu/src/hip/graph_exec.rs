//! Executable graphs: instantiation, update, launch.

use std::ffi::{c_char, c_int, c_ulonglong, c_void};
use std::sync::Arc;

use super::entry::{hip_functions, write_out};
use super::error::{Error, Outcome};
use super::faults::Site;
use super::graph::{Flat, flatten};
use super::graph_node::{KernelNode, KernelNodeParams, MemsetParams, NodeWork};
use super::handles::HandleKind;
use super::operation::{GraphRun, OperationId, Shape, What};
use super::order::{Ancestors, Clock};
use super::runtime::runtime;
use super::state::State;

/// `hipGraphExecUpdateResult`.
const UPDATE_SUCCESS: c_int = 0;
const UPDATE_TOPOLOGY_CHANGED: c_int = 2;
const UPDATE_NODE_TYPE_CHANGED: c_int = 3;
const UPDATE_FUNCTION_CHANGED: c_int = 4;

/// An executable graph.
pub struct Executable {
    /// Its nodes, each after those it depends on.
    nodes: Vec<Flat>,
    /// The order of its nodes.
    shape: Arc<Shape>,
    /// Launches that are not done.
    pub in_flight: usize,
    /// The newest launch: the next one comes after it.
    last: Option<(OperationId, Arc<Clock>)>,
}

impl State {
    fn executable(&mut self, executable: *mut c_void) -> Outcome<&mut Executable> {
        let handle = executable as u64;
        if !self.executables.contains_key(&handle) {
            return Err(self.bad_handle(HandleKind::Executable, handle));
        }
        self.executables
            .get_mut(&handle)
            .ok_or(Error::INVALID_HANDLE)
    }

    /// Reports that an executable is used by a launch that is not done.
    fn refuse_in_flight(&mut self, executable: *mut c_void, call: &str) -> Outcome {
        let launches = self.executable(executable)?.in_flight;
        if launches > 0 {
            let message = format!("{call} while {launches} launch(es) of the graph are not done");
            self.report.violation("graph_in_flight", message);
        }
        Ok(())
    }

    fn instantiate(&mut self, graph: *mut c_void) -> Outcome<u64> {
        self.usable_device()?;
        let nodes = flatten(self.graph(graph)?)?;
        if self.faults.strikes(Site::Graph) {
            return Err(Error::OUT_OF_MEMORY);
        }
        for (index, node) in nodes.iter().enumerate() {
            if let NodeWork::Kernel(kernel) = &node.work {
                self.check_node(index, kernel, kernel.read_arguments().1);
            }
        }
        let mut dependents = vec![Vec::new(); nodes.len()];
        for (index, node) in nodes.iter().enumerate() {
            for before in node.after.iter() {
                if let Some(list) = dependents.get_mut(*before) {
                    list.push(index);
                }
            }
        }
        let ancestors = Arc::new(Ancestors::new(nodes.iter().map(|node| &*node.after)));
        let shape = Arc::new(Shape {
            dependents,
            ancestors,
        });
        let handle = self.new_handle(HandleKind::Executable);
        self.executables.insert(
            handle,
            Executable {
                nodes,
                shape,
                in_flight: 0,
                last: None,
            },
        );
        Ok(handle)
    }

    /// Reports what is wrong with a kernel node when its graph is instantiated or launched.
    fn check_node(&mut self, index: usize, node: &KernelNode, problem: Option<String>) {
        let words =
            |message: &str| format!("graph node {index}, kernel {}: {message}", node.kernel.name);
        if let Some(message) = problem {
            self.report.violation("graph_arguments", words(&message));
        }
        if !self.functions.contains_key(&node.function) {
            let message = words("its module was unloaded");
            self.report.violation("use_after_free", message);
        }
    }

    fn launch_graph(&mut self, executable: *mut c_void, stream: u64) -> Outcome {
        let found = self.executable(executable)?;
        let nodes = found.nodes.clone();
        let (last, shape) = (found.last.clone(), Arc::clone(&found.shape));
        let mut steps = Vec::with_capacity(nodes.len());
        for (index, node) in nodes.iter().enumerate() {
            let (work, problem) = node.work.work();
            if let NodeWork::Kernel(kernel) = &node.work {
                self.check_node(index, kernel, problem);
            }
            steps.push(Arc::new(work));
        }
        if self.faults.strikes(Site::Launch) {
            return Err(Error::LAUNCH_OUT_OF_RESOURCES);
        }
        let run = GraphRun::new(executable as u64, steps, shape);
        // Two launches of one executable never overlap.
        let done = self.enqueue(stream, What::Graph(run), last)?;
        let found = self.executable(executable)?;
        found.in_flight += 1;
        found.last = Some(done);
        Ok(())
    }

    /// Books the end of a launch.
    pub fn graph_run_ended(&mut self, executable: u64) {
        if let Some(found) = self.executables.get_mut(&executable) {
            found.in_flight = found.in_flight.saturating_sub(1);
        }
    }

    /// Updates an executable from a graph of the same shape; gives `hipGraphExecUpdateResult`.
    fn update(&mut self, executable: *mut c_void, graph: *mut c_void) -> Outcome<c_int> {
        self.refuse_in_flight(executable, "hipGraphExecUpdate")?;
        let fresh = flatten(self.graph(graph)?)?;
        let old = self.executable(executable)?;
        if old.nodes.len() != fresh.len() {
            return Ok(UPDATE_TOPOLOGY_CHANGED);
        }
        for (old, fresh) in old.nodes.iter().zip(&fresh) {
            if old.after != fresh.after || old.child != fresh.child {
                return Ok(UPDATE_TOPOLOGY_CHANGED);
            }
            if old.work.kind() != fresh.work.kind() {
                return Ok(UPDATE_NODE_TYPE_CHANGED);
            }
            if let (NodeWork::Kernel(old), NodeWork::Kernel(fresh)) = (&old.work, &fresh.work)
                && old.kernel.name != fresh.kernel.name
            {
                return Ok(UPDATE_FUNCTION_CHANGED);
            }
        }
        let mut stale = Vec::new();
        for (index, (old, fresh)) in old.nodes.iter_mut().zip(fresh).enumerate() {
            if !old.child {
                *old = fresh;
                continue;
            }
            if let (NodeWork::Kernel(old), NodeWork::Kernel(fresh)) = (&old.work, &fresh.work)
                && (old.read_arguments().0 != fresh.read_arguments().0
                    || old.geometry != fresh.geometry)
            {
                stale.push(format!(
                    "graph node {index}, kernel {}: it is in a child graph, which HIP's update leaves as it was",
                    old.kernel.name
                ));
            }
        }
        for message in stale {
            self.report.violation("child_graph_not_refreshed", message);
        }
        Ok(UPDATE_SUCCESS)
    }

    /// Replaces the work of one node of an executable.
    fn set_node(
        &mut self,
        executable: *mut c_void,
        node: *mut c_void,
        call: &str,
        fresh: NodeWork,
    ) -> Outcome {
        self.refuse_in_flight(executable, call)?;
        let origin = node as u64;
        let found = self.executable(executable)?;
        let target = found
            .nodes
            .iter_mut()
            .find(|flat| flat.origin == origin && !flat.child)
            .ok_or(Error::INVALID_VALUE)?;
        if target.work.kind() != fresh.kind() {
            return Err(Error::INVALID_VALUE);
        }
        target.work = fresh;
        Ok(())
    }
}

fn instantiate(executable: *mut *mut c_void, graph: *mut c_void) -> Outcome {
    if executable.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    let handle = runtime().lock().instantiate(graph)?;
    write_out(executable, handle as *mut c_void)
}

hip_functions! {
    /// Makes an executable from a graph.
    fn hipGraphInstantiate(
        executable: *mut *mut c_void,
        graph: *mut c_void,
        error_node: *mut *mut c_void,
        _log: *mut c_char,
        _log_bytes: usize,
    ) {
        if !error_node.is_null() {
            write_out(error_node, std::ptr::null_mut())?;
        }
        instantiate(executable, graph)
    }

    /// Makes an executable from a graph, with flags.
    fn hipGraphInstantiateWithFlags(
        executable: *mut *mut c_void,
        graph: *mut c_void,
        flags: c_ulonglong,
    ) {
        if flags & !0xF != 0 {
            return Err(Error::INVALID_VALUE);
        }
        instantiate(executable, graph)
    }

    /// Launches an executable in a stream.
    fn hipGraphLaunch(executable: *mut c_void, stream: *mut c_void) {
        let mut state = runtime().lock();
        let stream = state.stream_handle(stream)?;
        state.check_device(state.stream_device(stream))?;
        state.refuse_capturing_stream(stream, "hipGraphLaunch")?;
        state.launch_graph(executable, stream)
    }

    /// Uploads an executable: nothing to do here.
    fn hipGraphUpload(executable: *mut c_void, stream: *mut c_void) {
        let mut state = runtime().lock();
        state.stream_handle(stream)?;
        state.executable(executable).map(|_| ())
    }

    /// Destroys an executable; one whose launch is not done is reported.
    fn hipGraphExecDestroy(executable: *mut c_void) {
        let mut state = runtime().lock();
        state.refuse_in_flight(executable, "hipGraphExecDestroy")?;
        state.executables.remove(&(executable as u64));
        Ok(())
    }

    /// Updates an executable from a graph of the same shape.
    fn hipGraphExecUpdate(
        executable: *mut c_void,
        graph: *mut c_void,
        error_node: *mut *mut c_void,
        result: *mut c_int,
    ) {
        let answer = runtime().lock().update(executable, graph)?;
        if !error_node.is_null() {
            write_out(error_node, std::ptr::null_mut())?;
        }
        if !result.is_null() {
            write_out(result, answer)?;
        }
        if answer == UPDATE_SUCCESS { Ok(()) } else { Err(Error::GRAPH_UPDATE_FAILURE) }
    }

    /// Replaces the parameters of a kernel node of an executable.
    fn hipGraphExecKernelNodeSetParams(
        executable: *mut c_void,
        node: *mut c_void,
        params: *const KernelNodeParams,
    ) {
        let mut state = runtime().lock();
        let fresh = NodeWork::Kernel(state.kernel_node(params)?);
        state.set_node(executable, node, "hipGraphExecKernelNodeSetParams", fresh)
    }

    /// Replaces the addresses and size of a copy node of an executable.
    fn hipGraphExecMemcpyNodeSetParams1D(
        executable: *mut c_void,
        node: *mut c_void,
        to: *mut c_void,
        from: *const c_void,
        bytes: usize,
        kind: c_int,
    ) {
        let mut state = runtime().lock();
        let fresh = NodeWork::Copy(state.copy_node(to as u64, from as u64, bytes, kind)?);
        state.set_node(executable, node, "hipGraphExecMemcpyNodeSetParams1D", fresh)
    }

    /// Replaces the parameters of a fill node of an executable.
    fn hipGraphExecMemsetNodeSetParams(
        executable: *mut c_void,
        node: *mut c_void,
        params: *const MemsetParams,
    ) {
        let mut state = runtime().lock();
        let fresh = NodeWork::Fill(state.fill_node(params)?);
        state.set_node(executable, node, "hipGraphExecMemsetNodeSetParams", fresh)
    }
}
