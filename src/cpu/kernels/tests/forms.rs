//! Forms of quantized rows, random ones of each, and the numbers that they stand for.

use super::*;
use crate::formats::{Grid, RowGroups, ScaleForm, Table, Values};

pub(super) fn forms() -> Vec<GroupForm> {
    let mut forms = Vec::new();
    for bits in [2, 3, 4, 5, 6, 8] {
        for group in [32, 64, 128] {
            for ty in [ScalarType::F16, ScalarType::BF16, ScalarType::F32] {
                forms.push(of_codes(bits, group, ScaleForm::Stored(ty)));
            }
        }
    }
    let f16 = ScalarType::F16;
    let zero = |ty, zero| ScaleForm::Zero(ty, zero);
    for (bits, middle) in [(4, 8), (5, 16), (8, 128)] {
        forms.push(of_codes(bits, 32, zero(f16, middle)));
    }
    for (bits, group) in [(2, 16), (4, 32), (5, 32)] {
        forms.push(of_codes(bits, group, ScaleForm::SuperMin));
    }
    for (bits, middle) in [(3, 4), (6, 32)] {
        forms.push(of_codes(bits, 16, ScaleForm::SuperZero(middle)));
    }
    // Ternary, zero points for each group, integers around their middle.
    forms.push(of_codes(2, 256, zero(f16, 1)));
    for group in [32, 64, 128] {
        forms.push(of_codes(4, group, ScaleForm::Points(f16)));
        forms.push(of_codes(4, group, zero(f16, 8)));
        forms.push(of_codes(4, group, zero(ScalarType::BF16, 8)));
        forms.push(of_codes(8, group, zero(ScalarType::BF16, 128)));
    }
    let of = |values, bits, group, scale| GroupForm {
        bits,
        group,
        values,
        scale,
    };
    let (e2m1, iq4) = (Values::Table(Table::E2M1), Values::Table(Table::Iq4));
    forms.extend([
        of(e2m1, 4, 32, ScaleForm::Power),
        of(e2m1, 4, 16, ScaleForm::Float8),
        of(iq4, 4, 32, zero(f16, 0)),
        of(iq4, 4, 32, ScaleForm::SuperZero(0)),
        of(Values::E4M3, 8, 32, ScaleForm::Power),
        of(Values::E4M3, 8, 128, zero(ScalarType::F32, 0)),
        of(Values::E4M3, 8, 64, zero(ScalarType::BF16, 0)),
    ]);
    for (grid, group) in [
        (Grid::Iq1, 16),
        (Grid::Iq1, 32),
        (Grid::Iq2Xxs, 32),
        (Grid::Iq2Xs, 16),
        (Grid::Iq2S, 16),
        (Grid::Iq3Xxs, 32),
        (Grid::Iq3S, 32),
    ] {
        forms.push(of(Values::Grid(grid), 4, group, ScaleForm::SuperZero(0)));
    }
    forms
}

pub(super) fn of_codes(bits: u8, group: usize, scale: ScaleForm) -> GroupForm {
    GroupForm {
        bits,
        group,
        values: Values::Code,
        scale,
    }
}

/// Codes that a grid's indices and signs stand for.
pub(super) fn set_codes(grid: Grid, row: &mut RowGroups) {
    let columns = grid.columns();
    for (k, code) in row.codes.iter_mut().enumerate() {
        let word = grid.words()[usize::from(row.indices[k / columns])];
        let at = k % columns;
        let magnitude = word >> (4 * (at / 2) + 16 * (at % 2)) & 15;
        *code = magnitude as u8 | (row.signs[k / 8] >> (k % 8) & 1) << 3;
    }
}

/// Scales of groups in units of a scale of 256 columns.
pub(super) fn is_super(form: GroupForm) -> bool {
    matches!(form.scale, ScaleForm::SuperZero(_) | ScaleForm::SuperMin)
}

pub(super) fn random_row(form: GroupForm, cols: usize, random: &mut Random) -> RowGroups {
    let groups = cols / form.group;
    let half = |v: f32| half::bf16::from_f32(half::f16::from_f32(v).to_f32()).to_f32();
    let is_super = is_super(form);
    let scales = if is_super { cols / 256 } else { groups };
    let has_bias = matches!(form.scale, ScaleForm::Stored(_) | ScaleForm::SuperMin);
    let mask = ((1u16 << form.bits) - 1) as u8;
    let code = |random: &mut Random| match random.next() as u8 & mask {
        // No number.
        code if form.values == Values::E4M3 && code & 0x7f == 0x7f => 0x80,
        code => code,
    };
    let mut row = RowGroups {
        codes: (0..cols).map(|_| code(random)).collect(),
        scales: (0..scales).map(|_| half(random.unit() * 0.1)).collect(),
        biases: (0..if has_bias { scales } else { 0 })
            .map(|_| half(random.unit()))
            .collect(),
        sub_scales: (0..if is_super { groups } else { 0 })
            .map(|_| match form.scale {
                ScaleForm::SuperZero(_) => random.next() as i8,
                _ => (random.next() & 63) as i8,
            })
            .collect(),
        sub_mins: (0..if form.scale == ScaleForm::SuperMin {
            groups
        } else {
            0
        })
            .map(|_| (random.next() & 63) as u8)
            .collect(),
        ..RowGroups::default()
    };
    for g in 0..groups {
        match form.scale {
            ScaleForm::Points(_) => row.points.push(random.next() as u8 & 15),
            ScaleForm::Power => {
                let exponent = 100 + random.next() as u8 % 50;
                row.points.push(exponent);
                row.scales[g] = 2f32.powi(i32::from(exponent) - 127);
            }
            ScaleForm::Float8 => {
                let byte = random.next() as u8 & 0xf7;
                row.points.push(byte);
                row.scales[g] = Values::E4M3.value(byte);
            }
            _ => {}
        }
    }
    if let Values::Grid(grid) = form.values {
        let index = |random: &mut Random| random.next() as u16 & ((1 << grid.index_bits()) - 1);
        row.indices = (0..cols / grid.columns()).map(|_| index(random)).collect();
        let sign = |random: &mut Random| match random.next() as u8 {
            bits if grid.one_sign() => [0, 0xff][usize::from(bits & 1)],
            bits => bits,
        };
        row.signs = (0..cols / 8).map(|_| sign(random)).collect();
        set_codes(grid, &mut row);
    }
    row
}

/// The weights of a row by the definition of the group form, f64.
pub(super) fn weights(form: GroupForm, row: &RowGroups) -> Vec<f64> {
    let value = |k: usize| {
        let (g, s) = (k / form.group, k / 256);
        let q = f64::from(form.values.value(row.codes[k]));
        match form.scale {
            ScaleForm::Stored(_) => f64::from(row.scales[g]) * q + f64::from(row.biases[g]),
            ScaleForm::Zero(_, zero) => f64::from(row.scales[g]) * (q - f64::from(zero)),
            ScaleForm::Points(_) => f64::from(row.scales[g]) * (q - f64::from(row.points[g])),
            ScaleForm::Power | ScaleForm::Float8 => f64::from(row.scales[g]) * q,
            ScaleForm::SuperZero(zero) => {
                f64::from(row.scales[s]) * f64::from(row.sub_scales[g]) * (q - f64::from(zero))
            }
            ScaleForm::SuperMin => {
                f64::from(row.scales[s]) * f64::from(row.sub_scales[g] as u8) * q
                    - f64::from(row.biases[s]) * f64::from(row.sub_mins[g])
            }
        }
    };
    (0..row.codes.len()).map(value).collect()
}
