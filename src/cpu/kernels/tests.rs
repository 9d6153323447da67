//! Every SIMD level against f64 forms of the formulas, and bit equality of batched and single rows.

use super::*;
use crate::cpu::activations::{Activations, GROUP_ROWS};
use crate::cpu::packed::{PackedWeight, pack_one_for_tests};
use crate::formats::{RowGroups, ScaleForm};
use crate::step::PAGE_TOKENS;

/// splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// In −1..1.
    fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    fn vector(&mut self, len: usize) -> Vec<f32> {
        (0..len).map(|_| self.unit()).collect()
    }
}

fn seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(1, |t| t.as_nanos() as u64)
}

fn forms() -> Vec<GroupForm> {
    let mut forms = Vec::new();
    for bits in [2, 3, 4, 5, 6, 8] {
        for group in [32, 64, 128] {
            for ty in [ScalarType::F16, ScalarType::BF16, ScalarType::F32] {
                forms.push(GroupForm {
                    bits,
                    group,
                    scale: ScaleForm::Stored(ty),
                });
            }
        }
    }
    let f16 = ScalarType::F16;
    forms.extend([(4, 8), (5, 16), (8, 128)].map(|(bits, zero)| GroupForm {
        bits,
        group: 32,
        scale: ScaleForm::Zero(f16, zero),
    }));
    forms.extend([(2, 16), (4, 32), (5, 32)].map(|(bits, group)| GroupForm {
        bits,
        group,
        scale: ScaleForm::SuperMin,
    }));
    forms.extend([(3, 4), (6, 32)].map(|(bits, zero)| GroupForm {
        bits,
        group: 16,
        scale: ScaleForm::SuperZero(zero),
    }));
    forms
}

/// Scales of groups in units of a scale of 256 columns.
fn is_super(form: GroupForm) -> bool {
    matches!(form.scale, ScaleForm::SuperZero(_) | ScaleForm::SuperMin)
}

fn random_row(form: GroupForm, cols: usize, random: &mut Random) -> RowGroups {
    let groups = cols / form.group;
    let half = |v: f32| half::bf16::from_f32(half::f16::from_f32(v).to_f32()).to_f32();
    let is_super = is_super(form);
    let scales = if is_super { cols / 256 } else { groups };
    let has_bias = matches!(form.scale, ScaleForm::Stored(_) | ScaleForm::SuperMin);
    let mask = ((1u16 << form.bits) - 1) as u8;
    RowGroups {
        codes: (0..cols).map(|_| random.next() as u8 & mask).collect(),
        scales: (0..scales).map(|_| half(random.unit() * 0.1)).collect(),
        biases: (0..if has_bias { scales } else { 0 })
            .map(|_| half(random.unit()))
            .collect(),
        sub_scales: (0..if is_super { groups } else { 0 })
            .map(|_| match form.scale {
                ScaleForm::SuperZero(_) => random.next() as i8,
                _ => (random.next() & 63) as i8,
            })
            .collect(),
        sub_mins: (0..if form.scale == ScaleForm::SuperMin {
            groups
        } else {
            0
        })
            .map(|_| (random.next() & 63) as u8)
            .collect(),
    }
}

/// The weights of a row by the definition of the group form, f64.
fn weights(form: GroupForm, row: &RowGroups) -> Vec<f64> {
    let value = |k: usize| {
        let (g, s) = (k / form.group, k / 256);
        let q = f64::from(row.codes[k]);
        match form.scale {
            ScaleForm::Stored(_) => f64::from(row.scales[g]) * q + f64::from(row.biases[g]),
            ScaleForm::Zero(_, zero) => f64::from(row.scales[g]) * (q - f64::from(zero)),
            ScaleForm::SuperZero(zero) => {
                f64::from(row.scales[s]) * f64::from(row.sub_scales[g]) * (q - f64::from(zero))
            }
            ScaleForm::SuperMin => {
                f64::from(row.scales[s]) * f64::from(row.sub_scales[g] as u8) * q
                    - f64::from(row.biases[s]) * f64::from(row.sub_mins[g])
            }
        }
    };
    (0..row.codes.len()).map(value).collect()
}

