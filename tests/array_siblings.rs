//! Products of one row in graphs that come again: those of the same row, its norm and what is added become one launch
//! where there is a kernel for it (NVIDIA), with the same bits as operation by operation.
//! `MLXROCM_TEST_GPU=real` uses this machine's GPU.

#[path = "support/gpu.rs"]
mod gpu;
#[path = "support/prng.rs"]
#[allow(dead_code)] // a part is used
mod prng;

use mlxrocm::array::{Array, Home, eval, plan_counts, use_plans};
use mlxrocm::cpu::Elements;
use mlxrocm::driver::Platform;
use mlxrocm::gpu::Device;
use mlxrocm::gpu::arrays::{Chains, joined_counts, use_chains};
use mlxrocm::ir::{Dtype, QuantMode, Quantization, Unary};
use prng::Prng;
use std::sync::{Mutex, MutexGuard, PoisonError};

struct Case {
    k: usize,
    /// Columns of the products of one row.
    n: &'static [usize],
    group: usize,
    dtype: Dtype,
    of_scales: Dtype,
    normed: bool,
    added: bool,
    /// Launches that should stand for several operations.
    joined: u64,
}

struct Matrix([Array; 3]);

/// Counts and switches are of the whole process.
static ONE: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    let turn = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    use_chains(Chains::Off);
    turn
}

fn machine() -> gpu::Gpu {
    match gpu::is_real() {
        true => gpu::gpu(),
        false => gpu::soft(&format!(
            "devices={};vram_mib=512",
            gpu::todays(&["gfx1151", "gfx90a", "gfx1201"])
        )),
    }
}

fn there(home: &Home, values: &[f32], dtype: Dtype, sizes: &[usize]) -> Array {
    let array = Elements::from_slice(values, Dtype::F32, sizes).unwrap();
    Array::from_elements(array).astype(dtype).at(home)
}

impl Case {
    fn matrix(&self, random: &mut Prng, n: usize, home: &Home) -> Matrix {
        let codes: Vec<u32> = (0..n * self.k / 8).map(|_| random.u64() as u32).collect();
        let codes = Elements::from_slice(&codes, Dtype::U32, &[n, self.k / 8]).unwrap();
        let mut numbers = |low: f64, high: f64| {
            let count = n * self.k / self.group;
            let all: Vec<f32> = (0..count)
                .map(|_| random.uniform(low, high) as f32)
                .collect();
            there(home, &all, self.of_scales, &[n, self.k / self.group])
        };
        let (scales, biases) = (numbers(-0.02, 0.03), numbers(-0.2, 0.2));
        Matrix([Array::from_elements(codes).at(home), scales, biases])
    }

    /// The results' bits (of f32) for a row, operation by operation or by a plan.
    fn run(&self, x: &Array, weight: &Array, plus: &[Array], all: &[Matrix]) -> Vec<Vec<u32>> {
        let q = Quantization::new(QuantMode::Affine, Some(self.group), Some(4)).unwrap();
        // Something that makes x, so that it is no leaf, and the graph is one that is planned.
        let x = x.plus(x).unwrap().plus(x).unwrap();
        let mut h = x.clone();
        if self.normed {
            h = h.rms_norm(Some(weight), 1e-5).unwrap();
        }
        let made = all
            .iter()
            .zip(plus)
            .map(|(Matrix([codes, scales, biases]), plus)| {
                let product = h.quantized_matmul(codes, scales, Some(biases), true, q);
                let product = product.unwrap();
                match self.added {
                    true => plus.plus(&product).unwrap(),
                    false => product,
                }
            });
        let made: Vec<Array> = made.collect();
        drop((x, h));
        eval(&made).unwrap();
        let bits = |array: &Array| {
            let numbers: Vec<f32> = array.astype(Dtype::F32).read().unwrap().to_vec();
            numbers.iter().map(|number| number.to_bits()).collect()
        };
        made.iter().map(bits).collect()
    }
}

