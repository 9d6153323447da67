//! compressed-tensors' integers with zero points and 4-bit floats with a scale of the whole matrix: their numbers to the
//! bit (`golden/formats/make_compressed.py`), and nets of them beside the same numbers in f32.

#[path = "support/compressed.rs"]
mod compressed;
#[path = "support/in_steps.rs"]
mod in_steps;

use compressed::tiny_folder::Tensor;
use compressed::{folder, nets};
use in_steps::{executor, in_steps};
use mlxrocm::Error;
use mlxrocm::graph::{RULES, Rules};
use mlxrocm::model::weights::Source;
use safetensors::SafeTensors;
use safetensors::tensor::Dtype;
use std::path::Path;

const PATH: &str = "model.layers.0.self_attn.q_proj";

/// The golden's tensors of a module, under another name.
fn golden(kind: &str, path: &str) -> Vec<Tensor> {
    let bytes = include_bytes!("golden/formats/compressed.safetensors");
    let file = SafeTensors::deserialize(bytes).unwrap();
    let of = file.tensors().into_iter().filter_map(|(name, view)| {
        let (module, part) = name.split_once('.')?;
        let dtype = match part {
            "weight_scale" if kind == "nvfp4" => Dtype::F8_E4M3,
            _ => view.dtype(),
        };
        let name = format!("{path}.{part}");
        (module == kind).then(|| (name, dtype, view.shape().to_vec(), view.data().to_vec()))
    });
    of.collect()
}

#[test]
fn numbers_are_bit_exact() {
    let bytes = include_bytes!("golden/formats/compressed_values.safetensors");
    let values = SafeTensors::deserialize(bytes).unwrap();
    for (kind, view) in values.tensors() {
        let [rows, cols] = view.shape()[..] else {
            panic!("{kind}");
        };
        let folder = folder(&kind, &golden(&kind, PATH));
        let source = Source::open(&folder.path).unwrap();
        let weight = source.linear(PATH, rows, cols).unwrap().weight;
        let mut row = vec![0.0; cols];
        for (at, expected) in view.data().chunks_exact(4 * cols).enumerate() {
            weight.dequantize_row(at, &mut row).unwrap();
            let expected = expected.as_chunks::<4>().0;
            for (column, (found, expected)) in row.iter().zip(expected).enumerate() {
                let expected = f32::from_le_bytes(*expected);
                // Zeros may have either sign.
                let same = *found == expected
                    && (expected == 0.0 || found.to_bits() == expected.to_bits());
                assert!(
                    same,
                    "{kind} [{at}, {column}]: {found} instead of {expected}"
                );
            }
        }
    }
}

/// What is wrong is said with the tensor's name.
#[test]
fn what_is_wrong_is_named() {
    let error = |kind: &str, change: &dyn Fn(&mut Vec<Tensor>)| {
        let mut tensors = golden(kind, PATH);
        change(&mut tensors);
        let cols = if kind == "nvfp4" { 176 } else { 256 };
        let folder = folder(kind, &tensors);
        let bound = Source::open(&folder.path).and_then(|source| source.linear(PATH, 13, cols));
        bound.err().unwrap()
    };
    let part = |all: &mut Vec<Tensor>, name: &str, change: &dyn Fn(&mut Tensor)| {
        change(
            all.iter_mut()
                .find(|(other, ..)| other.ends_with(name))
                .unwrap(),
        );
    };
    for (kind, name) in [
        ("int4_32", "weight_zero_point"),
        ("int4_32", "weight_scale"),
        ("nvfp4", "weight_scale"),
        ("nvfp4", "weight_global_scale"),
    ] {
        let gone = error(kind, &|all| {
            all.retain(|(other, ..)| !other.ends_with(name))
        });
        assert!(gone.to_string().contains(name), "{gone}");
        let shape = error(kind, &|all| {
            part(all, name, &|(_, _, shape, data)| {
                shape[0] += 1;
                let size = shape.iter().product::<usize>();
                let old = data.len() / (size / shape[0] * (shape[0] - 1));
                data.resize(size * old, 0x11);
            });
        });
        assert!(shape.to_string().contains(name), "{shape}");
    }
    for number in [0.0f32, -1.0, f32::NAN, f32::INFINITY] {
        let wrong = error("nvfp4", &|all| {
            part(all, "weight_global_scale", &|(.., data)| {
                *data = number.to_le_bytes().to_vec();
            });
        });
        assert!(matches!(wrong, Error::InvalidFile(_)), "{number}: {wrong}");
    }
}

fn logits(path: &Path, rules: Rules, steps: &[usize]) -> Vec<f32> {
    let mut executor = executor(path, rules, 2);
    let tokens: Vec<u32> = (0..30).map(|i| (i * i + 3 * i) % 8).collect();
    in_steps(&tokens, steps, |slice, rows| executor.run(&[slice], rows)).unwrap()
}

/// Every matrix has its own scale; the usual ones are fused as others are, or left apart.
#[test]
fn nets_give_what_their_numbers_give() {
    for kind in ["nvfp4", "int4_32"] {
        let [packed, other] = nets(kind);
        let expected = logits(&other.path, Rules::All, &[30]);
        let size = expected.iter().fold(1.0, |most: f32, x| most.max(x.abs()));
        let each = RULES.iter().map(|rule| Rules::Without(rule.name));
        for rules in [Rules::All, Rules::Nothing].into_iter().chain(each) {
            for steps in [&[30][..], &[17, 5, 8], &[]] {
                let found = logits(&packed.path, rules, steps);
                let far = found.iter().zip(&expected).map(|(a, b)| (a - b).abs());
                let far = far.fold(0.0, f32::max) / size;
                // What is multiplied with 4-bit weights is rounded to 16 bits.
                assert!(far < 2e-3, "{kind} {rules:?} {steps:?}: {far}");
            }
        }
    }
}
