//! The parameters of the cards.
//!
//! A parameter belongs to a card, never to a kernel. Each comes from a document, a microbenchmark, or a fit
//! to bandwidth sweeps; the comment beside it says which: `[doc]` AMD's or LLVM's documents, `[bench]` a
//! published microbenchmark, `[fit]` chosen so that the pairs marked "fit" in README.md come out,
//! `[guess]` none of these.

use super::card::{Card, ChannelHash};

/// What RDNA cards have in common.
const RDNA: Card = Card {
    name: "",
    target: "",
    clock_mhz: 0.0,
    units: 0,
    cus_per_unit: 2,                 // [doc]
    simds_per_cu: 2,                 // [doc]
    wave_slots: 16,                  // [doc] LLVM AMDGPUBaseInfo
    vgprs: 1536,                     // [doc] wave32
    vgpr_granule: 24,                // [doc]
    lds_bytes: 128 << 10,            // [doc] a WGP
    lds_granule: 1024,               // [doc]
    workgroup_slots: 32,             // [doc]
    issue_cycles: 1,                 // [bench] one wave32 instruction a cycle
    valu_latency: 5,                 // [doc] llvm-mca's model
    salu_latency: 2,                 // [doc]
    transcendental_cycles: 4,        // [bench] quarter rate
    int_multiply_cycles: 4,          // [bench] vkpeak
    double_cycles: 32,               // [bench] 1/32
    matrix_macs: [256, 128, 128, 0], // [doc] amd_matrix_instruction_calculator: 16, 32, 32 cycles of 4096
    matrix_beside_valu: false,       // [doc]
    branch_cycles: 16,               // [guess]
    barrier_cycles: 20,              // [guess]
    lds_pass_cycles: 1.28,           // [bench] 100 of 128 bytes a cycle (7900 XT)
    lds_pair_cycles: 2.0,            // [fit] f32 product, LDS step (7900 XTX)
    lds_latency: 33,                 // [bench] 7900 XT
    vector_bytes: 128,               // [doc] rocprof-compute
    vector_lines: 1,                 // [guess] one tag look-up a cycle
    fill_bytes: 64,                  // [guess]
    l0_bytes: 32 << 10,              // [doc]
    scalar_bytes: 16 << 10,          // [doc]
    l0_latency: 73,                  // [bench] 6900 XT
    scalar_latency: 35,              // [guess]
    l2_bytes: 0,
    l2_count: 1,
    l2_latency: 221, // [bench] 6900 XT
    l2_gbs: 0.0,
    mall_bytes: 0,
    mall_ns: 160.0,
    mall_gbs: 0.0,
    dram_ns: 250.0,
    dram_gbs: 0.0,
    dram_peak_gbs: 0.0,
    channels: 16,
    hash: ChannelHash::Mixed,
    write_cost: 1.2,  // [fit] 6900 XT scale beside read
    drains: false,    // [fit] small kernels, 6900 XT
    start_ns: 90.0,   // [fit] 6900 XT read sweep
    start_waves: 4.0, // [guess]
    launch_us: 2.0,
};

/// What CDNA cards have in common.
const CDNA: Card = Card {
    cus_per_unit: 1,
    simds_per_cu: 4,
    wave_slots: 8,   // [doc]
    vgprs: 512,      // [doc]
    vgpr_granule: 8, // [doc]
    lds_bytes: 64 << 10,
    lds_granule: 512,
    workgroup_slots: 32,
    issue_cycles: 4, // [doc] a wave64 over 16 lanes
    valu_latency: 4,
    salu_latency: 4,
    transcendental_cycles: 16, // [bench] quarter rate
    int_multiply_cycles: 16,
    double_cycles: 4,         // [doc] full rate
    matrix_beside_valu: true, // [doc]
    branch_cycles: 16,
    barrier_cycles: 20,
    lds_pass_cycles: 1.75, // [bench] 73 of 128 bytes a cycle (MI210)
    lds_latency: 32,       // [bench] MI308X
    vector_bytes: 64,      // [bench] 59-61 bytes a cycle
    vector_lines: 1,
    fill_bytes: 64,
    l0_bytes: 16 << 10,
    drains: true, // [fit] small kernels of 6 MiB, MI210; MI300X must, for its dies share no L2
    ..RDNA
};

