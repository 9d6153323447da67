//! Whether experts in host memory are computed there or read over the bus: what is measured to be faster when a model is loaded.

use super::run::HostExperts;
use super::work::{Factors, HostStack, Workers};
use crate::gpu::stream::{COPY_BLOCK, COPY_THREADS};
use crate::gpu::{Args, Device, ExpertPolicy as Policy, Program, ProgramMode, Stream};
use crate::step::{Schedule, Step};
use crate::{Error, Result, log};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes that are read over the bus at a time, and by the CPU in all, at the most.
const BUS_BYTES: u64 = 32 << 20;
const CPU_BYTES: u64 = 192 << 20;
/// Runs of which the fastest counts.
const RUNS: usize = 3;
/// Of so few bytes what takes time is the turn.
const TURN_BYTES: u64 = 16;

/// What was measured.
struct Speeds {
    /// Bytes a second of a token alone, and of [`ROWS`] that choose each its own.
    cpu: [f64; 2],
    bus: f64,
    /// How many times the bytes of one token these read together.
    together: f64,
    /// What a step waits for where the GPU and the CPU take turns.
    turn: Duration,
}

/// As many as requests at once in a session that names no number.
const ROWS: usize = 8;

impl Speeds {
    /// Whether the CPU is faster with so many bytes of a token, in so many turns, for one token and for several: it does all
    /// or none, so that a row's bits do not depend on the others.
    fn say_cpu(&self, token: u64, turns: u32) -> bool {
        let turns = (self.turn * turns).as_secs_f64();
        let bytes = [token as f64, token as f64 * self.together];
        let faster = |(bytes, cpu): (f64, f64)| bytes / cpu + turns < bytes / self.bus;
        bytes.into_iter().zip(self.cpu).all(faster)
    }
}

/// The experts that the CPU computes of those in host memory; `refused` steps have such that it has no kernels for.
///
/// # Errors
/// Those of a device that does not work.
pub fn choose(
    device: &Arc<Device>,
    schedule: &Schedule,
    stacks: Vec<Option<HostStack>>,
    refused: usize,
    threads: usize,
) -> Result<Option<HostExperts>> {
    let name = &device.facts().name;
    if refused > 0 {
        log::write(log::Level::Info, || {
            format!(
                "experts of {refused} steps in host memory come to {name} over the bus: the CPU has no kernels for their \
                 format in the GPU's layout"
            )
        });
    }
    let read = |stack: &HostStack, chosen: usize| {
        stack.data.len() / stack.experts.max(1) as u64 * chosen.min(stack.experts) as u64
    };
    let mut token = 0;
    let mut first = None;
    for (step, stack) in schedule.steps.iter().zip(&stacks) {
        if let (Step::Experts(step), Some(stack)) = (step, stack) {
            token += read(stack, step.chosen);
            first = first.or(Some((stack, step.chosen)));
        }
    }
    let Some((stack, chosen)) = first else {
        return Ok(None);
    };
    let policy = device.host_experts();
    if policy == Policy::Off {
        return Ok(None);
    }
    let mut workers = Workers::new(threads);
    let speeds = match policy {
        Policy::Auto => match measure(device, stack, chosen, &mut workers) {
            Err(error @ Error::OutOfMemory(_)) => {
                log::write(log::Level::Warn, || {
                    format!(
                        "{name} reads experts in host memory over the bus, nothing was measured: {error}"
                    )
                });
                return Ok(None);
            }
            measured => Some(measured?),
        },
        _ => None,
    };
    let (count, threads) = (stacks.iter().flatten().count(), workers.threads());
    let experts = HostExperts::new(stacks, workers);
    let turns = experts.runs(schedule, |place| experts.has(place)).len() as u32;
    let is_faster = speeds
        .as_ref()
        .is_none_or(|speeds| speeds.say_cpu(token, turns));
    log::write(log::Level::Info, || {
        let what = format!(
            "experts of {count} steps in host memory, {:.1} MiB a token",
            token as f64 / f64::from(1 << 20)
        );
        let why = speeds.map_or("as the setting says".into(), |speeds| {
            let giga = |rate: f64| rate / 1e9;
            format!(
                "{:.2} GB/s by {threads} threads, {:.2} for {ROWS} rows, and {} us for each of {turns} turns, {:.2} GB/s \
                 over the bus",
                giga(speeds.cpu[0]),
                giga(speeds.cpu[1]),
                speeds.turn.as_micros(),
                giga(speeds.bus)
            )
        });
        match is_faster {
            true => format!("{what}: the CPU computes them for few rows ({why})"),
            false => format!("{what}: {name} reads them over the bus ({why})"),
        }
    });
    Ok(is_faster.then_some(experts))
}

