//! Graphs on probation: used only where a replay gives the same bits as direct launches, faster.

use super::args::Args;
use super::buffer::{DeviceBuffer, Range};
use super::device::Device;
use super::hazards::Part;
use super::kernels::fingerprint;
use super::policy::{Policy, PolicyCell};
use super::program::{Program, ProgramMode};
use super::stream::Stream;
use super::verdict::{self, Found, Verdict};
use crate::driver::DeviceFacts;
use crate::{Error, Result, log};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What a device knows about its graphs.
pub(super) struct Graphs {
    policy: PolicyCell,
    segment: AtomicUsize,
    /// The device and driver that a verdict is about.
    subject: String,
    found: Mutex<Option<Found>>,
    read: AtomicU8,
    /// One comparison at a time.
    comparing: Mutex<()>,
}

/// Nodes of a graph where long ones were seen to replay stale pointers (gfx12, 200 and more).
const SHORT_SEGMENT: usize = 160;

/// Shorter programs run directly while graphs are not judged: a trial costs more than they.
const FEWEST_NODES: usize = 8;

/// Programs that write more are not compared: the copies would take too much memory and time.
const MOST_WRITTEN: u64 = 256 << 20;

/// Runs of each mode; the fastest counts.
const RUNS: usize = 3;

impl Graphs {
    pub fn new(facts: &DeviceFacts) -> Self {
        let segment = std::env::var("MLXROCM_GRAPH_SEGMENT")
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(if facts.arch.starts_with("gfx12") {
                SHORT_SEGMENT
            } else {
                0
            });
        Graphs {
            policy: PolicyCell::from_environment("MLXROCM_GRAPHS"),
            segment: AtomicUsize::new(segment),
            subject: format!(
                "{} {} driver {} segment {segment} kernels {}",
                facts.name,
                facts.target,
                facts.driver_version,
                fingerprint()
            ),
            found: Mutex::default(),
            read: AtomicU8::new(0),
            comparing: Mutex::default(),
        }
    }

    pub fn policy(&self) -> Policy {
        self.policy.get()
    }

    /// The most nodes of a graph; 0 means any number.
    pub fn segment(&self) -> usize {
        self.segment.load(Ordering::Relaxed)
    }

    /// The verdict of this process or an earlier one.
    pub fn verdict(&self) -> Option<Verdict> {
        self.look(|found| found.map(|found| found.verdict))
    }

    /// Whether a program is to be compared before it runs as a graph, if it can be.
    pub fn awaits(&self, program: &Program) -> bool {
        let can = program.len() >= FEWEST_NODES && !program.multiplies();
        let known = |found: &Found| found.awaits(program.structure(), program.len());
        can && self.look(|found| found.is_none_or(known))
    }

    fn look<T>(&self, at: impl FnOnce(Option<&Found>) -> T) -> T {
        let mut found = self.found.lock();
        if found.is_none() && self.read.swap(1, Ordering::Relaxed) == 0 {
            *found = verdict::load(&self.subject);
            if let Some(found) = &*found {
                self.tell("known", &found.verdict);
            }
        }
        at(found.as_ref())
    }

    fn decide(&self, now: Found) {
        let keep = now.verdict.compared;
        if self.verdict() != Some(now.verdict) {
            self.tell(if keep { "found" } else { "assumed" }, &now.verdict);
        }
        if keep {
            verdict::store(&self.subject, &now);
        }
        *self.found.lock() = Some(now);
    }

    fn tell(&self, how: &str, verdict: &Verdict) {
        log::write(log::Level::Info, || {
            format!("{}: graphs {how}: {verdict}", self.subject)
        });
    }
}

impl Device {
    /// When programs run as graphs.
    pub fn graph_policy(&self) -> Policy {
        self.graphs.policy()
    }

