//! Convolutions, Fourier and Hadamard transforms.

use crate::goldens::{TYPES, all_used, golden as g, paired, same};
use mlxrocm::array::ops::ConvOptions;
use mlxrocm::ir::Dtype;

#[test]
fn convolutions_are_those_of_mlx() {
    let both = |stride: &[i64], padding: &[i64], dilation: &[i64]| ConvOptions {
        stride: stride.to_vec(),
        low: padding.to_vec(),
        high: padding.to_vec(),
        kernel_dilation: dilation.to_vec(),
        ..ConvOptions::default()
    };
    for (name, _) in TYPES {
        let of = |part| format!("conv1d.{name}/{part}");
        let options = ConvOptions {
            groups: 2,
            ..both(&[2], &[1], &[2])
        };
        same(&of("out"), g(&of("x")).conv_general(&g(&of("w")), &options));
    }
    let (x, w) = (g("conv2d/x"), g("conv2d/w"));
    same("conv2d/plain", x.conv_general(&w, &ConvOptions::default()));
    same(
        "conv2d/out",
        x.conv_general(&w, &both(&[2, 1], &[1, 2], &[1, 2])),
    );
    let flip = ConvOptions {
        low: vec![2, 0],
        high: vec![1, 3],
        input_dilation: vec![1, 2],
        flip: true,
        ..both(&[1, 2], &[], &[2, 1])
    };
    same("conv2d/flip", x.conv_general(&w, &flip));
    let cut = ConvOptions {
        low: vec![-1, 1],
        high: vec![0, -2],
        ..ConvOptions::default()
    };
    same("conv2d/cut", x.conv_general(&w, &cut));
    let (x, w) = (g("conv3d/x"), g("conv3d/w"));
    same(
        "conv3d/out",
        x.conv_general(&w, &both(&[1, 2, 1], &[1, 0, 1], &[])),
    );
    same(
        "conv3d/turned",
        x.conv_transpose(&w, &[2], &[1], &[1], &[1], 1),
    );
    let of = |part: &str| g(&format!("conv_transpose1d/{part}"));
    let turned = of("x").conv_transpose(&of("w"), &[3], &[1], &[2], &[2], 2);
    same("conv_transpose1d/out", turned);
    let of = |part: &str| g(&format!("conv_transpose2d/{part}"));
    let turned = of("x").conv_transpose(&of("w"), &[2, 1], &[1, 0], &[1, 2], &[1, 0], 1);
    same("conv_transpose2d/out", turned);
    all_used(&["conv"]);
}

#[test]
fn fourier_transforms_are_those_of_mlx() {
    for n in [1, 2, 7, 12, 31, 64] {
        let of = |part| format!("fft.{n}/{part}");
        let (x, y) = (paired(&of("x"), Dtype::C64), g(&of("y")));
        let last = Some(&[-1][..]);
        same(&of("fft"), x.fftn(None, last, false, false));
        same(&of("ifft"), x.fftn(None, last, true, false));
        same(&of("rfft"), y.fftn(None, last, false, true));
        same(&of("irfft"), x.fftn(Some(&[n]), last, true, true));
    }
    let (x, y) = (paired("fftn/x", Dtype::C64), g("fftn/y"));
    same("fftn/all", x.fftn(None, None, false, false));
    same("fftn/some", x.fftn(None, Some(&[0, 2]), true, false));
    same("fftn/real", y.fftn(None, Some(&[1, 0]), false, true));
    same("fftn/back", x.fftn(None, Some(&[2, 1]), true, true));
    same(
        "fftn/sized",
        y.fftn(Some(&[6, 3]), Some(&[1, 2]), false, false),
    );
    same(
        "fftn/real_sized",
        x.fftn(Some(&[2, 9]), Some(&[0, 1]), true, true),
    );
    all_used(&["fft"]);
}

#[test]
fn hadamard_transforms_are_those_of_mlx() {
    for n in [1, 8, 12, 24, 40, 56] {
        for (name, _) in TYPES {
            let of = |part| format!("hadamard.{n}.{name}/{part}");
            let x = g(&of("x"));
            same(&of("out"), x.hadamard_transform(None));
            same(&of("scaled"), x.hadamard_transform(Some(0.5)));
        }
    }
    all_used(&["hadamard"]);
}
