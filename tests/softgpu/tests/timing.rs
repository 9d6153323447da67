//! Properties of the timing model that must hold whatever its parameters are.

mod support;

use softgpu::isa::{Checks, Launch};
use softgpu::timing::replay::Cause;
use softgpu::timing::{Card, Options, Prediction, card, cards, predict};
use support::{Args, Gpu, compile};

/// Bytes that `read(1024, ..)` reads.
const BYTES: usize = 4 << 20;

/// A launch of one of `timing.hip`'s kernels.
struct Case {
    kernel: &'static str,
    blocks: u32,
    block: u32,
    lds: u32,
    args: [i32; 2],
    warm: u32,
}

/// The first card of each target.
fn one_of_each_target() -> impl Iterator<Item = &'static Card> {
    cards().iter().filter(|c| card(c.target) == Some(c))
}

/// Instructions to replay at most.
const BUDGET: u64 = 30_000_000;

fn run(case: &Case, card: &Card) -> Prediction {
    run_within(case, card, BUDGET)
}

fn run_within(case: &Case, card: &Card, budget: u64) -> Prediction {
    let gpu = Gpu::new();
    let code = compile("timing.hip", card.target, &[]);
    let kernel = code.kernel(case.kernel).unwrap();
    let bytes = (case.blocks * case.block * 64) as usize;
    let x = gpu.memory.allocate(bytes, "x").unwrap();
    let y = gpu.memory.allocate(bytes, "y").unwrap();
    gpu.memory.mark_initialised(x, bytes);
    let args = Args::new()
        .ptr(x)
        .ptr(y)
        .i32(case.args[0])
        .i32(case.args[1]);
    let launch = Launch {
        kernel: &kernel,
        grid_blocks: [case.blocks, 1, 1],
        block: [case.block, 1, 1],
        dynamic_lds: case.lds,
        kernarg: &args.0,
        memory: &gpu.memory,
        seed: 0,
        threads: 1,
        checks: Checks::default(),
        stop: None,
        without: None,
    };
    let options = Options {
        warm: case.warm,
        budget,
    };
    predict(&launch, card, options).unwrap()
}

/// Reads 64 bytes a thread, each 16 behind the one before it has come.
fn read(blocks: u32, lds: u32) -> Case {
    Case {
        kernel: "read",
        blocks,
        block: 64,
        lds,
        args: [64 * blocks as i32, 0],
        warm: 0,
    }
}

#[test]
fn more_resident_waves_are_never_slower_for_reads() {
    for card in one_of_each_target() {
        let mut last = f64::INFINITY;
        // From one workgroup in 60 KiB of LDS to as many as registers permit.
        for lds in [60 << 10, 14 << 10, 0] {
            let p = run(&read(1024, lds), card);
            assert!(
                p.kernel_us <= last * 1.02,
                "{}: {lds} bytes of LDS: {} after {last}",
                card.name,
                p.kernel_us
            );
            last = p.kernel_us;
        }
        let alone = run(&read(1024, 60 << 10), card);
        assert!(
            alone.kernel_us > 1.3 * last,
            "{}: occupancy did not matter",
            card.name
        );
    }
}

#[test]
fn bandwidth_stays_below_the_cards() {
    for card in one_of_each_target() {
        let p = run(&read(1024, 0), card);
        let gbs = BYTES as f64 / p.kernel_us * 1e-3;
        assert!(gbs <= card.dram_gbs, "{}: {gbs} GB/s", card.name);
        assert!(gbs > 0.3 * card.dram_gbs, "{}: only {gbs} GB/s", card.name);
        // Each byte is fetched once.
        assert!(
            (p.dram_bytes / BYTES as f64 - 1.0).abs() < 0.05,
            "{}: {}",
            card.name,
            p.dram_bytes
        );
        let dram = p.waits.of(Cause::Dram);
        assert!(dram > 0.3, "{}: {dram} of the time for DRAM", card.name);
    }
}

