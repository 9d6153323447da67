//! The plain form of every kernel: the oracle of the SIMD levels, and what other CPUs run.

mod attention;

use super::{
    DenseTile, Kernels, RowOut, ScaleEntry, SimdLevel, Tile, TileParts, TileScratch, Words, body,
    columns::{self},
    elements, gemm, kv, recurrent, winograd,
};
use crate::cpu::activations::{BlockMeta, Group, LARGEST, RowTarget, SPAN, ends_span};
use crate::cpu::packed::{BLOCK, GridBlock, TILE_ROWS, block_bytes};
use crate::formats::{Grid, GroupForm, ScalarType, ScaleForm, Table, Values, e4m3_parts};
use attention::{attend_columns, attend_page};
use half::{bf16, f16};

pub static KERNELS: Kernels = Kernels {
    level: SimdLevel::Portable,
    panel: 4,
    quantize_row,
    quantize_four: |x, out| {
        out.rows()
            .into_iter()
            .zip(x)
            .for_each(|(out, x)| quantize_row(x, out))
    },
    matmul_tile,
    rows_tiles,
    dense_tile,
    rms_norm: body::rms_norm::<false>,
    swiglu: body::swiglu::<false>,
    swiglu_clamped: body::swiglu_clamped::<false>,
    multiply_add: recurrent::multiply_add::<false>,
    silu: recurrent::silu::<false>,
    gated_delta: recurrent::gated_delta::<false>,
    gemm_rows: [gemm::GEMM_ROWS, 0, 0],
    gemm_tile: gemm::gemm_tile::<[f32; 8], 2>,
    winograd_input: winograd::input::<[f32; 8]>,
    winograd_output: winograd::output::<[f32; 8]>,
    elements: elements::elements::<false>,
    layer_norm: elements::layer_norm::<false>,
    softmax: elements::softmax::<false>,
    narrow,
    kv_group: kv::quantize,
    kv_keys: |kind, page, out| kv::keys(widen, kind, page, out),
    kv_values: |kind, page, out| kv::values(widen, kind, page, out),
    attend_page,
    to_columns: columns::to_columns,
    to_rows: columns::to_rows,
    attend_columns,
};

