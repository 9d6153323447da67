//! Sizes and layouts that kernels of their own take, 16 bytes at a time, beside the CPU's plain forms.

use crate::forms::{FLOATS, both, floats, random_seed, wholes, within};
use crate::prng::Prng;
use mlxrocm::array::Array;
use mlxrocm::array::ops::ConvOptions;
use mlxrocm::cpu::Elements;
use mlxrocm::ir::{
    ArgReduce, Dtype, Number, QuantMode, Quantization, Reduce, Rope, Scan, ScatterReduce,
};

#[test]
fn rotations_of_whole_groups_are_those_of_the_cpu() {
    let mut random = Prng::new(random_seed());
    for dtype in FLOATS {
        // Heads, rows, columns, columns that turn: several rows a block and one, some columns that stay.
        for (heads, rows, columns, dims) in [
            (3, 5, 32, 32),
            (9, 3, 64, 32),
            (1, 1, 16, 16),
            (2, 7, 40, 16),
        ] {
            let x = floats(&mut random, &[2, heads, rows, columns], dtype);
            for (traditional, offsets) in [(false, vec![]), (true, vec![2])] {
                let offset = wholes(&mut random, &offsets, 0, 50, Dtype::I32);
                let rope = Rope {
                    dims,
                    traditional,
                    base: Some(Number::new(10_000.0)),
                    scale: Number::new(0.5),
                };
                let what = format!("{rope:?} of {heads} {rows} {columns} {dtype}");
                both(&what, &[x.clone(), offset], |x| {
                    x[0].rope(rope, &x[1], None)
                });
            }
        }
    }
}

#[test]
fn convolutions_of_single_channels_are_those_of_the_cpu() {
    let mut random = Prng::new(random_seed());
    for dtype in FLOATS {
        // Lines of up to four taps; more of them, other steps, planes.
        for (space, taps, step) in [
            (vec![77], vec![4], 1),
            (vec![5], vec![2], 1),
            (vec![130], vec![3], 1),
            (vec![19], vec![5], 1),
            (vec![19], vec![3], 2),
            (vec![9, 7], vec![3, 2], 1),
        ] {
            let channels = 8 * (1 + random.below(5) as usize);
            let of_each = |x: i64| space.iter().map(|_| x).collect::<Vec<i64>>();
            let options = ConvOptions {
                stride: of_each(step),
                low: of_each(2),
                high: of_each(1),
                kernel_dilation: of_each(1),
                input_dilation: of_each(1),
                groups: channels,
                flip: random.below(2) == 1,
            };
            let x = floats(
                &mut random,
                &[&[2], &space[..], &[channels]].concat(),
                dtype,
            );
            let w = floats(&mut random, &[&[channels], &taps[..], &[1]].concat(), dtype);
            both(
                &format!("{space:?} {taps:?} {options:?} {dtype}"),
                &[x, w],
                |x| x[0].conv_general(&x[1], &options),
            );
        }
    }
}

/// Rows that are cut into pieces: the first of equal ones, NaN before numbers, infinities that are the best there is.
#[test]
fn places_in_long_rows_are_those_of_the_cpu() {
    let mut random = Prng::new(random_seed());
    for dtype in FLOATS {
        for columns in [8192, 20_008, 65_541] {
            let mut rows = vec![f32::NEG_INFINITY; columns];
            // Few values: nearly every row has its best many times, in several pieces.
            let few = |random: &mut Prng| (random.below(5) as f32) - 2.0;
            rows.extend((0..3 * columns).map(|_| few(&mut random)));
            for place in [columns - 1, columns / 2] {
                rows[3 * columns + place] = f32::NAN;
            }
            let x = Elements::from_slice(&rows, Dtype::F32, &[4, columns]).unwrap();
            let x = Array::from_elements(x).astype(dtype);
            for kind in [ArgReduce::Min, ArgReduce::Max] {
                let what = format!("{kind:?} of {columns} {dtype}");
                both(&what, std::slice::from_ref(&x), |x| {
                    x[0].arg_reduce(kind, Some(1), false)
                });
            }
        }
    }
}

