//! Quantizing and dequantizing, bit for bit as MLX's CPU does it: every step rounds to the dtype that
//! MLX computes it in.

use super::codes::{
    E2M1, from_e4m3, from_e8m0, nearest_e2m1, pack, to_e2m1, to_e4m3, to_e8m0, unpack,
};
use super::numbers::{put, round, singles};
use super::{Out, View, input, missing, output};
use crate::ir::{Dtype, Fp8, Op, QuantMode, Quantization};
use crate::{Error, Result};

/// Quantize, dequantize and fp8.
pub fn run(op: &Op, inputs: &[View<'_>], outputs: &mut [Out<'_>]) -> Result<()> {
    match op {
        Op::Quantize(q) => match q.mode {
            QuantMode::Affine => affine(op, inputs, outputs, q),
            _ => float(op, inputs, outputs, q),
        },
        Op::Dequantize(q) => dequantize(op, inputs, output(op, outputs)?, q),
        Op::ConvertFp8(way) => {
            let x = input(op, inputs, 0)?;
            let out = output(op, outputs)?;
            match way {
                Fp8::To => {
                    let codes = singles(x).into_iter().map(to_e4m3);
                    for (to, code) in out.values::<u8>().iter_mut().zip(codes) {
                        *to = code;
                    }
                }
                Fp8::From => put(out, 0, x.values::<u8>().iter().map(|&code| from_e4m3(code))),
            }
            Ok(())
        }
        op => Err(missing(op)),
    }
}

/// C's `std::max` and `std::min`: the first one stays unless the second is larger or smaller.
fn larger(a: f32, b: f32) -> f32 {
    if a < b { b } else { a }
}

fn smaller(a: f32, b: f32) -> f32 {
    if b < a { b } else { a }
}

fn affine(op: &Op, inputs: &[View<'_>], outputs: &mut [Out<'_>], q: &Quantization) -> Result<()> {
    let x = singles(input(op, inputs, 0)?);
    let [codes, scales, biases] = outputs else {
        return Err(Error::Internal("quantize without three results".into()));
    };
    let codes = codes.values::<u32>();
    let most = ((1u32 << q.bits) - 1) as f32;
    let words = q.group * q.bits / 32;
    for (place, x) in x.chunks_exact(q.group).enumerate() {
        let max = x.iter().fold(f32::NEG_INFINITY, |max, &x| larger(max, x));
        let min = x.iter().fold(f32::INFINITY, |min, &x| smaller(min, x));
        let below = min.abs() > max.abs();
        let mut scale = larger((max - min) / most, 1e-7);
        // The end that is farther from 0 is met exactly.
        let edge = match below {
            true => min,
            false => {
                scale = -scale;
                max
            }
        };
        let steps = (edge / scale).round_ties_even();
        let mut bias = 0.0;
        if steps != 0.0 {
            scale = edge / steps;
            bias = edge;
        }
        let code = |&x: &f32| {
            let step = ((x - bias) / scale).round_ties_even();
            smaller(larger(step, 0.0), most) as u8
        };
        pack(
            x.iter().map(code),
            q.bits,
            &mut codes[place * words..][..words],
        );
        put(scales, place, [scale].into_iter());
        put(biases, place, [bias].into_iter());
    }
    Ok(())
}

/// The largest number of a code.
fn top(q: &Quantization) -> f32 {
    if q.bits == 4 { 6.0 } else { 448.0 }
}

