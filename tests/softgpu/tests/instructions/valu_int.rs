//! Vector integers and bits of 32 and 64 bits (manuals: VOP1, VOP2, VOP3 instructions).

use crate::harness::Case;
use crate::numbers::Kind::{self, U32, U64};
use crate::tables::{lanes, vector};

const ONE: &[Kind] = &[U32];
const TWO: &[Kind] = &[U32, U32];
const THREE: &[Kind] = &[U32, U32, U32];

pub fn i(v: u64) -> i64 {
    i64::from(v as u32 as i32)
}

fn low(v: i64) -> u64 {
    u64::from(v as u32)
}

fn u24(v: u64) -> u64 {
    v & 0xff_ffff
}

/// The low 24 bits as a signed number.
fn i24(v: u64) -> i64 {
    let v = u24(v) as i64;
    if v >= 1 << 23 { v - (1 << 24) } else { v }
}

fn i16s(v: u64) -> i64 {
    i64::from(v as u16 as i16)
}

fn byte(v: u64, n: u64) -> u64 {
    v >> (8 * n) & 0xff
}

fn middle(mut v: [i64; 3]) -> i64 {
    v.sort_unstable();
    v[1]
}

fn sad(a: u64, b: u64) -> u64 {
    (0..4).map(|n| byte(a, n).abs_diff(byte(b, n))).sum()
}

/// Byte permute: 0-3 bytes of the second source, 4-7 of the first, 8-11 signs of bytes 1, 3, 5, 7,
/// 12 zero, above all ones.
fn perm(s: &[u64]) -> u64 {
    let bytes: Vec<u64> = (0..4)
        .map(|n| byte(s[1], n))
        .chain((0..4).map(|n| byte(s[0], n)))
        .collect();
    (0..4).fold(0, |out, n| {
        let v = match byte(s[2], n) as usize {
            k @ 0..=7 => bytes[k],
            k @ 8..=11 => {
                if bytes[2 * (k - 8) + 1] >= 0x80 {
                    0xff
                } else {
                    0
                }
            }
            12 => 0,
            _ => 0xff,
        };
        out | v << (8 * n)
    })
}

fn bits(cases: &mut Vec<Case>) {
    let mut one = |name: &str, f: fn(&[u64]) -> u64| cases.push(vector(name, U32, ONE, f));
    one("v_mov_b32", |s| s[0]);
    one("v_not_b32", |s| s[0] ^ 0xffff_ffff);
    one("v_bfrev_b32", |s| {
        (0..32).fold(0, |v, n| v | (s[0] >> n & 1) << (31 - n))
    });
    for name in ["v_ffbh_u32", "v_clz_i32_u32"] {
        one(name, |s| {
            (0..32)
                .position(|n| s[0] >> (31 - n) & 1 == 1)
                .map_or(0xffff_ffff, |n| n as u64)
        });
    }
    for name in ["v_ffbl_b32", "v_ctz_i32_b32"] {
        one(name, |s| {
            (0..32)
                .position(|n| s[0] >> n & 1 == 1)
                .map_or(0xffff_ffff, |n| n as u64)
        });
    }
    for name in ["v_ffbh_i32", "v_cls_i32"] {
        one(name, |s| {
            (0..32)
                .position(|n| s[0] >> (31 - n) & 1 != s[0] >> 31)
                .map_or(0xffff_ffff, |n| n as u64)
        });
    }
    let mut two = |name: &str, f: fn(&[u64]) -> u64| cases.push(vector(name, U32, TWO, f));
    two("v_and_b32", |s| s[0] & s[1]);
    two("v_or_b32", |s| s[0] | s[1]);
    two("v_xor_b32", |s| s[0] ^ s[1]);
    two("v_xnor_b32", |s| !(s[0] ^ s[1]));
    two("v_bcnt_u32_b32", |s| {
        (0..32).map(|n| s[0] >> n & 1).sum::<u64>() + s[1]
    });
    two("v_bfm_b32", |s| ((1 << (s[0] & 31)) - 1) << (s[1] & 31));
    two("v_lshlrev_b32", |s| s[1] << (s[0] & 31));
    two("v_lshrrev_b32", |s| s[1] >> (s[0] & 31));
    two("v_ashrrev_i32", |s| low(i(s[1]) >> (s[0] & 31)));
    let mut three = |name: &str, f: fn(&[u64]) -> u64| cases.push(vector(name, U32, THREE, f));
    three("v_bfe_u32", |s| {
        s[0] >> (s[1] & 31) & ((1 << (s[2] & 31)) - 1)
    });
    three("v_bfe_i32", |s| {
        let (offset, width) = (s[1] & 31, s[2] & 31);
        if width == 0 {
            return 0;
        }
        let field = i(s[0]) >> offset & ((1 << width) - 1);
        low(if field >> (width - 1) & 1 == 1 {
            field - (1 << width)
        } else {
            field
        })
    });
    three("v_bfi_b32", |s| (s[0] & s[1]) | (!s[0] & s[2]));
    three("v_alignbit_b32", |s| (s[0] << 32 | s[1]) >> (s[2] & 31));
    three("v_alignbyte_b32", |s| {
        (s[0] << 32 | s[1]) >> (8 * (s[2] & 3))
    });
    three("v_perm_b32", perm);
    three("v_and_or_b32", |s| (s[0] & s[1]) | s[2]);
    three("v_or3_b32", |s| s[0] | s[1] | s[2]);
    three("v_xor3_b32", |s| s[0] ^ s[1] ^ s[2]);
    three("v_xad_u32", |s| (s[0] ^ s[1]) + s[2]);
    three("v_lshl_or_b32", |s| s[0] << (s[1] & 31) | s[2]);
    three("v_lshl_add_u32", |s| {
        (s[0] << (s[1] & 31)).wrapping_add(s[2])
    });
    three("v_add_lshl_u32", |s| (s[0] + s[1]) << (s[2] & 31));
    // Selectors of every kind, which random words rarely hold.
    cases.push(lanes(
        "v_and_b32 v6, 0x0f0f0f0f, v6\nv_perm_b32 v0, v2, v4, v6",
        U32,
        THREE,
        false,
        |s| perm(&[s[0], s[1], s[2] & 0x0f0f_0f0f]),
    ));
    let fix = cases.len() - 1;
    also_writes(&mut cases[fix], |s, lane| s.v[6][lane] &= 0x0f0f_0f0f);
}

