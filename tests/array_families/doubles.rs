//! f64 on a GPU beside the CPU's: functions, casts, reductions, orders, products. None goes by way of the CPU.

use crate::forms::{both, random_seed, within};
use crate::prng::Prng;
use mlxrocm::Result;
use mlxrocm::array::Array;
use mlxrocm::array::ops::ConvOptions;
use mlxrocm::cpu::Elements;
use mlxrocm::ir::{ArgReduce, Binary, Dtype, Reduce, Scan, ScatterReduce, Unary};

fn doubles(sizes: &[usize], mut next: impl FnMut() -> f64) -> Array {
    let values: Vec<f64> = (0..sizes.iter().product()).map(|_| next()).collect();
    Array::from_elements(Elements::from_slice(&values, Dtype::F64, sizes).unwrap())
}

/// Of any size, denormals and those that are not finite among them.
fn any(random: &mut Prng) -> f64 {
    match random.below(12) {
        0 => f64::from_bits(random.u64()),
        1 => [
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            -0.0,
            0.0,
            5e-324,
        ][random.below(6) as usize],
        2 => random.uniform(-1.0, 1.0) * 10f64.powf(random.uniform(-300.0, 300.0)),
        3 => random.uniform(-1.0, 1.0) * 10f64.powf(random.uniform(-9.0, 9.0)),
        4 => random.uniform(-3.0, 3.0).round(),
        5 | 6 => random.uniform(-1.0, 1.0),
        _ => random.uniform(-20.0, 20.0),
    }
}

/// Differences in units of the last place, where both are finite; zeros, infinities and NaN are the same.
fn units(what: &str, x: &[f64], got: &[f64], expected: &[f64], room: f64) {
    for ((x, &got), &expected) in x.iter().zip(got).zip(expected) {
        // The CPU's exponential overflows there.
        if what == "Sigmoid" && *x < -708.0 {
            continue;
        }
        let unit = (expected.abs().max(f64::MIN_POSITIVE) * f64::EPSILON).max(5e-324);
        let alike = got == expected
            || got.is_nan() && expected.is_nan()
            || (got - expected).abs() / unit <= room;
        assert!(
            alike,
            "{what} of {x:e} is {got:e}, not {expected:e}: {} units",
            (got - expected).abs() / unit
        );
    }
}

const FUNCTIONS: [(Unary, f64); 30] = [
    (Unary::Abs, 0.0),
    (Unary::ArcCos, 4.0),
    (Unary::ArcCosh, 4.0),
    (Unary::ArcSin, 4.0),
    (Unary::ArcSinh, 4.0),
    (Unary::ArcTan, 4.0),
    (Unary::ArcTanh, 5.0),
    (Unary::Ceil, 0.0),
    (Unary::Cos, 4.0),
    (Unary::Cosh, 4.0),
    (Unary::Erf, 4.0),
    // It is steep near 1 and -1.
    (Unary::ErfInv, 1e5),
    (Unary::Exp, 3.0),
    (Unary::Expm1, 4.0),
    (Unary::Floor, 0.0),
    (Unary::Log, 3.0),
    (Unary::Log2, 4.0),
    (Unary::Log10, 4.0),
    (Unary::Log1p, 4.0),
    (Unary::Negative, 0.0),
    (Unary::Round, 0.0),
    (Unary::Rsqrt, 2.0),
    (Unary::Sigmoid, 6.0),
    (Unary::Sign, 0.0),
    (Unary::Sin, 4.0),
    (Unary::Sinh, 5.0),
    (Unary::Sqrt, 1.0),
    (Unary::Square, 0.0),
    (Unary::Tan, 5.0),
    (Unary::Tanh, 4.0),
];

