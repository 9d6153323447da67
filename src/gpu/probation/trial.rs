//! A trial of graphs: many tiny launches, which are what graphs are for.

use super::super::args::Args;
use super::super::buffer::DeviceBuffer;
use super::super::device::Device;
use super::super::program::Program;
use super::super::stream::Stream;
use super::super::verdict::Verdict;
use super::compare::judge;
use crate::{Result, log};
use std::sync::Arc;

/// Launches of the trial: about as many as the step of a small model has, and more if the program that asks for it
/// has more (with 80 layers and more, 700 to 1500), up to a limit.
pub(super) const TRIAL_NODES: usize = 320;
pub(super) const MOST_TRIAL_NODES: usize = 4096;

/// Rows of numbers, and their width, that each of them makes.
const TRIAL_ROWS: u32 = 64;
const TRIAL_WIDTH: u32 = 16;

/// What a trial of so many launches comes to; `None` without a compiler or memory.
pub(super) fn judge_trial(
    device: &Arc<Device>,
    stream: &Stream,
    nodes: usize,
) -> Result<Option<Verdict>> {
    match trial(device, nodes) {
        Ok(trial) => judge(&trial, stream, trial.written().unwrap_or_default()),
        Err(error) => {
            log::write(log::Level::Info, || {
                format!("no trial of this device's graphs: {error}")
            });
            Ok(None)
        }
    }
}

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
