//! Fast forms beside the plain ones: every layout, odd sizes, special numbers, poisoned results, one worker and three.

mod products;
mod rows;

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
                    std::slice::from_ref(x),
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
    plain(
        &Op::AsType,
        std::slice::from_ref(x),
        &[(Dtype::F64, &sizes)],
    )[0]
    .to_vec()
}

/// The fast form, by one worker and by three, against the plain one: the same to `units` of the last place, or to
/// `units` of them of the largest result where the results are sums.
fn check(op: &Op, inputs: &[Elements], output: Sizes<'_>, units: f64, sums: bool) {
    let mut pool = ThreadPool::new(3);
    let fast = |poison: u8, pool: Option<&mut ThreadPool>| {
        let mut pool = pool;
        with(inputs, &[output], poison, &mut |views, outs| {
            crate::cpu::arrays::run(op, views, outs, pool.as_deref_mut())
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
                check(
                    &Op::Unary(kind),
                    std::slice::from_ref(&a),
                    (dtype, sizes),
                    2.0,
                    false,
                );
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
                check(
                    &Op::AsType,
                    std::slice::from_ref(&a),
                    (to, sizes),
                    0.0,
                    false,
                );
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
            check(
                &Op::Copy,
                std::slice::from_ref(&a),
                (dtype, sizes),
                0.0,
                false,
            );
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
