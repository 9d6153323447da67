//! Scalar integers, bits and masks (manuals: SOP1, SOP2, SOPK and SOPC instructions).

use crate::harness::Case;
use crate::numbers::Kind::{self, U32, U64};
use crate::tables::{scalar, scalar_text};

const ONE: &[Kind] = &[U32];
const TWO: &[Kind] = &[U32, U32];
const ONE64: &[Kind] = &[U64];
const TWO64: &[Kind] = &[U64, U64];
const SHIFT64: &[Kind] = &[U64, U32];

pub fn nonzero(v: u64) -> (u64, Option<bool>) {
    (v, Some(v != 0))
}

pub fn i(v: u64) -> i64 {
    i64::from(v as u32 as i32)
}

fn low(v: i64) -> u64 {
    u64::from(v as u32)
}

/// Bit `n` of a number of any width.
pub fn bit(v: u64, n: usize) -> bool {
    v >> n & 1 == 1
}

/// Signed field: bits `offset` and up, `width` of them, the last one the sign.
fn signed_field(v: i128, offset: u64, width: u64) -> i128 {
    if width == 0 {
        return 0;
    }
    let field = v >> offset & ((1i128 << width) - 1);
    if field >> (width - 1) & 1 == 1 {
        field - (1i128 << width)
    } else {
        field
    }
}

fn arithmetic(cases: &mut Vec<Case>) {
    let mut both = |names: [&str; 2], f: fn(&[u64], bool) -> (u64, Option<bool>)| {
        for name in names {
            cases.push(scalar(name, U32, TWO, f));
        }
    };
    both(["s_add_u32", "s_add_co_u32"], |s, _| {
        (s[0] + s[1], Some(s[0] + s[1] > 0xffff_ffff))
    });
    both(["s_sub_u32", "s_sub_co_u32"], |s, _| {
        (s[0].wrapping_sub(s[1]), Some(s[1] > s[0]))
    });
    both(["s_addc_u32", "s_add_co_ci_u32"], |s, c| {
        let sum = s[0] + s[1] + u64::from(c);
        (sum, Some(sum > 0xffff_ffff))
    });
    both(["s_subb_u32", "s_sub_co_ci_u32"], |s, c| {
        let take = s[1] + u64::from(c);
        (s[0].wrapping_sub(take), Some(take > s[0]))
    });
    both(["s_add_i32", "s_add_co_i32"], |s, _| {
        let sum = i(s[0]) + i(s[1]);
        (low(sum), Some(sum != i(low(sum))))
    });
    both(["s_sub_i32", "s_sub_co_i32"], |s, _| {
        let sum = i(s[0]) - i(s[1]);
        (low(sum), Some(sum != i(low(sum))))
    });
    let mut two = |name: &str, f: fn(&[u64], bool) -> (u64, Option<bool>)| {
        cases.push(scalar(name, U32, TWO, f));
    };
    two("s_mul_i32", |s, _| {
        (low(i(s[0]).wrapping_mul(i(s[1]))), None)
    });
    two("s_mul_hi_u32", |s, _| ((s[0] * s[1]) >> 32, None));
    two("s_mul_hi_i32", |s, _| {
        (low((i(s[0]) * i(s[1])) >> 32), None)
    });
    two("s_absdiff_i32", |s, _| {
        // The difference wraps to 32 bits before its sign is dropped.
        let difference = i(low(i(s[0]) - i(s[1])));
        nonzero(low(difference.abs()))
    });
    two("s_min_i32", |s, _| {
        (
            if i(s[0]) < i(s[1]) { s[0] } else { s[1] },
            Some(i(s[0]) < i(s[1])),
        )
    });
    two("s_min_u32", |s, _| {
        (if s[0] < s[1] { s[0] } else { s[1] }, Some(s[0] < s[1]))
    });
    two("s_max_i32", |s, _| {
        (
            if i(s[0]) >= i(s[1]) { s[0] } else { s[1] },
            Some(i(s[0]) >= i(s[1])),
        )
    });
    two("s_max_u32", |s, _| {
        (if s[0] >= s[1] { s[0] } else { s[1] }, Some(s[0] >= s[1]))
    });
    two("s_lshl1_add_u32", |s, _| {
        ((s[0] << 1) + s[1], Some((s[0] << 1) + s[1] > 0xffff_ffff))
    });
    two("s_lshl2_add_u32", |s, _| {
        ((s[0] << 2) + s[1], Some((s[0] << 2) + s[1] > 0xffff_ffff))
    });
    two("s_lshl3_add_u32", |s, _| {
        ((s[0] << 3) + s[1], Some((s[0] << 3) + s[1] > 0xffff_ffff))
    });
    two("s_lshl4_add_u32", |s, _| {
        ((s[0] << 4) + s[1], Some((s[0] << 4) + s[1] > 0xffff_ffff))
    });
    for name in ["s_add_nc_u64", "s_add_u64"] {
        cases.push(scalar(name, U64, TWO64, |s, _| {
            (s[0].wrapping_add(s[1]), None)
        }));
    }
    for name in ["s_sub_nc_u64", "s_sub_u64"] {
        cases.push(scalar(name, U64, TWO64, |s, _| {
            (s[0].wrapping_sub(s[1]), None)
        }));
    }
    cases.push(scalar("s_mul_u64", U64, TWO64, |s, _| {
        ((u128::from(s[0]) * u128::from(s[1])) as u64, None)
    }));
    // SOPK: a signed 16-bit constant; s0 is source and destination.
    for (k, text) in [
        (-32768i64, "0x8000"),
        (32767, "0x7fff"),
        (-1, "0xffff"),
        (5, "5"),
    ] {
        for name in ["s_addk_i32", "s_addk_co_i32"] {
            cases.push(scalar_text(
                format!("s_mov_b32 s0, s2\n{name} s0, {text}"),
                U32,
                ONE,
                move |s, _| {
                    let sum = i(s[0]) + k;
                    (low(sum), Some(sum != i(low(sum))))
                },
            ));
        }
        cases.push(scalar_text(
            format!("s_mov_b32 s0, s2\ns_mulk_i32 s0, {text}"),
            U32,
            ONE,
            move |s, _| (low(i(s[0]) * k), None),
        ));
        cases.push(scalar_text(
            format!("s_movk_i32 s0, {text}"),
            U32,
            ONE,
            move |_, _| (low(k), None),
        ));
        cases.push(scalar_text(
            format!("s_cmovk_i32 s0, {text}"),
            U32,
            ONE,
            move |s, c| (if c { low(k) } else { s[1] }, None),
        ));
    }
}

