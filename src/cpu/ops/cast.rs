//! Elements as another dtype, by C's rules as MLX has them: fractions are cut off, integers wrap, NaN and
//! what does not fit an integer give what the machine gives (here: saturated, NaN 0), complex numbers lose
//! their imaginary part, and everything but 0 is true.

use super::{Out, View, with_type};
use crate::Result;
use bytemuck::Pod;
use half::{bf16, f16};
use num_complex::Complex;

/// A number of any dtype, without loss.
#[derive(Clone, Copy)]
pub enum Wide {
    Integer(i128),
    Real(f64),
    Complex(Complex<f32>),
}

/// An element.
pub trait Element: Pod {
    fn widen(self) -> Wide;
    fn narrow(wide: Wide) -> Self;
}

macro_rules! integers {
    ($($t:ty),*) => {$(
        impl Element for $t {
            fn widen(self) -> Wide {
                Wide::Integer(self.into())
            }
            fn narrow(wide: Wide) -> $t {
                match wide {
                    Wide::Integer(i) => i as $t,
                    Wide::Real(x) => x as $t,
                    Wide::Complex(z) => z.re as $t,
                }
            }
        }
    )*};
}
integers!(u8, u16, u32, u64, i8, i16, i32, i64);

macro_rules! reals {
    ($($t:ty: $from:expr),*) => {$(
        impl Element for $t {
            fn widen(self) -> Wide {
                Wide::Real(self.into())
            }
            fn narrow(wide: Wide) -> $t {
                match wide {
                    Wide::Integer(i) => $from(i as f64),
                    Wide::Real(x) => $from(x),
                    Wide::Complex(z) => $from(z.re.into()),
                }
            }
        }
    )*};
}
// By way of f32, as MLX makes 16-bit numbers.
reals!(f16: |x: f64| f16::from_f32(x as f32), bf16: |x: f64| bf16::from_f32(x as f32),
       f32: |x: f64| x as f32, f64: |x: f64| x);

impl Element for Complex<f32> {
    fn widen(self) -> Wide {
        Wide::Complex(self)
    }
    fn narrow(wide: Wide) -> Complex<f32> {
        match wide {
            Wide::Integer(i) => Complex::new(i as f32, 0.0),
            Wide::Real(x) => Complex::new(x as f32, 0.0),
            Wide::Complex(z) => z,
        }
    }
}

/// Casts every element.
pub fn run(x: &View<'_>, out: &mut Out<'_>) -> Result<()> {
    let to_bool = out.dtype() == crate::ir::Dtype::Bool;
    with_type!(x.dtype(), From => {
        let x = x.values::<From>();
        with_type!(out.dtype(), To => {
            for (to, &x) in out.values::<To>().iter_mut().zip(x.iter()) {
                let wide = x.widen();
                *to = To::narrow(if to_bool { truth(wide) } else { wide });
            }
        });
    });
    Ok(())
}

/// 1 unless it is 0.
fn truth(wide: Wide) -> Wide {
    let holds = match wide {
        Wide::Integer(i) => i != 0,
        Wide::Real(x) => x != 0.0,
        Wide::Complex(z) => z.re != 0.0 || z.im != 0.0,
    };
    Wide::Integer(holds.into())
}
