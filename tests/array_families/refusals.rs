//! What does not fit is refused with the operation's name, before or when it is evaluated; nothing crashes.

use mlxrocm::array::Array;
use mlxrocm::array::ops::{ConvOptions, random};
use mlxrocm::cpu::Elements;
use mlxrocm::ir::{Dtype, Number, QuantMode, Quantization, Rope, Shape};

fn ones(sizes: &[usize]) -> Array {
    let count = sizes.iter().product();
    Array::from_elements(Elements::from_slice(&vec![1f32; count], Dtype::F32, sizes).unwrap())
}

fn indices(values: &[u32]) -> Array {
    Array::from_elements(Elements::from_slice(values, Dtype::U32, &[values.len()]).unwrap())
}

#[test]
fn shapes_and_dtypes_that_do_not_fit_are_named() {
    let (a, b) = (ones(&[2, 3]), ones(&[4, 5]));
    let integer = a.astype(Dtype::I32);
    let affine = Quantization::new(QuantMode::Affine, None, None).unwrap();
    let mx = Quantization::new(QuantMode::Mxfp8, None, None).unwrap();
    let codes = ones(&[4, 8]).astype(Dtype::U32);
    let rope = Rope {
        dims: 3,
        traditional: false,
        base: Some(Number::new(1e4)),
        scale: Number::new(1.0),
    };
    let options = ConvOptions::default();
    let wide = ones(&[1, 2, 1]);
    let cases: Vec<(&str, mlxrocm::Result<Array>)> = vec![
        ("matmul", a.matmul(&b)),
        ("matmul", a.matmul(&ones(&[]))),
        ("matmul", integer.matmul(&integer)),
        ("matmul", ones(&[2, 3, 4]).matmul(&ones(&[3, 4, 2]))),
        ("addmm", b.addmm(&a, &ones(&[3, 4]), 1.0, 1.0)),
        (
            "block_masked_mm",
            a.block_masked_mm(&ones(&[3, 2]), 16, Some(&a), None, None),
        ),
        (
            "block_masked_mm",
            a.block_masked_mm(&ones(&[3, 2]), 32, Some(&a), None, None),
        ),
        (
            "segmented_mm",
            a.segmented_mm(&ones(&[3, 2]), &indices(&[0, 1, 2])),
        ),
        ("tensordot", a.tensordot(&b, &[1], &[0])),
        ("tensordot", a.tensordot(&b, &[7], &[0])),
        ("kron", a.kron(&ones(&[0]))),
        ("quantize", a.quantize(affine, None).map(|x| x[0].clone())),
        (
            "quantize",
            ones(&[2, 64])
                .quantize(mx, Some(&ones(&[])))
                .map(|x| x[0].clone()),
        ),
        ("dequantize", codes.dequantize(&a, None, affine, None, None)),
        (
            "dequantize",
            codes.dequantize(&a, Some(&a), affine, None, None),
        ),
        (
            "quantized_matmul",
            a.quantized_matmul(&codes, &a, None, true, mx),
        ),
        (
            "qqmm",
            ones(&[2, 64]).qqmm(&ones(&[2, 64]), None, affine, None),
        ),
        ("to_fp8", integer.to_fp8()),
        ("from_fp8", a.from_fp8(Dtype::F32)),
        (
            "convolution",
            wide.conv_general(&ones(&[1, 3, 1]), &options),
        ),
        (
            "convolution",
            wide.conv_general(&ones(&[1, 1, 2]), &options),
        ),
        ("convolution", a.conv_general(&b, &options)),
        ("fftn", ones(&[]).fftn(None, None, false, false)),
        ("fftn", a.fftn(Some(&[0]), Some(&[0]), false, false)),
        ("fftn", a.fftn(None, Some(&[0, -2]), false, false)),
        (
            "hadamard_transform",
            ones(&[2, 14]).hadamard_transform(None),
        ),
        ("rms_norm", a.rms_norm(Some(&ones(&[2])), 1e-5)),
        ("layer_norm", a.layer_norm(None, Some(&ones(&[2])), 1e-5)),
        ("rope", ones(&[1, 2, 4]).rope(rope, &indices(&[0]), None)),
        (
            "scaled_dot_product_attention",
            a.scaled_dot_product_attention(&a, &a, 1.0, false, None, None),
        ),
        ("inv", a.inv()),
        ("cholesky", integer.cholesky(false)),
        ("qr", ones(&[3]).qr().map(|x| x[0].clone())),
        ("solve", ones(&[3, 3]).solve(&a)),
        ("cross", a.cross(&b, -1)),
        ("norm", ones(&[1, 1, 1]).norm(None, Some(&[0, 1, 2]), false)),
        ("bits", random::bits(Shape::new([2]), 3, None)),
        ("bits", random::bits(Shape::new([2]), 4, Some(&a))),
    ];
    for (name, result) in cases {
        let message = result.expect_err(name).to_string();
        assert!(message.contains(name), "{name}: {message}");
    }
    assert!(Quantization::new(QuantMode::Affine, Some(48), None).is_err());
    assert!(Quantization::new(QuantMode::Nvfp4, None, Some(8)).is_err());
}

