//! Quantized products.

use super::forms::{forms, is_super, of_codes, random_row, set_codes, weights};
use super::*;
use crate::cpu::activations::{Activations, GROUP_ROWS};
use crate::cpu::packed::{PackedWeight, pack_one_for_tests};
use crate::formats::{RowGroups, ScaleForm, Values};

fn product(kernels: &Kernels, weight: &PackedWeight, x: &[f32], rows: usize) -> Vec<[f32; 16]> {
    let cols = x.len() / rows;
    let mut activations = Activations::default();
    activations.reset(rows, cols, kernels.panel);
    let mut scratch = TileScratch::default();
    let mut results = Vec::new();
    // SAFETY: `kernels` comes from `available`; rows are written once.
    unsafe {
        let row = |row: usize| &x[row * cols..(row + 1) * cols];
        let mut next = 0;
        while next < rows {
            match activations.four_rows_target(next) {
                Some(to) => {
                    let four = [row(next), row(next + 1), row(next + 2), row(next + 3)];
                    (kernels.quantize_four)(four, to);
                    next += 4;
                }
                None => {
                    (kernels.quantize_row)(row(next), activations.row_target(next));
                    next += 1;
                }
            }
        }
        for g in 0..activations.groups() {
            let group = activations.group(g);
            let (section, codes) = weight.tile(0);
            let tile = Tile {
                form: weight.form,
                section,
                codes,
            };
            let mut out = vec![[f32::NAN; 16]; group.rows];
            (kernels.matmul_tile)(&tile, &group, &mut scratch, &mut out);
            results.extend(out);
        }
    }
    results
}

/// Up to four tiles of any forms times few rows.
fn rows_products(
    kernels: &Kernels,
    weights: &[PackedWeight],
    x: &[f32],
    rows: usize,
) -> Vec<RowOut> {
    let rows: Vec<Activations> = x
        .chunks_exact(x.len() / rows)
        .map(|x| {
            let mut activations = Activations::default();
            activations.reset(1, x.len(), kernels.panel);
            // SAFETY: `kernels` comes from `available`; there is one row.
            unsafe { (kernels.quantize_row)(x, activations.row_target(0)) };
            activations
        })
        .collect();
    let tiles: Vec<Tile<'_>> = weights
        .iter()
        .map(|weight| {
            let (section, codes) = weight.tile(0);
            Tile {
                form: weight.form,
                section,
                codes,
            }
        })
        .collect();
    let mut out = vec![[[f32::NAN; 16]; STREAMS]; rows.len()];
    // SAFETY: as above; nobody writes the rows now.
    unsafe {
        let groups: Vec<Group<'_>> = rows.iter().map(|row| row.group(0)).collect();
        (kernels.rows_tiles)(&tiles, &groups, &mut TileScratch::default(), &mut out);
    }
    out
}

/// Weight rows, columns and token rows of products. Of the columns: whole spans of activations that
/// share a scale, a last span of two blocks, of one block, less than a span.
const SIZES: [(usize, usize, usize); 7] = [
    (16, 256, 1),
    (16, 512, 7),
    (5, 256, 13),
    (16, 256, 135),
    (16, 576, 10),
    (16, 288, 9),
    (16, 128, 6),
];

#[test]
fn quantized_products_of_every_form() {
    let seed = seed();
    let mut random = Random(seed);
    for form in forms() {
        for (lanes, cols, rows) in SIZES {
            // A group or a super-block is whole.
            if cols % form.group != 0 || is_super(form) && cols % 256 != 0 {
                continue;
            }
            let groups: Vec<RowGroups> = (0..lanes)
                .map(|_| random_row(form, cols, &mut random))
                .collect();
            let weight = pack_one_for_tests(form, cols, &groups);
            let x = random.vector(rows * cols);
            for kernels in available() {
                let out = product(kernels, &weight, &x, rows);
                assert_eq!(out.len(), rows);
                for (row, x) in x.chunks_exact(cols).enumerate() {
                    for (lane, groups) in groups.iter().enumerate() {
                        let w = weights(form, groups);
                        let exact: f64 = w.iter().zip(x).map(|(w, &x)| w * f64::from(x)).sum();
                        let size: f64 = w
                            .iter()
                            .zip(x)
                            .map(|(w, &x)| (w * f64::from(x)).abs())
                            .sum();
                        let error = (f64::from(out[row][lane]) - exact).abs();
                        // What x's steps of 1/32767 of its largest number come to: few weights may be far larger than
                        // all others, where x is small.
                        let largest = x.iter().fold(0f32, |m, x| m.max(x.abs()));
                        let steps = w.iter().map(|w| w.abs()).sum::<f64>() / 65_534.0;
                        assert!(
                            error <= 2e-5 * size + steps * f64::from(largest),
                            "seed {seed}, {:?}, {form:?}, {lanes}×{cols}×{rows}: row {row} lane \
                             {lane} is {} instead of {exact}",
                            kernels.level,
                            out[row][lane]
                        );
                    }
                }
                // The same bits alone as in a batch, at every place in panels and groups.
                for row in [0, rows / 2, rows - 1] {
                    let x = &x[row * cols..(row + 1) * cols];
                    let alone = rows_products(kernels, std::slice::from_ref(&weight), x, 1)[0];
                    let bits =
                        |v: &[f32; 16]| v[..lanes].iter().map(|f| f.to_bits()).collect::<Vec<_>>();
                    assert_eq!(
                        bits(&alone[0]),
                        bits(&out[row]),
                        "{:?} {form:?}",
                        kernels.level
                    );
                }
            }
        }
    }
    // One size must span two groups.
    const { assert!(GROUP_ROWS < 135) };
}

