//! Random graphs of arrays.
#![allow(dead_code)] // each test program uses a part

use crate::prng::Prng;
use mlxrocm::Result;
use mlxrocm::array::ops::PadMode;
use mlxrocm::array::{Array, Home, eval};
use mlxrocm::cpu::Elements;
use mlxrocm::ir::{ArgReduce, Binary, Dtype, Reduce, Scan, Shape, Unary};

pub const WIDTH: usize = 6;
/// Kinds of operations that graphs are made of.
pub const KINDS: usize = 36;
const SQUARE: [usize; 2] = [WIDTH, WIDTH];

pub fn leaf(random: &mut Prng, sizes: &[usize], home: &Home) -> Array {
    let count = sizes.iter().product();
    let numbers: Vec<f32> = (0..count)
        .map(|_| random.uniform(-2.0, 2.0) as f32)
        .collect();
    Array::from_elements(Elements::from_slice(&numbers, Dtype::F32, sizes).unwrap()).at(home)
}

/// A function that gives numbers for most numbers.
fn function(random: &mut Prng) -> Unary {
    const ALL: [Unary; 16] = [
        Unary::Tanh,
        Unary::Abs,
        Unary::ArcTan,
        Unary::Ceil,
        Unary::Cos,
        Unary::Erf,
        Unary::Exp,
        Unary::Expm1,
        Unary::Floor,
        Unary::Negative,
        Unary::Round,
        Unary::Sigmoid,
        Unary::Sign,
        Unary::Sin,
        Unary::Square,
        Unary::ArcSinh,
    ];
    ALL[random.below(ALL.len() as u64) as usize]
}

fn two(random: &mut Prng) -> Binary {
    const ALL: [Binary; 9] = [
        Binary::Add,
        Binary::Multiply,
        Binary::Maximum,
        Binary::Minimum,
        Binary::Subtract,
        Binary::Divide,
        Binary::LogAddExp,
        Binary::ArcTan2,
        Binary::Remainder,
    ];
    ALL[random.below(ALL.len() as u64) as usize]
}

/// An operation of a kind, on matrices of `[WIDTH, WIDTH]`, that gives such a matrix.
fn operation(kind: usize, [x, y]: [&Array; 2], shape: &mut Prng, data: &mut Prng) -> Result<Array> {
    let width = WIDTH as i64;
    let axis = shape.below(2) as i64;
    let truth = |x: Result<Array>| x.map(|x| x.astype(Dtype::F32));
    match kind {
        0..=2 => x.unary(function(shape)),
        3 => x.unary(Unary::Abs).and_then(|x| x.unary(Unary::Sqrt)),
        4..=7 => x.binary(two(shape), y),
        8 => x.transpose(&[1, 0]),
        9 => x.matmul(y),
        10 => x.softmax(Some(&[axis]), shape.below(2) == 0),
        11 => y.binary(
            Binary::Subtract,
            &x.reduce(Reduce::Sum, Some(&[axis]), true)?,
        ),
        12 => {
            let flat = x.reshape(Shape::new([WIDTH * WIDTH]))?;
            flat.flip(None)?.reshape(Shape::new(SQUARE))
        }
        13 => Array::concatenate(&[x.clone(), y.clone()], 0)?.slice(
            &[1, 0],
            &[2 * width, width],
            &[2, 1],
        ),
        14 => x.binary(Binary::Less, y)?.select(y, x),
        15 => Ok(x.astype(Dtype::F16).astype(Dtype::F32)),
        16 => Ok(x.astype(Dtype::Bf16).astype(Dtype::F32)),
        // A number of the host in every graph anew.
        17 => x.times(&Array::number(data.uniform(-1.0, 1.0), Dtype::F32)?),
        18 => x.sort(Some(axis)),
        19 => x.take_along_axis(&y.argsort(Some(axis))?, Some(axis)),
        20 => x.scan(Scan::Sum, Some(axis), shape.below(2) == 0, true),
        21 => x.binary(Binary::Add, &y.mean(Some(&[axis]), true)?),
        22 => truth(x.binary(Binary::GreaterEqual, y)),
        23 => {
            let best = x.arg_reduce(ArgReduce::Max, Some(axis), false)?;
            y.take(&best, axis)
        }
        24 => x.roll(&[1 + shape.below(4) as i64], Some(&[axis])),
        25 => {
            let padded = x.pad(
                &[1, 0],
                &[0, 2],
                PadMode::Edge,
                &Array::number(0.0, Dtype::F32)?,
            )?;
            padded.slice(&[1, 2], &[width + 1, width + 2], &[1, 1])
        }
        26 => x.triangle(shape.below(3) as i64 - 1, shape.below(2) == 0),
        27 => x.rms_norm(None, 1e-5),
        28 => x.clip(Some(&Array::number(-0.5, Dtype::F32)?), Some(y)),
        29 => {
            let parts = x.split_parts(2, axis)?;
            Array::concatenate(&[parts[1].clone(), parts[0].clone()], axis)
        }
        30 => Array::stack(&[x.clone(), y.clone()], 0)?.reduce(Reduce::Max, Some(&[0]), false),
        31 => {
            // Whole numbers: bits of them too.
            let [a, b] = [x, y].map(|x| x.clip(Some(&Array::number(-99.0, Dtype::F32)?), None));
            let high = Array::number(99.0, Dtype::F32)?;
            let [a, b] = [a?, b?].map(|x| {
                x.clip(None, Some(&high))
                    .and_then(|x| x.nan_to_num(0.0, 0.0, 0.0))
            });
            let [a, b] = [a?, b?].map(|x| x.astype(Dtype::I32));
            truth(a.binary(Binary::BitwiseXor, &b))
        }
        32 => x.addmm(y, x, 0.5, 0.25),
        33 => {
            let row = x.slice(&[axis, 0], &[axis + 1, width], &[1, 1])?;
            row.broadcast_to(Shape::new(SQUARE))?
                .binary(Binary::Multiply, y)
        }
        34 => x.expand_dims(&[1])?.swapaxes(0, 2)?.squeeze(&[1]),
        _ => x.var(Some(&[axis]), true, 0)?.binary(Binary::Minimum, y),
    }
}

/// A random graph of arrays of `[WIDTH, WIDTH]`; `shape` decides its operations, `data` its numbers. `seen` counts
/// operations by their kind.
pub fn graph(shape: u64, data: u64, home: &Home, seen: &mut [u64; KINDS]) -> Result<Vec<Array>> {
    let (mut shape, mut data) = (Prng::new(shape), Prng::new(data));
    let mut all: Vec<Array> = (0..3).map(|_| leaf(&mut data, &SQUARE, home)).collect();
    eval(&all)?;
    for _ in 0..6 + shape.below(20) {
        let mut pick = || all[shape.below(all.len() as u64) as usize].clone();
        let (x, y) = (pick(), pick());
        let kind = shape.below(KINDS as u64) as usize;
        seen[kind] += 1;
        all.push(operation(kind, [&x, &y], &mut shape, &mut data)?);
    }
    let last = all.split_off(all.len() - 3);
    drop(all);
    Ok(last)
}

/// The bits of all numbers.
pub fn bits(arrays: &[Array]) -> Result<Vec<Vec<u32>>> {
    eval(arrays)?;
    let read = |array: &Array| Ok(array.read()?.to_vec::<f32>());
    let read: Result<Vec<Vec<f32>>> = arrays.iter().map(read).collect();
    let bits = |numbers: Vec<f32>| numbers.into_iter().map(f32::to_bits).collect();
    Ok(read?.into_iter().map(bits).collect())
}
