//! Graphs on probation: used only where a replay gives the same bits as direct launches, faster.

use super::buffer::DeviceBuffer;
use super::device::Device;
use super::program::{Program, ProgramMode};
use super::stream::Stream;
use super::verdict::{self, Verdict};
use crate::driver::DeviceFacts;
use crate::{Error, Result, log};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// When programs run as graphs. `MLXROCM_GRAPHS=on|off|auto` sets what a device begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum GraphPolicy {
    /// By the verdict on this device and driver version, found at the first run.
    Auto = 0,
    /// Always.
    On = 1,
    /// Never.
    Off = 2,
}

/// What a device knows about its graphs.
pub(super) struct Graphs {
    policy: AtomicU8,
    segment: AtomicUsize,
    /// The device and driver that a verdict is about.
    subject: String,
    verdict: Mutex<Option<Verdict>>,
    read: AtomicU8,
    /// One comparison at a time.
    comparing: Mutex<()>,
}

/// Nodes of a graph where long ones were seen to replay stale pointers (gfx12, 200 and more).
const SHORT_SEGMENT: usize = 160;

/// Shorter programs tell nothing about the cost of launches.
const FEWEST_NODES: usize = 8;

/// Programs that write more are not compared: the copies would take too much memory and time.
const MOST_WRITTEN: u64 = 256 << 20;

/// Runs of each mode; the fastest counts.
const RUNS: usize = 3;

/// A run that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);

impl Graphs {
    pub fn new(facts: &DeviceFacts) -> Self {
        let policy = match std::env::var("MLXROCM_GRAPHS").as_deref() {
            Ok("on") => GraphPolicy::On,
            Ok("off") => GraphPolicy::Off,
            _ => GraphPolicy::Auto,
        };
        let segment = std::env::var("MLXROCM_GRAPH_SEGMENT")
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(if facts.arch.starts_with("gfx12") {
                SHORT_SEGMENT
            } else {
                0
            });
        Graphs {
            policy: AtomicU8::new(policy as u8),
            segment: AtomicUsize::new(segment),
            subject: format!(
                "{} {} driver {} segment {segment}",
                facts.name, facts.target, facts.driver_version
            ),
            verdict: Mutex::default(),
            read: AtomicU8::new(0),
            comparing: Mutex::default(),
        }
    }

    pub fn policy(&self) -> GraphPolicy {
        match self.policy.load(Ordering::Relaxed) {
            1 => GraphPolicy::On,
            2 => GraphPolicy::Off,
            _ => GraphPolicy::Auto,
        }
    }

    /// The most nodes of a graph; 0 means any number.
    pub fn segment(&self) -> usize {
        self.segment.load(Ordering::Relaxed)
    }

    /// The verdict of this process or an earlier one.
    pub fn verdict(&self) -> Option<Verdict> {
        let mut verdict = self.verdict.lock();
        if verdict.is_none() && self.read.swap(1, Ordering::Relaxed) == 0 {
            *verdict = verdict::load(&self.subject);
            if let Some(found) = &*verdict {
                self.tell("known", found);
            }
        }
        *verdict
    }

    fn decide(&self, verdict: Verdict, keep: bool) {
        self.tell(if keep { "found" } else { "assumed" }, &verdict);
        if keep {
            verdict::store(&self.subject, &verdict);
        }
        *self.verdict.lock() = Some(verdict);
    }

    fn tell(&self, how: &str, verdict: &Verdict) {
        log::write(log::Level::Info, || {
            format!("{}: graphs {how}: {verdict}", self.subject)
        });
    }
}

impl Device {
    /// When programs run as graphs.
    pub fn graph_policy(&self) -> GraphPolicy {
        self.graphs.policy()
    }

    /// Sets when programs run as graphs.
    pub fn set_graph_policy(&self, policy: GraphPolicy) {
        self.graphs.policy.store(policy as u8, Ordering::Relaxed);
    }

    /// Sets the most nodes of one graph for programs whose graphs are not built yet; 0 means any.
    pub fn set_graph_segment(&self, nodes: usize) {
        self.graphs.segment.store(nodes, Ordering::Relaxed);
    }

    /// What graphs were found to be on this device; `None` before the first comparison.
    pub fn graph_verdict(&self) -> Option<Verdict> {
        self.graphs.verdict()
    }
}

