//! Named arrays of a GGUF file, as MLX has them: Q4_0, Q4_1 and Q8_0 as codes, scales and biases of affine
//! quantization in groups of 32; other quantized formats as f16 numbers.

use super::{Metadata, NamedArrays, mapped};
use crate::array::Array;
use crate::cpu::Elements;
use crate::formats::gguf::{Gguf, Value};
use crate::formats::{Format, RowGroups, ScalarType, Weight};
use crate::ir::Dtype;
use crate::{Error, Result};
use half::f16;
use std::path::Path;

pub(super) fn load(path: &Path) -> Result<NamedArrays> {
    let file = Gguf::open(path)?;
    let mut named = NamedArrays::default();
    let names: Vec<String> = file.names().map(str::to_string).collect();
    for name in names {
        if let Some((kind, data)) = file.plain(&name)? {
            let dtype = match kind {
                "I8" => Dtype::I8,
                "I16" => Dtype::I16,
                "I32" => Dtype::I32,
                "I64" => Dtype::I64,
                _ => Dtype::F64,
            };
            let sizes = file.dims(&name).unwrap_or_default().iter().rev();
            let array = mapped(data, dtype, &sizes.copied().collect::<Vec<usize>>())?;
            named.arrays.insert(name, array);
            continue;
        }
        // Says which type is not read.
        let Some(weight) = file.find(&name)? else {
            continue;
        };
        let stored = file.dims(&name).unwrap_or_default();
        let sizes: Vec<usize> = stored.iter().rev().copied().collect();
        let mut add = |name: String, array: Array| named.arrays.insert(name, array);
        match weight.format {
            Format::Dense(scalar) => {
                let dtype = match scalar {
                    ScalarType::F32 => Dtype::F32,
                    ScalarType::F16 => Dtype::F16,
                    ScalarType::BF16 => Dtype::Bf16,
                };
                add(name, mapped(&weight.data, dtype, &sizes)?);
            }
            Format::Q4_0 | Format::Q4_1 | Format::Q8_0 => {
                let [codes, scales, biases] = affine(weight, &sizes)?;
                let stem = name.strip_suffix(".weight").unwrap_or(&name).to_string();
                add(name, codes);
                add(format!("{stem}.scales"), scales);
                add(format!("{stem}.biases"), biases);
            }
            _ => {
                add(name, numbers(weight, &sizes)?);
            }
        }
    }
    for (key, value) in file.metadata() {
        let value = metadata(value)?;
        named.metadata.insert(key.to_string(), value);
    }
    Ok(named)
}

/// Room for so many numbers.
fn room<T>(weight: &Weight, count: usize) -> Result<Vec<T>> {
    let mut room = Vec::new();
    let reserved = room.try_reserve_exact(count);
    reserved.map_err(|_| Error::OutOfMemory(format!("tensor {}: {count} numbers", weight.name)))?;
    Ok(room)
}

/// Codes, scales and biases: `w = scale·q + bias`, of 4 or 8 bits in groups of 32.
fn affine(weight: &Weight, sizes: &[usize]) -> Result<[Array; 3]> {
    let form = weight.format.group_form();
    let form = form.ok_or_else(|| Error::Internal("a quantized format without groups".into()))?;
    let (bits, groups) = (usize::from(form.bits), weight.cols / form.group);
    let mut codes: Vec<u32> = room(weight, weight.rows * weight.cols * bits / 32)?;
    let mut scales: Vec<f16> = room(weight, weight.rows * groups)?;
    let mut biases: Vec<f16> = room(weight, weight.rows * groups)?;
    let mut row = RowGroups::default();
    for place in 0..weight.rows {
        weight.read_groups(place, &mut row)?;
        let word = |codes: &[u8]| {
            let shifted = codes.iter().enumerate();
            shifted.fold(0, |word, (i, &code)| word | u32::from(code) << (i * bits))
        };
        codes.extend(row.codes.chunks_exact(32 / bits).map(word));
        for group in 0..groups {
            let pair = row.scale_bias(form, group);
            let (scale, bias) = pair.ok_or_else(|| Error::Internal("a short row".into()))?;
            scales.push(f16::from_f32(scale));
            biases.push(f16::from_f32(bias));
        }
    }
    let with_last = |last: usize| {
        let outer = &sizes[..sizes.len().saturating_sub(1)];
        [outer, &[last]].concat()
    };
    let array = |elements: Result<Elements>| elements.map(Array::from_elements);
    let of_groups = with_last(groups);
    Ok([
        array(Elements::from_slice(
            &codes,
            Dtype::U32,
            &with_last(weight.cols * bits / 32),
        ))?,
        array(Elements::from_slice(&scales, Dtype::F16, &of_groups))?,
        array(Elements::from_slice(&biases, Dtype::F16, &of_groups))?,
    ])
}

/// The numbers as f16.
fn numbers(weight: &Weight, sizes: &[usize]) -> Result<Array> {
    let mut halves: Vec<f16> = room(weight, weight.rows * weight.cols)?;
    let mut row: Vec<f32> = room(weight, weight.cols)?;
    row.resize(weight.cols, 0.0);
    for place in 0..weight.rows {
        weight.dequantize_row(place, &mut row)?;
        halves.extend(row.iter().map(|&number| f16::from_f32(number)));
    }
    Elements::from_slice(&halves, Dtype::F16, sizes).map(Array::from_elements)
}

/// Metadata; numbers in the narrowest of 32 and 64 bits that holds them, fractions in single precision as in MLX.
fn metadata(value: &Value) -> Result<Metadata> {
    fn list<T: bytemuck::Pod>(values: &[T], dtype: Dtype, sizes: &[usize]) -> Result<Metadata> {
        let elements = Elements::from_slice(values, dtype, sizes)?;
        Ok(Metadata::Numbers(Array::from_elements(elements)))
    }
    fn integers(values: &[i64], sizes: &[usize]) -> Result<Metadata> {
        let narrow: Result<Vec<i32>, _> = values.iter().map(|&v| i32::try_from(v)).collect();
        match narrow {
            Ok(narrow) => list(&narrow, Dtype::I32, sizes),
            Err(_) => list(values, Dtype::I64, sizes),
        }
    }
    match value {
        Value::Text(text) => Ok(Metadata::Text(text.clone())),
        Value::Texts(texts) => Ok(Metadata::Texts(texts.clone())),
        Value::Unsigned(number) => match u32::try_from(*number) {
            Ok(number) => list(&[number], Dtype::U32, &[]),
            Err(_) => list(&[*number], Dtype::U64, &[]),
        },
        Value::Signed(number) => integers(&[*number], &[]),
        Value::Float(number) => list(&[*number as f32], Dtype::F32, &[]),
        Value::Bool(truth) => list(&[u8::from(*truth)], Dtype::Bool, &[]),
        Value::Integers(numbers) => integers(numbers, &[numbers.len()]),
        Value::Floats(numbers) => {
            let numbers: Vec<f32> = numbers.iter().map(|&number| number as f32).collect();
            list(&numbers, Dtype::F32, &[numbers.len()])
        }
        Value::Bools(truths) => {
            let truths: Vec<u8> = truths.iter().map(|&truth| u8::from(truth)).collect();
            list(&truths, Dtype::Bool, &[truths.len()])
        }
    }
}
