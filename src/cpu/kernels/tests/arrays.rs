//! Kernels of f32 arrays: products, convolutions of boards, functions of elements and rows.

use super::super::*;
use super::{Random, seed};

fn close(level: SimdLevel, found: f32, exact: f64, tolerance: f64) {
    let error = (f64::from(found) - exact).abs();
    assert!(
        error <= tolerance * exact.abs().max(1.0),
        "{level:?}: {found} for {exact}"
    );
}

/// Any number of rows; each the same bits alone.
#[test]
fn tiles_of_products() {
    let mut random = Random(seed());
    for (inner, panels) in [
        (1, 1),
        (7, 2),
        (64, 1),
        (5, 4),
        (300, 2),
        (300, 1),
        (300, 4),
    ] {
        let width = panels * GEMM_COLUMNS;
        let panel = random.vector(inner * width);
        let (stride, out_stride) = (inner + 3, width + 5);
        let rows = random.vector(GEMM_ROWS_MOST * stride);
        for kernels in available() {
            let multiply = |rows: &[f32], count: usize| {
                let mut out = vec![f32::NAN; count * out_stride];
                let tile = GemmTile {
                    rows: rows.as_ptr(),
                    stride,
                    count,
                    panel: panel.as_ptr(),
                    panels,
                    inner,
                    out: out.as_mut_ptr(),
                    out_stride,
                };
                // SAFETY: `kernels` comes from `available`; the vectors are as long as the tile says.
                unsafe { (kernels.gemm_tile)(&tile) };
                out
            };
            for count in 1..=kernels.gemm_rows[panels.ilog2() as usize] {
                let out = multiply(&rows, count);
                for row in 0..count {
                    let x = &rows[row * stride..][..inner];
                    let found = &out[row * out_stride..][..out_stride];
                    for (column, &found) in found[..width].iter().enumerate() {
                        let products = x.iter().enumerate().map(|(k, &x)| {
                            let of_panel = &panel[column / GEMM_COLUMNS * inner * GEMM_COLUMNS..];
                            f64::from(x)
                                * f64::from(of_panel[k * GEMM_COLUMNS + column % GEMM_COLUMNS])
                        });
                        close(kernels.level, found, products.sum(), 1e-5);
                    }
                    assert!(found[width..].iter().all(|x| x.is_nan()));
                    let alone = multiply(&rows[row * stride..], 1);
                    assert_eq!(alone[..width], found[..width]);
                }
            }
        }
    }
}

/// A board through both transforms, with the products between them in f64: the convolution's definition.
#[test]
fn winograd_is_the_convolution() {
    let mut random = Random(seed());
    for (channels, width) in [(1, 1), (5, 16), (16, 3), (35, 16)] {
        let board = random.vector(SQUARES * channels);
        let kernel = random.vector(width * 9 * channels);
        let tap = |out: usize, at: usize, channel: usize| {
            f64::from(kernel[(out * 9 + at) * channels + channel])
        };
        let square = |row: usize, column: usize, channel: usize| match (1..9).contains(&row)
            && (1..9).contains(&column)
        {
            true => f64::from(board[((row - 1) * 8 + column - 1) * channels + channel]),
            false => 0.0,
        };
        for kernels in available() {
            let mut found = vec![f32::NAN; SQUARES * width];
            for tile in 0..TILES {
                let step = channels + 2;
                let mut windows = vec![f32::NAN; FREQUENCIES * step];
                let input = WinogradInput {
                    board: &board,
                    channels,
                    tile,
                    out: windows.as_mut_ptr(),
                    step,
                };
                // SAFETY: `kernels` comes from `available`; the vectors are long enough.
                unsafe { (kernels.winograd_input)(&input) };
                let mut sums = vec![0.0; FREQUENCIES * WIDTH];
                for out in 0..width {
                    for channel in 0..channels {
                        let taps: [[f64; 3]; 3] = std::array::from_fn(|row| {
                            std::array::from_fn(|column| tap(out, row * 3 + column, channel))
                        });
                        for (place, number) in winograd_kernel(&taps).into_iter().enumerate() {
                            let window = windows[place * step + channel];
                            sums[place * WIDTH + out] += (f64::from(window) * number) as f32;
                        }
                    }
                }
                let output = WinogradOutput {
                    sums: &sums,
                    step: WIDTH,
                    tile,
                    board: found.as_mut_ptr(),
                    channels: width,
                    width,
                };
                // SAFETY: as above.
                unsafe { (kernels.winograd_output)(&output) };
            }
            for (at, &found) in found.iter().enumerate() {
                let (row, column, out) = (at / width / 8, at / width % 8, at % width);
                let (mut exact, mut size) = (0.0, 1.0);
                for tap_at in 0..9 {
                    let (row, column) = (row + tap_at / 3, column + tap_at % 3);
                    for channel in 0..channels {
                        let product = square(row, column, channel) * tap(out, tap_at, channel);
                        exact += product;
                        size += product.abs();
                    }
                }
                // The transforms' roundings are those of the terms, also where these cancel.
                let error = (f64::from(found) - exact).abs();
                assert!(
                    error <= 2e-5 * size,
                    "{:?}: {found} for {exact}",
                    kernels.level
                );
            }
        }
    }
}

