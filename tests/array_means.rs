//! Means in graphs that come again: the sum's last launch divides, with the bits of the sum, the division and the rounding one by
//! one. `MLXROCM_TEST_GPU=real` uses this machine's GPU.

#[path = "support/gpu.rs"]
mod gpu;
#[path = "support/prng.rs"]
#[allow(dead_code)] // a part is used
mod prng;

use mlxrocm::array::{Array, Home, eval, use_plans};
use mlxrocm::cpu::Elements;
use mlxrocm::gpu::Device;
use mlxrocm::gpu::arrays::{Chains, joined_counts, use_chains};
use mlxrocm::ir::{Binary, Dtype, Reduce};
use prng::Prng;
use std::sync::{Mutex, MutexGuard, PoisonError};

use Dtype::{Bf16, F16, F32};

/// Counts and switches are of the whole process.
static ONE: Mutex<()> = Mutex::new(());

fn turn(chains: Chains) -> MutexGuard<'static, ()> {
    let turn = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    use_chains(chains);
    turn
}

fn fresh() -> Prng {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seed = now.unwrap().as_nanos() as u64;
    println!("seed {seed}");
    Prng::new(seed)
}

/// Each target that the library was built for, or this machine's GPU.
fn on_each(test: impl Fn(&gpu::Gpu, &Home)) {
    let on = |gpu: gpu::Gpu| {
        let home = Home::of(&Device::open(0).unwrap()).unwrap();
        test(&gpu, &home);
        drop(home);
        gpu.clean();
    };
    if gpu::is_real() {
        return on(gpu::gpu());
    }
    // SAFETY: tests take turns, and this one has the GPU.
    unsafe { std::env::set_var("MLXROCM_CLANG", "clang++-19") };
    for target in gpu::targets() {
        println!("{target}");
        on(gpu::soft(&format!("devices={target};vram_mib=512")));
    }
}

fn there(home: &Home, values: &[f32], dtype: Dtype, sizes: &[usize]) -> Array {
    let array = Elements::from_slice(values, F32, sizes).unwrap();
    let array = Array::from_elements(array).astype(dtype).at(home);
    eval(std::slice::from_ref(&array)).unwrap();
    array
}

/// The bits of results as f32, all NaNs alike.
fn bits(made: Vec<Array>) -> Vec<u32> {
    eval(&made).unwrap();
    let read = |array: &Array| array.astype(F32).read().unwrap().to_vec::<f32>();
    let numbers = made.iter().flat_map(read);
    let bits = |x: f32| if x.is_nan() { u32::MAX } else { x.to_bits() };
    numbers.map(bits).collect()
}

/// Launches so far that the stand-in saw; 0 elsewhere.
fn launches(gpu: &gpu::Gpu) -> u64 {
    if gpu::is_real() {
        return 0;
    }
    let report = gpu.report();
    let kernels = report["kernels"].as_object().unwrap().values();
    kernels.map(|k| k["launches"].as_u64().unwrap()).sum()
}

struct Case {
    dtype: Dtype,
    sizes: &'static [usize],
    axes: Option<&'static [i64]>,
    keepdims: bool,
    /// Launches of the sum; 0: as many as there are.
    sum: u64,
}

impl Case {
    /// The mean in f64 of every output, of the numbers twice.
    fn expected(&self, numbers: &[f32]) -> Vec<f64> {
        let rank = self.sizes.len() as i64;
        let all: Vec<i64> = (0..rank).collect();
        let axes: Vec<i64> = self.axes.unwrap_or(&all).to_vec();
        let axes: Vec<usize> = axes.iter().map(|a| a.rem_euclid(rank) as usize).collect();
        let kept: Vec<usize> = (0..rank as usize).filter(|a| !axes.contains(a)).collect();
        let outputs: usize = kept.iter().map(|&axis| self.sizes[axis]).product();
        let mut sums = vec![0.0; outputs];
        for (place, number) in numbers.iter().enumerate() {
            let mut of_axis = vec![0; self.sizes.len()];
            let mut left = place;
            for (axis, size) in self.sizes.iter().enumerate().rev() {
                of_axis[axis] = left % size;
                left /= size;
            }
            let output = kept
                .iter()
                .fold(0, |output, &axis| output * self.sizes[axis] + of_axis[axis]);
            sums[output] += f64::from(*number);
        }
        let joined = numbers.len() / outputs.max(1);
        sums.iter().map(|sum| 2.0 * sum / joined as f64).collect()
    }
}

