//! Measurements for the report: copies, reads, launches, allocations.

use super::trial::PATIENCE;
use crate::gpu::{Args, Device, DeviceBuffer, Kernel, Program, ProgramMode, Stream};
use crate::{Error, Result};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Measures on one device.
pub struct Bench<'a> {
    pub device: &'a Arc<Device>,
    pub stream: &'a Stream,
    /// Small sizes and few rounds.
    pub quick: bool,
}

/// Numbers that each kernel of a measured chain adds.
const CHAIN_NUMBERS: u32 = 256;

impl Bench<'_> {
    /// Bytes that a copy moves.
    fn copied(&self) -> u64 {
        let most = if self.quick { 1 << 20 } else { 256 << 20 };
        let memory = self.device.facts().memory_total / 32;
        memory.clamp(1 << 20, most) & !0xfff
    }

    fn rounds(&self) -> usize {
        if self.quick { 2 } else { 8 }
    }

    /// The shortest time that the device needs for what `queue` queues.
    fn fastest(&self, mut queue: impl FnMut() -> Result<()>) -> Result<Duration> {
        let (start, end) = (self.device.event()?, self.device.event()?);
        let mut fastest = Duration::MAX;
        for _ in 0..self.rounds() {
            self.stream.record(&start)?;
            queue()?;
            self.stream.record(&end)?;
            self.stream.wait(Some(PATIENCE))?;
            fastest = fastest.min(end.elapsed_since(&start)?);
        }
        Ok(fastest)
    }

    /// Lines on copies and reads.
    ///
    /// # Errors
    /// Driver errors, `OutOfMemory`.
    pub fn bandwidth(&self) -> Result<Vec<String>> {
        let bytes = self.copied();
        let (device, stream) = (self.device, self.stream);
        let (a, b) = (device.alloc(bytes)?, device.alloc(bytes)?);
        let host = device.alloc_pinned(bytes)?;
        stream.fill(&a, 0, bytes, 1)?;
        let copies = [
            (
                "host to device",
                1,
                self.fastest(|| stream.copy_from_pinned(&b, 0, &host, 0, bytes))?,
            ),
            (
                "device to host",
                1,
                self.fastest(|| stream.copy_to_pinned(&b, 0, &host, 0, bytes))?,
            ),
            (
                "on the device (read + written)",
                2,
                self.fastest(|| stream.copy_on_device(&a, 0, &b, 0, bytes))?,
            ),
            ("read by a kernel", 1, self.read(&a)?),
        ];
        let line = |(what, times, time): (&str, u64, Duration)| {
            format!(
                "  {what}: {} ({} MiB in {:.1} us)",
                rate(bytes * times, time),
                bytes >> 20,
                microseconds(time)
            )
        };
        Ok(copies.into_iter().map(line).collect())
    }

    /// The time to read all of a buffer.
    fn read(&self, buffer: &DeviceBuffer) -> Result<Duration> {
        let kernel = self.device.kernel("mlxrocm_read_u32")?;
        let blocks = self.device.facts().compute_units.max(1).saturating_mul(8);
        let partial = self.device.alloc(u64::from(blocks) * 4)?;
        let args = Args::new()
            .buffer("partial", &partial, 0)
            .buffer("from", buffer, 0)
            .u64("count", buffer.len() / 4)
            .u32("blocks", blocks);
        self.fastest(|| {
            let stream = self.stream;
            stream.launch(&kernel, [blocks, 1, 1], [256, 1, 1], 0, &args)
        })
    }

    /// Lines on the cost of launches, by the length of the program.
    ///
    /// # Errors
    /// Driver errors, `OutOfMemory`.
    pub fn launches(&self) -> Result<Vec<String>> {
        let lengths: &[usize] = if self.quick {
            &[10, 100]
        } else {
            &[10, 100, 1000]
        };
        let mut lines = Vec::new();
        for length in lengths {
            let (program, buffer) = chain(self.device, *length)?;
            self.stream.fill(&buffer, 0, buffer.len(), 0)?;
            let direct = self.cost(&program, ProgramMode::Direct)?;
            let graph = self.cost(&program, ProgramMode::Graph)?;
            lines.push(format!(
                "  {length} kernels, each after the one before: direct {}; replay {}",
                per_kernel(direct, *length),
                per_kernel(graph, *length)
            ));
        }
        Ok(lines)
    }

    /// The host's time to queue a run, and the time until it is done.
    fn cost(&self, program: &Program, mode: ProgramMode) -> Result<(Duration, Duration)> {
        let (mut queued, mut done) = (Duration::MAX, Duration::MAX);
        // The first run builds the graph.
        for round in 0..=self.rounds() {
            let start = Instant::now();
            program.run_as(self.stream, mode)?;
            let after = start.elapsed();
            self.stream.wait(Some(PATIENCE))?;
            if round > 0 {
                queued = queued.min(after);
                done = done.min(start.elapsed());
            }
        }
        Ok((queued, done))
    }

    /// A line on allocation from the cache.
    ///
    /// # Errors
    /// Driver errors, `OutOfMemory`.
    pub fn allocation(&self) -> Result<String> {
        let count = if self.quick { 1000 } else { 100_000 };
        drop(self.device.alloc(1 << 20)?);
        let start = Instant::now();
        for _ in 0..count {
            drop(self.device.alloc(1 << 20)?);
        }
        let each = start.elapsed() / count;
        Ok(format!(
            "  allocate and free 1 MiB from the cache: {} ns",
            each.as_nanos()
        ))
    }
}

/// A program of launches that each need the two before, and the memory that it works on: three
/// parts, each the sum of the other two in turn.
///
/// # Errors
/// Driver errors, `OutOfMemory`.
pub fn chain(device: &Arc<Device>, length: usize) -> Result<(Program, DeviceBuffer)> {
    let kernel: Kernel = device.kernel("mlxrocm_vector_add_f32")?;
    let part = u64::from(CHAIN_NUMBERS) * 4;
    let buffer = device.alloc(part * 3)?;
    let program = device.record(|encoder| {
        for step in 0..length as u64 {
            let [a, b, c] = [0, 1, 2].map(|ahead| (step + ahead) % 3 * part);
            let args = Args::new()
                .buffer("c", &buffer, c)
                .buffer("a", &buffer, a)
                .buffer("b", &buffer, b)
                .u32("count", CHAIN_NUMBERS);
            let reads = [buffer.range(a, part), buffer.range(b, part)];
            let writes = [buffer.range(c, part)];
            encoder.launch(&kernel, [1, 1, 1], [256, 1, 1], 0, args, &reads, &writes)?;
        }
        Ok(())
    })?;
    if program.len() != length {
        return Err(Error::Internal("a chain of launches lost some".into()));
    }
    Ok((program, buffer))
}

fn microseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn rate(bytes: u64, time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds <= 0.0 {
        return "too fast to measure".into();
    }
    format!("{:.1} GB/s", bytes as f64 / seconds / 1e9)
}

fn per_kernel((queued, done): (Duration, Duration), length: usize) -> String {
    let each = |time| microseconds(time) / length as f64;
    format!(
        "{:.2} us a kernel ({:.2} us to queue)",
        each(done),
        each(queued)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_in_their_units() {
        assert_eq!(rate(3_000_000, Duration::from_millis(1)), "3.0 GB/s");
        assert_eq!(rate(3, Duration::ZERO), "too fast to measure");
        let (queued, done) = (Duration::from_micros(50), Duration::from_micros(250));
        assert_eq!(
            per_kernel((queued, done), 100),
            "2.50 us a kernel (0.50 us to queue)"
        );
    }
}
