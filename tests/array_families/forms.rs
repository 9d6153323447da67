//! Operations on a GPU beside the CPU's plain forms, with random inputs of odd sizes and any layout; none may go by way of
//! the CPU.

#[allow(dead_code)] // of what several tests share, these use a part
use crate::goldens::{near, numbers};
use crate::home;
use crate::prng::Prng;
use mlxrocm::array::ops::ConvOptions;
use mlxrocm::array::{Array, ops::random};
use mlxrocm::cpu::Elements;
use mlxrocm::ir::{Binary, Dtype, Scan, ScatterReduce, Shape, Unary};
use mlxrocm::log::{Level, set_sink};
use std::cell::Cell;
use std::sync::{Arc, Once};

thread_local! {
    static BY_CPU: Cell<usize> = const { Cell::new(0) };
}

/// Counts, for each thread, what the CPU computes for a GPU.
fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let sink = |_: Level, line: &str| {
            if line.starts_with("arrays: the CPU computes") {
                println!("{line}");
                BY_CPU.with(|count| count.set(count.get() + 1));
            }
        };
        set_sink(Level::Debug, Some(Arc::new(sink)));
    });
}

pub const FLOATS: [Dtype; 3] = [Dtype::F32, Dtype::F16, Dtype::Bf16];

pub fn random_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seed = std::env::var("MLXROCM_SEED")
        .ok()
        .and_then(|s| s.parse().ok());
    let seed = seed.unwrap_or(now.unwrap().as_nanos() as u64);
    println!("MLXROCM_SEED={seed}");
    seed
}

pub fn floats(random: &mut Prng, sizes: &[usize], dtype: Dtype) -> Array {
    let count = sizes.iter().product();
    let values: Vec<f32> = (0..count)
        .map(|_| random.uniform(-2.0, 2.0) as f32)
        .collect();
    let array = Elements::from_slice(&values, Dtype::F32, sizes).unwrap();
    Array::from_elements(array).astype(dtype)
}

pub fn wholes(random: &mut Prng, sizes: &[usize], low: i64, high: i64, dtype: Dtype) -> Array {
    let count: usize = sizes.iter().product();
    let values: Vec<i64> = (0..count)
        .map(|_| low + random.below((high - low) as u64) as i64)
        .collect();
    let array = Elements::from_slice(&values, Dtype::I64, sizes).unwrap();
    Array::from_elements(array).astype(dtype)
}

/// Of these sizes, lying otherwise: turned round, with gaps, backwards, repeated.
pub fn lying(random: &mut Prng, sizes: &[usize], dtype: Dtype) -> Array {
    let rank = sizes.len();
    match random.below(5) {
        0 => floats(random, sizes, dtype),
        1 => {
            let mut turned = sizes.to_vec();
            turned.swap(rank - 2, rank - 1);
            let mut order: Vec<i64> = (0..rank as i64).collect();
            order.swap(rank - 2, rank - 1);
            floats(random, &turned, dtype).transpose(&order).unwrap()
        }
        2 => {
            let wide: Vec<usize> = sizes.iter().map(|&n| 2 * n + 1).collect();
            let stop: Vec<i64> = sizes.iter().map(|&n| 2 * n as i64 + 1).collect();
            let x = floats(random, &wide, dtype);
            x.slice(&vec![1; rank], &stop, &vec![2; rank]).unwrap()
        }
        3 => {
            // A part of longer rows, from an odd element on.
            let mut wide = sizes.to_vec();
            wide[rank - 1] += 8;
            let mut start = vec![0; rank];
            start[rank - 1] = 1 + random.below(7) as i64;
            let stop: Vec<i64> = sizes
                .iter()
                .zip(&start)
                .map(|(&n, &s)| n as i64 + s)
                .collect();
            let x = floats(random, &wide, dtype);
            x.slice(&start, &stop, &vec![1; rank]).unwrap()
        }
        _ => {
            let mut one = sizes.to_vec();
            one[0] = one[0].min(1);
            let x = floats(random, &one, dtype);
            x.broadcast_to(Shape::new(sizes.iter().copied())).unwrap()
        }
    }
}

/// Computes on the CPU and on the GPU, and compares.
pub fn both(what: &str, inputs: &[Array], compute: impl Fn(&[Array]) -> mlxrocm::Result<Array>) {
    let tolerance = |dtype| match dtype {
        Dtype::F32 => 3e-5,
        Dtype::F16 => 3e-3,
        Dtype::Bf16 => 2e-2,
        _ => 0.0,
    };
    within(what, inputs, tolerance, compute);
}

