//! Chess networks on a GPU: every kind against the engine's answers, in f16 and in f32, alone and in batches.

#[path = "chess/compare.rs"]
mod compare;
#[path = "chess/edit.rs"]
mod edit;
#[path = "chess/golden.rs"]
mod golden;
#[path = "support/gpu.rs"]
mod gpu;

use compare::{NETS, compare, inputs, maia};
use golden::{net, positions};
use mlxrocm::array::{Home, Precision};
use mlxrocm::chess::{
    ChessNet, Evaluation, File, MOVES, NetOptions, PLANES, PolicyHead, ValueHead,
};
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

/// What f16 would round last is f32, and what rounding left of the rows that layers add to is kept: without that the
/// logits of these are up to 4.8e-3 and 6.1e-3 off.
#[test]
fn logits_in_f16_are_finer_than_f16() {
    on_gpu(|home| {
        for (name, tolerance) in [("ffn_sigmoid", 3.8e-3), ("heads_of_32", 5.3e-3)] {
            let net = net(name, &options(home, Precision::F16));
            compare(name, &net, &format!("{name}.out"), tolerance);
            let is_rounded = |&&x: &&f32| half::f16::from_f32(x).to_f32() == x;
            let policy = cycled(&net, 0, 8).policy;
            let rounded = policy.iter().filter(is_rounded).count();
            assert!(rounded < policy.len() / 2, "{name}: {rounded} are f16");
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
        for name in ["multihead", "hybrid_dense"] {
            let golden = format!("{name}.optimistic.q.out");
            compare(name, &net(name, &several), &golden, 2e-2);
        }
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
    // Sizes that are rounded up, blocks of both sizes; 300 are evaluated in two parts.
    let counts = |name: &str| -> &[usize] {
        match (gpu::is_real(), name) {
            (true, _) => &[7, 64, 133, 256, 300],
            (false, "attention") => &[7, 9, 300],
            (false, _) => &[7, 9],
        }
    };
    on_gpu(|home| {
        for (name, precision) in [
            ("se_convolution", Precision::F16),
            ("attention", Precision::F16),
            ("heads_of_64", Precision::F16),
            ("whole_boards", Precision::F16),
            ("hybrid_map", Precision::F16),
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
                for &count in counts(name) {
                    scope.spawn(move || check(count));
                }
            });
        }
    });
}

/// A network file that was changed.
fn of(data: Vec<u8>, options: &NetOptions) -> ChessNet {
    ChessNet::of(&File::parse("changed", data).unwrap(), options).unwrap()
}

fn all_numbers(found: &Evaluation) -> Vec<f32> {
    [&found.policy[..], &found.wdl, &found.moves_left].concat()
}

/// A network whose feed-forward layers are `by` times as large inside, what follows them as much smaller: with relu²
/// `by` counts twice. By a power of two nothing else changes in f32.
fn swollen(name: &str, by: f32, after: f32) -> Vec<u8> {
    // Least and largest number of a layer.
    let scale = |layer: &[u8], by: f32| {
        let mut layer = layer.to_vec();
        for at in [1, 6] {
            let number = f32::from_le_bytes(layer[at..at + 4].try_into().unwrap());
            layer[at..at + 4].copy_from_slice(&(number * by).to_le_bytes());
        }
        layer
    };
    let mut data = edit::unpacked(name);
    for (part, by) in [(1, by), (2, by), (3, 1.0 / after)] {
        data = edit::change(&data, &[10, 27, 4, part], &|layer| scale(layer, by));
    }
    data
}

/// relu² and large numbers in f16: right as long as they fit, and still numbers where they do not.
#[test]
fn what_overflows_stays_finite() {
    on_gpu(|home| {
        let f16 = options(home, Precision::F16);
        // Squares of up to some thousands.
        let large = of(swollen("no_smolgen", 16.0, 256.0), &f16);
        compare("large squares", &large, "no_smolgen.out", 2e-2);
        // Squares of about 2^24, and numbers of about 2^20.
        for (name, by, after) in [
            ("no_smolgen", 4096.0, 16_777_216.0),
            ("ffn_relu", 1_048_576.0, 1_048_576.0),
            ("ffn_none", 1_048_576.0, 1_048_576.0),
        ] {
            let data = swollen(name, by, after);
            let exact = of(data.clone(), &NetOptions::default());
            compare(name, &exact, &format!("{name}.out"), 2e-5);
            let net = of(data, &f16);
            let found = all_numbers(&cycled(&net, 0, 8));
            let worst = found.iter().find(|number| !number.is_finite());
            assert_eq!(worst, None, "{name}");
        }
    });
}

/// An activation over all numbers of a layer, which no network here has: as the CPU computes it.
#[test]
fn softmax_between_layers() {
    let data = edit::change(&edit::unpacked("attention"), &[4, 2], &|formats| {
        // ffn_activation is 9.
        [formats, &[9 << 3, 9]].concat()
    });
    let usual = net("attention", &NetOptions::default());
    let expected = of(data.clone(), &NetOptions::default());
    let expected = all_numbers(&cycled(&expected, 0, 8));
    let other = all_numbers(&cycled(&usual, 0, 8));
    let far = |a: &[f32], b: &[f32]| -> f32 {
        let pairs = a.iter().zip(b).map(|(a, b)| (a - b).abs());
        pairs.fold(0.0, |most, far| if far <= most { most } else { far })
    };
    assert!(far(&expected, &other) > 0.05, "the activation is not read");
    on_gpu(|home| {
        for (precision, tolerance) in [(Precision::F32, 2e-5), (Precision::F16, 2e-2)] {
            let net = of(data.clone(), &options(home, precision));
            let found = all_numbers(&cycled(&net, 0, 8));
            let far = far(&found, &expected);
            assert!(far <= tolerance, "{precision:?}: {far}");
        }
    });
}
