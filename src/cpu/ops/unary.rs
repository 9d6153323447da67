//! One function of each element. 16-bit numbers are computed as f32, complex ones as pairs of f64.

use super::{Out, View, cast, input, output};
use crate::ir::{Dtype, Op, Unary};
use crate::{Error, Result};
use bytemuck::Pod;
use half::{bf16, f16};
use num_complex::Complex;

type C32 = Complex<f32>;
type C64 = Complex<f64>;

unsafe extern "C" {
    /// The error function of the C library's mathematics.
    safe fn erf(x: f64) -> f64;
}

/// Runs a unary operation.
pub fn run(op: &Op, kind: Unary, inputs: &[View<'_>], outputs: &mut [Out<'_>]) -> Result<()> {
    let x = input(op, inputs, 0)?;
    let out = output(op, outputs)?;
    let refused = || {
        let what = format!("{}: there is no such function of {}", op.name(), x.dtype());
        Error::Unsupported(what)
    };
    if kind == Unary::LogicalNot {
        cast::run(x, out)?;
        out.values::<u8>().iter_mut().for_each(|x| *x ^= 1);
        return Ok(());
    }
    macro_rules! whole {
        ($t:ty) => {
            map(x, out, <$t>::function(kind).ok_or_else(refused)?)
        };
    }
    match x.dtype() {
        Dtype::Bool => {
            if kind == Unary::BitwiseInvert {
                map(x, out, |x: u8| x ^ 1);
                return Ok(());
            }
            // Of a byte, and what is not 0 is true.
            let function = u8::function(kind).ok_or_else(refused)?;
            map(x, out, |x: u8| u8::from(function(x) != 0));
        }
        Dtype::U8 => whole!(u8),
        Dtype::U16 => whole!(u16),
        Dtype::U32 => whole!(u32),
        Dtype::U64 => whole!(u64),
        Dtype::I8 => whole!(i8),
        Dtype::I16 => whole!(i16),
        Dtype::I32 => whole!(i32),
        Dtype::I64 => whole!(i64),
        Dtype::F32 => whole!(f32),
        Dtype::F64 => whole!(f64),
        Dtype::F16 => {
            let function = f32::function(kind).ok_or_else(refused)?;
            map(x, out, |x: f16| f16::from_f32(function(x.to_f32())));
        }
        Dtype::Bf16 => {
            let function = f32::function(kind).ok_or_else(refused)?;
            map(x, out, |x: bf16| bf16::from_f32(function(x.to_f32())));
        }
        Dtype::C64 => {
            if out.dtype() == Dtype::F32 {
                let function: fn(C32) -> f32 = match kind {
                    Unary::Abs => |z| C64::new(z.re.into(), z.im.into()).norm() as f32,
                    Unary::Real => |z| z.re,
                    Unary::Imag => |z| z.im,
                    _ => return Err(refused()),
                };
                map(x, out, function);
                return Ok(());
            }
            let function = complex(kind).ok_or_else(refused)?;
            map(x, out, |z: C32| {
                let z = function(C64::new(z.re.into(), z.im.into()));
                C32::new(z.re as f32, z.im as f32)
            });
        }
    }
    Ok(())
}

fn map<A: Pod, B: Pod>(x: &View<'_>, out: &mut Out<'_>, function: impl Fn(A) -> B) {
    for (to, &x) in out.values::<B>().iter_mut().zip(x.values::<A>().iter()) {
        *to = function(x);
    }
}

/// The function of one f32.
pub fn of_single(kind: Unary) -> Option<fn(f32) -> f32> {
    f32::function(kind)
}

/// A dtype with functions of its own.
trait Functions: Sized {
    fn function(kind: Unary) -> Option<fn(Self) -> Self>;
}

macro_rules! integers {
    ($($t:ty: $negative:expr),*) => {$(
        impl Functions for $t {
            // Signs are asked of unsigned numbers too.
            #[allow(unused_comparisons)]
            fn function(kind: Unary) -> Option<fn($t) -> $t> {
                Some(match kind {
                    Unary::Abs => |x| if x < 0 { x.wrapping_neg() } else { x },
                    Unary::BitwiseInvert => |x| !x,
                    Unary::Negative => |x| x.wrapping_neg(),
                    Unary::Sign => |x| if x < 0 { $negative } else { <$t>::from(x != 0) },
                    Unary::Square => |x| x.wrapping_mul(x),
                    _ => return None,
                })
            }
        }
    )*};
}
integers!(u8: 0, u16: 0, u32: 0, u64: 0, i8: -1, i16: -1, i32: -1, i64: -1);

macro_rules! reals {
    ($($t:ty, $inverse:expr);*) => {$(
        impl Functions for $t {
            fn function(kind: Unary) -> Option<fn($t) -> $t> {
                Some(match kind {
                    Unary::Abs => <$t>::abs,
                    Unary::ArcCos => <$t>::acos,
                    Unary::ArcCosh => |x| arccosh(x.into()) as $t,
                    Unary::ArcSin => <$t>::asin,
                    Unary::ArcSinh => |x| arcsinh(x.into()) as $t,
                    Unary::ArcTan => <$t>::atan,
                    Unary::ArcTanh => |x| arctanh(x.into()) as $t,
                    Unary::Ceil => <$t>::ceil,
                    Unary::Cos => <$t>::cos,
                    Unary::Cosh => <$t>::cosh,
                    Unary::Erf => |x| erf(x.into()) as $t,
                    Unary::ErfInv => $inverse,
                    Unary::Exp => <$t>::exp,
                    Unary::Expm1 => <$t>::exp_m1,
                    Unary::Floor => <$t>::floor,
                    Unary::Log => <$t>::ln,
                    Unary::Log2 => <$t>::log2,
                    Unary::Log10 => <$t>::log10,
                    Unary::Log1p => <$t>::ln_1p,
                    Unary::Negative => |x| -x,
                    Unary::Round => <$t>::round_ties_even,
                    Unary::Rsqrt => |x| 1.0 / x.sqrt(),
                    Unary::Sigmoid => |x| 1.0 / (1.0 + (-x).exp()),
                    Unary::Sign => |x| <$t>::from(i8::from(x > 0.0) - i8::from(x < 0.0)),
                    Unary::Sin => <$t>::sin,
                    Unary::Sinh => <$t>::sinh,
                    Unary::Sqrt => <$t>::sqrt,
                    Unary::Square => |x| x * x,
                    Unary::Tan => <$t>::tan,
                    Unary::Tanh => <$t>::tanh,
                    _ => return None,
                })
            }
        }
    )*};
}
reals!(f32, erf_inverse_f32; f64, erf_inverse);

