//! Device memory.

/// Memory counters of a device, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemoryCounters {
    /// Held by buffers that are alive.
    pub active: u64,
    /// The highest `active` so far.
    pub peak: u64,
    /// Freed by their owners and kept for reuse.
    pub cache: u64,
    /// `active + cache` stay at or below this.
    pub limit: u64,
    /// All of the device's memory.
    pub total: u64,
    /// What the driver says is free now.
    pub free: u64,
}
