//! The self-test as a whole, and its report.

use super::case::Case;
use super::engine;
use super::measure::{Bench, chain};
use super::products;
use super::random::Random;
use super::rows;
use super::trial;
use crate::driver::DeviceFacts;
use crate::gpu::{Device, Stream};
use crate::{Error, Result};
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// All cases: a table a family of kernels.
const TABLES: &[&[Case]] = &[engine::CASES, rows::CASES, products::CASES];

/// The cases of all tables.
pub fn cases() -> impl Iterator<Item = &'static Case> {
    TABLES.iter().copied().flatten()
}

/// Launches of the program whose replay is compared with direct launches.
const CHAIN: usize = 64;

/// How to test.
#[derive(Debug, Clone, Copy, Default)]
pub struct SelftestOptions {
    /// Seed of the random inputs; 0: a new one each time, which the report names.
    pub seed: u64,
    /// Measure with small sizes and few rounds: seconds instead of minutes on a slow device.
    pub quick: bool,
    /// Leave the measurements out.
    pub no_measurements: bool,
}

/// Tests a device, telling the lines of a report as they come.
///
/// # Errors
/// `SelfTestFailed`, naming the cases that failed, after all ran; `DeviceLost` and `Timeout` end the
/// test at once.
pub fn run(
    device: &Arc<Device>,
    options: SelftestOptions,
    line: &mut dyn FnMut(&str) -> Result<()>,
) -> Result<()> {
    let start = Instant::now();
    let seed = match options.seed {
        0 => fresh_seed(),
        seed => seed,
    };
    for text in introduction(device.facts(), seed) {
        line(&text)?;
    }
    let stream = device.stream()?;
    let mut failed = Vec::new();
    let mut count = 0;
    let mut judge =
        |name: &str, result: Result<String>, line: &mut dyn FnMut(&str) -> Result<()>| {
            count += 1;
            match result {
                Ok(text) => line(&format!("ok    {name}: {text}")),
                Err(error) => {
                    line(&format!("FAIL  {name}: {error}"))?;
                    if ends_all(&error) {
                        return Err(error);
                    }
                    failed.push(format!("{name} ({error})"));
                    Ok(())
                }
            }
        };
    for case in cases() {
        // Each case has inputs of its own: a table that grows does not change them.
        let mut random = Random::new(seed ^ hash(case.kernel));
        let result = one_case(device, &stream, case, &mut random);
        judge(case.kernel, result, line)?;
    }
    judge("graph replay", graphs(device, &stream, seed), line)?;
    if !options.no_measurements {
        let bench = Bench {
            device,
            stream: &stream,
            quick: options.quick,
        };
        line("measured:")?;
        for part in [
            bench.bandwidth(),
            bench.launches(),
            bench.allocation().map(|text| vec![text]),
        ] {
            match part {
                Ok(lines) => lines.iter().try_for_each(|text| line(text))?,
                Err(error) if ends_all(&error) => return Err(error),
                Err(error) => judge("measuring", Err(error), line)?,
            }
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    line(&format!(
        "{} of {count} passed in {seconds:.1} s",
        count - failed.len()
    ))?;
    if failed.is_empty() {
        return Ok(());
    }
    Err(Error::SelfTestFailed(format!(
        "{} of {count} cases failed on {}: {}",
        failed.len(),
        device.facts().name,
        failed.join("; ")
    )))
}

/// Errors after which nothing more can be tested.
fn ends_all(error: &Error) -> bool {
    matches!(
        error,
        Error::DeviceLost(_) | Error::Timeout(_) | Error::Cancelled(_)
    )
}

fn one_case(
    device: &Arc<Device>,
    stream: &Stream,
    case: &Case,
    random: &mut Random,
) -> Result<String> {
    let kernel = device.kernel(case.kernel)?;
    let trials = (case.trials)(random, device.facts());
    for trial in &trials {
        trial::run(device, stream, &kernel, trial)?;
    }
    Ok(format!("{} sizes", trials.len()))
}

/// A long chain of launches gives the same bits as a graph, from random numbers.
fn graphs(device: &Arc<Device>, stream: &Stream, seed: u64) -> Result<String> {
    let (program, buffer) = chain(device, CHAIN)?;
    let numbers = Random::new(seed).words(usize::try_from(buffer.len() / 4).unwrap_or(0));
    // From 1 to 2, so that sums neither vanish nor overflow.
    let bytes: Vec<u8> = numbers
        .into_iter()
        .flat_map(|word| ((word >> 9) | 0x3f80_0000).to_le_bytes())
        .collect();
    trial::replay(&program, stream, &buffer, &bytes)?;
    let how = match device.graph_verdict() {
        Some(verdict) => format!("; verdict of an earlier comparison: {verdict}"),
        None => String::new(),
    };
    Ok(format!("{CHAIN} launches{how}"))
}

fn introduction(facts: &DeviceFacts, seed: u64) -> Vec<String> {
    let memory = facts.memory_total >> 20;
    let shared = if facts.integrated { ", shared" } else { "" };
    vec![
        format!("libmlxrocm {} self-test", env!("CARGO_PKG_VERSION")),
        format!("device: {} ({})", facts.name, facts.target),
        format!(
            "driver: {} {}, device {}, PCI {}",
            facts.platform.name(),
            facts.driver_version,
            facts.driver_ordinal,
            facts.pci_id
        ),
        format!(
            "facts: wave size {}, {} compute units, {} KiB local memory, {} KiB L2, {memory} MiB{shared}, \
             {} MHz, memory {} MHz x {} bits",
            facts.wave_size,
            facts.compute_units,
            facts.lds_bytes_opt_in >> 10,
            facts.l2_bytes >> 10,
            facts.clock_khz / 1000,
            facts.memory_clock_khz / 1000,
            facts.memory_bus_bits
        ),
        format!("seed: {seed}"),
    ]
}

fn fresh_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanoseconds = now.map_or(0, |time| time.as_nanos() as u64);
    Random::new(nanoseconds ^ u64::from(std::process::id())).bits() >> 32 | 1
}

/// FNV-1a.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
