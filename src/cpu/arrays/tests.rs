//! Fast forms beside the plain ones: every layout, odd sizes, special numbers, poisoned results, one worker and three.

use crate::cpu::Elements;
use crate::cpu::ops::{self, Out, View};
use crate::cpu::threads::ThreadPool;
use crate::ir::{
    ArgReduce, Binary, Conv, Dtype, Fft, Layout, Number, Op, QuantMode, Quantization, Reduce, Rope,
    Scan, ScatterReduce, Unary,
};
use smallvec::{SmallVec, smallvec};

/// Random numbers, some of them special.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn float(&mut self, special: bool) -> f32 {
        let x = (self.next() >> 40) as f32 / (1 << 23) as f32 - 1.0;
        if !special {
            return x;
        }
        match self.next() % 40 {
            0 => f32::NAN,
            1 => f32::INFINITY,
            2 => f32::NEG_INFINITY,
            3 => -0.0,
            4 => 0.0,
            5 => x * 1e30,
            6 => x * 1e-40,
            7 => x * 1e7,
            _ => x * 8.0,
        }
    }

    /// An array of a dtype.
    fn array(&mut self, dtype: Dtype, sizes: &[usize], special: bool) -> Elements {
        let count: usize = sizes.iter().product();
        let floats: Vec<f32> = (0..count).map(|_| self.float(special)).collect();
        let source = Elements::from_slice(&floats, Dtype::F32, sizes).unwrap();
        let whole = match dtype {
            Dtype::F32 | Dtype::F16 | Dtype::Bf16 | Dtype::F64 => source,
            _ => {
                let numbers: Vec<i32> = (0..count).map(|_| self.next() as i32 >> 20).collect();
                Elements::from_slice(&numbers, Dtype::I32, sizes).unwrap()
            }
        };
        plain(&Op::AsType, &[whole], &[(dtype, sizes)]).remove(0)
    }

    /// The same elements in another layout: turned over, with gaps, backwards, or an axis repeated.
    fn laid(&mut self, x: &Elements) -> Elements {
        let sizes = x.layout().sizes.clone();
        let rank = sizes.len();
        match (self.next() % 4, rank) {
            (0, 2..) => {
                // Stored with the last two axes turned over.
                let mut order: SmallVec<[usize; 4]> = (0..rank).collect();
                order.swap(rank - 1, rank - 2);
                let turned: Vec<usize> = order.iter().map(|&axis| sizes[axis]).collect();
                let stored = plain(
                    &Op::Transpose(order.clone()),
                    &[x.clone()],
                    &[(x.dtype(), &turned)],
                );
                let mut layout = Layout::rows(&turned);
                layout.sizes.swap(rank - 1, rank - 2);
                layout.strides.swap(rank - 1, rank - 2);
                stored[0].with(x.dtype(), layout).unwrap()
            }
            (1, 1..) => {
                // Every other element of one that is twice as wide.
                let mut wide = sizes.to_vec();
                wide[rank - 1] *= 2;
                let big = self.array(x.dtype(), &wide, false);
                let mut layout = Layout::rows(&wide);
                layout.sizes = sizes;
                layout.strides[rank - 1] = 2;
                big.with(x.dtype(), layout).unwrap()
            }
            (2, 1..) if sizes[0] > 0 => {
                let mut layout = Layout::rows(&sizes);
                layout.strides[0] = 0;
                x.with(x.dtype(), layout).unwrap()
            }
            _ => x.clone(),
        }
    }
}

type Sizes<'a> = (Dtype, &'a [usize]);

