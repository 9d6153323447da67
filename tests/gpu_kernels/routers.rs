//! Routers of mixtures of experts (`hip/ops/experts/route_scores.hip`) beside the CPU's plain form, which is in f64.

use crate::prng::Prng;
use crate::{Bench, on_every_target};
use mlxrocm::gpu::Args;

/// A router: `Router` of the kernel, with what decides in f64.
#[derive(Debug, Clone, Copy)]
struct Case {
    experts: usize,
    chosen: usize,
    normalize: bool,
    /// 0: softmax, 1: sigmoid, 2: band.
    scores: u32,
    corrected: bool,
    /// How many, how many are kept, the sum of how many ranks them.
    groups: [usize; 3],
    factor: f64,
    limit: f64,
}

const PLAIN: Case = Case {
    experts: 8,
    chosen: 3,
    normalize: true,
    scores: 1,
    corrected: true,
    groups: [1, 1, 1],
    factor: 1.0,
    limit: 0.0,
};

const CASES: [Case; 9] = [
    PLAIN,
    Case {
        groups: [4, 2, 2],
        factor: 2.5,
        ..PLAIN
    },
    Case {
        experts: 256,
        chosen: 8,
        groups: [8, 4, 2],
        factor: 2.5,
        ..PLAIN
    },
    Case {
        experts: 1024,
        chosen: 32,
        normalize: false,
        groups: [32, 5, 1],
        ..PLAIN
    },
    Case {
        experts: 60,
        chosen: 6,
        scores: 0,
        normalize: false,
        corrected: false,
        groups: [6, 3, 1],
        factor: 16.0,
        ..PLAIN
    },
    Case {
        experts: 37,
        chosen: 5,
        scores: 0,
        corrected: false,
        factor: 1.5,
        ..PLAIN
    },
    Case {
        experts: 130,
        chosen: 1,
        normalize: false,
        corrected: false,
        ..PLAIN
    },
    Case {
        experts: 16,
        chosen: 2,
        normalize: false,
        scores: 2,
        corrected: false,
        limit: 0.02,
        ..PLAIN
    },
    Case {
        experts: 6,
        chosen: 3,
        normalize: false,
        scores: 2,
        corrected: false,
        limit: 0.6,
        ..PLAIN
    },
];

/// Places and weights in f64.
fn exact(case: Case, logits: &[f32], correction: &[f32]) -> Vec<(usize, f64)> {
    let x: Vec<f64> = logits.iter().map(|&x| x.into()).collect();
    let largest = x.iter().copied().fold(f64::MIN, f64::max);
    let total: f64 = x.iter().map(|x| (x - largest).exp()).sum();
    let score = |e: usize| match case.scores {
        1 => 1.0 / (1.0 + (-x[e]).exp()),
        _ => (x[e] - largest).exp() / total,
    };
    let added = |e: usize| match case.corrected {
        true => f64::from(correction[e]),
        false => 0.0,
    };
    let mut ranks: Vec<f64> = (0..x.len())
        .map(|e| match case.scores {
            2 => x[e],
            _ => score(e) + added(e),
        })
        .collect();
    let [count, kept, best] = case.groups;
    let width = x.len() / count;
    let sums = ranks.chunks(width).map(|group| {
        let mut group = group.to_vec();
        group.sort_by(|a, b| b.total_cmp(a));
        group[..best].iter().sum::<f64>()
    });
    let mut order: Vec<(usize, f64)> = sums.enumerate().collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1));
    for &(group, _) in &order[kept.min(count)..] {
        ranks[group * width..][..width].fill(0.0);
    }
    let mut chosen: Vec<(usize, f64)> = Vec::new();
    for _ in 0..case.chosen {
        let free = |e: &usize| !chosen.iter().any(|(other, _)| other == e);
        let better = |a: usize, b: usize| if ranks[b] > ranks[a] { b } else { a };
        let at = (0..x.len()).filter(free).reduce(better).unwrap();
        let weight = match case.scores {
            2 => {
                // 0 / 0 is inside.
                let far = |e: usize| (x[at] - x[e]) / x[e].abs().max(x[at]);
                let inside = |&e: &usize| far(e) <= case.limit || far(e).is_nan();
                let all = (0..x.len()).filter(|e| free(e)).filter(inside);
                1.0 / all.map(|e| (x[e] - x[at]).exp()).sum::<f64>()
            }
            _ => score(at),
        };
        chosen.push((at, weight));
    }
    let sum: f64 = chosen.iter().map(|(_, weight)| weight).sum();
    let divisor = if case.normalize { sum } else { 1.0 };
    for (_, weight) in &mut chosen {
        *weight *= case.factor / divisor;
    }
    chosen
}

