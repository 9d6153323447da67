//! Products and codes on a GPU beside the CPU's.

use crate::forms::{FLOATS, both, floats, lying, random_seed, wholes, within};
use crate::prng::Prng;
use mlxrocm::array::Array;
use mlxrocm::cpu::Elements;
use mlxrocm::ir::{Dtype, QuantMode, Quantization};

#[test]
fn products_of_all_layouts_are_those_of_the_cpu() {
    let mut random = Prng::new(random_seed());
    let shapes = [
        (1, 1, 1),
        (3, 5, 7),
        (1, 70, 130),
        (16, 33, 257),
        (70, 3, 40),
        (17, 17, 64),
        (64, 64, 64),
        (65, 130, 72),
        (130, 136, 200),
        (128, 128, 0),
        (0, 5, 3),
        (24, 40, 1),
    ];
    for (m, n, k) in shapes {
        for dtype in FLOATS {
            let outer: &[usize] = [&[][..], &[2], &[2, 3]][random.below(3) as usize];
            let with = |rest: [usize; 2]| [outer, &rest[..]].concat();
            let (a, b) = (
                lying(&mut random, &with([m, k]), dtype),
                lying(&mut random, &with([k, n]), dtype),
            );
            let what = format!("{outer:?} {m}x{k} by {k}x{n} of {dtype}");
            // Sums of k products: what f16 rounds is the result.
            both(&what, &[a.clone(), b.clone()], |x| x[0].matmul(&x[1]));
            let c = lying(&mut random, &with([m, n]), dtype);
            both(&format!("addmm {what}"), &[c, a, b], |x| {
                x[0].addmm(&x[1], &x[2], 0.5, -2.0)
            });
        }
    }
    // Many batches, and what is a factor of 0.
    let (a, b) = (
        floats(&mut random, &[300, 2, 3], Dtype::F16),
        floats(&mut random, &[300, 3, 2], Dtype::F16),
    );
    both("many batches", &[a, b], |x| x[0].matmul(&x[1]));
    let nan =
        Array::from_elements(Elements::from_slice(&[f32::NAN; 36], Dtype::F32, &[6, 6]).unwrap());
    let c = floats(&mut random, &[6, 6], Dtype::F32);
    both("alpha 0", &[c.clone(), nan.clone()], |x| {
        x[0].addmm(&x[1], &x[1], 0.0, 1.0)
    });
    both("beta 0", &[nan, c], |x| x[0].addmm(&x[1], &x[1], 1.0, 0.0));
}

#[test]
fn products_by_index_in_segments_and_with_masks_are_those_of_the_cpu() {
    let mut random = Prng::new(random_seed());
    for dtype in FLOATS {
        for (m, n, k) in [(1, 40, 33), (20, 70, 40), (5, 3, 8)] {
            let (a, b) = (
                lying(&mut random, &[4, m, k], dtype),
                lying(&mut random, &[5, k, n], dtype),
            );
            let left = wholes(&mut random, &[6], 0, 4, Dtype::U32);
            let right = wholes(&mut random, &[6], 0, 5, Dtype::I32);
            let what = format!("gather_mm {m} {n} {k} {dtype}");
            both(&what, &[a, b, left, right], |x| {
                x[0].gather_mm(&x[1], Some(&x[2]), Some(&x[3]))
            });
            let (a, b) = (
                lying(&mut random, &[m, k], dtype),
                lying(&mut random, &[k, n], dtype),
            );
            let ends: Vec<u32> = [0, k / 2, 1, k, 3, 3, k / 2, k].map(|x| x as u32).to_vec();
            let ends =
                Array::from_elements(Elements::from_slice(&ends, Dtype::U32, &[4, 2]).unwrap());
            both(&format!("segmented {what}"), &[a, b, ends], |x| {
                x[0].segmented_mm(&x[1], &x[2])
            });
        }
        let (a, b) = (
            lying(&mut random, &[2, 40, 70], dtype),
            lying(&mut random, &[2, 70, 33], dtype),
        );
        let masks = [[2, 2, 2], [2, 2, 3], [2, 3, 2]]
            .map(|sizes| wholes(&mut random, &sizes, 0, 2, Dtype::Bool));
        let [out, left, right] = masks;
        both("masks", &[a, b, out, left, right], |x| {
            x[0].block_masked_mm(&x[1], 32, Some(&x[2]), Some(&x[3]), Some(&x[4]))
        });
    }
}