/// `scale = max|x| / LARGEST` per span, ints rounded to nearest even. A span with a NaN or an
/// infinity gets a NaN scale, so that it shows in every output.
fn quantize_row(x: &[f32], mut out: RowTarget<'_>) {
    for (s, span) in x.chunks(SPAN * BLOCK).enumerate() {
        let max = span.iter().fold(0.0f32, |m, v| m.max(v.abs()));
        let poison: f32 = span.iter().map(|v| v * 0.0).sum();
        let inverse = if max > 0.0 { LARGEST / max } else { 0.0 };
        let scale = max / LARGEST + poison;
        for (b, block) in span.chunks(BLOCK).enumerate() {
            let mut pairs = [0u32; BLOCK / 2];
            let mut halves = [0i32; 2];
            for (k, &v) in block.iter().enumerate() {
                let int = (v * inverse).round_ties_even() as i16;
                pairs[k / 2] |= u32::from(int as u16) << (k % 2 * 16);
                halves[k / 16] += i32::from(int);
            }
            let meta = BlockMeta::new(scale, halves[0], halves[1]);
            out.put(s * SPAN + b, &pairs, meta);
        }
    }
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

/// Entries (blocks or half blocks) that one group of `form` covers.
#[inline(always)]
pub fn entries_a_group(form: GroupForm) -> usize {
    (form.group / BLOCK).max(1)
}

/// A power of two by its exponent's byte; the smallest is taken for 0.
pub fn power(byte: u8) -> f32 {
    f32::from_bits(u32::from(byte) << 23)
}

/// An E4M3 scale.
fn float8(byte: u8) -> f32 {
    let (high, low) = e4m3_parts(byte);
    (256 * i32::from(high) + i32::from(low)) as f32 * Values::E4M3.unit()
}

fn expand_scales(form: GroupForm, section: &[u8], out: &mut [ScaleEntry]) {
    const N: usize = TILE_ROWS;
    let unit = form.values.unit();
    let super_groups = 256 / form.group;
    for (g, out) in out.chunks_mut(entries_a_group(form)).enumerate() {
        let entry: ScaleEntry = match form.scale {
            ScaleForm::Stored(ty) => [0, N]
                .map(|kind| std::array::from_fn(|r| scalar(ty, section, g * 2 * N + kind + r))),
            ScaleForm::Zero(ty, zero) => {
                let scale: [f32; N] = std::array::from_fn(|r| scalar(ty, section, g * N + r));
                [scale, scale.map(|s| -s * f32::from(zero))]
            }
            ScaleForm::Points(ty) => {
                let size = ty.bytes();
                let unit = &section[g * N * (size + 1)..];
                let scale: [f32; N] = std::array::from_fn(|r| scalar(ty, unit, r));
                let zero = |r: usize| f32::from(unit[N * size + r]);
                [scale, std::array::from_fn(|r| -scale[r] * zero(r))]
            }
            ScaleForm::Power => [std::array::from_fn(|r| power(section[g * N + r])), [0.0; N]],
            ScaleForm::Float8 => [
                std::array::from_fn(|r| float8(section[g * N + r])),
                [0.0; N],
            ],
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
        out.fill(entry.map(|values| values.map(|value| value * unit)));
    }
}

/// The integers of one block's codes as 16-bit pairs. Of 8-bit floats, which take more bits, `high`: in
/// units of 256, or what is left.
fn integers(form: GroupForm, high: bool, block: &[u8], words: &mut Words) {
    match form.values {
        Values::Code => unpack(form.bits, block, words),
        Values::Table(table) => {
            unpack(form.bits, block, words);
            look_up(table, words);
        }
        Values::Grid(grid) => {
            unpack_grid(grid, block, words);
            look_up(grid.table(), words);
        }
        Values::E4M3 => {
            unpack(form.bits, block, words);
            for word in &mut words.0 {
                let parts = e4m3_parts(*word as u8);
                *word = if high { parts.0 } else { parts.1 };
            }
        }
    }
}

fn look_up(table: Table, words: &mut Words) {
    let integers = table.integers();
    for word in &mut words.0 {
        *word = integers[(*word & 15) as usize].into();
    }
}

/// Codes of a grid's indices and signs.
fn unpack_grid(grid: Grid, block: &[u8], words: &mut Words) {
    let layout = GridBlock::new(grid);
    let (columns, entries) = (grid.columns(), grid.words());
    for lane in 0..TILE_ROWS {
        let at = (layout.entries + layout.signs) * TILE_ROWS + lane * layout.high_bytes();
        let high = &block[at..at + layout.high_bytes()];
        let high = high
            .iter()
            .rev()
            .fold(0u32, |all, b| all << 8 | u32::from(*b));
        for e in 0..layout.entries {
            let bits = high >> (e * layout.high) & ((1 << layout.high) - 1);
            let index_high = bits & ((1 << (grid.index_bits() - 8)) - 1);
            let index = u32::from(block[e * TILE_ROWS + lane]) | index_high << 8;
            let word = entries[index as usize];
            for k in 0..columns {
                let column = e * columns + k;
                let sign = if grid.one_sign() {
                    bits >> (layout.high - 1)
                } else {
                    let signs = block[(layout.entries + column / 8) * TILE_ROWS + lane];
                    u32::from(signs) >> (column % 8 / 2 + 4 * (column % 2)) & 1
                };
                let code = word >> (4 * (k / 2) + 16 * (k % 2)) & 15 | sign << 3;
                words.0[(column / 2 * TILE_ROWS + lane) * 2 + column % 2] = code as i16;
            }
        }
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
    x: &Group<'_>,
    scratch: &mut TileScratch,
    out: &mut [[f32; TILE_ROWS]],
) {
    let TileParts {
        scales,
        words,
        sums,
    } = scratch.parts(tile, x);
    expand_scales(tile.form, tile.section, scales);
    let form = tile.form;
    out.fill([0.0; TILE_ROWS]);
    let parts: &[_] = if tile.halves() {
        &[(0, 8), (8, 16)]
    } else {
        &[(0, 16)]
    };
    // Units of the integers of a pass over a block, the sums of x once.
    let passes: &[_] = if form.values == Values::E4M3 {
        &[(256.0, 0.0), (1.0, 1.0)]
    } else {
        &[(1.0, 1.0)]
    };
    for (b, block) in tile.codes.chunks_exact(block_bytes(form)).enumerate() {
        if b % SPAN == 0 {
            sums.fill([0.0; TILE_ROWS]);
        }
        for &(unit, once) in passes {
            integers(form, unit > 1.0, block, words);
            for (row, sums) in sums.iter_mut().enumerate() {
                let panel = row / KERNELS.panel;
                let panel_rows = KERNELS.panel.min(x.rows - panel * KERNELS.panel);
                let first = (b * x.rows + panel * KERNELS.panel) * BLOCK + row % KERNELS.panel * 2;
                let meta = x.meta[b * x.rows + row];
                for (part, &(from, to)) in parts.iter().enumerate() {
                    let [scale, bias] = &scales[b * parts.len() + part];
                    let sum = match (tile.halves(), part) {
                        (false, _) => meta.sum,
                        (true, 0) => meta.sum_low,
                        (true, _) => meta.sum_high,
                    };
                    for lane in 0..TILE_ROWS {
                        let mut acc = 0i32;
                        for j in from..to {
                            let x = &x.ints[first + j * panel_rows * 2..][..2];
                            let w = &words.0[(j * 16 + lane) * 2..][..2];
                            acc += i32::from(w[0]) * i32::from(x[0])
                                + i32::from(w[1]) * i32::from(x[1]);
                        }
                        sums[lane] += bias[lane] * sum * once + acc as f32 * (scale[lane] * unit);
                    }
                }
            }
        }
        if ends_span(b, x.blocks) {
            for (row, (out, sums)) in out.iter_mut().zip(&*sums).enumerate() {
                let scale = x.meta[b * x.rows + row].scale;
                for (out, sum) in out.iter_mut().zip(sums) {
                    *out += *sum * scale;
                }
            }
        }
    }
}

fn rows_tiles(
    tiles: &[Tile<'_>],
    rows: &[Group<'_>],
    scratch: &mut TileScratch,
    out: &mut [RowOut],
) {
    for (x, out) in rows.iter().zip(out) {
        for (tile, out) in tiles.iter().zip(out) {
            matmul_tile(tile, x, scratch, std::slice::from_mut(out));
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
    let most = f16::MAX.to_f32();
    for (dst, &src) in dst.iter_mut().zip(src) {
        let fitting = if src.is_finite() {
            src.clamp(-most, most)
        } else {
            src
        };
        *dst = f16::from_f32(fitting).to_bits();
    }
}
