//! Quantization, bit for bit, and products with quantized matrices.

use crate::goldens::{TYPES, all_used, exact, golden as g, same};
use mlxrocm::array::Array;
use mlxrocm::cpu::Elements;
use mlxrocm::ir::{Dtype, QuantMode, Quantization, Shape};

const FLOATS: [(&str, QuantMode); 3] = [
    ("mxfp4", QuantMode::Mxfp4),
    ("mxfp8", QuantMode::Mxfp8),
    ("nvfp4", QuantMode::Nvfp4),
];

fn affine(group: usize, bits: usize) -> Quantization {
    Quantization::new(QuantMode::Affine, Some(group), Some(bits)).unwrap()
}

#[test]
fn codes_scales_and_numbers_are_those_of_mlx() {
    for (name, dtype) in TYPES {
        let w = g(&format!("quantize.{name}/w"));
        for bits in [2, 3, 4, 5, 6, 8] {
            for group in [32, 64, 128] {
                let of = |part| format!("affine.{name}.{bits}.{group}/{part}");
                let q = affine(group, bits);
                let parts = w.quantize(q, None).unwrap();
                exact(&of("q"), Ok(parts[0].clone()));
                exact(&of("s"), Ok(parts[1].clone()));
                exact(&of("b"), Ok(parts[2].clone()));
                if group == 64 && [3, 4, 8].contains(&bits) {
                    let back = parts[0].dequantize(&parts[1], Some(&parts[2]), q, None, None);
                    exact(&of("back"), back);
                }
            }
        }
        for (mode, kind) in FLOATS {
            let of = |part| format!("{mode}.{name}/{part}");
            let q = Quantization::new(kind, None, None).unwrap();
            let parts = w.quantize(q, None).unwrap();
            exact(&of("q"), Ok(parts[0].clone()));
            exact(&of("s"), Ok(parts[1].clone()));
            exact(
                &of("back"),
                parts[0].dequantize(&parts[1], None, q, None, Some(dtype)),
            );
        }
        let of = |part| format!("global.{name}/{part}");
        let q = Quantization::new(QuantMode::Nvfp4, None, None).unwrap();
        let scale = Elements::from_slice(&[3.5f32], Dtype::F32, &[]).unwrap();
        let scale = Array::from_elements(scale);
        let parts = w.quantize(q, Some(&scale)).unwrap();
        exact(&of("q"), Ok(parts[0].clone()));
        exact(&of("s"), Ok(parts[1].clone()));
        let back = parts[0].dequantize(&parts[1], None, q, Some(&scale), Some(dtype));
        exact(&of("back"), back);
    }
    let (codes, x) = (g("fp8/codes"), g("fp8/x"));
    exact("fp8/to", x.to_fp8());
    exact("fp8/half", x.astype(Dtype::F16).to_fp8());
    for (name, dtype) in TYPES {
        exact(&format!("fp8/from.{name}"), codes.from_fp8(dtype));
    }
    all_used(&["affine", "quantize", "mxfp", "nvfp", "global", "fp8"]);
}

#[test]
fn quantized_products_are_those_of_mlx() {
    let x = g("qmm/x");
    for bits in [3, 4, 8] {
        let of = |part| format!("qmm.{bits}/{part}");
        let q = affine(64, bits);
        let (w, s, b) = (g(&of("q")), g(&of("s")), g(&of("b")));
        same(&of("across"), x.quantized_matmul(&w, &s, Some(&b), true, q));
        let (w, s, b) = (g(&of("p")), g(&of("t")), g(&of("c")));
        same(&of("along"), x.quantized_matmul(&w, &s, Some(&b), false, q));
    }
    for (mode, kind) in FLOATS {
        let of = |part| format!("qmm.{mode}/{part}");
        let q = Quantization::new(kind, None, None).unwrap();
        let (w, s) = (g(&of("q")), g(&of("s")));
        same(&of("across"), x.quantized_matmul(&w, &s, None, true, q));
        let out = format!("qqmm.{mode}/out");
        same(&out, x.qqmm(&w, Some(&s), q, None));
        // With w quantized on the way the same comes out: no number lies between two codes.
        same(&out, x.qqmm(&g("qqmm/w"), None, q, None));
        // One matrix by index is the product.
        let one = x.reshape(Shape::new([1, 3, 128])).unwrap();
        let batch = |x: &Array| {
            let sizes = x.shape().numbers().unwrap();
            x.reshape(Shape::new([1, sizes[0], sizes[1]])).unwrap()
        };
        let first = Elements::from_slice(&[0u32], Dtype::U32, &[1]).unwrap();
        let first = Array::from_elements(first);
        let (w, s) = (batch(&w), batch(&s));
        let product = one.gather_qqmm(&w, Some(&s), (None, Some(&first)), q, None);
        same(&out, product.and_then(|x| x.squeeze(&[0])));
    }
    let of = |part: &str| g(&format!("gather_qmm/{part}"));
    let q = affine(32, 4);
    let (x, w, s, b) = (of("x"), of("q"), of("s"), of("b"));
    let (left, right) = (of("left"), of("right"));
    let product = x.gather_qmm(&w, &s, Some(&b), Some(&left), Some(&right), true, q);
    same("gather_qmm/both", product);
    let zero = Elements::from_slice(&[0u32], Dtype::U32, &[1]).unwrap();
    let first = x.take(&Array::from_elements(zero), 0).unwrap();
    let first = first.squeeze(&[0]).unwrap();
    let four = Elements::from_slice(&[4u32], Dtype::U32, &[1, 1]).unwrap();
    let four = Array::from_elements(four);
    let product = first.gather_qmm(&w, &s, Some(&b), None, Some(&four), true, q);
    same("gather_qmm/right_only", product);
    let three = Elements::from_slice(&[0u32, 1, 2], Dtype::U32, &[1, 3]).unwrap();
    let three = Array::from_elements(three);
    let [w, s, b] = [w, s, b].map(|x| x.take(&three, 0).unwrap());
    let product = g("qmm.batch/x").quantized_matmul(&w, &s, Some(&b), true, q);
    same("qmm.batch/out", product);
    all_used(&["qmm", "qqmm", "gather_qmm"]);
}