#[test]
fn means_have_the_bits_of_single_operations() {
    let _one = turn(Chains::Off);
    let case = |dtype, sizes, axes, keepdims, sum| Case {
        dtype,
        sizes,
        axes,
        keepdims,
        sum,
    };
    let cases = [
        // Rows: of waves, of blocks, of few threads, in pieces.
        case(F32, &[33, 512][..], Some(&[-1][..]), false, 1),
        case(F16, &[5, 4000], Some(&[1]), true, 1),
        case(Bf16, &[300, 24], Some(&[-1]), false, 1),
        case(F16, &[2, 40_000], Some(&[-1]), false, 2),
        case(F32, &[40_000], Some(&[0]), true, 2),
        // Columns: in one launch, several times, in pieces.
        case(Bf16, &[100, 264], Some(&[0]), false, 1),
        case(F32, &[3, 40, 136], Some(&[-2]), true, 1),
        case(F16, &[2000, 32], Some(&[0]), false, 2),
        case(Bf16, &[2, 1030, 64], Some(&[1]), false, 2),
        // What lies so that elements are read one by one.
        case(F16, &[7, 1001], Some(&[1]), false, 1),
        case(F32, &[3, 33_333], Some(&[-1]), false, 2),
        case(Bf16, &[501, 67], Some(&[0]), false, 2),
        case(F32, &[5, 3, 101], Some(&[1]), true, 1),
        // Several axes, all, one of a single element.
        case(F16, &[6, 20, 31], Some(&[0, -1]), false, 1),
        case(Bf16, &[6, 20, 32], Some(&[2, 1]), true, 1),
        case(F16, &[100, 37], None, false, 1),
        case(F32, &[100, 40], None, true, 1),
        case(Bf16, &[9, 1, 8], Some(&[1]), false, 1),
        case(
            F32,
            &[2, 3, 2, 3, 2, 3, 2, 3],
            Some(&[1, 3, 5, 7]),
            false,
            0,
        ),
        // NVIDIA's kernel for few columns: almost as large as what a planned graph takes (4 MB).
        case(Bf16, &[300, 4096], Some(&[0]), false, 1),
        case(F32, &[256, 3968], Some(&[0]), true, 1),
        case(F16, &[256, 7936], Some(&[0]), false, 1),
    ];
    on_each(|gpu, home| {
        let mut random = fresh();
        for (number, case) in cases.iter().enumerate() {
            let count = case.sizes.iter().product();
            if !gpu::is_real() && count > 1_000_000 {
                continue;
            }
            // What is exact; sums that f16 does not hold; what is no number.
            for turn in 0..3 {
                let size = [1.0, 3000.0, 1.0][turn];
                let mean = [0.3, 900.0, 0.0][turn];
                let mut numbers: Vec<f32> = (0..count)
                    .map(|_| (random.normal() * size + mean) as f32)
                    .collect();
                if turn == 2 {
                    let odd = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
                    for odd in odd.iter().take(1 + number % 3) {
                        numbers[random.below(count as u64) as usize] = *odd;
                    }
                }
                let x = there(home, &numbers, case.dtype, case.sizes);
                // Of what is no leaf, so that the graph is one that is planned.
                let run = || {
                    let twice = x.plus(&x).unwrap();
                    bits(vec![twice.mean(case.axes, case.keepdims).unwrap()])
                };
                use_plans(false);
                let expected = run();
                use_plans(true);
                // The plan is made the second time.
                for time in 0..4 {
                    let before = (joined_counts(), launches(gpu));
                    let what = format!("case {number}, turn {turn}, time {time}");
                    assert!(run() == expected, "{what}");
                    let after = (joined_counts(), launches(gpu));
                    let launched = after.1 - before.1;
                    if turn == 0 && time == 1 {
                        let joined = (after.0.0 - before.0.0, after.0.1 - before.0.1);
                        let operations = if case.dtype == F32 { 3 } else { 5 };
                        assert_eq!(joined, (1, operations), "{what}");
                    }
                    // What makes it f32 to be read is one more.
                    let more = u64::from(case.dtype != F32);
                    if time == 3 && case.sum > 0 && !gpu::is_real() {
                        assert_eq!(launched, 1 + case.sum + more, "{what}");
                    }
                }
                if turn == 0 {
                    let close = match case.dtype {
                        F32 => 1e-4,
                        F16 => 4e-3,
                        _ => 3e-2,
                    };
                    let right = case.expected(&numbers);
                    assert_eq!(expected.len(), right.len(), "case {number}");
                    for (found, right) in expected.iter().zip(right) {
                        let found = f64::from(f32::from_bits(*found));
                        assert!((found - right).abs() < close, "{found} for {right}");
                    }
                }
            }
        }
    });
}