fn product(kernels: &Kernels, weight: &PackedWeight, x: &[f32], rows: usize) -> Vec<[f32; 16]> {
    let cols = x.len() / rows;
    let mut activations = Activations::default();
    activations.reset(rows, cols, kernels.panel);
    let mut scratch = TileScratch::default();
    let mut results = Vec::new();
    // SAFETY: `kernels` comes from `available`; rows are written one at a time.
    unsafe {
        for (row, x) in x.chunks_exact(cols).enumerate() {
            (kernels.quantize_row)(x, activations.row_target(row));
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

/// Tiles of any forms times one row.
fn row_products(kernels: &Kernels, weights: &[PackedWeight], x: &[f32]) -> Vec<[f32; 16]> {
    let mut activations = Activations::default();
    activations.reset(1, x.len(), kernels.panel);
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
    let mut out = vec![[f32::NAN; 16]; tiles.len()];
    // SAFETY: `kernels` comes from `available`; there is one row.
    unsafe {
        (kernels.quantize_row)(x, activations.row_target(0));
        let (group, scratch) = (activations.group(0), &mut TileScratch::default());
        (kernels.row_tiles)(&tiles, &group, scratch, &mut out);
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
                        assert!(
                            error <= 1e-4 * size,
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
                    let alone = row_products(kernels, std::slice::from_ref(&weight), x);
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

#[test]
fn tiles_of_one_row_together() {
    let seed = seed();
    let mut random = Random(seed);
    let forms = forms();
    for count in 1..=9 {
        for mixed in [false, true] {
            // Now and then another form among them.
            let mut form = forms[random.next() as usize % forms.len()];
            let weights: Vec<PackedWeight> = (0..count)
                .map(|_| {
                    if mixed && random.next().is_multiple_of(3) {
                        form = forms[random.next() as usize % forms.len()];
                    }
                    let rows: Vec<RowGroups> = (0..16)
                        .map(|_| random_row(form, 512, &mut random))
                        .collect();
                    pack_one_for_tests(form, 512, &rows)
                })
                .collect();
            let x = random.vector(512);
            for kernels in available() {
                let out = row_products(kernels, &weights, &x);
                for (i, weight) in weights.iter().enumerate() {
                    let alone = product(kernels, weight, &x, 1)[0];
                    assert_eq!(
                        out[i].map(f32::to_bits),
                        alone.map(f32::to_bits),
                        "seed {seed}, {:?}: tile {i} of {count}, {:?}",
                        kernels.level,
                        weight.form
                    );
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
                row.codes.fill(((1u16 << form.bits) - 1) as u8);
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
                let out = row_products(kernels, std::slice::from_ref(&weight), &x);
                for value in out[0] {
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
    let form = GroupForm {
        bits: 4,
        group: 32,
        scale: ScaleForm::Stored(ScalarType::F16),
    };
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

#[test]
fn dense_products() {
    let mut random = Random(seed());
    for ty in [ScalarType::F32, ScalarType::F16, ScalarType::BF16] {
        for (lanes, cols, rows) in [(16, 96, 1), (16, 100, 5), (3, 33, 2), (7, 8, 1)] {
            let values = random.vector(lanes * cols);
            let (data, exact): (Vec<Vec<u8>>, Vec<f32>) = values
                .iter()
                .map(|&v| match ty {
                    ScalarType::F32 => (v.to_le_bytes().to_vec(), v),
                    ScalarType::F16 => {
                        let h = half::f16::from_f32(v);
                        (h.to_le_bytes().to_vec(), h.to_f32())
                    }
                    ScalarType::BF16 => {
                        let h = half::bf16::from_f32(v);
                        (h.to_le_bytes().to_vec(), h.to_f32())
                    }
                })
                .unzip();
            let data = data.concat();
            let x = random.vector(rows * cols);
            for kernels in available() {
                let tile = DenseTile {
                    ty,
                    data: &data,
                    rows: lanes,
                    cols,
                };
                let mut out = vec![[f32::NAN; 16]; rows];
                // SAFETY: `kernels` comes from `available`.
                unsafe { (kernels.dense_tile)(&tile, &x, &mut out) };
                for (row, x) in x.chunks_exact(cols).enumerate() {
                    for lane in 0..lanes {
                        let w = &exact[lane * cols..][..cols];
                        let sum: f64 = w
                            .iter()
                            .zip(x)
                            .map(|(&w, &x)| f64::from(w) * f64::from(x))
                            .sum();
                        assert!(
                            (f64::from(out[row][lane]) - sum).abs() < 1e-4,
                            "{:?} {ty:?}",
                            kernels.level
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn attention_over_pages() {
    let mut random = Random(seed());
    for dim in [64, 80, 128] {
        for rows in 1..=6 {
            let q = random.vector(rows * dim);
            let (pages, tokens) = (2, PAGE_TOKENS);
            // Numbers that are f16 too.
            let half = |x: Vec<f32>| -> Vec<f32> {
                x.iter().map(|&x| half::f16::from_f32(x).to_f32()).collect()
            };
            let k = half(random.vector(pages * dim * tokens));
            let v = half(random.vector(pages * tokens * dim));
            let seen: Vec<Vec<(usize, usize)>> = (0..pages)
                .map(|p| {
                    (0..rows)
                        .map(|r| if p == 0 { (r, tokens) } else { (0, 2 * r) })
                        .collect()
                })
                .collect();
            let bits = |x: &[f32]| -> Vec<u16> {
                x.iter()
                    .map(|&x| half::f16::from_f32(x).to_bits())
                    .collect()
            };
            let (k_bits, v_bits) = (bits(&k), bits(&v));
            for (kernels, is_half) in available()
                .into_iter()
                .flat_map(|k| [(k, false), (k, true)])
            {
                let mut state = vec![(f32::NEG_INFINITY, 0.0); rows];
                let mut out = vec![0.0; rows * dim];
                for p in 0..pages {
                    let page = p * dim * tokens..(p + 1) * dim * tokens;
                    let mut page = AttendPage {
                        q: &q,
                        kv: if is_half {
                            KeysValues::F16(&k_bits[page.clone()], &v_bits[page])
                        } else {
                            KeysValues::F32(&k[page.clone()], &v[page])
                        },
                        seen: &seen[p],
                        state: &mut state,
                        out: &mut out,
                    };
                    // SAFETY: `kernels` comes from `available`.
                    unsafe { (kernels.attend_page)(&mut page) };
                }
                for r in 0..rows {
                    let (mut total, mut exact) = (0.0f64, vec![0.0f64; dim]);
                    for p in 0..pages {
                        for t in seen[p][r].0..seen[p][r].1 {
                            let score: f64 = (0..dim)
                                .map(|d| {
                                    f64::from(q[r * dim + d])
                                        * f64::from(k[p * dim * tokens + d * tokens + t])
                                })
                                .sum();
                            total += score.exp();
                            for (d, e) in exact.iter_mut().enumerate() {
                                *e += score.exp() * f64::from(v[(p * tokens + t) * dim + d]);
                            }
                        }
                    }
                    for (d, exact) in exact.iter().enumerate() {
                        let got = f64::from(out[r * dim + d]) / f64::from(state[r].1);
                        assert!(
                            (got - exact / total).abs() < 1e-4,
                            "{:?}, dim {dim}",
                            kernels.level
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn attention_in_columns_gives_the_same_bits() {
    let mut random = Random(seed());
    for dim in [16, 64, 80, 128] {
        let tokens = PAGE_TOKENS;
        let q: Vec<f32> = random
            .vector(COLUMNS * dim)
            .iter()
            .map(|q| q * 4.0)
            .collect();
        let (k, v) = (
            random.vector(3 * dim * tokens),
            random.vector(3 * dim * tokens),
        );
        // A window that begins in the first page, a whole page, an end in the third; row 15 sees
        // nothing of the first page, row 0 nothing of the third.
        let seen = |p: usize, r: usize| match p {
            0 => ((2 * r + 2).min(tokens), tokens),
            1 => (0, tokens),
            _ => (0, r),
        };
        let lanes: [usize; COLUMNS] = std::array::from_fn(|r| r);
        let columns: Vec<Column> = (0..dim).map(|d| lanes.map(|r| q[r * dim + d])).collect();
        for kernels in available() {
            let mut rows_state = [(f32::NEG_INFINITY, 0.0); COLUMNS];
            let mut rows_out = vec![0.0f32; COLUMNS * dim];
            let mut state = [[f32::NEG_INFINITY; COLUMNS], [0.0; COLUMNS]];
            let mut out = vec![[0.0f32; COLUMNS]; dim];
            for p in 0..3 {
                let (k, v) = (&k[p * dim * tokens..], &v[p * dim * tokens..]);
                let seen = lanes.map(|r| seen(p, r));
                for from in (0..COLUMNS).step_by(5) {
                    let to = (from + 5).min(COLUMNS);
                    let mut page = AttendPage {
                        q: &q[from * dim..to * dim],
                        kv: KeysValues::F32(k, v),
                        seen: &seen[from..to],
                        state: &mut rows_state[from..to],
                        out: &mut rows_out[from * dim..to * dim],
                    };
                    // SAFETY: `kernels` comes from `available`.
                    unsafe { (kernels.attend_page)(&mut page) };
                }
                let mut page = AttendColumns {
                    q: &columns,
                    k,
                    v,
                    seen: &seen,
                    state: &mut state,
                    out: &mut out,
                };
                // SAFETY: as above.
                unsafe { (kernels.attend_columns)(&mut page) };
            }
            for r in lanes {
                let level = kernels.level;
                assert_eq!(
                    state[0][r].to_bits(),
                    rows_state[r].0.to_bits(),
                    "{level:?}"
                );
                assert_eq!(
                    state[1][r].to_bits(),
                    rows_state[r].1.to_bits(),
                    "{level:?}"
                );
                for d in 0..dim {
                    let (column, row) = (out[d][r], rows_out[r * dim + d]);
                    assert_eq!(
                        column.to_bits(),
                        row.to_bits(),
                        "{level:?} dim {dim} row {r}"
                    );
                }
            }
        }
    }
}

#[test]
fn norms_and_activations() {
    let mut random = Random(seed());
    for len in [1, 31, 64, 576, 1000] {
        let (x, w) = (random.vector(len), random.vector(len));
        let mean = x.iter().map(|&v| f64::from(v).powi(2)).sum::<f64>() / len as f64;
        let wide: Vec<f32> = x.iter().map(|v| v * 40.0).collect();
        for kernels in available() {
            let mut out = vec![f32::NAN; len];
            // SAFETY: `kernels` comes from `available`.
            unsafe { (kernels.rms_norm)(&x, &w, 1e-5, &mut out) };
            for i in 0..len {
                let exact = f64::from(x[i]) / (mean + 1e-5).sqrt() * f64::from(w[i]);
                assert!((f64::from(out[i]) - exact).abs() < 1e-5);
            }
            let mut gate = wide.clone();
            // SAFETY: as above.
            unsafe { (kernels.swiglu)(&mut gate, &w) };
            for i in 0..len {
                let g = f64::from(wide[i]);
                let exact = g / (1.0 + (-g).exp()) * f64::from(w[i]);
                assert!((f64::from(gate[i]) - exact).abs() <= 2e-6 * exact.abs().max(1.0));
            }
            let mut half = vec![0u16; len];
            let mut back = vec![f32::NAN; len];
            // SAFETY: as above.
            unsafe {
                (kernels.narrow)(&wide, &mut half);
                (kernels.kv_keys)(KvType::F16, &half, &mut back);
            }
            for i in 0..len {
                assert_eq!(back[i], half::f16::from_f32(wide[i]).to_f32());
            }
        }
    }
}
