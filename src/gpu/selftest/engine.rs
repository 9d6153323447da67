//! The cases of the engine's own kernels (`hip/ops/engine`).

use super::case::{Argument, Case, Expected, Trial, bytes_of_floats, bytes_of_words};
use super::random::Random;
use crate::driver::DeviceFacts;
use crate::gpu::stream::{COPY_BLOCK, COPY_THREADS};
use half::{bf16, f16};

/// Every kernel of `hip/ops/engine`.
pub const CASES: &[Case] = &[
    Case {
        kernel: "mlxrocm_fill_u32",
        trials: fill,
    },
    Case {
        kernel: "mlxrocm_copy_u8",
        trials: copy,
    },
    Case {
        kernel: "mlxrocm_compare_u8",
        trials: compare,
    },
    Case {
        kernel: "mlxrocm_vector_add_f32",
        trials: vector_add,
    },
    Case {
        kernel: "mlxrocm_read_u32",
        trials: read,
    },
    Case {
        kernel: "mlxrocm_reduce_sum_f32",
        trials: reduce_sum,
    },
    Case {
        kernel: "mlxrocm_reduce_max_f32",
        trials: reduce_max,
    },
    Case {
        kernel: "mlxrocm_matmul_tile_f16",
        trials: matmul_f16,
    },
    Case {
        kernel: "mlxrocm_matmul_tile_bf16",
        trials: matmul_bf16,
    },
];

/// Blocks of `per_block` for `count` things.
fn blocks(count: usize, per_block: usize) -> [u32; 3] {
    [
        u32::try_from(count.div_ceil(per_block)).unwrap_or(u32::MAX),
        1,
        1,
    ]
}

fn input(bytes: Vec<u8>) -> Argument {
    Argument::Input { bytes, skew: 0 }
}

fn fill(random: &mut Random, _: &DeviceFacts) -> Vec<Trial> {
    let sizes = [(1, 0), (1023, 0), (1024, 0), (1025, 0), (4099, 4)];
    let trial = |(count, skew): (usize, u64)| {
        let value = random.bits() as u32;
        Trial {
            label: format!("{count} numbers"),
            grid: blocks(count, 1024),
            block: 256,
            shared: 0,
            args: vec![
                (
                    "to",
                    Argument::Output {
                        size: count * 4,
                        skew,
                        expected: Expected::Bytes(bytes_of_words(vec![value; count])),
                    },
                ),
                ("count", Argument::U64(count as u64)),
                ("value", Argument::U32(value)),
            ],
        }
    };
    sizes.into_iter().map(trial).collect()
}

fn copy(random: &mut Random, _: &DeviceFacts) -> Vec<Trial> {
    // Bytes, and how far the two sides are from an alignment of 16.
    let sizes = [
        (1, 0, 0),
        (4095, 0, 0),
        (4096, 0, 0),
        (10_007, 0, 16),
        (5003, 3, 7),
    ];
    let trial = |(size, to, from): (usize, u64, u64)| {
        let mut bytes = bytes_of_words(random.words(size.div_ceil(4)));
        bytes.truncate(size);
        Trial {
            label: format!("{size} bytes, {to} and {from} past the alignment"),
            grid: blocks(size, COPY_BLOCK),
            block: COPY_THREADS,
            shared: 0,
            args: vec![
                (
                    "to",
                    Argument::Output {
                        size,
                        skew: to,
                        expected: Expected::Bytes(bytes.clone()),
                    },
                ),
                ("from", Argument::Input { bytes, skew: from }),
                ("bytes", Argument::U64(size as u64)),
            ],
        }
    };
    sizes.into_iter().map(trial).collect()
}

fn compare(random: &mut Random, _: &DeviceFacts) -> Vec<Trial> {
    // Bytes, how far the two sides are from an alignment of 16, and which byte differs.
    let cases = [
        (1, [0, 0], Some(0)),
        (4096, [0, 0], None),
        (20_011, [5, 5], Some(20_010)),
        (10_007, [15, 15], None),
        (5003, [3, 7], Some(5002)),
    ];
    let trial = |(size, skews, wrong): (usize, [u64; 2], Option<usize>)| {
        let mut bytes = bytes_of_words(random.words(size.div_ceil(4)));
        bytes.truncate(size);
        let mut other = bytes.clone();
        if let Some(byte) = wrong.and_then(|at| other.get_mut(at)) {
            *byte ^= 0x10;
        }
        let [a, b] = skews;
        // Without a difference the poison stays.
        let differs = Argument::Output {
            size: 4,
            skew: 0,
            expected: Expected::Bytes(bytes_of_words([wrong.map_or(u32::MAX, |_| 1)])),
        };
        Trial {
            label: format!("{size} bytes, {a} and {b} past the alignment"),
            grid: [2, 1, 1],
            block: 256,
            shared: 0,
            args: vec![
                ("differs", differs),
                ("a", Argument::Input { bytes, skew: a }),
                (
                    "b",
                    Argument::Input {
                        bytes: other,
                        skew: b,
                    },
                ),
                ("bytes", Argument::U64(size as u64)),
            ],
        }
    };
    cases.into_iter().map(trial).collect()
}

fn vector_add(random: &mut Random, _: &DeviceFacts) -> Vec<Trial> {
    let trial = |count: usize| {
        let (a, b) = (random.units(count), random.units(count));
        // One rounding: the same bits on every device.
        let sum: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
        Trial {
            label: format!("{count} numbers"),
            grid: blocks(count, 256),
            block: 256,
            shared: 0,
            args: vec![
                (
                    "c",
                    Argument::Output {
                        size: count * 4,
                        skew: 0,
                        expected: Expected::Bytes(bytes_of_floats(&sum)),
                    },
                ),
                ("a", input(bytes_of_floats(&a))),
                ("b", input(bytes_of_floats(&b))),
                ("count", Argument::U32(count as u32)),
            ],
        }
    };
    [1, 255, 257, 3001].into_iter().map(trial).collect()
}

