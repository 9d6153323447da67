//! Weights on their way to a GPU: what its kernels make of a file's bytes is what the layout says, to the bit, for every
//! format that GPUs multiply with.

#[path = "../support/gpu.rs"]
mod gpu;
#[path = "../support/mapped.rs"]
mod mapped;
#[allow(dead_code)] // other tests use the rest
#[path = "../support/prng.rs"]
mod prng;
#[allow(dead_code)] // other tests use the rest
#[path = "../support/random_formats.rs"]
mod random_formats;
#[allow(dead_code)] // other tests use the rest
#[path = "../support/random_matrix.rs"]
mod random_matrix;
mod tiles;

use mlxrocm::formats::{Bytes, Format, RowGroups, ScalarType, Weight};
use mlxrocm::gpu::Device;
use mlxrocm::gpu::model::{PackForm, TILE_ROWS, packed};
use prng::Prng;
use std::sync::Arc;
use tiles::pack_tile;

const SCALARS: [ScalarType; 3] = [ScalarType::F16, ScalarType::BF16, ScalarType::F32];

/// Every format that GPUs multiply with.
fn formats() -> Vec<Format> {
    let mut all: Vec<Format> = SCALARS.map(Format::Dense).to_vec();
    for (place, bits) in [2, 3, 4, 5, 6, 8].into_iter().enumerate() {
        for (turn, group) in [32, 64, 128].into_iter().enumerate() {
            // Each type with each group somewhere.
            let scale = SCALARS[(place + turn) % 3];
            all.push(Format::Affine { bits, group, scale });
        }
    }
    for (place, bits) in [4, 8].into_iter().enumerate() {
        for (turn, group) in [32, 64, 128].into_iter().enumerate() {
            let scale = SCALARS[(place + turn) % 3];
            all.push(Format::Centered { bits, group, scale });
        }
    }
    for group in [32, 64, 128] {
        all.push(Format::Gptq { group, plus: 1 });
        all.push(Format::Gptq { group, plus: 0 });
        all.push(Format::Awq { group });
    }
    for (rows, cols, scale) in [
        (128, 128, ScalarType::F32),
        (1, 1024, ScalarType::BF16),
        (1 << 20, 1 << 20, ScalarType::F32),
        (24, 64, ScalarType::F16),
    ] {
        all.push(Format::Float8 { rows, cols, scale });
    }
    all.extend([Format::Q4_0, Format::Q4_1, Format::Q5_0, Format::Q5_1]);
    all.extend([Format::Q8_0, Format::Q8_1, Format::GgufMxfp4, Format::Mxfp4]);
    all.extend([
        Format::Q2K,
        Format::Q3K,
        Format::Q4K,
        Format::Q5K,
        Format::Q6K,
    ]);
    all.extend([Format::Mxfp8, Format::Nvfp4, Format::GgufNvfp4]);
    all.extend([Format::Iq4Nl, Format::Iq4Xs, Format::Tq1_0, Format::Tq2_0]);
    all.extend([Format::Iq3Xxs, Format::Iq3S, Format::Iq2Xxs, Format::Iq2Xs]);
    all.extend([Format::Iq2S, Format::Iq1S, Format::Iq1M]);
    all
}

/// Bytes that begin at an odd place of their file.
fn somewhere(bytes: Vec<u8>) -> Bytes {
    let all = [b"odd".as_slice(), &bytes].concat();
    mapped::mapped(&all).part(3..all.len()).unwrap()
}

fn weight(prng: &mut Prng, format: Format, rows: usize, cols: usize) -> Weight {
    let (data, scales, biases) = match format {
        Format::Affine { bits, group, scale } => {
            let group = usize::from(group);
            let [data, scales, biases] =
                random_matrix::affine_matrix(prng, bits, group, scale, rows, cols, 0.7);
            (data, Some(scales), Some(biases))
        }
        Format::Mxfp4
        | Format::Mxfp8
        | Format::Nvfp4
        | Format::Centered { .. }
        | Format::Float8 { .. }
        | Format::Gptq { .. }
        | Format::Awq { .. } => random_formats::parts(prng, format, rows, cols, 0.7),
        _ => {
            let data = random_matrix::gguf_matrix(prng, format, rows, cols, 0.7);
            (data, None, None)
        }
    };
    let (scales, biases) = (scales.map(somewhere), biases.map(somewhere));
    Weight::new("w", format, rows, cols, somewhere(data), scales, biases).unwrap()
}

