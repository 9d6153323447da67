//! The short self-test that a device passes before it is chosen for a model without being named: a
//! few kernels by direct launches. Graphs have their own probation, and a device whose graphs are
//! wrong runs programs without them.

use super::case::Case;
use super::random::Random;
use super::{run, trial};
use crate::driver::DeviceFacts;
use crate::gpu::Device;
use crate::gpu::kept::Kept;
use crate::gpu::kernels::fingerprint;
use crate::{Error, Result};
use std::sync::Arc;

/// Memory, sums over a row, the matrix unit, the choice of a token, and a quantized product.
const KERNELS: &[&str] = &[
    "mlxrocm_fill_u32",
    "mlxrocm_reduce_sum_f32",
    "mlxrocm_matmul_tile_f16",
    "mlxrocm_argmax_f32",
    "mlxrocm_matmul_rows_q4_f16_g64_r1",
];

/// The same inputs each time: a verdict that is kept is about them.
const SEED: u64 = 1;

/// What the short self-test found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// Every case came out right.
    Sound,
    /// A case came out wrong: its name and how.
    Wrong(String),
}

impl Health {
    fn to_line(&self) -> String {
        match self {
            Health::Sound => "passed end".into(),
            Health::Wrong(what) => format!("failed {} end", what.replace(['\n', '\r'], " ")),
        }
    }

    fn from_line(line: &str) -> Option<Health> {
        match line.strip_suffix(" end")? {
            "passed" => Some(Health::Sound),
            line => Some(Health::Wrong(line.strip_prefix("failed ")?.into())),
        }
    }
}

const KEPT: Kept = Kept {
    folder: "selftest",
    header: "mlxrocm selftest 1",
};

/// What a verdict is about. Two cards of a kind differ by their place on the bus.
fn subject(facts: &DeviceFacts) -> String {
    format!(
        "{} {} {} driver {} kernels {}",
        facts.name,
        facts.target,
        facts.pci_id,
        facts.driver_version,
        fingerprint()
    )
}

/// Tests a device shortly, if neither this process nor an earlier one has.
///
/// # Errors
/// `SelfTestFailed` with the case that failed. Wrong results are remembered; a driver's errors may pass,
/// and are not.
pub fn brief(device: &Arc<Device>) -> Result<()> {
    // Held while testing: another thread waits for the verdict instead of testing as well.
    let mut health = device.health.lock();
    let subject = subject(device.facts());
    if health.is_none() {
        *health = KEPT.load(&subject, Health::from_line);
    }
    let found = match &*health {
        Some(found) => found,
        None => {
            let found = test(device)?;
            KEPT.store(&subject, &found.to_line());
            health.insert(found)
        }
    };
    match found {
        Health::Sound => Ok(()),
        Health::Wrong(what) => {
            let file = KEPT.file(&subject);
            let again = file
                .filter(|file| file.exists())
                .map_or_else(String::new, |file| {
                    format!(" (remembered; remove {} to test again)", file.display())
                });
            Err(Error::SelfTestFailed(format!("{what}{again}")))
        }
    }
}

fn cases() -> impl Iterator<Item = &'static Case> {
    let of = |name: &&str| run::cases().find(|case| case.kernel == *name);
    KERNELS.iter().filter_map(of)
}

fn test(device: &Arc<Device>) -> Result<Health> {
    let failed = |name: &str, error| Error::SelfTestFailed(format!("{name}: {error}"));
    let stream = device.stream().map_err(|error| failed("a stream", error))?;
    for case in cases() {
        let mut random = Random::new(SEED);
        let result = device.kernel(case.kernel).and_then(|kernel| {
            (case.trials)(&mut random, device.facts())
                .iter()
                .try_for_each(|trial| trial::run_direct(device, &stream, &kernel, trial))
        });
        match result {
            Ok(()) => {}
            Err(Error::SelfTestFailed(what)) => {
                return Ok(Health::Wrong(format!("{}: {what}", case.kernel)));
            }
            Err(error) => return Err(failed(case.kernel, error)),
        }
    }
    Ok(Health::Sound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_has_its_case() {
        assert!(cases().map(|case| case.kernel).eq(KERNELS.iter().copied()));
    }

    #[test]
    fn a_line_is_read_only_whole() {
        let wrong = Health::Wrong("mlxrocm_fill_u32: 1 numbers:\nbyte 0".into());
        let same = Health::Wrong("mlxrocm_fill_u32: 1 numbers: byte 0".into());
        for (health, read) in [(Health::Sound, Health::Sound), (wrong, same)] {
            let line = health.to_line();
            assert_eq!(Health::from_line(&line), Some(read));
            for end in 0..line.len() {
                assert_eq!(Health::from_line(&line[..end]), None, "{end}");
            }
        }
        assert_eq!(Health::from_line("passed well end"), None);
    }
}