/// The number of each group's scale times 448·6 over the global scale.
fn encoding(op: &Op, inputs: &[View<'_>], place: usize) -> Result<f32> {
    Ok(match inputs.len() > place {
        true => 2688.0 / single(op, inputs, place)?,
        false => 1.0,
    })
}

fn single(op: &Op, inputs: &[View<'_>], place: usize) -> Result<f32> {
    let number = singles(input(op, inputs, place)?).first().copied();
    number.ok_or_else(|| Error::Internal(format!("{} without a global scale", op.name())))
}

fn float(op: &Op, inputs: &[View<'_>], outputs: &mut [Out<'_>], q: &Quantization) -> Result<()> {
    let x = input(op, inputs, 0)?;
    let dtype = x.dtype();
    let global = encoding(op, inputs, 1)?;
    let [codes, scales, ..] = outputs else {
        return Err(Error::Internal("quantize without two results".into()));
    };
    let (codes, scales) = (codes.values::<u32>(), scales.values::<u8>());
    let words = q.group * q.bits / 32;
    for (place, x) in singles(x).chunks_exact(q.group).enumerate() {
        let amax = x.iter().fold(0.0, |max, &x| match x.is_nan() {
            true => f32::NAN,
            false => larger(max, x.abs()),
        });
        let scale = round(dtype, amax / top(q));
        // Within nvfp4 MLX computes with the global scale in f32, elsewhere in x's own dtype.
        let mut wide = dtype;
        let divide: Box<dyn Fn(f32) -> f32> = match q.mode {
            QuantMode::Nvfp4 => {
                wide = Dtype::F32;
                scales[place] = to_e4m3(scale * global);
                let scale = round(dtype, from_e4m3(scales[place]));
                Box::new(move |x| round(dtype, x / scale) * global)
            }
            _ => {
                let exponent = match scale == 0.0 {
                    true => 0.0,
                    // Upwards, and the logarithm is not rounded to the dtype, as MLX 0.32.4 does.
                    false => scale.log2().ceil(),
                };
                scales[place] = round(dtype, exponent + 127.0) as i32 as u8;
                let scale = round(dtype, 2f32.powf(exponent));
                Box::new(move |x| round(dtype, x / scale))
            }
        };
        let code = |&x: &f32| match q.bits {
            4 => nearest_e2m1(divide(x), |x| round(wide, x)),
            _ => to_e4m3(divide(x)),
        };
        pack(
            x.iter().map(code),
            q.bits,
            &mut codes[place * words..][..words],
        );
    }
    Ok(())
}

fn dequantize(op: &Op, inputs: &[View<'_>], out: &mut Out<'_>, q: &Quantization) -> Result<()> {
    let words = input(op, inputs, 0)?.values::<u32>();
    let scales = input(op, inputs, 1)?;
    let per_group = q.group * q.bits / 32;
    let dtype = out.dtype();
    let groups = words.chunks_exact(per_group);
    if q.mode == QuantMode::Affine {
        let biases = input(op, inputs, 2)?;
        let product = scales.dtype();
        let sum = product.promote(biases.dtype());
        let (scales, biases) = (singles(scales), singles(biases));
        for (place, words) in groups.enumerate() {
            let number = |i| {
                let code = f32::from(unpack(words, q.bits, i));
                round(sum, round(product, code * scales[place]) + biases[place])
            };
            put(out, place * q.group, (0..q.group).map(number));
        }
        return Ok(());
    }
    let global = match inputs.len() > 2 {
        true => Some(single(op, inputs, 2)? / 2688.0),
        false => None,
    };
    let scales = scales.values::<u8>();
    for (place, words) in groups.enumerate() {
        let scale = match (q.mode, global) {
            (QuantMode::Nvfp4, Some(global)) => round(dtype, from_e4m3(scales[place])) * global,
            (QuantMode::Nvfp4, None) => round(dtype, from_e4m3(scales[place])),
            _ => round(dtype, from_e8m0(scales[place])),
        };
        let number = |i| decode(q, unpack(words, q.bits, i)) * scale;
        put(out, place * q.group, (0..q.group).map(number));
    }
    Ok(())
}

/// The number of a code of the floating point modes.
fn decode(q: &Quantization, code: u8) -> f32 {
    match q.bits {
        4 => E2M1[usize::from(code & 15)],
        _ => from_e4m3(code),
    }
}

/// The matrices that quantized products read: their numbers in f32, not rounded to any dtype.
pub struct Quantized<'v, 'a> {
    q: &'v Quantization,
    words: &'v View<'a>,
    scales: &'v View<'a>,
    biases: Option<&'v View<'a>>,
    /// Multiplies every scale.
    pub factor: f32,
}

impl<'v, 'a> Quantized<'v, 'a> {
    pub fn new(
        q: &'v Quantization,
        words: &'v View<'a>,
        scales: &'v View<'a>,
        biases: Option<&'v View<'a>>,
    ) -> Self {
        Quantized {
            q,
            words,
            scales,
            biases,
            factor: 1.0,
        }
    }

    /// Matrix `batch`, row after row.
    pub fn at(&self, batch: usize) -> Vec<f64> {
        let matrix = |view| super::numbers::matrix(view, batch);
        let words = matrix(self.words);
        let words = words.values::<u32>();
        let scales = matrix(self.scales);
        let scales: Vec<f32> = match self.q.mode {
            QuantMode::Affine => singles(&scales),
            QuantMode::Nvfp4 => scales
                .values::<u8>()
                .iter()
                .map(|&s| from_e4m3(s))
                .collect(),
            _ => scales
                .values::<u8>()
                .iter()
                .map(|&s| from_e8m0(s))
                .collect(),
        };
        let biases = self.biases.map(|biases| singles(&matrix(biases)));
        let mut numbers = Vec::with_capacity(scales.len() * self.q.group);
        for (place, words) in words
            .chunks_exact(self.q.group * self.q.bits / 32)
            .enumerate()
        {
            let scale = f64::from(scales[place] * self.factor);
            let bias = biases
                .as_ref()
                .map_or(0.0, |biases| f64::from(biases[place]));
            numbers.extend((0..self.q.group).map(|i| {
                let code = unpack(words, self.q.bits, i);
                match self.q.mode {
                    QuantMode::Affine => f64::from(code) * scale + bias,
                    _ => f64::from(decode(self.q, code)) * scale,
                }
            }));
        }
        numbers
    }
}

/// Numbers as they come back from a floating point mode, rounded to `dtype` (products of two quantized
/// matrices).
pub fn there_and_back(q: &Quantization, x: &mut [f32], global: Option<f32>, dtype: Dtype) {
    let encoding = global.map_or(1.0, |global| 2688.0 / global);
    for x in x.chunks_exact_mut(q.group) {
        let amax = x.iter().fold(0.0, |max, &x| larger(max, x.abs()));
        let scale = amax / top(q);
        let scale = match q.mode {
            QuantMode::Nvfp4 => from_e4m3(to_e4m3(scale * encoding)) / encoding,
            _ => from_e8m0(to_e8m0(scale)),
        };
        for x in x {
            let size = if scale == 0.0 { 0.0 } else { *x / scale };
            let back = match q.bits {
                4 => E2M1[usize::from(to_e2m1(size))],
                _ => from_e4m3(to_e4m3(size)),
            };
            *x = round(dtype, scale * back);
        }
    }
}