/// All known cards.
pub const CARDS: [Card; 8] = [
    Card {
        name: "MI210",
        target: "gfx90a",
        clock_mhz: 1700.0, // [doc]
        units: 104,
        matrix_macs: [128, 128, 128, 32], // [doc] 32x32x8 f16 in 64 cycles
        l0_latency: 126,                  // [bench] RRZE
        scalar_latency: 48,               // [bench] MI300X VF
        l2_bytes: 8 << 20,
        l2_latency: 250,  // [bench] RRZE
        l2_gbs: 4950.0,   // [bench] RRZE 4.8-5.1 TB/s
        dram_ns: 345.0,   // [bench] RRZE 585-590 cycles
        dram_gbs: 1400.0, // [bench] RRZE
        dram_peak_gbs: 1638.0,
        channels: 32,
        write_cost: 1.0,
        start_ns: 125.0, // [fit] read sweep
        start_waves: 8.0,
        launch_us: 1.43, // [fit] RRZE small kernels: 2.1 of 64 kB less the kernel
        ..CDNA
    },
    Card {
        name: "MI300X",
        target: "gfx942",
        clock_mhz: 2092.0,
        units: 304,
        matrix_macs: [512, 512, 256, 64], // [doc] 32x32x8 f16 in 32 cycles
        l0_bytes: 32 << 10,
        l0_latency: 119,    // [bench] RRZE
        scalar_latency: 48, // [bench] mt4g
        l2_bytes: 4 << 20,
        l2_count: 8,
        l2_latency: 213, // [bench] RRZE
        l2_gbs: 17000.0, // [bench] Origami
        mall_bytes: 256 << 20,
        mall_ns: 218.0,   // [bench] RRZE 455-458 cycles
        mall_gbs: 7310.0, // [bench] Origami
        dram_ns: 420.0,   // [bench] RRZE 868-890 cycles
        dram_gbs: 4300.0, // [bench] RRZE read
        dram_peak_gbs: 5300.0,
        channels: 128,
        write_cost: 1.0,
        start_ns: 80.0, // [fit] read sweep
        start_waves: 32.0,
        launch_us: 1.43, // [guess] as MI210
        ..CDNA
    },
    Card {
        name: "RX 6900 XT",
        target: "gfx1030",
        clock_mhz: 2560.0,
        units: 40,
        vgprs: 1024,
        vgpr_granule: 16,
        wave_slots: 16,
        l0_bytes: 16 << 10,
        matrix_macs: [0; 4],
        l2_bytes: 4 << 20,
        l2_gbs: 4900.0, // [bench] RRZE 4.6-5.2 TB/s
        mall_bytes: 128 << 20,
        mall_ns: 162.0,   // [bench] RRZE
        mall_gbs: 1950.0, // [bench] RRZE
        dram_ns: 200.0,   // [fit] 0.8 of the pointer chase, 249 (6950 XT, hipfire)
        dram_gbs: 505.0,  // [bench] RRZE
        dram_peak_gbs: 512.0,
        channels: 16,
        launch_us: 2.8, // [fit] RRZE small kernels: 3.2 of 64 kB less the kernel
        ..RDNA
    },
    Card {
        name: "RX 7900 XTX",
        target: "gfx1100",
        clock_mhz: 2500.0,
        units: 48,
        l2_bytes: 6 << 20,
        l2_gbs: 7120.0, // [bench] Origami
        mall_bytes: 96 << 20,
        mall_ns: 150.0, // [bench] Chips and Cheese, vector
        mall_gbs: 3500.0,
        dram_ns: 171.0,  // [fit] 0.8 of the pointer chase, 214 (hipfire)
        dram_gbs: 880.0, // [guess] 92 % of peak, as gfx1201
        dram_peak_gbs: 960.0,
        channels: 24,
        start_waves: 6.0,
        launch_us: 3.1, // [bench] legacy-rocm-build 6409
        ..RDNA
    },
    Card {
        name: "W7900",
        target: "gfx1100",
        clock_mhz: 2500.0,
        units: 48,
        l2_bytes: 6 << 20,
        l2_gbs: 7120.0,
        mall_bytes: 96 << 20,
        mall_ns: 150.0,
        mall_gbs: 3500.0,
        dram_ns: 171.0,
        dram_gbs: 790.0,
        dram_peak_gbs: 864.0,
        channels: 24,
        start_waves: 6.0,
        launch_us: 3.87, // [bench] rocm-systems 10834
        ..RDNA
    },
    Card {
        name: "Radeon 8060S",
        target: "gfx1151",
        clock_mhz: 2900.0,
        units: 20,
        l2_bytes: 2 << 20,
        l2_gbs: 2470.0, // [bench] Origami
        mall_bytes: 32 << 20,
        mall_ns: 150.0,  // [guess] as Navi 31
        mall_gbs: 952.0, // [bench] hipfire
        dram_ns: 176.0,  // [fit] 0.8 of the pointer chase, 220 (hipfire)
        dram_gbs: 226.0, // [bench] read 221 memtest_vulkan, copy 232 hipfire
        dram_peak_gbs: 256.0,
        channels: 16,
        hash: ChannelHash::Straight { shift: 9 },
        start_waves: 2.0,
        launch_us: 1.84, // [bench] legacy-rocm-build 6409
        ..RDNA
    },
    Card {
        name: "RX 9070 XT",
        target: "gfx1201",
        clock_mhz: 2970.0,
        units: 32,
        matrix_macs: [512, 512, 256, 0], // [doc] 8, 8, 16 cycles
        l2_bytes: 8 << 20,
        l2_gbs: 5740.0, // [bench] Origami
        mall_bytes: 64 << 20,
        mall_ns: 150.0,   // [guess]
        mall_gbs: 2940.0, // [bench] Origami
        dram_ns: 190.0, // [fit] 0.8 of the pointer chase, 238 (R9700, hipfire), which pays for translation, too
        dram_gbs: 590.0, // [fit] the largest shapes of the int4 product, less launch
        dram_peak_gbs: 640.0,
        channels: 16,
        launch_us: 2.3, // [bench] R9700 2.57 stream, 2.147 graph
        ..RDNA
    },
    Card {
        name: "R9700",
        target: "gfx1201",
        clock_mhz: 2920.0,
        units: 32,
        matrix_macs: [512, 512, 256, 0],
        l2_bytes: 8 << 20,
        l2_gbs: 5740.0,
        mall_bytes: 64 << 20,
        mall_ns: 150.0,
        mall_gbs: 2940.0,
        dram_ns: 190.0,
        dram_gbs: 590.0,
        dram_peak_gbs: 640.0,
        channels: 16,
        launch_us: 2.57,
        ..RDNA
    },
];
