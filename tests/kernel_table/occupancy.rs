//! How many waves a SIMD can hold, from registers and local memory (LLVM's AMDGPU usage and AMD's
//! ISA manuals: register file, allocation granule, most waves; scalar registers never limit here).

struct Simd {
    /// Vector registers of one lane in the whole file.
    registers: u64,
    granule: u64,
    waves: u64,
    /// Local memory that the SIMDs below share, in bytes.
    lds: u64,
    /// SIMDs that share it.
    sharing: u64,
}

fn simd(target: &str) -> Simd {
    match target {
        // CDNA 2 and 3: one file of 512 for both kinds; 64 KiB a compute unit.
        "gfx90a" | "gfx942" | "gfx950" | "gfx9-4-generic" => Simd {
            registers: 512,
            granule: 8,
            waves: 8,
            lds: 64 << 10,
            sharing: 4,
        },
        // RDNA: 128 KiB a work-group processor of four SIMDs. These chips have the larger file.
        "gfx1100" | "gfx1101" | "gfx1151" | "gfx1200" | "gfx1201" | "gfx12-generic" => Simd {
            registers: 1536,
            granule: 24,
            waves: 16,
            lds: 128 << 10,
            sharing: 4,
        },
        _ => Simd {
            registers: 1024,
            granule: 16,
            waves: 16,
            lds: 128 << 10,
            sharing: 4,
        },
    }
}

/// Waves of `wave` lanes a SIMD, for blocks of `threads`.
pub fn waves(target: &str, vgprs: u64, lds: u64, threads: u64, wave: u64) -> u64 {
    let simd = simd(target);
    let by_registers = simd.registers / vgprs.max(1).next_multiple_of(simd.granule);
    let by_lds = match lds {
        0 => simd.waves,
        lds => simd.lds / lds * threads.div_ceil(wave) / simd.sharing,
    };
    by_registers.min(by_lds).min(simd.waves)
}

#[test]
fn known_occupancies() {
    // What clang's own remarks say of such kernels.
    assert_eq!(waves("gfx1100", 12, 32, 256, 32), 16);
    assert_eq!(waves("gfx1100", 96, 0, 256, 32), 16);
    assert_eq!(waves("gfx1100", 97, 0, 256, 32), 12);
    assert_eq!(waves("gfx1103", 96, 0, 256, 32), 10);
    assert_eq!(waves("gfx90a", 64, 0, 256, 64), 8);
    assert_eq!(waves("gfx90a", 128, 0, 256, 64), 4);
    assert_eq!(waves("gfx942", 32, 32 << 10, 256, 64), 2);
}