fn bits(cases: &mut Vec<Case>) {
    let mut two = |name: &str, f: fn(&[u64], bool) -> (u64, Option<bool>)| {
        cases.push(scalar(name, U32, TWO, f));
    };
    two("s_lshl_b32", |s, _| {
        nonzero(s[0] << (s[1] % 32) & 0xffff_ffff)
    });
    two("s_lshr_b32", |s, _| nonzero(s[0] >> (s[1] % 32)));
    two("s_ashr_i32", |s, _| nonzero(low(i(s[0]) >> (s[1] % 32))));
    two("s_bfm_b32", |s, _| {
        (((1 << (s[0] % 32)) - 1) << (s[1] % 32), None)
    });
    two("s_bfe_u32", |s, _| {
        let (offset, width) = (s[1] % 32, s[1] >> 16 & 0x7f);
        nonzero((u128::from(s[0]) >> offset & ((1 << width) - 1)) as u64)
    });
    two("s_bfe_i32", |s, _| {
        let (offset, width) = (s[1] % 32, s[1] >> 16 & 0x7f);
        nonzero(low(
            signed_field(i(s[0]).into(), offset, width.min(96)) as i64
        ))
    });
    two("s_pack_ll_b32_b16", |s, _| {
        (s[0] & 0xffff | (s[1] & 0xffff) << 16, None)
    });
    two("s_pack_lh_b32_b16", |s, _| {
        (s[0] & 0xffff | (s[1] >> 16) << 16, None)
    });
    two("s_pack_hh_b32_b16", |s, _| {
        (s[0] >> 16 | (s[1] >> 16) << 16, None)
    });
    two("s_pack_hl_b32_b16", |s, _| {
        (s[0] >> 16 | (s[1] & 0xffff) << 16, None)
    });
    two("s_cselect_b32", |s, c| (if c { s[0] } else { s[1] }, None));
    let mut wide =
        |name: &str, src: &'static [Kind], f: fn(&[u64], bool) -> (u64, Option<bool>)| {
            cases.push(scalar(name, U64, src, f));
        };
    wide("s_lshl_b64", SHIFT64, |s, _| nonzero(s[0] << (s[1] % 64)));
    wide("s_lshr_b64", SHIFT64, |s, _| nonzero(s[0] >> (s[1] % 64)));
    wide("s_ashr_i64", SHIFT64, |s, _| {
        nonzero((s[0] as i64 >> (s[1] % 64)) as u64)
    });
    wide("s_bfm_b64", TWO, |s, _| {
        (((1 << (s[0] % 64)) - 1) << (s[1] % 64), None)
    });
    wide("s_bfe_u64", SHIFT64, |s, _| {
        let (offset, width) = (s[1] % 64, s[1] >> 16 & 0x7f);
        nonzero((u128::from(s[0]) >> offset & ((1 << width) - 1)) as u64)
    });
    wide("s_bfe_i64", SHIFT64, |s, _| {
        let (offset, width) = (s[1] % 64, s[1] >> 16 & 0x7f);
        nonzero(signed_field((s[0] as i64).into(), offset, width.min(100)) as u64)
    });
    wide("s_cselect_b64", TWO64, |s, c| {
        (if c { s[0] } else { s[1] }, None)
    });
    wide("s_cmov_b64", ONE64, |s, c| {
        (if c { s[0] } else { s[1] }, None)
    });
    wide("s_mov_b64", ONE64, |s, _| (s[0], None));
    wide("s_not_b64", ONE64, |s, _| nonzero(s[0] ^ u64::MAX));
    wide("s_brev_b64", ONE64, |s, _| {
        (
            (0..64).fold(0, |v, n| v | u64::from(bit(s[0], n)) << (63 - n)),
            None,
        )
    });
    wide("s_wqm_b64", ONE64, |s, _| nonzero(quads(s[0])));
    wide("s_bitreplicate_b64_b32", ONE, |s, _| {
        (
            (0..64).fold(0, |v, n| v | u64::from(bit(s[0], n / 2)) << n),
            None,
        )
    });
    wide("s_bitset0_b64", ONE, |s, _| {
        (s[1] & !(1 << (s[0] % 64)), None)
    });
    wide("s_bitset1_b64", ONE, |s, _| (s[1] | 1 << (s[0] % 64), None));
    let mut one = |name: &str, f: fn(&[u64], bool) -> (u64, Option<bool>)| {
        cases.push(scalar(name, U32, ONE, f));
    };
    one("s_bitset0_b32", |s, _| (s[1] & !(1 << (s[0] % 32)), None));
    one("s_bitset1_b32", |s, _| (s[1] | 1 << (s[0] % 32), None));
    one("s_mov_b32", |s, _| (s[0], None));
    one("s_cmov_b32", |s, c| (if c { s[0] } else { s[1] }, None));
    one("s_not_b32", |s, _| nonzero(s[0] ^ 0xffff_ffff));
    one("s_brev_b32", |s, _| {
        (
            (0..32).fold(0, |v, n| v | u64::from(bit(s[0], n)) << (31 - n)),
            None,
        )
    });
    one("s_wqm_b32", |s, _| nonzero(quads(s[0])));
    one("s_abs_i32", |s, _| nonzero(low(i(s[0]).abs())));
    one("s_sext_i32_i8", |s, _| {
        (low(signed_field(s[0].into(), 0, 8) as i64), None)
    });
    one("s_sext_i32_i16", |s, _| {
        (low(signed_field(s[0].into(), 0, 16) as i64), None)
    });
}