#[test]
fn time_grows_with_bytes() {
    let card = card("Radeon 8060S").unwrap();
    let [half, whole] = [512, 1024].map(|blocks| run(&read(blocks, 0), card).kernel_us);
    assert!(
        (1.6..2.2).contains(&(whole / half)),
        "{half} and {whole} us"
    );
}

#[test]
fn what_caches_hold_need_not_come_from_dram() {
    for name in ["RX 9070 XT", "RX 7900 XTX", "MI300X"] {
        let card = card(name).unwrap();
        let cold = read(1024, 0);
        let warm = Case {
            warm: 1,
            ..read(1024, 0)
        };
        let [cold, warm] = [cold, warm].map(|c| run(&c, card));
        assert!(
            warm.kernel_us < cold.kernel_us,
            "{name}: {} and {}",
            warm.kernel_us,
            cold.kernel_us
        );
        assert!(
            warm.dram_bytes < 0.05 * cold.dram_bytes,
            "{name}: {}",
            warm.dram_bytes
        );
    }
}

#[test]
fn bank_conflicts_cost() {
    for card in one_of_each_target() {
        // Threads a dword, 2 and 32 dwords apart.
        let [one, two, all] = [1, 2, 32].map(|stride| {
            let case = Case {
                kernel: "banks",
                blocks: 256,
                block: 256,
                lds: 32 << 10,
                args: [stride, 64],
                warm: 0,
            };
            run(&case, card)
        });
        assert!(
            two.kernel_us > 0.98 * one.kernel_us,
            "{}: {} and {}",
            card.name,
            two.kernel_us,
            one.kernel_us
        );
        assert!(
            all.kernel_us > 4.0 * two.kernel_us,
            "{}: {} and {}",
            card.name,
            all.kernel_us,
            two.kernel_us
        );
        assert!(
            all.waits.of(Cause::Lds) > one.waits.of(Cause::Lds),
            "{}",
            card.name
        );
    }
}

#[test]
fn vector_arithmetic_stays_below_its_peak() {
    for card in one_of_each_target() {
        let case = |n| Case {
            kernel: "arithmetic",
            blocks: 512,
            block: 256,
            lds: 0,
            args: [n, 0],
            warm: 0,
        };
        let [short, long] = [32, 128].map(|n| run(&case(n), card));
        assert!(
            long.valu_busy <= 1.0 && long.valu_busy > 0.5,
            "{}: {}",
            card.name,
            long.valu_busy
        );
        assert!(
            long.kernel_us > 2.5 * short.kernel_us,
            "{}: {} and {}",
            card.name,
            long.kernel_us,
            short.kernel_us
        );
    }
}

#[test]
fn predictions_repeat() {
    let card = card("RX 9070 XT").unwrap();
    let [a, b] = [0, 0].map(|_| run(&read(1200, 0), card));
    assert_eq!(a, b);
    assert!(a.affine, "a plain read's addresses are linear in the block");
}

#[test]
fn traces_of_all_workgroups_agree_with_the_linear_law() {
    // Blocks that a table scatters have no law; their own traces must do.
    let card = card("RX 9070 XT").unwrap();
    let scattered = Case {
        kernel: "read_scattered",
        ..read(1200, 0)
    };
    let [law, own] = [read(1200, 0), scattered].map(|c| run(&c, card));
    assert!(law.affine && !own.affine);
    let ratio = own.kernel_us / law.kernel_us;
    assert!(
        (0.8..1.25).contains(&ratio),
        "{} and {} us",
        law.kernel_us,
        own.kernel_us
    );
}

#[test]
fn a_slice_of_the_card_tells_the_same_time() {
    for name in ["RX 9070 XT", "RX 6900 XT", "MI210"] {
        let card = card(name).unwrap();
        let whole = run(&read(8192, 6 << 10), card);
        let slice = run_within(&read(8192, 6 << 10), card, 100_000);
        assert!(
            slice.units < whole.units && slice.simulated < whole.simulated,
            "{name}: no slice"
        );
        let ratio = slice.kernel_us / whole.kernel_us;
        assert!(
            (0.8..1.25).contains(&ratio),
            "{name}: {} and {} us",
            slice.kernel_us,
            whole.kernel_us
        );
    }
}