/// A row of an unquantized matrix: its bytes and its largest absolute value.
fn dense_row(weight: &Weight, ty: ScalarType, row: usize) -> (&[u8], f32) {
    let len = weight.cols * ty.bytes();
    let (run, in_run) = (row / weight.run, row % weight.run);
    let at = ((run * weight.turns + weight.turn) * weight.run + in_run) * len;
    let mut values = vec![0.0; weight.cols];
    weight.dequantize_row(row, &mut values).unwrap();
    let most = values
        .iter()
        .fold(0.0f32, |most, value| most.max(value.abs()));
    (&weight.data[at..at + len], most)
}

/// The tiles of matrices that lie together, and the power of two that brings them below 8192.
fn expected(weights: &[Weight], interleaved: bool) -> (Vec<u8>, f32) {
    let mut order = Vec::new();
    for (place, weight) in weights.iter().enumerate() {
        let rows = (0..weight.rows).step_by(TILE_ROWS);
        order.extend(rows.map(|row| (if interleaved { row } else { 0 }, place, row)));
    }
    order.sort();
    let (mut all, mut peak, mut groups) = (Vec::new(), 0.0f32, RowGroups::default());
    for (_, place, first) in order {
        let weight = &weights[place];
        let rows = TILE_ROWS.min(weight.rows - first);
        let (tile, most) = match weight.format {
            Format::Dense(ty) => {
                let mut tile = vec![0; TILE_ROWS * weight.cols * ty.bytes()];
                let mut most = 0.0f32;
                for (row, to) in tile
                    .chunks_mut(weight.cols * ty.bytes())
                    .enumerate()
                    .take(rows)
                {
                    let (bytes, largest) = dense_row(weight, ty, first + row);
                    to.copy_from_slice(bytes);
                    most = most.max(largest);
                }
                (tile, most)
            }
            format => {
                let form = PackForm::of(format.group_form().unwrap()).unwrap();
                let mut tile = vec![0; form.tile_bytes(weight.cols)];
                let row = |i: usize| (i < rows).then_some((weight, first + i));
                let most = pack_tile(form, row, &mut groups, &mut tile).unwrap();
                (tile, most)
            }
        };
        all.extend(tile);
        peak = peak.max(most);
    }
    let exponent = (peak.log2().floor() - 12.0).clamp(-60.0, 60.0);
    (
        all,
        if peak.is_normal() {
            exponent.exp2()
        } else {
            1.0
        },
    )
}

#[track_caller]
fn check(device: &Arc<Device>, weights: &[Weight], interleaved: bool, what: &str) {
    let (tiles, back) = packed(device, weights, interleaved, 2).unwrap();
    let (right, right_back) = expected(weights, interleaved);
    assert_eq!(tiles.len(), right.len(), "{what}");
    let wrong = (0..tiles.len()).find(|at| tiles[*at] != right[*at]);
    assert_eq!(wrong, None, "{what}: the first wrong byte");
    assert_eq!(back, right_back, "{what}");
}

/// Columns of a format's matrices: a whole number of its blocks, and not of units.
fn widths(format: Format) -> [usize; 2] {
    match format {
        Format::Dense(_) => [37, 64],
        _ => match format.block().0 {
            256 => [256, 768],
            128 => [128, 384],
            64 => [64, 192],
            // 8-bit floats may have any number of columns.
            1 => [36, 356],
            _ => [32, 352],
        },
    }
}

/// Rows of matrices of a format: any, or of files of words of eight rows.
fn heights(format: Format) -> [usize; 4] {
    match format {
        Format::Gptq { .. } | Format::Awq { .. } => [8, 40, 16, 24],
        _ => [5, 33, 16, 7],
    }
}