/// Two products of other rows that are added: the sum is of one of them, and the other is what it adds.
#[test]
fn products_that_are_added_to_each_other() {
    let _one = turn();
    let gpu = machine();
    let device = Device::open(0).unwrap();
    let home = Home::of(&device).unwrap();
    let mut random = Prng::new(u64::from(std::process::id()));
    let case = Case {
        k: 64,
        n: &[24, 24],
        group: 32,
        dtype: Dtype::F32,
        of_scales: Dtype::F32,
        normed: false,
        added: false,
        joined: 1,
    };
    let q = Quantization::new(QuantMode::Affine, Some(case.group), Some(4)).unwrap();
    let all = [24, 24].map(|n| case.matrix(&mut random, n, &home));
    let rows = [1.0, 2.0].map(|size| {
        let row: Vec<f32> = (0..case.k)
            .map(|_| (random.normal() * size) as f32)
            .collect();
        there(&home, &row, case.dtype, &[1, case.k])
    });
    eval(&rows).unwrap();
    let run = || -> Vec<f32> {
        // Two that are joined in front of them, so that what follows has another place.
        let twice = rows[0].times(&rows[1]).unwrap();
        let [c, d] = all.each_ref().map(|Matrix([codes, scales, biases])| {
            let product = twice.quantized_matmul(codes, scales, Some(biases), true, q);
            product.unwrap()
        });
        let before = c.times(&d).unwrap();
        drop((twice, c, d));
        let products = rows.each_ref().map(|x| x.plus(x).unwrap());
        let [a, b] = [0, 1].map(|i| {
            let Matrix([codes, scales, biases]) = &all[i];
            let product = products[i].quantized_matmul(codes, scales, Some(biases), true, q);
            product.unwrap()
        });
        let sum = a.plus(&b).unwrap().times(&before).unwrap();
        drop((products, a, b, before));
        sum.read().unwrap().to_vec()
    };
    use_plans(false);
    let expected = run();
    use_plans(true);
    for _ in 0..3 {
        assert_eq!(run(), expected);
    }
    drop((rows, all, device, home));
    gpu.clean();
}

#[test]
fn joined_products_have_the_bits_of_single_ones() {
    let _one = turn();
    let gpu = machine();
    let device = Device::open(0).unwrap();
    let home = Home::of(&device).unwrap();
    let has_kernels = device.facts().platform == Platform::Cuda;
    let seed = u64::from(std::process::id());
    println!("seed {seed}");
    let mut random = Prng::new(seed);
    use Dtype::{Bf16, F16, F32};
    let case = |k, n, group, (dtype, of_scales), normed, added, joined| Case {
        k,
        n,
        group,
        dtype,
        of_scales,
        normed,
        added,
        joined,
    };
    let cases = [
        case(64, &[16, 5, 33][..], 32, (F32, F32), true, false, 1),
        case(576, &[40, 17], 64, (F32, F16), true, false, 1),
        case(1056, &[31], 32, (F32, Bf16), true, false, 1),
        case(2048, &[300, 40, 16], 128, (F32, F16), true, false, 1),
        case(4096, &[300, 40, 40], 32, (F32, F16), true, false, 1),
        case(4096, &[4200], 64, (F32, F16), false, true, 1),
        // The norm of a longer row is a launch of its own.
        case(5120, &[40, 24], 64, (F32, F32), true, false, 1),
        case(12_288, &[130], 32, (F32, Bf16), false, true, 1),
        case(704, &[50], 32, (F16, F16), false, true, 1),
        case(
            704,
            &[50, 51, 52, 53, 54],
            32,
            (Bf16, Bf16),
            false,
            false,
            2,
        ),
        // Nothing to join: several sums of products of one row, and (norms of f16) one product.
        case(256, &[24, 24], 32, (F32, F32), false, true, 1),
        case(256, &[24], 32, (F16, F16), true, false, 0),
    ];
    for (number, case) in cases.iter().enumerate() {
        if !gpu::is_real() && case.k * case.n.iter().sum::<usize>() > 1 << 20 {
            continue;
        }
        let all: Vec<Matrix> = case
            .n
            .iter()
            .map(|&n| case.matrix(&mut random, n, &home))
            .collect();
        let row = |random: &mut Prng, columns: usize, size: f64| -> Vec<f32> {
            let number = |_| (random.normal() * size) as f32;
            (0..columns).map(number).collect()
        };
        let weight = there(&home, &row(&mut random, case.k, 1.0), case.dtype, &[case.k]);
        for turn in 0..4 {
            let mut x = row(&mut random, case.k, [1.0, 1e-3, 100.0, 1.0][turn]);
            if turn == 3 {
                x[case.k / 3] = [f32::INFINITY, f32::NAN, -f32::INFINITY][number % 3];
            }
            let x = there(&home, &x, case.dtype, &[1, case.k]);
            let plus: Vec<Array> = case
                .n
                .iter()
                .map(|&n| there(&home, &row(&mut random, n, 3.0), case.dtype, &[1, n]))
                .collect();
            let leaves = [&[x.clone(), weight.clone()], plus.as_slice()].concat();
            eval(&leaves).unwrap();
            use_plans(false);
            let expected = case.run(&x, &weight, &plus, &all);
            use_plans(true);
            // The plan is made the second time.
            for time in 0..4 {
                let before = (plan_counts(), joined_counts());
                let found = case.run(&x, &weight, &plus, &all);
                let same = found
                    .iter()
                    .flatten()
                    .zip(expected.iter().flatten())
                    .all(|(a, b)| {
                        let nan = [a, b].map(|&bits| f32::from_bits(bits).is_nan());
                        a == b || nan == [true; 2]
                    });
                assert!(same, "case {number}, turn {turn}, time {time}");
                let after = (plan_counts(), joined_counts());
                if turn == 0 && time == 1 {
                    assert_eq!(after.0.made - before.0.made, 1, "case {number}");
                    let joined = if has_kernels { case.joined } else { 0 };
                    assert_eq!(after.1.0 - before.1.0, joined, "case {number}");
                }
            }
        }
    }
    drop((device, home));
    gpu.clean();
}

