//! How a program is run: as a graph or launch by launch.

use super::super::buffer::Range;
use super::super::graph;
use super::super::policy::Policy;
use super::super::probation;
use super::super::stream::Stream;
use super::super::uses::Mark;
use super::{ModeReason, Operation, Program, ProgramMode, State};
use crate::driver::{ExecutableHandle, Launch, Overlap};
use crate::{Error, Result, log};
use std::sync::Arc;
use std::sync::atomic::Ordering;

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

impl Program {
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
    pub(in crate::gpu) fn run_touching(&self, stream: &Stream, touched: &[Range]) -> Result<()> {
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

    /// Whether the next run compares both modes, and waits.
    pub(in crate::gpu) fn is_awaited(&self) -> bool {
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

    /// Whether the driver builds a graph of it; built now if it was not.
    pub(in crate::gpu) fn has_graph(&self) -> bool {
        self.build(&mut self.state.lock()).is_some()
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