fn read(random: &mut Random, facts: &DeviceFacts) -> Vec<Trial> {
    let trial = |(count, blocks): (usize, u32)| {
        let words = random.words(count);
        let total = words
            .iter()
            .fold(0_u32, |sum, word| sum.wrapping_add(*word));
        Trial {
            label: format!("{count} numbers, {blocks} blocks"),
            grid: [blocks, 1, 1],
            block: 256,
            shared: 0,
            args: vec![
                (
                    "partial",
                    Argument::Output {
                        size: blocks as usize * 4,
                        skew: 0,
                        expected: Expected::Total(total),
                    },
                ),
                ("from", input(bytes_of_words(words))),
                ("count", Argument::U64(count as u64)),
                ("blocks", Argument::U32(blocks)),
            ],
        }
    };
    let units = facts.compute_units.clamp(1, 8);
    let sizes = [(4, 1), (4100, 3), (65_540, units)];
    sizes.into_iter().map(trial).collect()
}

fn rows(
    random: &mut Random,
    expected: impl Fn(&[f32]) -> (f64, f64),
) -> impl Iterator<Item = Trial> {
    let sizes = [(1, 0), (3, 1), (2, 31), (5, 257), (2, 3001)];
    sizes
        .into_iter()
        .map(move |(rows, columns): (usize, usize)| {
            let numbers = random.units(rows * columns);
            let row = |row| {
                let first = row * columns;
                expected(numbers.get(first..first + columns).unwrap_or_default())
            };
            Trial {
                label: format!("{rows} rows of {columns}"),
                grid: [rows as u32, 1, 1],
                block: 256,
                shared: 0,
                args: vec![
                    (
                        "out",
                        Argument::Output {
                            size: rows * 4,
                            skew: 0,
                            expected: Expected::Near((0..rows).map(row).collect()),
                        },
                    ),
                    ("in", input(bytes_of_floats(&numbers))),
                    ("columns", Argument::U32(columns as u32)),
                ],
            }
        })
}

fn reduce_sum(random: &mut Random, _: &DeviceFacts) -> Vec<Trial> {
    let expected = |row: &[f32]| {
        let sum = row.iter().map(|x| f64::from(*x)).sum();
        let size: f64 = row.iter().map(|x| f64::from(x.abs())).sum();
        // A work item adds its columns one by one, then about ten additions follow in a tree.
        let additions = (row.len() / 256 + 12) as f64;
        (sum, additions * size * f64::from(f32::EPSILON))
    };
    rows(random, expected).collect()
}

fn reduce_max(random: &mut Random, _: &DeviceFacts) -> Vec<Trial> {
    let expected = |row: &[f32]| {
        let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        (f64::from(largest), 0.0)
    };
    rows(random, expected).collect()
}

fn matmul_f16(random: &mut Random, facts: &DeviceFacts) -> Vec<Trial> {
    let round = |x| {
        let x = f16::from_f32(x);
        (x.to_bits(), x.to_f64())
    };
    matmul(random, facts, round)
}

fn matmul_bf16(random: &mut Random, facts: &DeviceFacts) -> Vec<Trial> {
    let round = |x| {
        let x = bf16::from_f32(x);
        (x.to_bits(), x.to_f64())
    };
    matmul(random, facts, round)
}

/// C = A·Bᵀ in tiles; `round` gives the bits of a number in 16 bits and its value.
fn matmul(
    random: &mut Random,
    facts: &DeviceFacts,
    round: impl Fn(f32) -> (u16, f64),
) -> Vec<Trial> {
    let trial = |(m, n, k): (usize, usize, usize)| {
        let mut matrix = |rows: usize| -> (Vec<u8>, Vec<f64>) {
            let rounded: Vec<_> = random.units(rows * k).into_iter().map(&round).collect();
            let bytes = rounded.iter().flat_map(|x| x.0.to_le_bytes()).collect();
            (bytes, rounded.into_iter().map(|x| x.1).collect())
        };
        let ((a_bytes, a), (b_bytes, b)) = (matrix(m), matrix(n));
        let mut expected = Vec::with_capacity(m * n);
        for a in a.chunks(k) {
            for b in b.chunks(k) {
                let products = || a.iter().zip(b).map(|(a, b)| a * b);
                let size: f64 = products().map(f64::abs).sum();
                // Products are exact in f32; matrix units may cut where they should round.
                let tolerance = size * (k as f64) * f64::from(f32::EPSILON);
                expected.push((products().sum(), tolerance));
            }
        }
        Trial {
            label: format!("{m} x {n} x {k}"),
            grid: [n as u32 / 16, m as u32 / 16, 1],
            block: facts.wave_size,
            shared: 0,
            args: vec![
                (
                    "c",
                    Argument::Output {
                        size: m * n * 4,
                        skew: 0,
                        expected: Expected::Near(expected),
                    },
                ),
                ("a", input(a_bytes)),
                ("b", input(b_bytes)),
                ("n", Argument::U32(n as u32)),
                ("k", Argument::U32(k as u32)),
            ],
        }
    };
    let sizes = [(16, 16, 16), (32, 48, 112)];
    sizes.into_iter().map(trial).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::kernels::Registry;

    #[test]
    fn every_kernel_of_the_engine_has_a_case() {
        let engine = Registry::names()
            .filter(|name| Registry::source(name).is_some_and(|s| s.starts_with("engine/")));
        for name in engine {
            assert!(
                CASES.iter().any(|case| case.kernel == name),
                "{name} has no case in the self-test"
            );
        }
    }
}