pub fn within(
    what: &str,
    inputs: &[Array],
    tolerance: impl Fn(Dtype) -> f64,
    compute: impl Fn(&[Array]) -> mlxrocm::Result<Array>,
) {
    watch();
    let wide = |x: &Array| match x.dtype() {
        Dtype::F32 | Dtype::F16 | Dtype::Bf16 => numbers(x),
        _ => numbers(&x.astype(Dtype::F32)),
    };
    let expected = compute(inputs).unwrap_or_else(|error| panic!("{what}: {error}"));
    let expected_numbers = wide(&expected);
    let there: Vec<Array> = inputs.iter().map(|x| x.at(&home())).collect();
    let before = BY_CPU.with(Cell::get);
    let got = compute(&there).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(
        (got.dtype(), got.shape()),
        (expected.dtype(), expected.shape()),
        "{what}"
    );
    let host = Array::from_elements(got.read().unwrap_or_else(|error| panic!("{what}: {error}")));
    assert_eq!(
        BY_CPU.with(Cell::get),
        before,
        "{what} went by way of the CPU"
    );
    near(
        what,
        &wide(&host),
        &expected_numbers,
        tolerance(expected.dtype()),
    );
}

#[test]
fn scatters_and_gathers_are_those_of_the_cpu() {
    let mut random = Prng::new(random_seed());
    let reduces = [
        ScatterReduce::None,
        ScatterReduce::Sum,
        ScatterReduce::Prod,
        ScatterReduce::Max,
        ScatterReduce::Min,
    ];
    for dtype in [Dtype::F32, Dtype::F16, Dtype::I32, Dtype::U8] {
        let x = lying(&mut random, &[9, 7, 5], Dtype::F32).astype(dtype);
        let (i, j) = (
            wholes(&mut random, &[30, 1], -9, 9, Dtype::I32),
            wholes(&mut random, &[4], 0, 5, Dtype::I32),
        );
        let updates = floats(&mut random, &[30, 4, 1, 7, 1], Dtype::F32).astype(dtype);
        let rows = floats(&mut random, &[30, 1, 1, 7, 5], Dtype::F32).astype(dtype);
        let along = wholes(&mut random, &[9, 12, 5], -7, 7, Dtype::I64);
        let values = floats(&mut random, &[9, 12, 5], Dtype::F32).astype(dtype);
        let part = floats(&mut random, &[4, 1, 5], Dtype::F32).astype(dtype);
        let exact = |_| 0.0;
        for reduce in reduces {
            let what = format!("{reduce:?} {dtype}");
            within(
                &what,
                &[x.clone(), i.clone(), j.clone(), updates.clone()],
                exact,
                |x| x[0].scatter(&[x[1].clone(), x[2].clone()], &x[3], &[0, 2], reduce),
            );
            within(&what, &[x.clone(), i.clone(), rows.clone()], exact, |x| {
                x[0].scatter(&[x[1].clone()], &x[2], &[0], reduce)
            });
            within(
                &what,
                &[x.clone(), along.clone(), values.clone()],
                exact,
                |x| x[0].put_along_axis(&x[1], &x[2], Some(1), reduce),
            );
            within(&what, &[x.clone(), part.clone()], exact, |x| {
                x[0].slice_update(&x[1], (&[8, 0, 0], &[0, 7, 5], &[-2, 1, 1]), reduce)
            });
        }
        within("gather", &[x.clone(), i.clone(), j.clone()], exact, |x| {
            x[0].gather(&[x[1].clone(), x[2].clone()], &[0, 2], &[1, 3, 1])
        });
        let mask = wholes(&mut random, &[9, 7], 0, 2, Dtype::Bool);
        let source = floats(&mut random, &[400], Dtype::F32).astype(dtype);
        within("masked", &[x.clone(), mask, source], exact, |x| {
            x[0].masked_scatter(&x[1], &x[2])
        });
        let start = wholes(&mut random, &[2], 0, 3, Dtype::I32);
        let block = floats(&mut random, &[4, 7, 2], Dtype::F32).astype(dtype);
        within("slice", &[x.clone(), start.clone()], exact, |x| {
            x[0].dynamic_slice(&x[1], &[0, 2], &[5, 7, 2])
        });
        within("update", &[x, block, start], exact, |x| {
            x[0].dynamic_slice_update(&x[1], &x[2], &[0, 2])
        });
    }
    // More slices than one block sorts.
    let (x, i) = (
        floats(&mut random, &[50], Dtype::F32),
        wholes(&mut random, &[5000], 0, 50, Dtype::U32),
    );
    let updates = floats(&mut random, &[5000, 1], Dtype::F32);
    within(
        "many",
        &[x, i, updates],
        |_| 0.0,
        |x| x[0].scatter(&[x[1].clone()], &x[2], &[0], ScatterReduce::Sum),
    );
}

