//! The Walsh–Hadamard transform of rows of m·2^k numbers, m = 1, 12, 20 or 28.

use super::numbers::{put, round, singles};
use super::{Out, View, input, missing, output};
use crate::Result;
use crate::ir::Op;

/// Rows of Hadamard matrices (Sloane's had.12, had.20.will and had.28.will), a bit for each +1, the first
/// column highest.
const H12: [u32; 12] = [
    0xbff, 0x2aa, 0xec3, 0x896, 0xfb0, 0xa25, 0xcec, 0x989, 0xc3b, 0x962, 0xf0e, 0xa58,
];
const H20: [u32; 20] = [
    0x84336, 0x4238b, 0x211d5, 0x108fa, 0x0866d, 0x7c139, 0xba29c, 0xd914e, 0xe88a7, 0xf0653,
    0x35a0f, 0x1ad17, 0x8d49b, 0xc685d, 0x6343e, 0x49a10, 0xa0d08, 0x54484, 0x2e042, 0x93021,
];
const H28: [u32; 28] = [
    0x818694c, 0x41c14a6, 0x20e2a13, 0x1071549, 0x0838ae4, 0x041e532, 0x030d299, 0x3d019d2,
    0x1e82ca9, 0x8e43654, 0xc621b2a, 0xe210d95, 0xf00a6ca, 0x7807325, 0x5b3201e, 0xac9900f,
    0x564c847, 0xab24463, 0xd590271, 0x6ac8178, 0xb4640bc, 0x66b70c0, 0xb35b820, 0xd8adc10,
    0x6d54e08, 0x37a8704, 0x9ad4382, 0xcd6a181,
];

/// The rows of the matrix of odd size for rows of `size` numbers, with none for 1; `None` if there is no
/// transform of that size.
pub fn matrix(size: usize) -> Option<&'static [u32]> {
    let power = |factor: usize| size.is_multiple_of(factor) && (size / factor).is_power_of_two();
    match size {
        n if n.is_power_of_two() => Some(&[]),
        _ if power(12) => Some(&H12),
        _ if power(20) => Some(&H20),
        _ if power(28) => Some(&H28),
        _ => None,
    }
}

/// Transforms the last axis; every step rounds to the dtype, as MLX does.
pub fn run(op: &Op, inputs: &[View<'_>], outputs: &mut [Out<'_>]) -> Result<()> {
    let Op::Hadamard(scale) = op else {
        return Err(missing(op));
    };
    let x = input(op, inputs, 0)?;
    let out = output(op, outputs)?;
    let size = x.sizes().last().copied().unwrap_or(1).max(1);
    let Some(matrix) = matrix(size) else {
        return Err(missing(op));
    };
    let (dtype, scale) = (x.dtype(), scale.get() as f32);
    let round = |x: f32| round(dtype, x);
    let mut values = singles(x);
    let odd = matrix.len().max(1);
    let even = size / odd;
    for row in values.chunks_exact_mut(even) {
        butterflies(row, round);
        if odd == 1 {
            row.iter_mut().for_each(|x| *x = round(*x * scale));
        }
    }
    if odd > 1 {
        for row in values.chunks_exact_mut(size) {
            let old = row.to_vec();
            for (at, to) in row.iter_mut().enumerate() {
                let (line, column) = (matrix[at / even], at % even);
                let term = |k: usize| {
                    let x = old[k * even + column];
                    if line >> (odd - 1 - k) & 1 == 1 {
                        x
                    } else {
                        -x
                    }
                };
                *to = round((0..odd).map(term).sum::<f32>() * scale);
            }
        }
    }
    put(out, 0, values.into_iter());
    Ok(())
}

fn butterflies(row: &mut [f32], round: impl Fn(f32) -> f32) {
    let mut half = 1;
    while half < row.len() {
        for pair in row.chunks_exact_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            for (x, y) in low.iter_mut().zip(high) {
                (*x, *y) = (round(*x + *y), round(*x - *y));
            }
        }
        half *= 2;
    }
}
