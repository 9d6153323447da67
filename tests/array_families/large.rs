//! Sizes for which NVIDIA GPUs have kernels by warpgroups, against sums in f64.

use crate::prng::Prng;
use mlxrocm::array::ops::ConvOptions;
use mlxrocm::array::{Array, Home};
use mlxrocm::cpu::Elements;
use mlxrocm::ir::Dtype;

/// An array there, and its numbers as they are there.
fn there(values: &[f32], dtype: Dtype, sizes: &[usize]) -> (Vec<f32>, Array) {
    let array = Elements::from_slice(values, Dtype::F32, sizes).unwrap();
    let array = Array::from_elements(array).astype(dtype).at(&crate::home());
    (floats(&array), array)
}

fn floats(array: &Array) -> Vec<f32> {
    array.astype(Dtype::F32).read().unwrap().to_vec()
}

fn normal(random: &mut Prng, count: usize) -> Vec<f32> {
    (0..count).map(|_| random.normal() as f32).collect()
}

struct Convolved {
    space: [usize; 3],
    taps: [usize; 3],
    axes: usize,
    channels: usize,
    width: usize,
    groups: usize,
    stride: [usize; 3],
    dilation: [usize; 3],
    padding: [usize; 3],
    flip: bool,
}

fn convolution(case: &Convolved, dtype: Dtype, random: &mut Prng) {
    let axes = case.axes;
    let (of_group, batch) = (case.channels / case.groups, 2);
    let sizes = [&[batch], &case.space[..axes], &[case.channels]].concat();
    let of_w = [&[case.width], &case.taps[..axes], &[of_group]].concat();
    let x = normal(random, sizes.iter().product());
    let w = normal(random, of_w.iter().product());
    let (x, x_there) = there(&x, dtype, &sizes);
    let (w, w_there) = there(&w, dtype, &of_w);
    let list = |all: &[usize; 3]| -> Vec<i64> { all[..axes].iter().map(|&n| n as i64).collect() };
    let options = ConvOptions {
        stride: list(&case.stride),
        low: list(&case.padding),
        high: list(&case.padding),
        kernel_dilation: list(&case.dilation),
        groups: case.groups,
        flip: case.flip,
        ..ConvOptions::default()
    };
    let made = x_there.conv_general(&w_there, &options).unwrap();
    let sizes = made.shape().numbers().unwrap();
    let made = floats(&made);
    let size = |all: &[usize; 3], axis: usize| if axis < axes { all[axis] } else { 1 };
    let out: Vec<usize> = (0..3)
        .map(|axis| if axis < axes { sizes[1 + axis] } else { 1 })
        .collect();
    for (at, &made) in made.iter().enumerate() {
        let (column, row) = (at % case.width, at / case.width);
        let o = [
            row / out[2] / out[1] % out[0],
            row / out[2] % out[1],
            row % out[2],
        ];
        let image = row / out[2] / out[1] / out[0];
        let group = column / (case.width / case.groups);
        let (mut sum, mut sizes) = (0.0f64, 0.0f64);
        for tap in 0..case.taps[..axes].iter().product() {
            let (t1, t2) = (size(&case.taps, 1), size(&case.taps, 2));
            let t = [tap / t2 / t1, tap / t2 % t1, tap % t2];
            let mut place = Some(image);
            for axis in 0..axes {
                let t = if case.flip {
                    case.taps[axis] - 1 - t[axis]
                } else {
                    t[axis]
                };
                let p = o[axis] * case.stride[axis] + t * case.dilation[axis];
                let p = p.checked_sub(case.padding[axis]);
                let p = p.filter(|&p| p < case.space[axis]);
                place = place.zip(p).map(|(place, p)| place * case.space[axis] + p);
            }
            let Some(place) = place else { continue };
            for i in 0..of_group {
                let a = f64::from(x[place * case.channels + group * of_group + i]);
                let taps: usize = case.taps[..axes].iter().product();
                let b = f64::from(w[(column * taps + tap) * of_group + i]);
                sum += a * b;
                sizes += (a * b).abs();
            }
        }
        let most = sizes * 1e-5 + sum.abs() * if dtype == Dtype::F16 { 1e-3 } else { 8e-3 } + 1e-6;
        assert!(
            (f64::from(made) - sum).abs() <= most,
            "{options:?} {dtype:?}: row {row}, column {column}: {made}, not {sum}"
        );
    }
}

#[test]
fn convolutions_of_many_channels_are_sums_in_f64() {
    let mut random = Prng::new(47);
    let case =
        |axes, space, taps, (channels, width, groups), more: [[usize; 3]; 3], flip| Convolved {
            space,
            taps,
            axes,
            channels,
            width,
            groups,
            stride: more[0],
            dilation: more[1],
            padding: more[2],
            flip,
        };
    let plain = [[1; 3], [1; 3], [1; 3]];
    let cases = [
        case(2, [9, 11, 0], [3, 3, 0], (16, 40, 1), plain, false),
        case(
            2,
            [12, 9, 0],
            [3, 2, 0],
            (48, 64, 2),
            [[2, 1, 1], [1, 2, 1], [2, 1, 0]],
            true,
        ),
        case(
            2,
            [8, 9, 0],
            [1, 1, 0],
            (136, 24, 1),
            [[1; 3], [1; 3], [0; 3]],
            false,
        ),
        case(
            1,
            [150, 0, 0],
            [5, 0, 0],
            (8, 136, 1),
            [[1; 3], [3; 3], [4; 3]],
            true,
        ),
        case(
            3,
            [5, 4, 6],
            [2, 3, 2],
            (24, 32, 1),
            [[1, 1, 2], [1; 3], [1, 2, 0]],
            false,
        ),
        // Such as have no kernel of their own.
        case(2, [9, 9, 0], [3, 3, 0], (12, 40, 1), plain, false),
    ];
    for (i, case) in cases.iter().enumerate() {
        let dtype = [Dtype::F16, Dtype::Bf16][i % 2];
        convolution(case, dtype, &mut random);
    }
    if crate::gpu::is_real() {
        let large = case(2, [20, 17, 0], [3, 3, 0], (72, 264, 1), plain, false);
        convolution(&large, Dtype::F16, &mut random);
        convolution(&large, Dtype::Bf16, &mut random);
    }
}

