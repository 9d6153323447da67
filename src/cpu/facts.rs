//! Facts about the processor and the memory of this machine.

use super::simd_level;

/// What the CPU device is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuFacts {
    /// The maker's name of the processor.
    pub name: String,
    /// The kernels in use: `avx512-vnni`, `avx2` or `portable`.
    pub simd: &'static str,
    /// Logical CPUs this process may run on, at least 1.
    pub cpus: usize,
    /// Bytes of memory; 0 where the system does not say.
    pub memory_total: u64,
    /// Bytes of memory that could be allocated now; 0 where the system does not say.
    pub memory_free: u64,
}

/// Reads the facts; free memory is as of now.
pub fn facts() -> CpuFacts {
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    CpuFacts {
        name: name(),
        simd: simd_level().name(),
        cpus: cpus(),
        memory_total: meminfo_bytes(&meminfo, "MemTotal"),
        memory_free: meminfo_bytes(&meminfo, "MemAvailable"),
    }
}

/// Bytes of memory that could be allocated now; `None` where the system does not say.
pub fn free_memory() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    Some(meminfo_bytes(&meminfo, "MemAvailable")).filter(|bytes| *bytes > 0)
}

fn name() -> String {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |wanted: &str| {
        cpuinfo.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == wanted && !value.trim().is_empty()).then(|| value.trim().to_string())
        })
    };
    // arm64 kernels name no model.
    field("model name").unwrap_or_else(|| format!("{} processor", std::env::consts::ARCH))
}

/// CPUs of this process: its affinity mask, and the quota of its control group.
fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The value of a line such as `MemTotal:  16384 kB`.
fn meminfo_bytes(meminfo: &str, field: &str) -> u64 {
    meminfo
        .lines()
        .find_map(|line| {
            let value = line.strip_prefix(field)?.strip_prefix(':')?;
            value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
        })
        .map_or(0, |kilobytes| kilobytes.saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_facts() {
        let facts = facts();
        assert!(!facts.name.is_empty());
        assert!(["avx512-vnni", "avx2", "portable"].contains(&facts.simd));
        assert!(facts.cpus >= 1);
        assert!(facts.memory_total > 0 && facts.memory_free <= facts.memory_total);
    }

    #[test]
    fn meminfo_is_read_in_bytes() {
        let text = "MemTotal:       16303428 kB\nMemAvailable:   12 kB\nHugePages_Total: 0\n";
        assert_eq!(meminfo_bytes(text, "MemTotal"), 16303428 * 1024);
        assert_eq!(meminfo_bytes(text, "MemAvailable"), 12288);
        assert_eq!(meminfo_bytes(text, "HugePages_Total"), 0);
        assert_eq!(meminfo_bytes("", "MemTotal"), 0);
    }
}
