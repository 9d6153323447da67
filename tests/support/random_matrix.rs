//! Random matrices in every storage: random codes, scales chosen for a standard deviation.

use super::prng::Prng;
use super::random_formats;
use half::{bf16, f16};
use mlxrocm::formats::{Format, ScalarType};

/// The standard deviation of codes `0..2^bits`, uniform.
fn code_std(bits: u32) -> f64 {
    f64::from(1u32 << bits) / 12f64.sqrt()
}

/// `values` as little-endian numbers of a type.
pub fn dense(scalar: ScalarType, values: impl Iterator<Item = f64>) -> Vec<u8> {
    let mut out = Vec::new();
    for value in values {
        match scalar {
            ScalarType::F32 => out.extend((value as f32).to_le_bytes()),
            ScalarType::F16 => out.extend(f16::from_f64(value).to_le_bytes()),
            ScalarType::BF16 => out.extend(bf16::from_f64(value).to_le_bytes()),
        }
    }
    out
}

/// The GGML number of a format's type.
pub fn ggml_type(format: Format) -> u32 {
    match format {
        Format::Dense(ScalarType::F32) => 0,
        Format::Dense(ScalarType::F16) => 1,
        Format::Dense(ScalarType::BF16) => 30,
        Format::Q4_0 => 2,
        Format::Q4_1 => 3,
        Format::Q5_0 => 6,
        Format::Q5_1 => 7,
        Format::Q8_0 => 8,
        Format::Q2K => 10,
        Format::Q3K => 11,
        Format::Q4K => 12,
        Format::Q5K => 13,
        Format::Q6K => 14,
        other => random_formats::ggml_type(other)
            .unwrap_or_else(|| panic!("{other} weights do not live in GGUF files")),
    }
}

/// The data of a `[rows, cols]` matrix of a GGUF type, with weights of about `std`.
pub fn gguf_matrix(prng: &mut Prng, format: Format, rows: usize, cols: usize, std: f64) -> Vec<u8> {
    if let Format::Dense(scalar) = format {
        return dense(scalar, (0..rows * cols).map(|_| std * prng.normal()));
    }
    if let Some(data) = random_formats::gguf_matrix(prng, format, rows, cols, std) {
        return data;
    }
    let (weights, bytes) = match format {
        Format::Q4_0 => (32, 18),
        Format::Q4_1 => (32, 20),
        Format::Q5_0 => (32, 22),
        Format::Q5_1 => (32, 24),
        Format::Q8_0 => (32, 34),
        Format::Q2K => (256, 84),
        Format::Q3K => (256, 110),
        Format::Q4K => (256, 144),
        Format::Q5K => (256, 176),
        _ => (256, 210),
    };
    assert_eq!(cols % weights, 0);
    let mut out = Vec::with_capacity(rows * cols / weights * bytes);
    for _ in 0..rows * cols / weights {
        let mut block = prng.bytes(bytes);
        fill_scales(prng, format, std, &mut block);
        out.extend(block);
    }
    out
}

/// Overwrites the scales of a block of random bytes.
fn fill_scales(prng: &mut Prng, format: Format, std: f64, block: &mut [u8]) {
    let mut put = |at: usize, value: f64| {
        block[at..at + 2].copy_from_slice(&f16::from_f64(value).to_le_bytes());
    };
    let spread = prng.uniform(0.6, 1.4);
    // Some files have negative scales.
    let sign = if prng.below(8) == 0 { -1.0 } else { 1.0 };
    let scale = |bits: u32, sub: f64| sign * spread * std / code_std(bits) / sub;
    let middle = |bits: u32| (f64::from(1u32 << bits) - 1.0) / 2.0;
    match format {
        Format::Q4_0 => put(0, scale(4, 1.0)),
        Format::Q5_0 => put(0, scale(5, 1.0)),
        Format::Q8_0 => put(0, scale(8, 1.0)),
        Format::Q4_1 => {
            put(0, scale(4, 1.0));
            put(2, -middle(4) * scale(4, 1.0));
        }
        Format::Q5_1 => {
            put(0, scale(5, 1.0));
            put(2, -middle(5) * scale(5, 1.0));
        }
        Format::Q2K => {
            put(80, scale(2, 9.0));
            put(82, middle(2) * scale(2, 9.0));
            // `w = d·s·(q − 1.5·m/s)`: m close to s keeps the weights around zero.
            for byte in &mut block[..16] {
                let sub = 3 + prng.below(12) as u8;
                *byte = sub | (sub + prng.below(2) as u8) << 4;
            }
        }
        Format::Q4K | Format::Q5K => {
            let bits = if format == Format::Q4K { 4 } else { 5 };
            put(0, scale(bits, 36.0));
            put(2, middle(bits) * scale(bits, 36.0));
            let subs: [u8; 8] = std::array::from_fn(|_| 10 + prng.below(52) as u8);
            let mins: [u8; 8] = std::array::from_fn(|i| subs[i] + prng.below(2) as u8);
            pack_six_bits(&subs, &mins, &mut block[4..16]);
        }
        Format::Q3K => {
            put(108, scale(3, 20.0));
            // Scales 8–56 of the offset form, so −24–24, mostly away from zero.
            let subs: [u8; 16] = std::array::from_fn(|_| {
                let size = 8 + prng.below(17) as u8;
                if prng.below(2) == 0 {
                    32 + size
                } else {
                    32 - size
                }
            });
            for (i, sub) in subs.iter().enumerate() {
                let (low, high) = (96 + i % 8, 104 + i % 4);
                let (low_shift, high_shift) = (4 * (i / 8), 2 * (i / 4));
                block[low] = block[low] & !(15 << low_shift) | (sub & 15) << low_shift;
                block[high] = block[high] & !(3 << high_shift) | (sub >> 4) << high_shift;
            }
        }
        _ => {
            put(208, scale(6, 70.0));
            for byte in &mut block[192..208] {
                let size = 30 + prng.below(98) as i8;
                *byte = if prng.below(2) == 0 { size } else { -size } as u8;
            }
        }
    }
}

/// The 6-bit scales and minimums of Q4_K and Q5_K.
fn pack_six_bits(subs: &[u8; 8], mins: &[u8; 8], out: &mut [u8]) {
    for i in 0..4 {
        out[i] = subs[i] | subs[i + 4] >> 4 << 6;
        out[i + 4] = mins[i] | mins[i + 4] >> 4 << 6;
        out[i + 8] = subs[i + 4] & 15 | mins[i + 4] << 4;
    }
}

/// An affine matrix: packed codes, scales, biases.
pub fn affine_matrix(
    prng: &mut Prng,
    bits: u8,
    group: usize,
    scalar: ScalarType,
    rows: usize,
    cols: usize,
    std: f64,
) -> [Vec<u8>; 3] {
    assert_eq!(cols % group, 0);
    let packed = prng.bytes(rows * cols * usize::from(bits) / 8);
    let middle = (f64::from(1u32 << bits) - 1.0) / 2.0;
    let (mut scales, mut biases) = (Vec::new(), Vec::new());
    for _ in 0..rows * cols / group {
        let sign = if prng.below(4) == 0 { -1.0 } else { 1.0 };
        let scale = sign * prng.uniform(0.6, 1.4) * std / code_std(bits.into());
        scales.push(scale);
        biases.push(-scale * (middle + prng.uniform(-0.5, 0.5)));
    }
    [
        packed,
        dense(scalar, scales.into_iter()),
        dense(scalar, biases.into_iter()),
    ]
}