#[test]
fn quantized_products_of_all_modes_are_those_of_the_cpu() {
    let mut random = Prng::new(random_seed());
    let mut modes: Vec<Quantization> = [2, 3, 4, 5, 6, 8]
        .map(|bits| {
            Quantization::new(QuantMode::Affine, Some([32, 64][bits % 2]), Some(bits)).unwrap()
        })
        .to_vec();
    for mode in [QuantMode::Mxfp4, QuantMode::Mxfp8, QuantMode::Nvfp4] {
        modes.push(Quantization::new(mode, None, None).unwrap());
    }
    for q in modes {
        for dtype in FLOATS {
            for (m, n, k) in [(1, 70, 192), (3, 64, 64), (40, 96, 128), (130, 192, 64)] {
                let rows = floats(&mut random, &[n, k], dtype);
                let columns = floats(&mut random, &[k, n.next_multiple_of(64)], dtype);
                let x = lying(&mut random, &[m, k], dtype);
                for (w, transpose) in [(rows, true), (columns, false)] {
                    let parts = w.quantize(q, None).unwrap();
                    let inputs: Vec<Array> = [x.clone()].into_iter().chain(parts).collect();
                    let what = format!("{q:?} {m} {n} {k} {dtype} {transpose}");
                    // Codes become numbers of 16 bits there: seven times what rounding them is in the mean.
                    let room = |dtype| match dtype {
                        Dtype::F32 => 1e-4,
                        Dtype::F16 => 3e-2,
                        _ => 0.2,
                    };
                    within(&what, &inputs, room, |x| {
                        x[0].quantized_matmul(&x[1], &x[2], x.get(3), transpose, q)
                    });
                }
            }
            let x = floats(&mut random, &[3, 5, 64], dtype);
            let parts = floats(&mut random, &[4, 40, 64], dtype)
                .quantize(q, None)
                .unwrap();
            let left = wholes(&mut random, &[2, 3], 0, 3, Dtype::U32);
            let right = wholes(&mut random, &[2, 3], 0, 4, Dtype::U32);
            let inputs: Vec<Array> = [x, left, right].into_iter().chain(parts).collect();
            let room = |dtype| if dtype == Dtype::F32 { 1e-4 } else { 2e-2 };
            within(&format!("gather_qmm {q:?} {dtype}"), &inputs, room, |x| {
                x[0].gather_qmm(&x[3], &x[4], x.get(5), Some(&x[1]), Some(&x[2]), true, q)
            });
        }
    }
}

#[test]
fn codes_are_those_of_the_cpu() {
    let mut random = Prng::new(random_seed());
    for (mode, bits) in [
        (QuantMode::Affine, 3),
        (QuantMode::Affine, 8),
        (QuantMode::Mxfp4, 4),
        (QuantMode::Mxfp8, 8),
        (QuantMode::Nvfp4, 4),
    ] {
        let q = Quantization::new(mode, None, Some(bits)).unwrap();
        for dtype in FLOATS {
            let w = lying(&mut random, &[9, 256], dtype);
            for part in 0..3 - usize::from(mode != QuantMode::Affine) {
                within(
                    &format!("{q:?} {dtype} part {part}"),
                    std::slice::from_ref(&w),
                    |_| 0.0,
                    |x| {
                        let parts = x[0].quantize(q, None)?;
                        // Words as halves, which f32 holds.
                        match parts[part].dtype() {
                            Dtype::U32 => parts[part].view(Dtype::U16),
                            _ => Ok(parts[part].clone()),
                        }
                    },
                );
            }
            let parts = w.quantize(q, None).unwrap();
            within(
                &format!("{q:?} {dtype} back"),
                &parts,
                |_| 0.0,
                |x| x[0].dequantize(&x[1], x.get(2), q, None, Some(dtype)),
            );
        }
    }
}
