//! Every quantization format against independently computed values (tests/golden/formats/make.py):
//! the plain form bit for bit, the group form within rounding, and bit for bit where the group form
//! keeps the format's own order of operations.

use mlxrocm::formats::{
    Format, GroupForm, MappedFile, RowGroups, ScalarType, ScaleForm, Values, Weight,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/formats")
}

fn format(case: &Value) -> Format {
    let number = |key: &str| case[key].as_u64().unwrap();
    let scale = || match case["scale"].as_str().unwrap() {
        "F16" => ScalarType::F16,
        "BF16" => ScalarType::BF16,
        _ => ScalarType::F32,
    };
    match case["format"].as_str().unwrap() {
        "Q4_0" => Format::Q4_0,
        "Q4_1" => Format::Q4_1,
        "Q5_0" => Format::Q5_0,
        "Q5_1" => Format::Q5_1,
        "Q8_0" => Format::Q8_0,
        "Q2_K" => Format::Q2K,
        "Q3_K" => Format::Q3K,
        "Q4_K" => Format::Q4K,
        "Q5_K" => Format::Q5K,
        "Q6_K" => Format::Q6K,
        "Q8_1" => Format::Q8_1,
        "IQ1_S" => Format::Iq1S,
        "IQ1_M" => Format::Iq1M,
        "IQ2_XXS" => Format::Iq2Xxs,
        "IQ2_XS" => Format::Iq2Xs,
        "IQ2_S" => Format::Iq2S,
        "IQ3_XXS" => Format::Iq3Xxs,
        "IQ3_S" => Format::Iq3S,
        "IQ4_NL" => Format::Iq4Nl,
        "IQ4_XS" => Format::Iq4Xs,
        "TQ1_0" => Format::Tq1_0,
        "TQ2_0" => Format::Tq2_0,
        "MXFP4" => Format::GgufMxfp4,
        "NVFP4" => Format::GgufNvfp4,
        "mxfp4" => Format::Mxfp4,
        "mxfp8" => Format::Mxfp8,
        "nvfp4" => Format::Nvfp4,
        name @ ("gptq" | "gptq_v2") => Format::Gptq {
            group: number("group") as u16,
            plus: u8::from(name == "gptq"),
        },
        "awq" => Format::Awq {
            group: number("group") as u16,
        },
        "centered" => Format::Centered {
            bits: number("bits") as u8,
            group: number("group") as u16,
            scale: scale(),
        },
        "fp8" => Format::Float8 {
            rows: case["block"][0].as_u64().unwrap() as u32,
            cols: case["block"][1].as_u64().unwrap() as u32,
            scale: scale(),
        },
        "affine" => Format::Affine {
            bits: number("bits") as u8,
            group: number("group") as u16,
            scale: scale(),
        },
        other => panic!("{other}"),
    }
}

/// The weight of a case and the values it must have.
fn load(case: &Value) -> (Weight, Vec<f32>) {
    let file = MappedFile::open(&folder().join(case["file"].as_str().unwrap())).unwrap();
    let part = |name: &str| {
        let range = case[name].as_array()?;
        let at = |i: usize| range[i].as_u64().unwrap() as usize;
        Some(file.slice(at(0)..at(1)).unwrap())
    };
    let size = |name: &str| case[name].as_u64().unwrap() as usize;
    let weight = Weight::new(
        case["file"].as_str().unwrap(),
        format(case),
        size("rows"),
        size("cols"),
        part("data").unwrap(),
        part("scales"),
        part("biases"),
    )
    .unwrap();
    let expected = part("expected").unwrap();
    let expected = expected
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
        .collect();
    (weight, expected)
}