#[test]
fn functions_of_f64_are_those_of_the_cpu() {
    let mut random = Prng::new(random_seed());
    let x = doubles(&[2000], || any(&mut random));
    let y = doubles(&[2000], || any(&mut random));
    let values: Vec<f64> = x.read().unwrap().to_vec();
    let there = x.at(&crate::home());
    for (function, room) in FUNCTIONS {
        let of = |x: &Array| -> Vec<f64> { x.unary(function).unwrap().read().unwrap().to_vec() };
        units(
            &format!("{function:?}"),
            &values,
            &of(&there),
            &of(&x),
            room,
        );
    }
    for (function, room) in [
        (Binary::Add, 0.0),
        (Binary::ArcTan2, 4.0),
        // Denormal quotients are rounded twice.
        (Binary::Divide, 1.0),
        (Binary::FloorDivide, 0.0),
        // Of terms that nearly cancel, units of these.
        (Binary::LogAddExp, 1e6),
        (Binary::Maximum, 0.0),
        (Binary::Minimum, 0.0),
        (Binary::Multiply, 0.0),
        (Binary::Power, 16.0),
        (Binary::Remainder, 0.0),
        (Binary::Subtract, 0.0),
    ] {
        let of = |x: &Array, y: &Array| -> Vec<f64> {
            x.binary(function, y).unwrap().read().unwrap().to_vec()
        };
        let (got, expected) = (of(&there, &y), of(&x, &y));
        units(&format!("{function:?}"), &values, &got, &expected, room);
    }
    for function in [
        Binary::Equal,
        Binary::NanEqual,
        Binary::Greater,
        Binary::GreaterEqual,
        Binary::Less,
        Binary::LessEqual,
        Binary::LogicalAnd,
        Binary::LogicalOr,
        Binary::NotEqual,
    ] {
        let inputs = [x.clone(), y.clone()];
        both(&format!("{function:?}"), &inputs, |x| {
            x[0].binary(function, &x[1])
        });
    }
}

#[test]
fn casts_of_f64_are_those_of_the_cpu() {
    let mut random = Prng::new(random_seed());
    let x = doubles(&[40, 25], || any(&mut random));
    let turned = x.transpose(&[1, 0]).unwrap();
    for dtype in Dtype::ALL {
        let real = |x: Array| match x.dtype() {
            Dtype::C64 => x.view(Dtype::F32).unwrap(),
            Dtype::U64 | Dtype::I64 | Dtype::F64 => x.contiguous().view(Dtype::U16).unwrap(),
            Dtype::U32 | Dtype::I32 => x.contiguous().view(Dtype::U16).unwrap(),
            _ => x,
        };
        let what = format!("f64 as {dtype}");
        within(
            &what,
            std::slice::from_ref(&turned),
            |_| 0.0,
            |x| Ok(real(x[0].astype(dtype).contiguous())),
        );
        let from = [turned.astype(dtype).contiguous()];
        let what = format!("{dtype} as f64");
        // Which NaN it is is the device's.
        let zero = Array::number(0.0, Dtype::F64).unwrap();
        let wide = |x: &[Array]| {
            let wide = x[0].astype(Dtype::F64);
            Ok(real(wide.isnan()?.select(&zero, &wide)?))
        };
        within(&what, &from, |_| 0.0, wide);
        both(&what, &from, |x| x[0].astype(Dtype::F64).isnan());
    }
    both("not", &[turned], |x| x[0].unary(Unary::LogicalNot));
}

/// As numbers of which f32 holds all that the comparison needs.
fn close(x: Result<Array>) -> Result<Array> {
    Ok(x?.astype(Dtype::F32))
}