/// Runs with results of bytes that are nobody's.
fn with(
    inputs: &[Elements],
    outputs: &[Sizes<'_>],
    poison: u8,
    run: &mut dyn FnMut(&[View<'_>], &mut [Out<'_>]) -> bool,
) -> Option<Vec<Elements>> {
    let views: Vec<View<'_>> = inputs.iter().map(View::of).collect();
    let mut bytes: Vec<Vec<u64>> = outputs
        .iter()
        .map(|(dtype, sizes)| {
            let count = sizes.iter().product::<usize>() * dtype.size();
            vec![u64::from_ne_bytes([poison; 8]); count.div_ceil(8)]
        })
        .collect();
    let mut outs: Vec<Out<'_>> = bytes
        .iter_mut()
        .zip(outputs)
        .map(|(bytes, (dtype, sizes))| {
            Out::new(bytemuck::cast_slice_mut(bytes), *dtype, sizes).unwrap()
        })
        .collect();
    let ran = run(&views, &mut outs);
    drop(outs);
    ran.then(|| {
        let made = bytes.iter().zip(outputs).map(|(bytes, (dtype, sizes))| {
            let count = sizes.iter().product::<usize>() * dtype.size();
            let bytes: &[u8] = &bytemuck::cast_slice(bytes)[..count];
            Elements::from_slice(bytes, *dtype, sizes).unwrap()
        });
        made.collect()
    })
}

fn plain(op: &Op, inputs: &[Elements], outputs: &[Sizes<'_>]) -> Vec<Elements> {
    with(inputs, outputs, 0, &mut |views, outs| {
        ops::run(op, views, outs).unwrap();
        true
    })
    .unwrap()
}

fn floats(x: &Elements) -> Vec<f64> {
    let sizes = x.layout().sizes.clone();
    plain(&Op::AsType, &[x.clone()], &[(Dtype::F64, &sizes)])[0].to_vec()
}

/// The fast form, by one worker and by three, against the plain one: the same to `units` of the last place, or to
/// `units` of them of the largest result where the results are sums.
fn check(op: &Op, inputs: &[Elements], output: Sizes<'_>, units: f64, sums: bool) {
    let mut pool = ThreadPool::new(3);
    let fast = |poison: u8, pool: Option<&mut ThreadPool>| {
        let mut pool = pool;
        with(inputs, &[output], poison, &mut |views, outs| {
            super::run(op, views, outs, pool.as_deref_mut())
        })
    };
    let layouts: Vec<_> = inputs.iter().map(Elements::layout).collect();
    let one = fast(0xff, None).unwrap_or_else(|| panic!("{op:?} of {layouts:?}: no fast form"));
    let three = fast(0x7e, Some(&mut pool)).unwrap();
    assert_eq!(
        one[0].bytes(),
        three[0].bytes(),
        "{op:?} of {layouts:?} by three"
    );
    let wanted = plain(op, inputs, &[output]);
    let (a, b) = (floats(&one[0]), floats(&wanted[0]));
    let digits = match output.0 {
        Dtype::F16 => 2f64.powi(-10),
        Dtype::Bf16 => 2f64.powi(-7),
        Dtype::F32 => 2f64.powi(-23),
        _ => 0.0,
    };
    let tiny = match output.0 {
        Dtype::F16 => 2f64.powi(-24),
        Dtype::Bf16 | Dtype::F32 => 2f64.powi(-126),
        _ => 0.0,
    };
    let most = b
        .iter()
        .filter(|x| x.is_finite())
        .fold(0f64, |most, x| most.max(x.abs()));
    for (at, (a, b)) in a.iter().zip(&b).enumerate() {
        let size = if sums { most.max(1.0) } else { b.abs() };
        let near = (a - b).abs() <= units * (size * digits).max(tiny);
        // What does not fit the dtype by a hair is an infinity in one of them.
        let edge = b.is_infinite() && a.abs() > 6e4;
        assert!(
            near || a == b || (a.is_nan() && b.is_nan()) || (edge && units > 0.0),
            "{op:?} of {layouts:?}, element {at}: {a}, the plain form has {b}"
        );
    }
}

const FLOATS: [Dtype; 3] = [Dtype::F32, Dtype::F16, Dtype::Bf16];
const SHAPES: [&[usize]; 7] = [
    &[1],
    &[7],
    &[3, 5],
    &[1025],
    &[33, 70],
    &[4, 9, 31],
    &[40000],
];

#[test]
fn functions_of_elements() {
    let mut numbers = Numbers(7);
    let unary = [
        Unary::Abs,
        Unary::ArcTan,
        Unary::Ceil,
        Unary::Cos,
        Unary::Cosh,
        Unary::Erf,
        Unary::Exp,
        Unary::Expm1,
        Unary::Floor,
        Unary::Log,
        Unary::Log2,
        Unary::Log10,
        Unary::Log1p,
        Unary::Negative,
        Unary::Round,
        Unary::Rsqrt,
        Unary::Sigmoid,
        Unary::Sign,
        Unary::Sin,
        Unary::Sinh,
        Unary::Sqrt,
        Unary::Square,
        Unary::Tan,
        Unary::Tanh,
    ];
    let binary = [
        Binary::Add,
        Binary::Subtract,
        Binary::Multiply,
        Binary::Divide,
        Binary::Maximum,
        Binary::Minimum,
        Binary::Power,
        Binary::LogAddExp,
        Binary::Remainder,
        Binary::ArcTan2,
    ];
    let compared = [
        Binary::Equal,
        Binary::NotEqual,
        Binary::NanEqual,
        Binary::Less,
        Binary::LessEqual,
        Binary::Greater,
        Binary::GreaterEqual,
    ];
    let whole = [
        Binary::Add,
        Binary::Subtract,
        Binary::Multiply,
        Binary::Maximum,
        Binary::Minimum,
        Binary::BitwiseAnd,
        Binary::BitwiseXor,
        Binary::FloorDivide,
        Binary::LeftShift,
    ];
    for sizes in SHAPES {
        for dtype in FLOATS {
            let x = numbers.array(dtype, sizes, true);
            let (a, b) = (numbers.laid(&x), numbers.array(dtype, sizes, true));
            let b = numbers.laid(&b);
            for kind in unary {
                check(&Op::Unary(kind), &[a.clone()], (dtype, sizes), 2.0, false);
            }
            for kind in binary {
                check(
                    &Op::Binary(kind),
                    &[a.clone(), b.clone()],
                    (dtype, sizes),
                    0.0,
                    false,
                );
            }
            for kind in compared {
                check(
                    &Op::Binary(kind),
                    &[a.clone(), b.clone()],
                    (Dtype::Bool, sizes),
                    0.0,
                    false,
                );
            }
            for to in FLOATS {
                check(&Op::AsType, &[a.clone()], (to, sizes), 0.0, false);
            }
            let holds = numbers.array(Dtype::Bool, sizes, false);
            check(
                &Op::Select,
                &[holds, a.clone(), b.clone()],
                (dtype, sizes),
                0.0,
                false,
            );
        }
        for dtype in [Dtype::U8, Dtype::I16, Dtype::I32, Dtype::U32, Dtype::I64] {
            let x = numbers.array(dtype, sizes, false);
            let (a, b) = (numbers.laid(&x), numbers.array(dtype, sizes, false));
            for kind in whole {
                check(
                    &Op::Binary(kind),
                    &[a.clone(), b.clone()],
                    (dtype, sizes),
                    0.0,
                    false,
                );
            }
            check(
                &Op::Binary(Binary::Less),
                &[a.clone(), b.clone()],
                (Dtype::Bool, sizes),
                0.0,
                false,
            );
            check(&Op::Copy, &[a.clone()], (dtype, sizes), 0.0, false);
        }
        for (from, to) in [
            (Dtype::F32, Dtype::I32),
            (Dtype::I32, Dtype::F32),
            (Dtype::U8, Dtype::F32),
        ] {
            let x = numbers.array(from, sizes, true);
            check(&Op::AsType, &[numbers.laid(&x)], (to, sizes), 0.0, false);
        }
    }
}

#[test]
fn rows_and_reductions() {
    let mut numbers = Numbers(11);
    let shapes: [&[usize]; 6] = [
        &[5],
        &[3, 300],
        &[300, 3],
        &[6, 70, 5],
        &[2, 3, 1100],
        &[5, 40000],
    ];
    for sizes in shapes {
        for (place, dtype) in FLOATS.into_iter().enumerate() {
            for special in [false, true] {
                let x = numbers.array(dtype, sizes, special && place == 0);
                let x = numbers.laid(&x);
                let rank = sizes.len();
                let sets: Vec<SmallVec<[usize; 4]>> = match rank {
                    3 => vec![
                        smallvec![0],
                        smallvec![1],
                        smallvec![2],
                        smallvec![0, 2],
                        smallvec![0, 1, 2],
                    ],
                    2 => vec![smallvec![0], smallvec![1], smallvec![0, 1]],
                    _ => vec![smallvec![0]],
                };
                for axes in sets {
                    let left: Vec<usize> = (0..rank)
                        .filter(|a| !axes.contains(a))
                        .map(|a| sizes[a])
                        .collect();
                    for kind in [Reduce::Sum, Reduce::Min, Reduce::Max, Reduce::LogSumExp] {
                        let op = Op::Reduce(kind, axes.clone());
                        check(&op, &[x.clone()], (dtype, &left), 1.0, true);
                    }
                    if axes.len() == 1 {
                        for kind in [ArgReduce::Min, ArgReduce::Max] {
                            let op = Op::ArgReduce(kind, axes[0]);
                            check(&op, &[x.clone()], (Dtype::U32, &left), 0.0, false);
                        }
                    }
                }
                let width = sizes[rank - 1];
                check(
                    &Op::Softmax { precise: true },
                    &[x.clone()],
                    (dtype, sizes),
                    2.0,
                    false,
                );
                let weight = numbers.array(dtype, &[width], false);
                let bias = numbers.array(dtype, &[width], false);
                let eps = Number::new(1e-5);
                let norm = [x.clone(), weight.clone()];
                check(&Op::RmsNorm(eps), &norm, (dtype, sizes), 4.0, false);
                let op = Op::LayerNorm {
                    eps,
                    weight: true,
                    bias: true,
                };
                check(&op, &[x.clone(), weight, bias], (dtype, sizes), 4.0, true);
            }
        }
    }
}

#[test]
fn orders_and_totals() {
    let mut numbers = Numbers(13);
    let shapes: [&[usize]; 5] = [&[5], &[3, 300], &[70, 6], &[2, 100, 3], &[1, 40000]];
    for sizes in shapes {
        for dtype in [
            Dtype::F32,
            Dtype::F16,
            Dtype::Bf16,
            Dtype::I32,
            Dtype::U8,
            Dtype::I16,
        ] {
            let x = numbers.array(dtype, sizes, true);
            let x = numbers.laid(&x);
            for axis in 0..sizes.len() {
                check(&Op::Sort(axis), &[x.clone()], (dtype, sizes), 0.0, false);
                check(
                    &Op::ArgSort(axis),
                    &[x.clone()],
                    (Dtype::U32, sizes),
                    0.0,
                    false,
                );
            }
        }
        for dtype in [Dtype::F32, Dtype::I32] {
            let x = numbers.array(dtype, sizes, false);
            let x = numbers.laid(&x);
            for (reverse, inclusive) in [(false, true), (true, false)] {
                for axis in 0..sizes.len() {
                    let op = Op::Scan {
                        kind: Scan::Sum,
                        axis,
                        reverse,
                        inclusive,
                    };
                    check(&op, &[x.clone()], (dtype, sizes), 0.0, false);
                }
            }
        }
    }
}

#[test]
fn places() {
    let mut numbers = Numbers(17);
    for dtype in [Dtype::F32, Dtype::F16, Dtype::U8, Dtype::I64] {
        let x = numbers.array(dtype, &[20, 7, 30], false);
        let index = |numbers: &mut Numbers, limit: i32, sizes: &[usize]| {
            let count: usize = sizes.iter().product();
            let index: Vec<i32> = (0..count)
                .map(|_| (numbers.next() % (2 * limit as u64)) as i32 - limit)
                .collect();
            Elements::from_slice(&index, Dtype::I32, sizes).unwrap()
        };
        let rows = index(&mut numbers, 20, &[9]);
        let gather = |sizes: [usize; 3]| Op::Gather {
            axes: smallvec![0],
            sizes: sizes.into_iter().collect(),
        };
        check(
            &gather([1, 7, 30]),
            &[x.clone(), rows.clone()],
            (dtype, &[9, 1, 7, 30]),
            0.0,
            false,
        );
        let some = index(&mut numbers, 7, &[9]);
        let op = Op::Gather {
            axes: smallvec![1],
            sizes: smallvec![20, 1, 13],
        };
        check(
            &op,
            &[x.clone(), some],
            (dtype, &[9, 20, 1, 13]),
            0.0,
            false,
        );
        for (axis, sizes) in [(0, [5, 7, 30]), (1, [20, 3, 30]), (2, [20, 7, 40])] {
            let along = index(&mut numbers, [20, 7, 30][axis], &sizes);
            check(
                &Op::GatherAxis(axis),
                &[x.clone(), along],
                (dtype, &sizes),
                0.0,
                false,
            );
        }
        let updates = numbers.array(dtype, &[9, 1, 7, 30], false);
        let op = Op::Scatter(smallvec![0], ScatterReduce::None);
        let inputs = [numbers.laid(&x), rows.clone(), updates.clone()];
        check(&op, &inputs, (dtype, &[20, 7, 30]), 0.0, false);
        if matches!(dtype, Dtype::F32 | Dtype::F16) {
            let op = Op::Scatter(smallvec![0], ScatterReduce::Sum);
            check(&op, &inputs, (dtype, &[20, 7, 30]), 0.0, false);
        }
        let y = numbers.array(dtype, &[20, 4, 30], false);
        let inputs = [numbers.laid(&x), numbers.laid(&y)];
        check(
            &Op::Concatenate(1),
            &inputs,
            (dtype, &[20, 11, 30]),
            0.0,
            false,
        );
    }
}

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
        super::run(op, views, outs, None)
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
                &Op::Convolution(conv),
                &inputs,
                (dtype, &[2, 4, 5, out]),
                units,
                true,
            );
        }
        for bits in [2, 3, 4, 5, 6, 8] {
            let q = Quantization {
                group: 32,
                bits,
                mode: QuantMode::Affine,
            };
            let w = numbers.array(dtype, &[70, 64], false);
            let (codes, groups) = ([70, 64 * bits / 32], [70, 2]);
            let types: [Sizes<'_>; 3] = [(Dtype::U32, &codes), (dtype, &groups), (dtype, &groups)];
            let made = plain(&Op::Quantize(q), &[w], &types);
            for rows in [1, 5, 100] {
                let mut inputs = vec![numbers.array(dtype, &[rows, 64], false)];
                inputs.extend(made.iter().cloned());
                let op = Op::QuantizedMatmul {
                    quantization: q,
                    transpose: true,
                };
                check(&op, &inputs, (dtype, &[rows, 70]), units, true);
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
