//! Stream capture: recording calls into a graph instead of doing them.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_ulonglong, c_void};
use std::thread::ThreadId;

use super::entry::{hip_functions, write_out};
use super::error::{Error, Outcome};
use super::graph::Graph;
use super::graph_node::NodeWork;
use super::handles::HandleKind;
use super::operation::Work;
use super::runtime::runtime;
use super::state::State;

/// `hipStreamCaptureMode`.
const MODE_GLOBAL: c_int = 0;
const MODE_THREAD_LOCAL: c_int = 1;
const MODE_RELAXED: c_int = 2;
/// `hipStreamCaptureStatus`.
const STATUS_NONE: c_int = 0;
const STATUS_ACTIVE: c_int = 1;
const STATUS_INVALIDATED: c_int = 2;

/// A capture under way.
pub struct Capture {
    graph: u64,
    origin: u64,
    mode: c_int,
    thread: ThreadId,
    /// Last nodes of each stream that takes part.
    tails: BTreeMap<u64, Vec<u64>>,
    /// Nodes that a recorded event stands for.
    events: BTreeMap<u64, Vec<u64>>,
    invalid: bool,
}

impl State {
    /// Whether calls on a stream are captured.
    ///
    /// # Errors
    /// The capture was invalidated; the null stream was used while a blocking stream captures.
    pub fn capturing(&mut self, stream: u64) -> Outcome<bool> {
        let Some(found) = self.streams.get(&stream) else {
            return Ok(false);
        };
        if let Some(number) = found.capture {
            let invalid = self
                .captures
                .get(&number)
                .is_none_or(|capture| capture.invalid);
            return if invalid {
                Err(Error::CAPTURE_INVALIDATED)
            } else {
                Ok(true)
            };
        }
        if found.null {
            let device = found.device;
            let numbers: Vec<u64> = self
                .streams
                .values()
                .filter(|other| other.device == device && other.blocking)
                .filter_map(|other| other.capture)
                .collect();
            if !numbers.is_empty() {
                self.invalidate(&numbers, "work on the null stream");
                return Err(Error::CAPTURE_IMPLICIT);
            }
        }
        Ok(false)
    }

    /// Refuses a call that no capture allows (allocation, device synchronisation, module load).
    ///
    /// # Errors
    /// `hipErrorStreamCaptureUnsupported` while this call would break a capture, which it ends.
    pub fn refuse_while_capturing(&mut self, what: &str) -> Outcome {
        let thread = std::thread::current().id();
        let numbers: Vec<u64> = self
            .captures
            .iter()
            .filter(|(_, capture)| {
                capture.mode == MODE_GLOBAL
                    || capture.mode == MODE_THREAD_LOCAL && capture.thread == thread
            })
            .map(|(number, _)| *number)
            .collect();
        if numbers.is_empty() {
            return Ok(());
        }
        self.invalidate(&numbers, what);
        Err(Error::CAPTURE_UNSUPPORTED)
    }

    /// Refuses a call that a capturing stream does not allow.
    ///
    /// # Errors
    /// `hipErrorStreamCaptureUnsupported`; the capture ends.
    pub fn refuse_capturing_stream(&mut self, stream: u64, what: &str) -> Outcome {
        match self.streams.get(&stream).and_then(|found| found.capture) {
            None => Ok(()),
            Some(number) => {
                self.invalidate(&[number], what);
                Err(Error::CAPTURE_UNSUPPORTED)
            }
        }
    }

    /// Refuses a host call on an event that stands for captured work.
    ///
    /// # Errors
    /// `hipErrorCapturedEvent`; the capture ends.
    pub fn refuse_captured_event(&mut self, event: u64) -> Outcome {
        match self.captured_event(event) {
            None => Ok(()),
            Some(number) => {
                self.invalidate(&[number], "a host call on an event of the capture");
                Err(Error::CAPTURED_EVENT)
            }
        }
    }

    fn captured_event(&self, event: u64) -> Option<u64> {
        let number = self.events.get(&event)?.capture?;
        self.captures.contains_key(&number).then_some(number)
    }

