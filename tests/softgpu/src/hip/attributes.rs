//! Device attributes and property structures, with the numbers of the HIP headers.
//!
//! The attribute numbers are those of HIP 5.2 to 7 (later versions took a few away and added some at
//! the end of each range). The property structure changed in HIP 6: `hipGetDeviceProperties` writes
//! the old one, `hipGetDevicePropertiesR0600` the new one.

use std::ffi::{c_int, c_void};

use super::device::{Device, pci_bus};
use super::entry::{hip_functions, write_out};
use super::error::{Error, Outcome};
use super::runtime::runtime;

/// LDS bytes that one block may have.
pub const LDS_BYTES: i32 = 64 << 10;
/// Threads that one block may have.
pub const MAX_BLOCK_THREADS: i32 = 1024;
/// Largest grid in blocks: x, then y and z.
pub const MAX_GRID: [i32; 3] = [i32::MAX, 65_535, 65_535];

/// HIP counts work-group processors (two compute units) on RDNA.
fn multiprocessors(device: &Device) -> i32 {
    if device.facts.wave_size == 64 {
        device.compute_units
    } else {
        device.compute_units / 2
    }
}

/// `gfx1151` gives 11 and 5; `gfx90a` gives 9 and 0, as HIP does.
fn compute_capability(arch: &str) -> (i32, i32) {
    let digits = arch.trim_start_matches("gfx");
    let split = digits.len().saturating_sub(2);
    let (major, rest) = digits.split_at(split);
    let minor = rest
        .chars()
        .next()
        .and_then(|c| c.to_digit(16))
        .unwrap_or(0);
    (major.parse().unwrap_or(0), minor as i32)
}

/// Value of an attribute; `None` for those that are not modelled.
fn attribute(device: &Device, ordinal: usize, number: c_int) -> Option<i32> {
    let facts = device.facts;
    let (major, minor) = compute_capability(facts.arch);
    Some(match number {
        // EccEnabled, ComputeMode, CooperativeMultiDeviceLaunch, IsMultiGpuBoard, TccDriver
        0 | 6 | 11 | 17 | 80 => 0,
        2 => 8,                        // AsyncEngineCount
        3 | 4 | 8 | 10 | 85 | 90 => 1, // mapped host memory, concurrency, cooperative, UVA
        5 | 10_000 | 10_017 => match number {
            5 => facts.clock_khz,
            _ => 100_000, // ClockInstructionRate, WallClockRate
        },
        9 | 13 | 24 => 0, // managed memory is not modelled
        16 => i32::from(device.integrated),
        18 => 0, // KernelExecTimeout
        19 => facts.l2_bytes,
        23 => major,
        26 | 27 | 28 | 56 => MAX_BLOCK_THREADS,
        29 => MAX_GRID[0],
        30 => MAX_GRID[1],
        31 => MAX_GRID[2],
        55 => MAX_BLOCK_THREADS,
        57 => facts.threads_per_cu,
        58 => i32::MAX,
        59 => facts.bus_bits,
        60 => facts.memory_clock_khz,
        61 => minor,
        63 => multiprocessors(device),
        65 | 66 => 0, // PageableMemoryAccess
        67 => pci_bus(ordinal),
        68 | 69 => 0,      // PciDeviceId, PciDomainID
        71 | 72 => 65_536, // registers
        73 => 0,           // ReservedSharedMemPerBlock
        74..=76 | 10_002 => LDS_BYTES,
        78 => 1, // StreamPrioritiesSupported
        81 | 82 => 256,
        83 => i32::MAX, // TotalConstantMemory
        84 => i32::try_from(device.total).unwrap_or(i32::MAX),
        87 => facts.wave_size,
        88 | 89 | 91 => 0, // memory pools, virtual memory: not modelled
        10_011 => i32::from(!device.integrated), // IsLargeBar
        10_012 | 10_013 => 0, // AsicRevision, CanUseStreamWaitValue
        10_014 => 0,       // ImageSupport
        10_015 => multiprocessors(device),
        10_016 => 1, // FineGrainSupport
        10_018 => {
            if facts.arch == "gfx942" {
                8
            } else {
                1
            }
        }
        _ => return None,
    })
}

/// Writes fields at byte offsets into a zeroed property structure.
struct Fields<'a>(&'a mut [u8]);

impl Fields<'_> {
    fn bytes(&mut self, offset: usize, bytes: &[u8]) {
        if let Some(place) = self.0.get_mut(offset..offset + bytes.len()) {
            place.copy_from_slice(bytes);
        }
    }

    fn int(&mut self, offset: usize, value: i32) {
        self.bytes(offset, &value.to_ne_bytes());
    }

    fn ints(&mut self, offset: usize, values: &[i32]) {
        for (index, value) in values.iter().enumerate() {
            self.int(offset + 4 * index, *value);
        }
    }

    fn size(&mut self, offset: usize, value: u64) {
        self.bytes(offset, &value.to_ne_bytes());
    }
}

/// Bytes of `hipDeviceProp_t` up to HIP 5.
pub const PROPERTIES_R0000: usize = 792;
/// Bytes of `hipDeviceProp_tR0600`, HIP 6 and 7.
pub const PROPERTIES_R0600: usize = 1472;

