//! Data between lanes (manuals: V_READLANE and its kin, V_PERMLANE, "Data Parallel Processing", and the LDS
//! instructions that permute without memory).

use crate::harness::{Case, generation};
use softgpu::isa::testing::State;

/// v0 of active lanes becomes what `source` finds for the lane; None leaves it.
fn pick(
    asm: impl Into<String>,
    source: impl Fn(&State, usize) -> Option<u32> + Send + Sync + 'static,
) -> Case {
    Case::new(
        asm,
        |_, _, _| {},
        move |_, before, after| {
            for lane in (0..before.lanes).filter(|l| before.exec >> l & 1 == 1) {
                if let Some(v) = source(before, lane) {
                    after.v[0][lane] = v;
                }
            }
        },
    )
}

fn both(cases: &mut Vec<Case>, make: impl Fn() -> Case) {
    cases.push(make());
    cases.push(make().wave64());
}

fn active(s: &State, lane: usize) -> bool {
    s.exec >> lane & 1 == 1
}

fn single_lanes(cases: &mut Vec<Case>) {
    both(cases, || {
        Case::new(
            "v_readfirstlane_b32 s0, v2",
            |s, _, run| {
                if run == 3 {
                    s.exec = 0
                }
            },
            |_, before, after| {
                // Lane 0 when none is active.
                let first = (0..before.lanes).find(|l| active(before, *l)).unwrap_or(0);
                after.s[0] = before.v[2][first];
            },
        )
    });
    both(cases, || {
        Case::new(
            "v_readlane_b32 s0, v2, s4",
            |_, _, _| {},
            |_, before, after| {
                after.s[0] = before.v[2][before.s[4] as usize % before.lanes];
            },
        )
    });
    both(cases, || {
        // Whether the lane is active does not matter.
        Case::new(
            "s_mov_b32 m0, s4\nv_writelane_b32 v0, s2, m0",
            |_, _, _| {},
            |_, before, after| {
                after.v[0][before.s[4] as usize % before.lanes] = before.s[2];
                after.m0 = before.s[4];
            },
        )
    });
    cases.push(Case::new(
        "v_swap_b32 v0, v2",
        |_, _, _| {},
        |_, before, after| {
            for lane in (0..before.lanes).filter(|l| active(before, *l)) {
                (after.v[0][lane], after.v[2][lane]) = (before.v[2][lane], before.v[0][lane]);
            }
        },
    ));
}

/// PERMLANE16: lane i of a row of 16 reads the lane that field i of the two scalars names, in its own row or
/// (X16) the other of the pair. FI reads inactive lanes, BOUND_CTRL takes 0 from them; without either the
/// destination stays.
fn permlanes(cases: &mut Vec<Case>) {
    for (name, exchange) in [("v_permlane16", false), ("v_permlanex16", true)] {
        for (tail, inactive, zero) in [
            ("", false, false),
            (" op_sel:[1,0]", true, false),
            (" op_sel:[0,1]", false, true),
        ] {
            for var in [false, true] {
                let sources = if var { "v2, v4" } else { "v2, s2, s4" };
                let name = if var {
                    format!("{name}_var_b32")
                } else {
                    format!("{name}_b32")
                };
                both(cases, || {
                    pick(format!("{name} v0, {sources}{tail}"), move |s, lane| {
                        let select = if var {
                            s.v[4][lane] & 15
                        } else {
                            let fields = u64::from(s.s[4]) << 32 | u64::from(s.s[2]);
                            (fields >> (4 * (lane % 16)) & 15) as u32
                        };
                        let row = if exchange { (lane / 16) ^ 1 } else { lane / 16 };
                        let from = 16 * row + select as usize;
                        if active(s, from) || inactive {
                            Some(s.v[2][from])
                        } else {
                            zero.then_some(0)
                        }
                    })
                });
            }
        }
    }
    // Waves of 32 have no other half: the instruction does nothing there.
    cases.push(pick("v_permlane64_b32 v0, v2", |_, _| None));
    cases.push(pick("v_permlane64_b32 v0, v2", |s, lane| Some(s.v[2][lane ^ 32])).wave64());
}

fn through_lds(cases: &mut Vec<Case>) {
    // Byte addresses of lanes, wrapping at the wave's size.
    for (offset, add) in [("", 0), (" offset:8", 8)] {
        both(cases, || {
            pick(
                format!("ds_bpermute_b32 v0, v2, v4{offset}"),
                move |s, lane| {
                    let from = (s.v[2][lane].wrapping_add(add) / 4) as usize % s.lanes;
                    Some(if active(s, from) { s.v[4][from] } else { 0 })
                },
            )
        });
        both(cases, || {
            pick(
                format!("ds_permute_b32 v0, v2, v4{offset}"),
                move |s, lane| {
                    // The highest active lane that sends here wins; 0 where none does.
                    let sends = |from: &usize| {
                        active(s, *from)
                            && (s.v[2][*from].wrapping_add(add) / 4) as usize % s.lanes == lane
                    };
                    Some(
                        (0..s.lanes)
                            .rev()
                            .find(sends)
                            .map_or(0, |from| s.v[4][from]),
                    )
                },
            )
        });
    }
    // Quad mode (bit 15): two bits each; else and, or and xor masks of five bits, within 32 lanes.
    for offset in [
        0x8000u32 | 0b00_01_10_11,
        0x8000 | 0b10_00_11_01,
        0x001f,
        0x041f,
        0x7c1f,
        0x0c18,
        0x03e0 | 0x7,
    ] {
        both(cases, || {
            pick(
                format!("ds_swizzle_b32 v0, v2 offset:{offset}"),
                move |s, lane| {
                    let from = if offset & 0x8000 != 0 {
                        lane & !3 | (offset >> (2 * (lane & 3)) & 3) as usize
                    } else {
                        let [and, or, xor] = [0, 5, 10].map(|n| (offset >> n & 31) as usize);
                        lane & 32 | (((lane & 31) & and) | or) ^ xor
                    };
                    Some(if active(s, from) { s.v[2][from] } else { 0 })
                },
            )
        });
    }
}

