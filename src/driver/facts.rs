//! What a device is.

/// The vendor's programming platform that drives a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Platform {
    /// AMD, through `libamdhip64.so`.
    Hip,
    /// NVIDIA, through `libcuda.so.1`.
    Cuda,
}

impl Platform {
    /// "HIP" or "CUDA".
    pub fn name(self) -> &'static str {
        match self {
            Platform::Hip => "HIP",
            Platform::Cuda => "CUDA",
        }
    }
}

/// What the driver says about one device. Sizes are bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceFacts {
    /// The maker's name of it, e.g. "AMD Radeon RX 7900 XTX".
    pub name: String,
    /// The code object target without feature suffixes: "gfx1151", "sm_90".
    pub arch: String,
    /// The target as the driver spells it, with its features: "gfx942:sramecc+:xnack-", "sm_90".
    pub target: String,
    /// Which driver runs it.
    pub platform: Platform,
    /// The driver's own number of it.
    pub driver_ordinal: u32,
    /// The driver's version as one number (HIP: major·10⁷ + minor·10⁵ + patch; CUDA: 12090).
    pub driver_version: u32,
    /// Work items of a wave: 32 or 64.
    pub wave_size: u32,
    /// Compute units (HIP) or multiprocessors (CUDA).
    pub compute_units: u32,
    /// Local memory that one block may use without asking for more.
    pub lds_bytes: u32,
    /// Local memory that one block may use when the kernel opts in (CUDA); else as `lds_bytes`.
    pub lds_bytes_opt_in: u32,
    /// Level 2 cache.
    pub l2_bytes: u64,
    /// Memory that programs can allocate; of an APU all of the system's memory.
    pub memory_total: u64,
    /// Whether the device shares the processor's memory (an APU).
    pub integrated: bool,
    /// "0000:03:00.0".
    pub pci_id: String,
    /// Highest core clock in kHz; 0 where the driver does not say.
    pub clock_khz: u32,
    /// Highest memory clock in kHz; 0 where the driver does not say.
    pub memory_clock_khz: u32,
    /// Width of the memory bus in bits; 0 where the driver does not say.
    pub memory_bus_bits: u32,
    /// Work items that one block may have.
    pub max_block_threads: u32,
    /// Work items that one compute unit holds at a time; 0 where the driver does not say.
    pub max_unit_threads: u32,
}

/// All memory that programs can allocate: an APU's driver may tell only the part that the firmware
/// set aside, though it serves allocations from all of the system's memory.
pub(super) fn integrated_total(told: u64, integrated: bool) -> u64 {
    if !integrated {
        return told;
    }
    let system = system_memory("MemTotal:").unwrap_or(0);
    told.max(system)
}

/// A line of the kernel's memory statistics ("MemTotal:", "MemAvailable:") in bytes.
pub fn system_memory(field: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_apu_counts_the_systems_memory() {
        let system = system_memory("MemTotal:").unwrap();
        assert!(system > 1 << 28 && system_memory("MemAvailable:").unwrap() <= system);
        assert_eq!(integrated_total(512 << 20, false), 512 << 20);
        assert_eq!(integrated_total(1, true), system);
        assert_eq!(integrated_total(u64::MAX, true), u64::MAX);
    }
}
