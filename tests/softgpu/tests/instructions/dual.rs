//! Dual issue (manuals: VOPD): two operations that read all their sources before either writes.

use crate::harness::{Case, Close, Reg};
use crate::numbers::Kind::{self, F32, U32};
use crate::numbers::{F16, f};
use crate::tables::{fill, lanes};
use crate::valu_float::{bits, max, min};

const F: &[Kind] = &[F32, F32];
const U: &[Kind] = &[U32, U32];

fn w(v: u64) -> f64 {
    f64::from(f(v))
}

/// An operation beside a move of v7 to v1, in either place.
fn beside(
    cases: &mut Vec<Case>,
    name: &str,
    operands: &str,
    x_too: bool,
    kinds: &'static [Kind],
    g: fn(&[u64]) -> u64,
) {
    let operation = format!("v_dual_{name} v0, {operands}");
    let mut texts = vec![format!("v_dual_mov_b32 v1, v7 :: {operation}")];
    if x_too {
        texts.push(format!("{operation} :: v_dual_mov_b32 v1, v7"));
    }
    for asm in texts {
        let dst = if kinds == F { F32 } else { U32 };
        let mut case = lanes(asm, dst, kinds, false, g);
        let first = case.expect;
        case.expect = Box::new(move |target, before, after| {
            first(target, before, after);
            for lane in (0..before.lanes).filter(|l| before.exec >> l & 1 == 1) {
                after.v[1][lane] = before.v[7][lane];
            }
        });
        // RDNA 4 renames minima and maxima.
        let on: fn(&str) -> bool = match name {
            "max_num_f32" | "min_num_f32" => |t| t.starts_with("gfx12"),
            "max_f32" | "min_f32" => |t| t.starts_with("gfx11"),
            _ => |_| true,
        };
        cases.push(case.on(on));
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let c = &mut cases;
    beside(c, "add_f32", "v2, v4", true, F, |s| {
        bits((w(s[0]) + w(s[1])) as f32)
    });
    beside(c, "sub_f32", "v2, v4", true, F, |s| {
        bits((w(s[0]) - w(s[1])) as f32)
    });
    beside(c, "subrev_f32", "v2, v4", true, F, |s| {
        bits((w(s[1]) - w(s[0])) as f32)
    });
    beside(c, "mul_f32", "v2, v4", true, F, |s| {
        bits((w(s[0]) * w(s[1])) as f32)
    });
    beside(c, "mul_dx9_zero_f32", "v2, v4", true, F, |s| {
        let zero = w(s[0]) == 0.0 || w(s[1]) == 0.0;
        bits(if zero {
            0.0
        } else {
            (w(s[0]) * w(s[1])) as f32
        })
    });
    for tail in ["", "_num"] {
        beside(c, &format!("max{tail}_f32"), "v2, v4", true, F, |s| {
            bits(max(w(s[0]), w(s[1])) as f32)
        });
        beside(c, &format!("min{tail}_f32"), "v2, v4", true, F, |s| {
            bits(min(w(s[0]), w(s[1])) as f32)
        });
    }
    beside(c, "fmac_f32", "v2, v4", true, F, |s| {
        bits(f(s[0]).mul_add(f(s[1]), f(s[2])))
    });
    beside(c, "fmaak_f32", "v2, v4, 0x40490fdb", true, F, |s| {
        bits(f(s[0]).mul_add(f(s[1]), f(0x4049_0fdb)))
    });
    beside(c, "fmamk_f32", "v2, 0x40490fdb, v4", true, F, |s| {
        bits(f(s[0]).mul_add(f(0x4049_0fdb), f(s[1])))
    });
    beside(c, "mov_b32", "v2", true, &[U32], |s| s[0]);
    // Only in the second place.
    beside(c, "add_nc_u32", "v2, v4", false, U, |s| s[0] + s[1]);
    beside(c, "lshlrev_b32", "v2, v4", false, U, |s| {
        s[1] << (s[0] & 31)
    });
    beside(c, "and_b32", "v2, v4", false, U, |s| s[0] & s[1]);
    for text in [
        "v_dual_cndmask_b32 v0, v2, v4 :: v_dual_mov_b32 v1, v7",
        "v_dual_mov_b32 v1, v7 :: v_dual_cndmask_b32 v0, v2, v4",
    ] {
        cases.push(Case::new(text, fill(U), |_, before, after| {
            for lane in (0..before.lanes).filter(|l| before.exec >> l & 1 == 1) {
                let from = if before.vcc >> lane & 1 == 1 { 4 } else { 2 };
                (after.v[0][lane], after.v[1][lane]) = (before.v[from][lane], before.v[7][lane]);
            }
        }));
    }
    // Dot products with whole numbers, whose sums are exact.
    let asm = "v_dual_dot2acc_f32_f16 v0, v2, v4 :: v_dual_mov_b32 v1, v7";
    let mut case = Case::new(
        asm,
        move |s, random, _| {
            for lane in 0..s.lanes {
                for r in [2, 4] {
                    let mut one = || F16.encode(random.below(17) as f64 - 8.0);
                    s.v[r][lane] = one() | one() << 16;
                }
                s.v[0][lane] = (random.below(500) as f32).to_bits();
            }
        },
        move |_, before, after| {
            for lane in (0..before.lanes).filter(|l| before.exec >> l & 1 == 1) {
                let half = |r: usize, n: u32| F16.decode(before.v[r][lane] >> n & 0xffff);
                let sum = half(2, 0) * half(4, 0) + half(2, 16) * half(4, 16);
                after.v[0][lane] = ((sum + w(before.v[0][lane].into())) as f32).to_bits();
                after.v[1][lane] = before.v[7][lane];
            }
        },
    );
    case.close = vec![(Reg::V(0), Close::F32(0))];
    cases.push(case);
    // A swap, and a second half that reads what the first writes.
    cases.push(Case::new(
        "v_dual_mov_b32 v2, v5 :: v_dual_mov_b32 v5, v2",
        |_, _, _| {},
        |_, before, after| {
            for lane in (0..before.lanes).filter(|l| before.exec >> l & 1 == 1) {
                (after.v[2][lane], after.v[5][lane]) = (before.v[5][lane], before.v[2][lane]);
            }
        },
    ));
    cases.push(Case::new(
        "v_dual_mov_b32 v2, v5 :: v_dual_add_nc_u32 v1, v2, v4",
        |_, _, _| {},
        |_, before, after| {
            for lane in (0..before.lanes).filter(|l| before.exec >> l & 1 == 1) {
                after.v[2][lane] = before.v[5][lane];
                after.v[1][lane] = before.v[2][lane].wrapping_add(before.v[4][lane]);
            }
        },
    ));
    cases
}
