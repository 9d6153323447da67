//! What a launch did, counted.

use super::Footprint;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Wave-instructions executed, by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Classes {
    pub valu: u64,
    pub salu: u64,
    pub smem: u64,
    pub vmem_load: u64,
    pub vmem_store: u64,
    pub vmem_atomic: u64,
    pub lds: u64,
    /// WMMA and MFMA.
    pub matrix: u64,
    /// dot2, dot4 and dot8.
    pub dot: u64,
    pub branch: u64,
    pub barrier: u64,
    /// Waits, clauses and other instructions without an effect here.
    pub other: u64,
}

impl Classes {
    /// All wave-instructions.
    pub fn total(&self) -> u64 {
        self.fields().iter().map(|(_, n)| n).sum()
    }

    /// Name and value of each class.
    pub fn fields(&self) -> [(&'static str, u64); 12] {
        [
            ("valu", self.valu),
            ("salu", self.salu),
            ("smem", self.smem),
            ("vmem_load", self.vmem_load),
            ("vmem_store", self.vmem_store),
            ("vmem_atomic", self.vmem_atomic),
            ("lds", self.lds),
            ("matrix", self.matrix),
            ("dot", self.dot),
            ("branch", self.branch),
            ("barrier", self.barrier),
            ("other", self.other),
        ]
    }
}

/// Counters of one launch (or a sum of several, see [`Report::add`]).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub kernel: String,
    pub launches: u64,
    pub workgroups: u64,
    pub waves: u64,
    pub instructions: Classes,
    /// Bytes that active lanes asked for, global memory only.
    pub bytes_loaded: u64,
    pub bytes_stored: u64,
    /// Address of a global store that was done, 0 for none.
    pub last_store: u64,
    /// Global memory touched by one launch, where races are checked (else empty; not summed).
    pub touched: Footprint,
    /// For each wait and fence of the kernel, by its index in the code: whether it ran, and what it did
    /// (for mutation tests; one launch, not summed).
    pub orders: BTreeMap<usize, (bool, u8)>,
    /// Distinct 64-byte and 128-byte lines, summed over the wave accesses to global memory.
    pub lines_64: u64,
    pub lines_128: u64,
    /// Global load instructions by width: 8, 16, 32, 64, 96 and 128 bits.
    pub load_widths: [u64; 6],
    /// By the same widths: bytes that active lanes asked for, and 64-byte lines of each wave access.
    pub load_bytes: [u64; 6],
    pub load_lines: [u64; 6],
    /// Extra LDS cycles lost to bank conflicts (32 banks of 4 bytes; same dword is no conflict).
    pub lds_conflicts: u64,
}

impl Report {
    /// Adds another launch's counters.
    pub fn add(&mut self, other: &Report) {
        if self.kernel.is_empty() {
            self.kernel.clone_from(&other.kernel);
        }
        self.launches += other.launches;
        self.workgroups += other.workgroups;
        self.waves += other.waves;
        let (a, b) = (&mut self.instructions, &other.instructions);
        a.valu += b.valu;
        a.salu += b.salu;
        a.smem += b.smem;
        a.vmem_load += b.vmem_load;
        a.vmem_store += b.vmem_store;
        a.vmem_atomic += b.vmem_atomic;
        a.lds += b.lds;
        a.matrix += b.matrix;
        a.dot += b.dot;
        a.branch += b.branch;
        a.barrier += b.barrier;
        a.other += b.other;
        self.bytes_loaded += other.bytes_loaded;
        self.bytes_stored += other.bytes_stored;
        self.last_store = self.last_store.max(other.last_store);
        self.lines_64 += other.lines_64;
        self.lines_128 += other.lines_128;
        for (all, others) in [
            (&mut self.load_widths, other.load_widths),
            (&mut self.load_bytes, other.load_bytes),
            (&mut self.load_lines, other.load_lines),
        ] {
            for (a, b) in all.iter_mut().zip(others) {
                *a += b;
            }
        }
        self.lds_conflicts += other.lds_conflicts;
    }

    /// One JSON object.
    pub fn to_json(&self) -> String {
        let mut out = String::from("{");
        let _ = write!(
            out,
            "\"kernel\":\"{}\",\"launches\":{},\"workgroups\":{},\"waves\":{},\"instructions\":{{",
            self.kernel, self.launches, self.workgroups, self.waves
        );
        for (name, n) in self.instructions.fields() {
            let _ = write!(out, "\"{name}\":{n},");
        }
        let _ = write!(
            out,
            "\"total\":{}}},\"bytes_loaded\":{},\"bytes_stored\":{},\"lines_64\":{},\"lines_128\":{},",
            self.instructions.total(),
            self.bytes_loaded,
            self.bytes_stored,
            self.lines_64,
            self.lines_128
        );
        let _ = write!(
            out,
            "\"load_widths\":{:?},\"load_bytes\":{:?},\"load_lines\":{:?},\"lds_conflicts\":{}}}",
            self.load_widths, self.load_bytes, self.load_lines, self.lds_conflicts
        );
        out
    }
}
