//! The cards and their parameters.
//!
//! The cards themselves are in `cards.rs`.

/// How addresses are spread over the channels of DRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelHash {
    /// All address bits above the line are mixed: no stride is bad.
    Mixed,
    /// Neighbouring pieces of `1 << shift` bytes lie in neighbouring channels: rows whose stride is a
    /// multiple of many pieces meet in few channels while waves walk along them in step.
    Straight { shift: u32 },
}

/// A graphics card, or the GPU of a processor.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    pub name: &'static str,
    pub target: &'static str,
    pub clock_mhz: f64,
    /// Compute units (CDNA) or work group processors of two of them (RDNA).
    pub units: u32,
    pub cus_per_unit: u32,
    pub simds_per_cu: u32,
    pub wave_slots: u32,
    /// Vector registers of a SIMD for each lane of a wave of the kernel's usual size, and their granule.
    pub vgprs: u32,
    pub vgpr_granule: u32,
    /// LDS of a unit; granule of its allocation.
    pub lds_bytes: u32,
    pub lds_granule: u32,
    /// Workgroups that a unit holds at most.
    pub workgroup_slots: u32,
    /// Cycles in which a wave issues one instruction, and in which a SIMD takes one vector instruction.
    pub issue_cycles: u32,
    /// From a vector instruction to one that needs its result.
    pub valu_latency: u32,
    pub salu_latency: u32,
    pub transcendental_cycles: u32,
    pub int_multiply_cycles: u32,
    pub double_cycles: u32,
    /// Multiply-adds of a SIMD's matrix unit in a cycle, for factors of 4, 8, 16 and 32 bits.
    pub matrix_macs: [u32; 4],
    /// Vector arithmetic goes on beside the matrix unit (MFMA) or not (WMMA).
    pub matrix_beside_valu: bool,
    /// From a taken branch to the instruction at its target.
    pub branch_cycles: u32,
    pub barrier_cycles: u32,
    /// Cycles of one pass over the 32 banks of a CU, and from issue to result.
    pub lds_pass_cycles: f64,
    /// The same where a workgroup is spread over both CUs of a pair (WGP mode).
    pub lds_pair_cycles: f64,
    pub lds_latency: u32,
    /// Bytes that a CU's first cache hands out in a cycle, and lines it looks up in a cycle.
    pub vector_bytes: u32,
    pub vector_lines: u32,
    /// Bytes a cycle from the L2 into a CU.
    pub fill_bytes: u32,
    /// First vector cache of a CU; the scalar cache of a unit.
    pub l0_bytes: u32,
    pub scalar_bytes: u32,
    pub l0_latency: u32,
    pub scalar_latency: u32,
    /// Each second-level cache, and how many there are (one for each die of MI300X).
    pub l2_bytes: u32,
    pub l2_count: u32,
    pub l2_latency: u32,
    /// All of them together.
    pub l2_gbs: f64,
    /// The memory-side cache; 0: none.
    pub mall_bytes: u64,
    pub mall_ns: f64,
    pub mall_gbs: f64,
    pub dram_ns: f64,
    /// What DRAM reaches when only read.
    pub dram_gbs: f64,
    /// What its data sheet says.
    pub dram_peak_gbs: f64,
    pub channels: u32,
    pub hash: ChannelHash,
    /// How much longer a written line takes than a read one.
    pub write_cost: f64,
    /// Changed lines of L2 are written back when a kernel ends.
    pub drains: bool,
    /// From a free place for a workgroup to its first instruction.
    pub start_ns: f64,
    /// Waves that all dispatchers together start in a cycle.
    pub start_waves: f64,
    /// What a kernel costs beside its work when kernels follow each other in a stream.
    pub launch_us: f64,
}

/// All known cards.
pub fn cards() -> &'static [Card] {
    &super::cards::CARDS
}

/// The card of this name, or the first of this target.
pub fn card(name: &str) -> Option<&'static Card> {
    let by_name = cards().iter().find(|c| c.name.eq_ignore_ascii_case(name));
    by_name.or_else(|| cards().iter().find(|c| c.target == name))
}

impl Card {
    /// Compute units.
    pub fn cus(&self) -> u32 {
        self.units * self.cus_per_unit
    }

    /// Bytes that L2 and the memory-side cache hold.
    pub fn cached_bytes(&self) -> u64 {
        u64::from(self.l2_bytes) * u64::from(self.l2_count) + self.mall_bytes
    }

    /// Cycles of a matrix instruction with this many multiply-adds.
    pub fn matrix_cycles(&self, macs: u32, bits: u32) -> u32 {
        let rate = self.matrix_macs[match bits {
            4 => 0,
            8 => 1,
            16 => 2,
            _ => 3,
        }];
        macs / rate.max(1)
    }
}