fn properties_r0000(device: &Device, ordinal: usize) -> Vec<u8> {
    let facts = device.facts;
    let (major, minor) = compute_capability(facts.arch);
    let mut bytes = vec![0; PROPERTIES_R0000];
    let mut fields = Fields(&mut bytes);
    fields.bytes(0, facts.name.as_bytes());
    fields.size(256, device.total);
    fields.size(264, LDS_BYTES as u64);
    fields.ints(272, &[65_536, facts.wave_size, MAX_BLOCK_THREADS]);
    fields.ints(284, &[MAX_BLOCK_THREADS; 3]);
    fields.ints(296, &MAX_GRID);
    fields.ints(
        308,
        &[facts.clock_khz, facts.memory_clock_khz, facts.bus_bits],
    );
    fields.size(320, i32::MAX as u64);
    fields.ints(
        328,
        &[
            major,
            minor,
            multiprocessors(device),
            facts.l2_bytes,
            facts.threads_per_cu,
        ],
    );
    fields.int(352, 100_000);
    fields.int(356, 0x0003_ffff); // architecture flags: all of them
    fields.ints(360, &[1, 0, pci_bus(ordinal), 0]);
    fields.size(376, LDS_BYTES as u64);
    fields.int(388, 1);
    fields.bytes(396, facts.arch_name.as_bytes());
    fields.int(652, i32::from(device.integrated));
    fields.int(656, 1);
    fields.size(712, i32::MAX as u64);
    fields.size(720, 256);
    fields.size(728, 256);
    fields.int(764, i32::from(!device.integrated));
    bytes
}

fn properties_r0600(device: &Device, ordinal: usize) -> Vec<u8> {
    let facts = device.facts;
    let (major, minor) = compute_capability(facts.arch);
    let mut bytes = vec![0; PROPERTIES_R0600];
    let mut fields = Fields(&mut bytes);
    fields.bytes(0, facts.name.as_bytes());
    fields.bytes(256, format!("softgpu{ordinal:09}").as_bytes());
    fields.size(288, device.total);
    fields.size(296, LDS_BYTES as u64);
    fields.ints(304, &[65_536, facts.wave_size]);
    fields.size(312, i32::MAX as u64);
    fields.int(320, MAX_BLOCK_THREADS);
    fields.ints(324, &[MAX_BLOCK_THREADS; 3]);
    fields.ints(336, &MAX_GRID);
    fields.int(348, facts.clock_khz);
    fields.size(352, i32::MAX as u64);
    fields.ints(360, &[major, minor]);
    fields.size(368, 256);
    fields.size(376, 256);
    fields.int(388, multiprocessors(device));
    fields.int(396, i32::from(device.integrated));
    fields.int(400, 1);
    fields.int(576, 1);
    fields.int(584, pci_bus(ordinal));
    fields.int(600, 8);
    fields.int(604, 1);
    fields.ints(
        608,
        &[facts.memory_clock_khz, facts.bus_bits, facts.l2_bytes],
    );
    fields.int(624, facts.threads_per_cu);
    fields.int(628, 1);
    fields.size(640, LDS_BYTES as u64);
    fields.int(648, 65_536);
    fields.int(688, 1);
    fields.size(696, LDS_BYTES as u64);
    fields.bytes(1160, facts.arch_name.as_bytes());
    fields.size(1416, LDS_BYTES as u64);
    fields.int(1424, 100_000);
    fields.int(1428, 0x0003_ffff);
    fields.int(1464, i32::from(!device.integrated));
    bytes
}

fn write_properties(
    into: *mut c_void,
    ordinal: c_int,
    make: fn(&Device, usize) -> Vec<u8>,
) -> Outcome {
    if into.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    let state = runtime().lock();
    let bytes = make(state.device_at(ordinal)?, ordinal as usize);
    // SAFETY: the HIP contract gives a whole property structure of the version called.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), into.cast::<u8>(), bytes.len()) };
    Ok(())
}

hip_functions! {
    /// One attribute of a device; those that are not modelled are invalid.
    fn hipDeviceGetAttribute(value: *mut c_int, number: c_int, ordinal: c_int) {
        let state = runtime().lock();
        let device = state.device_at(ordinal)?;
        let answer = attribute(device, ordinal as usize, number).ok_or(Error::INVALID_VALUE)?;
        drop(state);
        write_out(value, answer)
    }

    /// Properties in the structure of HIP 5 and before.
    fn hipGetDeviceProperties(properties: *mut c_void, ordinal: c_int) {
        write_properties(properties, ordinal, properties_r0000)
    }

    /// Properties in the structure of HIP 6 and 7.
    fn hipGetDevicePropertiesR0600(properties: *mut c_void, ordinal: c_int) {
        write_properties(properties, ordinal, properties_r0600)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capability_is_the_gfx_version() {
        assert_eq!(compute_capability("gfx90a"), (9, 0));
        assert_eq!(compute_capability("gfx942"), (9, 4));
        assert_eq!(compute_capability("gfx1030"), (10, 3));
        assert_eq!(compute_capability("gfx1151"), (11, 5));
        assert_eq!(compute_capability("gfx1201"), (12, 0));
    }
}
