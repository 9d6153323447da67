//! Attention over pages, rows or columns.

use super::*;
use crate::step::PAGE_TOKENS;

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
                for (p, seen) in seen.iter().enumerate() {
                    let page = p * dim * tokens..(p + 1) * dim * tokens;
                    let mut page = AttendPage {
                        q: &q,
                        kv: if is_half {
                            KeysValues::F16(&k_bits[page.clone()], &v_bits[page])
                        } else {
                            KeysValues::F32(&k[page.clone()], &v[page])
                        },
                        seen,
                        cap: 0.0,
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
                        cap: 0.0,
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
                    cap: 0.0,
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
fn rows_to_columns_and_back() {
    let mut random = Random(seed());
    for dim in [8, 12, 16, 64, 80] {
        for count in 1..=COLUMNS {
            let rows = random.vector(count * dim);
            for kernels in available() {
                let mut columns = vec![[f32::NAN; COLUMNS]; dim];
                let mut back = vec![f32::NAN; count * dim];
                // SAFETY: `kernels` comes from `available`.
                unsafe {
                    (kernels.to_columns)(&rows, &mut columns);
                    (kernels.to_rows)(&columns, &mut back);
                }
                for (d, column) in columns.iter().enumerate() {
                    for (lane, &value) in column.iter().enumerate() {
                        let row = rows.get(lane * dim + d).filter(|_| lane < count);
                        assert_eq!(value, row.copied().unwrap_or(0.0), "{:?}", kernels.level);
                    }
                }
                assert_eq!(back, rows, "{:?}", kernels.level);
            }
        }
    }
}
