//! Sorted rows and attention of sizes for which GPUs have kernels of their own, against plain loops.

use crate::prng::Prng;
use mlxrocm::array::Array;
use mlxrocm::cpu::Elements;
use mlxrocm::ir::{Binary, Dtype};

fn there(values: &[f32], dtype: Dtype, sizes: &[usize]) -> Array {
    let array = Elements::from_slice(values, Dtype::F32, sizes).unwrap();
    Array::from_elements(array).astype(dtype).at(&crate::home())
}

fn floats(array: &Array) -> Vec<f32> {
    array.astype(Dtype::F32).read().unwrap().to_vec()
}

/// Many ties, both zeros, infinities and NaN.
fn mixed(random: &mut Prng, count: usize) -> Vec<f32> {
    let one = |random: &mut Prng| match random.uniform(0.0, 40.0) as u32 {
        0 => f32::NAN,
        1 => f32::INFINITY,
        2 => f32::NEG_INFINITY,
        3 => -0.0,
        4 => 0.0,
        5 => -f32::NAN,
        6..20 => random.uniform(-9.0, 9.0).round() as f32,
        _ => random.normal() as f32,
    };
    (0..count).map(|_| one(random)).collect()
}

#[test]
fn rows_of_any_length_are_sorted() {
    let mut random = Prng::new(41);
    let dtypes = [
        Dtype::F32,
        Dtype::F16,
        Dtype::Bf16,
        Dtype::I64,
        Dtype::U64,
        Dtype::I8,
        Dtype::U16,
        Dtype::I32,
        Dtype::Bool,
    ];
    let sizes: [&[usize]; 9] = [
        &[3, 1],
        &[5, 7],
        &[2, 255],
        &[2, 257, 3],
        &[1, 2048],
        &[2, 2049],
        &[1, 4100, 2],
        &[2, 8200],
        &[1, 13_001],
    ];
    for (i, sizes) in sizes.iter().enumerate() {
        for dtype in [dtypes[i % 9], dtypes[(4 * i + 1) % 9]] {
            let count = sizes.iter().product();
            let x = there(&mixed(&mut random, count), dtype, sizes);
            let host = x.at(&mlxrocm::array::Home::Cpu);
            let places = |x: &Array| x.argsort(Some(1)).unwrap().read().unwrap().to_vec::<u32>();
            assert!(places(&x) == places(&host), "places of {sizes:?} {dtype:?}");
            let bits = |x: &Array| -> Vec<u32> {
                let bits = |x: f32| {
                    if x.is_nan() {
                        u32::MAX
                    } else {
                        (x + 0.0).to_bits()
                    }
                };
                floats(&x.sort(Some(1)).unwrap())
                    .into_iter()
                    .map(bits)
                    .collect()
            };
            assert!(bits(&x) == bits(&host), "{sizes:?} {dtype:?}");
        }
    }
    // Zeros of both signs are as they were.
    for sizes in [[3, 40], [2, 2048], [1, 5000]] {
        let zero = |random: &mut Prng| match random.below(5) {
            0 => random.normal() as f32,
            1 | 2 => 0.0,
            _ => -0.0,
        };
        let values: Vec<f32> = (0..sizes[0] * sizes[1])
            .map(|_| zero(&mut random))
            .collect();
        let x = there(&values, Dtype::F32, &sizes);
        let bits = |x: &Array| -> Vec<u32> {
            let sorted = floats(&x.sort(Some(1)).unwrap());
            sorted.into_iter().map(f32::to_bits).collect()
        };
        assert!(
            bits(&x) == bits(&x.at(&mlxrocm::array::Home::Cpu)),
            "{sizes:?}"
        );
    }
    // Columns that do not lie row after row, and the largest few.
    let x = there(&mixed(&mut random, 2 * 3000), Dtype::F32, &[3000, 2]);
    let turned = x.transpose(&[1, 0]).unwrap();
    let host = turned.at(&mlxrocm::array::Home::Cpu);
    let top = |x: &Array| {
        floats(
            &x.topk(9, Some(1))
                .unwrap()
                .unary(mlxrocm::ir::Unary::Abs)
                .unwrap(),
        )
    };
    let (a, b) = (top(&turned), top(&host));
    assert!(
        a.iter()
            .zip(&b)
            .all(|(a, b)| a == b || (a.is_nan() && b.is_nan()))
    );
}

struct Case {
    sizes: [usize; 6],
    dtype: Dtype,
    causal: bool,
    /// 1: of truth values, 2: added.
    mask: u8,
    sinks: bool,
}

