//! Functions of f32 elements beside the same ones of f64: how many units of the last place they are off, anywhere in
//! their range, for arguments that are new on every run.

#[allow(dead_code)] // other tests use the rest
use crate::home;
use crate::prng::Prng;
use mlxrocm::array::{Array, Home};
use mlxrocm::cpu::Elements;
use mlxrocm::ir::{Binary, Dtype, Unary};

const COUNT: usize = 3000;

/// Numbers of any size, numbers up to 100, and numbers up to 1, by turns.
fn numbers(random: &mut Prng) -> Vec<f32> {
    let mut one = |i: usize| match i % 3 {
        0 => f32::from_bits(random.u64() as u32),
        1 => random.uniform(-100.0, 100.0) as f32,
        _ => random.uniform(-1.0, 1.0) as f32,
    };
    (0..COUNT).map(&mut one).collect()
}

fn fresh() -> Prng {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seed = now.unwrap().as_nanos() as u64;
    println!("seed {seed}");
    Prng::new(seed)
}

fn array(values: &[f32]) -> Array {
    let elements = Elements::from_slice(values, Dtype::F32, &[values.len()]).unwrap();
    Array::from_elements(elements).at(&home())
}

/// Units of the last place between a result and the exact one.
fn units(found: f32, exact: f64) -> f64 {
    let nearest = exact as f32;
    if nearest == found || (nearest.is_nan() && found.is_nan()) {
        return 0.0;
    }
    // Just below the largest number one rounding decides between it and infinity.
    let nearly = exact.abs() > 3.402_822e38 && exact.abs() < 3.402_825e38;
    if (found.is_infinite() || nearest.is_infinite()) && nearly {
        return 1.0;
    }
    let exponent = exact.abs().log2().floor().max(-126.0);
    (f64::from(found) - exact).abs() / (exponent - 23.0).exp2()
}

/// For |x| below 3: 2/√π · Σ (−1)ⁿ x²ⁿ⁺¹ / (n! (2n + 1)).
fn erf(x: f64) -> f64 {
    let (mut power, mut sum) = (x, 0.0);
    for n in 0..80 {
        sum += power / f64::from(2 * n + 1);
        power *= -x * x / f64::from(n + 1);
    }
    sum * std::f64::consts::FRAC_2_SQRT_PI
}

#[test]
fn functions_of_one_element_are_those_of_f64() {
    type Exact = fn(f64) -> f64;
    let functions: [(Unary, Exact); 26] = [
        (Unary::ArcCos, f64::acos),
        (Unary::ArcCosh, f64::acosh),
        (Unary::ArcSin, f64::asin),
        (Unary::ArcSinh, f64::asinh),
        (Unary::ArcTan, f64::atan),
        (Unary::ArcTanh, f64::atanh),
        (Unary::Ceil, f64::ceil),
        (Unary::Cos, f64::cos),
        (Unary::Cosh, f64::cosh),
        (Unary::Erf, erf),
        (Unary::Exp, f64::exp),
        (Unary::Expm1, f64::exp_m1),
        (Unary::Floor, f64::floor),
        (Unary::Log, f64::ln),
        (Unary::Log2, f64::log2),
        (Unary::Log10, f64::log10),
        (Unary::Log1p, f64::ln_1p),
        (Unary::Round, f64::round_ties_even),
        (Unary::Rsqrt, |x| 1.0 / x.sqrt()),
        (Unary::Sigmoid, |x| 1.0 / (1.0 + (-x).exp())),
        (Unary::Sin, f64::sin),
        (Unary::Sinh, f64::sinh),
        (Unary::Sqrt, f64::sqrt),
        (Unary::Square, |x| x * x),
        (Unary::Tan, f64::tan),
        (Unary::Tanh, f64::tanh),
    ];
    let mut random = fresh();
    for (function, exact) in functions {
        let mut arguments = numbers(&mut random);
        if function == Unary::Erf {
            arguments.retain(|x| x.abs() < 3.0);
        }
        let found = array(&arguments).unary(function).unwrap().read().unwrap();
        for (&x, found) in arguments.iter().zip(found.to_vec::<f32>()) {
            let exact = exact(f64::from(x));
            // The CPU's, as MLX's, is 0 where it would be too small for a normal number.
            let is_small = exact.abs() < f64::from(f32::MIN_POSITIVE) && home() == Home::Cpu;
            if function == Unary::Sigmoid && is_small && found == 0.0 {
                continue;
            }
            let off = units(found, exact);
            assert!(
                off <= 5.0,
                "{function:?} of {x:e}: {found:e} for {exact:e}, {off} units off"
            );
        }
    }
}

/// The quotient's floor taken off exactly, whatever lies between the two numbers.
fn modulo(a: f64, b: f64) -> f64 {
    let rest = a % b;
    match rest != 0.0 && (rest < 0.0) != (b < 0.0) {
        true => rest + b,
        false => rest,
    }
}

#[test]
fn functions_of_two_elements_are_those_of_f64() {
    type Exact = fn(f64, f64) -> f64;
    let functions: [(Binary, Exact); 5] = [
        (Binary::Power, f64::powf),
        (Binary::Remainder, modulo),
        (Binary::ArcTan2, f64::atan2),
        (Binary::Divide, |a, b| a / b),
        (Binary::Multiply, |a, b| a * b),
    ];
    let mut random = fresh();
    for (function, exact) in functions {
        let (mut a, mut b) = (numbers(&mut random), numbers(&mut random));
        b.rotate_left(1);
        // Near 1 a logarithm keeps few of its places; whole powers of negative numbers, and powers beyond all f32.
        for i in (0..COUNT).step_by(7) {
            a[i] = 1.0 + random.below(4000) as f32 * 1e-4 * if i % 2 == 0 { -0.5 } else { 1.0 };
            b[i] = random.below(700) as f32 - 350.0;
            (a[i + 1], b[i + 1]) = (-2.0, b[i]);
        }
        let found = array(&a).binary(function, &array(&b)).unwrap();
        for (i, found) in found
            .read()
            .unwrap()
            .to_vec::<f32>()
            .into_iter()
            .enumerate()
        {
            let exact = exact(f64::from(a[i]), f64::from(b[i]));
            // Rest and divisor together are rounded once more.
            let off = units(found, exact);
            let (x, y) = (a[i], b[i]);
            assert!(
                off <= 7.0,
                "{function:?} of {x:e}, {y:e}: {found:e} for {exact:e}, {off} units off"
            );
        }
    }
}
