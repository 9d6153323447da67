//! Running one trial: directly, and replayed as a program both ways.

use super::case::{Argument, Expected, Trial};
use crate::gpu::{Args, Device, DeviceBuffer, Kernel, Program, ProgramMode, Stream};
use crate::{Error, Result};
use std::sync::Arc;
use std::time::Duration;

/// A launch of the self-test takes microseconds; a device that needs this long hangs.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes before and after what a kernel may touch; they must stay as they are.
const GUARD: u64 = 256;

/// Every byte that nobody wrote: as f32 and f16 it is NaN, as an index it is out of every range.
const POISON: u8 = 0xff;

/// Device memory of one argument between its guards.
struct Memory {
    buffer: DeviceBuffer,
    /// Where the argument begins.
    start: u64,
    size: usize,
    /// Its content before the kernel runs; `None`: poison.
    content: Option<Vec<u8>>,
}

impl Memory {
    fn new(
        device: &Arc<Device>,
        size: usize,
        skew: u64,
        content: Option<Vec<u8>>,
    ) -> Result<Memory> {
        let start = GUARD + skew;
        Ok(Memory {
            buffer: device.alloc(start + size as u64 + GUARD)?,
            start,
            size,
            content,
        })
    }

    fn prepare(&self, stream: &Stream) -> Result<()> {
        stream.fill(&self.buffer, 0, self.buffer.len(), POISON)?;
        match &self.content {
            Some(content) => stream.copy_to_device(&self.buffer, self.start, content),
            None => Ok(()),
        }
    }

    fn read(&self, stream: &Stream) -> Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(self.buffer.len()).unwrap_or(0)];
        stream.copy_to_host(&self.buffer, 0, &mut bytes)?;
        Ok(bytes)
    }

    /// What is wrong with the whole memory after the kernel.
    fn judge(&self, bytes: &[u8], expected: Option<&Expected>) -> Option<String> {
        let start = usize::try_from(self.start).unwrap_or(0);
        let (before, rest) = bytes.split_at_checked(start)?;
        let (inside, after) = rest.split_at_checked(self.size)?;
        if let Some(at) = before.iter().rposition(|byte| *byte != POISON) {
            return Some(format!(
                "wrote {} bytes before its memory",
                before.len() - at
            ));
        }
        if let Some(at) = after.iter().position(|byte| *byte != POISON) {
            return Some(format!("wrote {} bytes past its memory", at + 1));
        }
        match (&self.content, expected) {
            (Some(content), _) if content != inside => Some("changed its input".into()),
            (_, Some(expected)) => expected.judge(inside),
            _ => None,
        }
    }
}

/// A trial with its memory.
struct Prepared<'a> {
    trial: &'a Trial,
    args: Args,
    memories: Vec<(Memory, Option<&'a Expected>)>,
}

impl<'a> Prepared<'a> {
    fn new(device: &Arc<Device>, trial: &'a Trial) -> Result<Self> {
        let mut args = Args::new();
        let mut memories = Vec::new();
        for (name, argument) in &trial.args {
            args = match argument {
                Argument::U32(value) => args.u32(*name, *value),
                Argument::F32(value) => args.f32(*name, *value),
                Argument::U64(value) => args.u64(*name, *value),
                Argument::Null => args.null(*name),
                Argument::Input { bytes, skew } => {
                    let memory = Memory::new(device, bytes.len(), *skew, Some(bytes.clone()))?;
                    let args = args.buffer(*name, &memory.buffer, memory.start);
                    memories.push((memory, None));
                    args
                }
                Argument::Output {
                    size,
                    skew,
                    expected,
                } => {
                    let memory = Memory::new(device, *size, *skew, None)?;
                    let args = args.buffer(*name, &memory.buffer, memory.start);
                    memories.push((memory, Some(expected)));
                    args
                }
            };
        }
        Ok(Prepared {
            trial,
            args,
            memories,
        })
    }