    /// Sets when programs run as graphs.
    pub fn set_graph_policy(&self, policy: Policy) {
        self.graphs.policy.set(policy);
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

/// One run of a program that is awaited ([`Graphs::awaits`]): judges the device's graphs by it, as far as it can be
/// compared, and runs it.
///
/// `touched`: as for [`Program::run_touching`].
///
/// The time is that of a trial of many tiny launches, which is what graphs are for: a long kernel takes
/// as long either way, and chance would decide. The bits are those of the trial and of this program. A driver may fail
/// in graphs of some length only, or of some kernels: the trial is as long as the longest program, and the first
/// programs of different launches are compared, and later ones that are longer.
pub(super) fn run(
    device: &Arc<Device>,
    program: &Program,
    stream: &Stream,
    touched: &[Range],
) -> Result<()> {
    let _one = device.graphs.comparing.lock();
    let before = device.graphs.look(|found| found.cloned());
    // Another thread may have been faster.
    if let Some(before) = &before
        && !device.graphs.awaits(program)
    {
        return program.run_as(stream, before.verdict.mode());
    }
    let nodes = program.len().clamp(TRIAL_NODES, MOST_TRIAL_NODES);
    let trial = match &before {
        Some(before) if before.trial >= nodes => Some(before.verdict),
        before => {
            let known = before.as_ref().map(|before| before.verdict);
            judge_trial(device, stream, nodes)?.or(known)
        }
    };
    let written = program.written().map(|parts| narrowed(parts, touched));
    let mut states = match written.filter(|parts| bytes(parts) <= MOST_WRITTEN) {
        Some(written) => match States::new(device, program, &written) {
            Err(Error::OutOfMemory(_)) => None,
            states => Some(states?),
        },
        None => None,
    };
    let own = match (&mut states, trial) {
        // Wrong already, or nothing to compare.
        (_, Some(trial)) if !trial.right => None,
        (None, _) => None,
        (Some(states), _) => Some(judge(program, stream, states)?),
    };
    let verdict = match (trial, own) {
        (Some(trial), Some(own)) if own.compared => Verdict {
            right: trial.right && own.right,
            ..trial
        },
        (Some(trial), _) => trial,
        (None, Some(own)) => own,
        // Some other program may tell.
        (None, None) => return program.run_as(stream, ProgramMode::Direct),
    };
    let mut now = before.unwrap_or_else(|| Found::new(verdict));
    now.verdict = Verdict {
        right: verdict.right && now.verdict.right,
        ..verdict
    };
    now.trial = now.trial.max(nodes);
    now.programs.push(program.structure());
    if own.is_some_and(|own| own.compared) {
        now.compared += 1;
        now.longest = now.longest.max(program.len());
    }
    device.graphs.decide(now);
    match own {
        // The comparison has left what one run leaves.
        Some(_) => Ok(()),
        None => program.run_as(stream, verdict.mode()),
    }
}

/// What a trial of so many launches comes to; `None` without a compiler or memory, where programs alone have to tell.
fn judge_trial(device: &Arc<Device>, stream: &Stream, nodes: usize) -> Result<Option<Verdict>> {
    let prepared = trial(device, nodes).and_then(|trial| {
        let written = trial.written().unwrap_or_default();
        Ok((States::new(device, &trial, written)?, trial))
    });
    match prepared {
        Ok((mut states, trial)) => judge(&trial, stream, &mut states).map(Some),
        Err(error) => {
            log::write(log::Level::Info, || {
                format!("no trial of this device's graphs: {error}")
            });
            Ok(None)
        }
    }
}

fn bytes(parts: &[Part]) -> u64 {
    parts.iter().map(|part| part.end - part.start).sum()
}

/// The parts, of buffers that are in `touched` only what is there.
fn narrowed(written: &[Part], touched: &[Range]) -> Vec<Part> {
    let is_of = |range: &&Range, part: &Part| range.buffer.address() == part.base;
    let mut parts = Vec::new();
    for part in written {
        let mut ranges = touched.iter().filter(|range| is_of(range, part)).peekable();
        if ranges.peek().is_none() {
            parts.push(*part);
        }
        let within = ranges.map(|range| Part {
            base: part.base,
            start: range.offset.max(part.start),
            end: range.offset.saturating_add(range.len).min(part.end),
        });
        parts.extend(within.filter(|part| part.start < part.end));
    }
    parts
}

/// Launches of the trial: about as many as the step of a small model has, and more if the program that asks for it
/// has more (with 80 layers and more, 700 to 1500), up to a limit.
const TRIAL_NODES: usize = 320;
const MOST_TRIAL_NODES: usize = 4096;

/// Rows of numbers, and their width, that each of them makes.
const TRIAL_ROWS: u32 = 64;
const TRIAL_WIDTH: u32 = 16;

/// A chain of tiny launches over three buffers, each of which reads what the two before wrote: sums, and rows
/// in another order, so that blocks need what other blocks of the launch before wrote.
fn trial(device: &Arc<Device>, nodes: usize) -> Result<Program> {
    let add = device.kernel("mlxrocm_vector_add_f32")?;
    let gather = device.kernel("mlxrocm_gather_rows_f32")?;
    let numbers = TRIAL_ROWS * TRIAL_WIDTH;
    let bytes = u64::from(numbers) * 4;
    let buffers = [
        device.alloc(bytes)?,
        device.alloc(bytes)?,
        device.alloc(bytes)?,
    ];
    let order = device.alloc(u64::from(TRIAL_ROWS) * 4)?;
    // 29 and 64 have no common divisor: each row comes once.
    upload(device, &order, |row| (row * 29 + 17) % TRIAL_ROWS)?;
    let [one, two, three] = &buffers;
    // All different, and so small, about 1e-30, that their sums stay finite.
    for (buffer, seed) in [(one, 0x9E37_79B1_u32), (two, 0x85EB_CA77)] {
        upload(device, buffer, |i| {
            0x0DA2_4260 + ((i + 1).wrapping_mul(seed) >> 12)
        })?;
    }
    device.record(|encoder| {
        for i in 0..nodes {
            let (to, a, b) = match i % 3 {
                0 => (three, one, two),
                1 => (one, two, three),
                _ => (two, three, one),
            };
            let args = Args::new();
            // A sum is up to 1.62 times the numbers before it.
            if i % 5 == 4 {
                let args = args
                    .buffer("x", b, 0)
                    .buffer("index", &order, 0)
                    .buffer("out", to, 0);
                let args = args.u32("rows", TRIAL_ROWS).u32("cols", TRIAL_WIDTH);
                let (grid, reads) = ([TRIAL_ROWS, 1, 1], [b.whole(), order.whole()]);
                encoder.launch(&gather, grid, [256, 1, 1], 0, args, &reads, &[to.whole()])?;
            } else {
                let args = args
                    .buffer("c", to, 0)
                    .buffer("a", a, 0)
                    .buffer("b", b, 0)
                    .u32("count", numbers);
                let (grid, reads) = ([numbers / 256, 1, 1], [a.whole(), b.whole()]);
                encoder.launch(&add, grid, [256, 1, 1], 0, args, &reads, &[to.whole()])?;
            }
        }
        Ok(())
    })
}

/// Fills a buffer with numbers by their places.
fn upload(device: &Arc<Device>, to: &DeviceBuffer, number: impl Fn(u32) -> u32) -> Result<()> {
    let mut bytes = (0..).flat_map(|i| number(i).to_le_bytes());
    device.upload(to, |piece| {
        piece.fill_with(|| bytes.next().unwrap_or(0));
        Ok(())
    })
}

/// Compares both modes from the present state, and leaves the state after one right run.
fn judge(program: &Program, stream: &Stream, states: &mut States) -> Result<Verdict> {
    program.device().wait_step(stream)?;
    states.save(stream, Which::Before)?;
    if program.has_graph() {
        return compare(program, stream, states);
    }
    program.run_as(stream, ProgramMode::Direct)?;
    Ok(Verdict::NOT_BUILT)
}

/// Runs both ways from the same state. Ends with the state after one right run.
fn compare(program: &Program, stream: &Stream, states: &mut States) -> Result<Verdict> {
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
            return Ok(Verdict::VARIES);
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
            return Ok(Verdict::new(false, direct, graph));
        }
    }
    Ok(Verdict::new(true, direct, graph))
}

/// One run from the state before: its time, and what it wrote.
fn timed(
    program: &Program,
    stream: &Stream,
    states: &States,
    mode: ProgramMode,
) -> Result<(Duration, Vec<u8>)> {
    states.restore(stream, Which::Before)?;
    program.device().wait_step(stream)?;
    let start = Instant::now();
    program.run_as(stream, mode)?;
    program.device().wait_step(stream)?;
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
    /// Room for these parts, which the program writes.
    fn new(device: &Arc<Device>, program: &Program, written: &[Part]) -> Result<States> {
        let mut parts = Vec::new();
        let mut bytes = 0_u64;
        for part in written {
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