#[test]
fn rows_and_columns_are_joined_as_on_the_cpu() {
    let mut random = Prng::new(random_seed());
    for dtype in FLOATS {
        // Rows of 4, 16, 32 and more threads, of a wave, of several and of all.
        for columns in [8, 64, 200, 264, 600, 1032, 3000] {
            let x = floats(&mut random, &[37, columns], dtype);
            for kind in [Reduce::LogSumExp, Reduce::Sum, Reduce::Max] {
                let what = format!("{kind:?} of {columns} {dtype}");
                both(&what, std::slice::from_ref(&x), |x| {
                    x[0].reduce(kind, Some(&[1]), false)
                });
            }
            both("place", &[x], |x| {
                x[0].arg_reduce(ArgReduce::Max, Some(1), false)
            });
        }
    }
    // The CPU's are rounded at every step: f32 alone is compared.
    let x = floats(&mut random, &[300, 40], Dtype::F32);
    for (kind, reverse, inclusive) in [
        (Scan::Sum, false, true),
        (Scan::Max, true, false),
        (Scan::Sum, true, false),
    ] {
        both("scan", std::slice::from_ref(&x), |x| {
            x[0].scan(kind, Some(0), reverse, inclusive)
        });
    }
    // What is left behind whole groups of 16 bytes, of few threads and of more.
    for dtype in FLOATS {
        for columns in [21, 39, 127, 1029, 4103] {
            let x = floats(&mut random, &[columns], dtype);
            for kind in [Reduce::LogSumExp, Reduce::Sum, Reduce::Min] {
                let what = format!("{kind:?} of {columns} {dtype} in a row");
                both(&what, std::slice::from_ref(&x), |x| {
                    x[0].reduce(kind, None, false)
                });
            }
            both("place in a row", &[x], |x| {
                x[0].arg_reduce(ArgReduce::Min, Some(0), false)
            });
        }
    }
    // Threads, waves and pieces that have nothing but infinities, beside others and alone.
    for columns in [48, 264, 1032, 4000, 8200, 20_000] {
        let mut rows: Vec<f32> = Vec::new();
        for odd in [f32::NEG_INFINITY, f32::INFINITY, f32::NAN, 0.0] {
            let few = (0..columns).map(|_| (random.below(50) as f32) * -0.5);
            let mut row: Vec<f32> = few.collect();
            row[..columns / 2].fill(f32::NEG_INFINITY);
            row[columns - 1] = odd;
            rows.extend(row);
        }
        rows.extend(vec![f32::NEG_INFINITY; columns]);
        let x = mlxrocm::cpu::Elements::from_slice(&rows, Dtype::F32, &[5, columns]).unwrap();
        for dtype in FLOATS {
            let what = format!("{columns} with infinities, {dtype}");
            let x = Array::from_elements(x.clone()).astype(dtype);
            both(&what, &[x], |x| {
                x[0].reduce(Reduce::LogSumExp, Some(&[1]), false)
            });
        }
    }
    for infinite in [f32::INFINITY, f32::NEG_INFINITY] {
        let row = [
            vec![infinite; 8],
            vec![1.0; 8],
            vec![infinite, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0],
        ];
        let x = mlxrocm::cpu::Elements::from_slice(&row.concat(), Dtype::F32, &[3, 8]).unwrap();
        both("infinities", &[Array::from_elements(x)], |x| {
            x[0].reduce(Reduce::LogSumExp, Some(&[1]), false)
        });
    }
}

#[test]
fn whole_rows_are_read_and_written_as_on_the_cpu() {
    let mut random = Prng::new(random_seed());
    let exact = |_| 0.0;
    for dtype in FLOATS {
        let x = floats(&mut random, &[3, 4, 40], dtype);
        let index = wholes(&mut random, &[3, 4, 11], -40, 40, Dtype::I32);
        within("along", &[x, index], exact, |x| {
            x[0].take_along_axis(&x[1], Some(-1))
        });
        let x = floats(&mut random, &[9, 2, 16], dtype);
        for count in [1, 30] {
            let index = wholes(&mut random, &[count], -9, 9, Dtype::I32);
            let updates = floats(&mut random, &[count, 1, 2, 16], dtype);
            for reduce in [ScatterReduce::None, ScatterReduce::Sum, ScatterReduce::Min] {
                let inputs = [x.clone(), index.clone(), updates.clone()];
                within(&format!("{reduce:?} {dtype}"), &inputs, exact, |x| {
                    x[0].scatter(&[x[1].clone()], &x[2], &[0], reduce)
                });
            }
        }
    }
}

#[test]
fn few_rows_are_multiplied_with_codes_as_on_the_cpu() {
    let mut random = Prng::new(random_seed());
    for dtype in FLOATS {
        for (rows, columns, inner, group) in [
            (2, 40, 128, 64),
            (16, 70, 640, 128),
            (19, 40, 192, 64),
            (50, 33, 64, 64),
        ] {
            let q = Quantization::new(QuantMode::Affine, Some(group), Some(4)).unwrap();
            let parts = floats(&mut random, &[columns, inner], dtype)
                .quantize(q, None)
                .unwrap();
            let x = floats(&mut random, &[rows, inner], dtype);
            let inputs: Vec<Array> = [x].into_iter().chain(parts).collect();
            let room = |dtype| match dtype {
                Dtype::F32 => 1e-4,
                Dtype::F16 => 3e-2,
                _ => 0.2,
            };
            within(
                &format!("{rows} {columns} {inner} {dtype}"),
                &inputs,
                room,
                |x| x[0].quantized_matmul(&x[1], &x[2], x.get(3), true, q),
            );
        }
    }
}
