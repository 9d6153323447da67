//! Both ways of a program from the same state: the bits that they leave, and their times.

use super::super::buffer::{DeviceBuffer, Range};
use super::super::device::Device;
use super::super::hazards::Part;
use super::super::program::{Program, ProgramMode};
use super::super::stream::Stream;
use super::super::verdict::Verdict;
use crate::{Error, Result};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Runs of each mode; the fastest counts.
const RUNS: usize = 3;

pub(super) fn bytes(parts: &[Part]) -> u64 {
    parts.iter().map(|part| part.end - part.start).sum()
}

/// The parts, of buffers that are in `touched` only what is there.
pub(super) fn narrowed(written: &[Part], touched: &[Range]) -> Vec<Part> {
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

/// Compares both modes from the present state, and leaves the state after one right run.
pub(super) fn judge(program: &Program, stream: &Stream, states: &mut States) -> Result<Verdict> {
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
pub(super) struct States {
    /// Buffer, offset in it, offset in the copies, length.
    parts: Vec<(DeviceBuffer, u64, u64, u64)>,
    before: DeviceBuffer,
    after: DeviceBuffer,
    bytes: u64,
}

impl States {
    /// Room for these parts, which the program writes.
    pub(super) fn new(device: &Arc<Device>, program: &Program, written: &[Part]) -> Result<States> {
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