#[test]
fn long_rows_are_sorted_as_on_the_cpu() {
    let mut random = Prng::new(random_seed());
    for (sizes, axis) in [(vec![9000], 0), (vec![2, 4100, 3], 1), (vec![3, 2049], 1)] {
        let x = floats(&mut random, &sizes, Dtype::F32);
        let few = wholes(&mut random, &sizes, -5, 5, Dtype::I32);
        for x in [x, few] {
            within(
                "sort",
                std::slice::from_ref(&x),
                |_| 0.0,
                |x| x[0].sort(Some(axis)),
            );
            within("argsort", &[x], |_| 0.0, |x| x[0].argsort(Some(axis)));
        }
    }
    let sorted = floats(&mut random, &[100], Dtype::F32).sort(None).unwrap();
    let values = floats(&mut random, &[7, 9], Dtype::F32);
    for right in [false, true] {
        let inputs = [sorted.clone(), values.clone()];
        within(
            "searchsorted",
            &inputs,
            |_| 0.0,
            |x| x[0].searchsorted(&x[1], right),
        );
    }
}

#[test]
fn what_a_rule_gives_is_that_of_the_cpu() {
    let mut random = Prng::new(random_seed());
    for (shape, width) in [(vec![7], 4), (vec![5, 3], 1), (vec![9], 2), (vec![1000], 4)] {
        let key = random::key(random.u64()).unwrap();
        within(
            "bits",
            &[key],
            |_| 0.0,
            |x| {
                let bits = random::bits(Shape::new(shape.iter().copied()), width, Some(&x[0]))?;
                match width {
                    4 => bits.view(Dtype::U16),
                    _ => Ok(bits),
                }
            },
        );
    }
    for dtype in FLOATS {
        let x = floats(&mut random, &[40, 3], dtype)
            .unary(Unary::Tanh)
            .unwrap();
        both("erfinv", &[x], |x| x[0].unary(Unary::ErfInv));
        let (a, b) = (
            lying(&mut random, &[9, 3], dtype),
            lying(&mut random, &[9, 3], dtype),
        );
        for part in 0..2 {
            both("divmod", &[a.clone(), b.clone()], |x| {
                let (quotient, rest) = x[0].divmod(&x[1])?;
                Ok([quotient, rest][part].clone())
            });
        }
        both("logcumsumexp", &[a], |x| {
            x[0].scan(Scan::LogAddExp, Some(0), true, false)
        });
    }
}

#[test]
fn convolutions_and_transforms_are_those_of_the_cpu() {
    let mut random = Prng::new(random_seed());
    for dtype in FLOATS {
        for (space, taps, channels, width, groups) in [
            (vec![19], vec![4], 8, 70, 1),
            (vec![9, 7], vec![3, 2], 16, 32, 2),
            (vec![5, 6, 7], vec![2, 3, 2], 5, 9, 1),
            (vec![11, 12], vec![3, 3], 6, 6, 6),
            (vec![6, 6], vec![1, 1], 12, 40, 4),
        ] {
            let pick = |random: &mut Prng, n: u64| -> Vec<i64> {
                space.iter().map(|_| 1 + random.below(n) as i64).collect()
            };
            let padding: Vec<i64> = pick(&mut random, 3);
            let options = ConvOptions {
                stride: pick(&mut random, 2),
                low: padding.clone(),
                high: padding.iter().map(|&p| p + 2).collect(),
                kernel_dilation: pick(&mut random, 2),
                input_dilation: pick(&mut random, 2),
                groups,
                flip: random.below(2) == 1,
            };
            let x = lying(
                &mut random,
                &[&[2], &space[..], &[channels]].concat(),
                dtype,
            );
            let w = floats(
                &mut random,
                &[&[width], &taps[..], &[channels / groups]].concat(),
                dtype,
            );
            both(
                &format!("convolution {space:?} {options:?}"),
                &[x, w],
                |x| x[0].conv_general(&x[1], &options),
            );
        }
        for columns in [1, 2, 64, 12 * 8, 20, 28 * 4, 1024] {
            let x = lying(&mut random, &[3, columns], dtype);
            within(
                "hadamard",
                &[x],
                |dtype| if dtype == Dtype::F32 { 1e-6 } else { 0.0 },
                |x| x[0].hadamard_transform(None),
            );
        }
    }
    let (a, b) = (
        floats(&mut random, &[3], Dtype::F32),
        floats(&mut random, &[3], Dtype::F32),
    );
    both("sum", &[a, b], |x| x[0].binary(Binary::Add, &x[1]));
}
