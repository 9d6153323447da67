//! Chess networks on a GPU: every kind against the engine's answers, in f16 and in f32, alone and in batches.

#[path = "chess/compare.rs"]
mod compare;
#[path = "chess/golden.rs"]
mod golden;
#[path = "support/gpu.rs"]
mod gpu;

use compare::{NETS, compare, inputs, maia};
use golden::{net, positions};
use mlxrocm::array::{Home, Precision};
use mlxrocm::chess::{ChessNet, Evaluation, MOVES, NetOptions, PLANES, PolicyHead, ValueHead};
use mlxrocm::gpu::Device;

/// Calls `test` on a real GPU, or on software ones: a target a day, all with `MLXROCM_TEST_ALL=1`.
fn on_gpu(test: impl Fn(&Home)) {
    let home = || Home::of(&Device::open(0).unwrap()).unwrap();
    if gpu::is_real() {
        let _gpu = gpu::gpu();
        return test(&home());
    }
    let targets = gpu::among(&["gfx1151", "gfx1201", "gfx942"]);
    let days = targets.len();
    for (_, target) in (0..)
        .zip(targets)
        .filter(|(case, _)| gpu::is_turn(*case, days))
    {
        println!("{target}");
        let gpu = gpu::soft(&format!("devices={target};vram_mib=512"));
        test(&home());
        assert_eq!(gpu.report()["violations"], serde_json::json!([]));
    }
}

fn options(home: &Home, precision: Precision) -> NetOptions {
    NetOptions {
        home: home.clone(),
        precision,
        ..NetOptions::default()
    }
}

/// f32: the engine's own accuracy; f16: a 2,048th of each of many numbers.
#[test]
fn every_kind_of_network_says_what_the_engine_says() {
    on_gpu(|home| {
        for name in NETS {
            for (precision, tolerance) in [(Precision::F32, 2e-5), (Precision::F16, 2e-2)] {
                let net = net(name, &options(home, precision));
                compare(name, &net, &format!("{name}.out"), tolerance);
            }
        }
    });
}

#[test]
fn a_head_of_several_and_the_real_network() {
    on_gpu(|home| {
        let options = options(home, Precision::F16);
        let several = NetOptions {
            policy: PolicyHead::Optimistic,
            value: ValueHead::Q,
            ..options.clone()
        };
        let several = net("multihead", &several);
        compare("optimistic.q", &several, "multihead.optimistic.q.out", 2e-2);
        for (precision, tolerance) in [(Precision::F32, 1e-3), (Precision::F16, 2e-2)] {
            let options = NetOptions {
                precision,
                ..options.clone()
            };
            compare("maia-1900", &maia(&options), "maia-1900.out", tolerance);
        }
    });
}

/// The evaluation of the golden positions again and again, `count` of them from `first` on.
fn cycled(net: &ChessNet, first: usize, count: usize) -> Evaluation {
    let (masks, values) = inputs(net, &positions());
    let cycle = |place: usize| (first + place / PLANES) % 8 * PLANES + place % PLANES;
    let masks: Vec<u64> = (0..count * PLANES).map(|i| masks[cycle(i)]).collect();
    let values: Vec<f32> = (0..count * PLANES).map(|i| values[cycle(i)]).collect();
    net.evaluate(&masks, &values).unwrap()
}

/// A position in any batch, from any thread, gets the bits that it gets alone.
#[test]
fn batches_are_what_each_position_is_alone() {
    // Sizes that are rounded up, and blocks of both sizes.
    let counts: &[usize] = if gpu::is_real() {
        &[7, 64, 133, 256]
    } else {
        &[7, 9]
    };
    on_gpu(|home| {
        for (name, precision) in [
            ("se_convolution", Precision::F16),
            ("attention", Precision::F16),
            ("heads_of_64", Precision::F16),
            ("policy_encoders", Precision::F32),
        ] {
            let net = net(name, &options(home, precision));
            let alone: Vec<Evaluation> = (0..8).map(|first| cycled(&net, first, 1)).collect();
            let check = |count: usize| {
                let batch = cycled(&net, 0, count);
                assert_eq!(batch.policy.len(), count * MOVES);
                for place in 0..count {
                    let one = &alone[place % 8];
                    let what = format!("{name}: position {place} of {count}");
                    assert_eq!(batch.policy[place * MOVES..][..MOVES], one.policy, "{what}");
                    assert_eq!(batch.wdl[place * 3..][..3], one.wdl, "{what}");
                    assert_eq!(batch.moves_left[place], one.moves_left[0], "{what}");
                }
            };
            std::thread::scope(|scope| {
                for &count in counts {
                    scope.spawn(move || check(count));
                }
            });
        }
    });
}