fn every_format(target: &str) {
    let gpu = gpu::soft(&format!("devices={target};integrated=0"));
    let (device, mut prng) = (gpu.device(), Prng::new(11));
    for format in formats() {
        let what = |how: &str| format!("{format} ({format:?}), {how}, on {target}");
        let [narrow, wide] = widths(format);
        let [few, rows @ ..] = heights(format);
        let one = weight(&mut prng, format, few, narrow);
        check(&device, &[one], false, &what("one"));
        let several = rows.map(|rows| weight(&mut prng, format, rows, wide));
        check(&device, &several, false, &what("several"));
        let pair = [40, 40].map(|rows| weight(&mut prng, format, rows, wide));
        check(&device, &pair, true, &what("interleaved"));
        if !format.rows_apart() {
            continue;
        }
        let stack = weight(&mut prng, format, 3 * 32, narrow);
        check(
            &device,
            &[stack.stacked(3).unwrap()],
            false,
            &what("stacked"),
        );
        // Gate and up of experts, in the same bytes.
        let both = weight(&mut prng, format, 2 * 2 * 32, wide);
        let both = both.stacked(2).unwrap();
        let turns = [0, 1].map(|turn| both.clone().by_turns(2, turn, 1).unwrap());
        check(&device, &turns, true, &what("by turns"));
        check(&device, &turns[1..], false, &what("the second by turns"));
        // Queries and gates of attention, some rows of each at a time.
        let both = weight(&mut prng, format, 2 * 3 * 24, wide);
        let turns = [0, 1].map(|turn| both.clone().by_turns(2, turn, 24).unwrap());
        check(&device, &turns, false, &what("by runs"));
        check(&device, &turns[1..], false, &what("the second by runs"));
        // A matrix more behind a stack.
        let mut longer = || {
            let stack = weight(&mut prng, format, 2 * 32, wide).stacked(2).unwrap();
            stack.followed_by(weight(&mut prng, format, 32, wide))
        };
        match [longer(), longer()] {
            [Some(gate), Some(up)] => {
                assert_eq!((gate.stack, gate.rows, gate.own_rows()), (3, 96, 64));
                check(
                    &device,
                    std::slice::from_ref(&gate),
                    false,
                    &what("a stack and one"),
                );
                check(&device, &[gate, up], true, &what("stacks and one each"));
            }
            none => assert!(
                matches!((format, none), (Format::Dense(_), [None, None])),
                "{format}"
            ),
        }
    }
    drop(device);
    gpu.clean();
    gpu.no_leaks();
}

#[test]
fn tiles_are_what_the_layout_says() {
    every_format("gfx1151");
}

#[test]
fn on_other_chips_too() {
    every_format(gpu::todays(&gpu::targets()));
}

/// More than one piece of a file (4 MB), and pieces that end within a matrix.
#[test]
fn matrices_larger_than_a_piece() {
    let gpu = gpu::soft("devices=gfx1151;integrated=0");
    let (device, mut prng) = (gpu.device(), Prng::new(12));
    let (rows, cols, scale) = (128, 128, ScalarType::F32);
    for (format, rows) in [
        (Format::Q8_0, 1601),
        (Format::Dense(ScalarType::BF16), 801),
        (Format::Iq4Xs, 2001),
        (Format::Float8 { rows, cols, scale }, 1601),
        (Format::Awq { group: 128 }, 3208),
        (Format::Gptq { group: 64, plus: 1 }, 3208),
    ] {
        let pair = [rows, rows].map(|rows| weight(&mut prng, format, rows, 1536));
        check(&device, &pair, true, &format!("{format}"));
    }
    let both = weight(&mut prng, Format::Q8_0, 2 * 5 * 272, 1536);
    let turns = [0, 1].map(|turn| both.clone().by_turns(2, turn, 272).unwrap());
    check(&device, &turns, false, "by runs");
    drop(device);
    gpu.clean();
    gpu.no_leaks();
}

