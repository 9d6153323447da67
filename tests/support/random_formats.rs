//! Random matrices of the formats that came later: GGUF's I- and ternary quants and 4-bit floats, MLX's
//! float modes, and folders as other tools publish them.

use super::prng::Prng;
use super::random_matrix::dense;
use half::f16;
use mlxrocm::formats::{Format, ScalarType};
use safetensors::tensor::Dtype;
use serde_json::{Value, json};

/// A tensor of a folder: the end of its name, type, shape, data.
pub type Part = (&'static str, Dtype, Vec<usize>, Vec<u8>);

/// The GGML number, weights and bytes of a block, the place of its f16 scale, and the standard
/// deviation of random blocks whose scale is 1.
fn gguf_type(format: Format) -> Option<(u32, usize, usize, Option<usize>, f64)> {
    Some(match format {
        Format::Q8_1 => (9, 32, 36, Some(0), 73.9),
        Format::Iq2Xxs => (16, 256, 66, Some(0), 53.2),
        Format::Iq2Xs => (17, 256, 74, Some(0), 55.7),
        Format::Iq3Xxs => (18, 256, 98, Some(0), 143.0),
        Format::Iq1S => (19, 256, 50, Some(0), 7.2),
        Format::Iq4Nl => (20, 32, 18, Some(0), 67.2),
        Format::Iq3S => (21, 256, 110, Some(0), 140.9),
        Format::Iq2S => (22, 256, 82, Some(0), 56.4),
        Format::Iq4Xs => (23, 256, 136, Some(0), 1247.4),
        Format::Iq1M => (29, 256, 56, None, 7.2),
        Format::Tq1_0 => (34, 256, 54, Some(52), 0.82),
        Format::Tq2_0 => (35, 256, 66, Some(64), 0.82),
        Format::GgufMxfp4 => (39, 32, 17, None, E2M1_STD),
        Format::GgufNvfp4 => (40, 64, 36, None, E2M1_STD),
        _ => return None,
    })
}

/// The standard deviation of random 4-bit floats.
const E2M1_STD: f64 = 2.926;

/// The GGML number of a format's type.
pub fn ggml_type(format: Format) -> Option<u32> {
    gguf_type(format).map(|(number, ..)| number)
}

/// The data of a `[rows, cols]` matrix of a GGUF type, with weights of about `std`.
pub fn gguf_matrix(
    prng: &mut Prng,
    format: Format,
    rows: usize,
    cols: usize,
    std: f64,
) -> Option<Vec<u8>> {
    let (_, weights, bytes, place, unit) = gguf_type(format)?;
    assert_eq!(cols % weights, 0);
    let mut out = Vec::with_capacity(rows * cols / weights * bytes);
    for _ in 0..rows * cols / weights {
        let mut block = prng.bytes(bytes);
        let sign = if prng.below(8) == 0 { -1.0 } else { 1.0 };
        let scale = sign * prng.uniform(0.6, 1.4) * std / unit;
        let d = f16::from_f64(scale);
        if let Some(place) = place {
            block[place..place + 2].copy_from_slice(&d.to_le_bytes());
        }
        match format {
            Format::Iq1M => {
                // Four bits of the scale in each of four words.
                for i in 0..4 {
                    let high = &mut block[49 + 2 * i];
                    *high = *high & 15 | ((d.to_bits() >> (4 * i) & 15) << 4) as u8;
                }
            }
            Format::GgufMxfp4 => block[0] = power_near(prng, std / E2M1_STD),
            Format::GgufNvfp4 => {
                for byte in &mut block[..4] {
                    *byte = e4m3_near(prng.uniform(0.6, 1.4) * std / E2M1_STD);
                }
            }
            // Three of the four codes, so that the mean is 0.
            Format::Tq2_0 => {
                for byte in &mut block[..64] {
                    *byte = (0..4).fold(0, |byte, i| byte | (prng.below(3) as u8) << (2 * i));
                }
            }
            _ => {}
        }
        out.extend(block);
    }
    Some(out)
}

/// One of the two exponents (E8M0) around `scale`, so that the squares' mean is right.
fn power_near(prng: &mut Prng, scale: f64) -> u8 {
    let low = scale.log2().floor();
    let up = ((scale / low.exp2()).powi(2) - 1.0) / 3.0;
    (low as i32 + 127) as u8 + u8::from(prng.uniform(0.0, 1.0) < up)
}

/// The number that an E4M3 code stands for.
fn e4m3(code: u8) -> f64 {
    let (exponent, mantissa) = (i32::from(code >> 3 & 15), f64::from(code & 7));
    let size = match exponent {
        0 => mantissa / 8.0 * 2f64.powi(-6),
        _ => (1.0 + mantissa / 8.0) * 2f64.powi(exponent - 7),
    };
    if code & 0x80 != 0 { -size } else { size }
}

/// The E4M3 code closest to a positive number.
fn e4m3_near(scale: f64) -> u8 {
    let distance = |code: &u8| (e4m3(*code) - scale).abs();
    let by_distance = |a: &u8, b: &u8| distance(a).total_cmp(&distance(b));
    (0..0x7f).min_by(by_distance).unwrap()
}

/// Random E4M3 codes of sizes up to 16 and their standard deviation: all small exponents, as weights
/// have them.
fn e4m3_codes(prng: &mut Prng, count: usize) -> (Vec<u8>, f64) {
    let limit = 11 << 3;
    let squares: f64 = (0..limit).map(|code| e4m3(code).powi(2)).sum();
    let code = |prng: &mut Prng| prng.below(limit.into()) as u8 | (prng.below(2) as u8) << 7;
    let codes = (0..count).map(|_| code(prng)).collect();
    (codes, (squares / f64::from(limit)).sqrt())
}

/// Whether the embedding and the head are stored like the other matrices.
pub fn quantizes_tables(format: Format) -> bool {
    matches!(format, Format::Mxfp4 | Format::Mxfp8 | Format::Nvfp4)
}

/// The tensors of a `[rows, cols]` matrix of a folder.
pub fn folder_matrix(
    prng: &mut Prng,
    format: Format,
    rows: usize,
    cols: usize,
    std: f64,
) -> Vec<Part> {
    match format {
        Format::Mxfp4 | Format::Mxfp8 | Format::Nvfp4 => float_mode(prng, format, rows, cols, std),
        Format::Gptq { group, .. } | Format::Awq { group } => {
            transposed(prng, format, rows, cols, group.into(), std)
        }
        Format::Centered { bits, group, scale } => {
            let data = prng.bytes(rows * cols * usize::from(bits) / 8);
            let unit = f64::from(1u32 << bits) / 12f64.sqrt();
            let groups = cols / usize::from(group);
            let scales = (0..rows * groups).map(|_| prng.uniform(0.6, 1.4) * std / unit);
            let scales = dense(scale, scales.collect::<Vec<_>>().into_iter());
            let words = cols * usize::from(bits) / 32;
            let shape = [rows as u64, cols as u64].map(u64::to_le_bytes).concat();
            vec![
                ("weight_packed", Dtype::I32, vec![rows, words], data),
                ("weight_scale", dtype(scale), vec![rows, groups], scales),
                ("weight_shape", Dtype::I64, vec![2], shape),
            ]
        }
        Format::Float8 {
            rows: down,
            cols: across,
            scale,
        } => {
            let (data, unit) = e4m3_codes(prng, rows * cols);
            let shape = match down {
                // A scale a row.
                1 => [rows, 1],
                _ => [rows.div_ceil(down as usize), cols.div_ceil(across as usize)],
            };
            let count = shape[0] * shape[1];
            let scales: Vec<f64> = (0..count)
                .map(|_| prng.uniform(0.8, 1.2) * std / unit)
                .collect();
            let name = if down == 1 {
                "weight_scale"
            } else {
                "weight_scale_inv"
            };
            let scales = dense(scale, scales.into_iter());
            vec![
                ("weight", Dtype::F8_E4M3, vec![rows, cols], data),
                (name, dtype(scale), shape.to_vec(), scales),
            ]
        }
        other => panic!("{other} is not in this file"),
    }
}

/// The data, scales and zero points of such a matrix.
pub fn parts(
    prng: &mut Prng,
    format: Format,
    rows: usize,
    cols: usize,
    std: f64,
) -> (Vec<u8>, Option<Vec<u8>>, Option<Vec<u8>>) {
    let mut parts = folder_matrix(prng, format, rows, cols, std);
    let mut take = |ends: &[&str]| {
        let at = parts.iter().position(|part| ends.contains(&part.0))?;
        Some(parts.swap_remove(at).3)
    };
    let data = take(&["weight", "weight_packed", "qweight"]).expect("data");
    let scales = take(&["scales", "weight_scale", "weight_scale_inv"]);
    (data, scales, take(&["qzeros"]))
}

pub fn dtype(scalar: ScalarType) -> Dtype {
    match scalar {
        ScalarType::F32 => Dtype::F32,
        ScalarType::F16 => Dtype::F16,
        ScalarType::BF16 => Dtype::BF16,
    }
}

fn float_mode(prng: &mut Prng, format: Format, rows: usize, cols: usize, std: f64) -> Vec<Part> {
    let group = if format == Format::Nvfp4 { 16 } else { 32 };
    let (data, unit) = match format {
        Format::Mxfp8 => e4m3_codes(prng, rows * cols),
        _ => (prng.bytes(rows * cols / 2), E2M1_STD),
    };
    let scale = |prng: &mut Prng| match format {
        Format::Nvfp4 => {
            e4m3_near(prng.uniform(0.6, 1.4) * std / unit) | (prng.below(2) as u8) << 7
        }
        _ => power_near(prng, std / unit),
    };
    let scales = (0..rows * cols / group).map(|_| scale(prng)).collect();
    let words = data.len() / rows / 4;
    vec![
        ("weight", Dtype::U32, vec![rows, words], data),
        ("scales", Dtype::U8, vec![rows, cols / group], scales),
    ]
}

/// GPTQ and AWQ: all words are random, so their order only matters to the reader.
fn transposed(
    prng: &mut Prng,
    format: Format,
    rows: usize,
    cols: usize,
    group: usize,
    std: f64,
) -> Vec<Part> {
    let groups = cols / group;
    let data = prng.bytes(rows * cols / 2);
    let unit = 16.0 / 12f64.sqrt();
    let scales = (0..groups * rows).map(|_| prng.uniform(0.6, 1.4) * std / unit);
    let scales = dense(ScalarType::F16, scales.collect::<Vec<_>>().into_iter());
    // Zero points 6 to 9, as they are stored.
    let least = match format {
        Format::Gptq { plus, .. } => 6 - u64::from(plus),
        _ => 6,
    };
    let zeros = (0..groups * rows / 2)
        .map(|_| (least + prng.below(4) + 16 * (least + prng.below(4))) as u8);
    let zeros = zeros.collect();
    let mut parts = vec![
        ("scales", Dtype::F16, vec![groups, rows], scales),
        ("qzeros", Dtype::I32, vec![groups, rows / 8], zeros),
    ];
    if let Format::Gptq { .. } = format {
        let order = (0..cols).flat_map(|k| ((k / group) as i32).to_le_bytes());
        parts.push(("g_idx", Dtype::I32, vec![cols], order.collect()));
        parts.push(("qweight", Dtype::I32, vec![cols / 8, rows], data));
    } else {
        parts.push(("qweight", Dtype::I32, vec![cols, rows / 8], data));
    }
    parts
}

/// What the config says: the key and the object.
pub fn quantization(format: Format) -> (&'static str, Value) {
    let own = "quantization_config";
    match format {
        Format::Mxfp4 | Format::Mxfp8 | Format::Nvfp4 => {
            let bits = if format == Format::Mxfp8 { 8 } else { 4 };
            let group = if format == Format::Nvfp4 { 16 } else { 32 };
            let mode = format.to_string();
            (
                "quantization",
                json!({"group_size": group, "bits": bits, "mode": mode}),
            )
        }
        Format::Gptq { group, plus } => {
            let version = if plus == 1 { "gptq" } else { "gptq_v2" };
            let config = json!({"quant_method": "gptq", "bits": 4, "group_size": group,
                "desc_act": false, "sym": false, "checkpoint_format": version});
            (own, config)
        }
        Format::Awq { group } => {
            let config = json!({"quant_method": "awq", "bits": 4, "group_size": group,
                "zero_point": true, "version": "gemm"});
            (own, config)
        }
        Format::Centered { bits, group, .. } => {
            let weights = json!({"num_bits": bits, "type": "int", "symmetric": true,
                "strategy": "group", "group_size": group, "actorder": null});
            let config = json!({"quant_method": "compressed-tensors", "format": "pack-quantized",
                "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights}},
                "ignore": ["lm_head"]});
            (own, config)
        }
        Format::Float8 { rows: 1, .. } => {
            let weights = json!({"num_bits": 8, "type": "float", "symmetric": true,
                "strategy": "channel"});
            let config = json!({"quant_method": "compressed-tensors", "format": "float-quantized",
                "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights}}});
            (own, config)
        }
        Format::Float8 { rows, cols, .. } => {
            let config = json!({"quant_method": "fp8", "activation_scheme": "dynamic",
                "weight_block_size": [rows, cols]});
            (own, config)
        }
        other => panic!("{other} is in no folder"),
    }
}