/// Whole quad mode: four bits each, all set when one is.
fn quads(v: u64) -> u64 {
    (0..64).fold(0, |out, n| {
        out | u64::from((0..4).any(|k| bit(v, n & !3 | k))) << n
    })
}

/// Counts and searches; `first` gives -1 when nothing is found.
fn counts(cases: &mut Vec<Case>) {
    fn first(mut places: impl Iterator<Item = usize>, found: impl Fn(usize) -> bool) -> u64 {
        places.position(found).map_or(0xffff_ffff, |n| n as u64)
    }
    fn sign_run(v: u64) -> u64 {
        // How many bits from the top equal the sign bit; -1 when all do.
        first(0..32, |n| bit(v, 31 - n) != bit(v, 31))
    }
    type One = fn(&[u64], bool) -> (u64, Option<bool>);
    let mut add = |name: &str, src: &'static [Kind], f: One| cases.push(scalar(name, U32, src, f));
    add("s_bcnt0_i32_b32", ONE, |s, _| {
        nonzero((0..32).filter(|n| !bit(s[0], *n)).count() as u64)
    });
    add("s_bcnt1_i32_b32", ONE, |s, _| {
        nonzero((0..32).filter(|n| bit(s[0], *n)).count() as u64)
    });
    add("s_bcnt0_i32_b64", ONE64, |s, _| {
        nonzero((0..64).filter(|n| !bit(s[0], *n)).count() as u64)
    });
    add("s_bcnt1_i32_b64", ONE64, |s, _| {
        nonzero((0..64).filter(|n| bit(s[0], *n)).count() as u64)
    });
    add("s_ff0_i32_b32", ONE, |s, _| {
        (first(0..32, |n| !bit(s[0], n)), None)
    });
    add("s_ff0_i32_b64", ONE64, |s, _| {
        (first(0..64, |n| !bit(s[0], n)), None)
    });
    for name in ["s_ff1_i32_b32", "s_ctz_i32_b32"] {
        add(name, ONE, |s, _| (first(0..32, |n| bit(s[0], n)), None));
    }
    for name in ["s_ff1_i32_b64", "s_ctz_i32_b64"] {
        add(name, ONE64, |s, _| (first(0..64, |n| bit(s[0], n)), None));
    }
    for name in ["s_flbit_i32_b32", "s_clz_i32_u32"] {
        add(name, ONE, |s, _| {
            (first(0..32, |n| bit(s[0], 31 - n)), None)
        });
    }
    for name in ["s_flbit_i32_b64", "s_clz_i32_u64"] {
        add(name, ONE64, |s, _| {
            (first(0..64, |n| bit(s[0], 63 - n)), None)
        });
    }
    for name in ["s_flbit_i32", "s_cls_i32"] {
        add(name, ONE, |s, _| (sign_run(s[0]), None));
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    arithmetic(&mut cases);
    bits(&mut cases);
    counts(&mut cases);
    cases
}
