//! The plain form of every kernel: the oracle of the SIMD levels, and what other CPUs run.

use super::{AttendPage, DenseTile, Kernels, SimdLevel, Tile, Words, body};
use crate::cpu::activations::{BlockMeta, Panel, PanelRow};
use crate::cpu::packed::{BLOCK, TILE_ROWS, block_bytes};
use crate::formats::{GroupForm, ScalarType, ScaleForm};
use half::{bf16, f16};

pub static KERNELS: Kernels = Kernels {
    level: SimdLevel::Portable,
    panel: 4,
    quantize_row,
    expand_scales,
    matmul_tile,
    dense_tile,
    rms_norm: body::rms_norm::<false>,
    swiglu: body::swiglu::<false>,
    widen,
    narrow,
    attend_page,
};

/// `scale = max|x| / 32767` per block, ints rounded to nearest even. A block with a NaN or an
/// infinity gets a NaN scale, so that it shows in every output.
pub fn quantize_row(x: &[f32], out: PanelRow<'_>) {
    for (b, block) in x.chunks(BLOCK).enumerate() {
        let max = block.iter().fold(0.0f32, |m, v| m.max(v.abs()));
        let poison: f32 = block.iter().map(|v| v * 0.0).sum();
        let inverse = if max > 0.0 { 32767.0 / max } else { 0.0 };
        let mut ints = [0i16; BLOCK];
        for (int, &v) in ints.iter_mut().zip(block) {
            *int = (v * inverse).round_ties_even() as i16;
        }
        put_block(
            &ints,
            max / 32767.0 + poison,
            b,
            out.stride,
            out.ints,
            out.meta,
        );
    }
}

/// Stores one block of ints and its facts into a panel.
#[inline(always)]
pub fn put_block(
    ints: &[i16; BLOCK],
    scale: f32,
    block: usize,
    stride: usize,
    out: &mut [i16],
    meta: &mut [BlockMeta],
) {
    let base = block * BLOCK * stride;
    for j in 0..BLOCK / 2 {
        out[base + 2 * j * stride] = ints[2 * j];
        out[base + 2 * j * stride + 1] = ints[2 * j + 1];
    }
    let low: i32 = ints[..16].iter().map(|&i| i32::from(i)).sum();
    let high: i32 = ints[16..].iter().map(|&i| i32::from(i)).sum();
    meta[block * stride] = BlockMeta {
        scale,
        sum: (low + high) as f32,
        sum_low: low as f32,
        sum_high: high as f32,
    };
}

pub fn scalar(ty: ScalarType, bytes: &[u8], index: usize) -> f32 {
    match ty {
        ScalarType::F32 => {
            let b = &bytes[index * 4..][..4];
            f32::from_le_bytes([b[0], b[1], b[2], b[3]])
        }
        ScalarType::F16 => f16::from_le_bytes([bytes[index * 2], bytes[index * 2 + 1]]).to_f32(),
        ScalarType::BF16 => bf16::from_le_bytes([bytes[index * 2], bytes[index * 2 + 1]]).to_f32(),
    }
}

/// Adds the (scale, bias) of one group to `out`, once for each block it covers.
#[inline(always)]
pub fn push_group(form: GroupForm, entry: [[f32; 16]; 2], out: &mut Vec<[[f32; 16]; 2]>) {
    for _ in 0..(form.group / BLOCK).max(1) {
        out.push(entry);
    }
}

pub fn expand_scales(form: GroupForm, section: &[u8], cols: usize, out: &mut Vec<[[f32; 16]; 2]>) {
    const N: usize = TILE_ROWS;
    out.clear();
    let groups = cols / form.group;
    let super_groups = 256 / form.group;
    for g in 0..groups {
        let entry: [[f32; N]; 2] = match form.scale {
            ScaleForm::Stored(ty) => [0, N]
                .map(|kind| std::array::from_fn(|r| scalar(ty, section, g * 2 * N + kind + r))),
            ScaleForm::Zero(ty, zero) => {
                let scale: [f32; N] = std::array::from_fn(|r| scalar(ty, section, g * N + r));
                [scale, scale.map(|s| -s * f32::from(zero))]
            }
            ScaleForm::SuperZero(zero) => {
                let unit = &section[g / super_groups * (2 * N + super_groups * N)..];
                let sub = &unit[2 * N + g % super_groups * N..];
                let scale: [f32; N] = std::array::from_fn(|r| {
                    scalar(ScalarType::F16, unit, r) * f32::from(sub[r] as i8)
                });
                [scale, scale.map(|s| -s * f32::from(zero))]
            }
            ScaleForm::SuperMin => {
                let unit = &section[g / super_groups * (4 * N + super_groups * 2 * N)..];
                let sub = &unit[4 * N + g % super_groups * 2 * N..];
                [
                    std::array::from_fn(|r| scalar(ScalarType::F16, unit, r) * f32::from(sub[r])),
                    std::array::from_fn(|r| {
                        -scalar(ScalarType::F16, unit, N + r) * f32::from(sub[N + r])
                    }),
                ]
            }
        };
        push_group(form, entry, out);
    }
}