/// One run of a program on a device whose graphs are not judged yet: judges them if this program
/// can, and runs directly if not.
pub(super) fn run(device: &Arc<Device>, program: &Program, stream: &Stream) -> Result<()> {
    let _one = device.graphs.comparing.lock();
    // Another thread may have been faster.
    if let Some(verdict) = device.graphs.verdict() {
        return program.run_as(stream, verdict.mode());
    }
    let written: u64 = match program.written() {
        Some(parts) => parts.iter().map(|part| part.end - part.start).sum(),
        None => u64::MAX,
    };
    if program.len() < FEWEST_NODES || written > MOST_WRITTEN {
        return program.run_as(stream, ProgramMode::Direct);
    }
    let mut states = match States::new(device, program) {
        // No memory for the comparison: some other program will have it.
        Err(Error::OutOfMemory(_)) => return program.run_as(stream, ProgramMode::Direct),
        states => states?,
    };
    stream.wait(Some(PATIENCE))?;
    states.save(stream, Which::Before)?;
    if !program.has_graph() {
        device.graphs.decide(Verdict::NOT_BUILT, false);
        return program.run_as(stream, ProgramMode::Direct);
    }
    let (verdict, keep) = compare(program, stream, &mut states)?;
    device.graphs.decide(verdict, keep);
    Ok(())
}

/// Runs both ways from the same state. Ends with the state after one right run. Also says whether
/// the verdict is worth keeping.
fn compare(program: &Program, stream: &Stream, states: &mut States) -> Result<(Verdict, bool)> {
    let mut direct = Duration::MAX;
    let mut expected: Option<Vec<u8>> = None;
    for _ in 0..RUNS {
        let (time, result) = timed(program, stream, states, ProgramMode::Direct)?;
        direct = direct.min(time);
        if expected
            .as_ref()
            .is_some_and(|expected| *expected != result)
        {
            // Nothing to compare with. The last run's result stands.
            return Ok((Verdict::VARIES, false));
        }
        expected = Some(result);
    }
    states.save(stream, Which::After)?;
    let expected = expected.unwrap_or_default();
    let mut graph = Duration::MAX;
    for _ in 0..RUNS {
        let (time, result) = timed(program, stream, states, ProgramMode::Graph)?;
        graph = graph.min(time);
        if result != expected {
            states.restore(stream, Which::After)?;
            return Ok((Verdict::new(false, direct, graph), true));
        }
    }
    Ok((Verdict::new(true, direct, graph), true))
}

/// One run from the state before: its time, and what it wrote.
fn timed(
    program: &Program,
    stream: &Stream,
    states: &States,
    mode: ProgramMode,
) -> Result<(Duration, Vec<u8>)> {
    states.restore(stream, Which::Before)?;
    stream.wait(Some(PATIENCE))?;
    let start = Instant::now();
    program.run_as(stream, mode)?;
    stream.wait(Some(PATIENCE))?;
    let time = start.elapsed();
    Ok((time, states.read(stream)?))
}

#[derive(Clone, Copy)]
enum Which {
    Before,
    After,
}

/// The parts that a program writes, and two copies of them on the device.
struct States {
    /// Buffer, offset in it, offset in the copies, length.
    parts: Vec<(DeviceBuffer, u64, u64, u64)>,
    before: DeviceBuffer,
    after: DeviceBuffer,
    bytes: u64,
}

impl States {
    fn new(device: &Arc<Device>, program: &Program) -> Result<States> {
        let mut parts = Vec::new();
        let mut bytes = 0_u64;
        for part in program.written().unwrap_or_default() {
            let buffer = program
                .buffer(part.base)
                .ok_or_else(|| Error::Internal("a program writes a buffer it lost".into()))?;
            let len = part.end - part.start;
            parts.push((buffer.clone(), part.start, bytes, len));
            bytes = bytes.saturating_add(len);
        }
        Ok(States {
            parts,
            before: device.alloc(bytes)?,
            after: device.alloc(bytes)?,
            bytes,
        })
    }

    fn copy(&self, which: Which) -> &DeviceBuffer {
        match which {
            Which::Before => &self.before,
            Which::After => &self.after,
        }
    }

    fn save(&self, stream: &Stream, which: Which) -> Result<()> {
        let copy = self.copy(which);
        self.parts.iter().try_for_each(|(buffer, offset, at, len)| {
            stream.copy_on_device(buffer, *offset, copy, *at, *len)
        })
    }

    fn restore(&self, stream: &Stream, which: Which) -> Result<()> {
        let copy = self.copy(which);
        self.parts.iter().try_for_each(|(buffer, offset, at, len)| {
            stream.copy_on_device(copy, *at, buffer, *offset, *len)
        })
    }

    fn read(&self, stream: &Stream) -> Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(self.bytes).unwrap_or(0)];
        for (buffer, offset, at, len) in &self.parts {
            let at = usize::try_from(*at).unwrap_or(0);
            let len = usize::try_from(*len).unwrap_or(0);
            if let Some(bytes) = bytes.get_mut(at..at + len) {
                stream.copy_to_host(buffer, *offset, bytes)?;
            }
        }
        Ok(bytes)
    }
}
