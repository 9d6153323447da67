//! A mixture of experts (qwen3_moe) beside mlx-lm in f32, however its tokens are cut into steps.

#[path = "support/in_steps.rs"]
mod in_steps;

use in_steps::{executor, in_steps};
use mlxrocm::graph::{RULES, Rules};
use mlxrocm::model::{Slice, Wanted};
use std::path::{Path, PathBuf};

const TOKENS: [u32; 41] = [
    3, 17, 95, 0, 41, 41, 8, 77, 62, 29, 5, 90, 11, 34, 56, 2, 71, 19, 83, 44, 23, 66, 7, 50, 38,
    92, 14, 1, 60, 27, 73, 9, 85, 31, 48, 12, 69, 20, 54, 36, 88,
];
const VOCABULARY: usize = 96;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/experts")
}

/// Logits of all tokens, in steps of these sizes, then one by one.
fn logits(rules: Rules, threads: usize, steps: &[usize]) -> Vec<f32> {
    let mut executor = executor(&folder(), rules, threads);
    in_steps(&TOKENS, steps, |slice, rows| executor.run(&[slice], rows)).unwrap()
}

fn reference() -> Vec<f32> {
    let bytes = std::fs::read(folder().join("logits.safetensors")).unwrap();
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let data = file.tensor("logits").unwrap();
    assert_eq!(data.shape(), [TOKENS.len(), VOCABULARY]);
    let numbers = data.data().chunks_exact(4);
    numbers
        .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect()
}

fn farthest(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f32::max)
}

#[test]
fn logits_are_those_of_mlx_lm() {
    let reference = reference();
    for threads in [1, 2] {
        for steps in [&[41][..], &[23, 1, 17], &[]] {
            let far = farthest(&logits(Rules::All, threads, steps), &reference);
            // The cache rounds keys and values to f16, mlx-lm keeps them in f32; and what is multiplied with 4-bit weights
            // is rounded to 16 bits. Without both (families.rs) they are within 2e-3.
            assert!(far < 1e-2, "{threads} threads, steps {steps:?}: {far}");
        }
    }
    let each = RULES.iter().map(|rule| Rules::Without(rule.name));
    for rules in [Rules::Nothing].into_iter().chain(each) {
        let far = farthest(&logits(rules, 1, &[41]), &reference);
        assert!(far < 1e-2, "{rules:?}: {far}");
    }
}

#[test]
fn steps_and_threads_change_no_bit() {
    let whole = logits(Rules::All, 2, &[41]);
    for (threads, steps) in [(1, &[41][..]), (2, &[7, 30]), (1, &[])] {
        let other = logits(Rules::All, threads, steps);
        let same = whole
            .iter()
            .zip(&other)
            .all(|(a, b)| a.to_bits() == b.to_bits());
        assert!(same, "{threads} threads, steps {steps:?}");
    }
}

#[test]
fn sequences_beside_each_other_change_no_bit() {
    let alone = logits(Rules::All, 1, &[20]);
    let mut executor = executor(&folder(), Rules::All, 2);
    let mut both = Vec::new();
    let slice = |tokens, page| Slice {
        tokens,
        start: 0,
        pages: std::slice::from_ref(page),
        wanted: Wanted::All,
        slot: 0,
    };
    let other = slice(&TOKENS[15..35], &3);
    executor
        .run(&[other, slice(&TOKENS[..20], &1)], &mut both)
        .unwrap();
    let mine = &both[20 * VOCABULARY..];
    assert_eq!(mine, &alone[..20 * VOCABULARY]);
}