/// Scales that are no finite numbers are moved as they are; a power of two has to be one.
#[test]
fn numbers_that_are_not_finite() {
    let gpu = gpu::soft("devices=gfx1151;integrated=0");
    let (device, mut prng) = (gpu.device(), Prng::new(13));
    let scale = ScalarType::F32;
    let format = Format::Affine {
        bits: 4,
        group: 32,
        scale,
    };
    for odd in [f32::INFINITY, f32::NAN, f32::NEG_INFINITY, 1e-40, 3e38] {
        let mut weight = weight(&mut prng, format, 20, 96);
        let mut scales = weight.scales.as_ref().unwrap().to_vec();
        scales[40..44].copy_from_slice(&odd.to_le_bytes());
        weight.scales = Some(somewhere(scales));
        check(&device, &[weight], false, &format!("{odd}"));
    }
    let mut weight = weight(&mut prng, Format::Mxfp4, 20, 96);
    let mut scales = weight.scales.as_ref().unwrap().to_vec();
    for byte in [0, 253, 254] {
        scales[40] = byte;
        weight.scales = Some(somewhere(scales.clone()));
        check(&device, &[weight.clone()], false, &format!("2^{byte}"));
    }
    scales[40] = 255;
    weight.scales = Some(somewhere(scales));
    let refused = |weight: Weight| {
        let error = packed(&device, &[weight], false, 2);
        error.unwrap_err().to_string()
    };
    let error = refused(weight);
    assert!(
        error.contains("row 13") && error.contains("not a finite"),
        "{error}"
    );
    // 8-bit floats that are no numbers, as weights and as scales.
    let (rows, cols, scale) = (1, 128, ScalarType::F32);
    let floats = Format::Float8 { rows, cols, scale };
    for format in [Format::Mxfp8, floats, Format::Nvfp4] {
        let mut weight = self::weight(&mut prng, format, 20, 96);
        let put = |bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            let at = bytes.len() / 20 * 13 + 2;
            bytes[at] = 0xff;
            somewhere(bytes)
        };
        match format {
            Format::Nvfp4 => weight.scales = weight.scales.as_deref().map(put),
            _ => weight.data = put(&weight.data),
        }
        let error = refused(weight);
        assert!(
            error.contains("row 13") && error.contains("not a finite"),
            "{format}: {error}"
        );
    }
    // 128 times a scale is the bias.
    let (group, scale) = (64, ScalarType::F16);
    let format = Format::Centered {
        bits: 8,
        group,
        scale,
    };
    let mut weight = self::weight(&mut prng, format, 20, 128);
    let mut scales = weight.scales.as_ref().unwrap().to_vec();
    scales[..2].copy_from_slice(&half::f16::from_f32(600.0).to_le_bytes());
    weight.scales = Some(somewhere(scales));
    let error = refused(weight);
    assert!(error.contains("too large for GPUs"), "{error}");
    drop(device);
    gpu.clean();
    gpu.no_leaks();
}

/// A file that is cut while it is loaded is an error, and the device is left as it was.
#[test]
fn files_that_were_cut() {
    use std::io::Write;
    let gpu = gpu::soft("devices=gfx1151;integrated=0");
    let (device, mut prng) = (gpu.device(), Prng::new(14));
    let data = random_matrix::gguf_matrix(&mut prng, Format::Q8_0, 64, 256, 1.0);
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&data).unwrap();
    let bytes = mlxrocm::formats::MappedFile::open(file.path()).unwrap();
    let bytes = bytes.slice(0..data.len()).unwrap();
    let weight = Weight::new("w", Format::Q8_0, 64, 256, bytes, None, None).unwrap();
    file.as_file().set_len(5000).unwrap();
    let error = packed(&device, &[weight], false, 2)
        .unwrap_err()
        .to_string();
    assert!(error.contains("was cut to 5000 bytes"), "{error}");
    assert_eq!(device.memory().unwrap().active, 0);
    drop(device);
    gpu.clean();
    gpu.no_leaks();
}
