//! Tiles of random bytes, which are codes and scales of some weights: each weight by the words of `hip/common/quant.h`, one
//! at a time, in f64.

use super::*;
use crate::gpu::model::pack::{PackForm, Scales};
use half::{bf16, f16};

fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// The code of a row and a column of a unit: lane 4g + t has rows g and g + 8 and, of every 32 columns, 8t … 8t + 7.
fn code(form: PackForm, unit: &[u8], row: usize, column: usize) -> usize {
    let (g, h) = (row % 8, row / 8);
    let (block, within) = (column / 64, column % 32);
    let (half, t, of) = (column % 64 / 32, within / 8, within % 8);
    let (step, i) = (2 * half + of / 4, h + of % 4 / 2 * 2);
    let pair = block * 16 + step * 4 + i;
    let plane = |bits: usize, offset: usize| {
        let word = pair / (16 / bits);
        // [vector][lane][16 bytes]
        let at = offset + word / 4 * 512 + (4 * g + t) * 16 + word % 4 * 4;
        let word = u32::from_le_bytes(unit[at..at + 4].try_into().unwrap());
        (word >> (bits * (pair % (16 / bits)) + 16 * (column % 2))) as usize & ((1 << bits) - 1)
    };
    let first = form.first();
    let offset = form.unit_blocks() * 64 * 16 * first / 8;
    match form.bits - first {
        0 => plane(first, 0),
        second => plane(first, 0) | plane(second, offset) << first,
    }
}

fn weight(form: PackForm, unit: &[u8], row: usize, column: usize) -> f64 {
    let code = code(form, unit, row, column);
    let scales = &unit[form.code_bytes()..];
    let (row, group) = (row % 8 * 2 + row / 8, column / form.group);
    let half = |at: usize| f64::from(f16::from_le_bytes([scales[at], scales[at + 1]]));
    let brain = |at: usize| f64::from(bf16::from_le_bytes([scales[at], scales[at + 1]]));
    let q = code as f64;
    let e2m1 = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0][code % 8];
    let e2m1 = if code & 8 != 0 { -e2m1 } else { e2m1 };
    let zero = if form.bits == 6 { 32.0 } else { 4.0 };
    match form.scales {
        Scales::PairF16 => half(group * 64 + row * 4) * q + half(group * 64 + row * 4 + 2),
        Scales::PairBf16 => brain(group * 64 + row * 4) * q + brain(group * 64 + row * 4 + 2),
        Scales::PairF32 => {
            let at = group * 128 + row * 8;
            let number = |at: usize| f32::from_le_bytes(scales[at..at + 4].try_into().unwrap());
            f64::from(number(at)) * q + f64::from(number(at + 4))
        }
        Scales::Point => half(group * 64 + row * 4) * (q - half(group * 64 + row * 4 + 2)),
        Scales::Zero => half(group * 32 + row * 2) * (q - f64::from(1 << (form.bits - 1))),
        Scales::SuperZero => {
            half(row * 2) * f64::from(scales[32 + group * 16 + row] as i8) * (q - zero)
        }
        Scales::SuperMin => {
            let at = 64 + group * 32 + row * 2;
            let (scale, least) = (f64::from(scales[at]), f64::from(scales[at + 1]));
            half(row * 4) * scale * q - half(row * 4 + 2) * least
        }
        Scales::Power => (f64::from(scales[group * 16 + row]) - 127.0).exp2() * e2m1,
        Scales::Float8 => {
            let byte = scales[group * 16 + row];
            let (exponent, part) = (byte >> 3 & 15, f64::from(byte & 7) / 8.0);
            let size = match exponent {
                0 => part * 2f64.powi(-6),
                _ => (1.0 + part) * 2f64.powi(i32::from(exponent) - 7),
            };
            (if byte & 0x80 != 0 { -size } else { size }) * e2m1
        }
        Scales::Table16 => {
            let table = unit[unit.len() - 16 + code] as i8;
            half(row * 2) * half(32 + group * 32 + row * 2) * f64::from(table)
        }
        Scales::Single | Scales::Table8 => unreachable!("not taken"),
    }
}

/// Random codes, and scales that are moderate numbers.
fn tile_of(form: PackForm, units: usize, state: &mut u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut table = [0u8; 16];
    table.fill_with(|| random(state) as u8);
    for _ in 0..units {
        let mut unit = vec![0u8; form.unit_bytes()];
        unit.fill_with(|| random(state) as u8);
        let start = form.code_bytes();
        let common = start + form.super_bytes();
        let end = unit.len()
            - if form.scales == Scales::Table16 {
                16
            } else {
                0
            };
        let mut number = || (random(state) % 2001) as f32 / 1000.0 - 1.0;
        match form.scales {
            Scales::PairBf16 => {
                for at in (start..end).step_by(2) {
                    unit[at..at + 2].copy_from_slice(&bf16::from_f32(number()).to_le_bytes());
                }
            }
            Scales::PairF32 => {
                for at in (start..end).step_by(4) {
                    unit[at..at + 4].copy_from_slice(&number().to_le_bytes());
                }
            }
            Scales::Power => unit[start..end].fill_with(|| (number() * 8.0 + 127.0) as u8),
            // No NaN.
            Scales::Float8 => unit[start..end].iter_mut().for_each(|byte| *byte &= 0xf7),
            _ => {
                let all = matches!(
                    form.scales,
                    Scales::PairF16 | Scales::Zero | Scales::Point | Scales::Table16
                );
                for at in (start..if all { end } else { common }).step_by(2) {
                    unit[at..at + 2].copy_from_slice(&f16::from_f32(number()).to_le_bytes());
                }
            }
        }
        if form.scales == Scales::Table16 {
            unit[end..].copy_from_slice(&table);
        }
        bytes.extend(unit);
    }
    bytes
}