/// Each number of rows and of tiles, of each form, and of forms by turns.
#[test]
fn tiles_of_few_rows_together() {
    let seed = seed();
    let mut random = Random(seed);
    let forms = forms();
    for (at, first) in forms.iter().enumerate() {
        for rows in 1..=7 {
            let count = 1 + (at + rows) % STREAMS;
            let mut form = *first;
            let weights: Vec<PackedWeight> = (0..count)
                .map(|_| {
                    let groups: Vec<RowGroups> = (0..16)
                        .map(|_| random_row(form, 512, &mut random))
                        .collect();
                    let weight = pack_one_for_tests(form, 512, &groups);
                    if rows > 4 && random.next().is_multiple_of(3) {
                        form = forms[random.next() as usize % forms.len()];
                    }
                    weight
                })
                .collect();
            let x = random.vector(rows * 512);
            for kernels in available() {
                let out = rows_products(kernels, &weights, &x, rows);
                for (i, weight) in weights.iter().enumerate() {
                    let alone = product(kernels, weight, &x, rows);
                    for (row, alone) in alone.iter().enumerate() {
                        assert_eq!(
                            out[row][i].map(f32::to_bits),
                            alone.map(f32::to_bits),
                            "seed {seed}, {:?}: row {row} of {rows}, tile {i} of {count}, {:?}",
                            kernels.level,
                            weight.form
                        );
                    }
                }
            }
        }
    }
}

/// The largest ints, all of one sign and in turn, by the largest codes: sums of bytes are close to 16
/// bits then.
#[test]
fn largest_activations_and_codes() {
    for form in forms() {
        let cols = 256;
        let groups: Vec<RowGroups> = (0..16)
            .map(|_| {
                let mut row = random_row(form, cols, &mut Random(1));
                match form.values {
                    Values::E4M3 => row.codes.fill(0x7e),
                    Values::Grid(grid) => {
                        let value = |code: u32| form.values.value(code as u8);
                        let size = |word: u32| -> f32 {
                            (0..8).map(|i| value(word >> (4 * i) & 15)).sum()
                        };
                        let largest = (0..grid.words().len() as u16).max_by(|a, b| {
                            let [a, b] = [a, b].map(|&i| size(grid.words()[usize::from(i)]));
                            a.total_cmp(&b)
                        });
                        row.indices.fill(largest.unwrap());
                        row.signs.fill(0);
                        set_codes(grid, &mut row);
                    }
                    _ => row.codes.fill(((1u16 << form.bits) - 1) as u8),
                }
                row
            })
            .collect();
        let weight = pack_one_for_tests(form, cols, &groups);
        let w = weights(form, &groups[0]);
        // 32639 and what lies next to the borders of a byte.
        for ints in [
            [32639.0, 32639.0],
            [-32639.0, -32639.0],
            [32639.0, -32639.0],
            [32512.0, 127.0],
            [-32640.0 + 128.0, -128.0],
        ] {
            let x: Vec<f32> = (0..cols)
                .map(|k| if k == 0 { 32639.0 } else { ints[k % 2] })
                .collect();
            let exact: f64 = w.iter().zip(&x).map(|(w, &x)| w * f64::from(x)).sum();
            let size: f64 = w
                .iter()
                .zip(&x)
                .map(|(w, &x)| (w * f64::from(x)).abs())
                .sum();
            for kernels in available() {
                let out = rows_products(kernels, std::slice::from_ref(&weight), &x, 1);
                for value in out[0][0] {
                    assert!(
                        (f64::from(value) - exact).abs() <= 1e-5 * size,
                        "{:?} {form:?}",
                        kernels.level
                    );
                }
            }
        }
    }
}

#[test]
fn a_bad_activation_shows_in_every_output() {
    let mut random = Random(seed());
    let form = of_codes(4, 32, ScaleForm::Stored(ScalarType::F16));
    let groups: Vec<RowGroups> = (0..16)
        .map(|_| random_row(form, 256, &mut random))
        .collect();
    let weight = pack_one_for_tests(form, 256, &groups);
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut x = random.vector(2 * 256);
        x[77] = bad;
        for kernels in available() {
            let out = product(kernels, &weight, &x, 2);
            assert!(
                out[0].iter().all(|v| v.is_nan()),
                "{:?}: {bad} was lost",
                kernels.level
            );
            assert!(out[1].iter().all(|v| v.is_finite()));
        }
    }
}