fn attention(case: &Case, random: &mut Prng) {
    let [batch, heads, kv_heads, rows, keys, dim] = case.sizes;
    let mut make = |sizes: &[usize], scale: f64| {
        let count = sizes.iter().product();
        let values: Vec<f32> = (0..count)
            .map(|_| (random.normal() * scale) as f32)
            .collect();
        let array = there(&values, case.dtype, sizes);
        (floats(&array), array)
    };
    let (q, q_there) = make(&[batch, heads, rows, dim], 1.0);
    let (k, k_there) = make(&[batch, kv_heads, keys, dim], 1.0);
    let (v, v_there) = make(&[batch, kv_heads, keys, dim], 1.0);
    let (sinks, sinks_there) = make(&[heads], 1.0);
    // One mask for all heads; rows that hide everything among truth values.
    let (mut mask, mut mask_there) = make(&[batch, 1, rows, keys], 2.0);
    if case.mask == 1 {
        let zero = there(&[0.4], case.dtype, &[]);
        mask_there = mask_there.binary(Binary::Greater, &zero).unwrap();
        mask = floats(&mask_there);
    }
    let scale = 1.5 / (dim as f64).sqrt();
    let made = q_there
        .scaled_dot_product_attention(
            &k_there,
            &v_there,
            scale,
            case.causal,
            (case.mask > 0).then_some(&mask_there),
            case.sinks.then_some(&sinks_there),
        )
        .unwrap();
    let made = floats(&made);
    let most = match case.dtype {
        Dtype::F16 => 3e-3,
        Dtype::Bf16 => 2e-2,
        _ => 5e-6,
    };
    for i in 0..batch * heads * rows {
        let (row, head, item) = (i % rows, i / rows % heads, i / rows / heads);
        let kv = item * kv_heads + head / (heads / kv_heads);
        let scores: Vec<f64> = (0..keys)
            .map(|key| {
                let (q, k) = (&q[i * dim..][..dim], &k[(kv * keys + key) * dim..][..dim]);
                let score: f64 = q
                    .iter()
                    .zip(k)
                    .map(|(&q, &k)| f64::from(q) * f64::from(k))
                    .sum();
                let mask = f64::from(mask[(item * rows + row) * keys + key]);
                match case.mask {
                    _ if case.causal && key + rows > row + keys => -60_000.0,
                    1 if mask == 0.0 => -60_000.0,
                    2 => score * scale + mask,
                    _ => score * scale,
                }
            })
            .collect();
        let sink = if case.sinks {
            f64::from(sinks[head])
        } else {
            f64::NEG_INFINITY
        };
        let top = scores.iter().copied().fold(sink, f64::max);
        let weights: Vec<f64> = scores.iter().map(|score| (score - top).exp()).collect();
        let total = weights.iter().sum::<f64>() + (sink - top).exp();
        for c in 0..dim {
            let value = |key: usize| f64::from(v[(kv * keys + key) * dim + c]);
            let sum: f64 = weights
                .iter()
                .enumerate()
                .map(|(key, w)| w * value(key))
                .sum();
            let (expected, made) = (sum / total, f64::from(made[i * dim + c]));
            assert!(
                (made - expected).abs() <= most,
                "{:?} {:?} {} {} {}: row {row} head {head} column {c}: {made}, not {expected}",
                case.sizes,
                case.dtype,
                case.causal,
                case.mask,
                case.sinks
            );
        }
    }
}

#[test]
fn attention_of_many_and_of_few_queries_is_that_of_plain_loops() {
    let mut random = Prng::new(43);
    let case = |sizes, dtype, causal, mask, sinks| Case {
        sizes,
        dtype,
        causal,
        mask,
        sinks,
    };
    let cases = [
        case([1, 2, 1, 70, 70, 128], Dtype::F16, true, 0, false),
        case([1, 2, 2, 65, 130, 64], Dtype::Bf16, true, 0, true),
        case([2, 2, 1, 40, 99, 80], Dtype::F16, false, 2, false),
        case([2, 2, 1, 17, 33, 128], Dtype::Bf16, false, 1, true),
        // Queries that see no key.
        case([1, 1, 1, 100, 37, 24], Dtype::F16, true, 0, false),
        case([1, 1, 1, 66, 5, 64], Dtype::Bf16, true, 0, false),
        case([1, 2, 1, 200, 301, 128], Dtype::F16, true, 0, false),
        case([2, 2, 1, 129, 129, 64], Dtype::F16, true, 0, true),
        case([1, 2, 2, 130, 77, 128], Dtype::Bf16, false, 0, false),
        case([1, 1, 1, 65, 260, 64], Dtype::Bf16, true, 0, true),
        case([1, 4, 1, 1, 700, 128], Dtype::F16, false, 0, false),
        case([1, 8, 2, 1, 8200, 128], Dtype::Bf16, false, 0, true),
        case([2, 6, 2, 3, 259, 64], Dtype::Bf16, true, 0, true),
        case([1, 4, 2, 5, 300, 96], Dtype::F32, false, 1, true),
        case([1, 3, 3, 30, 41, 128], Dtype::F32, true, 0, false),
        case([2, 2, 1, 9, 7, 20], Dtype::F32, true, 0, false),
        case([1, 2, 1, 4, 130, 8], Dtype::F16, false, 2, true),
        case([1, 2, 1, 3, 50, 7], Dtype::F16, true, 0, true),
    ];
    for case in cases {
        attention(&case, &mut random);
    }
}