fn cases() -> Vec<Value> {
    let text = std::fs::read_to_string(folder().join("index.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn plain_form_is_bit_exact() {
    let cases = cases();
    assert_eq!(cases.len(), 10 + 54 + 14 + 3 + 8);
    for case in &cases {
        let (weight, expected) = load(case);
        let mut row_values = vec![f32::NAN; weight.cols];
        assert_eq!(expected.len(), weight.rows * weight.cols);
        for (row, expected) in expected.chunks_exact(weight.cols).enumerate() {
            weight.dequantize_row(row, &mut row_values).unwrap();
            for (k, (value, expected)) in row_values.iter().zip(expected).enumerate() {
                assert_eq!(
                    value.to_bits(),
                    expected.to_bits(),
                    "{} row {row} weight {k}: {value} is not {expected}",
                    weight.format
                );
            }
        }
    }
}

#[test]
fn group_form_gives_the_same_numbers() {
    // Seen by format: codes (or not possible), subnormal scale, negative scale.
    let mut seen: BTreeMap<String, (Vec<bool>, bool, bool)> = BTreeMap::new();
    for case in &cases() {
        let (weight, expected) = load(case);
        let form = weight.format.group_form().unwrap();
        let key = case["file"].as_str().unwrap().to_string();
        let seen = seen.entry(key).or_insert((possible(&form), false, false));
        let mut groups = RowGroups::default();
        for (row, expected) in expected.chunks_exact(weight.cols).enumerate() {
            weight.read_groups(row, &mut groups).unwrap();
            let count = weight.cols.div_ceil(form.group);
            let (scales, biases, subs, mins) = match form.scale {
                ScaleForm::Stored(_) => (count, count, 0, 0),
                ScaleForm::Zero(..) | ScaleForm::Points(_) => (count, 0, 0, 0),
                ScaleForm::Power | ScaleForm::Float8 => (count, 0, 0, 0),
                ScaleForm::SuperZero(_) => (weight.cols / 256, 0, count, 0),
                ScaleForm::SuperMin => (weight.cols / 256, weight.cols / 256, count, count),
            };
            assert_eq!(groups.codes.len(), weight.cols);
            assert_eq!((groups.scales.len(), groups.biases.len()), (scales, biases));
            assert_eq!(
                (groups.sub_scales.len(), groups.sub_mins.len()),
                (subs, mins)
            );
            let points = match form.scale {
                ScaleForm::Points(_) | ScaleForm::Power | ScaleForm::Float8 => count,
                _ => 0,
            };
            assert_eq!(groups.points.len(), points);
            if let Values::Grid(grid) = form.values {
                assert_eq!(groups.indices.len(), weight.cols / grid.columns());
                assert_eq!(groups.signs.len(), weight.cols / 8);
            }
            // Exponents and 8-bit floats have none of their own.
            let special = matches!(form.scale, ScaleForm::Power | ScaleForm::Float8);
            seen.1 |= special;
            seen.2 |= special;
            for scale in &groups.scales {
                seen.1 |= *scale != 0.0 && scale.abs() < 6.2e-5;
                seen.2 |= *scale < 0.0;
            }
            for (k, expected) in expected.iter().enumerate() {
                let code = groups.codes[k];
                seen.0[usize::from(code)] = true;
                let (group, block) = (k / form.group, k / 256);
                let (scale, bias) = groups.scale_bias(form, group).unwrap();
                let value = form.values.value(code);
                let product = scale * value;
                let bound = product.abs().max(bias.abs()) * f32::EPSILON;
                assert!(
                    (product + bias - expected).abs() <= bound,
                    "{}",
                    weight.format
                );
                let q = |zero: u8| value - f32::from(zero);
                let exact = match form.scale {
                    ScaleForm::Stored(_) | ScaleForm::SuperMin => product + bias,
                    ScaleForm::Zero(_, zero) => groups.scales[group] * q(zero),
                    ScaleForm::Points(_) => groups.scales[group] * q(groups.points[group]),
                    ScaleForm::Power | ScaleForm::Float8 => product,
                    ScaleForm::SuperZero(zero) => {
                        groups.scales[block] * f32::from(groups.sub_scales[group]) * q(zero)
                    }
                };
                // Zeros may differ in sign only.
                assert!(exact == *expected, "{} {exact} {expected}", weight.format);
            }
        }
    }
    for (name, (codes, subnormal, negative)) in seen {
        assert!(codes.iter().all(|seen| *seen), "{name}: not all codes seen");
        assert!(
            subnormal && negative,
            "{name}: no subnormal or negative scale"
        );
    }
}

/// Codes that cannot be, as if they were seen.
fn possible(form: &GroupForm) -> Vec<bool> {
    let mut seen = vec![form.values != Values::Code; 1 << form.bits];
    match form.values {
        // TQ1_0 has three, TQ2_0 four.
        Values::Code if form.group == 256 => seen[3] = true,
        Values::Code => {}
        Values::Table(_) => seen.fill(false),
        Values::E4M3 => {
            seen.fill(false);
            (seen[0x7f], seen[0xff]) = (true, true);
        }
        Values::Grid(grid) => {
            let columns = grid.columns();
            for word in grid.words() {
                for at in 0..columns {
                    let code = word >> (4 * (at / 2) + 16 * (at % 2)) & 15;
                    seen[code as usize] = false;
                    seen[code as usize | 8] = false;
                }
            }
        }
    }
    seen
}

#[test]
fn stacks_are_taken_apart() {
    for case in &cases() {
        let (weight, expected) = load(case);
        let halves = weight.clone().stacked(2);
        assert!(weight.clone().stacked(0).is_err() && weight.clone().stacked(3).is_err());
        let apart = weight.format.rows_apart();
        assert_eq!(
            halves.is_ok(),
            apart && weight.rows % 2 == 0,
            "{}",
            weight.format
        );
        let Ok(halves) = halves else { continue };
        assert!(halves.matrix(2).is_err());
        let last = halves.matrix(1).unwrap();
        assert_eq!(
            (last.stack, last.rows, last.cols),
            (1, weight.rows / 2, weight.cols)
        );
        let mut values = vec![f32::NAN; last.cols];
        last.dequantize_row(last.rows - 1, &mut values).unwrap();
        assert_eq!(values, expected[expected.len() - last.cols..]);
    }
}

/// What is not a finite number cannot be said in the group form, and is an error there.
#[test]
fn floats_that_are_no_numbers_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let cases: [(Format, usize, &[u8]); 6] = [
        (Format::GgufMxfp4, 32, &[255; 17]),
        (Format::Mxfp4, 32, &[255; 17]),
        (Format::Mxfp8, 32, &[0x7f; 33]),
        (Format::Mxfp8, 32, &[0xff; 33]),
        (Format::Nvfp4, 16, &[0x7f; 9]),
        (
            Format::Float8 {
                rows: 1,
                cols: 32,
                scale: ScalarType::F16,
            },
            8,
            &[0x7f; 10],
        ),
    ];
    for (format, cols, bytes) in cases {
        std::fs::write(&path, bytes).unwrap();
        let file = MappedFile::open(&path).unwrap();
        let data = format.row_bytes(cols).unwrap();
        let scales = (data < bytes.len()).then(|| file.slice(data..bytes.len()).unwrap());
        let data = file.slice(0..data).unwrap();
        let weight = Weight::new("w", format, 1, cols, data, scales, None).unwrap();
        let error = weight
            .read_groups(0, &mut RowGroups::default())
            .unwrap_err();
        assert!(error.to_string().contains("finite"), "{format}: {error}");
        assert!(weight.dequantize_row(0, &mut vec![0.0; cols]).is_ok());
    }
}

#[test]
fn wrong_requests_are_errors() {
    let case = &cases()[3];
    let (weight, _) = load(case);
    let mut values = vec![0.0; weight.cols];
    assert!(weight.dequantize_row(weight.rows, &mut values).is_err());
    assert!(weight.dequantize_row(usize::MAX, &mut values).is_err());
    assert!(weight.dequantize_row(0, &mut values[1..]).is_err());
    let mut groups = RowGroups::default();
    assert!(weight.read_groups(weight.rows, &mut groups).is_err());
    // Fields are public: a weight that was changed must not panic either.
    for (rows, cols) in [(3, weight.cols), (2, 32), (usize::MAX, 1), (1, weight.cols)] {
        let mut changed = weight.clone();
        (changed.rows, changed.cols) = (rows, cols);
        let mut values = vec![0.0; cols];
        assert!(changed.dequantize_row(0, &mut values).is_err());
        assert!(changed.read_groups(0, &mut groups).is_err());
    }
    let mut changed = weight.clone();
    changed.format = Format::Affine {
        bits: 4,
        group: 512,
        scale: ScalarType::F16,
    };
    assert!(changed.dequantize_row(0, &mut values).is_err());
    let remake = |format, rows, cols, scales| {
        Weight::new("w", format, rows, cols, weight.data.clone(), scales, None)
    };
    let (rows, cols) = (weight.rows, weight.cols);
    assert!(remake(weight.format, rows, cols, None).is_ok());
    assert!(remake(weight.format, rows + 1, cols, None).is_err());
    assert!(remake(weight.format, rows, cols + 1, None).is_err());
    assert!(remake(weight.format, rows, 0, None).is_err());
    assert!(remake(weight.format, usize::MAX, cols, None).is_err());
    assert!(remake(weight.format, rows, usize::MAX / 32 * 32, None).is_err());
    assert!(remake(weight.format, rows, cols, Some(weight.data.clone())).is_err());
    let affine = |bits, group| Format::Affine {
        bits,
        group,
        scale: ScalarType::F16,
    };
    for (bits, group) in [(4, 64), (0, 64), (7, 64), (4, 0), (4, 16), (255, 128)] {
        assert!(remake(affine(bits, group), rows, cols, None).is_err());
    }
}
