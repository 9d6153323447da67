//! Products, transforms, attention.

use super::*;

#[test]
fn transforms() {
    let mut numbers = Numbers(29);
    for size in [2usize, 6, 30, 64, 1000, 2048] {
        let x = numbers.array(Dtype::F32, &[9, size], false);
        let sizes = [9, size / 2 + 1];
        let fft = |real, inverse| Fft {
            axes: smallvec![1],
            inverse,
            real,
            norm: crate::ir::FftNorm::Ortho,
        };
        let real = [numbers.laid(&x)];
        complex(&Op::Fft(fft(true, false)), &real, &sizes);
        let z = plain(&Op::Fft(fft(true, false)), &real, &[(Dtype::C64, &sizes)]);
        for inverse in [false, true] {
            complex(&Op::Fft(fft(false, inverse)), &z, &sizes);
        }
    }
}

/// Complex results near the plain ones.
fn complex(op: &Op, inputs: &[Elements], sizes: &[usize]) {
    let output = [(Dtype::C64, sizes)];
    let fast = with(inputs, &output, 0xff, &mut |views, outs| {
        crate::cpu::arrays::run(op, views, outs, None)
    });
    let numbers = |made: Vec<Elements>| made[0].to_vec::<[f32; 2]>();
    let (a, b) = (
        numbers(fast.expect("a fast form")),
        numbers(plain(op, inputs, &output)),
    );
    let most = b.iter().flatten().fold(1f32, |most, x| most.max(x.abs()));
    for (a, b) in a.iter().flatten().zip(b.iter().flatten()) {
        assert!(
            (a - b).abs() <= most * 1e-6,
            "{op:?}: {a}, the plain form has {b}"
        );
    }
}

#[test]
fn products() {
    let mut numbers = Numbers(19);
    for dtype in FLOATS {
        // Sums of f32 are made in f32.
        let units = if dtype == Dtype::F32 { 32.0 } else { 2.0 };
        for (m, k, n) in [(1, 100, 33), (5, 64, 64), (70, 130, 47), (9, 1200, 1)] {
            let (a, b) = (
                numbers.array(dtype, &[m, k], false),
                numbers.array(dtype, &[k, n], false),
            );
            if k * n < 1024 {
                continue;
            }
            let inputs = [numbers.laid(&a), numbers.laid(&b)];
            check(&Op::Matmul, &inputs, (dtype, &[m, n]), units, true);
            let c = numbers.array(dtype, &[m, n], false);
            let [a, b] = inputs;
            let op = Op::AddMm {
                alpha: Number::new(0.5),
                beta: Number::new(-2.0),
            };
            let inputs = [numbers.laid(&c), a, b];
            check(&op, &inputs, (dtype, &[m, n]), units, true);
        }
        let (a, b) = (
            numbers.array(dtype, &[3, 7, 64], false),
            numbers.array(dtype, &[3, 64, 20], false),
        );
        let inputs = [numbers.laid(&a), numbers.laid(&b)];
        check(&Op::Matmul, &inputs, (dtype, &[3, 7, 20]), units, true);
        for (groups, x, w, out) in [(1, 19, [21, 3, 3, 19], 21), (20, 20, [20, 3, 3, 1], 20)] {
            let conv = Conv {
                stride: smallvec![2; 2],
                low: smallvec![1; 2],
                high: smallvec![1; 2],
                kernel_dilation: smallvec![1; 2],
                input_dilation: smallvec![1; 2],
                groups,
                flip: false,
            };
            let inputs = [
                numbers.array(dtype, &[2, 8, 9, x], false),
                numbers.array(dtype, &w, false),
            ];
            check(
                &Op::Convolution(Box::new(conv)),
                &inputs,
                (dtype, &[2, 4, 5, out]),
                units,
                true,
            );
        }
        for (number, bits) in [2, 3, 4, 5, 6, 8].into_iter().enumerate() {
            let q = Quantization {
                group: 32 << (number % 3),
                bits,
                mode: QuantMode::Affine,
            };
            let w = numbers.array(dtype, &[70, 128], false);
            let (codes, groups) = ([70, 128 * bits / 32], [70, 128 / q.group]);
            let types: [Sizes<'_>; 3] = [(Dtype::U32, &codes), (dtype, &groups), (dtype, &groups)];
            let made = plain(&Op::Quantize(q), &[w], &types);
            let op = Op::QuantizedMatmul {
                quantization: q,
                transpose: true,
            };
            for (rows, special) in [(1, false), (1, true), (5, false), (100, false)] {
                let mut inputs = vec![numbers.array(dtype, &[rows, 128], special)];
                inputs.extend(made.iter().cloned());
                check(&op, &inputs, (dtype, &[rows, 70]), units, true);
                // Scales of 16 bits beside numbers of 32.
                let halves = [Dtype::F16, Dtype::Bf16][number % 2];
                if dtype == Dtype::F32 {
                    for part in &mut inputs[2..] {
                        let from = std::slice::from_ref(part);
                        *part = plain(&Op::AsType, from, &[(halves, &groups)]).remove(0);
                    }
                    check(&op, &inputs, (dtype, &[rows, 70]), units, true);
                }
            }
        }
    }
}

#[test]
fn attention_and_positions() {
    let mut numbers = Numbers(23);
    for dtype in FLOATS {
        for (heads, kv_heads, rows, keys) in
            [(4, 4, 64, 64), (6, 2, 7, 33), (4, 1, 1, 90), (1, 1, 1, 1)]
        {
            for (causal, mask) in [(false, false), (true, false), (false, true)] {
                let op = Op::ScaledDotProductAttention {
                    scale: Number::new(0.3),
                    causal,
                    mask,
                    sinks: false,
                };
                let arrays = [
                    numbers.array(dtype, &[2, heads, rows, 20], false),
                    numbers.array(dtype, &[2, kv_heads, keys, 20], false),
                    numbers.array(dtype, &[2, kv_heads, keys, 17], false),
                    numbers.array(dtype, &[2, heads, rows, keys], false),
                ];
                let mut inputs: Vec<Elements> = arrays.iter().map(|x| numbers.laid(x)).collect();
                inputs.truncate(if mask { 4 } else { 3 });
                check(&op, &inputs, (dtype, &[2, heads, rows, 17]), 4.0, true);
            }
        }
        for (traditional, dims, scale) in [(false, 16, 1.0), (true, 20, 0.5)] {
            let rope = Rope {
                dims,
                traditional,
                base: Some(Number::new(10000.0)),
                scale: Number::new(scale),
            };
            let x = numbers.array(dtype, &[2, 3, 11, 20], false);
            for offset in [vec![7i32], vec![3, 90]] {
                let sizes = if offset.len() == 1 { vec![] } else { vec![2] };
                let offset = Elements::from_slice(&offset, Dtype::I32, &sizes).unwrap();
                check(
                    &Op::Rope(rope),
                    &[numbers.laid(&x), offset],
                    (dtype, &[2, 3, 11, 20]),
                    0.0,
                    false,
                );
            }
        }
    }
}