    fn invalidate(&mut self, numbers: &[u64], what: &str) {
        for number in numbers {
            if let Some(capture) = self.captures.get_mut(number) {
                capture.invalid = true;
            }
        }
        self.report.violation(
            "capture",
            format!("{what} is not allowed while a stream captures"),
        );
    }

    /// Adds work on a capturing stream as a node.
    ///
    /// # Errors
    /// The stream does not capture (any more).
    pub fn capture_work(&mut self, stream: u64, work: Work) -> Outcome {
        let number = self
            .streams
            .get(&stream)
            .and_then(|found| found.capture)
            .ok_or(Error::ILLEGAL_STATE)?;
        let function = match &work {
            Work::Kernel(call) => self
                .functions
                .iter()
                .find(|(_, function)| std::sync::Arc::ptr_eq(&function.kernel, &call.kernel))
                .map_or(0, |(handle, _)| *handle),
            _ => 0,
        };
        let capture = self.captures.get(&number).ok_or(Error::ILLEGAL_STATE)?;
        let (graph, after) = (
            capture.graph,
            capture.tails.get(&stream).cloned().unwrap_or_default(),
        );
        let node = self.add_node(graph, NodeWork::captured(work, function), after)?;
        if let Some(capture) = self.captures.get_mut(&number) {
            capture.tails.insert(stream, vec![node]);
        }
        Ok(())
    }

    /// An event wait that a capture takes; false when none does.
    ///
    /// # Errors
    /// `hipErrorStreamCaptureIsolation`: a capturing stream waits for uncaptured work;
    /// `hipErrorStreamCaptureMerge`: two captures would become one.
    pub fn capture_wait(&mut self, stream: u64, event: u64) -> Outcome<bool> {
        let mine = self.streams.get(&stream).and_then(|found| found.capture);
        let theirs = self.captured_event(event);
        let number = match (mine, theirs) {
            (None, None) => return Ok(false),
            (Some(mine), None) => {
                self.invalidate(&[mine], "a wait for work outside the capture");
                return Err(Error::CAPTURE_ISOLATION);
            }
            (Some(mine), Some(theirs)) if mine != theirs => return Err(Error::CAPTURE_MERGE),
            (_, Some(theirs)) => theirs,
        };
        if let Some(found) = self.streams.get_mut(&stream) {
            found.capture = Some(number);
        }
        if let Some(capture) = self.captures.get_mut(&number) {
            let nodes = capture.events.get(&event).cloned().unwrap_or_default();
            let tails = capture.tails.entry(stream).or_default();
            tails.extend(nodes);
            tails.sort_unstable();
            tails.dedup();
        }
        Ok(true)
    }

    /// An event record that a capture takes; false when none does.
    ///
    /// # Errors
    /// The capture was invalidated.
    pub fn capture_record(&mut self, stream: u64, event: u64) -> Outcome<bool> {
        if !self.capturing(stream)? {
            return Ok(false);
        }
        let number = self.streams.get(&stream).and_then(|found| found.capture);
        if let Some(capture) = number.and_then(|number| self.captures.get_mut(&number)) {
            let nodes = capture.tails.get(&stream).cloned().unwrap_or_default();
            capture.events.insert(event, nodes);
        }
        if let Some(found) = self.events.get_mut(&event) {
            found.capture = number;
        }
        Ok(true)
    }

    fn end_capture(&mut self, stream: u64) -> Outcome<u64> {
        let number = self
            .streams
            .get(&stream)
            .and_then(|found| found.capture)
            .ok_or(Error::ILLEGAL_STATE)?;
        if self
            .captures
            .get(&number)
            .is_some_and(|capture| capture.origin != stream)
        {
            return Err(Error::CAPTURE_UNMATCHED);
        }
        let Some(capture) = self.captures.remove(&number) else {
            return Err(Error::ILLEGAL_STATE);
        };
        for found in self
            .streams
            .values_mut()
            .filter(|found| found.capture == Some(number))
        {
            found.capture = None;
        }
        let joined = self.joined(&capture);
        if capture.invalid || !joined {
            self.graphs.remove(&capture.graph);
            return Err(if capture.invalid {
                Error::CAPTURE_INVALIDATED
            } else {
                Error::CAPTURE_UNJOINED
            });
        }
        Ok(capture.graph)
    }

