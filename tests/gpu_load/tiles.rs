//! Tiles of quantized weights by the words of `hip/common/quant.h`, out of what the formats say is in a row: what the
//! kernels that load weights have to write.

use half::{bf16, f16};
use mlxrocm::Result;
use mlxrocm::formats::{RowGroups, ScaleForm, Values, Weight};
use mlxrocm::gpu::model::{BLOCK, PackForm, Scales, TILE_ROWS};

/// Columns that share the `d` of a K-quant.
const SUPER: usize = 256;

/// Packs one tile: `row(i)` is the matrix and row that row `i` of the tile holds, if any. `out` is
/// zeroed and has [`PackForm::tile_bytes`]. Gives a bound of the weights' absolute values.
pub fn pack_tile<'a>(
    form: PackForm,
    row: impl Fn(usize) -> Option<(&'a Weight, usize)>,
    groups: &mut RowGroups,
    out: &mut [u8],
) -> Result<f32> {
    let mut peak = 0.0f32;
    let form_of_file = row(0).and_then(|(weight, _)| weight.format.group_form());
    let table = form_of_file.and_then(|form| form.values.table());
    let numbers = table.map(|table| table.integers());
    let numbers = match form.scales {
        Scales::Table16 => numbers,
        Scales::Table8 => numbers
            .map(|n| {
                [
                    [n[0], n[1], n[2], n[3]],
                    [n[8], n[9], n[10], n[11]],
                    [0; 4],
                    [0; 4],
                ]
            })
            .map(|all| all.concat().try_into().unwrap()),
        _ => None,
    };
    if let Some(numbers) = numbers {
        for unit in out.chunks_exact_mut(form.unit_bytes()) {
            let at = form.unit_bytes() - 16;
            unit[at..].copy_from_slice(&numbers.map(|v: i8| v as u8));
        }
    }
    for place in 0..TILE_ROWS {
        let Some((weight, row)) = row(place) else {
            continue;
        };
        weight.read_groups(row, groups)?;
        put_row(form, weight, groups, place, out);
        peak = peak.max(row_peak(weight, groups));
    }
    Ok(peak)
}

/// A bound of the absolute values of a row's weights.
fn row_peak(weight: &Weight, row: &RowGroups) -> f32 {
    let Some(form) = weight.format.group_form() else {
        return 0.0;
    };
    let most_code = match form.values {
        Values::Code => ((1u32 << form.bits) - 1) as f32,
        Values::E4M3 => 448.0,
        values => (0..16).fold(0.0, |most: f32, code| most.max(values.value(code).abs())),
    };
    let groups = (0..weight.cols.div_ceil(form.group)).filter_map(|g| row.scale_bias(form, g));
    groups.fold(0.0, |peak, (scale, bias)| {
        peak.max((scale * most_code + bias).abs()).max(bias.abs())
    })
}

fn put_row(form: PackForm, weight: &Weight, row: &RowGroups, place: usize, out: &mut [u8]) {
    let (g, high) = (place % 8, place / 8);
    let unit_cols = form.unit_blocks() * BLOCK;
    let (first, second) = (form.first(), form.bits - form.first());
    for (unit, (codes, out)) in row
        .codes
        .chunks(unit_cols)
        .zip(out.chunks_exact_mut(form.unit_bytes()))
        .enumerate()
    {
        let (planes, scales) = out.split_at_mut(form.code_bytes());
        let (low, upper) = planes.split_at_mut(form.unit_blocks() * first * 128);
        for (pair_at, pair) in codes.chunks(2).enumerate() {
            let column = pair_at * 2;
            let code = |i: usize| match (form.scales, pair.get(i).copied().unwrap_or(0)) {
                // The sign is the highest bit.
                (Scales::Table8, code) => code & 3 | code >> 3 << 2,
                (_, code) => code,
            };
            let (even, odd) = (code(0), code(1));
            let lane = g * 4 + column % 32 / 8;
            let e = column % 8;
            let index = column / 32 * 8 + e / 4 * 4 + e % 4 / 2 * 2 + high;
            put_pair(low, first, 0, lane, index, even, odd);
            if second > 0 {
                put_pair(upper, second, first, lane, index, even, odd);
            }
        }
        put_scales(form, weight, row, unit, codes.len(), (g, high), scales);
    }
}

