//! Norms, rotary position embedding and attention.

use crate::goldens::{TYPES, all_used, golden as g, same};
use mlxrocm::array::Array;
use mlxrocm::cpu::Elements;
use mlxrocm::ir::{Dtype, Number, Rope};

fn integers(values: &[i32], sizes: &[usize]) -> Array {
    Array::from_elements(Elements::from_slice(values, Dtype::I32, sizes).unwrap())
}

#[test]
fn norms_are_those_of_mlx() {
    for (name, _) in TYPES {
        let of = |part| format!("norm.{name}/{part}");
        let (x, w, b) = (g(&of("x")), g(&of("w")), g(&of("b")));
        same(&of("rms"), x.rms_norm(Some(&w), 1e-5));
        same(&of("rms_plain"), x.rms_norm(None, 1e-5));
        same(&of("wide"), x.rms_norm(Some(&w.astype(Dtype::F32)), 1e-5));
        same(&of("layer"), x.layer_norm(Some(&w), Some(&b), 1e-5));
        same(&of("layer_w"), x.layer_norm(Some(&w), None, 1e-5));
        same(&of("layer_b"), x.layer_norm(None, Some(&b), 1e-5));
    }
    all_used(&["norm.f32", "norm.f16", "norm.bf16"]);
}

#[test]
fn rotations_are_those_of_mlx() {
    let rope = |dims: usize, traditional: bool, base: Option<f64>, scale: f64| Rope {
        dims,
        traditional,
        base: base.map(Number::new),
        scale: Number::new(scale),
    };
    for (name, _) in TYPES {
        let of = |part| format!("rope.{name}/{part}");
        let (x, periods) = (g(&of("x")), g(&of("periods")));
        let plain = rope(12, false, Some(10000.0), 1.0);
        same(&of("plain"), x.rope(plain, &integers(&[5], &[]), None));
        let pairs = rope(8, true, Some(10000.0), 0.5);
        same(&of("pairs"), x.rope(pairs, &integers(&[3], &[1]), None));
        let offsets = integers(&[7, 2], &[2]);
        let each = rope(8, false, None, 1.0);
        same(&of("each"), x.rope(each, &offsets, Some(&periods)));
        let first = x.take(&integers(&[0], &[1]), 0).unwrap();
        let first = first.squeeze(&[0]).unwrap();
        let three = rope(4, false, Some(100.0), 1.0);
        same(&of("three"), first.rope(three, &integers(&[0], &[]), None));
    }
    all_used(&["rope"]);
}

#[test]
fn attention_is_that_of_mlx() {
    for (name, _) in TYPES {
        let of = |part| format!("attention.{name}/{part}");
        let (q, k, v) = (g(&of("q")), g(&of("k")), g(&of("v")));
        let (truth, numbers, sinks) = (g(&of("truth")), g(&of("numbers")), g(&of("sinks")));
        let attend = |causal, mask: Option<&Array>, sinks: Option<&Array>| {
            q.scaled_dot_product_attention(&k, &v, 0.3, causal, mask, sinks)
        };
        same(&of("plain"), attend(false, None, None));
        same(&of("causal"), attend(true, None, None));
        same(&of("masked"), attend(false, Some(&truth), None));
        same(&of("added"), attend(false, Some(&numbers), None));
        same(&of("sunk"), attend(false, None, Some(&sinks)));
        same(&of("all"), attend(true, None, Some(&sinks)));
        let two = integers(&[0, 1], &[2]);
        let (k, v) = (k.take(&two, 2).unwrap(), v.take(&two, 2).unwrap());
        let short = q.scaled_dot_product_attention(&k, &v, 0.3, true, None, None);
        same(&of("short"), short);
    }
    all_used(&["attention"]);
}