    /// All memory after a direct launch, which left what it should.
    fn direct(&self, stream: &Stream, kernel: &Kernel) -> Result<Vec<Vec<u8>>> {
        let block = [self.trial.block, 1, 1];
        let direct = outcome(stream, &self.memories, || {
            stream.launch(
                kernel,
                self.trial.grid,
                block,
                self.trial.shared,
                &self.args,
            )
        })?;
        for ((memory, expected), bytes) in self.memories.iter().zip(&direct) {
            if let Some(wrong) = memory.judge(bytes, *expected) {
                return Err(failed(self.trial, "", &wrong));
            }
        }
        Ok(direct)
    }
}

/// Runs a trial by a direct launch only.
///
/// # Errors
/// `SelfTestFailed` with what is wrong; driver errors.
pub fn run_direct(
    device: &Arc<Device>,
    stream: &Stream,
    kernel: &Kernel,
    trial: &Trial,
) -> Result<()> {
    let prepared = Prepared::new(device, trial)?;
    prepared.direct(stream, kernel).map(drop)
}

/// Runs a trial in every way.
///
/// # Errors
/// `SelfTestFailed` with what is wrong; driver errors.
pub fn run(device: &Arc<Device>, stream: &Stream, kernel: &Kernel, trial: &Trial) -> Result<()> {
    let prepared = Prepared::new(device, trial)?;
    let direct = prepared.direct(stream, kernel)?;
    let (memories, block) = (&prepared.memories, [trial.block, 1, 1]);
    let program = device.record(|encoder| {
        let whole = memories.iter().map(|(memory, _)| memory.buffer.whole());
        let ranges: Vec<_> = whole.collect();
        let args = prepared.args.clone();
        encoder.launch(
            kernel,
            trial.grid,
            block,
            trial.shared,
            args,
            &ranges,
            &ranges,
        )
    })?;
    let modes = [
        (ProgramMode::Direct, " as a program"),
        (ProgramMode::Graph, " as a graph"),
    ];
    for (mode, how) in modes {
        let replayed = outcome(stream, memories, || program.run_as(stream, mode))?;
        if replayed != direct {
            return Err(failed(trial, how, "gives other bits than a direct launch"));
        }
    }
    Ok(())
}

fn failed(trial: &Trial, how: &str, wrong: &str) -> Error {
    Error::SelfTestFailed(format!("{}{how}: {wrong}", trial.label))
}

/// All memory after `launch`, which starts from fresh inputs and poisoned outputs.
fn outcome(
    stream: &Stream,
    memories: &[(Memory, Option<&Expected>)],
    launch: impl FnOnce() -> Result<()>,
) -> Result<Vec<Vec<u8>>> {
    memories
        .iter()
        .try_for_each(|(memory, _)| memory.prepare(stream))?;
    stream.wait(Some(PATIENCE))?;
    launch()?;
    stream.wait(Some(PATIENCE))?;
    let read = memories.iter().map(|(memory, _)| memory.read(stream));
    read.collect()
}

/// Runs a program both ways from the same state of `buffer` and compares the bits.
///
/// # Errors
/// `SelfTestFailed` if they differ; driver errors.
pub fn replay(
    program: &Program,
    stream: &Stream,
    buffer: &DeviceBuffer,
    start: &[u8],
) -> Result<()> {
    let mut outcomes = Vec::new();
    // The graph twice: the second launch of an executable is where stale arguments show.
    for mode in [ProgramMode::Direct, ProgramMode::Graph, ProgramMode::Graph] {
        stream.copy_to_device(buffer, 0, start)?;
        program.run_as(stream, mode)?;
        stream.wait(Some(PATIENCE))?;
        let mut bytes = vec![0; start.len()];
        stream.copy_to_host(buffer, 0, &mut bytes)?;
        outcomes.push(bytes);
    }
    let first = outcomes.first();
    if outcomes.iter().any(|bytes| Some(bytes) != first) {
        return Err(Error::SelfTestFailed(format!(
            "a graph of {} launches gives other bits than direct launches",
            program.len()
        )));
    }
    Ok(())
}