/// Some numbers of `a · b` against f64: none is further off than f32 sums would be.
fn product(a: &(Vec<f32>, Array), b: &(Vec<f32>, Array), turned: bool, what: &str) {
    let made = match turned {
        true => a.1.matmul(&b.1.transpose(&[1, 0]).unwrap()),
        false => a.1.matmul(&b.1),
    };
    let made = made.unwrap();
    let [m, n] = made.shape().numbers().unwrap()[..] else {
        panic!()
    };
    let (made, k) = (floats(&made), a.0.len() / m);
    let mut random = Prng::new(53);
    for _ in 0..3000 {
        let (row, column) = (
            random.below(m as u64) as usize,
            random.below(n as u64) as usize,
        );
        let (mut sum, mut sizes) = (0.0f64, 0.0f64);
        for i in 0..k {
            let x = f64::from(a.0[row * k + i]);
            let y = f64::from(
                b.0[if turned {
                    column * k + i
                } else {
                    i * n + column
                }],
            );
            sum += x * y;
            sizes += (x * y).abs();
        }
        let found = f64::from(made[row * n + column]);
        let as_f32 = f64::from(sum as f32);
        let same = found == as_f32 || (found.is_nan() && sum.is_nan());
        // Sums in f32 may be off by k · 2^-24 of what is added; these by little of it.
        let near = (found - sum).abs() <= sizes * 2f64.powi(-20) + 1e-44 * k as f64;
        assert!(same || near, "{what}: {row} {column}: {found}, not {sum}");
    }
}

#[test]
fn large_products_of_f32_are_sums_in_f64() {
    // A GPU in software would take minutes, and has no other kernels for them than for small ones.
    if !crate::gpu::is_real() {
        return;
    }
    let mut random = Prng::new(59);
    let (m, n, k) = (520, 776, 1000);
    let a = normal(&mut random, m * k);
    let b = normal(&mut random, k * n);
    let f32_there = |values: &[f32], sizes: &[usize]| there(values, Dtype::F32, sizes);
    let with = |values: &[f32], each: &dyn Fn(usize, f32) -> f32| -> Vec<f32> {
        values
            .iter()
            .enumerate()
            .map(|(i, &x)| each(i, x))
            .collect()
    };
    let (usual, other) = (f32_there(&a, &[m, k]), f32_there(&b, &[k, n]));
    product(&usual, &other, false, "usual");
    product(&usual, &f32_there(&b, &[n, k]), true, "turned");
    // The error of all, beside that of f32.
    let made = floats(&usual.1.matmul(&other.1).unwrap());
    let host = |x: &Array| x.at(&Home::Cpu).astype(Dtype::F64);
    let exact = host(&usual.1).matmul(&host(&other.1)).unwrap();
    let exact: Vec<f64> = exact.read().unwrap().to_vec();
    let off: f64 = exact
        .iter()
        .zip(&made)
        .map(|(x, &y)| (x - f64::from(y)).powi(2))
        .sum();
    let all: f64 = exact.iter().map(|x| x * x).sum();
    let relative = (off / all).sqrt();
    println!("product of f32: off by {relative:.2e}");
    assert!(relative < 6e-7, "{relative}");
    // Of very different sizes, exactly 0 among them.
    let wide = |i: usize, x: f32| match i % 7 {
        0 => 0.0,
        1 => -0.0,
        e => x * 2f32.powi(e as i32 * 9 - 36),
    };
    let of_all = f32_there(&with(&a, &wide), &[m, k]);
    product(&of_all, &other, false, "wide");
    type Kind<'a> = (&'a str, &'a dyn Fn(usize, f32) -> f32);
    let kinds: [Kind; 6] = [
        ("large", &|_, x| x * 1e18),
        ("too large", &|_, x| x * 1e36),
        ("small", &|_, x| x * 1e-18),
        ("subnormal", &|_, x| x * 1e-39),
        ("infinite", &|i, x| {
            if i == 5 * 1000 + 77 { f32::INFINITY } else { x }
        }),
        ("not a number", &|i, x| {
            if i == 6 * 1000 + 3 { f32::NAN } else { x }
        }),
    ];
    for (what, each) in kinds {
        let left = f32_there(&with(&a, each), &[m, k]);
        product(&left, &other, false, what);
        let right = f32_there(&with(&b, each), &[k, n]);
        if what == "large" || what == "small" {
            product(&left, &right, false, what);
        }
    }
}
