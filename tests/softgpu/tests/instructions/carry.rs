//! Vector integers with masks: carries, selects, counts over lanes (manuals: VOP2, VOP3), and moves to and
//! from AccVGPRs (CDNA).

use crate::harness::{Case, generation};
use crate::numbers::Kind::{self, U32, U64};
use crate::tables::{fill, pair, read, set_pair, write};
use crate::valu_int::i;

const TWO: &[Kind] = &[U32, U32];

/// A result and a mask: `f(sources, carry-in) -> (result, carry-out)`.
fn carry(
    asm: &str,
    src: &'static [Kind],
    dst: Kind,
    reads: bool,
    f: fn(&[u64], u64) -> (u64, bool),
) -> Case {
    let vcc = asm.contains("{vcc}");
    Case::new(asm, fill(src), move |_, before, after| {
        let wide = before.lanes == 64;
        let mask_in = if vcc { before.vcc } else { pair(before, 12) };
        let mut out = 0u64;
        for lane in 0..before.lanes {
            if before.exec >> lane & 1 == 0 {
                continue;
            }
            let values: Vec<u64> = src
                .iter()
                .enumerate()
                .map(|(k, kind)| read(before, *kind, 2 + 2 * k, lane))
                .collect();
            let (v, c) = f(&values, if reads { mask_in >> lane & 1 } else { 0 });
            write(after, dst, 0, lane, v);
            out |= u64::from(c) << lane;
        }
        let keep = |old: u64| if wide { out } else { old >> 32 << 32 | out };
        if vcc {
            after.vcc = keep(before.vcc);
        } else {
            set_pair(after, 8, keep(pair(before, 8)));
        }
    })
}

fn carries(cases: &mut Vec<Case>) {
    type Sum = fn(&[u64], u64) -> (u64, bool);
    let add: Sum = |s, c| (s[0] + s[1] + c, s[0] + s[1] + c > 0xffff_ffff);
    let sub: Sum = |s, c| (s[0].wrapping_sub(s[1] + c), s[1] + c > s[0]);
    let subrev: Sum = |s, c| (s[1].wrapping_sub(s[0] + c), s[0] + c > s[1]);
    for (name, f) in [
        ("v_add_co_u32", add),
        ("v_sub_co_u32", sub),
        ("v_subrev_co_u32", subrev),
    ] {
        for wave64 in [false, true] {
            for text in [
                format!("{name} v0, {{vcc}}, v2, v4"),
                format!("{name}_e64 v0, {{s8}}, v2, v4"),
            ] {
                let case = carry(&text, TWO, U32, false, f);
                cases.push(if wave64 { case.wave64() } else { case });
            }
        }
    }
    let reading = [
        ("v_addc_co_u32", add),
        ("v_add_co_ci_u32", add),
        ("v_subb_co_u32", sub),
        ("v_sub_co_ci_u32", sub),
        ("v_subbrev_co_u32", subrev),
        ("v_subrev_co_ci_u32", subrev),
    ];
    for (name, f) in reading {
        for wave64 in [false, true] {
            for text in [
                format!("{name} v0, {{vcc}}, v2, v4, {{vcc}}"),
                format!("{name}_e64 v0, {{s8}}, v2, v4, {{s12}}"),
            ] {
                let case = carry(&text, TWO, U32, true, f);
                cases.push(if wave64 { case.wave64() } else { case });
            }
        }
    }
    let mad: &[Kind] = &[U32, U32, U64];
    for name in ["v_mad_u64_u32", "v_mad_co_u64_u32"] {
        cases.push(carry(
            &format!("{name} v[0:1], {{s8}}, v2, v4, v[6:7]"),
            mad,
            U64,
            false,
            |s, _| {
                let sum = u128::from(s[0] * s[1]) + u128::from(s[2]);
                (sum as u64, sum >> 64 != 0)
            },
        ));
    }
    for name in ["v_mad_i64_i32", "v_mad_co_i64_i32"] {
        cases.push(carry(
            &format!("{name} v[0:1], {{s8}}, v2, v4, v[6:7]"),
            mad,
            U64,
            false,
            |s, _| {
                let sum = i128::from(i(s[0]) * i(s[1])) + i128::from(s[2] as i64);
                (sum as u64, i128::from(sum as i64) != sum)
            },
        ));
    }
}

/// Lane selects and counts over masks.
fn lane_masks(cases: &mut Vec<Case>) {
    for (text, vcc) in [
        ("v_cndmask_b32 v0, v2, v4, {vcc}", true),
        ("v_cndmask_b32_e64 v0, v2, v4, {s12}", false),
        ("v_cndmask_b32_e64 v0, -v2, |v4|, {s12}", false),
    ] {
        for wave64 in [false, true] {
            let signs = text.contains('|');
            let case = Case::new(text, fill(TWO), move |_, before, after| {
                let mask = if vcc { before.vcc } else { pair(before, 12) };
                for lane in (0..before.lanes).filter(|l| before.exec >> l & 1 == 1) {
                    let (mut a, mut b) = (before.v[2][lane], before.v[4][lane]);
                    if signs {
                        (a, b) = (a ^ 0x8000_0000, b & 0x7fff_ffff);
                    }
                    after.v[0][lane] = if mask >> lane & 1 == 1 { b } else { a };
                }
            });
            cases.push(if wave64 { case.wave64() } else { case });
        }
    }
    // Bits of the mask in lanes below this one: the low and the high word's share.
    for (name, first) in [("v_mbcnt_lo_u32_b32", 0), ("v_mbcnt_hi_u32_b32", 32)] {
        for wave64 in [false, true] {
            let case = Case::new(
                format!("{name} v0, v2, v4"),
                fill(TWO),
                move |_, before, after| {
                    for lane in (0..before.lanes).filter(|l| before.exec >> l & 1 == 1) {
                        let count = (0..32)
                            .filter(|n| first + n < lane && before.v[2][lane] >> n & 1 == 1)
                            .count();
                        after.v[0][lane] = before.v[4][lane].wrapping_add(count as u32);
                    }
                },
            );
            cases.push(if wave64 { case.wave64() } else { case });
        }
    }
}

/// AccVGPRs (CDNA): moves between them and VGPRs.
fn accumulators(cases: &mut Vec<Case>) {
    for (text, from_acc, to_acc) in [
        ("v_accvgpr_read_b32 v0, a3", true, false),
        ("v_accvgpr_write_b32 a1, v2", false, true),
        ("v_accvgpr_mov_b32 a1, a3", true, true),
    ] {
        cases.push(
            Case::new(
                text,
                |s, random, _| {
                    s.acc = (0..8)
                        .map(|_| std::array::from_fn(|_| random.next() as u32))
                        .collect()
                },
                move |_, before, after| {
                    for lane in (0..before.lanes).filter(|l| before.exec >> l & 1 == 1) {
                        let v = if from_acc {
                            before.acc[3][lane]
                        } else {
                            before.v[2][lane]
                        };
                        *(if to_acc {
                            &mut after.acc[1][lane]
                        } else {
                            &mut after.v[0][lane]
                        }) = v;
                    }
                },
            )
            .on(|t| generation(t) == 9),
        );
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    carries(&mut cases);
    lane_masks(&mut cases);
    accumulators(&mut cases);
    cases
}
