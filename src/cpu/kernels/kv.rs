//! Quantized KV caches: groups of columns of one token to codes, and pages back to numbers.
//!
//! Q8: `number = code · scale`, `scale = max |x| / 127`. Q4: `number = code · scale + minimum`,
//! `scale = (max x − min x) / 15`. Scale and minimum are rounded to f16 first, then codes are chosen for
//! them. What is not finite gives an infinite scale, so that it shows. `super::super::kv` has the
//! layout.

use super::body::maximum;
use crate::step::{KV_GROUP, KvType, PAGE_TOKENS};
use half::f16;

/// Columns of one token as a quantized cache keeps them.
#[derive(Debug, Clone, PartialEq)]
pub struct KvGroup {
    /// Of [`KV_GROUP`] columns; those that a head has not are 0.
    pub codes: [u8; KV_GROUP],
    /// f16 bits.
    pub scale: u16,
    /// f16 bits; Q4 only.
    pub least: u16,
}

/// Quantizes up to [`KV_GROUP`] columns, at least one.
#[inline(always)]
pub fn quantize(kv: KvType, x: &[f32]) -> KvGroup {
    let n = x.len().min(KV_GROUP);
    // The first column once more changes no maximum.
    let mut lanes = [x[0]; KV_GROUP];
    lanes[..n].copy_from_slice(&x[..n]);
    // A NaN counts as infinite.
    let known = lanes.map(|x| if x.is_nan() { f32::INFINITY } else { x });
    let (least, range) = match kv {
        KvType::Q4 => {
            let least = f16::from_f32(-maximum(&known.map(|x| -x)));
            (least, (maximum(&known) - least.to_f32()) / 15.0)
        }
        _ => (f16::ZERO, maximum(&known.map(f32::abs)) / 127.0),
    };
    let scale = f16::from_f32(range);
    let inverse = match scale.to_f32() {
        scale if scale > 0.0 => 1.0 / scale,
        _ => 0.0,
    };
    let (low, high) = match kv {
        KvType::Q4 => (0.0, 15.0),
        _ => (-127.0, 127.0),
    };
    let least_wide = least.to_f32();
    let mut codes = lanes.map(|x| {
        let code = ((x - least_wide) * inverse).round_ties_even();
        code.clamp(low, high) as i32 as u8
    });
    codes[n..].fill(0);
    KvGroup {
        codes,
        scale: scale.to_bits(),
        least: least.to_bits(),
    }
}

/// The first `bytes` bytes, which are even, and the numbers after them.
#[inline(always)]
fn split(page: &[u16], bytes: usize) -> (&[u8], &[u16]) {
    let (codes, numbers) = page.split_at(bytes / 2);
    // SAFETY: the bytes of these numbers; a byte has no alignment.
    let codes = unsafe { std::slice::from_raw_parts(codes.as_ptr().cast(), codes.len() * 2) };
    (codes, numbers)
}

/// Scales (and minima) of all tokens of a page for each group: `[groups][numbers][PAGE_TOKENS]` f16.
#[inline(always)]
fn scales<const N: usize>(
    widen: &impl Fn(&[u16], &mut [f32]),
    from: &[u16],
    group: usize,
) -> [[f32; PAGE_TOKENS]; N] {
    let mut wide = [[0.0; PAGE_TOKENS]; N];
    let count = N * PAGE_TOKENS;
    widen(&from[group * count..][..count], wide.as_flattened_mut());
    wide
}

/// The keys of a page as `[dim][PAGE_TOKENS]`.
#[inline(always)]
pub fn keys(widen: impl Fn(&[u16], &mut [f32]), kv: KvType, page: &[u16], out: &mut [f32]) {
    let (rows, _) = out.as_chunks_mut::<PAGE_TOKENS>();
    let groups = rows.len().div_ceil(KV_GROUP);
    match kv {
        KvType::F16 => widen(&page[..out.len()], out),
        KvType::Q8 => {
            let (codes, numbers) = split(page, groups * KV_GROUP * PAGE_TOKENS);
            let (codes, _) = codes.as_chunks::<PAGE_TOKENS>();
            let codes = codes.chunks(KV_GROUP);
            for (g, (rows, codes)) in rows.chunks_mut(KV_GROUP).zip(codes).enumerate() {
                let [scale] = scales(&widen, numbers, g);
                for (row, codes) in rows.iter_mut().zip(codes) {
                    for t in 0..PAGE_TOKENS {
                        row[t] = f32::from(codes[t] as i8) * scale[t];
                    }
                }
            }
        }
        KvType::Q4 => {
            let (codes, numbers) = split(page, groups * KV_GROUP / 2 * PAGE_TOKENS);
            let (codes, _) = codes.as_chunks::<PAGE_TOKENS>();
            let codes = codes.chunks(KV_GROUP / 2);
            for (g, (rows, codes)) in rows.chunks_mut(KV_GROUP).zip(codes).enumerate() {
                let [scale, least] = scales(&widen, numbers, g);
                let (low, high) = rows.split_at_mut(rows.len().min(KV_GROUP / 2));
                for (row, codes) in low.iter_mut().zip(codes) {
                    for t in 0..PAGE_TOKENS {
                        row[t] = f32::from(codes[t] & 15) * scale[t] + least[t];
                    }
                }
                for (row, codes) in high.iter_mut().zip(codes) {
                    for t in 0..PAGE_TOKENS {
                        row[t] = f32::from(codes[t] >> 4) * scale[t] + least[t];
                    }
                }
            }
        }
    }
}

/// The values of a page as `[PAGE_TOKENS][dim]`.
#[inline(always)]
pub fn values(widen: impl Fn(&[u16], &mut [f32]), kv: KvType, page: &[u16], out: &mut [f32]) {
    let dim = out.len() / PAGE_TOKENS;
    let groups = dim.div_ceil(KV_GROUP);
    match kv {
        KvType::F16 => widen(&page[..out.len()], out),
        KvType::Q8 => {
            let (codes, numbers) = split(page, groups * KV_GROUP * PAGE_TOKENS);
            let (codes, _) = codes.as_chunks::<KV_GROUP>();
            for g in 0..groups {
                let [scale] = scales(&widen, numbers, g);
                for (t, row) in out.chunks_exact_mut(dim).enumerate() {
                    let columns = row[g * KV_GROUP..].iter_mut();
                    for (x, &code) in columns.zip(&codes[t * groups + g]) {
                        *x = f32::from(code as i8) * scale[t];
                    }
                }
            }
        }
        KvType::Q4 => {
            let (codes, numbers) = split(page, groups * KV_GROUP / 2 * PAGE_TOKENS);
            let (codes, _) = codes.as_chunks::<{ KV_GROUP / 2 }>();
            for g in 0..groups {
                let [scale, least] = scales(&widen, numbers, g);
                for (t, row) in out.chunks_exact_mut(dim).enumerate() {
                    let codes = &codes[t * groups + g];
                    let row = &mut row[g * KV_GROUP..];
                    let (low, high) = row.split_at_mut(row.len().min(KV_GROUP / 2));
                    for (x, &code) in low.iter_mut().zip(codes) {
                        *x = f32::from(code & 15) * scale[t] + least[t];
                    }
                    for (x, &code) in high.iter_mut().zip(codes) {
                        *x = f32::from(code >> 4) * scale[t] + least[t];
                    }
                }
            }
        }
    }
}