fn measure(
    device: &Arc<Device>,
    stack: &HostStack,
    chosen: usize,
    workers: &mut Workers,
) -> Result<Speeds> {
    let stream = device.stream()?;
    let bytes = stack.data.len().min(BUS_BYTES);
    let large = bus(device, &stream, stack, bytes)?;
    let turn = bus(device, &stream, stack, bytes.min(TURN_BYTES))?;
    let bus = large.saturating_sub(turn).max(Duration::from_nanos(1));
    let (one, _) = cpu(stack, chosen, 1, workers)?;
    let (several, experts) = cpu(stack, chosen, ROWS, workers)?;
    Ok(Speeds {
        cpu: [one, several],
        together: experts / chosen.clamp(1, stack.experts.max(1)) as f64,
        bus: bytes as f64 / bus.as_secs_f64(),
        turn,
    })
}

/// How long the GPU takes to read so many bytes of the stack, as kernels do, until the host knows.
fn bus(device: &Arc<Device>, stream: &Stream, stack: &HostStack, bytes: u64) -> Result<Duration> {
    let to = device.alloc(bytes)?;
    let copy = device.kernel("mlxrocm_copy_u8")?;
    let program: Program = device.record(|encoder| {
        let args = Args::new()
            .buffer("to", &to, 0)
            .buffer("from", &stack.data, 0)
            .u64("bytes", bytes);
        let blocks = bytes.div_ceil(COPY_BLOCK as u64);
        let grid = [u32::try_from(blocks).unwrap_or(u32::MAX), 1, 1];
        let (reads, writes) = ([stack.data.range(0, bytes)], [to.whole()]);
        encoder.launch(&copy, grid, [COPY_THREADS, 1, 1], 0, args, &reads, &writes)
    })?;
    let run = || {
        let start = Instant::now();
        program.run_as(stream, ProgramMode::Direct)?;
        device.wait_step(stream)?;
        Ok(start.elapsed())
    };
    // Not the first one: code is loaded.
    run()?;
    let runs = (0..RUNS).map(|_| run()).collect::<Result<Vec<_>>>()?;
    Ok(runs.into_iter().min().unwrap_or_default())
}

/// Bytes a second of products of so many rows, each of which chooses experts of its own, and how many experts a product has
/// on average.
fn cpu(stack: &HostStack, chosen: usize, rows: usize, workers: &mut Workers) -> Result<(f64, f64)> {
    let x: Vec<f32> = (0..rows * stack.cols)
        .map(|i| (i % 7) as f32 - 3.0)
        .collect();
    let each = (stack.data.len() / stack.experts.max(1) as u64).max(1);
    let chosen = chosen.clamp(1, stack.experts.max(1));
    let (mut results, mut state) = (Vec::new(), 1u32);
    let mut product = || {
        let mut index = Vec::with_capacity(rows * chosen);
        for _ in 0..rows {
            // Some, and the ones behind them at equal distances.
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (first, step) = ((state >> 16) as usize, (state >> 9) as usize % 4 * 2 + 1);
            let expert = |k: usize| ((first + k * step) % stack.experts.max(1)) as u32;
            index.extend((0..chosen).map(expert));
        }
        let factors = Factors {
            x: &x,
            own: false,
            index: &index,
            chosen,
        };
        workers.products(stack, &factors, &mut results)?;
        index.sort_unstable();
        index.dedup();
        Ok(index.len() as u64)
    };
    // Threads start.
    product()?;
    let (mut experts, mut products) = (0, 0);
    let start = Instant::now();
    // Most of it is in no cache: as much as the stack has, or enough of it.
    while experts * each < CPU_BYTES.min(stack.data.len()) {
        experts += product()?;
        products += 1;
    }
    let time = start.elapsed().max(Duration::from_nanos(1)).as_secs_f64();
    let speed = (experts * each) as f64 / time;
    Ok((speed, experts as f64 / f64::from(products.max(1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_faster_way_is_taken_turns_counted_in() {
        let speeds = |cpu: f64, bus: f64, turn: u64| Speeds {
            cpu: [cpu * 1e9; 2],
            bus: bus * 1e9,
            together: 6.0,
            turn: Duration::from_micros(turn),
        };
        // 800 MB in 36 turns: 10 ms by the CPU, 20 over the bus.
        let token = 800_000_000;
        assert!(speeds(80.0, 40.0, 0).say_cpu(token, 36));
        assert!(!speeds(40.0, 80.0, 0).say_cpu(token, 36));
        assert!(speeds(80.0, 40.0, 250).say_cpu(token, 36));
        assert!(!speeds(80.0, 40.0, 300).say_cpu(token, 36));
        // Not where several tokens are slower.
        let several = |cpu: f64| Speeds {
            cpu: [80e9, cpu * 1e9],
            ..speeds(80.0, 40.0, 0)
        };
        assert!(several(41.0).say_cpu(token, 36) && !several(39.0).say_cpu(token, 36));
    }
}