#[test]
fn reductions_and_orders_of_f64_are_those_of_the_cpu() {
    let mut random = Prng::new(random_seed());
    for sizes in [
        [3, 7, 2],
        [1, 300, 1],
        [2, 5000, 1],
        [70, 3, 65],
        [1, 40_000, 2],
    ] {
        let mixed = doubles(&sizes, || match random.below(8) {
            0 => any(&mut random),
            1..4 => random.uniform(-3.0, 3.0).round(),
            _ => random.uniform(-3.0, 3.0),
        });
        let finite = doubles(&sizes, || random.uniform(-3.0, 3.0));
        let near_one = doubles(&sizes, || random.uniform(0.9995, 1.0005));
        for axes in [&[1][..], &[0, 2], &[0, 1, 2]] {
            for (kind, x, room) in [
                (Reduce::All, &mixed, 0.0),
                (Reduce::Any, &mixed, 0.0),
                (Reduce::Sum, &finite, 1e-6),
                (Reduce::Prod, &near_one, 1e-6),
                (Reduce::Min, &mixed, 0.0),
                (Reduce::Max, &mixed, 0.0),
                (Reduce::LogSumExp, &finite, 1e-6),
            ] {
                let what = format!("{kind:?} {sizes:?} {axes:?}");
                within(
                    &what,
                    std::slice::from_ref(x),
                    |_| room,
                    |x| close(x[0].reduce(kind, Some(axes), false)),
                );
            }
        }
        for kind in [ArgReduce::Min, ArgReduce::Max] {
            both(
                &format!("{kind:?} {sizes:?}"),
                std::slice::from_ref(&mixed),
                |x| x[0].arg_reduce(kind, Some(1), false),
            );
        }
        within(
            &format!("sort {sizes:?}"),
            std::slice::from_ref(&mixed),
            |_| 0.0,
            |x| x[0].sort(Some(1))?.contiguous().view(Dtype::U16),
        );
        both(
            &format!("argsort {sizes:?}"),
            std::slice::from_ref(&mixed),
            |x| x[0].argsort(Some(1)),
        );
        let sorted = mixed.sort(None).unwrap();
        both(
            &format!("search {sizes:?}"),
            &[sorted, mixed.clone()],
            |x| x[0].searchsorted(&x[1], true),
        );
        for (reverse, inclusive) in [(false, true), (true, false)] {
            for (kind, x) in [
                (Scan::Sum, &finite),
                (Scan::Prod, &near_one),
                (Scan::Min, &mixed),
                (Scan::Max, &mixed),
                (Scan::LogAddExp, &finite),
            ] {
                within(
                    &format!("{kind:?} {sizes:?}"),
                    std::slice::from_ref(x),
                    |_| 1e-6,
                    |x| close(x[0].scan(kind, Some(1), reverse, inclusive)),
                );
            }
        }
        within(
            &format!("softmax {sizes:?}"),
            std::slice::from_ref(&finite),
            |_| 1e-7,
            |x| close(x[0].softmax(Some(&[1]), true)),
        );
    }
}

#[test]
fn products_and_updates_of_f64_are_those_of_the_cpu() {
    let mut random = Prng::new(random_seed());
    let mut make = |sizes: &[usize]| doubles(sizes, || random.uniform(-2.0, 2.0));
    // Beyond what f32 tells apart: differences from the f32 product would show.
    let beyond = |x: Result<Array>| -> Result<Array> {
        let x = x?;
        let high = x.astype(Dtype::F32).astype(Dtype::F64);
        let low = x.binary(Binary::Subtract, &high)?;
        Ok(low.astype(Dtype::F32))
    };
    for (m, n, k) in [
        (1, 1, 1),
        (3, 5, 7),
        (17, 33, 40),
        (64, 1, 100),
        (20, 16, 0),
    ] {
        let (a, b) = (make(&[2, k, m]), make(&[1, k, n]));
        let a = a.transpose(&[0, 2, 1]).unwrap();
        let c = make(&[n, m]).transpose(&[1, 0]).unwrap();
        let what = format!("{m} {n} {k}");
        within(
            &what,
            &[a.clone(), b.clone()],
            |_| 1e-12,
            |x| beyond(x[0].matmul(&x[1])),
        );
        within(
            &what,
            &[c, a, b],
            |_| 1e-12,
            |x| beyond(x[0].addmm(&x[1], &x[2], 0.5, -2.0)),
        );
    }
    let (x, w) = (make(&[2, 9, 8, 6]), make(&[4, 3, 2, 3]));
    let options = ConvOptions {
        groups: 2,
        ..ConvOptions::default()
    };
    within(
        "convolution",
        &[x, w],
        |_| 1e-12,
        |x| beyond(x[0].conv_general(&x[1], &options)),
    );
    let hadamard = make(&[3, 24]);
    both("hadamard", &[hadamard], |x| {
        close(x[0].hadamard_transform(None))
    });
    for reduce in [
        ScatterReduce::Sum,
        ScatterReduce::Prod,
        ScatterReduce::Max,
        ScatterReduce::Min,
    ] {
        let places = Elements::from_slice(&[1, 0, -1, 1, 2, 1], Dtype::I32, &[6]).unwrap();
        let inputs = [
            make(&[4, 5]),
            Array::from_elements(places),
            make(&[6, 1, 5]),
        ];
        within(
            &format!("scatter {reduce:?}"),
            &inputs,
            |_| 1e-12,
            |x| beyond(x[0].scatter(&x[1..2], &x[2], &[0], reduce)),
        );
        let inputs = [make(&[4, 5]), make(&[4, 2])];
        within(
            &format!("slice {reduce:?}"),
            &inputs,
            |_| 1e-12,
            |x| beyond(x[0].slice_update(&x[1], (&[0, 1], &[4, 5], &[1, 2]), reduce)),
        );
    }
}