/// Unpacks the codes of one block to 16-bit pairs.
pub fn unpack(bits: u8, block: &[u8], words: &mut Words) {
    let word = |vector: usize, lane: usize, base: usize| {
        let at = base + vector * 64 + lane * 4;
        u32::from_le_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]])
    };
    let plane = |bits: usize, base: usize, j: usize, lane: usize| {
        let pairs = 16 / bits;
        let mask = ((1u32 << bits) - 1) * 0x0001_0001;
        word(j / pairs, lane, base) >> (bits * (j % pairs)) & mask
    };
    for j in 0..16 {
        for lane in 0..16 {
            let pair = match bits {
                2 => plane(2, 0, j, lane),
                3 => plane(2, 0, j, lane) | plane(1, 128, j, lane) << 2,
                4 => plane(4, 0, j, lane),
                5 => plane(4, 0, j, lane) | plane(1, 256, j, lane) << 4,
                6 => plane(4, 0, j, lane) | plane(2, 256, j, lane) << 4,
                _ => plane(8, 0, j, lane),
            };
            words.0[(j * 16 + lane) * 2] = pair as u16 as i16;
            words.0[(j * 16 + lane) * 2 + 1] = (pair >> 16) as u16 as i16;
        }
    }
}

fn matmul_tile(
    tile: &Tile<'_>,
    panels: &[Panel<'_>],
    words: &mut Words,
    out: &mut [[f32; TILE_ROWS]],
) {
    out.fill([0.0; TILE_ROWS]);
    let halves = if tile.halves { 2 } else { 1 };
    for (b, block) in tile.codes.chunks_exact(block_bytes(tile.bits)).enumerate() {
        unpack(tile.bits, block, words);
        let mut first = 0;
        for panel in panels {
            for r in 0..panel.rows {
                let meta = panel.meta[b * panel.rows + r];
                for half in 0..halves {
                    let [scale, bias] = &tile.scales[b * halves + half];
                    let (from, to) = if tile.halves {
                        (8 * half, 8 * half + 8)
                    } else {
                        (0, 16)
                    };
                    let sum = match (tile.halves, half) {
                        (false, _) => meta.sum,
                        (true, 0) => meta.sum_low,
                        (true, _) => meta.sum_high,
                    };
                    for lane in 0..TILE_ROWS {
                        let mut acc = 0i32;
                        for j in from..to {
                            let x = (b * 16 + j) * panel.rows * 2 + 2 * r;
                            let w = (j * 16 + lane) * 2;
                            acc += i32::from(words.0[w]) * i32::from(panel.ints[x])
                                + i32::from(words.0[w + 1]) * i32::from(panel.ints[x + 1]);
                        }
                        let value = acc as f32 * scale[lane] + bias[lane] * sum;
                        out[first + r][lane] += value * meta.scale;
                    }
                }
            }
            first += panel.rows;
        }
    }
}

fn dense_tile(tile: &DenseTile<'_>, x: &[f32], out: &mut [[f32; TILE_ROWS]]) {
    for (x, out) in x.chunks_exact(tile.cols).zip(out) {
        *out = [0.0; TILE_ROWS];
        for (r, out) in out.iter_mut().enumerate().take(tile.rows) {
            for (k, &x) in x.iter().enumerate() {
                *out += scalar(tile.ty, tile.data, r * tile.cols + k) * x;
            }
        }
    }
}

pub fn widen(src: &[u16], dst: &mut [f32]) {
    for (dst, &src) in dst.iter_mut().zip(src) {
        *dst = f16::from_bits(src).to_f32();
    }
}

pub fn narrow(src: &[f32], dst: &mut [u16]) {
    for (dst, &src) in dst.iter_mut().zip(src) {
        *dst = f16::from_f32(src).to_bits();
    }
}

fn attend_page(page: &mut AttendPage<'_>) {
    body::attend_page::<false>(page);
}