#[test]
fn places_that_are_not_there_are_refused_when_evaluated() {
    let (a, b) = (ones(&[2, 3, 4]), ones(&[2, 4, 5]));
    let two = indices(&[0, 2]);
    let far = a.gather_mm(&b, Some(&two), None).unwrap();
    assert!(far.read().unwrap_err().to_string().contains("gather_mm"));
    let q = Quantization::new(QuantMode::Affine, Some(32), Some(4)).unwrap();
    let parts = ones(&[2, 32, 32]).quantize(q, None).unwrap();
    let x = ones(&[2, 1, 32]);
    let far = x.gather_qmm(
        &parts[0],
        &parts[1],
        Some(&parts[2]),
        None,
        Some(&two),
        true,
        q,
    );
    assert!(
        far.unwrap()
            .read()
            .unwrap_err()
            .to_string()
            .contains("gather_qmm")
    );
    let segments = indices(&[1, 4]);
    let far = ones(&[2, 3])
        .segmented_mm(&ones(&[3, 2]), &segments)
        .unwrap();
    assert!(far.read().unwrap_err().to_string().contains("segmented_mm"));
}

/// Sizes of 0 wherever they make sense.
#[test]
fn nothing_makes_nothing() {
    let count = |x: mlxrocm::Result<Array>| x.unwrap().read().unwrap().to_vec::<f32>();
    assert_eq!(count(ones(&[2, 0]).matmul(&ones(&[0, 3]))), [0.0; 6]);
    assert!(count(ones(&[0, 2]).matmul(&ones(&[2, 3]))).is_empty());
    let c = ones(&[3]);
    assert_eq!(
        count(c.addmm(&ones(&[2, 0]), &ones(&[0, 3]), 1.0, 2.0)),
        [2.0; 6]
    );
    assert!(count(ones(&[0, 4]).rms_norm(None, 1e-5)).is_empty());
    assert!(count(ones(&[2, 0]).layer_norm(None, None, 1e-5)).is_empty());
    let options = ConvOptions::default();
    assert!(count(ones(&[0, 4, 2]).conv_general(&ones(&[3, 2, 2]), &options)).is_empty());
    let q = ones(&[1, 2, 0, 4]);
    let k = ones(&[1, 1, 3, 4]);
    assert!(count(q.scaled_dot_product_attention(&k, &k, 1.0, false, None, None)).is_empty());
    let affine = Quantization::new(QuantMode::Affine, None, None).unwrap();
    let parts = ones(&[0, 64]).quantize(affine, None).unwrap();
    assert!(count(Ok(parts[1].clone())).is_empty());
}