fn levels() -> Vec<HostKernels> {
    let levels = [SimdLevel::Portable, SimdLevel::Avx2, SimdLevel::Avx512];
    let here = levels.into_iter().filter(|level| *level <= simd_level());
    here.map(HostKernels::of).collect()
}

/// Every form, widths of whole units and others, one row and three: each level has the same bits, near the sums in f64, and
/// those of a row do not depend on the others.
#[test]
fn tiles_times_rows_are_their_weights_times_rows() {
    use Scales::*;
    let mut state = 0x9e37_79b9_7f4a_7c15;
    let mut forms = 0;
    let all = [
        PairF16, PairBf16, PairF32, Zero, SuperZero, SuperMin, Power, Point, Float8, Single,
        Table16, Table8,
    ];
    for (bits, scales) in [2, 3, 4, 5, 6, 8]
        .into_iter()
        .flat_map(|bits| all.map(|scales| (bits, scales)))
    {
        for group in [16, 32, 64] {
            let form = PackForm {
                bits,
                scales,
                group,
            };
            let Some(host) = HostForm::new(form) else {
                continue;
            };
            forms += 1;
            for cols in [768, 64 * 5 + 32] {
                let units = form.units(cols);
                let tile = tile_of(form, units, &mut state);
                let columns = form.unit_blocks() * 64;
                let mut row = || {
                    let number = |_| (random(&mut state) % 4001) as f32 / 1000.0 - 2.0;
                    (0..cols).map(number).collect::<Vec<f32>>()
                };
                let rows = [row(), row(), row()];
                let mut expected = [[0.0; TILE_ROWS]; 3];
                let mut sizes = [[0.0f64; TILE_ROWS]; 3];
                for column in 0..cols {
                    let unit = &tile[column / columns * form.unit_bytes()..][..form.unit_bytes()];
                    for row in 0..TILE_ROWS {
                        let weight = weight(form, unit, row, column % columns);
                        for (i, x) in rows.iter().enumerate() {
                            let product = weight * f64::from(x[column]);
                            expected[i][row] += product;
                            sizes[i][row] += product * product;
                        }
                    }
                }
                let mut first: Option<[Rows; 3]> = None;
                for kernels in levels() {
                    let mut inputs: [Input; 3] = Default::default();
                    for (x, input) in rows.iter().zip(&mut inputs) {
                        kernels.quantize(&host, x, input);
                    }
                    let mut scratch = Scratch::default();
                    let mut out = [[0.0f32; TILE_ROWS]; 3];
                    let all: Vec<&Input> = inputs.iter().collect();
                    kernels.tile(&host, &tile, &all, &mut scratch, &mut out);
                    for (i, input) in all.iter().enumerate() {
                        let mut alone = [[0.0f32; TILE_ROWS]];
                        kernels.tile(&host, &tile, &[input], &mut scratch, &mut alone);
                        assert_eq!(alone[0], out[i], "{form:?}, {cols} columns");
                    }
                    for i in 0..3 {
                        for row in 0..TILE_ROWS {
                            let far = (f64::from(out[i][row]) - expected[i][row]).abs();
                            // Codes with biases cancel.
                            let near = 2e-4 * sizes[i][row].sqrt() * f64::from(1 << bits.min(6));
                            assert!(
                                far <= near,
                                "{form:?}, {cols} columns, row {row}: {} for {}",
                                out[i][row],
                                expected[i][row]
                            );
                        }
                    }
                    assert_eq!(*first.get_or_insert(out), out, "{form:?}: levels differ");
                }
            }
        }
    }
    assert!(forms > 40, "{forms}");
}

/// What is not finite shows in all results.
#[test]
fn a_nan_shows() {
    let form = PackForm {
        bits: 4,
        scales: Scales::PairF16,
        group: 64,
    };
    let host = HostForm::new(form).unwrap();
    let tile = tile_of(form, 8, &mut 7);
    for bad in [f32::NAN, f32::INFINITY] {
        let mut x = [1.0; 512];
        x[300] = bad;
        for kernels in levels() {
            let (mut input, mut out) = (Input::default(), [[0.0; TILE_ROWS]]);
            kernels.quantize(&host, &x, &mut input);
            kernels.tile(&host, &tile, &[&input], &mut Scratch::default(), &mut out);
            assert!(out[0].iter().all(|y| y.is_nan()), "{bad}: {out:?}");
        }
    }
}