/// Writes `bits` bits (from bit `shift`) of a pair of codes to a plane.
fn put_pair(
    plane: &mut [u8],
    bits: usize,
    shift: usize,
    lane: usize,
    index: usize,
    even: u8,
    odd: u8,
) {
    let a_word = 16 / bits;
    let (word, place) = (index / a_word, bits * (index % a_word));
    let mask = ((1u32 << bits) - 1) as u8;
    let value =
        u32::from(even >> shift & mask) << place | u32::from(odd >> shift & mask) << (place + 16);
    let at = word / 4 * 512 + lane * 16 + word % 4 * 4;
    for (to, byte) in plane[at..at + 4].iter_mut().zip(value.to_le_bytes()) {
        *to |= byte;
    }
}

/// Writes the scales of a row's unit that has `cols` columns inside the matrix.
fn put_scales(
    form: PackForm,
    weight: &Weight,
    row: &RowGroups,
    unit: usize,
    cols: usize,
    (g, high): (usize, usize),
    out: &mut [u8],
) {
    let unit_cols = form.unit_blocks() * BLOCK;
    let of_file = weight.format.group_form().unwrap();
    let file_group = of_file.group;
    if form.is_super() {
        let at = unit * unit_cols / SUPER;
        let d = row.scales.get(at).copied().unwrap_or(0.0);
        match form.scales {
            // IQ4_NL has a scale a group alone.
            Scales::Table16 if row.sub_scales.is_empty() => put_f16(out, g * 4 + high * 2, 1.0),
            Scales::SuperZero | Scales::Table16 | Scales::Table8 => {
                put_f16(out, g * 4 + high * 2, d)
            }
            _ => {
                put_f16(out, g * 8 + high * 4, d);
                let dmin = row.biases.get(at).copied().unwrap_or(0.0);
                put_f16(out, g * 8 + high * 4 + 2, dmin);
            }
        }
    }
    let groups = &mut out[form.super_bytes()..];
    for group in 0..cols.div_ceil(form.group) {
        let from = (unit * unit_cols + group * form.group) / file_group;
        let at = group * form.group_bytes();
        let of = |list: &[f32]| list.get(from).copied().unwrap_or(0.0);
        // Those that the format says are a fixed multiple of the scale, or a stored one.
        let bias = match of_file.scale {
            ScaleForm::Zero(..) | ScaleForm::Points(_) => {
                row.scale_bias(of_file, from).unwrap_or_default().1
            }
            _ => of(&row.biases),
        };
        match form.scales {
            Scales::PairF16 => {
                put_f16(groups, at + g * 8 + high * 4, of(&row.scales));
                put_f16(groups, at + g * 8 + high * 4 + 2, bias);
            }
            Scales::PairBf16 => {
                for (i, value) in [of(&row.scales), bias].into_iter().enumerate() {
                    let at = at + g * 8 + high * 4 + i * 2;
                    // Exact: the value was read from this type.
                    groups[at..at + 2].copy_from_slice(&bf16::from_f32(value).to_le_bytes());
                }
            }
            Scales::PairF32 => {
                for (i, value) in [of(&row.scales), bias].into_iter().enumerate() {
                    let at = at + g * 16 + high * 8 + i * 4;
                    groups[at..at + 4].copy_from_slice(&value.to_le_bytes());
                }
            }
            Scales::Zero => put_f16(groups, at + g * 4 + high * 2, of(&row.scales)),
            Scales::SuperZero | Scales::Table8 => {
                let sub = row.sub_scales.get(from).copied().unwrap_or(0);
                groups[at + g * 2 + high] = sub as u8;
            }
            Scales::SuperMin => {
                let sub = row.sub_scales.get(from).copied().unwrap_or(0);
                groups[at + g * 4 + high * 2] = sub as u8;
                groups[at + g * 4 + high * 2 + 1] = row.sub_mins.get(from).copied().unwrap_or(0);
            }
            Scales::Power | Scales::Float8 => {
                groups[at + g * 2 + high] = row.points.get(from).copied().unwrap_or(0);
            }
            Scales::Point => {
                let zero = row.points.get(from).copied().unwrap_or(0);
                put_f16(groups, at + g * 8 + high * 4, of(&row.scales));
                put_f16(groups, at + g * 8 + high * 4 + 2, zero.into());
            }
            Scales::Single => {
                let at = at + g * 8 + high * 4;
                groups[at..at + 4].copy_from_slice(&of(&row.scales).to_le_bytes());
            }
            Scales::Table16 => {
                let scale = match row.sub_scales.get(from) {
                    Some(sub) => f32::from(*sub),
                    None => of(&row.scales),
                };
                put_f16(groups, at + g * 4 + high * 2, scale * of_file.values.unit());
            }
        }
    }
}

fn put_f16(out: &mut [u8], at: usize, value: f32) {
    // Exact: the value was read from this type.
    out[at..at + 2].copy_from_slice(&f16::from_f32(value).to_le_bytes());
}
