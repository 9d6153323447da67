//! What the modelled chips are: the numbers that their device attributes give.

/// Facts of one chip; memory sizes in bytes, rates in kHz.
#[derive(Clone, Copy, Debug)]
pub struct ChipFacts {
    /// The gfx name without feature flags.
    pub arch: &'static str,
    /// `gcnArchName` as the runtime gives it.
    pub arch_name: &'static str,
    /// Marketing name.
    pub name: &'static str,
    /// Compute units, as the chip's data sheet counts them.
    pub compute_units: i32,
    /// Lanes of a wave.
    pub wave_size: i32,
    /// L2 cache.
    pub l2_bytes: i32,
    /// Peak shader clock.
    pub clock_khz: i32,
    /// Peak memory clock.
    pub memory_clock_khz: i32,
    /// Memory bus width in bits.
    pub bus_bits: i32,
    /// An APU: host and device share one memory.
    pub integrated: bool,
    /// Waves that a SIMD holds at most, times SIMDs of a compute unit, times lanes.
    pub threads_per_cu: i32,
}

const fn chip(
    arch: &'static str,
    arch_name: &'static str,
    name: &'static str,
    compute_units: i32,
    l2_mib: i32,
    (clock, memory_clock, bus_bits): (i32, i32, i32),
    integrated: bool,
) -> ChipFacts {
    let cdna = matches!(arch.as_bytes(), [b'g', b'f', b'x', b'9', ..]);
    ChipFacts {
        arch,
        arch_name,
        name,
        compute_units,
        wave_size: if cdna { 64 } else { 32 },
        l2_bytes: l2_mib << 20,
        clock_khz: clock * 1000,
        memory_clock_khz: memory_clock * 1000,
        bus_bits,
        integrated,
        threads_per_cu: 2048,
    }
}

#[rustfmt::skip]
const CHIPS: &[ChipFacts] = &[
    chip("gfx90a", "gfx90a:sramecc+:xnack-", "AMD Instinct MI210", 104, 8, (1700, 1600, 4096), false),
    chip("gfx942", "gfx942:sramecc+:xnack-", "AMD Instinct MI300X", 304, 4, (2100, 1300, 8192), false),
    chip("gfx1030", "gfx1030", "AMD Radeon RX 6900 XT", 80, 4, (2660, 1000, 256), false),
    chip("gfx1032", "gfx1032", "AMD Radeon RX 6600", 28, 2, (2491, 875, 128), false),
    chip("gfx1036", "gfx1036", "AMD Radeon 610M", 2, 1, (2200, 2600, 128), true),
    chip("gfx1100", "gfx1100", "AMD Radeon RX 7900 XTX", 96, 6, (2482, 1249, 384), false),
    chip("gfx1101", "gfx1101", "AMD Radeon RX 7800 XT", 60, 4, (2430, 1218, 256), false),
    chip("gfx1102", "gfx1102", "AMD Radeon RX 7600", 32, 2, (2655, 1124, 128), false),
    chip("gfx1103", "gfx1103", "AMD Radeon 780M", 12, 2, (2800, 2800, 128), true),
    chip("gfx1150", "gfx1150", "AMD Radeon 890M", 16, 2, (2900, 2800, 128), true),
    chip("gfx1151", "gfx1151", "AMD Radeon 8060S", 40, 2, (2900, 1000, 256), true),
    chip("gfx1152", "gfx1152", "AMD Radeon 860M", 8, 1, (3000, 2800, 128), true),
    chip("gfx1200", "gfx1200", "AMD Radeon RX 9060 XT", 32, 4, (3320, 1258, 128), false),
    chip("gfx1201", "gfx1201", "AMD Radeon AI PRO R9700", 64, 8, (2350, 1258, 256), false),
];

/// The facts of a chip by gfx name.
pub fn chip_facts(arch: &str) -> Option<&'static ChipFacts> {
    CHIPS.iter().find(|chip| chip.arch == arch)
}

/// Whether a code object for `target` runs on `arch`: the same name, or the generic target of its
/// family.
pub fn target_runs_on(target: &str, arch: &str) -> bool {
    let family = match target {
        "gfx9-4-generic" => "gfx94",
        "gfx10-3-generic" => "gfx103",
        "gfx11-generic" => "gfx11",
        "gfx12-generic" => "gfx12",
        _ => return target == arch,
    };
    arch.starts_with(family)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waves_are_64_lanes_on_gfx9_only() {
        for chip in CHIPS {
            let expected = if chip.arch.starts_with("gfx9") {
                64
            } else {
                32
            };
            assert_eq!(chip.wave_size, expected, "{}", chip.arch);
            assert!(chip.arch_name.starts_with(chip.arch));
        }
    }

    #[test]
    fn generic_targets_run_on_their_family_only() {
        assert!(target_runs_on("gfx1151", "gfx1151"));
        assert!(target_runs_on("gfx11-generic", "gfx1151"));
        assert!(!target_runs_on("gfx1100", "gfx1151"));
        assert!(!target_runs_on("gfx12-generic", "gfx1151"));
    }
}