/// Wraps an expectation: another register changes in the active lanes as well.
fn also_writes(case: &mut Case, f: fn(&mut softgpu::isa::testing::State, usize)) {
    let first = std::mem::replace(&mut case.expect, Box::new(|_, _, _| {}));
    case.expect = Box::new(move |target, before, after| {
        first(target, before, after);
        for lane in 0..before.lanes {
            if before.exec >> lane & 1 == 1 {
                f(after, lane);
            }
        }
    });
}

fn arithmetic(cases: &mut Vec<Case>) {
    let mut two = |name: &str, f: fn(&[u64]) -> u64| cases.push(vector(name, U32, TWO, f));
    for name in ["v_add_u32", "v_add_nc_u32", "v_add_i32", "v_add_nc_i32"] {
        two(name, |s| s[0] + s[1]);
    }
    for name in ["v_sub_u32", "v_sub_nc_u32", "v_sub_i32", "v_sub_nc_i32"] {
        two(name, |s| s[0].wrapping_sub(s[1]));
    }
    for name in ["v_subrev_u32", "v_subrev_nc_u32"] {
        two(name, |s| s[1].wrapping_sub(s[0]));
    }
    for name in ["v_mul_lo_u32", "v_mul_lo_i32"] {
        two(name, |s| s[0] * s[1]);
    }
    two("v_mul_hi_u32", |s| (s[0] * s[1]) >> 32);
    two("v_mul_hi_i32", |s| low((i(s[0]) * i(s[1])) >> 32));
    two("v_mul_u32_u24", |s| u24(s[0]) * u24(s[1]));
    two("v_mul_i32_i24", |s| low(i24(s[0]) * i24(s[1])));
    two("v_mul_hi_u32_u24", |s| (u24(s[0]) * u24(s[1])) >> 32);
    two("v_mul_hi_i32_i24", |s| low((i24(s[0]) * i24(s[1])) >> 32));
    two("v_min_u32", |s| if s[0] < s[1] { s[0] } else { s[1] });
    two("v_max_u32", |s| if s[0] >= s[1] { s[0] } else { s[1] });
    two("v_min_i32", |s| if i(s[0]) < i(s[1]) { s[0] } else { s[1] });
    two(
        "v_max_i32",
        |s| if i(s[0]) >= i(s[1]) { s[0] } else { s[1] },
    );
    let mut three = |name: &str, f: fn(&[u64]) -> u64| cases.push(vector(name, U32, THREE, f));
    three("v_add3_u32", |s| s[0] + s[1] + s[2]);
    three("v_mad_u32_u24", |s| u24(s[0]) * u24(s[1]) + s[2]);
    three("v_mad_i32_i24", |s| low(i24(s[0]) * i24(s[1]) + i(s[2])));
    three("v_mad_u32_u16", |s| {
        (s[0] & 0xffff) * (s[1] & 0xffff) + s[2]
    });
    three("v_mad_i32_i16", |s| low(i16s(s[0]) * i16s(s[1]) + i(s[2])));
    three("v_min3_u32", |s| *s[..3].iter().min().expect("three"));
    three("v_max3_u32", |s| *s[..3].iter().max().expect("three"));
    three("v_min3_i32", |s| low(i(s[0]).min(i(s[1])).min(i(s[2]))));
    three("v_max3_i32", |s| low(i(s[0]).max(i(s[1])).max(i(s[2]))));
    three("v_med3_u32", |s| {
        middle([s[0] as i64, s[1] as i64, s[2] as i64]) as u64
    });
    three("v_med3_i32", |s| low(middle([i(s[0]), i(s[1]), i(s[2])])));
    three("v_maxmin_u32", |s| s[0].max(s[1]).min(s[2]));
    three("v_minmax_u32", |s| s[0].min(s[1]).max(s[2]));
    three("v_maxmin_i32", |s| low(i(s[0]).max(i(s[1])).min(i(s[2]))));
    three("v_minmax_i32", |s| low(i(s[0]).min(i(s[1])).max(i(s[2]))));
    three("v_sad_u8", |s| sad(s[0], s[1]) + s[2]);
    three("v_sad_hi_u8", |s| (sad(s[0], s[1]) << 16) + s[2]);
    three("v_sad_u16", |s| {
        (s[0] & 0xffff).abs_diff(s[1] & 0xffff) + (s[0] >> 16).abs_diff(s[1] >> 16) + s[2]
    });
    three("v_sad_u32", |s| s[0].abs_diff(s[1]) + s[2]);
    three("v_msad_u8", |s| {
        // Bytes whose reference (second source) is zero do not count.
        let one = |n| {
            if byte(s[1], n) == 0 {
                0
            } else {
                byte(s[0], n).abs_diff(byte(s[1], n))
            }
        };
        (0..4).map(one).sum::<u64>() + s[2]
    });
    three("v_lerp_u8", |s| {
        (0..4).fold(0, |out, n| {
            out | ((byte(s[0], n) + byte(s[1], n) + (byte(s[2], n) & 1)) >> 1) << (8 * n)
        })
    });
    // Saturation (CLAMP) to the result's type.
    let top = 0xffff_ffffu64;
    let mut clamped = |name: &str, src: &'static [Kind], f: fn(&[u64], u64) -> u64| {
        let text = crate::tables::text(name, U32, src, " clamp");
        cases.push(lanes(text, U32, src, false, move |s| f(s, top)));
    };
    for name in ["v_add_u32", "v_add_nc_u32"] {
        clamped(name, TWO, |s, top| (s[0] + s[1]).min(top));
    }
    for name in ["v_sub_u32", "v_sub_nc_u32"] {
        clamped(name, TWO, |s, _| s[0].saturating_sub(s[1]));
    }
    for name in ["v_subrev_u32", "v_subrev_nc_u32"] {
        clamped(name, TWO, |s, _| s[1].saturating_sub(s[0]));
    }
    for name in ["v_add_i32", "v_add_nc_i32"] {
        clamped(name, TWO, |s, _| {
            low((i(s[0]) + i(s[1])).clamp(i32::MIN.into(), i32::MAX.into()))
        });
    }
    for name in ["v_sub_i32", "v_sub_nc_i32"] {
        clamped(name, TWO, |s, _| {
            low((i(s[0]) - i(s[1])).clamp(i32::MIN.into(), i32::MAX.into()))
        });
    }
    clamped("v_mad_u32_u24", THREE, |s, top| {
        (u24(s[0]) * u24(s[1]) + s[2]).min(top)
    });
    clamped("v_mad_i32_i24", THREE, |s, _| {
        low((i24(s[0]) * i24(s[1]) + i(s[2])).clamp(i32::MIN.into(), i32::MAX.into()))
    });
}

fn wide(cases: &mut Vec<Case>) {
    let shifted: &[Kind] = &[U32, U64];
    cases.push(vector("v_lshlrev_b64", U64, shifted, |s| {
        s[1] << (s[0] & 63)
    }));
    cases.push(vector("v_lshrrev_b64", U64, shifted, |s| {
        s[1] >> (s[0] & 63)
    }));
    cases.push(vector("v_ashrrev_i64", U64, shifted, |s| {
        (s[1] as i64 >> (s[0] & 63)) as u64
    }));
    cases.push(vector("v_mov_b64", U64, &[U64], |s| s[0]));
    // The shift is at most 4 (three bits name it).
    for n in 0..5 {
        let text = format!("v_lshl_add_u64 v[0:1], v[2:3], {n}, v[6:7]");
        cases.push(lanes(text, U64, &[U64, U32, U64], false, move |s| {
            (s[0] << n).wrapping_add(s[2])
        }));
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    bits(&mut cases);
    arithmetic(&mut cases);
    wide(&mut cases);
    cases
}
