//! Every quantization format against independently computed values (tests/golden/formats/make.py):
//! the plain form bit for bit, the group form within rounding, and bit for bit where the group form
//! keeps the format's own order of operations.

use mlxrocm::formats::{Format, MappedFile, RowGroups, ScalarType, ScaleForm, Weight};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/formats")
}

fn format(case: &Value) -> Format {
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
        _ => Format::Affine {
            bits: case["bits"].as_u64().unwrap() as u8,
            group: case["group"].as_u64().unwrap() as u16,
            scale: match case["scale"].as_str().unwrap() {
                "F16" => ScalarType::F16,
                "BF16" => ScalarType::BF16,
                _ => ScalarType::F32,
            },
        },
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
    assert_eq!(cases.len(), 10 + 54);
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
    // Seen by format: codes, subnormal scale, negative scale.
    let mut seen: BTreeMap<String, (Vec<bool>, bool, bool)> = BTreeMap::new();
    for case in &cases() {
        let (weight, expected) = load(case);
        let form = weight.format.group_form().unwrap();
        let key = case["file"].as_str().unwrap().to_string();
        let seen = seen
            .entry(key)
            .or_insert((vec![false; 1 << form.bits], false, false));
        let mut groups = RowGroups::default();
        for (row, expected) in expected.chunks_exact(weight.cols).enumerate() {
            weight.read_groups(row, &mut groups).unwrap();
            let count = weight.cols / form.group;
            let (scales, biases, subs, mins) = match form.scale {
                ScaleForm::Stored(_) => (count, count, 0, 0),
                ScaleForm::Zero(..) => (count, 0, 0, 0),
                ScaleForm::SuperZero(_) => (weight.cols / 256, 0, count, 0),
                ScaleForm::SuperMin => (weight.cols / 256, weight.cols / 256, count, count),
            };
            assert_eq!(groups.codes.len(), weight.cols);
            assert_eq!((groups.scales.len(), groups.biases.len()), (scales, biases));
            assert_eq!(
                (groups.sub_scales.len(), groups.sub_mins.len()),
                (subs, mins)
            );
            for scale in &groups.scales {
                seen.1 |= *scale != 0.0 && scale.abs() < 6.2e-5;
                seen.2 |= *scale < 0.0;
            }
            for (k, expected) in expected.iter().enumerate() {
                let code = groups.codes[k];
                seen.0[usize::from(code)] = true;
                let (group, block) = (k / form.group, k / 256);
                let (scale, bias) = groups.scale_bias(form, group).unwrap();
                let product = scale * f32::from(code);
                let bound = product.abs().max(bias.abs()) * f32::EPSILON;
                assert!(
                    (product + bias - expected).abs() <= bound,
                    "{}",
                    weight.format
                );
                let q = |zero: u8| f32::from(i16::from(code) - i16::from(zero));
                let exact = match form.scale {
                    ScaleForm::Stored(_) | ScaleForm::SuperMin => product + bias,
                    ScaleForm::Zero(_, zero) => groups.scales[group] * q(zero),
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