/// Where a DPP control reads for a lane; None outside the row or the wave.
type Control = fn(usize) -> Option<usize>;

fn row(lane: usize, to: i32) -> Option<usize> {
    (0..16)
        .contains(&to)
        .then_some(lane & !15 | to as usize & 15)
}

fn dpp(cases: &mut Vec<Case>) {
    let all: [(&str, Control); 10] = [
        ("quad_perm:[1,2,3,0]", |l| Some(l & !3 | (l + 1) & 3)),
        ("quad_perm:[3,3,0,1]", |l| {
            Some(l & !3 | [3, 3, 0, 1][l & 3])
        }),
        ("row_shl:3", |l| row(l, (l & 15) as i32 + 3)),
        ("row_shr:5", |l| row(l, (l & 15) as i32 - 5)),
        ("row_ror:4", |l| Some(l & !15 | (l + 12) & 15)),
        ("row_mirror", |l| Some(l ^ 15)),
        ("row_half_mirror", |l| Some(l ^ 7)),
        ("row_shl:15", |l| row(l, (l & 15) as i32 + 15)),
        ("row_ror:15", |l| Some(l & !15 | (l + 1) & 15)),
        ("row_shr:1", |l| row(l, (l & 15) as i32 - 1)),
    ];
    for (text, control) in all {
        dpp_case(cases, text, control, |_| true);
    }
    let later: [(&str, Control); 2] = [
        ("row_share:9", |l| Some(l & !15 | 9)),
        ("row_xmask:6", |l| Some(l ^ 6)),
    ];
    for (text, control) in later {
        dpp_case(cases, text, control, |t| generation(t) >= 10);
    }
    let first: [(&str, Control); 7] = [
        ("row_newbcast:5", |l| Some(l & !15 | 5)),
        ("wave_shl:1", |l| (l < 63).then_some(l + 1)),
        ("wave_shr:1", |l| l.checked_sub(1)),
        ("wave_rol:1", |l| Some((l + 1) % 64)),
        ("wave_ror:1", |l| Some((l + 63) % 64)),
        ("row_bcast:15", |l| {
            (l >= 16).then_some((l & !15).wrapping_sub(1))
        }),
        ("row_bcast:31", |l| (l >= 32).then_some(31)),
    ];
    for (text, control) in first {
        dpp_case(cases, text, control, |t| generation(t) == 9);
    }
    // DPP8: any lane of the group of eight; inactive ones read as zero.
    for (text, inactive) in [
        ("dpp8:[7,6,5,4,3,2,1,0]", false),
        ("dpp8:[1,1,4,0,7,2,2,5] fi:1", true),
    ] {
        let select: Vec<usize> = text[6..21]
            .split(',')
            .map(|v| v.parse().expect("a lane"))
            .collect();
        both(cases, || {
            let select = select.clone();
            pick(format!("v_mov_b32_dpp v0, v2 {text}"), move |s, lane| {
                let from = lane & !7 | select[lane & 7];
                Some(if active(s, from) || inactive {
                    s.v[2][from]
                } else {
                    0
                })
            })
            .on(|t| generation(t) >= 10)
        });
    }
}

/// One control on a move and on a sum, with the masks and flags.
fn dpp_case(cases: &mut Vec<Case>, text: &str, control: Control, on: fn(&str) -> bool) {
    for (masks, rows, banks) in [
        ("row_mask:0xf bank_mask:0xf", 15, 15),
        ("row_mask:0x5 bank_mask:0xa", 5, 10),
    ] {
        for (flags, zero, inactive) in [
            ("", false, false),
            (" bound_ctrl:1", true, false),
            (" fi:1", false, true),
        ] {
            // FI is new with RDNA.
            if inactive && !on("gfx1100") {
                continue;
            }
            for (asm, sum) in [
                ("v_mov_b32_dpp v0, v2", false),
                ("v_xor_b32_dpp v0, v2, v4", true),
            ] {
                both(cases, || {
                    let case = pick(format!("{asm} {text} {masks}{flags}"), move |s, lane| {
                        if rows >> (lane / 16) & 1 == 0 || banks >> (lane % 16 / 4) & 1 == 0 {
                            return None;
                        }
                        let v = match control(lane) {
                            Some(from) if active(s, from) || inactive => s.v[2][from],
                            _ if zero => 0,
                            _ => return None,
                        };
                        Some(if sum { v ^ s.v[4][lane] } else { v })
                    });
                    case.on(move |t| on(t) && (!inactive || generation(t) >= 10))
                        .runs(6)
                });
            }
        }
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    single_lanes(&mut cases);
    permlanes(&mut cases);
    through_lds(&mut cases);
    dpp(&mut cases);
    cases
}
