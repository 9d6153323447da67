//! What a prediction says.

use super::occupancy::Occupancy;
use super::replay::{CAUSES, Cause, Outcome, Setup};
use super::trace::LINE;
use crate::isa::Launch;

/// Shares of the waves' time, by what it went into; they add up to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Waits(pub [f64; CAUSES]);

const NAMES: [(Cause, &str); CAUSES] = [
    (Cause::Issue, "issue"),
    (Cause::Dependency, "dependency"),
    (Cause::VectorPort, "vector port"),
    (Cause::MatrixPort, "matrix port"),
    (Cause::MemoryPort, "memory port"),
    (Cause::Lds, "LDS"),
    (Cause::Cache, "L0/L2"),
    (Cause::Mall, "MALL"),
    (Cause::Dram, "DRAM"),
    (Cause::Scalar, "scalar"),
    (Cause::Store, "store"),
    (Cause::Barrier, "barrier"),
    (Cause::Branch, "branch"),
];

impl Waits {
    /// The share of one cause.
    pub fn of(&self, cause: Cause) -> f64 {
        self.0[cause as usize]
    }

    /// Names and shares, the largest first.
    pub fn sorted(&self) -> Vec<(&'static str, f64)> {
        let mut all: Vec<_> = NAMES.iter().map(|(c, n)| (*n, self.of(*c))).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        all
    }
}

/// How long a card takes for a launch, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    pub card: &'static str,
    pub kernel: String,
    /// With the launch: what a launch costs in a stream of them.
    pub us: f64,
    /// The kernel alone.
    pub kernel_us: f64,
    pub launch_us: f64,
    pub occupancy: Occupancy,
    /// Bytes that DRAM moved, all of the grid.
    pub dram_bytes: f64,
    /// Of the kernel's time, against the data sheet's bandwidth.
    pub dram_share: f64,
    /// How long the channels were busy, of the kernel's time.
    pub dram_busy: f64,
    /// Multiply-adds against what the matrix units can do.
    pub matrix_busy: f64,
    pub valu_busy: f64,
    pub lds_busy: f64,
    pub vmem_busy: f64,
    /// Shares of the waves' time.
    pub waits: Waits,
    /// Share of the kernel's time in which workgroups ended and no more were left to begin.
    pub tail: f64,
    pub units: u32,
    pub groups: u64,
    pub simulated: u64,
    pub instructions: u64,
    /// The workgroups' addresses are linear in their coordinates: only a few were executed.
    pub affine: bool,
}

impl Prediction {
    pub(super) fn new(launch: &Launch, setup: &Setup, o: &Outcome, affine: bool) -> Prediction {
        let (card, slice) = (setup.card, setup.slice);
        let rest = slice.groups - slice.simulated.min(slice.groups);
        let cycles = o.cycles + rest as f64 * o.interval;
        let kernel_us = cycles / card.clock_mhz;
        let scale = slice.groups as f64 / slice.simulated.max(1) as f64 * f64::from(card.units)
            / f64::from(slice.units);
        let dram_bytes = (o.traffic.dram_reads + o.traffic.dram_writes) * LINE as f64 * scale;
        let sum: f64 = o.waits.iter().sum();
        let stretch = o.cycles * slice.groups as f64 / slice.simulated.max(1) as f64 / cycles;
        Prediction {
            card: card.name,
            kernel: launch.kernel.name.clone(),
            us: kernel_us + card.launch_us,
            kernel_us,
            launch_us: card.launch_us,
            occupancy: setup.occupancy,
            dram_bytes,
            dram_share: dram_bytes / kernel_us * 1e-3 / card.dram_peak_gbs,
            dram_busy: o.dram_busy * stretch,
            matrix_busy: o.matrix_busy * stretch,
            valu_busy: o.valu_busy * stretch,
            lds_busy: o.lds_busy * stretch,
            vmem_busy: o.vmem_busy * stretch,
            waits: Waits(o.waits.map(|w| w / sum.max(1.0))),
            tail: ((o.cycles - o.interval * slice.simulated as f64) / cycles).max(0.0),
            units: slice.units,
            groups: setup.grid.iter().product(),
            simulated: slice.simulated,
            instructions: o.instructions,
            affine,
        }
    }

    /// One JSON object.
    pub fn to_json(&self) -> String {
        let waits: Vec<String> = self
            .waits
            .sorted()
            .iter()
            .map(|(n, s)| format!("\"{n}\":{s:.4}"))
            .collect();
        let o = self.occupancy;
        format!(
            "{{\"card\":\"{}\",\"kernel\":\"{}\",\"us\":{:.3},\"kernel_us\":{:.3},\"launch_us\":{:.3},\"dram_bytes\":{:.0},\
             \"dram_share\":{:.4},\"dram_busy\":{:.4},\"matrix_busy\":{:.4},\"valu_busy\":{:.4},\"lds_busy\":{:.4},\
             \"vmem_busy\":{:.4},\"tail\":{:.4},\"waves_per_simd\":{},\"groups_per_unit\":{},\"limit\":\"{}\",\
             \"groups\":{},\"simulated\":{},\"units\":{},\"instructions\":{},\"affine\":{},\"waits\":{{{}}}}}",
            self.card,
            self.kernel,
            self.us,
            self.kernel_us,
            self.launch_us,
            self.dram_bytes,
            self.dram_share,
            self.dram_busy,
            self.matrix_busy,
            self.valu_busy,
            self.lds_busy,
            self.vmem_busy,
            self.tail,
            o.waves,
            o.groups,
            o.limit,
            self.groups,
            self.simulated,
            self.units,
            self.instructions,
            self.affine,
            waits.join(",")
        )
    }

    /// Lines for people.
    pub fn to_text(&self) -> String {
        let o = self.occupancy;
        let waits: Vec<String> = self
            .waits
            .sorted()
            .iter()
            .filter(|(_, s)| *s >= 0.02)
            .map(|(n, s)| format!("{n} {:.0} %", 100.0 * s))
            .collect();
        format!(
            "{} on {}: {:.2} us (launch {:.2}), DRAM {:.0} % of peak ({:.0} GB/s), matrix {:.0} %, vector {:.0} %, \
             LDS {:.0} %; {} workgroups a unit, {} waves a SIMD ({}), tail {:.0} %; waves: {}\n",
            self.kernel,
            self.card,
            self.us,
            self.launch_us,
            100.0 * self.dram_share,
            self.dram_bytes / self.kernel_us * 1e-3,
            100.0 * self.matrix_busy,
            100.0 * self.valu_busy,
            100.0 * self.lds_busy,
            o.groups,
            o.waves,
            o.limit,
            100.0 * self.tail,
            waits.join(", ")
        )
    }
}