    /// Whether the last nodes of every stream come before those of the origin.
    fn joined(&self, capture: &Capture) -> bool {
        let Some(graph) = self.graphs.get(&capture.graph) else {
            return false;
        };
        let mut reached: Vec<u64> = capture
            .tails
            .get(&capture.origin)
            .cloned()
            .unwrap_or_default();
        let mut next = 0;
        while let Some(node) = reached.get(next).copied() {
            next += 1;
            for before in graph.nodes.get(&node).map_or(&[][..], |node| &node.after) {
                if !reached.contains(before) {
                    reached.push(*before);
                }
            }
        }
        capture
            .tails
            .values()
            .flatten()
            .all(|node| reached.contains(node))
    }
}

hip_functions! {
    /// Begins to capture a stream.
    fn hipStreamBeginCapture(stream: *mut c_void, mode: c_int) {
        if !(MODE_GLOBAL..=MODE_RELAXED).contains(&mode) {
            return Err(Error::INVALID_VALUE);
        }
        let mut state = runtime().lock();
        let stream = state.stream_handle(stream)?;
        if state.streams.get(&stream).is_some_and(|found| found.null) {
            return Err(Error::CAPTURE_UNSUPPORTED);
        }
        state.check_device(state.stream_device(stream))?;
        if state.streams.get(&stream).is_some_and(|found| found.capture.is_some()) {
            return Err(Error::ILLEGAL_STATE);
        }
        let graph = state.new_handle(HandleKind::Graph);
        state.graphs.insert(graph, Graph::default());
        let number = state.new_number();
        let capture = Capture {
            graph,
            origin: stream,
            mode,
            thread: std::thread::current().id(),
            tails: BTreeMap::from([(stream, Vec::new())]),
            events: BTreeMap::new(),
            invalid: false,
        };
        state.captures.insert(number, capture);
        if let Some(found) = state.streams.get_mut(&stream) {
            found.capture = Some(number);
        }
        Ok(())
    }

    /// Ends a capture and gives its graph.
    fn hipStreamEndCapture(stream: *mut c_void, graph: *mut *mut c_void) {
        if graph.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        let mut state = runtime().lock();
        let stream = state.stream_handle(stream)?;
        write_out(graph, std::ptr::null_mut())?;
        let handle = state.end_capture(stream)?;
        drop(state);
        write_out(graph, handle as *mut c_void)
    }

    /// Whether a stream captures.
    fn hipStreamIsCapturing(stream: *mut c_void, status: *mut c_int) {
        let mut state = runtime().lock();
        let answer = status_of(&mut state, stream)?.0;
        drop(state);
        write_out(status, answer)
    }

    /// Whether a stream captures, and the number of the capture.
    fn hipStreamGetCaptureInfo(stream: *mut c_void, status: *mut c_int, number: *mut c_ulonglong) {
        let mut state = runtime().lock();
        let (answer, id) = status_of(&mut state, stream)?;
        drop(state);
        write_out(status, answer)?;
        if number.is_null() { Ok(()) } else { write_out(number, id) }
    }
}

fn status_of(state: &mut State, stream: *mut c_void) -> Outcome<(c_int, u64)> {
    let stream = state.stream_handle(stream)?;
    let number = state.streams.get(&stream).and_then(|found| found.capture);
    Ok(
        match number.and_then(|number| Some((number, state.captures.get(&number)?))) {
            None => (STATUS_NONE, 0),
            Some((number, capture)) if capture.invalid => (STATUS_INVALIDATED, number),
            Some((number, _)) => (STATUS_ACTIVE, number),
        },
    )
}