/// silu(x · a) · (x · b), as models gate with: one launch where there is a kernel, and the chain's behind the products'
/// elsewhere.
#[test]
fn gated_products_have_the_bits_of_single_operations() {
    let _one = turn();
    use_chains(Chains::Wait);
    let gpu = machine();
    let device = Device::open(0).unwrap();
    let home = Home::of(&device).unwrap();
    let has_kernels = device.facts().platform == Platform::Cuda;
    let mut random = Prng::new(u64::from(std::process::id()));
    use Dtype::{Bf16, F16, F32};
    // Columns that are no multiple of eight are gated by a chain.
    let cases = [
        (64, 24, 32, (F32, F32), true, 1),
        (576, 1536, 64, (F32, F16), true, 1),
        (4096, 2200, 32, (F32, Bf16), true, 1),
        (704, 40, 32, (F16, F16), false, 1),
        (256, 48, 32, (Bf16, Bf16), false, 1),
        (96, 20, 32, (F32, F32), true, 2),
    ];
    for (number, &(k, n, group, (dtype, of_scales), normed, joined)) in cases.iter().enumerate() {
        if !gpu::is_real() && k * n > 1 << 20 {
            continue;
        }
        let case = Case {
            k,
            n: &[],
            group,
            dtype,
            of_scales,
            normed,
            added: false,
            joined,
        };
        let q = Quantization::new(QuantMode::Affine, Some(group), Some(4)).unwrap();
        let all = [n, n].map(|n| case.matrix(&mut random, n, &home));
        let mut row = |size: f64, odd: bool| {
            let mut row: Vec<f32> = (0..k).map(|_| (random.normal() * size) as f32).collect();
            if odd {
                row[k / 2] = f32::INFINITY;
            }
            let row = there(&home, &row, dtype, &[1, k]);
            eval(std::slice::from_ref(&row)).unwrap();
            row
        };
        let weight = row(1.0, false).reshape_to(&[k as i64]).unwrap();
        for turn in 0..3 {
            let x = row([1.0, 30.0, 1.0][turn], turn == 2);
            let run = || -> Vec<u32> {
                let x = x.plus(&x).unwrap();
                let h = match normed {
                    true => x.rms_norm(Some(&weight), 1e-5).unwrap(),
                    false => x,
                };
                // The gate is the second of them in odd cases.
                let [a, b] = all.each_ref().map(|Matrix([codes, scales, biases])| {
                    let product = h.quantized_matmul(codes, scales, Some(biases), true, q);
                    product.unwrap()
                });
                let [gate, up] = if number % 2 == 0 { [a, b] } else { [b, a] };
                let silu = gate.times(&gate.unary(Unary::Sigmoid).unwrap()).unwrap();
                let made = match number % 3 {
                    0 => silu.times(&up).unwrap(),
                    _ => up.times(&silu).unwrap(),
                };
                drop((h, gate, up, silu));
                let numbers: Vec<f32> = made.astype(Dtype::F32).read().unwrap().to_vec();
                let bits = |x: &f32| if x.is_nan() { 0 } else { x.to_bits() };
                numbers.iter().map(bits).collect()
            };
            use_plans(false);
            let expected = run();
            use_plans(true);
            for time in 0..4 {
                let before = joined_counts();
                assert!(run() == expected, "case {number}, turn {turn}, time {time}");
                if turn == 0 && time == 1 {
                    let joined = if has_kernels { joined } else { 1 };
                    assert_eq!(joined_counts().0 - before.0, joined, "case {number}");
                }
            }
        }
    }
    drop((device, home));
    gpu.clean();
}