// The standard library's own lose digits of small and large numbers, or overflow.

fn arccosh(x: f64) -> f64 {
    if x < 1.0 {
        return f64::NAN;
    }
    match x >= 1e150 {
        true => x.ln() + std::f64::consts::LN_2,
        // Near 1 the root carries the digits.
        false => {
            let t = x - 1.0;
            (t + (t * (x + 1.0)).sqrt()).ln_1p()
        }
    }
}

fn arcsinh(x: f64) -> f64 {
    let a = x.abs();
    let value = match a >= 1e150 {
        true => a.ln() + std::f64::consts::LN_2,
        false => (a + a * a / (1.0 + (a * a + 1.0).sqrt())).ln_1p(),
    };
    value.copysign(x)
}

fn arctanh(x: f64) -> f64 {
    0.5 * (x.ln_1p() - (-x).ln_1p())
}

/// The inverse of the error function by M. Giles' polynomials, as MLX has it (2.4 units of the last place): its normal
/// numbers are these to the bit.
fn erf_inverse_f32(x: f32) -> f32 {
    const TAIL: [f32; 9] = [
        3.036_975_7e-10,
        2.932_431e-8,
        1.221_503_3e-6,
        2.841_089_5e-5,
        3.935_529_7e-4,
        3.026_988_1e-3,
        4.831_858e-3,
        -2.646_461_4e-1,
        8.400_165e-1,
    ];
    const MIDDLE: [f32; 10] = [
        5.438_778_3e-9,
        1.432_854_5e-7,
        1.227_747_9e-6,
        1.129_636_26e-7,
        -5.615_307_6e-5,
        -1.476_976_3e-4,
        2.314_686_8e-3,
        1.153_925_8e-2,
        -2.320_154_8e-1,
        8.862_269e-1,
    ];
    let t = x.mul_add(-x, 1.0).ln();
    let polynomial = |first: f32, rest: &[f32]| rest.iter().fold(first, |p, &c| p.mul_add(t, c));
    let factor = match t.abs() > 6.125 {
        true => polynomial(TAIL[0], &TAIL[1..]),
        false => polynomial(MIDDLE[0], &MIDDLE[1..]),
    };
    x * factor
}

/// The inverse of the error function: a first guess (S. Winitzki's, good to 3 digits), then Newton's
/// and Halley's steps.
fn erf_inverse(y: f64) -> f64 {
    if y.is_nan() || y.abs() > 1.0 {
        return f64::NAN;
    }
    if y.abs() == 1.0 {
        return f64::INFINITY.copysign(y);
    }
    let a = 0.147;
    let log = (-y * y).ln_1p();
    let b = 2.0 / (std::f64::consts::PI * a) + log / 2.0;
    let mut x = ((b * b - log / a).sqrt() - b).max(0.0).sqrt().copysign(y);
    for _ in 0..4 {
        let error = erf(x) - y;
        let slope = std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp();
        if error == 0.0 || slope == 0.0 {
            break;
        }
        let step = error / slope;
        x -= step / (1.0 + x * step);
    }
    // Of tiny numbers the guess is 0; the function is a line there.
    if y.abs() < 1e-10 {
        y / std::f64::consts::FRAC_2_SQRT_PI
    } else {
        x
    }
}

fn complex(kind: Unary) -> Option<fn(C64) -> C64> {
    Some(match kind {
        Unary::ArcCos => C64::acos,
        Unary::ArcCosh => C64::acosh,
        Unary::ArcSin => C64::asin,
        Unary::ArcSinh => C64::asinh,
        Unary::ArcTan => C64::atan,
        Unary::ArcTanh => C64::atanh,
        Unary::Conjugate => |z| z.conj(),
        Unary::Cos => C64::cos,
        Unary::Cosh => C64::cosh,
        Unary::Exp => C64::exp,
        Unary::Log => C64::ln,
        Unary::Log2 => |z| z.ln() / std::f64::consts::LN_2,
        Unary::Log10 => |z| z.ln() / std::f64::consts::LN_10,
        Unary::Log1p => |z| (z + 1.0).ln(),
        Unary::Negative => |z| -z,
        Unary::Round => |z| C64::new(z.re.round_ties_even(), z.im.round_ties_even()),
        Unary::Rsqrt => |z| 1.0 / z.sqrt(),
        Unary::Sign => |z| match z.re == 0.0 && z.im == 0.0 {
            true => z,
            false => z / z.norm(),
        },
        Unary::Sin => C64::sin,
        Unary::Sinh => C64::sinh,
        Unary::Sqrt => C64::sqrt,
        Unary::Square => |z| z * z,
        Unary::Tan => C64::tan,
        Unary::Tanh => C64::tanh,
        _ => return None,
    })
}