fn route(bench: &Bench, case: Case, logits: &[f32], correction: &[f32]) -> [Vec<u32>; 2] {
    let rows = logits.len() / case.experts;
    let bits = |x: &[f32]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let of = bench.buffer(&bits(correction));
    let results = [0, 1].map(|_| bench.buffer(&vec![u32::MAX; rows * case.chosen]));
    let args = Args::new().buffer("logits", &bench.buffer(&bits(logits)), 0);
    let args = match case.corrected {
        true => args.buffer("correction", &of, 0),
        false => args.null("correction"),
    };
    let [count, kept, best] = case.groups.map(|number| number as u32);
    let args = args
        .buffer("index", &results[0], 0)
        .buffer("weight", &results[1], 0);
    let args = args
        .u32("experts", case.experts as u32)
        .u32("chosen", case.chosen as u32)
        .u32("normalize", case.normalize.into())
        .u32("scores", case.scores)
        .u32("groups", count)
        .u32("kept", kept)
        .u32("best", best)
        .f32("factor", case.factor as f32)
        .f32("limit", case.limit as f32);
    let kernel = bench.device.kernel("mlxrocm_route_scores").unwrap();
    bench.launch(&kernel, [rows as u32, 1, 1], 32, 0, &args);
    results.map(|buffer| bench.values(&buffer))
}

#[test]
fn routers_choose_and_weigh_as_in_f64() {
    // Always the same: orders that rounding decides differ.
    let mut random = Prng::new(13);
    let rows = 7;
    let spaced = |random: &mut Prng, count: usize, step: f64| -> Vec<f32> {
        let mut order: Vec<usize> = (0..count).collect();
        for i in (1..count).rev() {
            order.swap(i, random.u64() as usize % (i + 1));
        }
        let middle = count as f64 / 2.0;
        let number = |i: usize| ((i as f64 - middle) * step) as f32;
        order.into_iter().map(number).collect()
    };
    let inputs = CASES.map(|case| {
        let each = |_| spaced(&mut random, case.experts, 5.0 / case.experts as f64);
        let logits: Vec<f32> = (0..rows).flat_map(each).collect();
        let correction = spaced(&mut random, case.experts, 0.31 / case.experts as f64);
        (case, logits, correction)
    });
    on_every_target(|bench| {
        for (case, logits, correction) in &inputs {
            let [index, weight] = route(bench, *case, logits, correction);
            let found = index.chunks(case.chosen).zip(weight.chunks(case.chosen));
            for (row, (index, weight)) in found.enumerate() {
                let logits = &logits[row * case.experts..][..case.experts];
                let expected = exact(*case, logits, correction);
                for ((&at, &weight), (right, exact)) in index.iter().zip(weight).zip(&expected) {
                    let weight = f64::from(f32::from_bits(weight));
                    let far = (weight - exact).abs() / exact;
                    assert!(
                        at as usize == *right && far < 1e-5,
                        "{case:?} row {row}: {at} {weight} for {expected:?}"
                    );
                }
            }
        }
        // What is not a number makes all weights so, and places stay inside.
        let mut logits = vec![0.5; PLAIN.experts];
        logits[3] = f32::NAN;
        let [index, weight] = route(bench, PLAIN, &logits, &[0.0; 8]);
        assert!(index.iter().all(|at| *at < 8), "{index:?}");
        assert!(weight.iter().all(|w| f32::from_bits(*w).is_nan()));
    });
}