#[test]
fn functions_of_elements() {
    let mut random = Random(seed());
    type Exact = fn(f64, f64) -> f64;
    let functions: [(Function, Exact); 12] = [
        (Function::Add, |x, y| x + y),
        (Function::Subtract, |x, y| x - y),
        (Function::Multiply, |x, y| x * y),
        (Function::Divide, |x, y| x / y),
        (Function::Maximum, f64::max),
        (Function::Minimum, f64::min),
        (Function::Exp, |x, _| x.exp()),
        (Function::Expm1, |x, _| x.exp_m1()),
        (Function::Negative, |x, _| -x),
        (Function::Sigmoid, |x, _| 1.0 / (1.0 + (-x).exp())),
        (Function::Square, |x, _| x * x),
        (Function::Tanh, |x, _| x.tanh()),
    ];
    for len in [1, 8, 77] {
        let a: Vec<f32> = random.vector(len).iter().map(|x| x * 8.0).collect();
        let b = random.vector(len);
        for kernels in available() {
            for (function, exact) in functions {
                for (b_side, one) in [(Side::Numbers(&b), None), (Side::Number(0.7), Some(0.7f32))]
                {
                    let mut out = vec![f32::NAN; len];
                    // SAFETY: `kernels` comes from `available`.
                    unsafe { (kernels.elements)(function, Side::Numbers(&a), b_side, &mut out) };
                    for i in 0..len {
                        let y = f64::from(one.unwrap_or(b[i]));
                        let exact = exact(a[i].into(), y);
                        close(kernels.level, out[i], exact, 3e-6);
                    }
                    let mut first = vec![f32::NAN; len];
                    let side = Side::Number(a[0]);
                    // SAFETY: as above.
                    unsafe { (kernels.elements)(function, side, b_side, &mut first) };
                    assert_eq!(first[0], out[0], "{function:?}");
                }
            }
            // Near 0 with all its digits; NaN is not lost.
            let small = [1e-6f32, -3e-4, 0.2, 0.299, -0.31];
            let mut out = [0.0; 5];
            let nan = [f32::NAN, 1.0];
            let mut most = [0.0; 2];
            // SAFETY: as above.
            unsafe {
                let (x, y) = (Side::Numbers(&small), Side::Number(0.0));
                (kernels.elements)(Function::Expm1, x, y, &mut out);
                let (x, y) = (Side::Numbers(&nan), Side::Numbers(&[0.0, f32::NAN]));
                (kernels.elements)(Function::Maximum, x, y, &mut most);
            }
            assert!(most.iter().all(|x| x.is_nan()));
            for (x, found) in small.iter().zip(out) {
                let exact = f64::from(*x).exp_m1();
                assert!(
                    (f64::from(found) / exact - 1.0).abs() < 1e-6,
                    "{x}: {found}"
                );
            }
        }
    }
}

#[test]
fn functions_of_rows() {
    let mut random = Random(seed());
    for len in [1, 3, 64, 77, 1000] {
        let x: Vec<f32> = random.vector(len).iter().map(|x| x * 30.0 + 5.0).collect();
        let (weight, bias) = (random.vector(len), random.vector(len));
        let wide: Vec<f64> = x.iter().map(|&x| x.into()).collect();
        let mean = wide.iter().sum::<f64>() / len as f64;
        let variance = wide.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / len as f64;
        let most = wide.iter().copied().fold(f64::MIN, f64::max);
        let total: f64 = wide.iter().map(|x| (x - most).exp()).sum();
        for kernels in available() {
            let mut out = vec![f32::NAN; len];
            let mut soft = x.clone();
            // SAFETY: `kernels` comes from `available`.
            unsafe {
                (kernels.layer_norm)(&x, &weight, &bias, 1e-3, &mut out);
                (kernels.softmax)(&mut soft);
            }
            for i in 0..len {
                let normed = (wide[i] - mean) / (variance + 1e-3).sqrt();
                let exact = normed * f64::from(weight[i]) + f64::from(bias[i]);
                close(kernels.level, out[i], exact, 1e-5);
                close(kernels.level, soft[i], (wide[i] - most).exp() / total, 1e-6);
            }
        }
    }
}