/// What else reads a mean or makes what it is of; sums that others read, too, stay sums.
#[test]
fn means_among_other_operations() {
    for chains in [Chains::Off, Chains::Wait] {
        let _one = turn(chains);
        on_each(|_, home| {
            let mut random = fresh();
            for dtype in [F32, F16, Bf16] {
                let numbers: Vec<f32> = (0..24 * 40).map(|_| random.normal() as f32).collect();
                let x = there(home, &numbers, dtype, &[24, 40]);
                let kept = x.times(&x).unwrap();
                eval(std::slice::from_ref(&kept)).unwrap();
                let rows: Option<&[i64]> = Some(&[-1]);
                let sum = |x: &Array| x.reduce(Reduce::Sum, rows, false).unwrap();
                let number = |x: &Array| x.number_of_elements(rows, false, F32).unwrap();
                let over = |x: &Array, y: &Array| x.binary(Binary::Divide, y).unwrap();
                type Make<'a> = Box<dyn Fn() -> Vec<Array> + 'a>;
                // How many means are joined.
                let graphs: [(&str, u64, Make<'_>); 11] = [
                    ("distances", 1, {
                        let distance = || x.binary(Binary::Subtract, &x.mean(rows, true).unwrap());
                        Box::new(move || vec![distance().unwrap()])
                    }),
                    (
                        "variances",
                        1,
                        Box::new(|| vec![x.var(rows, false, 1).unwrap()]),
                    ),
                    (
                        "deviations",
                        1,
                        Box::new(|| vec![x.std(Some(&[0]), true, 0).unwrap()]),
                    ),
                    ("mean of means", 2, {
                        let mean = || x.mean(rows, false).unwrap().mean(None, false).unwrap();
                        Box::new(move || vec![mean()])
                    }),
                    ("a mean that a chain reads", 1, {
                        let y = || {
                            let mean = x.times(&x).unwrap().mean(Some(&[0]), false).unwrap();
                            mean.plus(&mean).unwrap().times(&mean).unwrap()
                        };
                        Box::new(move || vec![y()])
                    }),
                    ("whole numbers", 1, {
                        let whole = || x.plus(&x).unwrap().astype(Dtype::I32);
                        Box::new(move || vec![whole().mean(Some(&[0]), false).unwrap()])
                    }),
                    ("truth values", 1, {
                        let truth = || x.binary(Binary::Less, &kept).unwrap();
                        Box::new(move || vec![truth().mean(rows, false).unwrap()])
                    }),
                    ("a sum that is asked for", 0, {
                        Box::new(|| {
                            let all = sum(&x);
                            vec![over(&all, &number(&x)).astype(dtype), all]
                        })
                    }),
                    ("a number that is asked for", 1, {
                        Box::new(|| {
                            let number = number(&x);
                            let mean = over(&sum(&x), &number).astype(dtype);
                            vec![mean.plus(&mean).unwrap(), number]
                        })
                    }),
                    ("one number of two means", 2, {
                        Box::new(|| {
                            let number = number(&x);
                            let [a, b] = [&x, &kept].map(|x| over(&sum(x), &number).astype(dtype));
                            vec![a.plus(&b).unwrap()]
                        })
                    }),
                    ("sums over something else", 0, {
                        Box::new(|| {
                            let two = number(&x).plus(&number(&x)).unwrap();
                            vec![over(&sum(&x), &two).astype(dtype)]
                        })
                    }),
                ];
                for (name, means, make) in &graphs {
                    use_plans(false);
                    let expected = bits(make());
                    use_plans(true);
                    for time in 0..4 {
                        let before = joined_counts();
                        let found = bits(make());
                        assert!(found == expected, "{name} of {dtype}, time {time}");
                        let joined = joined_counts().0 - before.0;
                        if time == 1 && chains == Chains::Off {
                            assert_eq!(joined, *means, "{name} of {dtype}");
                        }
                    }
                }
            }
        });
    }
}

/// Sums that GPUs have no form of are computed as they are without plans; of nothing there is no mean.
#[test]
fn means_that_are_not_joined() {
    let _one = turn(Chains::Off);
    on_each(|gpu, home| {
        let mut random = fresh();
        let sizes = [2, 3, 2, 3, 2, 3, 2, 3];
        let numbers: Vec<f32> = (0..1296).map(|_| random.normal() as f32).collect();
        let x = there(home, &numbers, F16, &sizes);
        let none = there(home, &[], F32, &[3, 0]);
        let wide = there(home, &numbers, F32, &[36, 36]).astype(Dtype::F64);
        let makes: [&dyn Fn() -> Array; 3] = [
            &|| {
                x.plus(&x)
                    .unwrap()
                    .mean(Some(&[7, 1, 3, 5]), false)
                    .unwrap()
            },
            &|| none.plus(&none).unwrap().mean(Some(&[1]), false).unwrap(),
            &|| wide.plus(&wide).unwrap().mean(Some(&[1]), false).unwrap(),
        ];
        for (number, make) in makes.iter().enumerate() {
            use_plans(false);
            let begin = launches(gpu);
            let expected = bits(vec![make()]);
            let single = launches(gpu) - begin;
            use_plans(true);
            for time in 0..4 {
                let (before, begin) = (joined_counts(), launches(gpu));
                assert!(bits(vec![make()]) == expected, "{number}, time {time}");
                assert_eq!(joined_counts(), before, "{number}, time {time}");
                // Nothing is tried again.
                let launched = launches(gpu) - begin;
                assert!(time < 2 || launched <= single, "{number}, time {time}");
            }
        }
    });
}

/// A graph that is too large to be recorded has its means in one launch, too.
#[test]
fn means_of_graphs_that_are_not_recorded() {
    let _one = turn(Chains::Off);
    on_each(|_, home| {
        let mut random = fresh();
        let numbers: Vec<f32> = (0..1200 * 1024).map(|_| random.normal() as f32).collect();
        let there = |numbers: &[f32]| there(home, numbers, F32, &[1200, 1024]);
        let run = |x: &Array| bits(vec![x.plus(x).unwrap().mean(Some(&[0]), false).unwrap()]);
        let x = there(&numbers);
        use_plans(false);
        let expected = run(&x);
        use_plans(true);
        drop(x);
        for time in 0..3 {
            // Elsewhere every time, so that it would have to be copied.
            let room = there(&numbers[..]);
            let x = there(&numbers);
            drop(room);
            let before = joined_counts();
            assert!(run(&x) == expected, "time {time}");
            let joined = joined_counts().0 - before.0;
            assert_eq!(joined, u64::from(time > 0), "time {time}");
        }
    });
}
